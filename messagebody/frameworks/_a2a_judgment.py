"""What a gate says of the messages of A2A, as JSON of 1.0 or 0.3, whoever serves them."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, Final

import attrs

from messagebody._core import DEFAULT_LIMITS, MessageBody, Part
from messagebody.agents import Agreement, negotiate
from messagebody.errors import EnvelopeError
from messagebody.frameworks._a2a_reading import body_of, parts_of
from messagebody.frameworks.gate import SHOWN, Door, NotPassed, begins_as_json
from messagebody.schema import MessageBodySchema, SchemaPart

AGREEMENT_KEY: Final = "messagebody.agreement"
REFUSED: Final = "the agent does not take this message"
_MODES: Final = 100
"""How many accepted modes of a request are read."""
_STEPS: Final = 10_000
"""The budget of each question about them: a server waits meanwhile, and clients write the modes."""
_KINDS: Final = {
    "input-required": "interrupt", "auth-required": "interrupt",
    "submitted": "notification", "working": "notification",
}  # fmt: skip
"""The kind of exchange that the message of a task's status is, by the state; no other is stated."""
_ROLES: Final = {False: "ROLE_AGENT", True: "agent"}


class Judgment:
    """The decisions about messages, tasks and lists of tasks.

    Arguments:
        door: the decisions about bodies.
    """

    def __init__(self, door: Door) -> None:
        self.door = door

    @cached_property
    def taken(self) -> tuple[SchemaPart, ...]:
        """The schema parts of which each part of a message has to match one; without their names.

        Their names may come later than their types.
        """
        schemas = [self.door.agent.input, *([] if self._answers is None else [self._answers])]
        return tuple(attrs.evolve(part, name=None) for schema in schemas for part in schema)

    def begin(self) -> "Artifacts":
        """Return a task's artifacts, none so far."""
        return Artifacts(self.door, self._weaker)

    @cached_property
    def _weaker(self) -> "Weaker":
        return Weaker.of(self.door.agent.output)

    @property
    def _answers(self) -> MessageBodySchema | None:
        interrupt = self.door.agent.exchanges.get("interrupt")
        return None if interrupt is None else interrupt.answers

    def enter(self, message: Any) -> None:
        """Raise an error unless the agent takes a message.

        A message that goes on with a task may also be the answer to an interrupt: which of both it
        is, the protocol does not say.

        Raises:
            NotPassed: the agent does not take it.
            MessageBodyError: it can't be read.
        """
        answers = self._answers if goes_on(message) else None
        body = body_of(message, is_foreign=True)
        if answers is None or not self.door.accepts(answers, body):
            self.door.enter(body)

    def agree(self, modes: Any) -> Agreement | None:
        """Return the agreement about accepted output modes; None if they are not stated."""
        if isinstance(modes, list) and all(isinstance(each, str) for each in modes):
            return negotiate(self.door.agent, modes[:_MODES], steps=_STEPS)
        return None

    async def finding(self, result: Any, *, is_about_tasks: bool = False) -> str | None:
        """Return the id under which the log says why an answer may not leave; None if it may.

        Arguments:
            result: a message, a task or one of both in the member of this name; a list of tasks.
            is_about_tasks: whether the answer is a task, or a list of tasks, and no message.
        """
        if not isinstance(result, Mapping):
            return None
        if not is_about_tasks:
            message = result if "parts" in result else result.get("message")
            if isinstance(message, Mapping):
                found = await self.door.leaves(partial(self._leave, message))
                if found is not None or "task" not in result:
                    return found
        listed = result.get("tasks") if is_about_tasks else None
        tasks = listed if isinstance(listed, list) else [result.get("task", result)]
        for task in tasks:
            leave = partial(self._leave_task, task, is_listed=tasks is listed)
            found = await self.door.leaves(leave)
            if found is not None:
                return found
        return None

    async def unread(self, content: bytes, problem: ValueError) -> str | None:
        """Return the id under which the log says why an answer may not leave; None if it may.

        Arguments:
            content: an answer that a strict reader does not take; what is no JSON at all may leave.
            problem: the flaw.
        """
        return await self.unreadable(str(problem)) if begins_as_json(content) else None

    async def unreadable(self, problem: str) -> str | None:
        """Return the id of the log about an answer that can't be read; None if it may leave."""

        def refuse() -> None:
            raise EnvelopeError(f"the answer can't be read: {problem}")

        return await self.door.leaves(refuse)

    def _leave(self, message: Any, schema: MessageBodySchema | None = None) -> None:
        self.door.require(self.door.agent.output if schema is None else schema, body_of(message))

    def _leave_task(self, task: Any, *, is_listed: bool) -> None:
        if not isinstance(task, Mapping):
            return
        artifacts = artifacts_of(task)
        if state_of(task) != "completed":
            sofar = self.begin()
            for artifact in artifacts:
                sofar.take(artifact)
            self.leave_status(task)
        elif artifacts:
            parts = [part for each in artifacts for part in parts_of(each)]
            role = _ROLES["kind" in task]
            self._leave({"messageId": "artifacts", "role": role, "parts": parts})
        elif not is_listed:  # a list may leave artifacts out, and then the message is not all
            self.leave_status(task)

    def leave_status(self, task: Mapping[str, Any]) -> None:
        """Raise an error unless the message of a status, if there is one, may leave."""
        status, state = task.get("status"), state_of(task)
        message = status.get("message") if isinstance(status, Mapping) else None
        if not isinstance(message, Mapping):
            return
        exchange = self.door.agent.exchanges.get(_KINDS.get(state, ""))
        if state == "completed":
            self._leave(message)
        elif exchange is not None and exchange.sends is not None:
            self._leave(message, exchange.sends)


class StreamJudgment:
    """The judgment of the events of a stream, one after the other.

    Arguments:
        judge: the gate's decisions.
        has_begun: whether the task began before the stream, so that there may be artifacts which
            the stream does not have.
    """

    def __init__(self, judge: Judgment, *, has_begun: bool) -> None:
        self._judge, self._has_begun = judge, has_begun
        self._artifacts = judge.begin()

    async def finding(self, sent: Any) -> str | None:
        """Return the id under which the log says why an event may not leave; None if it may."""
        if not isinstance(sent, Mapping):
            return None
        kind, leaves = sent.get("kind"), self._judge.door.leaves
        update = sent if kind == "artifact-update" else sent.get("artifactUpdate")
        if isinstance(update, Mapping):
            return await leaves(partial(self._grow, update))
        status = sent if kind == "status-update" else sent.get("statusUpdate")
        if isinstance(status, Mapping):
            return await leaves(partial(self._end, status))
        task = sent if kind == "task" else sent.get("task")
        if isinstance(task, Mapping):
            # All artifacts so far, whatever came before.
            self._has_begun, self._artifacts = False, self._judge.begin()
            found = await leaves(partial(self._restart, task))
            return found or await self._judge.finding({"task": task})
        return await self._judge.finding(sent)

    def _grow(self, update: Mapping[str, Any]) -> None:
        self._artifacts.take(
            update.get("artifact"),
            is_more=update.get("append") is True,
            is_all=update.get("append") is not True and update.get("lastChunk") is True,
        )

    def _restart(self, task: Mapping[str, Any]) -> None:
        for artifact in artifacts_of(task):
            self._artifacts.take(artifact)

    def _end(self, status: Mapping[str, Any]) -> None:
        if state_of(status) != "completed":
            self._judge.leave_status(status)
        elif self._has_begun:
            return
        elif self._artifacts.is_empty:
            self._judge.leave_status(status)
        else:
            self._artifacts.end()


@attrs.frozen
class Demand:
    """A required part of which only the content tells whether it is there.

    Arguments:
        schema: what it has to keep.
        bare: its name and type alone.
    """

    schema: MessageBodySchema
    bare: MessageBodySchema


@attrs.frozen
class Weaker:
    """What all messages have to keep that are no more than the beginning of an output.

    Arguments:
        bare: its names and types alone.
        may: the output without what is required.
        may_bare: both.
        demands: the required parts with a content of their own.
    """

    bare: MessageBodySchema
    may: MessageBodySchema
    may_bare: MessageBodySchema
    demands: tuple[Demand, ...]

    @classmethod
    def of(cls, output: MessageBodySchema) -> "Weaker":
        """Return what an output implies."""
        bare = _without_contents(output)
        owed = [part for part in output if part.required and part.content_schema is not None]
        demands = (Demand(MessageBodySchema([each]), _without_contents([each])) for each in owed)
        return cls(bare, _without_demands(output), _without_demands(bare), tuple(demands))


class Artifacts:
    """The artifacts of a task so far, of which only names and types are held.

    What is inside a part is looked at once it is surely whole: a value of JSON, and all parts of an
    artifact that comes in one piece. Of others only names and types are.

    Arguments:
        door: the decisions about bodies.
        weaker: the schemas that the agent's output implies.
    """

    def __init__(self, door: Door, weaker: "Weaker") -> None:
        self._door, self._weaker = door, weaker
        self._owed = weaker.demands
        self._seen: dict[str, dict[tuple[str | None, str], Part]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no artifact has a part."""
        return not any(self._seen.values())

    def take(self, artifact: Any, *, is_more: bool = False, is_all: bool = False) -> None:
        """Take an artifact, or more of its parts.

        Arguments:
            artifact: the artifact.
            is_more: whether its parts come after those that it has; else they replace them.
            is_all: whether no more of its parts can come.

        Raises:
            NotPassed: no message with these parts may leave.
            MessageBodyError: it can't be read.
        """
        parts, key = parts_of(artifact), _key_of(artifact)
        is_old = bool(parts) and isinstance(parts[0], Mapping) and "kind" in parts[0]
        body = body_of({"messageId": "a", "role": _ROLES[is_old], "parts": parts})
        seen = self._seen.setdefault(key, {})
        if not is_more:
            seen.clear()
        whole, pieces = [], {}
        for part, written in zip(body, parts, strict=False):
            pair = (part.name, part.content_type)
            stub = Part("", name=part.name, content_type=part.content_type)
            if is_all or (isinstance(written, Mapping) and "data" in written):
                whole.append(part)
            elif pair not in seen:
                pieces[pair] = stub
            seen[pair] = stub
        if len(self._seen) + len(seen) > _MOST_KINDS:
            raise NotPassed([(None, f"artifacts have more than {_MOST_KINDS} names and types")])
        self._door.require(self._weaker.may, MessageBody(whole))
        self._door.require(self._weaker.may_bare, MessageBody(pieces.values()))
        self._owed = tuple(
            each for each in self._owed if not self._is_met(each, whole, pieces.values())
        )

    def _is_met(self, demand: "Demand", whole: Iterable[Part], pieces: Iterable[Part]) -> bool:
        return any(self._door.accepts(demand.schema, MessageBody([part])) for part in whole) or any(
            demand.bare.is_valid(MessageBody([part])) for part in pieces
        )

    def end(self) -> None:
        """Raise `NotPassed` unless all parts together are what the agent may send."""
        together = {pair: part for seen in self._seen.values() for pair, part in seen.items()}
        self._door.require(self._weaker.bare, MessageBody(together.values()))
        if self._owed:
            demands = (
                (None, f"no part is the required {each.schema[0].label}") for each in self._owed
            )
            raise NotPassed(demands)


_MOST_KINDS: Final = DEFAULT_LIMITS.parts
"""How many artifacts, and names and types in one, a stream may have."""


def _without_contents(schema: Iterable[SchemaPart]) -> MessageBodySchema:
    return MessageBodySchema(attrs.evolve(part, content_schema=None) for part in schema)


def _without_demands(schema: Iterable[SchemaPart]) -> MessageBodySchema:
    return MessageBodySchema(attrs.evolve(part, required=False) for part in schema)


def goes_on(message: Any) -> bool:
    """Return whether a message names the task that it goes on with."""
    return isinstance(message, Mapping) and bool(message.get("taskId"))


def state_of(task: Any) -> str:
    """Return the state of a task as version 0.3 writes it; empty if there is none."""
    status = task.get("status") if isinstance(task, Mapping) else None
    state = status.get("state") if isinstance(status, Mapping) else None
    # 1.0 writes `TASK_STATE_INPUT_REQUIRED` where 0.3 writes `input-required`.
    said = state.lower() if isinstance(state, str) else ""
    return said.removeprefix("task_state_").replace("_", "-")


def artifacts_of(task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the artifacts of a task."""
    listed = task.get("artifacts")
    items = listed if isinstance(listed, list) else []
    return [each for each in items if isinstance(each, Mapping)]


def fields_of(problems: NotPassed) -> Iterator[tuple[str, str]]:
    """Yield the place in the request, and the words, of the violations that an answer has."""
    for at, problem in problems.problems[:SHOWN]:
        yield "message.parts" + ("" if at is None else f"[{at}]"), problem


def _key_of(artifact: Any) -> str:
    key = artifact.get("artifactId") if isinstance(artifact, Mapping) else None
    return key if isinstance(key, str) else ""
