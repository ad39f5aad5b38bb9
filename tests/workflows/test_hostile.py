"""Hostile workflows: whatever they ask, a step of the budget is a bounded number of calls."""

import re
from collections.abc import Callable
from html import escape
from typing import Any

import pytest

from messagebody import Agent, MessageBodySchema
from messagebody.errors import InvalidArgument, InvalidWorkflow
from messagebody.workflows import (
    Workflow,
    adapt,
    drop,
    merged,
    mount,
    name,
    rename,
    report_lines,
    select,
    show,
    unmount,
    workflow_page,
)
from tests.effort import calls

STEPS = 100_000
MOST = 6_000_000
ANY = MessageBodySchema([("/**",), (None,)])


def pair(sent: MessageBodySchema, taken: MessageBodySchema, *steps: Any) -> Workflow:
    return Workflow([Agent("a", ANY, sent), Agent("b", taken, ANY)], [("a", "b", steps)])


def required(count: int, directory: str) -> MessageBodySchema:
    return MessageBodySchema([(f"/{directory}{i}/*", "text/*", True) for i in range(count)])


def crowd(count: int, *steps: Any) -> Workflow:
    agents = [Agent(f"a{i}", ANY, ANY) for i in range(count)]
    edges = [(f"a{i}", f"a{j}", steps) for i in range(count) for j in range(count) if i != j]
    return Workflow(agents, edges)


GLOBS = MessageBodySchema([(f"/**/*{x}*b*{y}*",) for x in "cdefg" for y in "hijkl"])
NARROW = MessageBodySchema([("/x/**",)])
HOLES = MessageBodySchema([("/{a,b,c,d,e,f,g,h}", f"text/t{i}", True) for i in range(9)])
HOSTILE: dict[str, Callable[[], Workflow]] = {
    "globs": lambda: pair(ANY, GLOBS, mount("/x"), unmount("/x")),
    "directories": lambda: pair(ANY, NARROW, *(rename(f"/a{i}/**", f"/a{i + 1}/**")
                                               for i in range(40))),
    "renames": lambda: pair(ANY, NARROW, *(rename(f"/a{i}", f"/a{i + 1}") for i in range(200))),
    "choices": lambda: pair(ANY, NARROW, *(select([f"/a{i}/**", None]) for i in range(300))),
    "mounts": lambda: pair(ANY, NARROW, *(mount("/x") for _ in range(200))),
    "shown": lambda: pair(ANY, NARROW, *(show(f"/a{i}") for i in range(50)), mount("/x")),
    "named": lambda: pair(ANY, NARROW, *(name(f"/a{i}", "text/*") for i in range(50))),
    "required": lambda: pair(required(200, "p"), required(200, "q"), drop(["/p1/*"])),
    "holes": lambda: pair(HOLES, NARROW, show("/a")),
    "holes for the taker": lambda: pair(ANY, HOLES, show("/z")),
    "senders": lambda: Workflow(
        [*(Agent(f"a{i}", ANY, ANY) for i in range(30)), Agent("z", GLOBS, ANY)],
        [(f"a{i}", "z") for i in range(30)],
    ),
    "a long name": lambda: pair(MessageBodySchema([("/" + "a/" * 400 + "*",)]), NARROW,
                                *[mount("/" + "b" * 200)] * 3),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_checks_are_bounded(case: str) -> None:
    workflow = HOSTILE[case]()
    calls(lambda: workflow.check(max_steps=STEPS), most=MOST)
    last = list(workflow.agents)[-1]
    calls(lambda: workflow.suggest(last, max_steps=STEPS), most=MOST)
    calls(lambda: workflow.flows("/**/a*", last, max_steps=STEPS), most=MOST)


def test_many_senders_take_little_more_than_few() -> None:
    def crowded(count: int) -> Workflow:
        senders = [
            Agent(f"a{i}", ANY, MessageBodySchema([(f"/r{i}", "text/*", True), (None, "image/*")]))
            for i in range(count)
        ]
        wanted = [(f"/in/{i}/r{i}", "text/*", True) for i in range(count)]
        taker = Agent("z", MessageBodySchema([*wanted, ("/in/**",)]), ANY)
        edges = [(f"a{i}", "z", [mount(f"/in/{i}")]) for i in range(count)]
        return Workflow([*senders, taker], edges)

    small, large = crowded(20), crowded(80)
    assert large.check()
    small.check()
    assert calls(large.check) < 12 * calls(small.check)


def test_questions_about_patterns_take_from_the_budget() -> None:
    choices = (drop([[f"/a{i}", f"text/t{i}"]]) for i in range(20))
    workflow = pair(ANY, MessageBodySchema([("/a/**",)]), *choices)
    # Also those that were asked before.
    for _ in range(2):
        assert workflow.check(max_steps=12_000)["b"].reason == "the budget ended first"
        assert workflow.check(max_steps=40_000)["b"].verdict == "sometimes"


def test_flows_in_a_crowd_are_bounded() -> None:
    workflow = crowd(12, mount("/m"), unmount("/m/m"))
    calls(lambda: workflow.flows("/private/**", "a3", max_steps=STEPS), most=MOST)
    calls(lambda: workflow.flows(None, "a3", max_steps=STEPS), most=MOST)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"agents":[],"edges":' + "[" * 90_000])
def test_files_are_bounded(text: str) -> None:
    with pytest.raises(InvalidWorkflow):
        Workflow.decode(text)
    with pytest.raises(InvalidWorkflow):
        Workflow.decode(f"a={text}", is_toml=True)


@pytest.mark.parametrize("key", ["a", '"a"', "'a.b'", "a-1 ", ' "\\"" ', "'\u2028'"])
@pytest.mark.parametrize("form", ["{}=1", "[{}]", "[[{}]]", "edges=[{{{}=1}}]", "x='''\n'''\n{}=1"])
def test_keys_of_files_are_bounded(key: str, form: str) -> None:
    def read(number: int) -> None:
        with pytest.raises(InvalidWorkflow, match=told[number]):
            Workflow.decode(form.format(".".join([key] * number)), is_toml=True)

    told = {40_000: "a line has more than 100 dots", 50: "an object with the lists"}
    calls(lambda: read(40_000), most=1_000)
    read(50)


def test_names_of_strangers_are_shown_as_text() -> None:
    evil = "<script>alert(1)</script>\x1b[2J"
    agents = [Agent(evil, ANY, ANY), Agent("b", NARROW, ANY)]
    workflow = Workflow(agents, [(evil, "b")])
    assert "<script>" not in workflow_page(workflow, title=evil)
    assert "\x1b" not in str(workflow.check())
    assert "\x1b" not in str(workflow.flows("/**", "b"))
    assert "\x1b" not in workflow_page(workflow)


def test_a_page_shows_what_breaks_before_anybody_chooses() -> None:
    agents = [Agent("a", ANY, ANY), Agent("b", ANY, ANY), Agent("c", NARROW, ANY)]
    flow = Workflow(agents, [("a", "b"), ("b", "c", [mount("/in")])])
    pattern = re.compile(r'<section id="[^"]*" class="([^"]*)">(.*?)</section>', re.DOTALL)
    found = pattern.findall(workflow_page(flow))
    assert [looks for looks, _ in found] == ["panel", "panel", "panel open"]
    assert "from b, mount /in" in found[2][1]
    assert escape(flow.check()["c"].breaches[0].problem) in found[2][1]
    assert ".panel:target, .panel.open { display: block }" in workflow_page(flow)


@pytest.mark.parametrize(
    "call",
    [
        lambda: adapt(None, MessageBodySchema()),  # type: ignore[arg-type]
        lambda: adapt(MessageBodySchema(), "text"),  # type: ignore[arg-type]
        lambda: workflow_page(None),  # type: ignore[arg-type]
        lambda: list(report_lines(None)),  # type: ignore[arg-type]
        lambda: merged(5),  # type: ignore[arg-type]
        lambda: merged([3]),  # type: ignore[list-item]
        lambda: mount("/a").before(5),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_another_kind(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidArgument):
        call()
