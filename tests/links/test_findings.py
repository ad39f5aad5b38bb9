"""Findings about links and citations."""

from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.errors import MissingDependency
from messagebody.findings import Severity, iter_findings
from tests.links.vectors import rows

pytest.importorskip("turbohtml")

CHECKS = {"citation-quote", "citation-range", "link-dangles", "source-unused"}


@pytest.mark.parametrize("row", rows("findings"), ids=lambda row: row["id"])
def test_vectors(row: dict[str, Any]) -> None:
    found = [
        each for each in iter_findings(MessageBody.from_dicts(row["body"])) if each.check in CHECKS
    ]
    assert [(each.check, each.index) for each in found] == [
        (check, index) for check, index, _ in row["findings"]
    ]
    for finding, (_, _, name) in zip(found, row["findings"], strict=True):
        assert (repr(name) in finding.problem) if name else "did you mean" not in finding.problem


def cited(text: str, *citations: Any, **sources: str) -> list[str]:
    """Return the findings of a text with citations, as text."""
    parts = [Part(content, name=f"/sources/{name}") for name, content in sources.items()]
    body = MessageBody([Part(text, metadata={"citations": list(citations)}), *parts])
    return [str(each) for each in iter_findings(body)]


def test_what_they_say() -> None:
    text = "[a](/charts/sale.png)"
    body = MessageBody([Part(text, name="/r.md"), Part("x", name="/charts/sales.png")])
    [finding] = [each for each in iter_findings(body) if each.check == "link-dangles"]
    assert finding.severity is Severity.WARNING
    assert str(finding) == (
        "part 0 '/r.md': it links to '/charts/sale.png', which is no part "
        "(did you mean '/charts/sales.png'?) (warning link-dangles)"
    )


@pytest.mark.parametrize(
    ("citation", "problem"),
    [
        ({"part": "/sources/a"}, ""),
        ({"part": "/sources/a", "start": 0, "end": 4}, ""),
        ({"url": "https://e.com", "start": 4, "end": 4}, ""),
        ({"url": "https://e.com", "start": 0, "end": 5}, "cites for 0 to 5"),
        ({"part": "/sources/a", "start": -1}, "cites for -1 to None"),
        ({"part": "/sources/a", "start": True, "end": 2}, "cites for True to 2"),
        ({"part": "/sources/a", "start": "0", "end": 2}, "cites for 0 to 2"),
        ({"part": "/sources/b"}, "it cites '/sources/b', which is no part"),
        ({"part": "/sources/a", "quote": "so cute"}, ""),
        ({"part": "/sources/a", "quote": "so  cute"}, "'so  cute' is not in the text"),
        ({"part": "/sources/a", "quote": 5}, ""),
        ("no citation", "an object with 'part' or 'url', got 'no citation'"),
        ({"part": "sources/a"}, "'part' is the name of a part, such as '/sources/1'"),
        ({"part": 1}, "such as '/sources/1', got 1"),
        ({"source": "/sources/a"}, "a citation has its source as 'part', and not as 'source'"),
        ({"href": "https://e.com"}, "as 'url', and not as 'href'"),
        ({"source": "/sources/a", "url": "https://e.com"}, ""),
        ({"source": "doc", "type": "search_result_location"}, ""),
        ({"document": {"index": 0}, "source": "doc"}, ""),
        ({"title": "Cats"}, ""),
    ],
)
def test_citations(citation: Any, problem: str) -> None:
    found = [each for each in cited("cute", citation, a="cats are so cute") if "unused" not in each]
    assert [problem in each for each in found] == [True] * bool(problem)


def test_quotes_of_html_are_what_a_reader_sees() -> None:
    html = "<p>cats are\n so <b>cute</b> &amp; small</p>"
    for quote, is_there in [("so cute & small", True), ("so <b>cute", True), ("so small", False)]:
        citation = {"part": "/sources/1", "quote": quote}
        body = MessageBody([Part("x", metadata={"citations": [citation]})])
        body.add(html, name="/sources/1", content_type="text/html")
        assert (next(iter_findings(body), None) is None) is is_there


def test_only_texts_are_searched_for_quotes() -> None:
    citation = {"part": "/sources/1", "quote": "cute"}
    body = MessageBody([Part("x", metadata={"citations": [citation]})])
    body.add(b"cats", name="/sources/1", content_type="application/octet-stream")
    assert [*iter_findings(body)] == []


def test_a_range_of_a_text_that_is_not_read_may_still_be_none() -> None:
    citations = [{"start": 3, "end": 1}, {"start": 0, "end": 10**6}]
    body = MessageBody([Part(url="https://e.com/a.txt", content_type="text/plain",
                             metadata={"citations": citations})])  # fmt: skip
    assert [each.where for each in iter_findings(body)] == ["/0/metadata/citations/0"]


def test_where_a_citation_is() -> None:
    body = MessageBody([Part("x", metadata={"citations": [{}, {"part": "/a", "start": 9}]})])
    assert [(each.check, each.where) for each in iter_findings(body)] == [
        ("link-dangles", "/0/metadata/citations/1/part"),
        ("citation-range", "/0/metadata/citations/1"),
    ]


def test_they_come_in_the_order_of_the_parts() -> None:
    citations = [{"start": 9, "end": 1}]
    parts = [Part("x", metadata={"citations": citations}), Part("[a](/a)", name="/b.md")]
    body = MessageBody([*parts, *(part.evolve(name=None) for part in parts), "[a](/a.md)"])
    assert [(each.check, each.index) for each in iter_findings(body)] == [
        ("citation-range", 0), ("link-dangles", 1), ("citation-range", 2),
        ("link-dangles", 3), ("links-unread", 4),
    ]  # fmt: skip


def test_many_links_that_lead_nowhere_get_few_suggestions() -> None:
    """Each suggestion takes milliseconds."""
    text = "".join(f"[a](/x{number}.md) " for number in range(2_000))
    body = MessageBody([Part(text, name="/a.md"), Part("x", name="/y.md")])
    found = [each for each in iter_findings(body) if each.check == "link-dangles"]
    assert len(found) == 2_000
    assert sum("did you mean" in each.problem for each in found) == 100


def test_suggestions_come_from_the_same_directory_of_a_large_body() -> None:
    names = [f"/n/{number}" for number in range(1_000)]
    parts = [Part("x", name=name) for name in [*names, "/charts/sales"]]
    body = MessageBody([Part("[a](/charts/sals)", content_type="text/markdown"), *parts])
    [finding] = iter_findings(body)
    assert "'/charts/sales'" in finding.problem


def test_without_the_extra_the_other_checks_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "turbohtml", None)
    body = MessageBody([Part("<a href=/x>", content_type="text/html"), Part("x", name="/a.png")])
    found = {each.check: str(each) for each in iter_findings(body)}
    assert found.keys() == {"name-disagrees", "links-unread"}
    assert "part 0: its links are not looked at: " in found["links-unread"]
    assert "messagebody[links]" in found["links-unread"]


class TestPlainText:
    """Models write Markdown, and most messages do not say so."""

    def test_it_is_said_that_its_links_are_none(self) -> None:
        body = MessageBody(["Cats are [cute](source:1), and [many](charts/cats.png)."])
        body.add("x", name="/sources/1")
        [finding] = iter_findings(body)
        assert str(finding) == (
            "part 0: what would be a link to '/charts/cats.png', which is no part, is none, "
            "because this is text/plain; it is read if the type is text/markdown "
            "(warning links-unread)"
        )

    def test_the_list_of_links_says_so(self) -> None:
        body = MessageBody(["[a](source:1) [b](/b.md)", "[a](source:1)", "calm"])
        body.add("x", name="/b.md")
        found = body.links(dangling=True)
        assert (found, repr(found)) == (
            [],
            "[] (2 not read, because text/plain has no links: to '/sources/1' in part 0)",
        )
        assert [(each.part, each.target, each.exists) for each in body.links().unread] == [
            (0, "/sources/1", False),
            (0, "/b.md", True),
            (1, "/sources/1", False),
        ]
        assert [each.part for each in body.links(to="/b.md").unread] == [0]

    @pytest.mark.parametrize(
        "text",
        ["calls[0](a)", "see source:1", "`[a](source:1)`", "[a](https://e.com/a)", "a [b] (c.d)",
         "[a](#top)"],
    )  # fmt: skip
    def test_what_looks_like_none(self, text: str) -> None:
        body = MessageBody([text])
        assert (body.links().unread, [*iter_findings(body)]) == ([], [])
        assert repr(body.links()) == "[]"

    @pytest.mark.parametrize("text", ["<source:1>", "[a]\n\n[a]: b/c.png", "![a](<b.png>)"])
    def test_every_way_to_write_one(self, text: str) -> None:
        assert [each.check for each in iter_findings([Part(text)])] == ["links-unread"]

    def test_its_sources_are_not_unused(self) -> None:
        body = MessageBody(["[a](source:1)", Part("[b](source:2)", content_type="text/markdown")])
        for number in (1, 2, 3):
            body.add("x", name=f"/sources/{number}")
        found = [(each.check, each.index) for each in iter_findings(body)]
        assert found == [("links-unread", 0), ("source-unused", 4)]

    def test_of_a_long_one_the_beginning_is_searched(self) -> None:
        body = MessageBody(["[a](b.md) " + "x" * 1_000_000 + " [a](c.md)"])
        assert [each.target for each in body.links().unread] == ["/b.md"]

    def test_without_the_extra_it_can_not_be_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "messagebody.links._markdown", None)
        body = MessageBody(["[a](source:1)", "calm"])
        assert [(each.check, each.index) for each in iter_findings(body)] == [("links-unread", 0)]
        with pytest.raises(MissingDependency):
            body.links()
        assert MessageBody(["calm"]).links() == []
