"""Pages about hostile bodies in a browser: no script runs, and no server is asked.

Both layers hold alone: what is on the page, and the policy in its head.
"""

import itertools
import json
import re
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from messagebody import Agent, MessageBody, MessageBodySchema, Part
from messagebody.agents import AgentGraph, GraphEdge
from messagebody.compatibility import Verdict
from messagebody.rendering import PairList, Panel, graph_page, page, run_page
from messagebody.samples import sample
from messagebody.workflows import Workflow, mount, workflow_page
from tests.rendering.test_run_page import hostile_run
from tests.viewer.chromium import PROGRAM, Decoy, Tab, a_tab
from tests.viewer.hostile import PAYLOADS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="needs Chromium (apt-get install chromium)"),
]

TYPES = [
    "application/javascript",
    "application/octet-stream",
    "application/pdf",
    "application/vnd.apache.mpegurl",
    "application/vnd.apache.parquet",
    "application/x-ndjson",
    "application/xhtml+xml",
    "application/xml",
    "audio/mpeg",
    "image/png",
    "image/svg+xml",
    "text/css",
    "text/csv",
    "text/html",
    "text/markdown",
    "text/plain",
    "text/tab-separated-values",
    "video/mp4",
]
# What a reader might press, and all that a page shows when it is asked.
PRESS = """(async () => {
  for (const each of document.querySelectorAll('details')) each.open = true;
  for (const each of document.querySelectorAll('a, button, summary, area, [tabindex], input')) {
    each.focus();
    each.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
    if (!(each.href?.baseVal ?? each.href ?? '').startsWith('https:')) each.click?.();
  }
  for (const each of document.querySelectorAll('video, audio')) { each.load(); }
  for (const each of document.images) each.loading = 'eager';
  await new Promise(done => setTimeout(done, 60));
  return location.protocol;
})()"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with a_tab(tmp_path_factory.mktemp("chromium")) as found:
        yield found


@pytest.fixture(scope="module")
def decoy() -> Iterator[Decoy]:
    server = Decoy()
    yield server
    server.close()


def hostile_page(payload: str) -> str:
    """Return the page of a body that has a payload in everything that may hold one."""
    quoted = payload.replace("\\", "\\\\").replace('"', '\\"')
    body = MessageBody(Part(payload.encode(), content_type=each) for each in TYPES)
    body.add(payload, content_type="text/plain", name="/of.txt", metadata={payload: payload})
    body.add(json=[{payload: payload}], name="/rows.json")
    body.add(json={payload: [payload]}, name="/object.json")
    body.add(f"a,{payload!r}\n1,2", content_type="text/csv")
    if payload.isprintable():
        body.add("x", content_type=f'text/plain; note="{quoted}"')
    body.add(f"[{payload}](x) ![{payload}](/of.txt)", content_type="text/markdown")
    for url in ("https://example.com/", "s3://bucket/", "data:text/html,"):
        body.add(
            url=url + re.sub(r"[^A-Za-z0-9.=:/&;,()'-]", "", payload), content_type="text/html"
        )
    old = MessageBody(each.evolve(content="x") if each.name else each for each in body)
    schema = MessageBodySchema([("/chart.png", "image/*", True)])
    return page(body, title=payload, schema=schema, against=old)


def graphed(agents: Iterable[str], edges: list[GraphEdge], title: str = "Agents") -> str:
    """Return the page of a graph that tells of each agent what its name is."""
    graph = AgentGraph(agents, edges)
    panels = [Panel([name], [(name, name)], [PairList(name, [(name, name, name)])])
              for name in graph.agents]  # fmt: skip
    return graph_page(graph, panels, title=title, facts=title)


def seen(tab: Tab, decoy: Decoy, document: str, directory: Path) -> list[str]:
    """Open a page, press everything on it, and return what it did."""
    file = directory / "page.html"
    file.write_text(document, "utf-8", "surrogatepass")
    before = decoy.connections, tab.scripts
    tab.requests.clear()
    tab.open(file)
    protocol = tab.run(PRESS)
    scripts, connections = tab.scripts - before[1], decoy.connections - before[0]
    left = [] if protocol == "file:" else [f"went to {protocol}"]
    return [*["script"] * scripts, *tab.requests, *["connection"] * connections, *left]


@pytest.mark.parametrize("has_policy", [True, False], ids=["policy", "no-policy"])
@pytest.mark.parametrize("index", range(len(PAYLOADS)))
def test_nothing_runs_and_nobody_is_asked(
    index: int, has_policy: bool, tab: Tab, decoy: Decoy, tmp_path: Path
) -> None:
    document = hostile_page(PAYLOADS[index].replace("URL", decoy.url))
    if not has_policy:
        document, count = re.subn(r"<meta http-equiv=[^>]*>", "", document, count=1)
        assert count == 1
    assert seen(tab, decoy, document, tmp_path) == []


@pytest.mark.parametrize("has_policy", [True, False], ids=["policy", "no-policy"])
def test_agents_may_have_any_name(has_policy: bool, tab: Tab, decoy: Decoy, tmp_path: Path) -> None:
    names = [payload.replace("URL", decoy.url) for payload in PAYLOADS]
    for start in range(0, len(names), 50):
        some = names[start : start + 50]
        edges = [GraphEdge(a, b, Verdict.NEVER, a, b) for a, b in itertools.pairwise(some)]
        document = graphed(some, edges)
        if not has_policy:
            document = re.sub(r"<meta http-equiv=[^>]*>", "", document, count=1)
        assert seen(tab, decoy, document, tmp_path) == []


@pytest.mark.parametrize("has_policy", [True, False], ids=["policy", "no-policy"])
@pytest.mark.parametrize("start", range(0, len(PAYLOADS), 20))
def test_runs_may_say_anything(
    start: int, has_policy: bool, tab: Tab, decoy: Decoy, tmp_path: Path
) -> None:
    said = [payload.replace("URL", decoy.url) for payload in PAYLOADS[start : start + 20]]
    document = run_page([each for payload in said for each in hostile_run(payload)])
    if not has_policy:
        document, count = re.subn(r"<meta http-equiv=[^>]*>", "", document, count=1)
        assert count == 1
    assert seen(tab, decoy, document, tmp_path) == []


def test_an_agent_that_is_chosen_shows_what_fits(tab: Tab, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        graphed("abc", [GraphEdge("a", "b"), GraphEdge("b", "c")]), "utf-8"
    )
    tab.open(tmp_path / "page.html")
    tab.run("document.querySelector('svg a[href=\"#agent-2\"]').dispatchEvent(new MouseEvent("
            "'click', {bubbles: true, cancelable: true}))")  # fmt: skip
    visible = (
        "[...document.querySelectorAll('.panel')].filter(e => e.checkVisibility()).map(e => e.id)"
    )
    assert tab.run(visible) == ["agent-2"]
    opacity = "[...document.querySelectorAll('.line')].map(e => getComputedStyle(e).opacity)"
    assert tab.run(opacity) == ["0.07", "1"]
    tab.run("document.querySelector('.panels > .all').click()")
    assert tab.run(visible) == []
    assert tab.run(opacity) == ["0.8", "0.8"]
    # Pointing at a box, or reaching it with the keyboard, shows the same for a moment.
    tab.run("document.querySelector('.box-0 a').focus({focusVisible: true})")
    assert tab.run(opacity) == ["1", "0.07"]
    tab.run("document.activeElement.blur()")
    place = "(r => [r.x + 4, r.y + 4])(document.querySelector('.box-2').getBoundingClientRect())"
    x, y = tab.run(place)
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert tab.run(opacity) == ["0.07", "1"]


@pytest.mark.parametrize("width", [320, 390, 768, 1280, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_has_to_scroll_sideways(
    width: int, scheme: str, tab: Tab, tmp_path: Path
) -> None:
    body = MessageBody([Part("word" * 200, name="/" + "a" * 200, content_type="text/plain")])
    body.add("a," * 60 + "a\n" + "1," * 60 + "1", content_type="text/csv", name="/wide.csv")
    body.add("# " + "x" * 300 + "\n\n|" + "a|" * 40 + "\n|" + "-|" * 40, name="/wide.md")
    for name in ("chart.png", "valley.jpg", "bell.wav", "counter.pdf"):
        body.add(sample(name), name=f"/{name}")
    body.add("x = '" + "y" * 300 + "'", name="/code/" + "b" * 200 + ".py")
    body.add(json={"k" * 300: ["v" * 300, 1]}, name="/code/deep/er/a.json")
    body.add(json=[{"a": number} for number in range(40)], name="/code/deep/er/rows.json")
    said = json.loads(sample("run.json"))["messages"]
    said += [{"type": "human", "content": "word" * 200, "name": "n" * 300}]
    call = {"id": "c", "name": "t" * 300, "args": {"a" * 300: "v" * 300, "b": [["x" * 300]]}}
    said += [{"type": "ai", "content": "a" * 300, "tool_calls": [call]}]
    call = {"id": "p", "name": "plot", "args": {}}
    url = "data:image/png;base64," + b64encode(sample("chart.png")).decode()
    plotted = [{"type": "image_url", "image_url": {"url": url}}]
    said += [{"type": "ai", "content": "", "tool_calls": [call]},
             {"type": "tool", "tool_call_id": "p", "content": plotted}]  # fmt: skip
    agents = ["a" * 300, "b" * 300, "c d"]
    takes = MessageBodySchema([(None, "text/*"), ("/" + "a" * 200, "text/*", True)])
    flow = [Agent("a" * 300, takes, takes), Agent("b" * 300, MessageBodySchema(), takes)]
    older = MessageBody([Part(sample("valley.jpg"), name="/chart.png", content_type="image/jpeg")])
    edges = [GraphEdge(agents[0], agents[1]),
             GraphEdge(agents[0], agents[2], Verdict.NEVER, "w" * 300)]  # fmt: skip
    pages = [
        page(body, title="t" * 300, against=older),
        page(MessageBody([body["/chart.png"]]), against=older),
        workflow_page(Workflow(flow, [(flow[0].name, flow[1].name, [mount("/" + "m" * 200)])])),
        run_page([*said, body]),
        graphed(agents, edges, title="t" * 300),
    ]
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
             mobile=width < 500)  # fmt: skip
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    tab.call("Emulation.setEmulatedMedia", features=features)
    for document in pages:
        (tmp_path / "page.html").write_text(document, "utf-8")
        tab.open(tmp_path / "page.html")
        assert tab.run("document.documentElement.scrollWidth") == width
    ground = tab.run("getComputedStyle(document.body.parentElement).backgroundColor")
    assert ground == {"light": "rgb(247, 246, 243)", "dark": "rgb(20, 24, 26)"}[scheme]


def test_a_link_opens_the_part_it_leads_to(tab: Tab, tmp_path: Path) -> None:
    body = MessageBody(Part("x", name=f"/{number}") for number in range(100))
    (tmp_path / "page.html").write_text(page(body), "utf-8")
    tab.open(tmp_path / "page.html")
    count = "document.querySelectorAll('details[open]').length"
    assert tab.run(count) == 0
    tab.run("document.querySelector('nav a[href=\"#part-7\"]').click()")
    assert tab.run("document.querySelector('#part-7').parentElement.open") is True
    assert tab.run(count) == 1


def test_each_part_is_saved_from_a_file_on_disk(tab: Tab, tmp_path: Path) -> None:
    body = MessageBody([Part(sample("valley.jpg"), name="/pictures/valley.jpg")])
    body.add(bytes(range(256)) * 12_000, name="/large.bin")
    body.add("<script>ran()</script>", name="/a.html")
    body.add(json=[{"a": 1}, {"a": 2}], name="/rows.json")
    (tmp_path / "page.html").write_text(page(body), "utf-8")
    saved = tmp_path / "saved"
    saved.mkdir()
    tab.requests.clear()
    tab.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(saved))
    try:
        tab.open(tmp_path / "page.html")
        names = tab.run("[...document.querySelectorAll('a[download]')].map(each => each.download)")
        for number in range(len(names)):
            tab.run(f"document.querySelectorAll('a[download]')[{number}].click()")
            deadline = time.monotonic() + 20
            while not (saved / names[number]).exists() and time.monotonic() < deadline:
                time.sleep(0.05)
    finally:
        tab.call("Browser.setDownloadBehavior", behavior="deny")
    assert sorted(names) == ["a.html", "large.bin", "rows.json", "valley.jpg"]
    for part in body:
        assert part.path is not None
        assert (saved / part.path.name).read_bytes() == part.read_bytes()
    assert tab.run("location.protocol") == "file:"
    assert tab.requests == []


def test_a_thousand_parts_fit_on_a_screen(tab: Tab, tmp_path: Path) -> None:
    body = MessageBody(
        Part("x", name=f"/logs/{number // 100}/{number % 100}.txt") for number in range(1_000)
    )
    (tmp_path / "page.html").write_text(page(body), "utf-8")
    tab.open(tmp_path / "page.html")
    assert tab.run("document.documentElement.scrollHeight") < 1_000
    # A link leads through all directories around a part.
    tab.run("location.hash = 'part-537'")
    assert tab.run("document.querySelector('#part-537').checkVisibility()") is True
    assert tab.run("document.querySelector('#part-637').checkVisibility()") is False


def test_on_paper_all_is_open_and_nothing_is_there_twice(tab: Tab, tmp_path: Path) -> None:
    body = MessageBody(Part(f"*part* {number}", name=f"/a/b/{number}.md") for number in range(40))
    body.add("a\n" + "1\n" * 40, name="/rows.csv")
    (tmp_path / "page.html").write_text(page(body), "utf-8")
    tab.open(tmp_path / "page.html")
    tab.call("Emulation.setEmulatedMedia", media="print")
    try:
        seen = "[...document.querySelectorAll('{}')].filter(e => e.checkVisibility()).length"
        assert tab.run(seen.format(".prose em")) == 40
        assert tab.run(seen.format(".grid td")) == 40
        assert tab.run(seen.format("nav, .keep, .raw, .raw pre, .whole")) == 0
    finally:
        tab.call("Emulation.setEmulatedMedia", media="")


def test_the_browser_would_have_told(tab: Tab, decoy: Decoy, tmp_path: Path) -> None:
    """The same payloads as they stand: most of those in HTML do what they are made for."""
    done = []
    for payload in PAYLOADS:
        document = f"<!doctype html><body>{payload.replace('URL', decoy.url)}"
        try:
            done.append(bool(seen(tab, decoy, document, tmp_path)))
        except AssertionError:  # it went to another page while it was looked at
            done.append(True)
    assert sum(done) >= 70


def test_there_are_payloads_enough() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 100
