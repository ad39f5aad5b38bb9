"""The stream of Amazon Bedrock's Converse: `ConverseStream`."""

from collections.abc import Callable
from typing import Any, Final

from messagebody.adapters.streams._accumulator import (
    Accumulator,
    AnotherMessage,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    input_so_far,
    joined_base64,
    member,
    objects,
    plain,
)

_EVENTS: Final = (
    "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop",
    "metadata",
)  # fmt: skip
_FAILURE: Final = "Exception"
"""The end of the names of events that report an error, such as `throttlingException`."""


class ConverseEvents(Accumulator):
    """Blocks with an index, which grow and stop; a text has no event that starts it."""

    format = "bedrock"
    members = _EVENTS

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._role: str | None = None
        self._blocks: list[dict[str, Any]] = []
        self._places: dict[int, int] = {}
        self._inputs: dict[int, Pieces] = {}
        self._stopped: set[int] = set()

    def feed(self, event: dict[str, Any]) -> None:
        """Take an event: an object whose one member says what it is."""
        if isinstance(event.get("event"), dict):  # as Strands Agents sends it on
            event = event["event"]
        kind = next((name for name in event if name in _EVENTS or name.endswith(_FAILURE)), None)
        if kind is None:
            raise UnknownEvent
        held = member(event, kind, dict)
        if kind.endswith(_FAILURE):
            self.fail({"error": {"type": kind, "message": held.get("message")}})
        elif kind == "messageStart":
            role = member(held, "role")
            if self._role is not None:
                raise AnotherMessage("a message started before")
            self.speak(role)
            self._role = role
        elif kind == "messageStop":
            self.is_finished = True
            self.note_end(held)
        elif kind != "metadata":
            self._of_block(kind, held)

    def _of_block(self, kind: str, held: dict[str, Any]) -> None:
        index = member(held, "contentBlockIndex", int)
        if self.is_finished:
            raise OutOfPlace("the message has stopped")
        if index in self._stopped:
            raise OutOfPlace(f"block {index} has stopped")
        if kind == "contentBlockStop":
            self._stopped.add(index)
        elif kind == "contentBlockStart":
            if index in self._places:
                raise OutOfPlace(f"block {index} has begun")
            self._start(index, member({"start": {}, **held}, "start", dict))
        else:
            self._delta(index, member(held, "delta", dict))

    def _start(self, index: int, start: dict[str, Any]) -> None:
        kind = next((name for name in _EMPTY if name in start), None)
        if kind is None:
            if start:
                raise UnknownEvent
            return  # the first delta says what it is
        block = dict(member(start, kind, dict))
        self._begin(index, {kind: {**block, **_EMPTY[kind]()}})

    def _begin(self, index: int, block: dict[str, Any]) -> dict[str, Any]:
        self._places[index] = len(self._blocks)
        self.begin(self._blocks, block)
        return block

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        place = self._places.get(index)
        block = None if place is None else self._blocks[place]
        kind = next((name for name in _DELTAS if name in delta), None)
        if kind is None:
            raise UnknownEvent
        _DELTAS[kind](self, index, block, delta)

    def _text(self, index: int, block: dict[str, Any] | None, delta: dict[str, Any]) -> None:
        text = member(delta, "text")
        if block is None:
            # A text is an object of pieces until it is known whether it is cited.
            block = self._begin(index, {"text": Pieces()})
        self.grow(_place(index, block, "text"), text)

    def _thought(self, index: int, block: dict[str, Any] | None, delta: dict[str, Any]) -> None:
        said = member(delta, "reasoningContent", dict)
        texts = {name: said[name] for name in ("text", "signature", "redactedContent")
                 if said.get(name) is not None}  # fmt: skip
        if not all(isinstance(text, str) for text in texts.values()):
            raise OutOfPlace("its thought is no text")
        if block is None:
            block = self._begin(index, {"reasoningContent": {}})
        held = _place(index, block, "reasoningContent")
        for name, text in texts.items():
            within = held
            if name != "redactedContent":
                within = held.setdefault("reasoningText", {"text": Pieces()})
            within.setdefault(name, Pieces())
            self.grow(within[name], text)

    def _input(self, index: int, block: dict[str, Any] | None, delta: dict[str, Any]) -> None:
        use = member(delta, "toolUse", dict)
        _place(index, block, "toolUse")
        self.grow(self._inputs.setdefault(index, Pieces()), use.get("input"))

    def _result(self, index: int, block: dict[str, Any] | None, delta: dict[str, Any]) -> None:
        content = _place(index, block, "toolResult")["content"]
        for piece in objects(delta, "toolResult"):
            if "text" not in piece:
                self.begin(content, piece)
                continue
            text = member(piece, "text")
            if not content or "text" not in content[-1]:
                self.begin(content, {"text": Pieces()})
            self.grow(content[-1]["text"], text)

    def _picture(self, index: int, block: dict[str, Any] | None, delta: dict[str, Any]) -> None:
        image, said = _place(index, block, "image"), member(delta, "image", dict)
        source = member({"source": {}, **said}, "source", dict)
        held = image.setdefault("source", {})
        for name, value in source.items():
            if name == "bytes":
                self.grow(held.setdefault(name, Pieces()), value)
            else:
                held[name] = value
        if said.get("error") is not None:
            self.note_end({"error": said["error"]})

    def _citation(self, index: int, block: dict[str, Any] | None, delta: dict[str, Any]) -> None:
        citation = member(delta, "citation", dict)
        if block is None:
            block = self._begin(index, {"text": Pieces()})
        _place(index, block, "text")
        block["citations"] = [*block.get("citations", ()), citation]

    def may_follow(self, event: dict[str, Any]) -> bool:
        """Return whether an event is about the message as a whole."""
        return "metadata" in event

    def whole(self) -> Any:
        """Return the message; the input of a call that was cut is its text."""
        return self.message(is_last=True)

    def message(self, *, is_last: bool = False) -> Any:
        """Return the message so far, with arguments of calls as far as they are certain."""
        blocks = [_message_block(block) for block in plain(self._blocks)]
        for index, text in self._inputs.items():
            is_whole = is_last or not self.is_cut() or index in self._stopped
            use = blocks[self._places[index]]["toolUse"]
            use["input"] = input_so_far(str(text), is_last=is_whole)
        for block in blocks:
            source = block["image"].get("source") if "image" in block else None
            if source is not None and "bytes" in source:
                source["bytes"] = joined_base64(source["bytes"])
        content = [block for index, block in zip(self._places, blocks, strict=True)
                   if "image" not in block or self._is_shown(index, block["image"])]  # fmt: skip
        return {"role": self._role or "assistant", "content": content}

    def _is_shown(self, index: int, image: dict[str, Any]) -> bool:
        """Return whether all of a picture has come: half of one is none."""
        return bool(image.get("source")) and (index in self._stopped or self.is_finished)


_EMPTY: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "toolUse": lambda: {"input": {}},
    "toolResult": lambda: {"content": []},
    "image": dict,
}
"""Blocks that an event starts, and what they have before their first delta."""
_DELTAS: Final = {
    "text": ConverseEvents._text,
    "toolUse": ConverseEvents._input,
    "reasoningContent": ConverseEvents._thought,
    "citation": ConverseEvents._citation,
    "toolResult": ConverseEvents._result,
    "image": ConverseEvents._picture,
}
"""What takes each kind of delta."""


def _place(index: int, block: dict[str, Any] | None, key: str) -> Any:
    if block is None:
        raise OutOfPlace(f"block {index} has not begun")
    if key not in block:
        raise OutOfPlace(f"block {index} has no place for its delta")
    return block[key]


def _message_block(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block as a message has it: a cited text is one of another kind."""
    if "citations" not in block:
        return block
    said = {"content": [{"text": block["text"]}], "citations": block["citations"]}
    return {"citationsContent": said}
