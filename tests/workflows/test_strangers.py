"""What strangers found: answers that real steps, contents and flows did not keep to."""

from typing import Any

import pytest

from messagebody import Agent, MessageBody, MessageBodySchema, Part, SchemaPart
from messagebody.errors import InvalidArgument, InvalidName
from messagebody.workflows import (
    Edge,
    Workflow,
    drop,
    mount,
    name,
    rename,
    retype,
    select,
    step,
    through,
    unmount,
)
from tests.workflows.test_workflow import breaks

ANY = MessageBodySchema([("/**",), (None,)])
TEXT = MessageBodySchema([(None, "text/plain", True)])
ODD: Any = {1: []}
PICTURE = MessageBodySchema([("/c.png", "image/png", True)])


def schema(*parts: Any) -> MessageBodySchema:
    return MessageBodySchema(parts)


def inside(kind: str, content: dict[str, Any], *, required: bool = True) -> MessageBodySchema:
    return schema(SchemaPart("/a", kind, required=required, content_schema=content))


def pair(sent: MessageBodySchema, taken: MessageBodySchema, *edges: list[Any]) -> Workflow:
    agents = [Agent("a", ANY, sent), Agent("b", taken, ANY)]
    return Workflow(agents, [("a", "b", steps) for steps in edges])


OBJECT = {"type": "object"}
A_TO_B = retype("text/a+json", "text/b+json")
A_TO_TEXT = retype("text/a+json", "text/plain")
TEXT_TO_A = retype("text/plain", "text/a+json")
RETYPED: dict[str, tuple[MessageBodySchema, list[Any], MessageBodySchema, str]] = {
    "kept": (inside("text/a+json", OBJECT), [A_TO_B], inside("text/b+json", OBJECT), "always"),
    "broken": (inside("text/a+json", OBJECT), [A_TO_B], inside("text/b+json", {"type": "array"}),
               "never"),
    "one of two": (inside("text/{a,b}+json", OBJECT), [A_TO_B], inside("text/b+json", OBJECT),
                   "always"),
    "from a text": (schema(("/a", "text/plain", True)), [TEXT_TO_A], inside("text/a+json", OBJECT),
                    "sometimes"),
    "there and back": (inside("text/a+json", OBJECT), [A_TO_TEXT, TEXT_TO_A],
                       inside("text/a+json", OBJECT), "always"),
    "to a text": (inside("text/a+json", OBJECT), [A_TO_TEXT], schema(("/a", "text/plain", True)),
                  "always"),
    "maybe to a text": (inside("text/a+json", OBJECT, required=False), [A_TO_TEXT],
                        schema(("/a", "text/plain")), "always"),
    "some of any": (inside("*/*", OBJECT, required=False), [A_TO_TEXT],
                    inside("*/*", OBJECT, required=False), "sometimes"),
}  # fmt: skip


@pytest.mark.parametrize("case", RETYPED)
def test_contents_stay_when_a_text_has_another_type(case: str) -> None:
    sent, steps, taken, verdict = RETYPED[case]
    workflow = pair(sent, taken, steps)
    answers = workflow.check()
    assert answers["b"].verdict == verdict
    assert all(breaks(workflow, breach) for breach in answers.breaches)


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


def test_what_is_required_of_all_types_is_so_when_one_of_them_changes() -> None:
    steps = [retype("text/plain", "text/html"), mount("/a")]
    sent, taken = schema((None, "*/*", True)), schema(("/a/*", "image/*"))
    answer = pair(sent, taken, steps).check()["b"]
    assert answer.verdict == "sometimes"
    assert pair(sent, schema(("/a/*", "*/*", True)), steps).check()["b"].verdict == "always"


def test_what_goes_by_one_type_does_not_go_when_another_one_changes() -> None:
    sent = schema(("/a", "*/*"))
    for gone in ("image/png", "image/*"):
        dropped = [["/a", gone], ["/a", "text/html"]]
        steps = [drop(dropped), retype("text/plain", "text/html"),
                 select([["/a", "text/html"], ["/a", "image/*"]])]  # fmt: skip
        workflow = pair(sent, schema(("/a", "image/*")), steps)
        answer = workflow.check()["b"]
        assert answer.verdict == "sometimes"
        assert all(breaks(workflow, breach) for breach in answer.breaches)


def test_patterns_that_list_names_lose_all_that_another_one_matches() -> None:
    sent = schema(("/{a,b,c}", "text/plain", True), ("/{d,d}", "text/plain"))
    steps = [drop(["/d"]), rename("/a", "/x"), drop(["/{b,c}"])]
    assert pair(sent, schema(("/x", "*/*")), steps).check()["b"].verdict == "always"


PNG = (None, "image/png")
MET: dict[str, tuple[list[Any], MessageBodySchema, list[list[Any]], str]] = {
    "a name of two senders": ([schema(("/a/*",)), schema(("/*/b", "*/*", True))], ANY, [[], []],
                              "sometimes"),
    "a number and a pattern": ([schema(("/**",), PNG)], ANY, [[mount("/m")]], "sometimes"),
    "a number and a pattern of directories": ([TEXT, schema(("/*/1.txt",))], ANY,
                                              [[mount("/m")], []], "sometimes"),
    "a number and a list of directories": ([TEXT, schema(("/{m,n}/*",))], ANY,
                                           [[mount("/m")], []], "sometimes"),
    "what is required has gone": ([schema(("/a", "*/*", True))], schema(("/a", "text/plain", True)),
                                  [[retype("text/plain", "text/html")]], "never"),
    "what always comes is refused": ([schema(("/a", "*/*", True))], schema(("/a", "text/html")),
                                     [[retype("text/plain", "text/css"),
                                       retype("text/html", "text/css")]], "never"),
    "a name goes by one type": ([schema(("/a", "*/*", True)), schema(("/a", "text/plain"))], ANY,
                                [[drop([["/a", "image/*"]])], []], "sometimes"),
    "a name goes by all types": ([schema(("/{a,b}/*",)), schema(("/b/x",))], ANY,
                                 [[drop(["/b/**"])], []], "always"),
    "what has changed does not go": ([schema(("/a", "*/*", True))], schema(("/a", "*/*", True)),
                                     [[retype("text/plain", "text/html"),
                                       drop([["/a", "text/plain"]])]], "always"),
    "a list with a star": ([schema(("/{a/x,b/*}", "*/*", True))], schema(("/c/x",), ("/b/*",)),
                           [[rename("/a/**", "/c/**")]], "always"),
    "a directory in braces": ([schema(("/a{/x,/y}", "*/*", True))], schema(("/**", "*/*", False)),
                              [[unmount("/a")]], "always"),
    "two types of one list": ([schema(("/{a,b}", "text/plain", True),
                                      ("/{a,b}", "image/png", True))],
                              schema(("/b", "text/*", True), ("/c", "*/*", True)),
                              [[rename("/a", "/c")]], "sometimes"),
    "what is required may go": ([schema(("/{b,a}", "*/*", True))], schema(("/b", "*/*", True)),
                                [[drop("/a")]], "sometimes"),
    "one of two goes": ([schema(("/{a,b}", "*/*", True))], schema(("/c",)),
                        [[drop("/a"), rename("/b", "/c")]], "always"),
}  # fmt: skip


@pytest.mark.parametrize("case", MET)
def test_what_images_show_of_all_messages(case: str) -> None:
    senders, taken, edges, verdict = MET[case]
    agents = [Agent(f"a{at}", ANY, sent) for at, sent in enumerate(senders)]
    pairs = [(f"a{at}", "b", steps) for at, steps in enumerate(edges)]
    workflow = Workflow([*agents, Agent("b", taken, ANY)], pairs)
    answer = workflow.check()["b"]
    assert (answer.verdict, answer.reason) == (verdict, "")
    assert (answer.verdict == "always") is not bool(answer.breaches)
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


WITH_DOT = schema(("/m/*.*",))
EXTENDED: dict[str, tuple[MessageBodySchema, list[Any], MessageBodySchema]] = {
    "a type without one": (schema((None, "*/*", True)), [], WITH_DOT),
    "dropped": (schema((None, "*/*", True)), [drop("/m/*.png")],
                schema(("/m/*", "*/*", True))),
    "selected": (schema((None, "*/*", True)), [select("/m/*.png")],
                 schema(("/m/*.png", "*/*", True))),
    "the name of another part": (schema((None, "*/*", True), ("/1.png", "*/*", True)), [],
                                 schema(("/m/**",))),
}  # fmt: skip


@pytest.mark.parametrize("case", EXTENDED)
def test_numbered_names_have_all_extensions(case: str) -> None:
    sent, steps, taken = EXTENDED[case]
    workflow = pair(sent, taken, [mount("/m"), *steps])
    answers = workflow.check()
    assert answers["b"].verdict == "sometimes"
    assert all(breaks(workflow, breach) for breach in answers.breaches)


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
