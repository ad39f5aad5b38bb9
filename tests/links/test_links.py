"""Links in texts and citations: which there are, where they stand and what they lead to."""

import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from random import Random
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.common.utils import unescapeAll
from markdown_it.token import Token

from messagebody import MessageBody, Part
from messagebody.errors import InvalidName, MissingDependency
from messagebody.links import Link, TextRange, source_links, target_of
from tests.effort import examples
from tests.links.vectors import body_parts, rows

pytest.importorskip("turbohtml")


def body_with(text: str, kind: str = "text/markdown", **others: str) -> MessageBody:
    named = [Part(content, name=f"/{name}") for name, content in others.items()]
    return MessageBody([Part(text, content_type=kind), *named])


def targets(text: str, kind: str = "text/markdown") -> list[str]:
    return [link.target for link in body_with(text, kind).links()]


@pytest.mark.parametrize("row", rows("links", "links_more"), ids=lambda row: row["id"])
def test_vectors(row: dict[str, Any]) -> None:
    found = MessageBody.from_dicts(body_parts(row)).links()
    got = [
        {
            "target": link.target,
            "start": link.where.start,
            "end": link.where.end,
            "kind": link.kind,
            "exists": link.exists,
        }
        for link in found
        if link.part == 0 and isinstance(link.where, TextRange)
    ]
    assert got == row["links"]


@pytest.mark.parametrize("row", rows("hostile"), ids=lambda row: row["id"])
def test_hostile_texts_have_the_links_that_they_have(row: dict[str, Any]) -> None:
    text = row["before"] + row["repeat"][0] * row["repeat"][1] + row["after"]
    assert len(body_with(text, row["type"]).links()) == row["links"]


# Each takes a parser that starts again at every repetition minutes, and a stack too deep for Python
# an error. Nothing is timed: the timeout of the suite is what a quadratic step meets.
@pytest.mark.dear
@pytest.mark.parametrize(
    ("piece", "times", "end", "found"),
    [
        ("![", 100_000, "a](source:1)", 1),
        ("[a](", 100_000, "", 0),
        ("[a](b ", 100_000, "[a](source:1)", 1),
        ("a`", 1_000_001, " [a](source:1)", 1),
        ("` `` ", 200_000, "[a](source:1)", 1),
        ("a <![CDATA[", 200_000, "[a](source:1)", 1),
        ("a <?", 200_000, "[a](source:1)", 1),
        ("a <!-- ", 200_000, "[a](source:1)", 1),
        ("a <b c='", 200_000, "[a](source:1)", 1),
        ("<a p=\" q=' ", 100_000, "[a](source:1)", 1),
        ("]", 300_000, "[a](source:1)", 1),
        ("[", 500_000, "]" * 500_000 + "[a](source:1)", 1),
        ("![", 200_000, "](x y)" * 200_000 + "[a](source:1)", 1),
        ("![", 50_000, "](source:1)" * 50_000, 50_000),
        ("\\", 300_000, "[a](source:1)", 1),
        ("*a **", 100_000, "[a](source:1)", 1),
        ("[a]: b\n", 30_000, "[b](source:1)", 1),
        ("> ", 50, "[a](source:1)", 1),
        ("- ", 40, "[a](source:1)", 1),
    ],
)
def test_hostile_markdown(piece: str, times: int, end: str, found: int) -> None:
    assert targets(piece * times + end) == ["/sources/1"] * found


@pytest.mark.dear
@pytest.mark.parametrize(
    ("piece", "times", "end", "found"),
    [
        ('<a href="', 200_000, "", 0),
        ("<!--", 200_000, "", 0),
        ("<b id=1><p>", 50_000, "<a href=source:1>", 1),
        ("<a href=source:1>", 20_000, "", 20_000),
        ("<title><a ", 100_000, "", 0),
    ],
)
def test_hostile_html(piece: str, times: int, end: str, found: int) -> None:
    assert targets(piece * times + end, "text/html") == ["/sources/1"] * found


def test_many_formatting_elements_are_repeated_in_no_tree() -> None:
    """A tree by the standard would have the square of them."""
    text = "".join(f"<b id={number}><p>" for number in range(20_000))
    assert targets(f"{text}<a href=source:1>", "text/html") == ["/sources/1"]


# Beside markdown-it, which says what is linked, but not where

_PIECES = [
    "[", "]", "(", ")", "![", "a", "b c", "source:1", "/x", "`", "``", "\\", "<", ">",
    "<source:1>", "<a b='", '"', "'", "\n", "\n\n", "> ", "- ", "    ", "\t", "[r]: /r 't'\n",
    "[r]", "[]", "(/u)", "](/v", "*", "_", "&amp;", "<!-- x -->", "# ", "\n# ", "===\n", "1. ",
    "<div>", "é", "&lt;", "\r\n", "<b>", "</b>", " ", "<?x?>", "<![CDATA[", "]]>", "(/u 't')",
]  # fmt: skip


class _Reference(MarkdownIt):
    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return True


def urls_by_markdown_it(text: str) -> list[str]:
    parser = _Reference("commonmark", {"maxNesting": 1000})
    return sorted(filter(None, _urls(parser.parse(text))))


def _urls(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in {"link_open", "image"}:
            yield str(token.attrs["href" if token.type == "link_open" else "src"])
        yield from _urls(token.children or [])


_READ: dict[str, Callable[[str], str]] = {
    "html": lambda written: unescape(written).strip(),
    "markdown": unescapeAll,
    "autolink": str,  # where nothing is escaped
}


# Where markdown-it differs from CommonMark: what is before brackets that hold a bracket or only
# white space, and before a parenthesis that ends its block, is a link by itself. Of a backslash at
# the end of a line, which no name of a part has, it makes a piece of the destination.
_OTHERWISE = re.compile(r"\]\[(?:[^\]]*\[|\s+\])|\]\(\s*(?:\n|$)|\\\r?\n")


def _compare(seeds: range) -> None:
    from messagebody.links._markdown import destinations, linked_words

    for seed in seeds:
        random = Random(seed)
        text = "".join(random.choices(_PIECES, k=random.randint(1, 25)))
        if _OTHERWISE.search(text):
            continue
        # As often as they are linked: a definition once for each use.
        linked = linked_words(text)
        assert sorted(filter(None, (url for _, url in linked))) == urls_by_markdown_it(text), text
        for (start, end), _ in linked:
            # What begins a line belongs to the block around it.
            behind = text[end:] if text[start - 1] == "<" else text[end:].lstrip(" >")
            assert text[start - 1] + behind[:1] in ("[]", "<>"), repr(text)
        for span, url, _, markup in destinations(text):
            written = text[slice(*span)]
            assert _READ[markup](written) == url, repr(text)


def test_the_same_links_as_markdown_it_at_the_places_where_they_are_written() -> None:
    _compare(range(examples(5_000)))


@pytest.mark.slow
def test_the_same_links_as_markdown_it_at_length() -> None:
    _compare(range(1_000, 100_000))


# Details of texts


def test_links_within_the_words_of_a_picture_count() -> None:
    assert targets("![a [b](/b.md)](/c.png)") == ["/b.md", "/c.png"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[r][\n]\n\n[r]: /r", ["/r"]),
        ("[r](\n# a\n\n[r]: /r", ["/r"]),
    ],
)
def test_where_markdown_it_is_not_commonmark(text: str, found: list[str]) -> None:
    assert targets(text) == found


def test_nul_is_a_character_like_others() -> None:
    """By CommonMark it is U+FFFD, so the inner brackets are a link, and the outer ones none."""
    assert targets("[a [b](/\0) c](/c)\n\n[\0 d](/d)") == ["/d"]


def test_a_url_may_end_a_line_of_carriage_return_and_line_feed() -> None:
    text = "a\r\n\r\n[r]: /a\r\n\r\n[r]\r\n"
    [link] = body_with(text).links()
    assert link.where == TextRange(10, 12)


def test_the_first_of_two_definitions_counts() -> None:
    assert targets("[a]: /a\n[A]: /b\n\n[a] [b]\n\n> [b]: /c") == ["/a", "/c"]


def test_a_label_has_999_characters_at_most() -> None:
    for length, found in [(999, ["/a"]), (1000, [])]:
        label = "x" * length
        assert targets(f"[{label}]\n\n[{label}]: /a") == found


def test_only_white_space_and_controls_around_a_url_are_nothing() -> None:
    text = "<a href=' \x1f/a?! '>"
    [link] = body_with(text, "text/html").links()
    assert isinstance(link.where, TextRange)
    assert text[slice(*link.where)] == "/a?!"


def test_only_links_to_sources_are_sources() -> None:
    found = source_links("[a](/sources/2) [b](source:1)")
    assert found == [(TextRange(17, 18), "/sources/1")]


def test_what_is_read_of_a_link_is_not_read_again() -> None:
    assert targets("![x [a](b?])](c)") == ["/b", "/c"]


def test_raw_html_in_markdown_is_html() -> None:
    text = (
        "> a <img\n> src='/a.png'> [b](/b.md)\n\n"
        "<p>\n[no](/c)\n<a href=/d>\n</p>\n\n<!-- <a href=/e> -->"
    )
    found = body_with(text).links()
    assert [link.target for link in found] == ["/a.png", "/b.md", "/d"]
    spans = [link.where for link in found if isinstance(link.where, TextRange)]
    assert [text[slice(*span)] for span in spans] == ["/a.png", "/b.md", "/d"]


def test_a_tab_that_a_list_cuts_in_two_moves_no_link() -> None:
    text = "-\t\t[no](/a)\n\n-\ta\n\t[b](/b.md)"
    [link] = body_with(text).links()
    assert isinstance(link.where, TextRange)
    assert text[slice(*link.where)] == "/b.md"


@pytest.mark.parametrize(
    ("srcset", "found"),
    [
        ("/a.png, /b.png 2x", ["/a.png", "/b.png"]),
        ("/a.png,/b.png", []),  # one URL, with a comma in it
        ("/a.png 1x,/b.png 100w 50h,", ["/a.png", "/b.png"]),
        ("/a.png 1q, /b.png 0w, /c.png -1x, /d.png 1.5e2x", ["/d.png"]),
        ("/a.png (1x, 2x), /b.png", ["/b.png"]),
        (",, /a.png,, ,/b.png", ["/a.png", "/b.png"]),
    ],
)
def test_candidates_of_srcset(srcset: str, found: list[str]) -> None:
    assert targets(f'<img srcset="{srcset}">', "text/html") == found


@pytest.mark.parametrize("kind", ["text/html", "application/xhtml+xml"])
def test_the_base_is_not_looked_at(kind: str) -> None:
    assert targets('<p><base href="/a/b.md"/><a href="c.md">c</a></p>', kind) == ["/c.md"]


def test_line_ends_and_tabs_within_a_url_are_none_of_it() -> None:
    text = '<a href="\n/re\r\n\tport.md">r</a>'
    [link] = body_with(text, "text/html").links()
    assert (link.target, link.where) == ("/report.md", TextRange(10, 23))


def test_an_attribute_that_stands_twice_counts_once() -> None:
    assert targets("<a href=/a HREF=/b src=/c href=/d>", "text/html") == ["/a", "/c"]


def test_xhtml_is_xml() -> None:
    text = '<p>é&nbsp;<title/><a href="/a&#46;md" title=">">a</a><br></p><a href="/b.md"/>'
    [link] = body_with(text, "application/xhtml+xml").links()
    assert (link.target, link.text) == ("/a.md", "a")
    assert link.where == TextRange(27, 36)


def test_what_an_entity_of_xhtml_holds_stands_nowhere_in_the_text() -> None:
    text = '<!DOCTYPE p [<!ENTITY e "<a href=\'/a\'/>">]><p>&e;<a href="/b"/></p>'
    assert targets(text, "application/xhtml+xml") == ["/b"]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("[so *cute*](source:1)", "text/markdown", "so *cute*"),
        ("![a\n  cat][c]\n\n[c]: source:1", "text/markdown", "a cat"),
        ("<source:1>", "text/markdown", "source:1"),
        ("<a href='source:1'>the <b>cats</b> &amp; dogs</a>", "text/markdown", "the cats & dogs"),
        ("<img src=source:1 alt='a cat'>", "text/html", "a cat"),
        ("<link href=source:1>", "text/html", ""),
        (f"[{'a' * 500}](source:1)", "text/markdown", "a" * 200),
    ],
)
def test_words(text: str, kind: str, words: str) -> None:
    assert [link.text for link in body_with(text, kind).links()] == [words]


def test_text_in_another_charset() -> None:
    part = Part("é [a](/b)".encode("latin-1"), content_type="text/markdown; charset=iso-8859-1")
    found = MessageBody([part]).links()
    assert found == [Link(0, "/b", "a", TextRange(6, 8), "path", exists=False)]


def test_references_are_not_looked_into() -> None:
    body = MessageBody([Part(url="https://example.com/a.md", content_type="text/markdown")])
    assert body.links() == []


# Citations


def test_citations() -> None:
    citations = [
        {"part": "/sources/1", "start": 0, "end": 4, "quote": "so cute"},
        {"url": "https://example.com"},
        {"part": "/sources/2"},
        {"part": "no name"},
        {"part": "/sources/1", "start": 3, "end": 99},
        "no citation",
    ]
    text = Part("Cats are cute.", metadata={"citations": citations})
    body = MessageBody([text, Part("so cute", name="/sources/1")])
    assert body.links() == [
        Link(0, "/sources/1", "Cats", 0, "citation", exists=True),
        Link(0, "/sources/2", "Cats are cute.", 2, "citation", exists=False),
        Link(0, "/sources/1", "", 4, "citation", exists=True),
    ]


def test_only_texts_have_citations() -> None:
    part = Part(b"\0", content_type="image/png", metadata={"citations": [{"part": "/a"}]})
    assert MessageBody([part]).links() == []


# What is asked for


def test_links_to_a_part_and_links_that_lead_nowhere() -> None:
    body = body_with("[a](/a) [b](/b) [c](/a#x)", a="A")
    assert [link.text for link in body.links(to="/a")] == ["a", "c"]
    assert [link.text for link in body.links(dangling=True)] == ["b"]
    assert body.links(to="/a", dangling=True) == []


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidName, match="begins with '/'"):
        MessageBody().links(to="a")


@pytest.mark.parametrize("kind", ["text/markdown", "text/html"])
def test_what_is_missing_names_the_extra(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "turbohtml", None)
    for name in ("markdown_it", "messagebody.links._markdown", "messagebody.links._inlines"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(MissingDependency, check=lambda error: error.extra == "links"):
        body_with("[a](/a)", kind).links()


@pytest.mark.parametrize(
    ("url", "holder", "name"),
    [
        ("a", "/x", "/a"),
        ("a/..", "/x/y", None),
        ("../../../a", "/x/y", "/a"),
        ("./a", "/x/y", "/x/a"),
        ("%2E%2E/a", "/x/y", None),
        ("a%2Fb", None, None),
        ("/%61", None, "/a"),
        ("source:%31", None, "/sources/1"),
        ("source:1/../2", None, None),
        ("Source:1", None, None),
        ("/a b", None, None),
        ("?q", "/x", None),
        ("/a?q#f", "/x", "/a"),
        ("/a%ff", None, None),
        ("a.md:2", None, None),
    ],
)
def test_names(url: str, holder: str | None, name: str | None) -> None:
    found = target_of(url, holder)
    assert (found and found[0]) == name
