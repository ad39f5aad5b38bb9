"""The values of a transcript: messages, and the steps of each."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Self

import attrs

from messagebody._core import JSON, MessageBody, Part, strict_json
from messagebody.adapters._contract import Loss
from messagebody.adapters._transcripts.message_facts import remains_of
from messagebody.adapters._vocabulary.items import (
    Call,
    Code,
    Item,
    Reasoning,
    Refusal,
    Result,
    is_of_provider,
)
from messagebody.adapters._vocabulary.part_names import is_withheld, items_of
from messagebody.adapters._vocabulary.stop_reasons import ending_in, has_failed, tells_failure

_KINDS: Final[dict[type[Item] | None, str]] = {
    Call: "call", Result: "result", Reasoning: "thought", Refusal: "refusal", Code: "code",
}  # fmt: skip

Place = tuple[int, int]
"""The position of a message in its run, and of a step in its message."""


@attrs.frozen
class Step:
    """One thing that a message does.

    Arguments:
        kind: "content" for a text or file, "call" and "result" of a tool, "thought", "refusal",
            "code", or "unknown" for a block of another kind.
        parts: the parts of the body that say it; for an unknown block, its JSON.
        id: what a call and its result have in common, if the format has ids.
        name: the tool; the type of an unknown block.
        arguments: what the tool is called with, as a JSON value.
        is_error: whether the result is an error, as it states or as its JSON says; None if neither
            says it.
        about: what its block states beside that, such as the title of a source.
        is_providers: whether the provider of the model runs the tool; it need not tell the result.
    """

    kind: str
    parts: tuple[Part, ...]
    id: str | None = None
    name: str | None = None
    arguments: Any = None
    is_error: bool | None = None
    about: dict[str, Any] = attrs.Factory(dict)
    is_providers: bool = False

    @property
    def ending(self) -> str | None:
        """How it ended, if otherwise than usual, such as "failed"."""
        return ending_in(self.about)


@attrs.frozen
class ChatMessage:
    """One message of a run.

    Arguments:
        body: its content.
        role: "user", "assistant", "system" or "tool", or a word of its own; None if it states none.
        name: who speaks, or what the message is called, such as its file.
        about: the members of the message that are not content, such as its id and the model.
        losses: what was lost when it was read.
        problem: why it could not be read; its body is then the message as JSON.
        rest: what `to_body` returned as `rest`.
    """

    body: MessageBody
    role: str | None = None
    name: str | None = None
    about: dict[str, Any] = attrs.Factory(dict)
    losses: tuple[Loss, ...] = ()
    problem: str | None = None
    rest: Any = None

    @property
    def ending(self) -> str | None:
        """How it ended, if otherwise than usual, such as "content_filter"."""
        return ending_in(self.about)

    @property
    def steps(self) -> list[Step]:
        """What the message says and does, in order."""
        parts = [*self.body]
        remains = remains_of(self.rest, parts)
        places = {id(part): number for number, part in enumerate(parts)}
        shown = (part for part in parts if not is_withheld(part))
        said = [
            (places[id(held[0])], 1, _step(item, held, remains.about(held)))
            for item, held in items_of(shown)
        ]
        unknown = [(place, 0, _unknown(block)) for place, block in remains.unknown]
        return [step for _, _, step in sorted([*unknown, *said], key=lambda each: each[:2])]


def _step(item: Item | None, parts: list[Part], about: dict[str, Any]) -> Step:
    kind = _KINDS.get(None if item is None else type(item), "content")
    if isinstance(item, Call):
        return Step(
            kind, (*parts,), item.id, item.name, item.arguments, about=about,
            is_providers=is_of_provider(item),
        )  # fmt: skip
    if isinstance(item, Result):
        is_error = True if item.is_error is None and tells_failure(parts) else item.is_error
        return Step(kind, (*parts,), item.id, item.name, is_error=is_error, about=about)
    is_error = has_failed(item.outcome) if isinstance(item, Code) and item.outcome else None
    return Step(kind, (*parts,), is_error=is_error, about=about)


def _unknown(block: Any) -> Step:
    members = block if isinstance(block, dict) else {}
    # Without a type, the one member says what it is, as in {"cachePoint": …}.
    kind = members.get("type") or (next(iter(members)) if len(members) == 1 else None)
    part = Part(strict_json.dumps(block), content_type=JSON)
    return Step("unknown", (part,), name=kind if isinstance(kind, str) else None)


@attrs.frozen
class Transcript:
    """A conversation of any format.

    Arguments:
        messages: its messages, in order.
        format: the format that it was read in; None for bodies, and for several formats.
        losses: what was lost beside the messages.
        about: what stands beside the messages, such as the tools of a request.

    Examples:
        >>> from messagebody.adapters import read_transcript
        >>> run = read_transcript([{"role": "user", "content": "Hello"}])
        >>> run.format, run.messages[0].role, run.messages[0].body.text
        ('openai-chat', 'user', 'Hello')
    """

    messages: tuple[ChatMessage, ...]
    format: str | None = None
    losses: tuple[Loss, ...] = ()
    about: dict[str, Any] = attrs.Factory(dict)

    @classmethod
    def joined(cls, runs: Iterable[Self]) -> "Transcript":
        """Return several runs as one, in their order."""
        found = [*runs]
        formats = {run.format for run in found if run.format is not None or not run.is_failure}
        told = [(number, run.about) for number, run in enumerate(found) if run.about]
        return cls(
            tuple(message for run in found for message in run.messages),
            formats.pop() if len(formats) == 1 else None,
            tuple(loss for run in found for loss in run.losses),
            told[0][1] if len(told) == 1 else {str(number): about for number, about in told},
        )

    @property
    def is_unread(self) -> bool:
        """Whether no message of it could be read."""
        return all(message.problem for message in self.messages)

    @property
    def is_failure(self) -> bool:
        """Whether it has nothing but what could not be read, and errors of services."""
        return all(message.problem or "error" in message.about for message in self.messages)

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
