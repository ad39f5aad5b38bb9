"""The stream of OpenAI's Responses."""

from typing import Any, Final

from messagebody.adapters.streams._accumulator import (
    Accumulator,
    CommonId,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    at,
    member,
    next_of,
    objects,
    plain,
)

# The growing member of an item, or the list that an index refers to.
_OF_ITEM: Final = {
    "function_call_arguments": "arguments", "mcp_call_arguments": "arguments",
    "custom_tool_call_input": "input", "code_interpreter_call_code": "code",
}  # fmt: skip
_OF_LIST: Final = {
    "output_text": ("content", "content_index", "text"),
    "refusal": ("content", "content_index", "refusal"),
    "reasoning_text": ("content", "content_index", "text"),
    "reasoning_summary_text": ("summary", "summary_index", "text"),
}  # fmt: skip
_TYPES: Final = {"reasoning_summary_text": "summary_text"}
"""The types of the parts of lists, where they are not the name of the event."""
_BEGINS: Final = (
    "response.created", "response.queued", "response.in_progress", "keepalive",
)  # fmt: skip
_STATES: Final = (
    "in_progress", "searching", "completed", "generating", "interpreting", "partial_image",
    "failed",
)  # fmt: skip
"""What a tool of the service reports of its work; the item that is done says it again."""
_ENDS: Final = (
    "response.completed", "response.incomplete", "response.failed", "response.cancelled",
)  # fmt: skip


class ResponsesEvents(Accumulator):
    """Items and contents, which are added, grow and are done; each event has a number."""

    format = "openai-responses"
    types = ("response.",)
    late = ("keepalive", "response.failed")  # which says again what an error has said

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._items: list[dict[str, Any]] = []
        self._number: int | None = None
        self._is_counted: bool | None = None
        self._first: Any = None
        self.role = "assistant"  # a response without items does not say it
        self._places: dict[int, int] = {}
        self._done: set[int] = set()
        self._id = CommonId()

    def feed(self, event: dict[str, Any]) -> None:
        """Take an event of a response."""
        kind = member(event, "type")
        if kind == "response.created" and isinstance(event.get("response"), dict):
            self._id.require(event["response"].get("id"))
        self._count(event)
        if kind == "error":
            # Its members are beside the type, or in an object as in the answer to a request.
            self.fail(
                event if isinstance(event.get("error"), dict) else {"error": _error_members(event)}
            )
        elif kind in _ENDS:
            response = member(event, "response", dict)
            if response.get("output"):
                self._items = objects(response, "output")
            self.shape += 1
            self.note_end({"status": kind.rpartition(".")[2], **response})
            self.end()
        elif "output_index" in event:
            self._of_item(kind.removeprefix("response."), event)
        elif kind not in _BEGINS:
            raise UnknownEvent

    def follow(self, event: dict[str, Any]) -> None:
        """Note the failure of a response; an error before it has said the same."""
        if self.ending is None and isinstance(response := event.get("response"), dict):
            self.note_end({"status": "failed", **response})

    def _count(self, event: dict[str, Any]) -> None:
        number = event.get("sequence_number")
        if type(number) is not int:
            return
        if self._number is not None and self._is_counted is None:
            # Some services write the same number always; the same event again is a mistake.
            self._is_counted = number != self._number or event.get("type") == self._first
        if self._number is not None and self._is_counted and number != self._number + 1:
            raise OutOfPlace(f"its number is {number}, where {self._number + 1} is next")
        self._number, self._first = number, self._first or event.get("type")

    def _of_item(self, kind: str, event: dict[str, Any]) -> None:
        index = member(event, "output_index", int)
        place = self._places.get(index)
        if kind == "output_item.added":
            # Other servers begin with another index, or have one index for all items.
            if place is not None and place not in self._done:
                raise OutOfPlace(f"item {index} has begun")
            item = plain(member(event, "item", dict))
            self._places[index] = len(self._items)
            self.begin(self._items, item)
            return
        if place is None and (item := _unannounced(kind)) is not None:
            place = self._places[index] = len(self._items)
            self.begin(self._items, item)
        if place is None:
            raise OutOfPlace(f"item {index} has not begun")
        if place in self._done:
            raise OutOfPlace(f"item {index} is done")
        if kind == "output_item.done":
            self._items[place] = plain(member(event, "item", dict))
            self._done.add(place)
            self.shape += 1
            return
        self._within(kind, event, self._items[place])

    def _within(self, kind: str, event: dict[str, Any], item: dict[str, Any]) -> None:
        name, _, step = kind.rpartition(".")
        if name in {"content_part", "reasoning_summary_part"}:
            key, index = ("content", "content_index") if name == "content_part" else (
                "summary", "summary_index",
            )  # fmt: skip
            parts = item[key] = objects(item, key)
            if step == "added":
                next_of(parts, event.get(index), "part")
                self.begin(parts, plain(member(event, "part", dict)))
            else:
                at(parts, event.get(index), "part")
                parts[event[index]] = plain(member(event, "part", dict))
        elif name in _OF_LIST:
            key, index, text = _OF_LIST[name]
            parts = item[key] = objects(item, key)
            place = event.get(index, 0)
            if place == len(parts):  # some services begin no parts
                self.begin(parts, {"type": _TYPES.get(name, name), text: ""})
            self._text(at(parts, place, "part"), text, step, event)
        elif name in _OF_ITEM:
            self._text(item, _OF_ITEM[name], step, event)
        elif kind == "output_text.annotation.added":
            part = at(objects(item, "content"), event.get("content_index"), "part")
            part["annotations"] = [*objects(part, "annotations"), member(event, "annotation", dict)]
        elif step not in _STATES:
            raise UnknownEvent

    def _text(self, holder: dict[str, Any], key: str, step: str, event: dict[str, Any]) -> None:
        if step == "delta":
            if not isinstance(holder.get(key), Pieces):
                before = holder.get(key)
                holder[key] = Pieces(before if isinstance(before, str) else "")
            self.grow(holder[key], event.get("delta"))
        elif step == "done" and isinstance(event.get(key), str):
            holder[key] = event[key]

    def message(self) -> Any:
        """Return the items so far, without those that have no content yet."""
        items = plain(self._items)
        return [
            item
            for item in items
            if item.get("type") != "image_generation_call" or item.get("result")
        ]


def _unannounced(kind: str) -> dict[str, Any] | None:
    """Return an item that some services do not announce: its first event tells what it is."""
    name = kind.rpartition(".")[0]
    if kind == "output_item.done":
        return {}
    if name not in _OF_LIST:
        return None
    if name.startswith("reasoning"):
        return {"type": "reasoning", "summary": []}
    return {"type": "message", "role": "assistant", "content": []}


def _error_members(event: dict[str, Any]) -> dict[str, Any]:
    return {key: event[key] for key in ("code", "message") if event.get(key) is not None}
