"""The policy of gates for A2A: its messages, tasks and events, as JSON of 1.0 or 0.3."""

from collections.abc import Container, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final, NoReturn

import attrs

from messagebody._core import MessageBody, Part
from messagebody.adapters import adapter
from messagebody.agents import Agent, Agreement, negotiate
from messagebody.errors import EnvelopeError
from messagebody.frameworks.gate import NotPassed, OnOutput, SchemaGuard
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.storage import Resolver

AGREEMENT_KEY: Final = "messagebody.agreement"
REFUSED: Final = "the agent does not take this message"
_MOST_PARTS: Final = 10_000
"""How many parts a message may have that somebody else wrote, and artifacts a task."""
_MODES: Final = 100
"""How many accepted modes of a request are read."""
_STEPS: Final = 10_000
"""The budget of each question about them: a server waits meanwhile, and clients write the modes."""
_EXCHANGES: Final = {
    "input-required": "interrupt", "auth-required": "interrupt",
    "submitted": "notification", "working": "notification",
}  # fmt: skip
"""The kind of exchange that the message of a task's status is, by the state; no other is stated."""
_SPELT_TWICE: Final = {"media_type", "mime_type"}
_NEW_ONLY: Final = {"raw", "url", "filename", "mediaType", *_SPELT_TWICE}
_OLD_ONLY: Final = {"file", *_SPELT_TWICE}
_CONTENT_OF_FILE: Final = {"fileWithBytes": "bytes", "fileWithUri": "uri"}
"""The members of a file in HTTP+JSON of 0.3, and what JSON-RPC of 0.3 calls them."""
_ODD_IN_FILE: Final = _SPELT_TWICE | _CONTENT_OF_FILE.keys()


class ExtensionMissing(EnvelopeError):
    """Report a client that does not declare an extension which an agent requires."""


class A2AGuard(SchemaGuard):
    """Decide what may pass to an agent that is served by A2A, and from it.

    `required` is the URI of an extension that clients have to declare; empty for none.
    """

    def __init__(
        self, agent: Agent, resolver: Resolver | None, on_output: OnOutput, required: str
    ) -> None:
        super().__init__(agent, resolver, on_output)
        self._required = required

    @cached_property
    def taken(self) -> tuple[SchemaPart, ...]:
        """The schema parts of which each part of a message has to match one; without their names.

        Their names may come later than their types.
        """
        parts = [*self.agent.input, *(self.answers or ())]
        return tuple(attrs.evolve(part, name=None) for part in parts)

    @cached_property
    def beginning(self) -> MessageBodySchema:
        """What some whole parts of an output have to keep."""
        return MessageBodySchema(attrs.evolve(part, required=False) for part in self.agent.output)

    @cached_property
    def pieces(self) -> MessageBodySchema:
        """What pieces of its parts have to keep: names and types alone."""
        return MessageBodySchema(attrs.evolve(part, content_schema=None) for part in self.beginning)

    @cached_property
    def required(self) -> tuple[MessageBodySchema, ...]:
        """A schema for each part that an output has to have."""
        return tuple(MessageBodySchema([part]) for part in self.agent.output if part.required)

    def check_declared(self, extensions: Container[str]) -> None:
        """Raise `ExtensionMissing` unless a client declares what it has to."""
        if self._required and self._required not in extensions:
            raise ExtensionMissing(f"this agent requires the extension {self._required}")

    async def enter(
        self, message: Any, modes: Any, *, size: int = 0
    ) -> "tuple[Outgoing, Agreement | None]":
        """Check a message; return the judgment of its answer, and the agreement about its modes."""
        await self.decide(partial(self.check_message, message), size=size)
        agreement = None
        if isinstance(modes, list) and all(isinstance(each, str) for each in modes):
            agreement = negotiate(self.agent, modes[:_MODES], max_steps=_STEPS)
        return Outgoing(self, has_begun=_goes_on(message)), agreement

    def check_message(self, message: Any) -> None:
        """Raise an error unless the agent takes a message.

        A message that goes on with a task may also be the answer to an interrupt: which of both it
        is, the protocol does not say.

        Raises:
            NotPassed: the agent does not take it.
            MessageBodyError: it can't be read, or servers read it differently.
        """
        parts = _parts_of(message)
        if len(parts) > _MOST_PARTS:
            raise EnvelopeError(f"a message has at most {_MOST_PARTS:,} parts here")
        _require_one_reading(message, parts)
        self.check_input(_body(parts), may_answer=_goes_on(message))


class Outgoing:
    """What a server sends on one call: a whole answer, or events, one after the other.

    What is inside a part is looked at once it is surely whole: a value of JSON, and all parts of an
    artifact that comes in one piece. Of others only names and types are. No content is held.

    Arguments:
        guard: the policy.
        has_begun: whether the task began before, so that not all of its artifacts may come.
    """

    def __init__(self, guard: A2AGuard, *, has_begun: bool) -> None:
        self._guard, self._has_begun = guard, has_begun
        # Which required parts each artifact has.
        self._met: dict[str, set[int]] = {}

    def check(self, sent: Any) -> None:
        """Raise a `MessageBodyError` unless an answer, or an event, may leave.

        Arguments:
            sent: a message, a task, a list of tasks, an update, or what has them as members.
        """
        if not isinstance(sent, Mapping):
            return
        kind = sent.get("kind")
        for update in _objects(sent if kind == "artifact-update" else sent.get("artifactUpdate")):
            is_more = update.get("append") is True
            is_whole = not is_more and update.get("lastChunk") is True
            for artifact in _objects(update.get("artifact")):
                self._take(artifact, is_more=is_more, is_whole=is_whole)
        for update in _objects(sent if kind == "status-update" else sent.get("statusUpdate")):
            self._check_update(update)
        for message in _objects(sent if "parts" in sent else sent.get("message")):
            self._guard.check_output(_body(_parts_of(message)))
        for task in _objects(sent.get("tasks")):
            self._check_task(task, is_listed=True)
        for task in _objects(sent.get("task", sent)):
            if "artifacts" in task or ("status" in task and kind != "status-update"):
                self._check_task(task)

    def _check_task(self, task: Mapping[str, Any], *, is_listed: bool = False) -> None:
        artifacts, is_done = _objects(task.get("artifacts")), _state_of(task) == "completed"
        is_output = is_done and bool(artifacts)
        # These are all artifacts so far, whatever came before.
        self._met, self._has_begun = {}, is_output
        if is_output:
            parts = [part for each in artifacts for part in _parts_of(each, default=[])]
            self._guard.check_output(_body(parts))
            return
        for artifact in artifacts:
            self._take(artifact)
        if not (is_done and is_listed):  # a list may leave artifacts out
            self._check_status(task)

    def _take(
        self, artifact: Mapping[str, Any], *, is_more: bool = False, is_whole: bool = False
    ) -> None:
        """Take an artifact, or more of its parts; else they replace those that it has."""
        guard, parts = self._guard, _parts_of(artifact, default=[])
        whole: list[Part] = []
        pieces: list[Part] = []
        for part, written in zip(_body(parts), parts, strict=True):
            (whole if is_whole or "data" in written else pieces).append(part)
        guard.require(guard.beginning, whole)
        guard.require(guard.pieces, pieces)
        key = str(artifact.get("artifactId"))
        met = self._met.get(key, set()) if is_more else set()
        self._met[key] = met | {
            number
            for number, each in enumerate(guard.required)
            if any(each[0].accepts(part.name, part.content_type) for part in pieces)
            or any(guard.accepts(each, [part]) for part in whole)
        }
        if len(self._met) > _MOST_PARTS:
            raise NotPassed([(None, f"more than {_MOST_PARTS:,} artifacts")])

    def _check_update(self, update: Mapping[str, Any]) -> None:
        if _state_of(update) != "completed" or not (self._met or self._has_begun):
            self._check_status(update)
        elif not self._has_begun:
            met = {number for each in self._met.values() for number in each}
            required = enumerate(self._guard.required)
            missing = [each[0].label for number, each in required if number not in met]
            if missing:
                raise NotPassed((None, f"no part is the required {each}") for each in missing)

    def _check_status(self, task: Mapping[str, Any]) -> None:
        state, status = _state_of(task), task.get("status")
        kind = None if state == "completed" else _EXCHANGES.get(state, "other")
        for message in _objects(status.get("message") if isinstance(status, Mapping) else None):
            if kind != "other":
                self._guard.check_output(_body(_parts_of(message)), kind)


def _goes_on(message: Any) -> bool:
    """Return whether a message names the task that it goes on with."""
    return isinstance(message, Mapping) and bool(message.get("taskId"))


def fields_of(problems: NotPassed) -> list[tuple[str, str]]:
    """Return the place in the request, and the words, of each violation."""
    return [
        ("message.parts" + ("" if at is None else f"[{at}]"), problem)
        for at, problem in problems.problems
    ]


def unread(problem: Exception) -> NoReturn:
    """Raise the error of an answer that nobody can look at."""
    raise EnvelopeError(f"the answer can't be read: {problem}") from problem


def _state_of(task: Mapping[str, Any]) -> str:
    """Return the state of a task as version 0.3 writes it; empty if there is none."""
    status = task.get("status")
    state = status.get("state") if isinstance(status, Mapping) else None
    # 1.0 writes `TASK_STATE_INPUT_REQUIRED` where 0.3 writes `input-required`.
    written = state.lower() if isinstance(state, str) else ""
    return written.removeprefix("task_state_").replace("_", "-")


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """Return an object, or those of a list."""
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, Mapping)]


def _body(parts: Sequence[Any]) -> MessageBody:
    is_old = bool(parts) and isinstance(parts[0], Mapping) and "kind" in parts[0]
    read = adapter("a2a-0.3" if is_old else "a2a").to_body([*parts])
    if len(read.value) != len(parts):
        where = next((loss.where for loss in read.losses), "parts")
        raise EnvelopeError(f"{where}: expected a part with one of text, raw, url, data and file")
    return read.value


def _require_one_reading(message: Mapping[str, Any], parts: Sequence[Any]) -> None:
    """Raise an error if servers read a message differently.

    One that knows one version passes over the members of the other, and one that reads JSON as
    protocol buffers or pydantic do takes a second spelling of some.
    """
    odd = {"content"} if {"parts", "content"} <= message.keys() else set()
    for part in _objects(parts):
        odd |= part.keys() & (_NEW_ONLY if "kind" in part else _OLD_ONLY)
        for file in _objects(part.get("file")):
            odd |= file.keys() & _ODD_IN_FILE
    if odd:
        shown = ", ".join(sorted(odd))
        raise EnvelopeError(f"members of another version or spelling of the protocol: {shown}")


def _parts_of(message: Any, default: list[Any] | None = None) -> list[Any]:
    """Return the parts of a message or an artifact in the words of 1.0, or of JSON-RPC of 0.3.

    HTTP+JSON of 0.3 has words of its own: `content` for the parts, and others in files.
    """
    parts = message.get("parts") if isinstance(message, Mapping) else None
    if isinstance(parts, list):
        return [_respelt(part) for part in parts]
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, list) and "parts" not in message:
        return [_respelt(_unwrapped(part)) for part in content]
    if default is None:
        raise EnvelopeError("a message has a list of parts")
    return default


def _respelt(part: Any) -> Any:
    """Return a part without members that are null, which servers pass over."""
    if not isinstance(part, Mapping):
        return part
    # `data` may be a null of its own.
    kept = {key: value for key, value in part.items() if value is not None or key == "data"}
    if not isinstance(kept.get("file"), Mapping):
        return kept
    file = {key: value for key, value in kept["file"].items() if value is not None}
    contents = file.keys() & _CONTENT_OF_FILE.keys()
    is_known = kept.keys() <= {"file", "metadata"} and file.keys() <= {
        *contents,
        "mimeType",
        "name",
    }
    if len(contents) != 1 or not is_known:
        return {**kept, "file": file}
    spelt = {_CONTENT_OF_FILE.get(key, key): value for key, value in file.items()}
    return {**kept, "kind": "file", "file": spelt}


def _unwrapped(part: Any) -> Any:
    """Return a part of HTTP+JSON of 0.3 with its data as the other bindings have them."""
    held = part.get("data") if isinstance(part, Mapping) and "kind" not in part else None
    return {**part, "data": held["data"]} if isinstance(held, Mapping) and "data" in held else part
