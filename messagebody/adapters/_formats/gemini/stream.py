"""The stream of Google's Gemini API."""

from typing import Any, Final

from messagebody.adapters.streams._accumulator import (
    Accumulator,
    OutOfPlace,
    UnknownEvent,
    joined_texts,
    member,
    objects,
)

_KNOWN: Final = {"candidates", "parts", "usageMetadata", "promptFeedback"}


class GeminiChunks(Accumulator):
    """Chunks with parts; neighbouring texts of one kind are joined."""

    format = "gemini"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._parts: list[Any] = []
        self._is_finished = False

    def feed(self, event: dict[str, Any]) -> None:
        """Take a response, or the content of one."""
        if not _KNOWN & event.keys():
            raise UnknownEvent
        candidates = objects(event, "candidates")
        if any(each.get("index") for each in candidates):
            raise OutOfPlace("it has another candidate than the first: this makes one message")
        contents = [event] if "parts" in event else [
            member({"content": {}, **each}, "content", dict) for each in candidates
        ]  # fmt: skip
        for part in (part for content in contents for part in objects(content, "parts")):
            if self._is_finished:
                raise OutOfPlace("the candidate has finished")
            if part.get("text") != "" or part.keys() - {"text", "thought"}:
                self.begin(self._parts, part)
        self._is_finished |= any(each.get("finishReason") for each in candidates)

    def message(self) -> Any:
        """Return the content so far."""
        parts = self._parts
        if self.join:
            parts = joined_texts(parts, "text", {"thought"}, end="thoughtSignature")
        return {"role": "model", "parts": [*parts]}

    def is_cut(self) -> bool:
        """Return whether the candidate has not finished."""
        return not self._is_finished
