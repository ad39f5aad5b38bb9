"""Citations: those of each text arrive, with ranges in that text, and nothing else is a loss."""

from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import adapter

CHAT: Any = adapter("openai-chat")
RESPONSES: Any = adapter("openai-responses")


def cited(text: str, url: str) -> dict[str, Any]:
    note = {"type": "url_citation", "start_index": 0, "end_index": len(text), "url": url,
            "title": url[-5:]}  # fmt: skip
    return {"type": "output_text", "text": text, "annotations": [note]}


TEXTS = [cited("One.", "https://a.com"), cited("Two.", "https://b.com")]
ANSWER: Any = [{"type": "message", "id": "m", "role": "assistant", "status": "completed",
                "content": TEXTS}]  # fmt: skip


def located(url: str, quoted: str) -> dict[str, Any]:
    return {"type": "web_search_result_location", "url": url, "title": url[-5:],
            "cited_text": quoted, "encrypted_index": "x"}  # fmt: skip


SEARCHED = {"role": "assistant", "content": [
    {"type": "text", "text": "Cats purr. ", "citations": [located("https://a.com", "purr")]},
    {"type": "text", "text": "And "},
    {"type": "text", "text": "dogs bark.", "citations": [located("https://b.com", "bark"),
                                                         located("https://c.com", "woof")]},
]}  # fmt: skip


def test_the_citations_of_all_texts_reach_chat_with_their_ranges() -> None:
    there = RESPONSES.to_bodies(ANSWER)
    done = CHAT.from_bodies(there.value, rest=there.rest)
    notes = [each["url_citation"] for each in done.value[0]["annotations"]]
    assert [(each["start_index"], each["end_index"], each["url"]) for each in notes] == [
        (0, 4, "https://a.com"), (4, 8, "https://b.com"),
    ]  # fmt: skip
    assert done.losses == ()
    back = CHAT.to_bodies(done.value)
    assert CHAT.from_bodies(back.value, rest=back.rest).value == done.value
    assert RESPONSES.from_bodies(back.value, rest=back.rest).value[0]["content"] == ANSWER[0][
        "content"]  # fmt: skip


def test_a_citation_without_a_range_gets_that_of_its_text() -> None:
    there = adapter("anthropic").to_body(SEARCHED)
    done = CHAT.from_body(there.value, rest=there.rest)
    said = "".join(block["text"] for block in done.value["content"])
    notes = [each["url_citation"] for each in done.value["annotations"]]
    assert [said[each["start_index"] : each["end_index"]] for each in notes] == [
        "Cats purr. ", "dogs bark.", "dogs bark.",
    ]  # fmt: skip
    assert [str(loss) for loss in done.losses] == [
        "downgraded part 0: its citations go out without 'cited_text'",
        "downgraded part 3: its citations go out without 'cited_text'",
    ]
    items = RESPONSES.from_body(there.value, rest=there.rest).value
    contents = [content for item in items for content in item["content"]]
    assert [note["url"] for each in contents for note in each.get("annotations", ())] == [
        "https://a.com", "https://b.com", "https://c.com",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "target", ["bedrock", "langchain", "llamaindex", "pydantic-ai", "vercel-ai"]
)
def test_a_citation_that_goes_out_is_no_loss(target: str) -> None:
    there = adapter("anthropic").to_body(SEARCHED)
    done = adapter(target).from_body(there.value, rest=there.rest)  # type: ignore[call-arg]
    assert done.losses == ()
    back = adapter(target).to_body(done.value).value
    assert [part.url for part in back if part.url] == [
        "https://a.com", "https://b.com", "https://c.com",
    ]  # fmt: skip


def test_acp_has_one_citation_for_a_part() -> None:
    there = adapter("anthropic").to_body(SEARCHED)
    done = adapter("acp").from_body(there.value, rest=there.rest)  # type: ignore[call-arg]
    assert [str(loss) for loss in done.losses] == [
        "omitted part 3: there is no place for 1 of its citations",
        "omitted part 5 /sources/3: there is no place for its metadata 'title'",
    ]


@pytest.mark.parametrize(
    "annotations",
    [
        [{"start_index": 12, "end_index": 14}, {"start_index": 0, "end_index": 2}],
        [{"start_index": 0, "end_index": 22}],
        [{}, {"start_index": 90, "end_index": 99}],
        [{"start_index": 10, "end_index": 11}, {"start_index": 20, "end_index": 21}],
        [{"start_index": "0", "end_index": 2}, {"start_index": -1, "end_index": 2}],
    ],
)  # fmt: skip
def test_annotations_come_back_as_they_were(annotations: list[dict[str, Any]]) -> None:
    """In any order, across texts, without a range or beyond the end."""
    notes = [{"type": "url_citation", "url_citation": {"url": f"https://e.com/{index}", **each}}
             for index, each in enumerate(annotations)]  # fmt: skip
    texts = [{"type": "text", "text": text} for text in ("0123456789", "abcdefghij", "")]
    message = {"role": "assistant", "content": texts, "annotations": notes}
    there = CHAT.to_body(message)
    assert CHAT.from_body(there.value, rest=there.rest).value == message
    assert "https://e.com" not in str(there.rest)


def test_sources_under_any_name_are_no_loss() -> None:
    """A body states where its sources are; other formats only have their URLs."""
    note = {"source": "/wiki", "start": 0, "end": 4}
    body = MessageBody([
        Part("Cats", metadata={"citations": [note]}),
        Part(url="https://en.wikipedia.org/wiki/Cat", name="/wiki", content_type="text/html"),
    ])  # fmt: skip
    done = CHAT.from_body(body, role="assistant")
    assert done.value["annotations"][0]["url_citation"]["end_index"] == 4
    assert not [loss for loss in done.losses if "citation" in loss.why]
