"""Citations: those of each text arrive, with ranges in that text, and nothing else is a loss."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import adapter
from messagebody.adapters._conversion.citations import read_citation, written_citation
from messagebody.adapters.dialects import Text
from messagebody.errors import EnvelopeError
from tests.effort import calls, examples

CHAT: Any = adapter("openai-chat")


def cited(text: str, url: str) -> dict[str, Any]:
    note = {"type": "url_citation", "start_index": 0, "end_index": len(text), "url": url,
            "title": url[-5:]}  # fmt: skip
    return {"type": "output_text", "text": text, "annotations": [note]}


TEXTS = [cited("One.", "https://a.com"), cited("Two.", "https://b.com")]


def test_sources_under_any_name_are_no_loss() -> None:
    """A body states where its sources are; other formats only have their URLs."""
    note = {"part": "/wiki", "start": 0, "end": 4}
    body = MessageBody([
        Part("Cats", metadata={"citations": [note]}),
        Part(url="https://en.wikipedia.org/wiki/Cat", name="/wiki", content_type="text/html"),
    ])  # fmt: skip
    done = CHAT.from_body(body, role="assistant")
    assert done.value["annotations"][0]["url_citation"]["end_index"] == 4
    assert not [loss for loss in done.losses if "citation" in loss.why]


def document(text: str) -> dict[str, Any]:
    source = {"type": "text", "media_type": "text/plain", "data": text}
    return {"type": "document", "source": source, "title": f"{text}.txt"}


def counted(text: str, number: int) -> dict[str, Any]:
    return {
        "type": "char_location", "cited_text": text, "document_index": number,
        "document_title": f"{text}.txt", "start_char_index": 0, "end_char_index": 3,
    }  # fmt: skip


CITING: Any = [
    {"role": "user", "content": [document("aaa"), document("bbb"), document("ccc")]},
    {"role": "assistant", "content": [
        {"type": "text", "text": "B.", "citations": [counted("bbb", 1)]},
        {"type": "text", "text": "C.", "citations": [counted("ccc", 2)]},
    ]},
]  # fmt: skip


@pytest.mark.parametrize("gone", range(4))
def test_a_citation_stays_with_its_document(gone: int) -> None:
    """The numbers stayed when a document was deleted: they were of the one after it."""
    target: Any = adapter("anthropic")
    there = target.to_bodies(CITING)
    asked = MessageBody(part for place, part in enumerate(there.value[0]) if place != gone)
    done = target.from_bodies([asked, there.value[1]], rest=there.rest)
    if gone == 3:
        assert (done.value, done.losses) == (CITING, ())
    titles = [block["title"] for block in done.value[0]["content"]]
    said = [each for block in done.value[1]["content"] for each in block["citations"]]
    assert {each["document_title"] for each in said} == {"bbb.txt", "ccc.txt"} & {*titles}
    for each in said:
        assert titles[each["document_index"]] == each["document_title"]
    why = "the document of 1 of its citations is not here"
    lost = [f"omitted message 1: content[{gone - 1}]: {why}"] if gone in (1, 2) else []
    assert [*map(str, done.losses)] == lost


def test_a_new_document_shifts_the_numbers_and_a_changed_one_does_not() -> None:
    target: Any = adapter("anthropic")
    there = target.to_bodies(CITING)
    new = MessageBody([Part("zzz", name="/zzz.txt")])
    done = target.from_bodies([new, *there.value], rest=[None, *there.rest]).value
    said = [block["citations"][0]["document_index"] for block in done[-1]["content"]]
    assert said == [2, 3]
    there.value[0]["/bbb.txt"] = Part("bbb, too", name="/bbb.txt")
    done = target.from_bodies(there.value, rest=there.rest).value
    assert done[1] == CITING[1]
    assert there.value[1][0].metadata["citations"][0]["document"]["index"] == 1


def test_bedrock_counts_documents_as_well() -> None:
    target: Any = adapter("bedrock")
    talk = [
        {"role": "user", "content": [
            {"document": {"format": "txt", "name": each, "source": {"bytes": "YWFh" + end}}}
            for each, end in (("a", "YQ=="), ("b", "YWE="))]},
        {"role": "assistant", "content": [{"citationsContent": {
            "content": [{"text": "B."}],
            "citations": [{"location": {"documentChar": {"documentIndex": 1, "start": 0, "end": 3}},
                           "sourceContent": [{"text": "aaa"}]}]}}]},
    ]  # fmt: skip
    there = target.to_bodies(talk)
    assert target.from_bodies(there.value, rest=there.rest).value == talk
    del there.value[0][0]
    done = target.from_bodies(there.value, rest=there.rest)
    said = done.value[1]["content"][0]["citationsContent"]["citations"][0]
    assert said["location"]["documentChar"]["documentIndex"] == 0
    for each in there.rest:
        each["documents"] = {"documentIndex": 5}
    with pytest.raises(EnvelopeError, match="rest is not what to_body returned"):
        target.from_bodies(there.value, rest=there.rest)


def test_messages_may_come_one_by_one() -> None:
    target: Any = adapter("anthropic")
    there = target.to_bodies(iter(CITING))
    del there.value[0][0]
    done = target.from_bodies(there.value, rest=there.rest).value
    assert done[1]["content"][0]["citations"] == [counted("bbb", 0)]


# One form inside

VECTORS = Path(__file__).parents[2] / "vectors" / "links" / "citations.jsonl"
ROWS = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]


def includes(whole: Any, wanted: Any) -> bool:
    """Return whether a JSON value has another one somewhere in it, with more members perhaps."""
    if isinstance(wanted, dict) and isinstance(whole, dict):
        if all(key in whole and whole[key] == value for key, value in wanted.items()):
            return True
    elif whole == wanted:
        return True
    inner = whole.values() if isinstance(whole, dict) else whole if isinstance(whole, list) else ()
    return any(includes(each, wanted) for each in inner)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_citations_of_the_vectors(row: dict[str, Any]) -> None:
    source: Any = adapter(row["format"])
    there = source.to_body(row["message"])
    if "inside" in row:
        [part] = [each for each in there.value if each.text == row["text"]]
        held = (part.metadata or {})["citations"]
        for mine, wanted in zip(held, row["inside"], strict=True):
            cited = there.value.get(mine.get("part", ""))
            known = {} if cited is None else {"url": cited.url, **(cited.metadata or {})}
            assert {**known, **mine}.items() >= wanted.items()
        assert source.from_body(there.value, rest=there.rest).value == row["message"]
    if "to" in row:
        target: Any = adapter(row["to"])
        done = target.from_body(there.value, role="assistant")
        assert all(includes(done.value, each) for each in row["found"])
        assert sum("citation" in loss.why for loss in done.losses) == row["losses"]


HOLDING = ["acp", "anthropic", "bedrock", "langchain", "llamaindex", "openai-chat",
           "openai-responses", "pydantic-ai", "vercel-ai"]  # fmt: skip


def claims(body: MessageBody) -> list[dict[str, Any]]:
    """Return what the citations of a body say: the range, the quote, the page and its title."""
    found = []
    for part in body:
        for held in (part.metadata or {}).get("citations", ()):
            source = body.get(held.get("part", ""))
            about = {} if source is None else {"url": source.url, **(source.metadata or {})}
            said = {**about, **held, "text": part.text}
            names = ("url", "title", "start", "end", "quote", "text")
            found.append({name: said[name] for name in names if said.get(name)})
    return found


@pytest.mark.parametrize("to", HOLDING)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_citations_go_out_whole_or_a_loss_names_them(row: dict[str, Any], to: str) -> None:
    source, target = adapter(row["format"]), adapter(to)
    body = source.to_body(row["message"]).value
    write: Any = target.from_body
    done = write(body, role="assistant")
    back = claims(target.to_body(done.value).value)
    before = claims(body)
    assert before
    is_whole = all(any(said.items() <= other.items() for other in back) for said in before)
    assert is_whole is not any("citation" in loss.why for loss in done.losses)


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ({"type": "char_location", "start_char_index": 9, "end_char_index": 16},
         {"at": {"chars": [9, 16]}}),
        ({"type": "page_location", "start_page_number": 3, "end_page_number": 4},
         {"at": {"page": 3}}),
        ({"type": "page_location", "start_page_number": 3, "end_page_number": 5},
         {"at": {"pages": [3, 5]}}),
        ({"type": "content_block_location", "start_block_index": 2, "end_block_index": 3,
          "document_index": 1, "document_title": "a"},
         {"at": {"block": 2}, "document": {"index": 1, "title": "a"}, "title": "a"}),
        ({"type": "documentPage", "documentIndex": 0, "start": 3, "end": 3, "title": "T"},
         {"at": {"page": 3}, "document": {"index": 0}, "title": "T"}),
        ({"type": "documentChar", "start": 3, "end": 4}, {"at": {"chars": [3, 4]}}),
        ({"type": "char_location", "start_char_index": "9", "end_char_index": 1},
         {"start_char_index": "9", "end_char_index": 1}),
        ({"type": "char_location", "document_title": None}, {"document_title": None}),
        ({"type": "url_citation", "start": 1, "end": 2}, {"start": 1, "end": 2}),
    ],
)  # fmt: skip
def test_where_a_quote_stands(said: dict[str, Any], held: dict[str, Any]) -> None:
    found = read_citation({**said, "cited_text": "so"})
    assert found == {"type": said["type"], "quote": "so", **held}
    assert written_citation(found) == {**said, "cited_text": "so"}


def test_every_citation_comes_back_whole() -> None:
    """Whatever members it has, and of whatever kind their values are."""
    rng = Random(1)
    kinds = ["char_location", "page_location", "documentPage", "documentChar", "web", 7, None]
    names = ["cited_text", "quote", "at", "document", "title", "document_title", "document_index",
             "documentIndex", "start", "end", "start_char_index", "end_char_index",
             "start_page_number", "end_page_number"]  # fmt: skip
    values = [0, 1, 2, True, "a", None, {}, {"index": 1}, {"page": 1}, [1, 2], 1.5]
    for _ in range(examples(5000)):
        said = {name: rng.choice(values) for name in rng.sample(names, rng.randint(0, 8))}
        said["type"] = rng.choice(kinds)
        assert written_citation(read_citation(said)) == said, said


GEMINI: Any = adapter("gemini")


def candidate(text: str, *supports: Any, chunks: Any = None) -> dict[str, Any]:
    """Return an answer of Gemini that rests on one page."""
    page = {"web": {"uri": "https://e.com/a", "title": "A"}}
    return {
        "content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP",
        "groundingMetadata": {"groundingChunks": [page] if chunks is None else chunks,
                              "groundingSupports": list(supports)},
    }  # fmt: skip


def support(start: Any, end: Any, *chunks: Any) -> dict[str, Any]:
    return {"segment": {"startIndex": start, "endIndex": end}, "groundingChunkIndices": [*chunks]}


def test_grounding_is_of_the_text_and_goes_out_with_its_candidate_only() -> None:
    message = candidate("aé🐈b", support(1, 3, 0), support(3, 7, 0))
    there = GEMINI.to_body(message)
    [text, page] = there.value
    assert [(c["start"], c["end"]) for c in text.metadata["citations"]] == [(1, 2), (2, 3)]
    assert (page.url, page.metadata) == ("https://e.com/a", {"title": "A"})
    done = GEMINI.from_body(there.value, rest=there.rest)
    assert (done.value, done.losses) == (message, ())
    alone = GEMINI.from_body(there.value)
    assert "citations" not in str(alone.value)
    assert sum("citation" in loss.why for loss in alone.losses) == 1
    assert GEMINI.detect(message)


@pytest.mark.parametrize("rest", ["beside", "part"])
def test_candidates_alone_come_back_as_they_were(rest: str) -> None:
    answers = [candidate("aé", support(1, 3, 0)), {**candidate("b"), "finishReason": "MAX_TOKENS"}]
    there = GEMINI.to_bodies(answers, rest=rest)
    rests = there.rest if rest == "beside" else ()
    done = GEMINI.from_bodies(there.value, rest=rests)
    assert (done.value, done.losses) == (answers, ())


def test_much_grounding_takes_linear_time() -> None:
    text = "é" * 200_000
    supports = [support(2 * index, 2 * index + 2, 0) for index in range(20_000)]
    calls(lambda: GEMINI.to_body(candidate(text, *supports)), most=10_000_000)


def sourced(text: str, start: int, url: str | None = None, **more: Any) -> dict[str, Any]:
    document = {"id": "d1", "snippet": "About cats."} | ({"url": url, "title": "C"} if url else {})
    source = {"type": "document", "id": "d1", "document": document}
    return {"start": start, "end": start + len(text), "text": text, "sources": [source], **more}


COHERE: Any = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Easy."},
        {"type": "text", "text": "Cats purr."},
        {"type": "text", "text": "Dogs bark."},
    ],
    "citations": [
        sourced("Cats", 0, "https://e.com/c", type="TEXT_CONTENT", content_index=1),
        sourced("bark", 5, type="TEXT_CONTENT", content_index=2),
    ],
}


def test_the_citations_of_cohere_follow_their_texts() -> None:
    read = CHAT.to_body(COHERE)
    kept = MessageBody([read.value[-1]])
    (left,) = CHAT.from_body(kept, rest=read.rest).value["citations"]
    assert left == {**COHERE["citations"][1], "content_index": 0}


def test_a_source_that_is_gone_is_not_cited() -> None:
    read = CHAT.to_body(COHERE)
    kept = MessageBody(part for part in read.value if part.name != "/sources/1")
    done = CHAT.from_body(kept, rest=read.rest)
    assert [each["text"] for each in done.value["citations"]] == ["bark"]
    assert "there is no place for its metadata 'citations'" in [loss.why for loss in done.losses]


def test_a_text_that_cohere_cites_takes_what_its_links_cite() -> None:
    message = {"role": "assistant", "content": "Cats purr.", "citations": [sourced("Cats", 0)]}
    read = CHAT.to_body(message, text="text/markdown")
    assert CHAT.from_body(read.value, rest=read.rest).value == message
    page = Part(url="https://e.com/p", name="/sources/p", content_type="text/html")
    cites = {"citations": [{"part": "/sources/p", "start": 5, "end": 9}]}
    done = CHAT.from_body(MessageBody([read.value[0].evolve(metadata=cites), page]), rest=read.rest)
    (made,) = done.value["citations"]
    document = {"type": "document", "id": "https://e.com/p", "document": {"url": "https://e.com/p"}}
    assert made == {"start": 5, "end": 9, "text": "purr", "sources": [document]}


def test_citations_that_are_no_objects_are_refused() -> None:
    class Odd(type(CHAT)):  # type: ignore[misc]
        def read_block(self, block: Any) -> Any:
            return Text(block["text"], citations=block.get("cites", []))

    there = {"role": "user", "content": [{"type": "text", "text": "a", "cites": [1]}]}
    (loss,) = Odd().to_body(there).losses
    assert "expected citations that are objects, got 1" in loss.why
