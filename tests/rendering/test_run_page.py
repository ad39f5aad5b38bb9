"""The page of a run: who says what, calls beside their results, changes, and that nothing acts."""

import base64
import copy
import json
import re
import time
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody import MessageBody, Part, Resolver
from messagebody.adapters import Format, adapter, adapter_names, read_transcript
from messagebody.errors import EnvelopeError, InvalidArgument, MessageBodyError
from messagebody.rendering import page, run_page
from messagebody.samples import sample
from messagebody.testing.strategies import bodies
from tests.adapters.test_transcripts import CHUNKS, CONVERSATIONS, EVENTS, PIECES
from tests.effort import one_in
from tests.rendering.test_pages import Elements, check_that_nothing_acts
from tests.viewer.hostile import PAYLOADS

FORMATS = [name for name in adapter_names() if isinstance(adapter(name), Format)]
PICTURE = "data:image/png;base64," + base64.b64encode(sample("chart.png")).decode()


def call(id_: str, name: str = "look", **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None,
            "tool_calls": [{"id": id_, "type": "function", "function": function}]}  # fmt: skip


def result(id_: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": text}


CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "What is in it?"},
                                 {"type": "image_url", "image_url": {"url": PICTURE}}]},
    call("c1", at="cats"),
    result("c1", "two cats"),
    {"role": "assistant", "content": "Two **cats**."},
]  # fmt: skip


def articles(document: str) -> list[str]:
    """Return the sections of messages."""
    return re.findall(r"<article .*?</article>", document, re.DOTALL)


@pytest.mark.parametrize("name", FORMATS)
def test_the_roles_of_each_format_are_on_the_page(name: str) -> None:
    read = adapter("openai-chat").to_bodies(CHAT)  # type: ignore[attr-defined]
    messages = adapter(name).from_bodies(read.value, rest=read.rest).value  # type: ignore[attr-defined]
    document = run_page(messages, name)
    said = [
        article.partition('class="message ')[2].partition('"')[0]
        for article in articles(document)
        if "What is in it?" in article or "<strong>cats</strong>" in article
    ]
    assert said == ["user", "assistant"]
    assert f"<span>{name}</span>" in document
    assert "without an answer" not in document
    assert document.count('src="data:image/png') == (1 if "image" in str(messages) else 0)


def test_a_result_stands_beside_its_call() -> None:
    asks, tells = articles(run_page(CHAT))[2:4]
    assert re.search('class="call">.*<b>at</b> <code>cats</code>.*class="answer">.*two cats', asks)
    assert "two cats" not in tells
    assert "answers <code>look</code> in" in tells
    assert 'href="#message-2"' in tells


def test_what_does_not_fit_together_is_marked() -> None:
    document = run_page([call("c1"), result("c2", "lost")])
    assert "1 call without an answer" in document
    assert "no answer" in articles(document)[0]
    assert "no call" in articles(document)[1]
    failed = {"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": "no"}
    asks = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
    run = [{"role": "assistant", "content": [asks]}, {"role": "user", "content": [failed]}]
    assert '<span class="badge bad">error</span>' in articles(run_page(run))[0]


def test_a_message_that_can_not_be_read_says_why() -> None:
    document = run_page([*CHAT, {"role": "user", "content": 5}])
    assert "1 message not readable" in document
    assert "not readable: " in articles(document)[5]


def test_losses_are_at_their_messages() -> None:
    file = {"type": "resource", "resource": {"uri": "a://b", "blob": "AAAA"}}
    document = run_page({"messages": [{"role": "user", "content": file}], "top": "x1"}, "mcp")
    assert "1 lost in reading" in document
    assert re.search(r'<details class="fold lost" open>', document)
    assert "&quot;x1&quot;" in document.partition("<article")[0]
    assert "no type is stated" in articles(document)[0]


def test_every_message_has_an_anchor() -> None:
    elements = Elements(run_page(CHAT))
    ids = [each["id"] for _, each in elements.found if "id" in each]
    assert len(ids) == len(set(ids))
    assert {f"message-{number}" for number in range(5)} <= {*ids}
    links = [each["href"] for each in elements.of("a") if (each["href"] or "").startswith("#")]
    assert {str(link)[1:] for link in links} <= {*ids}
    assert elements.of("nav") == [{"aria-label": "Messages"}]


def test_thoughts_are_folded_and_arguments_are_lines() -> None:
    block = {"type": "thinking", "thinking": "*Hm.*", "signature": "S"}
    asks = {"type": "tool_use", "id": "c", "name": "python", "input": {"code": "a = 1\nprint(a)"}}
    document = run_page([{"role": "assistant", "content": [block, asks]}])
    assert re.search(r"<details class=\"fold\"><summary>Thoughts</summary>.*<em>Hm.</em>", document)
    assert "a = 1\nprint(a)" in "".join(Elements(document).words)


def test_citations_are_links_with_their_titles() -> None:
    cited = {"type": "url_citation", "url_citation": {
        "url": "https://example.com/cats?token=s3cret", "title": "Cats <b>", "start_index": 0,
        "end_index": 3}}  # fmt: skip
    document = run_page([{"role": "assistant", "content": "Cats.", "annotations": [cited, cited]}])
    link = '<a href="https://example.com/cats" rel="noopener noreferrer nofollow">'
    assert re.findall(f"{link}(.*?)<", document) == ["1", "Cats &lt;b&gt;"]
    assert "Cats &lt;b&gt;</a> <small>example.com</small>" in document
    assert "s3cret" not in document


NOTES = Part("b", name="/notes.txt")
LINKED = MessageBody([Part("[notes](/notes.txt)", content_type="text/markdown"), NOTES])


@pytest.mark.parametrize(
    "make",
    [
        partial(run_page, sample("run.json")),
        partial(run_page, [LINKED, LINKED], parts=1),
        partial(page, LINKED, parts=1),
    ],
    ids=["sample", "run", "page"],
)
def test_every_link_inside_of_a_page_leads_to_something(make: Callable[[], str]) -> None:
    elements = Elements(make())
    ids = [each["id"] for _, each in elements.found if "id" in each]
    inside = {str(each.get("href")) for each in elements.of("a") if "download" not in each}
    assert {link[1:] for link in inside if re.match("#.", link)} <= {*ids}
    assert len({*ids}) == len(ids)


def test_a_link_to_a_result_or_a_call_leads_there() -> None:
    said = "See [the result](/tool/results/1/1) of [the call](/tool/calls/1.json)."
    messages = [call("c1"), result("c1", "two cats"), {"role": "user", "content": said}]
    document = run_page(messages)
    anchors = re.findall(r'<a href="#(message-\d-part-\d)"[^>]*>the', document)
    assert len(anchors) == 2
    for anchor, words in zip(anchors, ("two cats", "look"), strict=True):
        assert words in document.partition(f'id="{anchor}"')[2]


def test_a_link_to_a_source_without_a_card_leads_to_the_web() -> None:
    source = Part(url="https://example.com/a?token=s3cret", name="/sources/1")
    said = Part("[a](/sources/1)", content_type="text/markdown")
    document = run_page(MessageBody([said, source]))
    assert '<a href="https://example.com/a" rel="noopener noreferrer nofollow">a' in document
    assert "s3cret" not in document


def test_a_file_that_comes_again_says_what_changed() -> None:
    first = MessageBody([Part("a\nb", name="/notes.txt")])
    first.add(sample("chart.png"), name="/chart.png")
    second = MessageBody([Part("a\nc", name="/notes.txt")])
    second.add(sample("valley.jpg"), name="/chart.png")
    document = run_page([first, second, second])
    then, again = articles(document)[1:]
    assert "<del>-b</del><ins>+c</ins>" in then
    pair = then.partition('class="pair">')[2]
    assert re.match('<figure><img src="data:image/png.*<figure><img src="data:image/jpeg', pair)
    assert then.count(">changed<") == 2
    assert again.count(">unchanged<") == 2
    assert "data:image" not in again


def test_a_picture_that_comes_again_is_there_once() -> None:
    document = run_page([CHAT[1], CHAT[1]])
    assert document.count("data:image/png") == 1
    assert "the same picture" in articles(document)[1]


def test_links_in_a_text_lead_to_the_last_file_of_that_name() -> None:
    said = MessageBody([Part("[notes](/notes.txt)", content_type="text/markdown")])
    document = run_page([MessageBody([Part("a", name="/notes.txt")]), said])
    anchor = re.search(r'<a href="#([^"]*)"[^>]*>notes', document)
    assert anchor is not None
    assert f'id="{anchor[1]}"' in articles(document)[0]


def test_members_that_are_not_content_are_folded_and_cut() -> None:
    said = {**CHAT[4], "model": "m1", "signature": "x" * 9_000}
    document = run_page([said])
    assert "<small>m1</small>" in document
    assert "9,000 characters" in document
    assert "x" * 600 not in document


def test_what_is_said_is_markdown_without_saying_so() -> None:
    said = "Is **this** bold?"
    for role in ("user", "assistant", "system"):
        asked = run_page([{"role": role, "content": said}, {"role": role, "content": "*a* b"}])
        assert "Is <strong>this</strong> bold?" in asked
        assert ("*a* b</div>" in asked) is (role != "assistant")
    named = MessageBody([Part(said, name="/notes.txt")])
    assert said in run_page([named])


@pytest.mark.parametrize(
    "said", ["**a** <b>bold</b>", "- &lt;b&gt;", "**a**\n\n[x]: https://e.com", "1.5 * 2", "a_b_c"]
)
def test_what_a_person_writes_is_never_hidden(said: str) -> None:
    document = run_page([{"role": "user", "content": said}])
    assert escape(said, quote=False) in document


def test_lines_of_a_person_stay_lines() -> None:
    document = run_page([{"role": "user", "content": "**a**\nb"}])
    html = '<div class="lines"><div class="prose" dir="auto"><p><strong>a</strong>\nb</p>'
    assert html in document
    assert ".lines p, .lines li { white-space: pre-line }" in document


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ('{"rows": 31}', '<span class="n">"rows"</span>'),
        ('[{"a": 1}, {"a": 2}]', "<table>"),
        ('{"rows": 31', '{"rows": 31</pre>'),
        ("[see below]", "[see below]</pre>"),
    ],
)
def test_a_result_that_is_json_is_shown_as_json(content: str, shown: str) -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    result = {"role": "tool", "tool_call_id": "c", "content": content}
    document = run_page([{"role": "assistant", "content": None, "tool_calls": calls}, result])
    assert shown in document.replace("&quot;", '"')


def test_no_picture_is_wider_than_its_place() -> None:
    for document in (run_page(CHAT), page(MessageBody(["a"]))):
        assert "img, video { max-width: 100%; height: auto }" in document
        assert not re.search(r"img[^{]*\{[^}]*(?:max-width: none|aspect-ratio)", document)


def test_without_the_extra_markdown_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "nh3", None)
    document = run_page(CHAT)
    assert "Two **cats**." in document
    assert "messagebody[view]" in document


def test_nothing_is_fetched_without_a_resolver(tmp_path: Path) -> None:
    (tmp_path / "far").write_text("far away")
    body = MessageBody([Part(url=(tmp_path / "far").as_uri(), content_type="text/plain")])
    assert "far away" not in run_page(body)
    assert "far away" in run_page(body, resolver=Resolver(allow=[tmp_path]))


# Bounds


def test_200_messages_take_no_time_and_no_room() -> None:
    start = time.process_time()
    document = run_page([*CHAT] * 40)
    assert time.process_time() - start < 2
    assert len(document) < 1_000_000


def test_limits_hold_and_an_option_lifts_them() -> None:
    said = [{"role": "user", "content": "x" * 1_000}] * 30
    document = run_page(said, parts=20, most=1_000)
    assert len(articles(document)) == 20
    assert "10 more messages (more with --parts" in document
    assert document.count("no more room") == 10
    assert len(articles(run_page(said))) == 30


def test_many_steps_of_one_message_are_cut() -> None:
    calls = [each for i in range(80) for each in call(f"c{i}")["tool_calls"]]
    document = run_page([{"role": "assistant", "content": None, "tool_calls": calls}], parts=50)
    assert document.count('class="call"') == 50
    assert re.search(r"\b30 more parts \(more with --parts", document)


# Strangers


def hostile_run(payload: str) -> list[Any]:
    """Return messages that have a payload in everything that may hold one."""
    cited = {"type": "url_citation", "url_citation": {
        "url": payload, "title": payload, "start_index": 0, "end_index": 1}}  # fmt: skip
    body = MessageBody([Part(payload, name="/a.txt"), Part(payload, content_type="text/markdown")])
    return [
        {"role": "system", "content": payload, "name": payload},
        {"role": "user", "content": payload, payload: payload},
        {**call(payload, payload, **{payload: payload}), "content": payload, "model": payload},
        result(payload, payload),
        {**call("c"), "tool_calls": [{"id": payload, "type": "function",
                                      "function": {"name": payload, "arguments": payload}}]},
        {"role": "assistant", "content": payload, "refusal": payload, "annotations": [cited]},
        {"role": payload, "content": payload},
        body,
        MessageBody([Part("x" + payload, name="/a.txt")]),
    ]  # fmt: skip


@pytest.mark.parametrize("start", one_in(5, range(0, len(PAYLOADS), 40)))
def test_nothing_of_strangers_acts(start: int) -> None:
    run = [each for payload in PAYLOADS[start : start + 40] for each in hostile_run(payload)]
    check_that_nothing_acts(run_page(run))


@given(bodies(), bodies())
@settings(max_examples=20)
def test_any_bodies_have_a_page(first: MessageBody, second: MessageBody) -> None:
    check_that_nothing_acts(run_page([first, second, first]))


@pytest.mark.parametrize("messages", [5, None, {"a": 1}])
def test_what_is_no_run_is_refused(messages: Any) -> None:
    with pytest.raises(EnvelopeError):
        run_page(messages)


def test_wrong_arguments_are_refused() -> None:
    wrong: list[dict[str, Any]] = [{"resolver": "s3://bucket"}, {"parts": "many"}]
    for arguments in wrong:
        with pytest.raises(InvalidArgument):
            run_page(CHAT, **arguments)


def test_how_messages_and_steps_ended_is_marked() -> None:
    failed = {"type": "web_search_call", "id": "w", "status": "failed", "action": {"query": "q"}}
    said = {"type": "message", "role": "assistant", "status": "completed", "content": []}
    answer = {"object": "response", "status": "incomplete", "output": [failed, said],
              "incomplete_details": {"reason": "content_filter"}}  # fmt: skip
    document = run_page(answer)
    assert "1 message cut short or failed" in document
    (article,) = articles(document)
    assert '<span class="badge bad">incomplete: content_filter</span><small>0</small>' in article
    assert '<code>web_search</code><span class="badge bad">failed</span>' in article


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ({"role": "assistant", "content": None, "refusal": "No."}, "refuses"),
        ({"error": {"message": "boom"}}, "error: boom"),
        ({"role": "assistant", "content": "a", "finish_reason": "length"}, "length"),
    ],
)
def test_what_refuses_or_fails_is_marked_in_the_list(message: Any, wrong: str) -> None:
    document = run_page([CHAT[0], CHAT[1], message])
    marks = [each for each in Elements(document).of("span") if each.get("class") == "wrong"]
    assert [each["title"] for each in marks] == [wrong]
    assert "1 message cut short or failed" in document


@pytest.mark.parametrize(
    "events",
    [
        [{"object": "chat", "choices": [{"index": 0, "delta": {"content": "It"}}]}],
        [{"candidates": [{"content": {"role": "model", "parts": [{"text": "It"}]}, "index": 0}]}],
        [
            {"type": "message_start", "message": {"role": "assistant", "content": []}},
            {"type": "content_block_start", "index": 0,
             "content_block": {"type": "text", "text": "It"}},
        ],
    ],
    ids=["openai-chat", "gemini", "anthropic"],
)  # fmt: skip
def test_a_stream_that_ends_with_an_error(events: list[Any]) -> None:
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Too many."}}
    run = read_transcript([*events, failed])
    assert [(each.body.text, each.ending) for each in run.messages] == [
        ("It", "error: overloaded_error: Too many."),
    ]  # fmt: skip
    document = run_page([*events, failed])
    assert "1 message cut short or failed" in document
    assert "Too many." in document


RESPONSE = [
    {"type": "response.created", "response": {"id": "r", "output": []}},
    {"type": "response.output_item.added", "output_index": 0,
     "item": {"type": "message", "id": "m", "role": "assistant", "content": []}},
    {"type": "response.content_part.added", "item_id": "m", "output_index": 0, "content_index": 0,
     "part": {"type": "output_text", "text": ""}},
    {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0,
     "delta": "It"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("events", "failed", "ending"),
    [
        (
            RESPONSE,
            {"type": "error", "code": "server_error", "message": "Too many."},
            "error: server_error: Too many.",
        ),
        (
            RESPONSE,
            {"type": "response.failed", "response": {
                "status": "failed", "error": {"code": "server_error", "message": "Too many."}}},
            "failed: error: server_error: Too many.",
        ),
        (
            [{"type": "start"}, {"type": "text-start", "id": "t"},
             {"type": "text-delta", "id": "t", "delta": "It"}, {"type": "text-end", "id": "t"}],
            {"type": "error", "errorText": "Too many."},
            "error: Too many.",
        ),
        (
            [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
             {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
             {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "It"},
             {"type": "TEXT_MESSAGE_END", "messageId": "m"}],
            {"type": "RUN_ERROR", "message": "Too many.", "code": "429"},
            "error: 429: Too many.",
        ),
    ],
    ids=["openai-responses", "response.failed", "vercel-ai", "ag-ui"],
)  # fmt: skip
def test_an_event_that_tells_an_error(events: list[Any], failed: Any, ending: str) -> None:
    run = read_transcript([*events, failed])
    assert [(each.body.text, each.ending) for each in run.messages] == [("It", ending)]
    assert "1 message cut short or failed" in run_page([*events, failed])


def test_blocks_of_unknown_kinds_are_shown() -> None:
    url = "https://example.com/a?token=s3cret"
    new = {"type": "new_thing", "about": "novel words", "at": url}
    said = [{"type": "text", "text": "before"}, new, {"type": "text", "text": "after"}]
    (article,) = articles(run_page([{"role": "assistant", "content": said}]))
    words = "".join(Elements(article).words)
    assert "a block of another kind, new_thing" in words
    assert words.index("before") < words.index("novel words") < words.index("after")
    assert "s3cret" not in article


def test_what_blocks_state_beside_their_content_is_on_the_page() -> None:
    place = {"type": "char_location", "document_title": "Cat book", "cited_text": "they purr"}
    hit = {"type": "search_result", "title": "Cat news", "source": "https://example.com/cats",
           "content": [{"type": "text", "text": "Cats win."}]}  # fmt: skip
    found = {"type": "web_search_result", "url": "https://example.com/", "title": "Cat shows"}
    searches = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    finds = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [found]}
    run = [
        {"role": "user", "content": [hit]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "Cats purr.", "citations": [place]}, searches, finds]},
    ]  # fmt: skip
    hits, says = articles(run_page(run))
    assert ">Cat news</a> <small>example.com</small>" in hits
    assert "Cat book <q>they purr</q>" in says
    assert "Cat shows" in says


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "short"}],
          "content": [{"type": "reasoning_text", "text": "long thoughts"}]}, "long thoughts"),
        ({"type": "image_generation_call", "id": "i", "result": PICTURE.partition(",")[2],
          "revised_prompt": "a cat in oil"}, "a cat in oil"),
        ({"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "output": "ok",
          "server_label": "cats"}, "cats"),
        ({"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "t", "annotations": [
                {"type": "file_citation", "file_id": "f", "filename": "cats.pdf", "index": 1}]}]},
         "cats.pdf"),
    ],
)  # fmt: skip
def test_what_items_of_responses_state_is_on_the_page(item: Any, words: str) -> None:
    assert words in "".join(Elements(run_page([item])).words)


def test_what_a_citation_of_bedrock_quotes_is_on_the_page() -> None:
    cited = {"title": "Cats", "sourceContent": [{"text": "they purr"}],
             "location": {"documentChar": {"documentIndex": 0, "start": 0, "end": 1}}}  # fmt: skip
    said = {"citationsContent": {"content": [{"text": "t"}], "citations": [cited]}}
    document = run_page([{"role": "assistant", "content": [said]}])
    assert "Cats <q>they purr</q>" in document


def test_a_role_that_is_unknown_is_its_own_heading() -> None:
    document = run_page([{"role": "critic <b>", "content": "Hm."}, CHAT[1]])
    assert 'class="role">critic &lt;b&gt;</a>' in articles(document)[0]


def test_what_the_system_says_and_what_is_asked_for_are_on_the_page() -> None:
    document = run_page({"system": "Be kind.", "model": "m1", "messages": [CHAT[1]],
                         "tools": [{"name": "look_around"}]})  # fmt: skip
    assert "Be kind." in articles(document)[0]
    assert "<span>m1</span>" in document
    assert "look_around" in document.partition("<article")[0]


def test_a_tool_of_the_provider_owes_no_answer() -> None:
    search = {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "q"}}
    document = run_page([search])
    assert "without an answer" not in document
    assert "no answer" not in document
    assert "not told by the provider, which ran the tool" in document


def test_a_result_in_the_message_of_its_call_is_said_once() -> None:
    part = {"type": "tool-look", "toolCallId": "c", "state": "output-available", "input": {},
            "output": "two cats"}  # fmt: skip
    (article,) = articles(run_page([{"id": "m", "role": "assistant", "parts": [part]}]))
    assert article.count("two cats") == 1
    assert "answers" not in article
    assert 'href="#message-0">message 0' not in article


def test_what_an_answer_is_grounded_in_is_a_source() -> None:
    web = {"uri": "https://example.com/a?token=s3cret", "title": "Cat news"}
    candidate = {
        "content": {"role": "model", "parts": [{"text": "Cats."}]},
        "groundingMetadata": {"groundingChunks": [{"web": web}, {"web": 5}, 5]},
    }
    document = run_page({"candidates": [candidate]})
    assert 'href="https://example.com/a" rel="noopener noreferrer nofollow">Cat news' in document
    assert "s3cret" not in document


def test_a_source_that_no_text_cites_is_a_link_with_its_title() -> None:
    source = {"type": "source-url", "sourceId": "s", "url": "https://example.com/a",
              "title": "Cat facts"}  # fmt: skip
    text = {"type": "text", "text": "Cats."}
    document = run_page([{"id": "m", "role": "assistant", "parts": [text, source]}])
    assert ">Cat facts</a> <small>example.com</small>" in document
    assert '<bdi class="name">/sources/1' not in document


def test_a_picture_that_is_not_fetched_is_no_link_in_a_link() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png?token=s3cret"}}
    (article,) = articles(run_page([{"role": "user", "content": [picture, picture]}]))
    assert "s3cret" not in article
    assert '<figure id="message-0-picture-0"><p class="note">not fetched</p>' in article
    depth = 0
    for tag in re.findall(r"<(/?a)\b", article):
        depth += 1 if tag == "a" else -1
        assert depth < 2


@pytest.mark.parametrize(("length", "is_folded"), [(1_200, False), (1_201, True)])
def test_only_long_instructions_are_folded(length: int, is_folded: bool) -> None:
    document = run_page([{"role": role, "content": "x" * length} for role in ("system", "user")])
    assert [">Instructions<" in each for each in articles(document)] == [is_folded, False]


def test_the_list_shows_no_marks_of_markdown() -> None:
    said = [
        {"role": "assistant", "content": text} for text in ("## Cats\n\n**Meow**.", "***", "a # b")
    ]
    listed = run_page(said).partition("<nav")[2].partition("</nav>")[0]
    assert re.findall("<bdi>([^<]*)</bdi>", listed) == ["Cats Meow.", "***", "a # b"]


SIGNED = "https://example.com/a?sig=s3cret"


@pytest.mark.parametrize(
    "value",
    [
        [CHAT[0], SIGNED],
        [CHAT[0], {"type": "message", "content": [{"url": SIGNED}]}],
        [{"role": "user", "content": [{"type": "text", "text": 5, "url": SIGNED}]}],
        f'{json.dumps(CHAT[0])}\n{{"role": "user", "content": "{SIGNED}',
        [{"role": "user", "name": SIGNED, "content": "x"}],
        [{"role": SIGNED, "content": "x"}, CHAT[0]],
        {"model": SIGNED, "messages": [CHAT[0]]},
        {"choices": [{"message": CHAT[4], "finish_reason": SIGNED}]},
        [call("c1", SIGNED)],
        {"error": {"type": SIGNED}},
    ],
)
def test_no_signature_of_a_url_is_on_the_page_but_in_what_is_said(value: Any) -> None:
    document = run_page(value)
    assert "s3cret" not in document
    assert "example.com" in document


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Return each member and item of a JSON value, as what holds it and its key."""
    found = [*value.items()] if isinstance(value, dict) else [*enumerate(value)]
    inner = [each for _, held in found if isinstance(held, dict | list) for each in places_in(held)]
    return [*((value, key) for key, _ in found), *inner]


LOGGED: list[Any] = [
    *CONVERSATIONS.values(), CHUNKS, EVENTS, PIECES,
    {"system": [{"text": "a"}], "messages": CHAT, "tools": [{"name": "f"}]},
    {"choices": [{"message": CHAT[4], "finish_reason": "stop"}], "error": None},
    {"candidates": [{
        "content": {"role": "model", "parts": [{"text": "a"}]},
        "groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://a.b/"}}]}}]},
    {"object": "response", "incomplete_details": {"reason": "a"}, "output": [
        {"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "error": "e"},
        {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "t", "annotations": [
                {"type": "url_citation", "url": "https://a.b/", "title": "a"}]}]}]},
]  # fmt: skip
ODD: list[Any] = [
    None, 5, "", [], {}, [[]], [{}], {"type": "new"}, {"type": []}, "http://[::1",
    "https://example.com/x?sig=s3cret",
]  # fmt: skip


@pytest.mark.dear
@given(st.data())
def test_a_fault_anywhere_in_what_is_logged_leaves_a_page_or_an_error(data: Any) -> None:
    value = json.loads(json.dumps(data.draw(st.sampled_from(LOGGED))))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(places_in(value) or [({}, "")]))
        holder[key] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
    try:
        assert "</html>" in run_page(value)
    except MessageBodyError as error:
        assert "s3cret" not in str(error)  # noqa: PT017 - most faults leave a page
