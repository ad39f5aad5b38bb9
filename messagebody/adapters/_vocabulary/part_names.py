"""Names of parts: where a body holds the items of a message, and how they are found there.

| item | place |
|---|---|
| `Text`, `Media` | an unnamed part, or the part of its name |
| `Call` | `/tool/calls/<n>.json`: `{"id", "name", "arguments"}` |
| `Result` | `/tool/results/<n>/…`, its parts with `metadata.tool_result` |
| `Reasoning` | `/reasoning/<n>` |
| `Refusal` | `/refusals/<n>` |
| `Code` | `/code/<n>` |
"""

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from messagebody._core import MessageBody, Part, is_text, require_body
from messagebody.adapters._registry import adapter_names
from messagebody.adapters._vocabulary.items import Call, Code, Item, Reasoning, Refusal, Result
from messagebody.errors import DecodeError, InvalidArgument

RESULT: Final = "tool_result"
"""The member of the metadata of a result's parts that says whose result it is."""

FOUND: Final = "search_result"
"""The member of the metadata of a search result that says where it was found."""

RESERVED: Final = re.compile(
    r"/(?:tool/(?:calls/\d+\.json|results/\d+/.+)|(?:reasoning|refusals|code)/\d+|meta/[^/]+\.json)"
)
"""Places with a special meaning: a file with such a name would be read as a call or a thought."""

ARTIFACT: Final = "langchain-artifact.json"
"""The name of what a tool of LangChain gives to the program and not to the model."""

_MEMBERS: Final = re.compile(
    r"(?:/.+)?/(?:meta/(?P<format>[^/]+)\.json|olympus/envelope\.json|sentient/message\.json"
    rf"|tool/results/\d+/{re.escape(ARTIFACT)})"
)


def is_withheld(part: Part) -> bool:
    """Return whether a part keeps members of a message that are not content; no model gets it.

    Such parts are the rest of a message (`/meta/<format>.json`), the exact text of a received one,
    and what a tool of LangChain gives to the program alone. They hold ids, tokens and signatures of
    systems. A body may hold another one below a directory, so only the end of the name counts.

    Examples:
        >>> names = ["/meta/agents-api.json", "/received/olympus/envelope.json", "/meta/page.json"]
        >>> [is_withheld(Part("{}", name=name)) for name in names]
        [True, True, False]
    """
    return bool(withheld_among([part.name]))


def withheld_among(names: Iterable[str | None]) -> list[int]:
    """Return the positions of the parts that `is_withheld` is true of, given the names of all.

    Examples:
        >>> withheld_among([None, "/meta/agents-api.json", "/meta/page.json"])
        [1]
    """
    found: list[int] = []
    formats: set[str | None] = set()
    for position, name in enumerate(names):
        # All of them end so, and the expression takes longer.
        if name is None or not name.endswith(".json"):
            continue
        if match := _MEMBERS.fullmatch(name):
            formats = formats or {None, *adapter_names()}
            if match["format"] in formats:
                found.append(position)
    return found


Found = tuple[Item | None, list[Part]]
"""An item with its parts; for plain content the item is None."""


class BodyContents(NamedTuple):
    """What a body holds.

    Arguments:
        parts: its parts, in order.
        items: the items that they make.
    """

    parts: list[Part]
    items: list[Found]


def contents_of(body: MessageBody) -> BodyContents:
    """Return the parts of a body and their items."""
    parts = body[:]
    return BodyContents(parts, items_of(parts))


def items_of(body: Iterable[Part]) -> list[Found]:
    """Return the items of a body with their parts, in order; for plain content the item is None.

    A result holds the parts of its directory, which need not be neighbours.
    """
    results: dict[str, list[Part]] = {}
    order: list[Found] = []
    for part in body:
        name = part.name
        if name is None or (match := _PLACE.fullmatch(name)) is None:
            order.append((None, [part]))
            continue
        key = match["result"]
        about = None if key is None else _result_of(part)
        if about is not None:
            parts = results.get(str(key))
            if parts is not None:
                parts.append(part)
                continue
            parts = results[str(key)] = [part]
            item: Item | None = Result(
                about.get("id"), [], about.get("name"), about.get("error"), about.get("type"),
                about.get("pending") is True, key=key,
            )  # fmt: skip
        else:
            parts, item = [part], _item_at(part, match)
        order.append((item, parts))
    return order


def with_results(body: MessageBody, results: Iterable[tuple[str, list[Part]]]) -> MessageBody:
    """Return a copy of a body that holds more results.

    Arguments:
        body: the body.
        results: the directory of each result in its original body, and its parts.
    """
    made = body.copy()
    numbers = [int(match["number"]) for match in map(_RESULT.match, body.names()) if match]
    for number, (directory, parts) in enumerate(results, max(numbers, default=0) + 1):
        for part in parts:
            name = str(part.name).removeprefix(directory)
            made.append(part.evolve(name=f"/tool/results/{number}{name}"))
    return made


def as_result(
    body: MessageBody, call: str | Part, *, tool: str | None = None, failed: bool = False
) -> MessageBody:
    """Return a body as what a tool returned: written as a message, it answers the call.

    It is a message of its own in a conversation, after the one with the call.

    Arguments:
        body: what the tool returned: texts, pictures and other files.
        call: the part of the call, such as `/tool/calls/1.json`, or its id.
        tool: with an id, the name of the tool; some services want to hear it again.
        failed: whether the tool failed, and the body says why.

    Raises:
        InvalidArgument: the part is of no call, or the id or the name is no text.

    Examples:
        >>> result = as_result(MessageBody(["Sunny."]), "call_7", tool="weather")
        >>> result.names(), result[0].metadata
        (['/tool/results/1/1'], {'tool_result': {'id': 'call_7', 'name': 'weather'}})
    """
    asked = _call_of(call) if isinstance(call, Part) else Call(call, tool or "", {})
    is_named = isinstance(call, str | Part) and isinstance(tool, str | None)
    if asked is None or not is_named:
        raise InvalidArgument("the part of a call, or its id and the name of its tool", call)
    stated = {"id": asked.id, "name": tool or asked.name or None, "type": asked.kind}
    about: dict[str, Any] = {key: each for key, each in stated.items() if each is not None}
    about |= {"error": True} if failed else {}
    # An empty part shows that the call was answered.
    about |= {} if require_body(body) else {"empty": True}
    parts = [*body] or [Part("")]
    numbers = (str(number) for number in range(1, 2 * len(parts) + 1) if f"/{number}" not in body)
    return MessageBody(
        part.evolve(
            name=f"/tool/results/1{part.name or '/' + next(numbers)}",
            metadata={**(part.metadata or {}), RESULT: about},
        )
        for part in parts
    )


def tool_of(part: Part) -> str | None:
    """Return the tool whose result a part is of, or else the id of its call; None for other parts.

    Examples:
        >>> shot = Part("ok", name="/tool/results/1/2", metadata={"tool_result": {"name": "draw"}})
        >>> tool_of(shot), tool_of(shot.evolve(name="/draw"))
        ('draw', None)
    """
    about = None if _RESULT.match(part.name or "") is None else _result_of(part)
    return None if about is None else about.get("name") or about.get("id")


_RESULT: Final = re.compile(r"/tool/results/(?P<number>\d+)/")
_PLACE: Final = re.compile(
    r"(?P<result>/tool/results/\d+)/.+|/(?P<kind>tool/calls|reasoning|refusals|code)/\d+(?:\.json)?"
)


def _result_of(part: Part) -> dict[str, Any] | None:
    about = (part.metadata or {}).get(RESULT)
    if not isinstance(about, dict) or not isinstance(about.get("id", ""), str):
        return None
    types_fit = isinstance(about.get("name", ""), str) and isinstance(about.get("type", ""), str)
    return about if types_fit and isinstance(about.get("error", False), bool) else None


def _item_at(part: Part, match: re.Match[str]) -> Item | None:
    """Return the item of a part at a documented place, None if it is plain content."""
    kind = match["kind"]
    if kind is None or part.is_reference or not is_text(part.content_type):
        return None
    if kind == "tool/calls":
        return _call_of(part)
    try:
        text = part.read_text()
    except DecodeError:
        return None
    if kind == "reasoning":
        return Reasoning(text, key=part.name)
    if kind == "refusals":
        return Refusal(text, key=part.name)
    said = part.metadata or {}
    language, outcome = said.get("language"), said.get("outcome")
    if not isinstance(language or "", str) or not isinstance(outcome or "", str):
        return None
    return Code(text, language, outcome, key=part.name)


def _call_of(part: Part) -> Call | None:
    try:
        value = part.read_json()
    except DecodeError:
        return None
    if not isinstance(value, dict) or "arguments" not in value:
        return None
    texts = value.get("id", ""), value.get("name"), value.get("type", "")
    if not isinstance(texts[0] or "", str) or not isinstance(texts[1], str):
        return None
    if not isinstance(texts[2] or "", str):
        return None
    # A custom tool takes a text, which may be empty.
    said = value["arguments"]
    is_none = value.get("type") is None and (said is None or said == "")
    return Call(
        value.get("id"), texts[1], {} if is_none else said, value.get("type"),
        value.get("update") is True, key=part.name,
    )  # fmt: skip
