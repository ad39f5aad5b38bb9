"""Links on a page: where they lead, what they show, what links to a part, and citations."""

import re
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.rendering import page
from messagebody.rendering._limits import LINKED_FROM, PEEKS
from tests.rendering.test_pages import Elements

_TAGS = {
    "a", "b", "bdi", "code", "details", "div", "i", "img", "li", "ol", "p", "pre", "q", "small",
    "span", "summary", "sup",
}  # fmt: skip


def elements_of(body: MessageBody) -> str:
    """Return the cards of a page, without its head and the views of raw texts and metadata."""
    main = page(body).partition("<main>")[2]
    return re.sub('<details class="fold( raw)?">.*?</details>', "", main, flags=re.DOTALL)


def cited(text: str, *citations: Any, kind: str = "text/markdown") -> str:
    part = Part(text, content_type=kind, metadata={"citations": list(citations)})
    body = MessageBody([part, Part("They are so cute.", name="/sources/1")])
    return elements_of(body)


def test_a_relative_link_starts_beside_its_part() -> None:
    kind = "text/markdown"
    body = MessageBody([Part("[up](../b.md#x)", name="/a/a.md", content_type=kind)])
    body.add("x", name="/b.md")
    assert '<a href="#part-1"' in elements_of(body)


def test_a_link_shows_the_beginning_of_its_part() -> None:
    body = MessageBody([Part("[cute](source:1) ![](/no)", content_type="text/markdown")])
    body.add("They are <so> " + "very " * 100 + "cute.", name="/sources/1")
    link = re.search(r"<a href=\"#part-1\".*?</a>", elements_of(body))
    assert link is not None
    assert re.search(
        r'>cute<span class="peek"><b>/sources/1</b>&quot;They are &lt;so&gt; very .*…&quot;'
        r"<small>text/plain  \d+ B</small></span></a>",
        link[0],
    )
    assert len(link[0]) < 600


def test_a_page_has_room_for_so_many_beginnings() -> None:
    text = "[a](/b) " * (PEEKS + 10)
    body = MessageBody([Part(text, content_type="text/markdown"), Part("x" * 241, name="/b")])
    html = elements_of(body)
    assert html.count('class="peek"') == PEEKS
    assert len(re.findall('<a href="#part-1"[^>]*>a<', html)) == PEEKS + 10
    assert {*re.findall("&quot;(x+)…", html)} == {"x" * 240}


def test_a_part_says_what_links_to_it() -> None:
    kind, citations = "text/markdown", [{"part": "/sources/1"}]
    body = MessageBody([Part("[a](source:1) [b](source:1)", content_type=kind)])
    body.add("![c](../sources/1)", name="/n/c.md", content_type=kind)
    body.add("Cats", name="/n/d.txt", metadata={"citations": citations})
    body.add("x", name="/sources/1")
    assert (
        'linked from <a href="#part-0"><bdi>part 0</bdi></a>, <a href="#part-1"><bdi>/n/c.md</bdi>'
        '</a>, <a href="#part-2"><bdi>/n/d.txt</bdi></a></p>'
    ) in elements_of(body)


def test_only_some_of_many_holders_are_listed() -> None:
    kind = "text/markdown"
    holders = [Part("[a](/b)", name=f"/h/{i}", content_type=kind) for i in range(LINKED_FROM + 3)]
    html = elements_of(MessageBody([*holders, Part("x", name="/b")]))
    assert f"<bdi>/h/{LINKED_FROM - 1}</bdi></a> and 3 other parts</p>" in html


@pytest.mark.parametrize("kind", ["text/markdown", "text/html", "text/plain"])
def test_a_citation_is_a_number_with_its_quote(kind: str) -> None:
    html = cited(
        "Cats are cute. Dogs too.",
        {"part": "/sources/1", "start": 9, "end": 13, "quote": "so <cute>", "at": {"page": 3}},
        {"url": "https://example.com/dogs", "title": "Dogs", "start": 15, "end": 24},
        {"part": "/sources/1", "start": 0, "end": 24},
        kind=kind,
    )
    one = (
        '<a href="#part-1">1<span class="peek"><b>/sources/1</b><q>so &lt;cute&gt;</q>'
        "<small>page 3</small></span></a>"
    )
    assert f"Cats are cute<sup>{one}</sup>. Dogs too.<sup>" in html
    assert '>2<span class="peek"><b>Dogs</b>' in html
    assert (
        '<li><a href="#part-1">/sources/1</a> <q>so &lt;cute&gt;</q><small>page 3</small></li>'
        '<li><a href="https://example.com/dogs" rel="noopener noreferrer nofollow">Dogs</a> '
    ) in html


def test_emphasis_stays_where_a_citation_ends() -> None:
    html = cited("*so* **cute** _a_.", *({"part": "/sources/1", "end": n} for n in (4, 13, 17)))
    for tag in ("<em>so</em><sup>", "<strong>cute</strong><sup>", "<em>a</em><sup>"):
        assert tag in html


def test_a_citation_within_markup_breaks_nothing() -> None:
    """Wherever a range ends, what the marks become is in no attribute."""
    text = '![alt](/sources/1 "t") [a](/sources/1) <b title="x">b</b> `code` &amp; <img alt="y">'
    for kind in ("text/markdown", "text/html"):
        for end in range(1, len(text) + 1):
            html = cited(text, {"part": "/sources/1", "end": end}, kind=kind)
            assert "\N{DOTTED CROSS}" not in html
            for tag, attributes in Elements(html).found:
                assert tag in _TAGS
                assert not [each for each in attributes.values() if each and "<" in each]


def test_a_citation_that_ends_within_a_link_stands_behind_it() -> None:
    """Links can't stand in links: browsers would end the first one."""
    text = "See [the *cats*](/sources/1) [there](https://example.com/)."
    citations = [{"part": "/sources/1", "end": end} for end in (7, 12, 35)]
    html = cited(text, *citations)
    depth = 0
    for tag in re.findall(r"<(/?a)\b", html):
        depth += 1 if tag == "a" else -1
        assert depth < 2
    assert html.count("<sup>") == 3
    assert "cats</em>" in html


def test_a_text_with_the_sign_of_marks_is_shown_as_it_is() -> None:
    html = cited("\N{DOTTED CROSS}0\N{DOTTED CROSS} cats", {"part": "/sources/1", "end": 3})
    assert "\N{DOTTED CROSS}0\N{DOTTED CROSS} cats" in html
    assert '<ol class="cited"' in html


def test_tables_keep_their_cells() -> None:
    html = cited("a,b\n1,2\n", {"part": "/sources/1", "end": 2}, kind="text/csv")
    assert "<sup>" not in html
    assert '<ol class="cited"' in html


@pytest.mark.parametrize(
    "citation",
    [{}, "x", {"part": 5}, {"url": "javascript:act()", "end": 1}, {"part": "/no", "end": 1},
     {"url": "https://user:secret@example.com/", "end": 1}, {"end": True, "part": "/sources/1"},
     {"document": {"index": 0, "title": "cats.txt"}, "at": {"x": [1, {}]}, "end": 10**30}],
)  # fmt: skip
def test_strange_citations(citation: Any) -> None:
    html = cited("Cats", citation)
    assert "javascript:act()" not in re.findall('href="([^"]*)"', html)
    assert "secret" not in html
