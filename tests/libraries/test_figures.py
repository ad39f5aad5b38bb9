"""Figures of the real libraries as content; tests/model/test_objects.py has stand-ins of them."""

import io
import json

import pytest

from messagebody import MessageBody, Part
from messagebody.errors import InvalidPart

KINDS = {
    "/a.png": b"\x89PNG", "/a.jpg": b"\xff\xd8", "/a.pdf": b"%PDF", "/a.svg": b"<?xml",
    "/charts/a": b"\x89PNG",
}  # fmt: skip


@pytest.mark.parametrize(("name", "begins"), KINDS.items())
def test_matplotlib(name: str, begins: bytes) -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = figure.subplots()
    axes.plot([1, 3, 2])
    body = MessageBody()
    for each in (figure, axes):
        body[name] = each
        assert body[name].read_bytes().startswith(begins)


def test_plotly() -> None:
    figure = pytest.importorskip("plotly.graph_objects").Figure(data={"type": "bar", "y": [1, 3]})
    part = Part(figure)
    assert part.content_type == "application/vnd.plotly.v1+json"
    again = pytest.importorskip("plotly.io").from_json(part.read_text())
    assert again == figure
    assert Part(figure, name="/a.html").read_text().startswith("<!doctype html>")


def test_altair() -> None:
    altair, pandas = pytest.importorskip("altair"), pytest.importorskip("pandas")
    frame = pandas.DataFrame({"day": ["Mon", "Tue"], "rides": [2173, 539]})
    chart = altair.Chart(frame).mark_bar().encode(x="day", y="rides")
    for each in (chart, chart | chart):
        part = Part(each)
        assert part.content_type.startswith("application/vnd.vegalite.v")
        assert altair.Chart.from_dict(json.loads(part.read_text())).to_dict() == each.to_dict()
        assert Part(each, name="/chart.json").content_type == "application/json"
        assert "vega" in Part(each, name="/chart.html").read_text()


def test_what_a_figure_is_not() -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    with pytest.raises(InvalidPart, match="the matplotlib Figure can't be written as text/csv"):
        MessageBody().add(figure, name="/a.csv")
    assert io.BytesIO(Part(figure).read_bytes()).read(4) == b"\x89PNG"
