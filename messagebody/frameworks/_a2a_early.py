"""What the beginning of a long request of A2A says: whether what follows can still save it."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from messagebody._core import DEFAULT_LIMITS, Part
from messagebody.errors import MessageBodyError
from messagebody.frameworks.gate import NotPassed
from messagebody.schema import SchemaPart

_TOKEN: Final = re.compile(
    rb'[ \t\r\n]*+(?:([{}\[\],:])|("[^"\\]*+(?:\\.[^"\\]*+)*+")|([^ \t\r\n{}\[\],:"]++)(?=.))',
    re.DOTALL,
)
_REST_OF_TEXT: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_STEP: Final = 8192
"""How many bytes are waited for before they are looked at."""
_SHORT: Final = 2048
"""The bytes of the longest text that is held."""
_TOKENS: Final = 50_000
"""How many keys, values and marks are looked at: a server waits meanwhile."""
_LONG: Final = object()
"""Stands for a text that is not held."""


class Beginning:
    """The members of a request while they arrive; of its texts, only short ones are held.

    It knows only the stated types of parts. All else is left to the whole request.

    Arguments:
        taken: the schema parts of which each part has to match one, without their names.
        is_sending: tells of a method of JSON-RPC whether it sends a message; None if the request is
            one of HTTP+JSON.
    """

    def __init__(
        self, taken: Sequence[SchemaPart], is_sending: Callable[[Any], bool] | None
    ) -> None:
        self._taken, self._is_sending = taken, is_sending
        self._held = bytearray()
        self._tokens = 0
        self._is_in_text = self._is_over = False
        # The keys and indexes that lead to what is read; a key is None until it is there.
        self._path: list[Any] = []
        self._said: dict[str, Any] = {}
        self._kind: Any = None
        self._refused: tuple[int, str] | None = None

    @property
    def id(self) -> Any:
        """The id of the call by JSON-RPC."""
        return self._said.get("id")

    def feed(self, content: bytes) -> None:
        """Take the next bytes.

        Raises:
            NotPassed: the agent takes no message that begins like this.
        """
        if self._is_over:
            return
        self._held += content
        if len(self._held) >= _STEP:
            self._read(bytes(self._held))
        if self._refused is not None and self._is_told():
            raise NotPassed([self._refused])

    def _is_told(self) -> bool:
        """Return whether this is known to be a message, and the id that an answer has."""
        said = self._said
        return self._is_sending is None or ("id" in said and self._is_sending(said.get("method")))

    def _read(self, held: bytes) -> None:
        at = 0
        while not self._is_over:
            found = (_REST_OF_TEXT if self._is_in_text else _TOKEN).match(held, at)
            if found is None:
                break
            at = found.end()
            if self._is_in_text:
                self._is_in_text = False
            else:
                self._take(*found.groups())
            self._tokens += 1
            self._is_over |= self._tokens >= _TOKENS
        rest = held[at:]
        if not self._is_in_text and len(rest) > _SHORT:
            self._is_in_text = rest.lstrip(b" \t\r\n").startswith(b'"')
            self._is_over |= not self._is_in_text
            self._value(_LONG)
        if self._is_in_text:
            # The end of an escape may come with the next bytes.
            rest = b"\\" * ((len(rest) - len(rest.rstrip(b"\\"))) % 2)
        self._held[:] = rest

    def _take(self, mark: bytes | None, text: bytes | None, other: bytes | None) -> None:
        if mark in {b"{", b"["}:
            self._path.append(None if mark == b"{" else 0)
        elif mark in {b"}", b"]"} and self._path:
            self._path.pop()
        elif mark == b"," and self._path:
            last = self._path[-1]
            self._path[-1] = last + 1 if isinstance(last, int) else None
        elif mark is None:
            try:
                self._value(json.loads(text or other or b""))
            except ValueError:
                self._is_over = True
        self._is_over |= not 0 < len(self._path) <= DEFAULT_LIMITS.depth

    def _value(self, value: Any) -> None:
        """Take a key, or a value that is neither an object nor a list."""
        path = self._path
        if path and path[-1] is None:
            path[-1] = value if isinstance(value, str) else ""
        elif len(path) == 1 and self._is_sending is not None and value is not _LONG:
            self._said[path[0]] = value if path[0] in {"id", "method"} else None
        else:
            inner = path if self._is_sending is None else path[1:] if path[:1] == ["params"] else []
            self._member(inner, value)

    def _member(self, path: list[Any], value: Any) -> None:
        match path:
            case ["message", "parts", int(), "kind"]:
                self._kind = (path[2], value)
            case ["message", "parts", int(), "mediaType"]:
                self._judge(path[2], value)
            case ["message", "parts", int(), "file", "mimeType"] if self._kind == (path[2], "file"):
                self._judge(path[2], value)

    def _judge(self, index: int, kind: Any) -> None:
        if self._refused is not None or not isinstance(kind, str) or not kind:
            return
        try:
            said = Part("", content_type=kind).content_type
        except MessageBodyError:
            return
        if not any(part.accepts(None, said) for part in self._taken):
            self._refused = (index, f"part {index} ({said}): accepted by no schema part")
