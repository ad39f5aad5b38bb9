"""What the beginning of a long request of A2A says: whether what follows can still save it."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from messagebody._core import DEFAULT_LIMITS, Part
from messagebody.errors import MessageBodyError
from messagebody.frameworks.gate import NotPassed
from messagebody.schema import SchemaPart

_MARK: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[{}\[\],]', re.DOTALL)
"""A text, whose end may be missing, or what opens, ends or divides objects and lists."""
_CLOSING: Final = {b"{": b"}", b"[": b"]"}
_STEP: Final = 8192
"""How many bytes are waited for before they are looked at; then, a quarter of what is there."""
_MARKS: Final = 50_000
"""How many texts and marks are looked at: a server waits meanwhile."""


class Beginning:
    """The members of a request while they arrive, up to the last comma that is there.

    It knows only the stated types of parts. All else is left to the whole request.

    Arguments:
        taken: the schema parts of which each part has to match one, without their names.
        sending: the methods of JSON-RPC that send a message; None for a request of HTTP+JSON.
    """

    def __init__(self, taken: Sequence[SchemaPart], sending: set[str] | None) -> None:
        self._taken, self._sending = taken, sending
        self._next: float = _STEP
        self._at = self._marks = 0
        self._open = bytearray()  # the ends of all that is open, the innermost last
        self._whole: tuple[int, bytes] = (0, b"")  # up to where it is read, and what ends it there
        self._accepted: set[str] = set()
        self.id: Any = None

    def look(self, content: bytearray) -> None:
        """Look at all bytes so far.

        Raises:
            NotPassed: the agent takes no message that begins like this.
        """
        if len(content) < self._next:
            return
        self._next = len(content) * 1.25
        try:
            if self._read(content):
                end, ending = self._whole
                self._judge(json.loads(content[:end] + ending))
        except ValueError:
            self._next = math.inf  # what is no JSON is left to the whole

    def _read(self, content: bytearray) -> bool:
        """Return whether there is a comma that was not there before."""
        before = self._whole
        for found in _MARK.finditer(content, self._at):
            mark = found[0]
            if found[1] == b"":  # the rest of the text is not there
                break
            self._at = found.end()
            self._marks += 1
            if mark in _CLOSING:
                self._open += _CLOSING[mark]
            elif mark in {b"}", b"]"}:
                del self._open[-1:]
            elif mark == b",":
                self._whole = (found.start(), bytes(reversed(self._open)))
            if self._marks >= _MARKS or not 0 < len(self._open) <= DEFAULT_LIMITS.depth:
                raise ValueError("it is not looked at any further")
        return self._whole != before

    def _judge(self, request: Any) -> None:
        for index, part in enumerate(self._parts(request)):
            is_file = isinstance(part, Mapping) and part.get("kind") == "file"
            for kind in _member(part, "mediaType"), is_file and _member(part, "file", "mimeType"):
                if kind and isinstance(kind, str) and not self._accepts(kind):
                    raise NotPassed([(index, f"part {index} ({kind}): accepted by no schema part")])

    def _parts(self, request: Any) -> list[Any]:
        """Return the parts of a message; none if this may be another request, or has no id yet."""
        if self._sending is not None:
            self.id = _member(request, "id")
            is_sending = str(_member(request, "method")) in self._sending and "id" in request
            request = _member(request, "params") if is_sending else None
        parts = _member(request, "message", "parts")
        return parts if isinstance(parts, list) else []

    def _accepts(self, kind: str) -> bool:
        if kind not in self._accepted:
            try:
                known = Part("", content_type=kind).content_type
            except MessageBodyError:
                return True
            if not any(part.accepts(None, known) for part in self._taken):
                return False
            self._accepted.add(kind)
        return True


def _member(value: Any, *path: str) -> Any:
    """Return what is at a path of members; None if it leads nowhere."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
