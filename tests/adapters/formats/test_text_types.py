"""The type of what is said, which most messages do not state."""

import json
from typing import Any

import pytest

from messagebody import MessageBody, Part, adapters
from messagebody.adapters import Format, adapter_names
from messagebody.errors import EnvelopeError, InvalidContentType
from messagebody.findings import iter_findings
from messagebody.samples import sample
from tests.adapters.formats.messages import MESSAGES

MARKDOWN = "text/markdown"
SAID = "Cats are [cute](source:1)."
CASES = [(name, message) for name, messages in MESSAGES.items() for message in messages]
FORMATS = [name for name in adapter_names() if isinstance(adapters.adapter(name), Format)]


def adapter(name: str) -> Any:
    """Return an adapter with the options that message formats take beside the protocol's."""
    return adapters.adapter(name)


def said_in(name: str, text: str = SAID) -> Any:
    """Return a message of a format with a text of the assistant."""
    write = adapter(name).from_body
    return write(MessageBody([text]), role="assistant").value


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_model_says_is_markdown_if_the_caller_wants_that(name: str) -> None:
    read = adapter(name).to_body
    message = said_in(name)
    done = read(message, text=MARKDOWN)
    assert [link.target for link in done.value.links(dangling=True)] == ["/sources/1"]
    again = adapter(name).from_body(done.value, rest=done.rest)
    assert (again.value, again.losses) == (message, ())


@pytest.mark.parametrize(("name", "message"), CASES)
def test_whatever_its_texts_are_read_as_a_message_comes_back(name: str, message: Any) -> None:
    converter = adapter(name)
    plain, read = converter.to_body(message), converter.to_body(message, text=MARKDOWN)
    done = converter.from_body(read.value, rest=json.loads(json.dumps(read.rest)))
    assert done.value == message
    assert done.losses == converter.from_body(plain.value, rest=plain.rest).losses


@pytest.mark.parametrize("name", FORMATS)
def test_a_plain_text_that_is_added_loses_nothing_in_its_format(name: str) -> None:
    """It is not taken for Markdown, as those beside it are."""
    converter = adapter(name)
    read = converter.to_body(said_in(name), text=MARKDOWN)
    read.value.add("5 * 3 * 2")
    assert not [loss for loss in converter.from_body(read.value, rest=read.rest).losses
                if "text/" in loss.why]  # fmt: skip


def test_what_states_another_type_and_what_tools_return_keep_their_types() -> None:
    stated = {"role": "agent", "parts": [{"content": "<b>", "content_type": "text/html"}]}
    assert adapter("acp").to_body(stated, text=MARKDOWN).value[0].content_type == "text/html"
    result = {"role": "tool", "tool_call_id": "c1", "content": "a *b*"}
    assert (
        adapter("openai-chat").to_body(result, text=MARKDOWN).value[0].content_type == "text/plain"
    )


def test_all_messages_of_a_talk_are_read_alike() -> None:
    talk = [{"role": "user", "content": "**Why?**"}, {"role": "assistant", "content": SAID}]
    converter = adapter("openai-chat")
    done = converter.to_bodies(talk, text=MARKDOWN)
    assert [body[0].content_type for body in done.value] == [MARKDOWN, MARKDOWN]
    assert converter.from_bodies(done.value, rest=done.rest) == (talk, ())


@pytest.mark.parametrize(
    ("kind", "error"), [("image/png", EnvelopeError), ("markdown", InvalidContentType)]
)
def test_what_is_said_is_text(kind: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="markdown"):
        adapter("openai-chat").to_body("a", text=kind)


def test_a_rest_with_an_odd_type_is_refused() -> None:
    read = adapter("openai-chat").to_body(said_in("openai-chat"), text=MARKDOWN)
    with pytest.raises(EnvelopeError, match="'text' is not text"):
        adapter("openai-chat").from_body(read.value, rest=read.rest | {"text": 3})


class TestLinksOnTheirWay:
    """A report with a source and a picture, on its way through a format."""

    TEXT = "Cats are [cute](source:1), see ![ages](charts/age.png)."

    def report(self) -> MessageBody:
        body = MessageBody([Part(self.TEXT, content_type=MARKDOWN)])
        body.add(url="https://e.com/cats", name="/sources/1", content_type="text/html")
        body.add(sample("chart.png"), name="/charts/age.png")
        return body

    @pytest.mark.parametrize("role", ["assistant", "user"])
    @pytest.mark.parametrize("name", FORMATS)
    def test_no_link_is_lost_without_a_word(self, name: str, role: str) -> None:
        body = self.report()
        done = adapter(name).from_body(body, role=role, urls="text")
        lost = [loss.why for loss in done.losses if "its link to" in loss.why]
        back = adapter(name).to_body(done.value, text=MARKDOWN).value
        gone = [link.target for link in back.links(dangling=True)]
        others = " and to 1 other" * (len(gone) > 1)
        assert [each.partition(" nowhere")[0] for each in lost] == [
            f"its link to {target!r}{others} leads" for target in gone[:1]
        ]

    @pytest.mark.parametrize("role", ["assistant", "user"])
    @pytest.mark.parametrize("name", FORMATS)
    def test_what_comes_back_as_plain_text_is_no_all_clear(self, name: str, role: str) -> None:
        done = adapter(name).from_body(self.report(), role=role)
        back = adapter(name).to_body(done.value).value
        found = back.links()
        targets = {link.target for link in [*found, *found.unread]}
        assert targets == {"/sources/1", "/charts/age.png"}
        missing = back.links(dangling=True)
        if any(target not in back.names() for target in targets):
            assert [*missing, *missing.unread]
            assert {"link-dangles", "links-unread"} & {each.check for each in iter_findings(back)}

    def test_names_that_go_out_as_they_are_lose_no_link(self) -> None:
        done = adapter("a2a").from_body(self.report())
        assert not [loss for loss in done.losses if "link" in loss.why]

    def test_an_escaped_link_is_one(self) -> None:
        body = MessageBody([Part("[a](/charts/%61ge.png)", content_type=MARKDOWN)])
        body.add(sample("chart.png"), name="/charts/age.png")
        [*_, loss] = adapter("openai-responses").from_body(body, role="assistant").losses
        assert "its link to '/charts/age.png' leads nowhere" in loss.why
