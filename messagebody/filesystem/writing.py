"""Files that become parts when they are closed, and vanish when something goes wrong."""

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from messagebody.filesystem.body_filesystem import MessageBodyFileSystem

__all__ = ["CompressingWriter", "PartWriter", "TextPartWriter"]


class PartWriter(io.BytesIO):
    """A file open for writing: its bytes become a part when it is closed.

    An exception inside `with` drops them and leaves the old content.
    """

    def __init__(
        self,
        filesystem: "MessageBodyFileSystem",
        path: str,
        old: bytes = b"",
        *,
        content_type: str | None = None,
        autocommit: bool = True,
    ) -> None:
        super().__init__()
        self.write(old)
        self._filesystem = filesystem
        self.path = path
        self._content_type = content_type
        self._autocommit = autocommit
        self._content: bytes | None = None
        self._discarded = False

    def close(self) -> None:
        """Keep what was written; in a transaction, until it is committed."""
        if self.closed:
            return
        self._content = self.getvalue()
        super().close()
        if self._autocommit and not self._discarded:
            self.commit()

    def commit(self) -> None:
        """Make the part."""
        if self._content is not None:
            self._filesystem._put(self.path, self._content, self._content_type)
            self._content = None

    def discard(self) -> None:
        """Drop what was written."""
        self._discarded = True
        self._content = None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()
        self.close()


class CompressingWriter(io.BufferedIOBase):
    """Compresses on the way into a `PartWriter`, which compressors would never close."""

    def __init__(self, target: PartWriter, compressor: Callable[..., Any]) -> None:
        self._target = target
        self._compressor = compressor(target, mode="w")

    def writable(self) -> bool:
        """Tell that it is open for writing."""
        return True

    def write(self, data: Any) -> int:
        """Compress some bytes."""
        written: int = self._compressor.write(data)
        return written

    def discard(self) -> None:
        """Drop what was written."""
        self._target.discard()

    def close(self) -> None:
        """Write the end of the compressed stream, and make the part."""
        if self.closed:
            return
        self._compressor.close()
        self._target.close()
        super().close()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()
        self.close()


class TextPartWriter(io.TextIOWrapper):
    """Text on its way into a `PartWriter`."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and isinstance(self.buffer, PartWriter | CompressingWriter):
            self.buffer.discard()
        self.close()
