"""Documents in stores: a file at a URL, read as a whole within a limit, or replaced as a whole."""

import errno
import os
from typing import Any

import attrs

from messagebody._base.text import quote, redact_url
from messagebody.errors import InvalidArgument, ObjectNotFound
from messagebody.storage._stores import open_store
from messagebody.storage._stores.base import Store
from messagebody.storage._stores.blobs import Bytes


@attrs.frozen
class StoredDocument:
    """A file in a store.

    Arguments:
        store: the store of the directory above it.
        key: its name there.
    """

    store: Store
    key: str

    @classmethod
    def at(cls, url: str, **options: Any) -> "StoredDocument":
        """Return the document at a URL; nothing is read.

        Arguments:
            url: such as "s3://bucket/messages/1.json".
            **options: those of `open_store`.

        Raises:
            InvalidArgument: it is not the URL of a file in a store.
        """
        above, _, key = url.rpartition("/")
        if not key or above.endswith((":", ":/")) or not {"?", "#"}.isdisjoint(url):
            got = quote(redact_url(url))
            raise InvalidArgument("the URL of a file in a store, as s3://bucket/m.json", got=got)
        return cls(open_store(above, **options), key)

    def read(self, most: int) -> bytes:
        """Return the content, or one byte more than `most` if it is longer.

        Raises:
            FileNotFoundError: it is not there.
            StoreError: the store can't be read.
        """
        try:
            # In one request, because pieces could belong to different versions.
            return self.store.read_range(self.key, 0, most + 1)
        except ObjectNotFound as error:
            shown = redact_url(self.store.url_of(self.key))
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown) from error

    def replace(self, data: bytes) -> None:
        """Write the content, which every store does as a whole or not at all."""
        self.store.put(self.key, Bytes(data), content_type="application/json", if_absent=False)


def read_url(url: str, most: int, **options: Any) -> bytes:
    """Return the content of a file in a store, or one byte more than `most` if it is longer.

    Raises:
        InvalidArgument: it is not the URL of a file in a store.
        FileNotFoundError: it is not there.
        StoreError: the store can't be read.
    """
    return StoredDocument.at(url, **options).read(most)


def write_url(url: str, data: bytes, **options: Any) -> None:
    """Write the content of a file in a store, as a whole or not at all.

    Raises:
        InvalidArgument: it is not the URL of a file in a store.
        StoreError: the store can't be written.
    """
    StoredDocument.at(url, **options).replace(data)
