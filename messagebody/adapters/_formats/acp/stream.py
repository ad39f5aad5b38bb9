"""The stream of the Agent Communication Protocol."""

from typing import Any, Final

from messagebody._core import TEXT_PLAIN
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    AnotherMessage,
    OutOfPlace,
    UnknownEvent,
    joined_texts,
    member,
    objects,
)

# The members of a plain text part besides its text; joining such parts loses nothing.
_PLAIN: Final = {"content_type", "content_encoding", "name", "content_url", "metadata"}

_FAILURES: Final = ("error", "run.failed", "run.cancelled")


class AgentEvents(Accumulator):
    """A message that is created, gets parts and is completed."""

    format = "acp"
    types = ("message.", "run.")
    late = ("run.", "generic", "error")

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._message: dict[str, Any] | None = None
        self._parts: list[Any] = []

    def feed(self, event: dict[str, Any]) -> None:
        """Take an event of a run."""
        kind = member(event, "type")
        if kind == "message.created":
            if self._message is not None:
                raise AnotherMessage("a message was created before")
            self._message = dict(member(event, "message", dict))
            for part in objects(self._message, "parts"):
                self.begin(self._parts, part)
        elif kind == "message.part":
            if self._message is None:
                raise OutOfPlace("no message was created")
            self.begin(self._parts, member(event, "part", dict))
        elif kind == "message.completed":
            if self._message is None:
                raise OutOfPlace("no message was created")
            said = member(event, "message", dict)
            self._parts = [*objects(said, "parts")] or self._parts
            self._message |= said
            self.end()
        elif kind == "run.completed":
            self.is_finished = True
        elif kind == "run.awaiting":
            self.aside["what the run waits for"] += 1
        elif kind in _FAILURES:
            self.fail(_failure_members(event))
        elif kind != "generic" and not kind.startswith("run."):
            raise UnknownEvent

    def follow(self, event: dict[str, Any]) -> None:
        """Note the failure of a run whose message was complete."""
        if event["type"] in _FAILURES:
            self.note_end(_failure_members(event))

    def message(self) -> Any:
        """Return the message so far."""
        parts = _joined(self._parts) if self.join else [*self._parts]
        return {"role": "agent", **(self._message or {}), "parts": parts}


def _failure_members(event: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a failure that tell it: those of the run, or of the error."""
    held = event.get("run")
    told: dict[str, Any] = held if isinstance(held, dict) else event
    state = event["type"].removeprefix("run.")
    return told if "error" in told else {**told, "status": state}


def _joined(parts: list[Any]) -> list[Any]:
    """Return parts in which neighbours of unnamed plain text are joined."""
    marked = [
        part if _is_plain(part) else {**part, "content": None, "held": part} for part in parts
    ]
    return [part.get("held", part) for part in joined_texts(marked, "content", _PLAIN)]


def _is_plain(part: dict[str, Any]) -> bool:
    held = (part.get("name"), part.get("content_url"), part.get("metadata"))
    return (
        held == (None, None, None)
        and part.get("content_type") in (None, TEXT_PLAIN)
        and part.get("content_encoding") in (None, "plain")
    )
