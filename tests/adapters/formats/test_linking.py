"""Links to sources in Markdown: they go out as citations, and come back as what they were."""

import sys
from random import Random
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import adapter
from tests.effort import calls, examples

CITING = ["acp", "bedrock", "langchain", "llamaindex", "openai-chat", "openai-responses",
          "pydantic-ai", "vercel-ai"]  # fmt: skip
RANGED = sorted({*CITING} - {"acp", "bedrock"})
OTHERS = ["a2a", "anthropic", "gemini", "mcp"]
SOURCELESS = {"anthropic", "gemini"}
"""Formats that take no files in what a model says, if they were its sources."""
TEXT = "🐈 [cute](source:2), says <source:1>."


def report(text: str = TEXT, *, kind: str = "text/markdown", **metadata: Any) -> MessageBody:
    """Return a text beside three sources."""
    return MessageBody([
        Part(text, content_type=kind, metadata=metadata or None),
        *(Part(url=f"https://e.com/{number}", name=f"/sources/{number}", content_type="text/html",
               metadata={"title": f"T{number}"}) for number in (1, 2)),
        Part("held", name="/sources/3"),
    ])  # fmt: skip


def there(body: MessageBody, to: str, role: str = "assistant") -> Any:
    write: Any = adapter(to).from_body
    return write(body, role=role)


def back(message: Any, of: str) -> MessageBody:
    return adapter(of).to_body(message).value


def claims(body: MessageBody) -> list[tuple[Any, ...]]:
    """Return the name, the URL and the range of each citation of the first part."""
    held = (body[0].metadata or {}).get("citations", ())
    return [
        (each["part"], body[each["part"]].url, each.get("start"), each.get("end")) for each in held
    ]


WANTED = [("/sources/2", "https://e.com/2", 3, 7), ("/sources/1", "https://e.com/1", 26, 34)]


@pytest.mark.parametrize("to", CITING)
def test_a_link_goes_out_as_a_citation_and_stays_in_the_text(to: str) -> None:
    done = there(report(), to)
    body = back(done.value, to)
    assert body[0].text == TEXT
    if to == "acp":  # it has room for one, and states the type: the link is one again
        about = {"kind": "citation", "url": "https://e.com/2", "title": "T2"}
        said = done.value["parts"][0]["metadata"]
        assert said == about | {"start_index": 3, "end_index": 7}
    wanted: Any = [] if to == "acp" else WANTED
    wanted = [(*each[:2], None, None) for each in wanted] if to == "bedrock" else wanted
    assert claims(body) == wanted
    assert body["/sources/1"].url == "https://e.com/1"
    assert not [loss for loss in done.losses if "citation" in loss.why]


@pytest.mark.parametrize("second", RANGED)
@pytest.mark.parametrize("first", CITING)
def test_citations_of_links_go_on_to_every_format(first: str, second: str) -> None:
    """They are as many as they were, in the second format and in the third."""
    once = back(there(report(), first).value, first)
    again = there(once, second)
    assert back(again.value, second)[0].text == TEXT
    wanted = [(name, url) for name, url, _, _ in WANTED]
    held = claims(back(again.value, second))
    if first == "bedrock":  # which has no ranges
        assert [each[:2] for each in held] == wanted
    else:
        assert held == WANTED
    assert not [loss for loss in again.losses if "its citations" in loss.why]


@pytest.mark.parametrize("to", OTHERS)
def test_where_there_are_no_citations_the_link_is_lost_with_its_source(to: str) -> None:
    """The text is sent, and the link is in it."""
    plain = TEXT.replace("source:", "sauces:")
    done, without = there(report(), to), there(report(plain), to)
    lost = [loss.why for loss in done.losses if loss not in without.losses]
    why = "its link to '/sources/2' and to 1 other leads nowhere: the name does not go out"
    assert lost == [why] * (to in SOURCELESS)
    assert "(source:2)" in str(done.value)
    assert "itation" not in str(done.value)


@pytest.mark.parametrize("to", CITING)
def test_a_citation_that_is_there_already_goes_out_once(to: str) -> None:
    held = [{"part": "/sources/2", "start": 3, "end": 7, "quote": "so cute"},
            {"url": "https://e.com/1", "start": 26, "end": 34}]  # fmt: skip
    said = there(report(citations=held), to).value
    pages = [each[1] for each in claims(back(said, to))]
    assert pages == [each[1] for each in (WANTED[:1] if to == "acp" else WANTED)]


def test_a_link_is_no_citation_after_its_way_through_a_format() -> None:
    """Where the type of the text comes back, so does the link: it would be there twice."""
    body = report("[cute](source:2)")
    message = there(body, "acp").value
    read = adapter("acp").to_body(message)
    assert read.value.links() == body.links()
    written: Any = adapter("acp").from_body
    assert written(read.value, rest=read.rest).value == message
    assert there(read.value, "acp").value == message
    message["parts"][0]["metadata"]["description"] = "They are cute."
    assert [link.kind for link in back(message, "acp").links()] == ["source", "citation"]


@pytest.mark.parametrize("to", ["langchain", "vercel-ai", "acp"])
def test_copies_of_parts_bring_the_links_back(to: str) -> None:
    written: Any = adapter(to).from_body
    done = written(report(), role="assistant", carry=True)
    read = adapter(to).to_body(done.value)
    assert [link.kind for link in read.value.links()] == ["source", "source"]
    assert written(read.value, rest=read.rest).value == done.value
    for odd in ([[1], 5, ["https://e.com/1", 0, []]], []):
        read.rest["blocks"][0]["linked"] = odd
        assert "cite" not in str(written(read.value, rest=read.rest).value)
        assert "end" not in str(written(read.value, rest=read.rest).value)


def test_a_citation_of_other_words_is_another_one() -> None:
    held = [{"part": "/sources/2", "start": 3, "end": 6}, {"part": "/sources/2"}, "odd",
            {"part": 7, "start": "a"}]  # fmt: skip
    body = report(citations=held[:2])
    assert len(claims(back(there(body, "openai-chat").value, "openai-chat"))) == 4
    assert there(report(citations=held), "openai-chat").value["content"]


@pytest.mark.parametrize(
    "text",
    ["[a](source:3)", "[a](source:9)", "[a](/sources/1)", "`[a](source:1)`", "\\[a](source:1)",
     "<a href='source:1'>a</a>", "source:1", "[a](source:..)", "[a](SOURCE:1)"],
)  # fmt: skip
def test_what_has_no_page_or_is_no_link_goes_out_as_text(text: str) -> None:
    assert "annotations" not in there(report(text), "openai-chat").value


def test_only_markdown_that_a_model_says_cites() -> None:
    for body, role in ((report(kind="text/plain"), "assistant"), (report(), "user")):
        for to in CITING:
            assert "ource" in str(said := there(body, to, role).value)
            assert "citations" not in str(said)
            assert "annotations" not in str(said) or to in ("langchain", "openai-responses")
            assert "start" not in str(said)


def test_a_definition_is_a_citation_of_all_words_that_use_it() -> None:
    body = report("> [so\r\n> cute][c] ![and][c]\r\n\r\n[c]: source:1#page=2 'Cats'\r\n")
    held = claims(back(there(body, "langchain").value, "langchain"))
    assert [str(body[0].text)[start:end] for _, _, start, end in held] == ["so\r\n> cute", "and"]


def test_what_came_in_a_format_goes_back_as_it_came() -> None:
    """The citations of a message are those that it has, whatever its text links."""
    message = there(report(kind="text/plain"), "acp").value
    message["parts"][0]["content_type"] = "text/markdown"
    read = adapter("acp").to_body(message)
    written: Any = adapter("acp").from_body
    assert written(read.value, rest=read.rest).value == message


def test_without_the_extra_a_loss_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    message = there(report(), "openai-chat").value
    monkeypatch.setitem(sys.modules, "messagebody.links._markdown", None)
    for to in CITING:
        losses = [loss for loss in there(report(), to).losses if "messagebody[links]" in loss.why]
        assert [loss.where for loss in losses] == ["part 0"]
    assert not [each for each in there(report("[a](/b)"), "acp").losses if "links" in each.why]
    assert not [each for each in there(report(), "anthropic").losses if "links" in each.why]
    # What is read gets the next free names.
    names = [each[0] for each in claims(back(message, "openai-chat"))]
    assert names == ["/sources/1", "/sources/2"]


def test_a_text_without_such_links_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    from messagebody.links import _markdown

    monkeypatch.setattr(_markdown, "document_of", None)
    for to in (*CITING, *OTHERS):
        there(report("[a](/b.md) and [b](https://e.com/9)"), to)
    for to in {*OTHERS} - SOURCELESS:
        there(report(), to)
    there(MessageBody([Part(TEXT, content_type="text/markdown")]), "openai-chat")


def test_vercel_lists_the_sources_too() -> None:
    done = there(report(), "vercel-ai")
    listed = [each["url"] for each in done.value["parts"] if each["type"] == "source-url"]
    assert listed == ["https://e.com/1", "https://e.com/2"]
    assert [part.name for part in back(done.value, "vercel-ai") if part.url] == [
        "/sources/1", "/sources/2",
    ]  # fmt: skip


def markdown(rng: Random) -> tuple[str, list[tuple[int, int, int]]]:
    """Return a text, and the ranges that rest on sources, as they were put there."""
    text, ranges = "", []
    ends = rng.choice(["\n", "\r\n"])
    for _ in range(rng.randint(1, 9)):
        words = rng.choice(["a", "é🐈", "two words", "*so* nice", "`]`", "\\]", "[x]"])
        number = rng.choice([1, 1, 2, 2, 3, 9])
        before, after, is_link = rng.choice([
            ("[", f"](source:{number})", True), ("![", f"](<source:{number}> 'T')", True),
            ("[", f"][d{number}]", True), ("`[", f"](source:{number})`", False),
            ("\\[", f"](source:{number})", False), ("[", f"](/sources/{number})", False),
            ("[", f"](\n  source:{number}#p )", True), ("", "", False),
        ])  # fmt: skip
        if "`" in before + words and "`" in before and "`" in words:
            continue
        text += before
        if is_link and number < 3:
            ranges.append((len(text), len(text) + len(words), number))
        text += words + after
        text += rng.choice([" ", ", ", "🐈 ", ends, 2 * ends, 2 * ends + "- ", 2 * ends + "> "])
    definitions = (f"[d{number}]: source:{number}" for number in (1, 2, 3, 9))
    return text + 2 * ends + ends.join(definitions), ranges


def test_random_texts_cite_the_words_that_were_linked() -> None:
    rng = Random(46)
    for _ in range(examples(300)):
        text, ranges = markdown(rng)
        to = rng.choice(RANGED)
        body = back(there(report(text), to).value, to)
        assert body[0].text == text
        wanted = sorted((start, end, f"/sources/{number}") for start, end, number in ranges)
        assert sorted((start, end, name) for name, _, start, end in claims(body)) == wanted, text
        second = back(there(body, to).value, to)
        assert claims(second) == claims(body)


@pytest.mark.parametrize(
    "text", ["[a](source:1)" * 2_000, "[" * 20_000 + "](source:1)", "`" * 20_000 + "[a](source:1)",
             "[a][b] " * 3_000 + "\n\n[b]: source:1", "> " * 10_000 + "[a](source:1)"]
)  # fmt: skip
def test_hostile_texts_take_linear_time(text: str) -> None:
    calls(lambda: there(report(text), "openai-chat"), most=4_000_000)


@pytest.mark.parametrize("odd", [["a"], {}, None, 5, True, "a"])
@pytest.mark.parametrize("member", ["url", "title", "start_index", "end_index", "kind", "part"])
def test_odd_citations_beside_links_come_back_whole(member: str, odd: Any) -> None:
    message = there(report("[cute](source:2)"), "acp").value
    message["parts"][0]["metadata"][member] = odd
    read = adapter("acp").to_body(message)
    written: Any = adapter("acp").from_body
    assert written(read.value, rest=read.rest).value == message


@pytest.mark.parametrize("to", CITING)
def test_many_links_of_one_text(to: str) -> None:
    text = "[a](source:1)" * 2_000
    message = there(report(text), to).value
    wanted = [] if to == "acp" else range(0, len(text), 13)
    ranges = [(start, end) for _, _, start, end in claims(back(message, to))]
    assert len(ranges) == len(wanted)
    assert to == "bedrock" or ranges == [(start + 1, start + 2) for start in wanted]


def test_many_texts_take_linear_time() -> None:
    texts = [Part("[a](source:1)", content_type="text/markdown") for _ in range(500)]
    pages = [
        Part(url=f"https://e.com/{number}", name=f"/sources/{number}", content_type="text/html")
        for number in range(500)
    ]
    for to in ("langchain", "openai-chat"):
        calls(lambda to=to: there(MessageBody([*texts, *pages]), to), most=1_600_000)  # type: ignore[misc]


@pytest.mark.parametrize("to", RANGED)
def test_a_new_text_in_a_message_that_came_cites(to: str) -> None:
    target = adapter(to)
    read = target.to_body(there(report("Cats are cute.", kind="text/plain"), to).value)
    read.value[0] = report()[0]
    for number in (1, 2):
        read.value[f"/sources/{number}"] = report()[f"/sources/{number}"]
    written: Any = target.from_body
    assert claims(back(written(read.value, rest=read.rest).value, to)) == WANTED
