"""Notebook views in a browser, among the rules that a notebook has for tables and texts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from messagebody import MessageBody, MessageBodySchema, Part, check
from messagebody.samples import sample
from tests.viewer.chromium import PROGRAM, Tab, a_tab

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="needs Chromium (apt-get install chromium)"),
]

# What JupyterLab says of outputs, in its two themes.
# After the views, so that no rule of theirs wins by its place.
NOTEBOOK = """<!doctype html><meta charset="utf-8"><div class="notebook">{views}</div><style>
body {{ margin: 0; background: {paper}; color: {ink}; color-scheme: {theme} }}
.notebook {{ font: 14px/1.6 sans-serif; padding-right: 20px }}
.notebook table {{ border-collapse: collapse; font-size: 12px; table-layout: fixed }}
.notebook :is(td, th, tr) {{ vertical-align: middle; text-align: right; max-width: none }}
.notebook tbody tr:nth-child(odd) {{ background: {stripe} }}
.notebook :is(pre, code) {{ background: {paper}; color: {ink} }}
</style>"""
THEMES = {
    "light": {"paper": "#fff", "ink": "rgba(0, 0, 0, .87)", "stripe": "#f5f5f5"},
    "dark": {"paper": "#111", "ink": "rgba(255, 255, 255, .87)", "stripe": "#212121"},
}
# Each text as it lies on the backgrounds of all that it is in.
CONTRASTS = """(() => {
  const pixel = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const painted = color => {
    pixel.fillStyle = color;
    pixel.fillRect(0, 0, 1, 1);
    const [light, ...rest] = [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3).map(
      each => (each /= 255) <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    return 0.2126 * light + 0.7152 * rest[0] + 0.0722 * rest[1];
  };
  const found = {};
  for (const each of document.querySelectorAll('.messagebody *')) {
    const texts = [...each.childNodes].filter(node => node.nodeType == 3 && node.data.trim());
    if (!texts.length || each.localName == 'style') continue;
    const around = [];
    for (let outer = each; outer; outer = outer.parentElement) around.unshift(outer);
    let below = 1;
    for (const outer of around) below = painted(getComputedStyle(outer).backgroundColor);
    const above = painted(getComputedStyle(each).color);
    const [dark, light] = [below, above].sort((a, b) => a - b);
    found[`${each.localName}.${each.className}: ${texts[0].data}`] = (light + 0.05) / (dark + 0.05);
  }
  return found;
})()"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with a_tab(tmp_path_factory.mktemp("chromium")) as tab:
        yield tab


def views() -> str:
    body = MessageBody([Part("Why?"), Part(sample("weather.md"), content_type="text/markdown")])
    body.add(sample("rides.csv"), name="/sources/rides.csv")
    body.add(json={"a": [1], "b": {"long": ["x" * 30, None, 0.5] * 3}}, name="/data.json")
    body.add("import json  # once\n\n\ndef f():\n    return 'x'\n", name="/f.py")
    body.add(url="https://example.com/film.mp4", name="/film.mp4", content_type="video/mp4")
    body.add("See [this](https://example.com/) `code`.", content_type="text/markdown")
    schema = MessageBodySchema([(None, "text/plain", True), ("/x.md", "text/markdown", True)])
    shown = [schema, *schema.iter_violations(body), check(schema, schema), *body]
    shown += [check(MessageBodySchema([(None, "text/*")]), schema)]
    return body._repr_mimebundle_()["text/html"] + "".join(each._repr_html_() for each in shown)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("system", ["light", "dark"])
def test_views_are_read_in_any_theme(theme: str, system: str, tab: Tab, tmp_path: Path) -> None:
    page = tmp_path / "notebook.html"
    page.write_text(NOTEBOOK.format(theme=theme, views=views(), **THEMES[theme]), "utf-8")
    scheme = {"name": "prefers-color-scheme", "value": system}
    tab.call("Emulation.setEmulatedMedia", features=[scheme])
    tab.call(
        "Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1,
        mobile=False,
    )  # fmt: skip
    tab.open(page)
    contrasts = tab.run(CONTRASTS)
    assert len(contrasts) > 100
    assert {text: ratio for text, ratio in contrasts.items() if ratio < 4.5} == {}
    assert tab.run("getComputedStyle(document.querySelector('tbody td')).textAlign") == "left"
    assert tab.run("document.documentElement.scrollWidth") == 390
