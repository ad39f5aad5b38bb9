"""What strangers found: answers that real steps, contents and flows did not keep to."""

from typing import Any

import pytest

from messagebody import Agent, MessageBody, MessageBodySchema, Part
from messagebody.errors import InvalidArgument, InvalidName
from messagebody.workflows import (
    Edge,
    Workflow,
    drop,
    mount,
    name,
    rename,
    select,
    step,
    through,
    unmount,
)
from tests.workflows.test_verdicts import ANY, TEXT, schema
from tests.workflows.test_workflow import breaks

ODD: Any = {1: []}
PICTURE = MessageBodySchema([("/c.png", "image/png", True)])


def pair(sent: MessageBodySchema, taken: MessageBodySchema, *edges: list[Any]) -> Workflow:
    agents = [Agent("a", ANY, sent), Agent("b", taken, ANY)]
    return Workflow(agents, [("a", "b", steps) for steps in edges])


def test_a_step_of_ones_own_beside_another_edge_of_its_sender() -> None:
    own = step(lambda body: body, takes=ANY, gives=schema(("/x",)))
    shown = schema((None,))
    for edges, number in (([[own], []], 0), ([[], [own]], 1), ([[own], [own, drop("/x")]], 0)):
        [breach] = pair(shown, shown, *edges).check().breaches
        own_name = f"a step of edge {number}"
        # The message is that of the step, and what the agent sends is not lost.
        assert breach.messages[own_name].names() == ["/x"]
        assert len(breach.messages) == 2
        assert f"{own_name!r} may send /x" in breach.problem
        assert own_name in str(breach.passages[number])


def test_examples_behind_a_step_of_ones_own_are_those_of_the_step() -> None:
    own = step(lambda body: body, takes=TEXT, gives=PICTURE)
    answer = pair(TEXT, PICTURE, [own]).check()["b"]
    assert answer.example is not None
    assert {name: body.names() for name, body in answer.example.items()} == {
        "a step of edge 0": ["/c.png"]
    }


def test_a_step_of_ones_own_may_pass_parts_on() -> None:
    def flows(takes: MessageBodySchema, gives: MessageBodySchema) -> bool | None:
        own = step(lambda body: body, takes=takes, gives=gives)
        return pair(ANY, ANY, [mount("/m"), own]).flows("/private/**", "b").arrives

    public = schema(("/public/**",))
    assert flows(ANY, ANY) is True
    assert flows(ANY, public) is False
    assert flows(public, ANY) is False


@pytest.mark.parametrize(
    "steps",
    [
        [mount("/m"), select(["/m/2.txt"])],
        [mount("/m"), drop(["/m/1", "/m/1.*"])],
        [mount("/m"), select(["/m/2.txt"]), mount("/n")],
    ],
)
def test_parts_with_later_numbers_may_flow(steps: list[Any]) -> None:
    body = MessageBody([Part("public"), Part("private")])
    workflow = pair(ANY, ANY, steps)
    assert workflow.edges[0].deliver(body)[0].text == "private"
    assert workflow.flows(None, "b")


@pytest.mark.parametrize(
    "sent",
    [
        [(None, "text/plain", True), (None, "image/png", True), ("/1.txt", "*/*", True)],
        # Another part before it, which need not be sent, moves the number on.
        [(None, "image/png"), (None, "text/plain", True), ("/1.txt", "*/*", True)],
        [(None, "text/plain", True), ("/1.txt", "*/*", True)],
    ],
)
def test_where_the_order_of_parts_decides_the_answer_is_open(sent: list[Any]) -> None:
    workflow = pair(schema(*sent), schema(("/m/**",)), [mount("/m")])
    answer = workflow.check()["b"]
    assert answer.verdict == "undecided"
    assert "no message was found that gets through" in answer.reason
    assert [breach.kind for breach in answer.breaches] == ["collision"]
    assert all(breaks(workflow, breach) for breach in answer.breaches)


def test_why_it_is_undecided_is_told() -> None:
    later = schema(("/m/*",), ("/m/2.txt", "*/*", True))
    workflow = pair(TEXT, later, [mount("/m")])
    answer = workflow.check()["b"]
    assert "no proof that there is none" in answer.reason
    assert answer.reason in str(answer)
    assert workflow.check(max_steps=300)["b"].reason == "the budget ended first"
    own = step(lambda body: body, takes=TEXT, gives=PICTURE)
    shown = schema((None, "text/plain"), ("/c.png", "image/png"))
    answer = pair(schema((None, "text/*", True)), shown, [own], []).check()["b"]
    assert "a step of your own and for another edge" in answer.reason
    assert "a message format" in pair(TEXT, ANY, [through("openai-chat")]).check()["b"].reason


def test_flows_in_a_circle_end() -> None:
    agents = [Agent("a", ANY, ANY), Agent("b", ANY, ANY)]
    edges = [("a", "a", [mount("/m")]), ("a", "b", [select("/q/**")])]
    found = Workflow(agents, edges).flows("/p/**", "b")
    assert found
    assert found.arrives is None


def test_flows_of_parts_without_an_extension() -> None:
    workflow = pair(schema((None, "*/*", True)), ANY, [mount("/m"), select("/m/1")])
    assert workflow.flows(None, "b").arrives is True


def test_what_is_never_valid_is_so_within_a_small_budget() -> None:
    sent = schema(*((f"/p{at}/*", "text/*", True) for at in range(30)))
    taken = schema(*((f"/p{at}/*", "text/*", True) for at in range(1, 31)))
    workflow = pair(sent, taken, [drop(["/q/*"])])
    found = {steps: workflow.check(max_steps=steps)["b"] for steps in (500, 4_000, 16_000, 10**6)}
    assert found[500].verdict == "undecided"
    assert found[10**6].verdict == "never"
    for answer in found.values():
        # It never goes without a message that shows it.
        assert (answer.verdict == "never") is bool(answer.breaches)
        assert all(breaks(workflow, breach) for breach in answer.breaches)


def test_flows_behind_a_message_format_are_those_that_are_let_through() -> None:
    agents = [Agent("a", ANY, ANY), Agent("b", schema(("/public/**",)), ANY)]
    steps = [through("openai-chat"), select("/private/**")]
    assert Workflow(agents, [("a", "b", steps)]).flows("/private/**", "b").arrives is False


@pytest.mark.slow
def test_numbers_with_many_digits() -> None:
    sent = schema(("/" + "1" * 4_400 + ".txt", "text/plain", True), (None, "text/plain", True))
    answers = pair(sent, schema(("/m/**",)), [mount("/m")]).check(max_steps=10**9)
    assert answers.verdict == "undecided"


@pytest.mark.parametrize("form", ["openai-chat", "anthropic", "a2a", "mcp", "gemini"])
def test_flows_through_a_message_format_are_told(form: str) -> None:
    workflow = pair(ANY, ANY, [through(form)])
    for names in ("/private/**", "/private/*.png", None):
        found = workflow.flows(names, "b")
        assert found
        assert str(found)
        assert names is None or not found.stops or str(found.stops[0].name).startswith("/private/")
    nothing = pair(schema(), ANY, [through(form)])
    assert nothing.flows("/private/**", "b").arrives is not True


def test_names_that_no_reader_takes() -> None:
    long = "/" + "b" * 1_024
    for wrong in (lambda: mount(long), lambda: rename("/a", long), lambda: name(long),
                  lambda: rename("/a/**", f"{long}/**"), lambda: unmount(long)):  # fmt: skip
        with pytest.raises(InvalidName, match="1,025 characters; readers take 1,024"):
            wrong()
    body = MessageBody([Part("x", name="/" + "a" * 900)])
    assert not mount(long[:1_000]).before(ANY).is_valid(body)
    # A message that shows it would need a longer name, so there is none.
    deep = [unmount("/" + "b" * 600), unmount("/" + "c" * 600)]
    answer = pair(ANY, schema(("/y/**",)), deep).check()["b"]
    assert (answer.verdict, answer.breaches) == ("undecided", ())


def test_agents_do_not_see_what_others_do_with_a_message() -> None:
    def spoil(body: MessageBody) -> MessageBody:
        body.append(Part("more", name="/more"))
        return MessageBody()

    agents = [Agent("a", TEXT, ANY), Agent("b", TEXT, ANY)]
    asked = MessageBody([Part("hello")])
    acts = {"a": spoil, "b": spoil}
    assert Workflow(agents, []).run(acts, {"a": asked, "b": asked}).keys() == acts.keys()
    assert len(asked) == 1


@pytest.mark.parametrize("kind", ["text/plain", "*/*"])
def test_what_comes_through_a_message_format_is_tried(kind: str) -> None:
    """Although nothing is required, so that an empty message gets through."""
    answer = pair(schema(("/links/*", kind)), schema(("/x/**",)), [through("a2a")]).check()["b"]
    assert answer.verdict == "sometimes"
    [breach] = answer.breaches
    assert breach.messages["a"].names() == ["/links/a"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda flow: flow.run(None, {}),
        lambda flow: flow.run({}, None),
        lambda flow: flow.flows("/a", ["b"]),
        lambda flow: flow.suggest([]),
        lambda flow: flow.suggest(5),
        lambda flow: Edge("a", "b", ODD),
        lambda flow: Workflow(flow.agents.values(), [Edge(ODD, "b")]),
        lambda flow: Workflow.decode(ODD),
        lambda flow: step(ODD, takes=ANY, gives=ANY),
    ],
)
def test_arguments_of_another_kind_are_told(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match="expected "):
        wrong(pair(TEXT, TEXT, []))
