"""Runs moto's server with objects that stay whole while they are read.

moto moves through an object's file without its lock when it computes the ETag, and closes the file
of an object that is replaced while others read it. S3 does neither: a reader gets all of the old
object or all of the new one.
"""

from typing import Any

from moto.s3.models import FakeKey
from moto.server import main

_Key: Any = FakeKey
_etag = _Key.etag.fget


def _locked_etag(key: FakeKey) -> Any:
    with key.lock:
        return _etag(key)


def _left_to_its_readers(key: FakeKey, garbage: bool = False) -> None:
    key.disposed = True  # its file is closed when nobody has it any more


if __name__ == "__main__":
    _Key.etag = property(_locked_etag)
    _Key.dispose = _left_to_its_readers
    main()
