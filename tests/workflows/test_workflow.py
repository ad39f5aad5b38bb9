"""Workflows: what breaks, with messages that show it."""

import json
from pathlib import Path
from typing import Any

import pytest

from messagebody import Agent, MessageBody, MessageBodySchema, Part, SchemaPart
from messagebody.errors import (
    DuplicateName,
    InvalidArgument,
    InvalidBody,
    InvalidWorkflow,
    MessageBodyError,
)
from messagebody.workflows import (
    Breach,
    BreachKind,
    Workflow,
    WorkflowStep,
    adapt,
    drop,
    merged,
    mount,
    read_step,
    rename,
    step,
)
from tests.workflows.test_steps import body_of

VECTORS = Path(__file__).parents[1] / "vectors" / "workflows"
ROWS = [json.loads(line) for line in (VECTORS / "workflows.jsonl").read_text("utf-8").splitlines()]
ADAPT = [json.loads(line) for line in (VECTORS / "adapt.jsonl").read_text("utf-8").splitlines()]


def schema_of(parts: list[Any]) -> MessageBodySchema:
    return MessageBodySchema(tuple(part) for part in parts)


def workflow_of(row: dict[str, Any]) -> Workflow:
    agents = [
        Agent(each["name"], schema_of(each["input"]), schema_of(each["output"]))
        for each in row["agents"]
    ]
    edges = [(a, b, [read_step(each) for each in steps]) for a, b, steps in row["edges"]]
    return Workflow(agents, edges)


def breaks(workflow: Workflow, breach: Breach) -> bool:
    """Replay the messages of a breach by the steps themselves."""
    arrived = []
    for edge in workflow.edges:
        if edge.target != breach.agent:
            continue
        body = breach.messages[edge.source]
        assert workflow.agents[edge.source].output.is_valid(body)
        try:
            for each in edge.steps:
                body = each(body)
        except DuplicateName:
            return True
        arrived.append(body)
    try:
        return not workflow.agents[breach.agent].input.is_valid(merged(arrived))
    except DuplicateName:
        return True


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_vectors(row: dict[str, Any]) -> None:
    workflow = workflow_of(row)
    assert Workflow.from_dict(json.loads(json.dumps(workflow.to_dict()))) == workflow
    answers = workflow.check()
    assert {name: answer.verdict.value for name, answer in answers.items()} == row["verdicts"]
    assert bool(answers) is (set(row["verdicts"].values()) == {"always"})
    for breach in answers.breaches:
        assert breaks(workflow, breach)
    for number, is_broken in enumerate(row["edge_breaks"]):
        if is_broken is not None:
            assert is_broken is any(breach.edge == number for breach in answers.breaches)
    for name, answer in answers.items():
        assert (answer.example is not None) is (answer.verdict != "never")
        assert all(breach.agent == name for breach in answer.breaches)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_flows(row: dict[str, Any]) -> None:
    workflow = workflow_of(row)
    for case in row["flows"]:
        found = workflow.flows(case["names"], case["to"])
        assert found.arrives is case["answer"]
        assert bool(found) is case["answer"]


@pytest.mark.parametrize("row", ADAPT, ids=lambda row: row["id"])
def test_adapt(row: dict[str, Any]) -> None:
    taken = schema_of(row["input"])
    found = adapt(schema_of(row["output"]), taken)
    assert (found is not None) is row["exists"]
    if found is None:
        return
    assert len(found) <= row["at_most"]
    for parts in row["bodies"]:
        body = body_of(parts)
        for each in found:
            body = each(body)
        assert taken.is_valid(body)


ANYTHING = schema_of([["/**", "*/*", False], [None, "*/*", False]])
TEXT = schema_of([[None, "text/*", True]])
PICTURE = schema_of([["/chart.png", "image/png", True]])


def test_a_step_of_ones_own_is_held_to_what_it_states() -> None:
    draw = step(lambda body: body, takes=TEXT, gives=PICTURE)
    agents = [Agent("writer", ANYTHING, TEXT), Agent("painter", ANYTHING, PICTURE)]
    gallery = Agent("gallery", PICTURE, ANYTHING)

    def verdict(source: str, *steps: Any, taker: Agent = gallery) -> str:
        return str(
            Workflow([*agents, taker], [(source, "gallery", steps)]).check()["gallery"].verdict
        )

    assert verdict("writer", draw) == "always"
    assert verdict("writer") == "never"
    assert verdict("painter", draw) == "never"
    assert verdict("writer", draw, rename("/chart.png", "/x.png")) == "never"
    answer = Workflow([*agents, gallery], [("painter", "gallery", [draw])]).check()["gallery"]
    assert {breach.kind for breach in answer.breaches} == {BreachKind.NOT_TAKEN}
    assert "a step of your own" in str(answer)
    # The same message has to be right on both edges, which is not followed.
    both = [("writer", "gallery", [draw]), ("writer", "gallery", [drop(["/**", None])])]
    assert Workflow([*agents, gallery], both).check()["gallery"].verdict == "always"


def test_one_message_along_two_edges() -> None:
    agents = [Agent("a", ANYTHING, schema_of([["/x", "text/plain", False]])),
              Agent("b", ANYTHING, ANYTHING)]  # fmt: skip
    twice = Workflow(agents, [("a", "b"), ("a", "b", [])]).check()["b"]
    assert twice.verdict == "sometimes"
    assert [breach.kind for breach in twice.breaches] == [BreachKind.COLLISION]
    assert Workflow(agents, [("a", "b"), ("a", "b", [mount("/copy")])]).check()


def test_rules_about_flows() -> None:
    agents = [Agent(name, ANYTHING, ANYTHING) for name in ("scout", "writer", "publisher")]
    edges = [("scout", "writer"), ("writer", "publisher", [rename("/private/**", "/public/**")])]
    rules = [("/private/**", "publisher"), (None, "scout")]
    workflow = Workflow(agents, edges, never=rules)
    assert Workflow.from_dict(workflow.to_dict()) == workflow
    answers = workflow.check()
    assert answers["writer"]
    assert answers["publisher"].breaches[0].kind is BreachKind.COLLISION
    assert not answers
    assert [leak.edges for leak in answers.leaks] == [workflow.edges[1:]]
    assert "can reach 'publisher': 'writer' (/private/a" in str(answers)
    safe = Workflow(agents, [edges[0], ("writer", "publisher", [drop("/private/**")])], never=rules)
    assert safe.check()
    for wrong in (["/x"], ["/x", "nobody"], ["x", "scout"]):
        with pytest.raises(MessageBodyError):
            Workflow(agents, edges, never=[wrong])


def test_suggestions_mend_several_edges() -> None:
    report = schema_of([["/report.md", "text/markdown", True], ["/raw/**", "*/*", False]])
    takes = schema_of([["/in/report.md", "text/*", True], ["/in/chart.png", "image/*", True]])
    agents = [Agent("scout", ANYTHING, report), Agent("painter", ANYTHING, PICTURE),
              Agent("writer", takes, report)]  # fmt: skip
    workflow = Workflow(agents, [("scout", "writer"), ("painter", "writer")])
    found = workflow.suggest("writer")
    assert found is not None
    assert found.to_dict() == {
        "agent": "writer",
        "add": [
            {"edge": 0, "steps": [{"rename": ["/report.md", "/in/report.md"]},
                                  {"drop": [["/raw/**", "*/*"]]}],
             "lost": [{"name": "/raw/**", "contentType": "*/*"}]},
            {"edge": 1, "steps": [{"rename": ["/chart.png", "/in/chart.png"]}], "lost": []},
        ],
    }  # fmt: skip
    assert [part.name for part in found.lost] == ["/raw/**"]
    assert str(found) == (
        "steps that mend 'writer':\n"
        "  edge 0: rename /report.md /in/report.md, drop /raw/** (loses /raw/** of */*)\n"
        "  edge 1: rename /chart.png /in/chart.png"
    )
    assert workflow.apply(found).check()
    # Several unnamed pictures may come, and only one can have the name.
    painter = Agent("painter", ANYTHING, schema_of([[None, "image/png", True]]))
    assert Workflow([agents[0], painter, agents[2]], workflow.edges).suggest("writer") is None


def test_run() -> None:
    agents = [Agent("scout", TEXT, PICTURE), Agent("painter", TEXT, PICTURE),
              Agent("gallery", ANYTHING, TEXT)]  # fmt: skip
    edges = [("scout", "gallery", [mount("/a")]), ("painter", "gallery", [mount("/b")])]
    workflow = Workflow(agents, edges)
    hello = MessageBody([Part("hello")])

    def draw(_: MessageBody) -> MessageBody:
        return body_of([["/chart.png", "image/png"]])

    def describe(body: MessageBody) -> MessageBody:
        return MessageBody([Part(str(body.names()))])

    acts = {"scout": draw, "painter": draw, "gallery": describe}
    start = {"scout": hello, "painter": hello}
    assert workflow.run(acts, start)["gallery"][0].text == "['/a/chart.png', '/b/chart.png']"
    with pytest.raises(DuplicateName) as caught:
        Workflow(agents, [edge[:2] for edge in edges]).run(acts, start)
    assert caught.value.__notes__ == ["at the agent 'gallery'"]
    with pytest.raises(InvalidBody):
        workflow.run({**acts, "scout": describe}, start)
    with pytest.raises(InvalidWorkflow, match="it is not said what the agent 'scout' does"):
        workflow.run({}, start)
    with pytest.raises(InvalidWorkflow, match="it is not said what the agent 'scout' takes"):
        workflow.run(acts, {})
    for name, problem in (
        ("gallery", "'gallery' takes what edges"),
        ("c", "there is no agent 'c'"),
    ):
        with pytest.raises(InvalidWorkflow, match=problem):
            workflow.run(acts, {**start, name: hello})
    with pytest.raises(InvalidArgument, match="a function for the agent 'painter'"):
        workflow.run({**acts, "painter": "draws"}, start)  # type: ignore[dict-item]
    with pytest.raises(InvalidWorkflow, match="lead to themselves"):
        Workflow(agents, [("scout", "painter"), ("painter", "scout")]).run(acts, start)


def test_what_breaks_is_told_step_by_step() -> None:
    agents = [
        Agent("scout", ANYTHING, schema_of([["/report.md", "text/markdown", True],
                                            ["/raw/*.pdf", "application/pdf", False]])),
        Agent("writer", schema_of([["/research/**", "text/*", True]]), ANYTHING),
    ]  # fmt: skip
    answers = Workflow(agents, [("scout", "writer", [mount("/research")])]).check()
    assert str(answers) == (
        "'writer': sometimes\n"
        "  'scout' may send /raw/a.pdf of application/pdf, which arrives as /research/raw/a.pdf; "
        "'writer' does not take it\n"
        "    'scout' sends    /raw/a.pdf application/pdf, /report.md text/markdown\n"
        "    mount /research  /research/raw/a.pdf application/pdf, "
        "/research/report.md text/markdown"
    )
    assert answers.verdict == "sometimes"
    assert answers.breaches[0].to_dict()["kind"] == "refused"


NAMED: Any = [{"name": name, "input": []} for name in "ab"]
AT = "in edge 1: 'a' → 'b'"


@pytest.mark.parametrize(
    ("edge", "problem", "note"),
    [
        (["a"], "expected an edge", "in edge 1"),
        ({"from": "a", "to": "b"}, "expected an edge", "in edge 1"),
        (["a", "b", {"mount": "/m"}], "expected an edge", AT),
        (["a", "c", []], "an agent that is not there: 'c'", "in edge 1: 'a' → 'c'"),
        (["a", "b", [{"jump": 1}]], "a step", AT),
        (["a", "b", [{"muont": "/a"}]], "did you mean 'mount'", AT),
        (["a", "b", [{"rename": "/a"}]], "a list of two beside 'rename', old and new, got", AT),
        (["a", "b", [{"name": ["/a"]}]], "a list of two beside 'name', name and kinds, got", AT),
        (["a", "b", [{"mount": "/a", "drop": []}]], "each step is an object of its own", AT),
        (["a", "b", [{"mount": "a"}]], "a name begins with '/'", AT),
    ],
)
def test_wrong_edges_and_steps_say_what_was_meant_and_where(
    edge: Any, problem: str, note: str
) -> None:
    with pytest.raises(MessageBodyError, match=problem) as caught:
        Workflow.from_dict({"agents": NAMED, "edges": [["a", "b", []], edge]})
    assert caught.value.__notes__ == [note]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "an object with the lists"),
        ({"agents": [], "edges": [], "more": 1}, "unknown member 'more'; a workflow is an object"),
        ({"agents": [], "egdes": []}, r"unknown member 'egdes' \(did you mean 'edges'\?\)"),
        ({"agents": []}, "'edges' is not a list; a workflow is"),
        ({}, "'agents' and 'edges' are not lists"),
        ({"agents": NAMED[:1] * 2, "edges": []}, "two agents are called 'a'"),
    ],
)
def test_wrong_workflows_say_what_is_wrong(data: Any, problem: str) -> None:
    with pytest.raises(MessageBodyError, match=problem):
        Workflow.from_dict(data)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "flow.json"
    path.write_text(json.dumps(workflow_of(ROWS[1]).to_dict()), "utf-8")
    assert Workflow.load(path) == workflow_of(ROWS[1])
    toml = tmp_path / "flow.toml"
    toml.write_text(
        'edges = [["a", "b", [{mount = "/x"}]]]\n'
        '[[agents]]\nname = "a"\noutput = [{contentType = "text/*"}]\n'
        '[[agents]]\nname = "b"\ninput = [{name = "/x/**"}]\n',
        "utf-8",
    )
    assert Workflow.load(toml).check()
    for text, name in (("{", "flow.json"), ("=", "flow.toml"), ("\0", "flow.toml")):
        (tmp_path / name).write_text(text, "utf-8")
        with pytest.raises(InvalidWorkflow):
            Workflow.load(tmp_path / name)


def test_messages_that_come_alone() -> None:
    chart = schema_of([["/chart.png", "image/png", True]])
    agents = [Agent("scout", ANYTHING, TEXT), Agent("painter", ANYTHING, chart)]

    def verdict(taker: MessageBodySchema, *, alone: bool) -> str:
        edges: list[Any] = [("scout", "taker", []), ("painter", "taker", [], alone)]
        answer = Workflow([*agents, Agent("taker", taker, ANYTHING)], edges).check()["taker"]
        return str(answer.verdict)

    assert verdict(TEXT, alone=False) == "never"
    assert verdict(TEXT, alone=True) == "sometimes"
    assert verdict(chart, alone=True) == "sometimes"
    both = schema_of([[None, "text/*", True], ["/*.png", "*/*", True]])
    assert verdict(both, alone=False) == "always"
    assert verdict(both, alone=True) == "never"
    either = schema_of([[None, "text/*", False], ["/*.png", "*/*", False]])
    assert verdict(either, alone=True) == "always"


def test_large_schemas_without_steps_are_left_to_the_check_of_pairs() -> None:
    many = schema_of([[f"/p{i}/*", "text/*", True] for i in range(300)])
    agents = [Agent("a", ANYTHING, many), Agent("b", many, ANYTHING)]
    assert Workflow(agents, [("a", "b")]).check()["b"].verdict == "always"
    fewer = schema_of([[f"/p{i}/*", "text/*", True] for i in range(1, 301)])
    answer = Workflow([agents[0], Agent("b", fewer, ANYTHING)], [("a", "b")]).check()["b"]
    assert answer.verdict == "never"
    [breach] = answer.breaches
    assert breaks(Workflow([agents[0], Agent("b", fewer, ANYTHING)], [("a", "b")]), breach)


def test_what_a_failed_assertion_shows() -> None:
    agents = [
        Agent("scout", ANYTHING, schema_of([["/report.md", "text/markdown", True]])),
        Agent("writer", schema_of([["/in/report.md", "text/*", True]]), ANYTHING),
    ]
    workflow = Workflow(agents, [("scout", "writer", [mount("/out")])])
    assert str(workflow) == "'scout', 'writer': 1 edge\n  'scout' → 'writer': mount /out"
    answers = workflow.check()
    for each in (answers, answers["writer"]):
        shown = repr(each)
        assert shown.splitlines()[0] == f"{type(each).__name__}(never:"
        assert "'scout' may send /report.md of text/markdown" in shown
        assert "'scout' sends" in shown
        assert len(shown) <= 240
    assert repr(Workflow(agents, [("scout", "writer", [mount("/in")])]).check()) == (
        "WorkflowAnswer(always)"
    )
    with pytest.raises(InvalidArgument, match=r"expected an Adaptation, .*no steps were found"):
        workflow.apply(None)  # type: ignore[arg-type]


def asks_for(name: str, *members: str, kind: str = "string") -> MessageBodySchema:
    """Return the schema of a JSON part whose object has some members."""
    content = {
        "type": "object",
        "required": [*members],
        "properties": {each: {"type": kind} for each in members},
    }
    return MessageBodySchema(
        [SchemaPart(name, "application/json", required=True, content_schema=content)]
    )


@pytest.mark.parametrize("steps", [[], [mount("/in")]])
def test_where_a_content_differs_is_told(steps: list[WorkflowStep]) -> None:
    """In a part that arrives and is not taken for what is inside, and of which none is missing."""
    pytest.importorskip("jsonschema_rs", exc_type=ImportError)
    name = "/in/f.json" if steps else "/f.json"
    sender = Agent("a", ANYTHING, asks_for("/f.json", "answer"))
    for taken, told in (
        (asks_for(name, "question"), "inside, it takes an object with 'question' and gets"),
        (asks_for(name, "answer", kind="number"), "inside at '/answer', it takes number and gets"),
    ):
        answer = Workflow([sender, Agent("b", taken, ANYTHING)], [("a", "b", steps)]).check()["b"]
        assert answer.verdict in {"sometimes", "never"}
        assert answer.breaches
        for breach in answer.breaches:
            assert told in breach.problem
            assert told in breach.to_dict()["problem"]
            assert "missing" not in breach.problem
    # A part that really does not arrive is still said to be missing.
    silent = Agent("a", ANYTHING, schema_of([["/other", "text/plain", False]]))
    answer = Workflow([silent, Agent("b", asks_for(name, "x"), ANYTHING)], [("a", "b")]).check()[
        "b"
    ]
    assert any("may be missing" in breach.problem for breach in answer.breaches)
