"""What a notebook shows of bodies, parts, schemas, verdicts and violations."""

import pickle
import re
import sys
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given

from messagebody import MessageBody, MessageBodySchema, Part, check
from messagebody.adapters import adapter
from messagebody.compatibility import lint
from messagebody.errors import InvalidBody
from messagebody.samples import sample
from messagebody.testing.strategies import bodies

SENDER = MessageBodySchema([("/a", "image/*", True), (None, "text/*")])
TAKER = MessageBodySchema([("/b", "image/*", True, "A <picture>")])


class Tags(HTMLParser):
    """All start tags of a document."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def cells(document: str) -> list[str]:
    return re.findall("<td>(.*?)</td>", document)


@given(bodies())
def test_nothing_in_a_view_acts_or_asks(body: MessageBody) -> None:
    views = [body._repr_mimebundle_()["text/html"], *(part._repr_html_() for part in body)]
    for view in views:
        for tag, attributes in Tags(view).found:
            assert tag not in {"script", "iframe", "object", "link", "form", "base", "meta"}
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            assert (attributes.get("src") or "data:").startswith("data:")


def test_the_look_stays_inside_of_a_view() -> None:
    """A rule for all tables of a notebook would change those of others."""
    (style,) = re.findall("<style>(.*?)</style>", SENDER._repr_html_(), re.DOTALL)
    assert style.startswith(".messagebody.messagebody {")
    assert style.count("{") == style.count("}")
    assert ":root" not in style


def test_a_body_is_a_table_of_its_parts() -> None:
    body = MessageBody([Part("a < b"), Part(url="https://x.org/a?sig=s3cret", name="/a", size=3,
                                            content_type="text/plain")])  # fmt: skip
    shown = body._repr_mimebundle_()["text/html"]
    assert cells(shown)[:5] == ["0", "", "text/plain", "5 B", "&quot;a &lt; b&quot;"]
    assert cells(shown)[5:] == ["1", "/a", "text/plain", "3 B", "https://x.org/a?…"]
    long = MessageBody([Part("x")] * 150)._repr_mimebundle_()["text/html"]
    assert len(cells(long)) == 5 * 101
    assert "… 50 more" in long


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Part(sample("chart.png"), name="/chart.png"), '<img src="data:image/png;base64,'),
        (Part(sample("bell.wav"), name="/bell.wav"), '<audio src="data:audio/wav;base64,'),
        (Part("*cute*", content_type="text/markdown"), "<em>cute</em>"),
        (Part('{"a": [1]}', name="/a.json"), '>"a"</span>: [<span class="m">1</span>]'),
        (Part(url="https://example.com/a.png", content_type="image/png"), "not fetched"),
    ],
)
def test_a_part_shows_its_content(part: Part, expected: str) -> None:
    assert expected in part._repr_html_().replace("&quot;", '"')


def test_without_the_extra_markup_is_shown_as_it_was_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "nh3", None)
    assert ">*cute*</pre>" in Part("*cute*", content_type="text/markdown")._repr_html_()


def test_a_schema_is_a_table_of_its_parts() -> None:
    rows = cells(MessageBodySchema([*SENDER, *TAKER])._repr_html_())
    assert rows[:5] == ["0", "/a", "image/*", "required", ""]
    assert rows[5:10] == ["1", "unnamed", "text/*", "", ""]
    assert rows[10:] == ["2", "/b", "image/*", "required", "A &lt;picture&gt;"]
    many = MessageBodySchema([(f"/{number}",) for number in range(120)])._repr_html_()
    assert "… 20 more" in many


def test_a_verdict_shows_reasons_and_a_counterexample() -> None:
    answer = check(SENDER, TAKER)
    shown = answer._repr_html_()
    assert 'class="badge bad">never' in shown
    assert answer.counterexample is not None
    assert set(answer.counterexample.names()) <= set(cells(shown))
    assert "other name" in cells(shown)
    assert 'class="badge good">always' in check(SENDER, SENDER)._repr_html_()


def test_pictures_are_thumbnails_as_far_as_there_is_room() -> None:
    body = MessageBody([Part("x"), Part(sample("chart.png"), name="/a.png")])
    body.add(sample("valley.jpg") + bytes(300_000), name="/large.jpg")
    body.add(url="https://example.com/b.png", name="/b.png", content_type="image/png")
    body.add(b"no picture", name="/c.png", content_type="image/png")
    pictures = Tags(body._repr_mimebundle_()["text/html"]).found
    (picture,) = [attributes for tag, attributes in pictures if tag == "img"]
    assert picture["alt"] == "/a.png"
    many = MessageBody([Part(sample("chart.png"))] * 90)
    many.extend([Part(sample("valley.jpg") + bytes(200_000))] * 10)
    shown = many._repr_mimebundle_()["text/html"]
    assert 90 <= shown.count("<img") < 96
    assert len(shown) < 2 * 1024 * 1024


def test_what_was_found_is_a_list() -> None:
    body = MessageBody([Part("x", name="/a", content_type="x/y"), *[Part("x")] * 120])
    with pytest.raises(InvalidBody) as caught:
        TAKER.validate(body)
    found = caught.value.violations
    lines = [str(each) for each in found]
    assert str(found).splitlines() == lines
    told = re.findall("<li>(.*?)</li>", found._repr_html_())
    assert [*map(unescape, told)] == [*lines[:100], "… 22 more"]
    assert isinstance(found, tuple)
    assert found == tuple(TAKER.iter_violations(body))
    assert pickle.loads(pickle.dumps(caught.value)) == caught.value
    twice = lint(MessageBodySchema([(None, "text/*"), (None, "text/plain")]))
    losses = (
        adapter("openai-chat")
        .from_body(MessageBody([Part(url="s3://b/a", content_type="video/mp4")]))
        .losses
    )
    for listed in (twice, losses):
        assert len(listed) == listed._repr_html_().count("<li>") > 0  # type: ignore[union-attr]
    assert "nothing" in lint(SENDER)._repr_html_()  # type: ignore[attr-defined]


def test_a_violation_is_a_line() -> None:
    (violation,) = TAKER.iter_violations(MessageBody())
    assert "no part matches" in violation._repr_html_()
