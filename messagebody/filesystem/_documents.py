"""The document that holds a body: read as a whole, and written as a whole or not at all."""

import errno
import os
import threading
import weakref
from typing import Any, Final

import fsspec
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem

from messagebody._base.digests import sha256_of
from messagebody._base.files import replace_unchanged
from messagebody._base.forks import after_fork, lock_for_forks
from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.text import redact_url
from messagebody._model.body import MessageBody
from messagebody.errors import DecodeError, MessageBodyError
from messagebody.storage._stores.documents import StoredDocument

# Locks of documents that are not local files, between the threads of this process.
_locks_guard = lock_for_forks()
_locks: "weakref.WeakValueDictionary[str, threading.Lock]" = weakref.WeakValueDictionary()
after_fork(_locks.clear)


_WHOLE: Final = frozenset(
    {"memory", "s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci", "cos", "obs"}
)
"""The filesystems, besides that of local files, in which a file is replaced as a whole.

A process that is killed while it writes into any other one may leave an empty file behind.
"""


def _unwrapped(filesystem: Any, path: str) -> tuple[Any, str]:
    """Return the filesystem that a directory of it stands for, and the path there."""
    while isinstance(filesystem, DirFileSystem):
        filesystem, path = filesystem.fs, filesystem._join(path)
    return filesystem, path


class Document:
    """A JSON document that holds a body, in any place that fsspec can reach.

    The URL comes from the program, as in fsspec's archives, and never from a message.
    """

    def __init__(self, url: str, protocol: str | None, options: dict[str, Any] | None) -> None:
        self.url = url
        options = dict(options or {})
        self._digest = ""
        scheme, _, path = url.rpartition("://")
        self._stored: StoredDocument | None = None
        if (protocol or scheme) in ("s3", "s3a"):
            # By boto3, which is installed, and not by a filesystem for S3, which may not be.
            place = f"s3://{path}"
            self._stored = StoredDocument.at(place, **options)
        else:
            options |= {} if protocol is None else {"protocol": protocol}
            self._filesystem, self._path = _unwrapped(*fsspec.core.url_to_fs(url, **options))
            place = self._filesystem.unstrip_protocol(self._path)
        with _locks_guard:
            self._lock = _locks.setdefault(place, threading.Lock())

    def load(self) -> MessageBody:
        """Read and decode the body.

        Raises:
            DecodeError: the document is not a body; a note says which document.
        """
        data = self._read()
        self._digest = sha256_of(data)
        try:
            return MessageBody.from_json(data)
        except DecodeError as error:
            error.add_note(f"in {redact_url(self.url)}")
            raise

    def save(self, body: MessageBody) -> None:
        """Write the body; readers never see a partial document.

        If several threads save at the same time, one succeeds. The same is true of several
        processes and a local file. In other stores, two processes can still overwrite each other.

        Raises:
            OSError: the document can't be written: `EROFS` if its filesystem is read-only, or does
                not replace a file as a whole, `ESTALE` if somebody else changed it since it was
                read, because their changes would be lost.
        """
        data = body.to_json_bytes() + b"\n"
        if self._stored is None and isinstance(self._filesystem, LocalFileSystem):
            replace_unchanged(self._path, data, self._digest)
        else:
            # fsspec has no conditional writes, which would also guard against other processes.
            with self._lock:
                self._check_unchanged()
                self._replace(data)
        self._digest = sha256_of(data)

    def _check_unchanged(self) -> None:
        try:
            now = sha256_of(self._read())
        except FileNotFoundError:
            return  # nothing can be lost
        if now != self._digest:
            problem = "somebody else changed the document since it was read; read it again"
            raise OSError(errno.ESTALE, problem, redact_url(self.url))

    def _read(self) -> bytes:
        if self._stored is not None:
            return self._stored.read(DEFAULT_LIMITS.json_bytes)
        data: bytes = self._filesystem.cat_file(self._path)
        return data

    def _replace(self, data: bytes) -> None:
        if self._stored is not None:
            self._stored.replace(data)
            return
        kinds = self._filesystem.protocol
        if _WHOLE.isdisjoint([kinds] if isinstance(kinds, str) else kinds):
            problem = (
                f"Read-only file system: {type(self._filesystem).__name__} may leave half of a "
                "document behind; change the body elsewhere, and write its JSON there"
            )
            raise OSError(errno.EROFS, problem, redact_url(self.url))
        try:
            self._filesystem.pipe_file(self._path, data)
        except MessageBodyError:
            raise
        except (NotImplementedError, ValueError) as error:  # from fsspec's read-only ones
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), redact_url(self.url)) from error
