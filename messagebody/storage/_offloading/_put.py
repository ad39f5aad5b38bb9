"""Storing content that is not in a body."""

import os
from typing import Any, BinaryIO

from messagebody._base.digests import sha256_of
from messagebody._base.limits import CHUNK
from messagebody._base.media_types import OCTET_STREAM
from messagebody._base.text import redact_url
from messagebody._base.threads import Stop
from messagebody._model.content import LocalFile, Reference
from messagebody.errors import InvalidArgument, StoreError
from messagebody.storage._offloading._transfer import FileBlob, Watched
from messagebody.storage._references.spool import Spool, SpoolBlob
from messagebody.storage._stores import Blob, Bytes, Store, open_store
from messagebody.storage._stores.objects import Verify, ensure


def put_content(
    store: str | os.PathLike[str] | Store,
    content: bytes | os.PathLike[str] | BinaryIO,
    *,
    content_type: str = OCTET_STREAM,
    verify: Verify | None = None,
    storage_options: dict[str, Any] | None = None,
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
        storage_options: the options of `storage.open_store`, if `store` is not an open store.

    Raises:
        StoreError: the store failed; see its subclasses.
        LocalFileChanged: the local file changed while it was read.

    Examples:
        >>> from messagebody.storage._offloading import put_content
        >>> reference = put_content("memory://tests", b"hello")
        >>> reference.size, reference.url[:22]
        (5, 'memory://tests/sha256/')
    """
    opened = open_store(store, **(storage_options or {}))
    verify = verify or ("digest" if opened.reads_back else None)

    def put(digest: str, blob: Blob) -> Reference:
        watched = Watched(blob, Stop())
        key = ensure(opened, digest, watched, content_type, verify)
        return Reference(opened.url_of(key), blob.size, digest)

    # A string is not accepted as a path, because it could also be content.
    if isinstance(content, os.PathLike):
        file = LocalFile.at(content)
        digest = file.digest()
        return put(digest, FileBlob(file, digest))
    if isinstance(content, bytes | bytearray | memoryview):
        data = bytes(content)
        return put(sha256_of(data), Bytes(data, sha256_of(data)))
    if not hasattr(content, "read"):
        hint = "encode text to bytes first"
        raise InvalidArgument("bytes, a Path or a binary file", content, hint)
    spool = _spooled(content, opened)
    try:
        return put(spool.digest, SpoolBlob(spool))
    finally:
        spool.close()


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
