"""A small honest format of nobody, and its stream: what another package would write."""

from typing import Any

from messagebody.adapters.dialects import (
    Call,
    Format,
    Item,
    Kind,
    Media,
    Misplaced,
    Reasoning,
    Result,
    Text,
    arguments_object,
    call_id,
    need,
    optional,
    some,
)
from messagebody.adapters.streams import (
    Accumulator,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    member,
    plain,
)

WORDS = {"user": "human", "assistant": "agent", "system": "board", "tool": "machine"}


class Notes(Format):
    """Messages of a note-taking service: an author, and a list of notes."""

    name = "notes"
    title = "Notes 1.0"
    place = "notes"
    kinds = (
        Kind("picture", ("image/png", "image/jpeg"), ("https",)),
        Kind("file", ("*/*",), name_slot="path", in_results=True),
    )
    roles = WORDS
    item_roles = {Call: frozenset({"assistant"}), Reasoning: frozenset({"assistant"})}  # noqa: RUF012

    def split(self, message: Any) -> tuple[list[Any], Any]:
        notes = message.get("notes") if isinstance(message, dict) else None
        if not isinstance(notes, list):
            raise Misplaced("/notes", "expected a list")
        return notes, None

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        return {"author": role, "notes": blocks}

    def role_of(self, message: Any) -> str | None:
        said: str | None = optional(message, "author")
        return {theirs: ours for ours, theirs in WORDS.items()}.get(str(said), said)

    def read_block(self, block: Any) -> Item | None:
        match block.get("is"):
            case "text":
                return Text(need(block, "text"))
            case "thought":
                return Reasoning(need(block, "text"))
            case "picture" if "at" in block:
                return Media("picture", optional(block, "of"), url=need(block, "at"))
            case "picture" | "file" as kind:
                name = optional(block, "name")
                data = need(block, "base64")
                return Media(kind, optional(block, "of"), name, encoded=data)
            case "call":
                return Call(optional(block, "id"), need(block, "tool"), need(block, "with", dict))
            case "result":
                return Result(optional(block, "to"), blocks=need(block, "notes", list))
        return None

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        match item:
            case Text():
                return {"is": "text", "text": item.text}
            case Reasoning():
                return {"is": "thought", "text": item.text}
            case Media(url=str()):
                return {"is": "picture", "of": item.media_type, "at": item.url}
            case Media():
                named = {} if item.name is None else {"name": item.name}
                data = {"of": item.media_type, **named, "base64": item.base64()}
                return {"is": item.kind, **data}
            case Call():
                arguments = arguments_object(item.arguments)
                return {"is": "call", "id": call_id(item), "tool": item.name, "with": arguments}
            case Result():
                return {"is": "result", "to": item.id, "notes": blocks}
        return None

    def knows(self, block: Any) -> bool:
        return isinstance(block, dict) and isinstance(block.get("is"), str)

    def detect(self, value: Any, /) -> bool:
        return isinstance(value, dict) and some(value.get("notes"), self.knows, may_be_empty=True)


class NotesEvents(Accumulator):
    """Notes that begin, grow and are closed, by their number."""

    format = "notes"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._notes: list[dict[str, Any]] = []
        self._open: dict[int, Pieces] = {}
        self._message: dict[str, Any] = {}

    def feed(self, event: dict[str, Any]) -> None:
        match event.get("event"):
            case "hello":
                self._message = dict(member(event, "message", dict))
            case "note":
                number = member(event, "number", int)
                if number != len(self._notes):
                    raise OutOfPlace(f"note {number} begins, where {len(self._notes)} is next")
                note = dict(member(event, "note", dict))
                if note.get("is") in ("text", "thought"):
                    note["text"] = Pieces()
                self.begin(self._notes, note)
                if isinstance(note.get("text"), Pieces):
                    self._open[number] = note["text"]
            case "more":
                number = member(event, "number", int)
                if number not in self._open:
                    raise OutOfPlace(f"note {number} is not open")
                self.grow(self._open[number], member(event, "text"))
            case "over":
                count = member(event, "words", int)
                self._message["words"] = count
                self.end()
            case _:
                raise UnknownEvent

    def message(self) -> Any:
        return {"author": "agent", **self._message, "notes": plain(self._notes)}
