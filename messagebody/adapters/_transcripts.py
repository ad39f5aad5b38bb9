"""Transcripts: conversations of any format, message by message, for those who look at them.

A converter refuses what it can't read. A reader of a run goes on and says what was wrong, because
people look at runs that failed.
"""

import json
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Self

import attrs

from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._base.media_types import JSON
from messagebody._base.text import quote
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._wire import strict_json
from messagebody.adapters._base import (
    Converted,
    Loss,
    LossKind,
    adapter_names,
    detect,
    read_within,
)
from messagebody.adapters._conversations import (
    USUAL,
    answer_of,
    is_message,
    messages_of,
    others_of,
)
from messagebody.adapters._core import format_of, messages_in
from messagebody.adapters._items import Call, Code, Item, Reasoning, Refusal, Result
from messagebody.adapters._places import is_withheld, items_of
from messagebody.adapters._values import json_value
from messagebody.errors import DecodeError, EnvelopeError, MessageBodyError

_STATES: Final = ("values", "channel_values")
"""Members of a state of LangGraph that hold its channels, one of which has the messages."""
_KINDS: Final[dict[type[Item] | None, str]] = {
    Call: "call", Result: "result", Reasoning: "thought", Refusal: "refusal", Code: "code",
}  # fmt: skip
_NUMBERED: Final = re.compile(r"message (\d+): (.*)", re.DOTALL)

Place = tuple[int, int]
"""The position of a message in its run, and of a step in its message."""


@attrs.frozen
class Step:
    """One thing that a message does.

    Arguments:
        kind: "content" for a text or file, "call" and "result" of a tool, "thought", "refusal", or
            "code".
        parts: the parts of the body that say it.
        id: what a call and its result have in common, if the format has ids.
        name: the tool.
        arguments: what the tool is called with, as a JSON value.
        is_error: whether the result is an error; None if that is not stated.
    """

    kind: str
    parts: tuple[Part, ...]
    id: str | None = None
    name: str | None = None
    arguments: Any = None
    is_error: bool | None = None


@attrs.frozen
class ChatMessage:
    """One message of a run.

    Arguments:
        body: its content.
        role: "user", "assistant", "system" or "tool"; None if it states none.
        name: who speaks, or what the message is called, such as its file.
        about: the members of the message that are not content, such as its id and the model.
        losses: what was lost when it was read.
        problem: why it could not be read; its body is then the message as JSON.
    """

    body: MessageBody
    role: str | None = None
    name: str | None = None
    about: dict[str, Any] = attrs.Factory(dict)
    losses: tuple[Loss, ...] = ()
    problem: str | None = None

    @property
    def steps(self) -> list[Step]:
        """What the message says and does, in order."""
        shown = (part for part in self.body if not is_withheld(part))
        return [_step(item, parts) for item, parts in items_of(shown)]


def _step(item: Item | None, parts: list[Part]) -> Step:
    kind = _KINDS.get(None if item is None else type(item), "content")
    if isinstance(item, Call):
        return Step(kind, (*parts,), item.id, item.name, item.arguments)
    if isinstance(item, Result):
        return Step(kind, (*parts,), item.id, item.name, is_error=item.is_error)
    return Step(kind, (*parts,))


@attrs.frozen
class Transcript:
    """A conversation of any format.

    Arguments:
        messages: its messages, in order.
        format: the format that it was read in; None for bodies, and for several formats.
        losses: what was lost beside the messages.

    Examples:
        >>> run = read_transcript([{"role": "user", "content": "Hello"}])
        >>> run.format, run.messages[0].role, run.messages[0].body.text
        ('openai-chat', 'user', 'Hello')
    """

    messages: tuple[ChatMessage, ...]
    format: str | None = None
    losses: tuple[Loss, ...] = ()

    @classmethod
    def joined(cls, runs: Iterable[Self]) -> "Transcript":
        """Return several runs as one, in their order."""
        found = [*runs]
        formats = {run.format for run in found}
        return cls(
            tuple(message for run in found for message in run.messages),
            formats.pop() if len(formats) == 1 else None,
            tuple(loss for run in found for loss in run.losses),
        )

    def answers(self) -> dict[Place, Place]:
        """Return the place of the result for the place of each call that has one.

        They are paired by id. Where a format has no ids, a result answers the first open call of
        its tool.
        """
        return dict(_pairs(enumerate(message.steps for message in self.messages)))


def _pairs(messages: Iterable[tuple[int, Sequence[Step]]]) -> Iterator[tuple[Place, Place]]:
    open_calls: dict[tuple[str, str | None], deque[Place]] = defaultdict(deque)
    answered: set[Place] = set()
    for number, steps in messages:
        for position, step in enumerate(steps):
            here = number, position
            if step.kind == "call":
                open_calls["name", step.name].append(here)
                if step.id is not None:
                    open_calls["id", step.id].append(here)
            elif step.kind == "result":
                key = ("name", step.name) if step.id is None else ("id", step.id)
                calls = open_calls[key]
                while calls and calls[0] in answered:
                    calls.popleft()
                if calls:
                    answered.add(calls[0])
                    yield calls.popleft(), here


# Reading


def read_transcript(
    value: Any, format_name: str | None = None, *, limits: Limits = DEFAULT_LIMITS
) -> Transcript:
    """Return a conversation of any format, message by message.

    A message that can't be read is in the run as JSON, with its problem. So is a message that looks
    like one of another format.

    Arguments:
        value: the JSON of a conversation or of one message, as text, as bytes or parsed; a line of
            JSON for each message; messages as objects of their SDK; bodies; or what `to_bodies`
            returned. The messages may be in a member, such as `messages`, and in a state of
            LangGraph.
        format_name: the format; None if it is to be detected.
        limits: what to take before refusing.

    Raises:
        EnvelopeError: it has no format that is known.
        DecodeError: it is not JSON, or it goes beyond a limit.
    """
    if isinstance(value, Transcript):
        return value
    if isinstance(value, Converted):
        return _converted(value, format_name)
    if isinstance(value, MessageBody):
        return Transcript((ChatMessage(value, _stored_role(value)),))
    if isinstance(value, str | bytes | bytearray | memoryview):
        data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else bytes(value)
        return _of_bytes(data, format_name, limits)
    if isinstance(value, list | tuple) and any(isinstance(each, MessageBody) for each in value):
        return Transcript.joined(
            read_transcript(each, format_name, limits=limits) for each in value
        )
    return _of_json(json_value(value, _is_any, limits), format_name, limits)


def _is_any(_: Any) -> bool:
    return True


def _of_bytes(data: bytes, format_name: str | None, limits: Limits) -> Transcript:
    if len(data) > limits.json_bytes:
        raise DecodeError(f"the run has more than {limits.json_bytes:,} bytes")
    try:
        value = strict_json.loads(data, depth=limits.depth, values=limits.values)
    except strict_json.InvalidJson as error:
        lines = _lines(data, limits)
        if lines is not None:
            return _of_json(lines, format_name, limits)
        found = (format_name,) if format_name else detect(data)
        if found:
            return Transcript((_message(read_within(limits, found[0], data)),), found[0])
        raise DecodeError(f"the run is not JSON: {error}") from error
    return _of_json(value, format_name, limits)


def _lines(data: bytes, limits: Limits) -> list[Any] | None:
    """Return the values of JSON Lines; None if it is something else."""
    try:
        return [strict_json.loads(line, depth=limits.depth, values=limits.values)
                for line in data.splitlines() if line.strip()]  # fmt: skip
    except strict_json.InvalidJson:
        return None


def _of_json(value: Any, format_name: str | None, limits: Limits) -> Transcript:
    value, beside = _inside(value)
    messages = messages_in(value, format_name)
    if messages is None:
        run = _of_others(value, format_name, limits)
    else:
        beside += others_of(value) if messages is not value else []
        run = _read_all(format_name or _format_of(value, messages), messages, limits)
    why = "it is beside the messages"
    losses = [Loss(LossKind.OMITTED, name, why) for name in beside]
    return attrs.evolve(run, losses=(*losses, *run.losses))


def holds_messages(value: Any) -> bool:
    """Return whether parsed JSON is a conversation, a message, or something that holds one."""
    held, _ = _inside(value)
    return is_message(held) or messages_of(held) is not None or bool(detect(held))


def _inside(value: Any) -> tuple[Any, list[str]]:
    """Return what a state or the answer of a service holds, and the names of what is beside it."""
    beside: list[str] = []
    for name in _STATES:
        if isinstance(value, dict) and isinstance(value.get(name), dict):
            beside += [str(other) for other in value if other != name]
            value = value[name]
    answer = answer_of(value)
    if answer is not None and isinstance(answer[1], dict) and not detect(value):
        whole = re.split(r"\W", answer[0])[0]
        beside += [str(other) for other in value if other != whole]
        value = answer[1]
    return _built(value), beside


def _built(value: Any) -> Any:
    """Return a value with the messages that LangChain has written as calls of constructors."""
    if isinstance(value, list):
        return [_built(each) if isinstance(each, dict) else each for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("lc") == 1 and value.get("type") == "constructor":
        held = value.get("kwargs")
        return held if isinstance(held, dict) else value
    messages = value.get("messages")
    return {**value, "messages": _built(messages)} if isinstance(messages, list) else value


def _of_others(value: Any, format_name: str | None, limits: Limits) -> Transcript:
    """Return the run of one message, of a body, or of messages and bodies."""
    if format_name is None and isinstance(value, list) and not detect(value):
        body = _body(value, limits)
        if body is not None:
            return Transcript((ChatMessage(body, _stored_role(body)),))
        if value and all(isinstance(each, dict | list) for each in value):
            return Transcript.joined(_of_json(each, None, limits) for each in value)
    return _read_all(format_name or _format_of(value, [value]), [value], limits)


def _body(value: list[Any], limits: Limits) -> MessageBody | None:
    try:
        return MessageBody.from_json(json.dumps(value), limits=limits)
    except DecodeError:
        return None


def _format_of(value: Any, messages: Sequence[Any]) -> str:
    """Return the format of messages: that of all of them, or else of most of them."""
    found = detect(value)
    if not found:
        counts = Counter(name for each in messages for name in detect(each))
        most = max(counts.values(), default=0)
        found = tuple(name for name in counts if counts[name] == most)
    if not found:
        known = ", ".join(adapter_names())
        raise EnvelopeError(
            f"expected messages of a format that is known, got {quote(value, limit=80)}; "
            f"the formats are {known}"
        )
    return USUAL if USUAL in found else found[0]


def _read_all(format_name: str, messages: Sequence[Any], limits: Limits) -> Transcript:
    """Return the messages of one format; read one by one if they can't be read together."""
    found = format_of(format_name)
    if found is not None:
        try:
            return _converted(found.to_bodies(messages, limits=limits), format_name)
        except MessageBodyError as error:
            run = Transcript(
                tuple(_read(format_name, each, limits) for each in messages), format_name
            )
            # Most often one of the messages says what is wrong.
            whole = () if any(each.problem for each in run.messages) else (
                Loss(LossKind.DOWNGRADED, "messages", str(error)),
            )  # fmt: skip
            return attrs.evolve(run, losses=whole)
    return _read_each(format_name, messages, limits)


def _read_each(format_name: str, messages: Sequence[Any], limits: Limits) -> Transcript:
    read = tuple(_read(format_name, each, limits) for each in messages)
    return Transcript(read, format_name)


def _read(format_name: str, message: Any, limits: Limits) -> ChatMessage:
    try:
        made = read_within(limits, format_name, message)
    except MessageBodyError as error:
        source = Part(json.dumps(message, indent=2, ensure_ascii=False), content_type=JSON)
        return ChatMessage(MessageBody([source]), _role_in(message), problem=str(error))
    return _message(made, _role_in(message))


def _message(made: Converted[MessageBody], role: str | None = None) -> ChatMessage:
    return _said(made.value, made.rest, made.losses, role)


def _converted(made: Converted[Any], format_name: str | None) -> Transcript:
    """Return the run of what `to_bodies` or `to_body` returned."""
    if isinstance(made.value, MessageBody):
        return Transcript((_message(made),), format_name)
    rests = made.rest if isinstance(made.rest, list) else [None] * len(made.value)
    losses: dict[int | None, list[Loss]] = defaultdict(list)
    for loss in made.losses:
        match = _NUMBERED.fullmatch(loss.where)
        if match and int(match[1]) < len(rests):
            losses[int(match[1])].append(attrs.evolve(loss, where=match[2]))
        else:
            losses[None].append(loss)
    messages = tuple(
        _said(body, rest, losses[number])
        for number, (body, rest) in enumerate(zip(made.value, rests, strict=True))
    )
    return Transcript(messages, format_name or _stated(rests), (*losses[None],))


def _stated(rests: Sequence[Any]) -> str | None:
    found = {rest.get("format") if isinstance(rest, dict) else None for rest in rests}
    return found.pop() if len(found) == 1 else None


def _said(
    body: MessageBody, rest: Any, losses: Iterable[Loss], role: str | None = None
) -> ChatMessage:
    about = _about(rest)
    name = about.pop("name", None)
    return ChatMessage(
        body,
        _role_in(rest) or role or _stored_role(body),
        name if isinstance(name, str) else None,
        about,
        (*losses,),
    )


def _role_in(value: Any) -> str | None:
    role = value.get("role") if isinstance(value, dict) else None
    return role if isinstance(role, str) else None


def _stored_role(body: MessageBody) -> str | None:
    """Return the role in a rest that is a part of a body; None if there is none."""
    for part in body:
        if is_withheld(part) and part.text is not None:
            try:
                role = _role_in(part.read_json())
            except DecodeError:
                continue  # somebody else's part
            if role is not None:
                return role
    return None


def _about(rest: Any) -> dict[str, Any]:
    """Return the members of a message that are not content, by the rest of its format."""
    if not isinstance(rest, dict):
        return {}
    frame = rest.get("frame")
    if "format" not in rest or not isinstance(frame, dict):
        return {} if "format" in rest else {k: v for k, v in rest.items() if k != "role"}
    members = frame.get("set")
    return {key.removeprefix("/"): value for key, value in (members or {}).items()}
