"""Graphs of LangGraph as workflows: each branch is checked by itself."""

import warnings
from typing import Any, TypedDict

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import create_react_agent

from messagebody import Agent, MessageBodySchema
from messagebody.errors import InvalidArgument, InvalidWorkflow
from messagebody.workflows import Workflow, drop, mount, name, retype, select

TEXT = MessageBodySchema([(None, "text/*", True)])
REPORT = MessageBodySchema([("/report.md", "text/markdown", True), ("/raw/**", "*/*")])
IN = MessageBodySchema([("/in/report.md", "text/*", True)])
AGENTS = {
    "scout": Agent("scout", TEXT, REPORT),
    "writer": Agent("writer", IN, TEXT),
    "critic": Agent("critic", TEXT, TEXT),
}


class State(TypedDict):
    """What the nodes share."""

    messages: list[Any]


def compiled() -> Any:
    builder = StateGraph(State)
    for node in AGENTS:
        builder.add_node(node, lambda state: state)
    builder.add_edge(START, "scout")
    builder.add_edge("scout", "writer")
    builder.add_edge("writer", "critic")
    builder.add_conditional_edges("critic", lambda _: "end", {"again": "writer", "end": END})
    return builder.compile()


def test_edges_and_branches() -> None:
    workflow = Workflow.from_langgraph(compiled(), AGENTS)
    assert {(e.source, e.target, e.alone) for e in workflow.edges} == {
        ("scout", "writer", False), ("writer", "critic", False), ("critic", "writer", True),
    }  # fmt: skip
    answers = workflow.check()
    assert {name: answer.verdict.value for name, answer in answers.items()} == {
        "writer": "never", "critic": "always",
    }  # fmt: skip
    assert {breach.edge for breach in answers["writer"].breaches} == {
        number for number, edge in enumerate(workflow.edges) if edge.target == "writer"
    }


def test_steps_between_nodes() -> None:
    steps = {("scout", "writer"): [drop(["/raw/**"]), mount("/in")]}
    workflow = Workflow.from_langgraph(compiled(), AGENTS, steps=steps)
    answer = workflow.check()["writer"]
    # What the critic sends back is still no report.
    assert answer.verdict == "sometimes"
    assert all(breach.messages.keys() == {"critic"} for breach in answer.breaches)
    assert Workflow.from_dict(workflow.to_dict()) == workflow
    with pytest.raises(InvalidWorkflow, match="come alone"):
        workflow.run({}, {})


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InvalidWorkflow, match="no agent is given for the node 'critic'"):
        Workflow.from_langgraph(compiled(), {k: v for k, v in AGENTS.items() if k != "critic"})
    with pytest.raises(InvalidWorkflow, match="edges that are not there: 'a' → 'b'"):
        Workflow.from_langgraph(compiled(), AGENTS, steps={("a", "b"): []})
    with pytest.raises(InvalidArgument, match="a compiled graph"):
        Workflow.from_langgraph({}, AGENTS)


class Model(GenericFakeChatModel):
    """A model that takes tools and calls none."""

    def bind_tools(self, tools: Any, **options: Any) -> "Model":
        return self


def test_the_agent_that_langgraph_has_ready() -> None:
    """Its loop of model and tools, with a fault of each kind planted."""

    def search(query: str) -> str:
        """Search."""
        return query

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it moves to another package
        graph = create_react_agent(Model(messages=iter([])), [search])
    calls = MessageBodySchema([("/calls/*.json", "application/json", True), (None, "text/*")])
    results = MessageBodySchema([("/results/*", "{text,application}/*", True)])
    takes = MessageBodySchema([(None, "text/*"), ("/results/*", "text/*")])
    agents = {"agent": Agent("agent", takes, calls), "tools": Agent("tools", calls, results)}

    def found(**steps: list[Any]) -> dict[str, tuple[str, set[str]]]:
        edges = {("tools", "agent"): steps.get("back", []), ("agent", "tools"): steps.get("on", [])}
        answers = Workflow.from_langgraph(graph, agents, steps=edges).check()
        return {
            name: (answer.verdict.value, {str(breach.kind) for breach in answer.breaches})
            for name, answer in answers.items()
        }

    assert found() == {"agent": ("sometimes", {"refused"}), "tools": ("always", set())}
    texts = [select([("/results/*", "text/*")])]
    assert found(back=texts) == {"agent": ("always", set()), "tools": ("always", set())}
    assert found(back=texts, on=[select([None])])["tools"] == ("never", {"missing"})
    clash = [name("/calls/a.json", "text/*")]
    assert found(back=texts, on=clash)["tools"][1] >= {"collision", "refused"}


def corrective_retrieval() -> Any:
    """The graph of LangGraph's example of corrective retrieval, with its names and its branches."""
    builder = StateGraph(State)
    for node in ("retrieve", "grade_documents", "transform_query", "web_search_node", "generate"):
        builder.add_node(node, lambda state: state)
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "grade_documents")
    builder.add_conditional_edges(
        "grade_documents", lambda _: "generate",
        {"transform_query": "transform_query", "generate": "generate"},
    )  # fmt: skip
    builder.add_edge("transform_query", "web_search_node")
    builder.add_edge("web_search_node", "generate")
    builder.add_edge("generate", END)
    return builder.compile()


QUESTION = (None, "text/plain", True)
PAGES = MessageBodySchema([QUESTION, ("/documents/*", "text/html", True)])
READS = MessageBodySchema([QUESTION, ("/documents/*", "text/{plain,markdown}")])
GRADED = MessageBodySchema([QUESTION, ("/documents/*", "text/{plain,markdown}")])
RETRIEVAL = {
    "retrieve": Agent("retrieve", MessageBodySchema([QUESTION]), READS),
    "grade_documents": Agent("grade_documents", READS, GRADED),
    "transform_query": Agent("transform_query", READS, MessageBodySchema([QUESTION])),
    "web_search_node": Agent("web_search_node", MessageBodySchema([QUESTION]), PAGES),
    "generate": Agent("generate", READS, MessageBodySchema([(None, "text/markdown", True)])),
}


class TestCorrectiveRetrieval:
    """A question and documents go from node to node; of the web there are pages, which are HTML."""

    def answers(self, **steps: list[Any]) -> dict[str, tuple[str, set[str]]]:
        edges = {
            ("web_search_node", "generate"): steps.get("pages", []),
            ("retrieve", "grade_documents"): steps.get("found", []),
            ("grade_documents", "generate"): steps.get("graded", []),
        }
        workflow = Workflow.from_langgraph(corrective_retrieval(), RETRIEVAL, steps=edges)
        return {
            name: (answer.verdict.value, {str(breach.kind) for breach in answer.breaches})
            for name, answer in workflow.check().items()
        }

    def test_pages_of_the_web_reach_the_writer(self) -> None:
        """Through one of its two branches; all other nodes fit."""
        found = self.answers()
        assert found.pop("generate") == ("sometimes", {"refused"})
        assert {verdict for verdict, _ in found.values()} == {"always"}

    def test_mended_by_a_step(self) -> None:
        as_text = [retype("text/html", "text/plain")]
        assert {verdict for verdict, _ in self.answers(pages=as_text).values()} == {"always"}

    def test_a_planted_fault_of_each_kind(self) -> None:
        as_text = [retype("text/html", "text/plain")]
        missing = self.answers(pages=as_text, graded=[drop([None])])["generate"]
        assert missing == ("sometimes", {"missing"})
        clash = self.answers(pages=as_text, found=[name("/documents/1", "text/plain")])
        assert clash["grade_documents"][1] >= {"collision", "missing"}


def read(nodes: str, edges: list[Any], *, late: str = "") -> set[tuple[str, str, bool]]:
    """Read a graph of edges (from, to), joins ([from, …], to), and branches (from, {to, …})."""
    builder = StateGraph(State)
    for node in nodes:
        builder.add_node(node, lambda state: state, defer=node in late)
    for source, target in edges:
        if isinstance(target, set):
            builder.add_conditional_edges(source, lambda _: "x", sorted(target))
        else:
            builder.add_edge(source, target)
    agents = {node: Agent(node, TEXT, TEXT) for node in nodes}
    workflow = Workflow.from_langgraph(builder.compile(), agents)
    return {(edge.source, edge.target, edge.alone) for edge in workflow.edges}


FORK = [(START, "a"), (START, "b")]
TOGETHER = {("a", "c", False), ("b", "c", False)}
ONE_BY_ONE = {("a", "c", False), ("b", "c", True)}


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        pytest.param([*FORK, ("a", "c"), ("b", "c")], TOGETHER, id="same step"),
        pytest.param([*FORK, (["a", "b"], "c")], TOGETHER, id="join"),
        pytest.param([(START, {"a", "b"}), ("a", "c"), ("b", "c")], ONE_BY_ONE, id="router"),
        pytest.param([(START, {"a", "b"}), (["a", "b"], "c")], TOGETHER, id="join of branches"),
        pytest.param([(START, "a"), ("a", "b"), ("a", "c"), ("b", "c")],
                     ONE_BY_ONE | {("a", "b", False)}, id="longer way"),
        pytest.param([(START, "a"), ("a", "b"), (["a", "b"], "c")],
                     TOGETHER | {("a", "b", False)}, id="join over a longer way"),
        pytest.param([(START, "a"), ("a", "c"), ("c", "b"), ("b", "c")],
                     ONE_BY_ONE | {("c", "b", False)}, id="circle"),
        pytest.param([*FORK, (["a", "b"], "c"), ("a", "c")], TOGETHER | {("a", "c", True)},
                     id="join and edge"),
        pytest.param([*FORK, (["a", "b"], "c"), ("a", {"c", END})], TOGETHER | {("a", "c", True)},
                     id="join and branch"),
        pytest.param([*FORK, ("a", "c"), ("a", {"c", END}), ("b", "c")], TOGETHER,
                     id="edge that a branch hides"),
        pytest.param([*FORK, (["a"], "c"), ("a", {"c", END}), ("b", "c")], TOGETHER,
                     id="join of one that a branch hides"),
        pytest.param([*FORK, ("a", {"c", END}), ("b", "c")],
                     {("a", "c", True), ("b", "c", False)}, id="edge and branch"),
        pytest.param([*FORK, (["a"], "c"), (["b"], "c")], TOGETHER, id="joins of one"),
    ],
)  # fmt: skip
def test_which_messages_come_together(edges: list[Any], found: set[tuple[str, str, bool]]) -> None:
    assert read("abc", edges) == found


def test_nodes_that_run_in_the_same_step_of_longer_ways() -> None:
    ways = [(START, "a"), (START, "b"), ("a", "d"), ("b", "e"), ("d", "c"), ("e", "c")]
    assert read("abcde", ways) >= {("d", "c", False), ("e", "c", False)}
    assert ("e", "c", True) in read("abcde", [*ways[:1], ("a", "b"), *ways[2:]])
    with pytest.raises(InvalidWorkflow, match=r"several groups .* lead to 'c'"):
        read("abcde", [*ways[:2], (["a", "b"], "c"), (["d", "e"], "c"), ("a", "d"), ("b", "e")])


def test_a_node_that_runs_at_the_end_gets_all_that_is_certain() -> None:
    way: list[Any] = [(START, "a"), ("a", "b"), ("a", "c"), ("b", "c")]
    assert read("abc", way, late="c") == TOGETHER | {("a", "b", False)}
    way[1:2] = [("a", {"b", END})]
    assert read("abc", way, late="c") == ONE_BY_ONE | {("a", "b", True)}


def test_branches_that_do_not_say_where_they_go_are_refused() -> None:
    builder = StateGraph(State)
    for node in "ab":
        builder.add_node(node, lambda state: state)
    builder.add_edge(START, "a")
    builder.add_conditional_edges("a", lambda _: "b")
    agents = {node: Agent(node, TEXT, TEXT) for node in "ab"}
    with pytest.raises(InvalidWorkflow, match="a branch behind 'a' does not say where it may go"):
        Workflow.from_langgraph(builder.compile(), agents)


def test_wrong_agents_and_steps_are_told() -> None:
    for agents in (None, list(AGENTS.values()), {**AGENTS, "critic": 5}):
        with pytest.raises(InvalidArgument, match="expected a"):
            Workflow.from_langgraph(compiled(), agents)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="steps, by pairs of names"):
        Workflow.from_langgraph(compiled(), AGENTS, steps=[])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="a compiled graph"):
        Workflow.from_langgraph(type("Odd", (), {"get_graph": lambda _: None})(), AGENTS)
