"""Detection asks for what must be there: what is new in a message changes nothing."""

import copy
import itertools
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from messagebody import adapters as registry
from messagebody.adapters import detect
from messagebody.adapters.dialects import messages_of
from messagebody.errors import EnvelopeError
from tests.adapters.formats.messages import MESSAGES
from tests.effort import examples

LATER = [{"type": "later", "later": {"a": 1}}, {"later": {"a": 1}}, {"kind": "later", "x": 1}]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths to lists of objects near the top of a message."""
    if len(path) > 2:
        return
    if isinstance(value, dict):
        for key, held in value.items():
            yield from paths(held, (*path, key))
    elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        yield path


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def with_news(message: Any) -> Iterator[Any]:
    """Yield a message with one unknown member or block."""
    if isinstance(message, dict) and len(message) > 2:
        yield {**message, "x-later": 1}
    for path in paths(message):
        for block in LATER:
            for index in (0, len(at(message, path))):
                changed = copy.deepcopy(message)
                at(changed, path).insert(index, block)
                yield changed
        changed = copy.deepcopy(message)
        at(changed, path)[0]["x-later"] = 1
        yield changed


@pytest.mark.parametrize("name", MESSAGES)
def test_what_is_unknown_changes_nothing(name: str) -> None:
    for message in MESSAGES[name]:
        if isinstance(message, str):
            continue
        found = detect(message)
        assert name in found
        for changed in with_news(message):
            assert detect(changed) == found, changed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mcp", {"text2": "secret words"}),
        ("mcp", {"messages": [{"role": "user", "content": {"type": "text", "text": "x"}}]}),
        ("ag-ui", {"role": "user", "text": "hello"}),
        ("openai-chat", {"role": "user", "text": "hello"}),
        ("anthropic", {"role": "user", "text": "hello"}),
        ("bedrock", {"role": "user", "text": "hello"}),
        ("gemini", {"role": "user", "text": "hello"}),
        ("langchain", {"type": "human", "text": "hello"}),
        ("vercel-ai", {"role": "user", "text": "hello"}),
        ("haystack", {"role": "user", "text": "hello"}),
        ("llamaindex", {"role": "user", "text": "hello"}),
        ("a2a", {"role": "ROLE_USER", "text2": "hello"}),
        ("acp", {"role": "user", "text": "hello"}),
        ("pydantic-ai", {"kind": "request", "text": "hello"}),
        ("openai-responses", {"role2": "user", "text": "hello"}),
        ("agent-client", {"role": "user", "text2": "hello"}),
    ],
)
def test_an_object_without_content_is_refused(name: str, value: Any) -> None:
    """It is never read as an empty body."""
    with pytest.raises(EnvelopeError):
        registry.adapter(name).to_body(value)


def test_json_that_is_no_message_is_none() -> None:
    values: list[Any] = [
        {}, [], {"data": [1], "page": 2}, {"url": "https://e.com", "status": 200}, {"text": "x"},
        {"id": "1", "name": "n"}, [1, 2], "text", 1, None, {"role": "user"}, {"content": "x"},
        {"content": 1, "role": 2},
    ]  # fmt: skip
    assert {detect(value) for value in values} == {()}


def spoiled(value: Any) -> Iterator[Any]:
    """Yield a value with each of its members in turn replaced by one of another type."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, held in pairs:
        inner = spoiled(held) if isinstance(held, dict | list) else ()
        for new in ({}, [], None, 5, {"type": {}}, {"type": []}, *inner):
            if isinstance(value, dict):
                yield {**value, key: new}
            else:
                yield [*value[:key], new, *value[key + 1 :]]


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_anything_may_have_any_type(name: str) -> None:
    """Detection answers for every JSON value: it is asked before anything is known."""
    for message in MESSAGES[name]:
        if not isinstance(message, str):
            for value in islice(spoiled(message), examples(600)):
                assert isinstance(detect(value), tuple)


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}


CHAT: list[Any] = [
    {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
    {
        "role": "assistant",
        "content": None,
        "audio": {"id": "a", "data": "aGk=", "transcript": "Hi"},
    },
    {"role": "assistant", "audio": {"id": "a"}},
    {"role": "function", "name": "f", "content": "x"},
]
"""Members of messages that are the names of blocks in other formats."""


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_a_conversation_has_the_format_of_its_messages(name: str) -> None:
    """The members of a message are never taken for those of a block of some other format."""
    spoken = [each for each in MESSAGES[name] if isinstance(each, dict) and messages_of([each])]
    for message in [*spoken, *(CHAT if name == "openai-chat" else ())]:
        found = detect(message)
        assert name in found
        for talk in ([message], [message, message], {"messages": [message]}):
            assert detect(talk) == found


STRANGERS = [
    {"type": "later", "id": "x", "later": [1]}, {"kind": "later"}, {"role": "later", "text": "x"},
]  # fmt: skip


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_one_item_of_an_unknown_kind_does_not_hide_a_conversation(name: str) -> None:
    spoken = [each for each in MESSAGES[name] if isinstance(each, dict) and messages_of([each])]
    for message in spoken:
        found = detect([message, message])
        for stranger, at in itertools.product(STRANGERS, range(3)):
            talk: list[Any] = [message, message]
            talk.insert(at, stranger)
            assert detect(talk) == detect({"messages": talk}) == found, stranger


def test_an_unknown_role_does_not_hide_a_conversation_either() -> None:
    """A role and a text is all that agents-api asks for, so it knows every role."""
    stranger = {"role": "later", "content": "x"}
    for name in ("openai-chat", "anthropic", "gemini", "bedrock"):
        telling = [each for each in MESSAGES[name] if isinstance(each, dict)
                   and detect(each) == (name,)]  # fmt: skip
        assert telling
        for message in telling:
            assert detect([message, stranger, message]) == (name,)


def test_items_of_unknown_kinds_alone_are_no_conversation() -> None:
    hello = {"role": "user", "content": "Hello"}
    assert detect([*STRANGERS, hello]) == detect(STRANGERS) == detect([hello, 1, hello]) == ()
    assert detect([STRANGERS[0], hello]) == detect(hello)


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("anthropic", [{"role": "user", "content": [{"type": "text", "text": "x"}, PICTURE]}]),
        ("bedrock", [{"role": "user", "content": [{"text": "x"}]}]),
    ],
)
def test_instructions_in_the_list_do_not_hide_the_format(
    name: str, said: list[Any], role: str
) -> None:
    """They belong beside the list, and many put them into it: `detect` knew no format."""
    for content in ("Be nice.", [{"text": "Be nice."}], [{"type": "text", "text": "Be nice."}]):
        instructed = [{"role": role, "content": content}, *said]
        for value in (instructed, {"messages": instructed}, {"model": "m", "messages": instructed}):
            assert detect(value) == (name,)
    assert detect([{"role": role, "content": 1}]) == ()
