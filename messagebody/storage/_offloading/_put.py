"""Storing content that is not in a body, and local files that must not change meanwhile."""

import os
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

import attrs

from messagebody._base.digests import Hasher, sha256_of
from messagebody._base.limits import CHUNK
from messagebody._base.media_types import OCTET_STREAM
from messagebody._base.text import redact_url
from messagebody._model.content import LocalFile, Reference
from messagebody.errors import InvalidArgument, LocalFileChanged, StoreError
from messagebody.storage._references.spool import Spool, SpoolBlob
from messagebody.storage._stores import Bytes, Store, open_store
from messagebody.storage._stores.objects import Verify, ensure


def put_content(
    store: str | os.PathLike[str] | Store,
    content: bytes | os.PathLike[str] | BinaryIO,
    *,
    content_type: str = OCTET_STREAM,
    verify: Verify | None = None,
) -> Reference:
    """Store content under its digest and return a reference to it: URL, size and digest.

    A large local file is streamed, and equal content is stored once. A file object is read to its
    end first, because its key is its digest; content of more than 8 MiB goes to a temporary file.

    Arguments:
        store: a store, its URL, or the path of a directory.
        content: bytes, the path of a local file, or a binary file object.
        content_type: its content type, if the store keeps content types.
        verify: after storing, check the "size", or read the content back to check the "digest",
            which is the default for directories.

    Raises:
        StoreError: the store failed; see its subclasses.
        LocalFileChanged: the local file changed while it was read.

    Examples:
        >>> from messagebody.storage import put_content
        >>> reference = put_content("memory://tests", b"hello")
        >>> reference.size, reference.url[:22]
        (5, 'memory://tests/sha256/')
    """
    opened = open_store(store)
    put = partial(ensure, opened, content_type=content_type, verify=verify)
    # A string is not accepted as a path, because it could also be content.
    if isinstance(content, os.PathLike):
        file = LocalFile.at(content)
        digest = file.digest()
        return put(digest, FileBlob(file, digest))
    if isinstance(content, bytes | bytearray | memoryview):
        data = bytes(content)
        digest = sha256_of(data)
        return put(digest, Bytes(data, digest))
    if not hasattr(content, "read"):
        hint = "encode text to bytes first"
        raise InvalidArgument("bytes, a Path or a binary file", content, hint)
    spool = _spooled(content, opened)
    try:
        return put(spool.digest, SpoolBlob(spool))
    finally:
        spool.close()


@attrs.frozen
class FileBlob:
    """A local file that must still have a known digest."""

    file: LocalFile
    digest: str

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self.file.size

    def read(self) -> bytes:
        """Return the whole file."""
        data = self.file.read_bytes()
        self._check(sha256_of(data))
        return data

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield the bytes of the file; raise an error at the end if the digest differs."""
        hasher = Hasher()
        with self.file.open() as stream:
            while chunk := stream.read(length):
                hasher.update(chunk)
                yield chunk
            # If the file grew after the last read, its size has changed.
            self.file.check(stream)
        self._check(hasher.digest)

    def _check(self, digest: str) -> None:
        if digest != self.digest:
            raise LocalFileChanged(str(self.file.path), "it changed while it was read")


def _spooled(content: BinaryIO, store: Store) -> Spool:
    spool = Spool()
    with spool.closed_on_error():
        while piece := content.read(CHUNK):
            if not isinstance(piece, bytes):
                raise StoreError(
                    "the file gives text; open it in binary mode, 'rb'", redact_url(store.url)
                )
            spool.write(piece)
    return spool
