"""Recorded chats of services, sent on to other services, beside litellm and LangChain.

`make bench RECORDINGS=folder` measures them, in the form that `make test ENV=recordings` reads.
Counted is what arrives: texts of whole chats, and of answers the calls of tools and the thoughts.
"""

import copy
import importlib
import json
import logging
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from benchmarks.harness import compare, print_table, show_time
from messagebody.adapters import Converted, adapter
from tests.adapters.recordings import is_in, rows_of, texts_of

_TARGETS: Final = ("anthropic", "bedrock", "gemini")
_LEAST: Final = 12
"""The fewest characters of a text that is looked for: shorter ones are everywhere."""
_THOUGHTS: Final = ("reasoning", "reasoning_content")
_Convert = Callable[[list[Any]], Any]


@attrs.define
class _Chat:
    """A chat, and what has to arrive of it, by the column of the table that counts it."""

    messages: list[Any]
    facts: dict[str, list[list[str]]]


def _chats(folder: Path) -> Iterator[_Chat]:
    for row in rows_of(folder, "histories"):
        if row["format"] == "openai-chat":
            texts = dict.fromkeys(each for said in row["value"] for each in texts_of(said))
            told = [[each] for each in texts if len(each) >= _LEAST]
            yield _Chat(row["value"], {"texts of chats": told})
    for row in rows_of(folder, "answers"):
        if row["format"] == "openai-chat":
            yield _answered(row["value"])


def _answered(answer: dict[str, Any]) -> _Chat:
    """Return a recorded answer, in a chat that goes on."""
    calls = answer.get("tool_calls") or []
    results = [
        {"role": "tool", "tool_call_id": each.get("id"), "content": "done"} for each in calls
    ]
    facts = {
        "calls of answers": [_of_call(each) for each in calls],
        "thoughts of answers": [
            [text] for text in {answer[name] for name in _THOUGHTS if answer.get(name)}
        ],
    }
    asked = {"role": "user", "content": "Go on."}
    return _Chat([asked, answer, *results], facts)


def _of_call(call: dict[str, Any]) -> list[str]:
    """Return the name of a tool and its arguments, as the texts that have to arrive."""
    function = call["function"]
    said = function["arguments"]
    try:
        held = json.loads(said) if isinstance(said, str) else said
    except ValueError:
        held = said
    return [function["name"], *(str(each) for each in _leaves(held))]


def _leaves(value: Any) -> Iterator[Any]:
    inner = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        for each in inner:
            yield from _leaves(each)
    elif value is not None and not isinstance(value, bool):
        yield value


# Who converts


def _ours(target: str) -> _Convert:
    chat: Any = adapter("openai-chat")
    other: Any = adapter(target)

    def convert(talk: list[Any]) -> Any:
        there = chat.to_bodies(talk)
        return other.from_bodies(there.value, rest=there.rest)

    return convert


def _litellm(target: str) -> _Convert:
    """Return litellm's conversion: it takes the system's messages apart before."""
    factory: Any = importlib.import_module("litellm.litellm_core_utils.prompt_templates.factory")
    if target == "bedrock":
        model = {"model": "anthropic.claude", "llm_provider": "bedrock"}
        convert = partial(factory._bedrock_converse_messages_pt, **model)
    elif target == "gemini":
        gemini: Any = importlib.import_module("litellm.llms.vertex_ai.gemini.transformation")
        convert = partial(gemini._gemini_convert_messages_with_history, model="gemini-3-pro")
    else:
        model = {"model": "claude", "llm_provider": "anthropic"}
        convert = partial(factory.anthropic_messages_pt, **model)

    def converted(talk: list[Any]) -> Any:
        # It changes the messages that it is given.
        copied = copy.deepcopy(talk)
        system = [each for each in copied if each["role"] == "system"]
        return [*system, *convert([each for each in copied if each["role"] != "system"])]

    return converted


def _langchain(target: str) -> _Convert:
    read = importlib.import_module("langchain_core.messages").convert_to_messages
    if target == "gemini":
        write = importlib.import_module("langchain_google_genai.chat_models")._parse_chat_history
        return lambda talk: write(read(talk), model="gemini-3-pro")
    if target == "bedrock":
        write = importlib.import_module("langchain_aws.chat_models.bedrock_converse")
        return lambda talk: write._messages_to_bedrock(read(talk))
    write = importlib.import_module("langchain_anthropic.chat_models")._format_messages
    return lambda talk: write(read(talk), model="claude")


_WHO: Final = {"messagebody": _ours, "litellm": _litellm, "LangChain": _langchain}


def _converters(target: str) -> Iterator[tuple[str, _Convert]]:
    for who, make in _WHO.items():
        try:
            yield who, make(target)
        except ImportError:
            continue


# What arrives


def _counted(chats: list[_Chat], convert: _Convert) -> tuple[dict[str, int], int]:
    """Return how many facts arrive, by column, and how many chats are refused."""
    kept: dict[str, int] = {}
    refused = 0
    for chat in chats:
        try:
            made = convert(chat.messages)
        except Exception:  # noqa: BLE001 - each peer has its own
            refused += 1
            continue
        value = made.value if isinstance(made, Converted) else made
        whole = "\n".join(texts_of(_plain(value), is_all=True))
        for column, facts in chat.facts.items():
            arrived = sum(all(is_in(text, whole) for text in fact) for fact in facts)
            kept[column] = kept.get(column, 0) + arrived
    return kept, refused


def _plain(value: Any) -> Any:
    """Return the JSON of what a peer makes, with numbers as texts."""
    if hasattr(value, "model_dump"):
        return _plain(value.model_dump(mode="json"))
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, int | float) else value


def _all_of(chats: list[_Chat], convert: _Convert) -> None:
    for chat in chats:
        try:
            convert(chat.messages)
        except Exception:  # noqa: BLE001 - each peer has its own
            continue


def _nowhere(*_: Any, **__: Any) -> Any:
    raise OSError("there is no network here")


def main(folder: Path) -> None:
    """Print what arrives of recorded chats, and the time that takes."""
    logging.disable(logging.CRITICAL)
    socket.getaddrinfo = _nowhere  # some peers fetch what a message links to
    chats = [*_chats(folder)]
    held: dict[str, int] = {}
    for chat in chats:
        for column, facts in chat.facts.items():
            held[column] = held.get(column, 0) + len(facts)
    rows = []
    for target in _TARGETS:
        converters = dict(_converters(target))
        took = compare(
            {who: partial(_all_of, chats, each) for who, each in converters.items()}, seconds=2.0
        )
        for who, convert in converters.items():
            kept, refused = _counted(chats, convert)
            counts = (f"{kept.get(column, 0)} of {many}" for column, many in held.items())
            rows.append([target, who, *counts, str(refused), show_time(took[who])])
    columns = ["OpenAI chat to", "with", *held, "refused", "time"]
    print_table(f"{len(chats)} recorded chats", columns, rows)
