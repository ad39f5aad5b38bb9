"""Reading: what is logged becomes a transcript, and what can't be read does not stop the rest."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    JSON,
    Limits,
    MessageBody,
    Part,
    quote,
    redact_urls,
    strict_json,
)
from messagebody.adapters._contract import Converted, Loss, LossKind
from messagebody.adapters._conversation.messages import (
    HOLDERS,
    USUAL,
    is_item,
    is_message,
    messages_of,
)
from messagebody.adapters._conversation.turn import UNREAD, is_unread
from messagebody.adapters._format import format_of, messages_in
from messagebody.adapters._registry import adapter, adapter_names, detect, evidence_of, read_within
from messagebody.adapters._transcripts import exchanges
from messagebody.adapters._transcripts.logs import (
    Broken,
    Streamed,
    format_of_events,
    messages_in_events,
    stream_in,
    values_of_lines,
)
from messagebody.adapters._transcripts.message_facts import members_of
from messagebody.adapters._transcripts.values import ChatMessage, Transcript
from messagebody.adapters._vocabulary.characters import ALONE, halves_in, is_half, whole
from messagebody.adapters._vocabulary.part_names import is_withheld
from messagebody.adapters._vocabulary.pointers import place_of
from messagebody.adapters._vocabulary.values import json_value
from messagebody.errors import DecodeError, EnvelopeError, MessageBodyError

_ENOUGH: Final = 4
"""The most evidence that one message gives: many messages are to outweigh one of many blocks."""


def read_transcript(
    value: Any,
    format: str | None = None,  # noqa: A002 - what users call it
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> Transcript:
    """Return a conversation of any format, message by message.

    A message that can't be read is in the run as JSON, with its problem. So is a message that looks
    like one of another format.

    Arguments:
        value: the JSON of a conversation or of one message, as text, as bytes or parsed; a line of
            JSON for each message; messages as objects of their SDK; bodies; or what `to_bodies`
            returned. It may be a request to a service, its answer, the events of a stream, or a
            state of LangGraph.
        format: the format; None if it is to be detected.
        limits: what to take before refusing.

    Raises:
        EnvelopeError: it has no format that is known.
        DecodeError: it is not JSON, or it goes beyond a limit.
    """
    if isinstance(value, Transcript):
        return value
    if isinstance(value, Converted):
        return _converted(value, format)
    if isinstance(value, MessageBody):
        return Transcript((ChatMessage(value, _stored_role(value)),))
    if isinstance(value, str | bytes | bytearray | memoryview):
        data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else bytes(value)
        return _of_bytes(data, format, limits)
    if isinstance(value, list | tuple) and any(isinstance(each, MessageBody) for each in value):
        return Transcript.joined(read_transcript(each, format, limits=limits) for each in value)
    try:
        return _of_json(json_value(value, _is_any, limits), format, limits)
    except DecodeError as error:
        if not is_half(error):
            raise
        return _of_halved(value, format, limits)


def _of_halved(value: Any, format_name: str | None, limits: Limits) -> Transcript:
    """Return the run of JSON with half of a character in a text."""
    held = json_value(value, _is_any, limits, halves=True)
    if (run := _of_events(held, format_name, limits)) is not None:
        return run  # which joins halves that came one after the other
    run = _of_json(whole(held), format_name, limits)
    losses = [Loss(LossKind.DOWNGRADED, place_of(each), ALONE) for each in halves_in(held)]
    return attrs.evolve(run, losses=(*losses, *run.losses))


def _is_any(_: Any) -> bool:
    return True


def _of_bytes(data: bytes, format_name: str | None, limits: Limits) -> Transcript:
    if len(data) > limits.json_bytes:
        raise DecodeError(f"the run has more than {limits.json_bytes:,} bytes")
    try:
        value = strict_json.loads(data, depth=limits.depth, values=limits.values)
    except strict_json.InvalidJson as error:
        if is_half(problem := DecodeError(f"the run can't be read: {error}")):
            return _of_halved(data, format_name, limits)
        lines = values_of_lines(data, limits)
        if lines is not None:
            return _of_json(lines, format_name, limits)
        found = (format_name,) if format_name else detect(data)
        if found:
            return Transcript((_message(read_within(limits, found[0], data)),), found[0])
        raise problem from error
    return _of_json(value, format_name, limits)


def holds_messages(value: Any) -> bool:
    """Return whether parsed JSON is a conversation, a message, or something that holds one."""
    held, _ = exchanges.channels_in(value)
    if exchanges.answers_in(held) or exchanges.error_in(held) is not None:
        return True
    held = exchanges.with_message_list(exchanges.from_constructors(held))
    if is_message(held) or messages_of(held) is not None or detect(held):
        return True
    listed = _listed_in(held)
    if any(map(is_message, listed)) or format_of_events(listed) is not None:
        return True
    return stream_in(listed, None, DEFAULT_LIMITS) is not None


def _listed_in(value: Any) -> list[Any]:
    """Return the list that a value is, or that a member for messages holds."""
    if isinstance(value, dict):
        held = [value[name] for name in HOLDERS if isinstance(value.get(name), list)]
        return held[0] if len(held) == 1 else []
    return value if isinstance(value, list) else []


def _of_json(value: Any, format_name: str | None, limits: Limits) -> Transcript:
    """Return the run of a conversation, a message, or of an exchange that holds some."""
    value, beside = exchanges.channels_in(value)
    for read in (_of_events, _of_error, _of_answers):
        run = read(value, format_name, limits)
        if run is not None:
            break
    else:
        run = _of_request(
            exchanges.with_message_list(exchanges.from_constructors(value)), format_name, limits
        )
    return attrs.evolve(run, about={**beside, **run.about}) if beside else run


def _of_events(value: Any, format_name: str | None, limits: Limits) -> Transcript | None:
    """Return the run of a log of events, in which an assembler finds the messages."""
    name = format_of_events(value, format_name) if isinstance(value, list) else None
    if name is None:
        return None
    try:
        found = messages_in_events(value, name, limits)
    except MessageBodyError:
        return None
    return Transcript(tuple(map(_streamed_message, found)), name)


def _streamed_message(streamed: Streamed) -> ChatMessage:
    message = _message(streamed.made, None if streamed.format == "messagebody" else "assistant")
    if streamed.ending is not None and message.ending is None:
        return attrs.evolve(message, about={"finish_reason": streamed.ending, **message.about})
    return message


def _of_error(value: Any, _: str | None, __: Limits) -> Transcript | None:
    error = exchanges.error_in(value)
    if error is None:
        return None
    text = error if isinstance(error, str) else error.get("message")
    said = [text] if isinstance(text, str) else []
    about = {**value, "error": error}  # an event may hold it under another name
    return Transcript((ChatMessage(MessageBody(said), "assistant", about=about),))


def _of_answers(value: Any, format_name: str | None, limits: Limits) -> Transcript | None:
    """Return the run of the whole answer of a service: a message for each choice."""
    answers = exchanges.answers_in(value)
    runs = []
    for answer in answers:
        run = _of_request(exchanges.from_constructors(answer.message), format_name, limits)
        first, *others = run.messages or (ChatMessage(MessageBody()),)
        about = {**answer.about, **first.about}
        first = attrs.evolve(first, about=about, name=first.name or answer.name)
        runs.append(attrs.evolve(run, messages=(first, *others)))
    return Transcript.joined(runs) if runs else None


def _of_request(value: Any, format_name: str | None, limits: Limits) -> Transcript:
    """Return the run of a request to a service: what the system says comes first."""
    hint = exchanges.format_of_request(value)
    value, instructions = exchanges.instructions_in(value)
    messages = messages_in(value, format_name)
    if messages is None or not all(map(_is_known, messages)):
        run = _of_others(value, format_name, limits)
    elif not messages:
        run = Transcript((), format_name or hint)
    else:
        run = _read_all(format_name or _format_of(value, messages, hint), messages, limits)
    if isinstance(value, dict) and not is_message(value):
        listed = messages or _listed_in(value)
        if any(held is listed for held in value.values()):
            about = {name: held for name, held in value.items() if held is not listed}
            run = attrs.evolve(run, about={**about, **run.about})
    told = tuple(_instruction(each, run.format or hint, limits) for each in instructions)
    return attrs.evolve(run, messages=(*told, *run.messages))


def _instruction(value: Any, format_name: str | None, limits: Limits) -> ChatMessage:
    """Return what the system says before the first message."""
    if isinstance(value, str):
        return ChatMessage(MessageBody([value]), "system")
    return attrs.evolve(_read(format_name or USUAL, value, limits), role="system")


def _of_others(value: Any, format_name: str | None, limits: Limits) -> Transcript:
    """Return the run of one message, of a body, or of a list with something else in it."""
    listed = _listed_in(value)
    if listed and (format_name is None or not _is_one(format_name, value)):
        is_talk = any(map(_is_conversational, listed)) or all(map(detect, listed))
        body = None if is_talk or format_name is not None else _body(value, limits)
        if body is not None:
            return Transcript((ChatMessage(body, _stored_role(body)),))
        is_mixed = is_talk and not all(map(_is_known, listed))
        if isinstance(value, dict) or is_mixed or not detect(value):
            found = None if is_talk else stream_in(listed, format_name, limits)
            if found is not None:
                return Transcript((_streamed_message(found),), found.format)
            run = _of_each(listed, format_name, limits)
            if run is not None:
                return run
    if value == [] and format_name is None:
        return Transcript((ChatMessage(MessageBody()),))
    return _read_all(format_name or _format_of(value, [value]), [value], limits)


def _is_one(format_name: str, value: Any) -> bool:
    """Return whether a value is one message of a format, though it is a list."""
    found = format_of(format_name)
    if found is not None and found.messages_in(value) is not None:
        return False
    return evidence_of(adapter(format_name), value) > 0


def _body(value: Any, limits: Limits) -> MessageBody | None:
    """Return the body whose parts a list has, None if it is something else."""
    if not isinstance(value, list) or detect(value):
        return None
    try:
        return MessageBody.from_json(json.dumps(value), limits=limits)
    except (DecodeError, TypeError):
        return None


def _of_each(values: Sequence[Any], format_name: str | None, limits: Limits) -> Transcript | None:
    """Return the run of values that are not all messages; None if nothing in it can be read.

    Neighbours that are messages are read together, in the format of most of them.
    """
    said = [each for each in values if _is_conversational(each)]
    found = format_name or (_format_of(said, said) if said else None)
    runs = []
    for is_said, group in groupby(values, _is_conversational):
        if is_said and found is not None:
            runs.append(_read_all(found, [*group], limits))
        else:
            runs += [_of_one(each, found, limits) for each in group]
    return None if all(run.is_unread for run in runs) else Transcript.joined(runs)


def _is_known(value: Any) -> bool:
    return _is_conversational(value) or bool(detect(value))


def _is_conversational(value: Any) -> bool:
    return is_message(value) or is_item(value)


def _of_one(value: Any, found: str | None, limits: Limits) -> Transcript:
    """Return the run of a value among others, whose format is `found`, if they are messages."""
    if isinstance(value, Broken):
        problem = redact_urls(value.problem)
        return Transcript((ChatMessage(MessageBody([value.text]), problem=problem),))
    try:
        if found is None or _is_exchange(value) or (isinstance(value, list) and value):
            return _of_json(value, None, limits)
        if isinstance(value, dict):
            return Transcript((_read(found, value, limits),), found)
    except MessageBodyError:
        pass
    return Transcript((_unread_message(value, f"expected a message, got {_quoted(value)}"),))


def _quoted(value: Any) -> str:
    return redact_urls(quote(value, limit=80))


def _is_exchange(value: Any) -> bool:
    """Return whether a value holds messages and is none itself."""
    if exchanges.answers_in(value) or exchanges.error_in(value) is not None:
        return True
    return isinstance(value, dict) and bool(messages_of(value))


def _format_of(value: Any, messages: Sequence[Any], hint: str | None = None) -> str:
    """Return the format of messages: that of all of them, or else that with the most evidence.

    Arguments:
        value: what holds the messages.
        messages: the messages.
        hint: the format that is taken if several fit.
    """
    found = detect(value) or _likeliest_formats(messages)
    if not found:
        known = ", ".join(adapter_names())
        raise EnvelopeError(
            f"expected messages of a format that is known, got {_quoted(value)}; "
            f"the formats are {known}"
        )
    return hint if hint in found else USUAL if USUAL in found else found[0]


def _likeliest_formats(messages: Sequence[Any]) -> tuple[str, ...]:
    """Return the formats with the most evidence; a message of texts alone tells less."""
    counts: dict[str, float] = defaultdict(float)
    for message in messages:
        weight = 0.5 if _is_plain(message) else 1
        for name in detect(message):
            counts[name] += weight * min(evidence_of(adapter(name), message), _ENOUGH)
    most = max(counts.values(), default=0)
    return tuple(name for name in counts if counts[name] == most)


def _is_plain(message: Any) -> bool:
    held = message.get("content", message.get("parts")) if isinstance(message, dict) else None
    blocks = held if isinstance(held, list) else []
    return all(isinstance(each, dict) and each.keys() <= {"type", "text"} for each in blocks)


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
        return _unread_message(message, str(error))
    return _message(made, _role_in(message))


def _unread_message(message: Any, problem: str) -> ChatMessage:
    source = Part(json.dumps(message, indent=2, ensure_ascii=False), content_type=JSON)
    return ChatMessage(MessageBody([source]), _role_in(message), problem=redact_urls(problem))


def _problem(losses: Iterable[Loss]) -> str:
    """Return what is wrong with a message that could not be read."""
    return "; ".join(loss.why.removeprefix(UNREAD) for loss in losses) or "it can't be read"


def _message(made: Converted[MessageBody], role: str | None = None) -> ChatMessage:
    return _chat_message(made.value, made.rest, made.losses, role)


def _converted(made: Converted[Any], format_name: str | None) -> Transcript:
    """Return the run of what `to_bodies` or `to_body` returned."""
    if isinstance(made.value, MessageBody):
        return Transcript((_message(made),), format_name)
    rests = made.rest if isinstance(made.rest, list) else [None] * len(made.value)
    losses: dict[int | None, list[Loss]] = defaultdict(list)
    for loss in made.losses:
        number = loss.message if loss.message in range(len(rests)) else None
        losses[number].append(attrs.evolve(loss, message=None))
    messages = tuple(
        _unread_message(rest["message"], _problem(losses[number]))
        if is_unread(body, rest) else _chat_message(body, rest, losses[number])
        for number, (body, rest) in enumerate(zip(made.value, rests, strict=True))
    )  # fmt: skip
    return Transcript(messages, format_name or _common_format(rests), (*losses[None],))


def _common_format(rests: Sequence[Any]) -> str | None:
    found = {rest.get("format") if isinstance(rest, dict) else None for rest in rests}
    return found.pop() if len(found) == 1 else None


def _chat_message(
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
        rest=rest,
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
    return members_of(frame)
