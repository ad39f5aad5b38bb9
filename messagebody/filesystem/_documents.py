"""The document a body came from: read whole, written whole or not at all."""

import contextlib
import errno
import os
import threading
import weakref
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from messagebody._base.digests import sha256_of
from messagebody._base.files import lock_file, replace_file
from messagebody._base.text import redact_url
from messagebody._model.body import MessageBody
from messagebody.errors import DecodeError, MessageBodyError

# Locks of documents that are no local files, for the threads of this process.
_naming = threading.Lock()
_turns: "weakref.WeakValueDictionary[str, threading.Lock]" = weakref.WeakValueDictionary()


class Document:
    """A JSON document that holds a body, anywhere fsspec reaches.

    The URL is the program's own, as in fsspec's archives; it never comes from a message.
    """

    def __init__(self, url: str, protocol: str | None, options: dict[str, Any] | None) -> None:
        self.url = url
        options = dict(options or {})
        if protocol is not None:
            options["protocol"] = protocol
        self._filesystem, self._path = fsspec.core.url_to_fs(url, **options)
        self._digest = ""
        place = self._filesystem.unstrip_protocol(self._path)
        with _naming:
            self._turn = _turns.setdefault(place, threading.Lock())

    def load(self) -> MessageBody:
        """Read and decode the body.

        Raises:
            DecodeError: the document is not a body; a note says which document.
        """
        data = self._filesystem.cat_file(self._path)
        self._digest = sha256_of(data)
        try:
            return MessageBody.from_json(data)
        except DecodeError as error:
            error.add_note(f"in {redact_url(self.url)}")
            raise

    def save(self, body: MessageBody) -> None:
        """Write the body; a reader never sees half of it.

        Raises:
            OSError: the document can't be written; `EROFS` where nothing there can be; `ESTALE` if
                it is not the one that was read: what somebody else wrote would be lost. Of several
                threads, and for local files several processes, that save at once, one does. In
                other stores, two processes at once can still overwrite each other.
        """
        data = body.to_json_bytes() + b"\n"
        with self._alone():
            self._check_unchanged()
            self._replace(data)
            self._digest = sha256_of(data)

    def _alone(self) -> contextlib.AbstractContextManager[Any]:
        """Keep others away: a document that changes after the comparison would be lost."""
        if isinstance(self._filesystem, LocalFileSystem):
            return lock_file(self._path)
        # fsspec has no conditional writes, which would keep other processes away too.
        return self._turn

    def _check_unchanged(self) -> None:
        try:
            now = sha256_of(self._filesystem.cat_file(self._path))
        except FileNotFoundError:
            return  # nothing is there to be lost
        if now != self._digest:
            problem = "somebody else changed the document since it was read; read it again"
            raise OSError(errno.ESTALE, problem, redact_url(self.url))

    def _replace(self, data: bytes) -> None:
        if isinstance(self._filesystem, LocalFileSystem):
            replace_file(self._path, data)
            return
        try:
            # A transaction writes beside the document and puts it in its place at the end.
            with self._filesystem.transaction:
                self._filesystem.pipe_file(self._path, data)
        except MessageBodyError:
            raise
        except (NotImplementedError, ValueError) as error:  # what fsspec's read-only ones raise
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), redact_url(self.url)) from error
