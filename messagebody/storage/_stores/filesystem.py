"""Any fsspec filesystem as a store: memory, Google Cloud Storage, Azure, SFTP and others."""

import contextlib
import importlib
import posixpath
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from messagebody._base.limits import CHUNK
from messagebody._base.text import escape, redact_urls
from messagebody._base.threads import Interrupted
from messagebody.errors import AccessDenied, MessageBodyError, ObjectNotFound, StoreError
from messagebody.storage._stores.base import Stat, Store, harmless_cause, segments_of
from messagebody.storage._stores.blobs import Blob, Bytes

# Services require parts of at least 5 MiB; larger ones only cost memory.
_BLOCK = 8 * 1024 * 1024


class FilesystemStore(Store):
    """A prefix of an fsspec filesystem.

    Arguments:
        filesystem: an fsspec filesystem.
        root: the prefix, as a path of the filesystem.
        url: the prefix as a URL, with which references begin.
    """

    def __init__(self, filesystem: Any, root: str, url: str) -> None:
        self.filesystem = filesystem
        self.root = str(filesystem._strip_protocol(root)).rstrip("/")
        self.url = url

    def stat(self, key: str) -> Stat | None:
        """Return the metadata of a file."""
        with self._translated(key):
            try:
                return self._stat(key, self.filesystem.info(self._path(key)))
            except (FileNotFoundError, NotADirectoryError):
                return None

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        """Write a file, and commit it only after the blob was read completely."""
        # fsspec has no exclusive creation. Keys are digests, so in a race both write equal bytes.
        if if_absent and self.stat(key) is not None:
            return False
        path = self._path(key)
        with self._translated(key):
            # Object stores have no directories, but some fsspec filesystems need them created.
            self.filesystem.makedirs(posixpath.dirname(path), exist_ok=True)
            self._write(path, blob, self._type(content_type))
        return True

    def _write(self, path: str, blob: Blob, options: dict[str, Any]) -> None:
        if self._is_memory:
            self.filesystem.pipe_file(path, b"".join(blob.buffers(_BLOCK)))
            return
        # Nothing appears under the key before `commit`, if the filesystem supports that.
        stream = self.filesystem.open(path, "wb", block_size=_BLOCK, autocommit=False, **options)
        try:
            for chunk in blob.buffers(_BLOCK):
                stream.write(chunk)
            stream.close()
        except BaseException:
            _discard(stream)
            raise
        stream.commit()

    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return a range of a file."""
        with self._translated(key):
            if end <= start:
                return b""
            return bytes(self.filesystem.cat_file(self._path(key), start=start, end=end))

    def stream(self, key: str) -> Iterator[bytes]:
        """Yield the content of a file in order."""
        with self._translated(key):
            if self._is_memory:
                yield from Bytes(self.filesystem.cat_file(self._path(key))).buffers(CHUNK)
                return
            with self.filesystem.open(self._path(key), "rb") as stream:
                while chunk := stream.read(CHUNK):
                    yield chunk

    def iter_objects(self) -> Iterator[Stat]:
        """Yield every file below the prefix."""
        with self._translated(""):
            found = self.filesystem.find(self.root, detail=True)
        for path, info in found.items():
            stat = self._stat(path.removeprefix(self.root).lstrip("/"), info)
            if stat is not None:
                yield stat

    def delete(self, key: str) -> None:
        """Delete a file."""
        with self._translated(key), contextlib.suppress(FileNotFoundError):
            self.filesystem.rm_file(self._path(key))

    def _path(self, key: str) -> str:
        return "/".join([self.root, *segments_of(key, self.url)])

    def _stat(self, key: str, info: dict[str, Any]) -> Stat | None:
        if info.get("type") != "file":
            return None
        return Stat(key, int(info["size"]), _modified(info))

    def _type(self, content_type: str) -> dict[str, Any]:
        """Return the option of this filesystem for a content type, if it is known."""
        protocols = self._protocols()
        if protocols & {"gs", "gcs"}:
            return {"content_type": content_type}
        if protocols & {"abfs", "abfss", "az"}:
            settings = importlib.import_module("azure.storage.blob").ContentSettings
            return {"content_settings": settings(content_type=content_type)}
        return {}

    @property
    def _is_memory(self) -> bool:
        # It publishes a file on `open`, not on `close`, and all open files share a position.
        return "memory" in self._protocols()

    def _protocols(self) -> set[str]:
        protocols = self.filesystem.protocol
        return {protocols} if isinstance(protocols, str) else set(protocols)

    @contextlib.contextmanager
    def _translated(self, key: str) -> Iterator[None]:
        try:
            yield
        except (MessageBodyError, Interrupted):
            raise
        except FileNotFoundError as error:
            raise ObjectNotFound(store=self.url, key=key) from harmless_cause(error)
        except PermissionError as error:
            raise AccessDenied(store=self.url, key=key) from harmless_cause(error)
        except Exception as error:  # noqa: BLE001 - each client has its own errors
            raise StoreError(_problem(error), self.url, key) from harmless_cause(error)


def _problem(error: Exception) -> str:
    text = getattr(error, "strerror", None) or redact_urls(str(error))
    return escape(text, limit=300) or type(error).__name__


def _modified(info: dict[str, Any]) -> float | None:
    """Return the time of the last change of a file; None if it is unknown."""
    # Each filesystem has its own name for it.
    for name in ("mtime", "updated", "last_modified", "LastModified", "modified", "created"):
        value = info.get(name)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, int | float):
            return float(value)
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                return datetime.fromisoformat(value).timestamp()
    return None


def _discard(stream: Any) -> None:
    """Discard the written bytes; closing would publish them on filesystems without a commit."""
    with contextlib.suppress(Exception):
        stream.discard()
    with contextlib.suppress(AttributeError):  # a stream in memory, which publishes nothing
        stream.closed = True
