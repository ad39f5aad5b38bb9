"""The stream of Google's Gemini API."""

import re
from typing import Any, Final

from messagebody._core import DEFAULT_LIMITS, quote
from messagebody.adapters._formats.gemini.message import in_json
from messagebody.adapters._vocabulary.dialect import snake_case
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    CommonId,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    joined_texts,
    member,
    objects,
    plain,
)

_KNOWN: Final = frozenset({
    "candidates", "parts", "usageMetadata", "promptFeedback", "usage_metadata", "prompt_feedback",
    "error",
})  # fmt: skip
_ENDING: Final = frozenset({"promptFeedback", "prompt_feedback", "error"})
_COMMON: Final = frozenset({"content", "index"})
_ROLES: Final = {"model": "assistant"}
_SOURCES: Final = ("groundingMetadata", "citationMetadata", "urlContextMetadata")
"""Members of a candidate with what its text stands on."""
_STEP: Final = re.compile(r"""\.?([^.\[\]'"]+)|\[(\d{1,9})\]|\[(?:'([^']*)'|"([^"]*)")\]""")
"""A step of a JSON path: `.name`, `[0]`, `['name']`."""
_VALUES: Final = ("stringValue", "numberValue", "boolValue", "nullValue")


class GeminiChunks(Accumulator):
    """Chunks with parts; neighbouring texts of one kind are joined, and the pieces of a call."""

    format = "gemini"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._parts: list[Any] = []
        self._sources: dict[str, Any] = {}
        self._call: dict[str, Any] | None = None
        self._id = CommonId()

    def feed(self, event: dict[str, Any]) -> None:
        """Take a response, or the content of one."""
        if not _KNOWN & event.keys() and isinstance(event.get("response"), dict):
            event = event["response"]  # as some of Google's services wrap it
        if not _KNOWN & event.keys():
            raise UnknownEvent
        candidates = objects(event, "candidates")
        if any(each.get("index") for each in candidates):
            raise OutOfPlace("it has another candidate than the first: this makes one message")
        contents = [event] if "parts" in event else [
            member(each, "content", dict) for each in candidates if each.get("content") is not None
        ]  # fmt: skip
        parts = [in_json(part) for content in contents for part in objects(content, "parts")]
        self._id.require(event.get("responseId") or event.get("response_id"))
        for content in contents:
            role = content.get("role")
            if isinstance(role, str):
                self.speak(_ROLES.get(role, role))
        for part in parts:
            if part.get("text") != "" or part.keys() - _SILENT:
                self._take(part)
        for each in candidates:
            if each.keys() - _COMMON:
                self._note(each)
        if event.keys() & _ENDING:
            self._note_end_in(event)

    def _note(self, candidate: dict[str, Any]) -> None:
        """Note what a candidate states beside its content."""
        told = {name: _either(candidate, name) for name in _SOURCES}
        self._sources |= {name: about for name, about in told.items() if about}
        if candidate.get("finishReason") or candidate.get("finish_reason"):
            self.is_finished = True
            self.note_end(candidate)

    def _note_end_in(self, event: dict[str, Any]) -> None:
        """Note an end without a candidate: the request was blocked, or there is an error."""
        feedback = _either(event, "promptFeedback")
        if _either(feedback, "blockReason"):
            self.is_finished = True
            self.note_end(feedback)
        if event.get("error"):
            self.fail({"error": event["error"]}, ends=False)

    def _take(self, part: dict[str, Any]) -> None:
        said = None if "text" in part else part.get("functionCall")
        call = said if isinstance(said, dict) else None
        if call is not None and self._call is None and _is_nothing(call):
            self._sign(part)  # it ends a call that has ended before
            return
        # Older models state the usual end in each chunk.
        if self.is_finished and self.ending is not None:
            raise OutOfPlace("the candidate has finished")
        if call is not None and self._call is not None and _goes_on(self._call, call):
            self._grow_call(self._call, call)
            self._sign(part)
        elif call is not None and _is_open(call):
            self._begin_call(part, call)
        else:
            self._call = None
            self.begin(self._parts, part)

    def _sign(self, part: dict[str, Any]) -> None:
        """Keep what stands beside a later piece of a call, such as its signature."""
        beside = {name: part[name] for name in part if name != "functionCall"}
        if beside and self._parts and "functionCall" in self._parts[-1]:
            self._parts[-1] = {**self._parts[-1], **beside}

    # Calls in pieces

    def _begin_call(self, part: dict[str, Any], call: dict[str, Any]) -> None:
        if not call.get("name"):
            raise OutOfPlace("its call has not begun")
        made = {name: member(call, name) for name in ("id", "name") if call.get(name)}
        args = _either(call, "args")
        if isinstance(args, dict):
            made["args"] = _growing(args)
        others = {name: part[name] for name in part if name != "functionCall"}
        pieces = _pieces_of(call)
        self.begin(self._parts, {"functionCall": made, **others})
        self._call = made
        self._put(made, pieces)

    def _grow_call(self, open_call: dict[str, Any], call: dict[str, Any]) -> None:
        self._put(open_call, _pieces_of(call))
        if not _either(call, "willContinue"):
            self._call = None

    def _put(self, call: dict[str, Any], pieces: list[tuple[list[str | int], Any]]) -> None:
        for steps, value in pieces:
            root: dict[str, Any] = {"args": call.get("args", {})}
            self._put_at(root, ["args", *steps], value)
            call["args"] = root["args"]

    def _put_at(self, holder: Any, steps: list[str | int], value: Any) -> None:
        """Put a value at its path; text is added to the text that is there."""
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            held = self._held_at(holder, step)
            if following is not None:
                if held is None:
                    held = holder[step] = [] if isinstance(following, int) else {}
                holder = held
            elif isinstance(value, str):
                if not isinstance(held, Pieces):
                    held = holder[step] = Pieces()
                self.grow(held, value)
            else:
                holder[step] = value

    def _held_at(self, holder: Any, step: str | int) -> Any:
        """Return what is at a step of a path, None if it is free; a list grows by one at a time."""
        if isinstance(step, str) and isinstance(holder, dict):
            return holder.get(step)
        if isinstance(step, int) and isinstance(holder, list):
            if step == len(holder):
                self.begin(holder, None)
            if step < len(holder):
                return holder[step]
        raise OutOfPlace(f"the path of its arguments has {quote(step, limit=40)} out of place")

    def message(self) -> Any:
        """Return the content so far, within its candidate if that states sources."""
        parts = [*map(plain, self._parts)]
        if self.join:
            parts = joined_texts(parts, "text", {"thought"}, end="thoughtSignature")
        role = "model" if self.role in (None, "assistant") else self.role
        content = {"role": role, "parts": parts}
        return {"content": content, **_placed(self._sources, parts)} if self._sources else content


_SILENT: Final = frozenset({"text", "thought"})


def _either(holder: Any, name: str) -> Any:
    """Return a member in either spelling, None if it is missing."""
    if not isinstance(holder, dict):
        return None
    return holder[name] if name in holder else holder.get(snake_case(name))


def _placed(sources: dict[str, Any], parts: list[Any]) -> dict[str, Any]:
    """Return what a text stands on, where thoughts come before the text that it is about."""
    texts = (place for place, part in enumerate(parts) if part.keys() == {"text"})
    first, grounding = next(texts, 0), sources.get("groundingMetadata")
    if not first or not isinstance(grounding, dict):
        return sources
    supports = grounding.get("groundingSupports")
    if not isinstance(supports, list):
        return sources
    placed = [_moved(each, first) for each in supports]
    return {**sources, "groundingMetadata": {**grounding, "groundingSupports": placed}}


def _moved(support: Any, place: int) -> Any:
    segment = support.get("segment") if isinstance(support, dict) else None
    if not isinstance(segment, dict) or segment.get("partIndex"):
        return support
    return {**support, "segment": {**segment, "partIndex": place}}


def _is_nothing(call: dict[str, Any]) -> bool:
    return not (call.get("name") or _either(call, "partialArgs") or _either(call, "args"))


def _goes_on(open_call: dict[str, Any], call: dict[str, Any]) -> bool:
    """Return whether a piece of a call belongs to the one that is open."""
    said = {name: call.get(name) or open_call.get(name) for name in ("name", "id")}
    return all(open_call.get(name) in (None, held) for name, held in said.items())


def _is_open(call: dict[str, Any]) -> bool:
    return bool(_either(call, "willContinue") or _either(call, "partialArgs"))


def _growing(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _growing(held) for name, held in value.items()}
    return [*map(_growing, value)] if isinstance(value, list) else (
        Pieces(value) if isinstance(value, str) else value
    )  # fmt: skip


def _pieces_of(call: dict[str, Any]) -> list[tuple[list[str | int], Any]]:
    """Return the pieces of arguments, each with the steps of its path."""
    pieces = _either(call, "partialArgs")
    if not isinstance(pieces, list | None):
        raise OutOfPlace(f"its arguments are {quote(pieces, limit=40)}")
    return [(_steps(_either(piece, "jsonPath")), _value(piece)) for piece in pieces or ()]


def _value(piece: Any) -> Any:
    for name in _VALUES:
        value = _either(piece, name)
        if value is not None:
            return None if name == "nullValue" else value
    if isinstance(piece, dict) and not {"nullValue", "null_value"}.isdisjoint(piece):
        return None
    return ""  # an empty piece of text


def _steps(path: Any) -> list[str | int]:
    """Return the steps of a JSON path.

    Raises:
        OutOfPlace: it is no path that leads to one value.
    """
    if not isinstance(path, str) or not path.startswith("$"):
        raise OutOfPlace(f"the path of its arguments is {quote(path, limit=40)}")
    steps: list[str | int] = []
    position = 1
    while position < len(path):
        found = _STEP.match(path, position)
        if found is None or len(steps) >= DEFAULT_LIMITS.depth // 2:
            raise OutOfPlace(f"the path of its arguments is {quote(path, limit=40)}")
        name, number, *quoted = found.groups()
        text = name if name is not None else next((each for each in quoted if each is not None), "")
        steps.append(int(number) if number is not None else text)
        position = found.end()
    if not steps or isinstance(steps[0], int):
        raise OutOfPlace(f"the path of its arguments is {quote(path, limit=40)}")
    return steps
