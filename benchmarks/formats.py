"""Messages of other formats: small ones each way, a large picture, and frameworks beside them."""

import base64
import copy
import importlib
import json
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pybase64

from benchmarks import recorded
from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody import MessageBody
from messagebody.adapters import Converted, adapter, adapter_names
from messagebody.adapters._format import Format

_TEXT = "The quick brown fox jumps over the lazy dog. "
_ASKED: dict[str, Any] = {
    "role": "user",
    "content": [
        {"type": "text", "text": _TEXT},
        {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}},
    ],
}


def formats() -> dict[str, Format]:
    """Return the message formats by name."""
    found = {name: adapter(name) for name in adapter_names()}
    return {name: each for name, each in found.items() if isinstance(each, Format)}


def small() -> None:
    """Print how many small messages go each way in a second."""
    text, body = MessageBody(), MessageBody()
    text.add(_TEXT)
    body.add(_TEXT)
    body.add(url="https://example.com/cat.png", content_type="image/png")
    for title, said in (("a text", text), ("a text and a picture's URL", body)):
        _small(title, said)


def _small(title: str, body: MessageBody) -> None:
    rows = []
    for name, each in formats().items():
        message = each.from_body(body).value
        there = each.to_body(message)
        contestants: dict[str, Callable[[], object]] = {
            "in": partial(each.to_body, message),
            "out": partial(each.from_body, body),
            "back": partial(each.from_body, there.value, rest=there.rest),
        }
        found = compare(contestants, seconds=0.3)
        rows.append([name, *(f"{1 / found[way]:,.0f}" for way in ("in", "out", "back"))])
    print_table(
        f"Small messages: {title}",
        ["format", "to_body a second", "from_body a second", "with rest"],
        rows,
    )


def large(size: int = 20 * 1024 * 1024) -> None:
    """Print the time of a large picture from OpenAI to Anthropic, beside its base64 alone."""
    data = b"\x89PNG\r\n\x1a\n" + os.urandom(size)
    encoded = pybase64.b64encode(data).decode()
    url = f"data:image/png;base64,{encoded}"
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    chat, anthropic = formats()["openai-chat"], formats()["anthropic"]

    def convert() -> Any:
        return anthropic.from_body(chat.to_body(message).value)

    (block,) = convert().value["content"]
    assert block["source"]["data"] == encoded
    found = compare(
        {"OpenAI chat → body": lambda: chat.to_body(message),
         "OpenAI chat → OpenAI chat": lambda: chat.from_body(chat.to_body(message).value),
         "OpenAI chat → Gemini": lambda: formats()["gemini"].from_body(chat.to_body(message).value),
         "OpenAI chat → Anthropic": convert,
         "base64 decoded and encoded": lambda: pybase64.b64encode(pybase64.b64decode(encoded))},
        seconds=1.0,
    )  # fmt: skip
    alone = found["base64 decoded and encoded"]
    rows = [[name, show_time(took), show_ratio(took / alone)] for name, took in found.items()]
    print_table(
        "A large picture", [f"a picture of {size // 2**20} MiB", "time", "beside base64"], rows
    )


def _peers() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what frameworks have for reading a message of OpenAI's and writing it again."""
    try:
        langchain = importlib.import_module("langchain_core.messages")
    except ImportError:
        pass
    else:
        read, write = langchain.convert_to_messages, langchain.convert_to_openai_messages
        yield "LangChain", lambda: write(read([_ASKED]))
    try:
        haystack = importlib.import_module("haystack.dataclasses").ChatMessage
    except ImportError:
        pass
    else:
        asked = {"role": "user", "content": _TEXT}  # it refuses a picture behind a URL
        back = haystack.from_openai_dict_format
        yield "Haystack, text only", lambda: back(asked).to_openai_dict_format()


def peers() -> None:
    """Print a small message of OpenAI's through a body and through what frameworks have."""
    chat = formats()["openai-chat"]

    def through() -> Any:
        there = chat.to_body(_ASKED)
        return chat.from_body(there.value, rest=there.rest)

    assert through().value == json.loads(json.dumps(_ASKED))
    found = compare({"messagebody, with rest and losses": through, **dict(_peers())}, seconds=0.5)
    print_table(
        "Beside frameworks", ["OpenAI chat, read and written", "time"],
                [[name, show_time(took)] for name, took in found.items()])  # fmt: skip


def each_way() -> None:
    """Print a message of OpenAI's of two parts, read and written, beside LangChain's conversion."""
    try:
        langchain = importlib.import_module("langchain_core.messages")
    except ImportError:
        return
    chat, theirs = formats()["openai-chat"], langchain.convert_to_messages([_ASKED])
    body = chat.to_body(_ASKED).value
    found = compare(
        {
            "in": partial(chat.to_body, _ASKED),
            "their in": partial(langchain.convert_to_messages, [_ASKED]),
            "out": partial(chat.from_body, body),
            "their out": partial(langchain.convert_to_openai_messages, theirs),
        },
        seconds=1.0,
        rounds=11,
    )
    rows = [
        [title, show_time(found[way]), show_time(found[f"their {way}"]),
         show_ratio(found[way] / found[f"their {way}"])]
        for title, way in (("to_body", "in"), ("from_body", "out"))
    ]  # fmt: skip
    print_table("OpenAI chat, two parts", ["", "messagebody", "LangChain", "ratio"], rows)


def _call(identity: str, name: str) -> dict[str, Any]:
    function = {"name": name, "arguments": '{"city": "Brno"}'}
    return {"id": identity, "type": "function", "function": function}


_TALKS: dict[str, list[dict[str, Any]]] = {
    "a text": [{"role": "user", "content": _TEXT}],
    "40 texts": [
        {"role": ("user", "assistant")[number % 2], "content": _TEXT * 3} for number in range(40)
    ],
    "6 messages with tools": [
        {"role": "user", "content": "Weather, time?"},
        {"role": "assistant", "content": None,
         "tool_calls": [_call("a", "weather"), _call("b", "clock")]},
        {"role": "tool", "tool_call_id": "a", "content": "12"},
        {"role": "tool", "tool_call_id": "b", "content": "noon"},
        {"role": "assistant", "content": "It is 12 at noon."},
        {"role": "user", "content": "Thanks"},
    ],
    "9 tools in parallel": [
        {"role": "user", "content": "Weather in nine cities?"},
        {"role": "assistant", "content": None,
         "tool_calls": [_call(f"call_{number}", "weather") for number in range(9)]},
        *({"role": "tool", "tool_call_id": f"call_{number}", "content": str(number)}
          for number in range(9)),
        {"role": "assistant", "content": "All are fine."},
    ],
}  # fmt: skip


def _converters() -> Iterator[tuple[str, Callable[[list[Any]], Any]]]:
    """Yield what turns a talk of OpenAI's into one of Anthropic's."""
    chat, anthropic = formats()["openai-chat"], formats()["anthropic"]

    def ours(talk: list[Any]) -> Any:
        there = chat.to_bodies(talk)
        return anthropic.from_bodies(there.value, rest=there.rest)

    yield "messagebody, with rest and losses", ours
    try:
        read = importlib.import_module("langchain_core.messages").convert_to_messages
        write = importlib.import_module("langchain_anthropic.chat_models")._format_messages
    except ImportError:
        pass
    else:
        yield "LangChain", lambda talk: write(read(talk), model="claude")
    try:
        factory = "litellm.litellm_core_utils.prompt_templates.factory"
        convert = importlib.import_module(factory).anthropic_messages_pt
    except ImportError:
        pass
    else:
        # It changes the messages that it is given.
        yield "litellm", lambda talk: convert(copy.deepcopy(talk), "claude", "anthropic")


def talks() -> None:
    """Print talks of OpenAI as talks of Anthropic, beside langchain-anthropic and litellm."""
    rows = []
    for title, talk in _TALKS.items():
        found = compare({name: partial(each, talk) for name, each in _converters()}, seconds=0.5)
        least = min(found.values())
        rows += [
            [title, name, show_time(took), show_ratio(took / least)]
            for name, took in found.items()
        ]  # fmt: skip
    print_table("Whole talks, OpenAI chat → Anthropic", ["talk", "with", "time", "ratio"], rows)


def _fact(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


_PDF = f"data:application/pdf;base64,{_fact('%PDF-1.4 of fact07')}"
_RICH: list[dict[str, Any]] = [
    {"role": "system", "content": "fact01 be kind"},
    {"role": "user", "name": "fact02", "content": [
        {"type": "text", "text": "fact03 look at these"},
        {"type": "image_url", "image_url": {"url": "https://example.com/fact04.png"}},
        {"type": "image_url", "image_url": {
            "url": f"data:image/png;base64,{_fact('PNG of fact05')}", "detail": "low"}},
        {"type": "file", "file": {"filename": "fact06.pdf", "file_data": _PDF}},
        {"type": "input_audio", "input_audio": {"data": _fact("WAV of fact08"), "format": "wav"}},
    ]},
    {"role": "assistant", "content": "fact09 let me see",
     "tool_calls": [_call("fact10", "fact11"), _call("fact12", "fact13")]},
    {"role": "tool", "tool_call_id": "fact10", "content": "fact14"},
    {"role": "tool", "tool_call_id": "fact12", "content": "fact15"},
    {"role": "assistant", "content": None, "refusal": "fact16 I will not"},
    {"role": "user", "content": "fact17 and now?"},
    {"role": "assistant", "content": "fact18 it is sunny", "annotations": [
        {"type": "url_citation", "url_citation": {
            "url": "https://example.com/fact19", "title": "fact20", "start_index": 0,
            "end_index": 6}}]},
]  # fmt: skip
_FACTS = [f"fact{number:02}" for number in range(1, 21)]


def _held(value: Any) -> str:
    """Return all texts of a value, those in base64 too."""
    if isinstance(value, dict):
        return " ".join(map(_held, [*value, *value.values()]))
    if isinstance(value, list | tuple):
        return " ".join(map(_held, value))
    text = str(value)
    decoded = (base64.b64decode(each + "==") for each in re.findall(r"[A-Za-z0-9+/]{16,}", text))
    return " ".join([text, *(each.decode("latin-1") for each in decoded)])


def facts() -> None:
    """Print which facts of a talk with files, tools and a citation arrive at Anthropic."""
    rows = []
    for name, convert in _converters():
        try:
            made = convert(copy.deepcopy(_RICH))
        except Exception as error:  # noqa: BLE001 - each peer has its own
            rows.append([name, f"raises {type(error).__name__}", "", ""])
            continue
        text = _held(made.value if isinstance(made, Converted) else made)
        gone = [fact for fact in _FACTS if fact not in text]
        said = len(made.losses) if isinstance(made, Converted) else 0
        rows.append(
            [name, f"{len(_FACTS) - len(gone)} of {len(_FACTS)}", ", ".join(gone), str(said)]
        )
    print_table(
        "Facts of a rich talk, OpenAI chat → Anthropic",
        ["with", "kept", "gone", "losses listed"],
        rows,
    )


def main() -> None:
    """Print all tables."""
    print(machine("messagebody", "langchain-core", "haystack-ai"))
    small()
    large()
    peers()
    each_way()
    talks()
    facts()
    if folder := os.environ.get("RECORDINGS"):
        recorded.main(Path(folder))
