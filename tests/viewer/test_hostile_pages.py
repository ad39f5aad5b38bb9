"""Pages about hostile bodies in a browser: no script runs, and no server is asked.

Both layers hold alone: what is on the page, and the policy in its head.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from messagebody import MessageBody, MessageBodySchema, Part
from messagebody.rendering import page
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
