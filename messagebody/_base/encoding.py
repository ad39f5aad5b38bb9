"""The UTF-8 of long text, encoded while it is read."""

import io
import os
from typing import Any, Final

_CHARACTERS: Final = 65_536
"""Characters that are encoded at once."""


class EncodedText(io.RawIOBase):
    r"""Read text as UTF-8 without a second copy of it in memory.

    Arguments:
        text: the text.

    Examples:
        >>> file = EncodedText("Grüße")
        >>> file.seek(2), file.read(3)
        (2, b'\xc3\xbc\xc3')
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._begin()

    def _begin(self) -> None:
        self._position = 0
        self._next = 0
        self._left = b""

    def readable(self) -> bool:
        """Return true: it is to be read."""
        return True

    def seekable(self) -> bool:
        """Return true, though what is before a position is encoded again unless it is ASCII."""
        return True

    def tell(self) -> int:
        """Return the position in bytes."""
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer, and return their number; 0 at the end."""
        piece = self._take(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a position in bytes, and return it.

        Raises:
            ValueError: it is before the start.
        """
        target = offset
        if whence == os.SEEK_CUR:
            target += self._position
        elif whence == os.SEEK_END:
            target += self._size()
        if target < 0:
            raise ValueError(f"position {target} is before the start")
        if self._text.isascii():
            self._position = self._next = target
            self._left = b""
            return target
        if target < self._position:
            self._begin()
        while self._position < target and self._take(target - self._position):
            pass
        self._position = target
        return target

    def _size(self) -> int:
        if self._text.isascii():
            return len(self._text)
        starts = range(0, len(self._text), _CHARACTERS)
        return sum(len(self._text[at : at + _CHARACTERS].encode()) for at in starts)

    def _take(self, most: int) -> bytes:
        if not self._left:
            end = self._next + _CHARACTERS
            self._left = self._text[self._next : end].encode()
            self._next = end
        piece, self._left = self._left[:most], self._left[most:]
        self._position += len(piece)
        return piece
