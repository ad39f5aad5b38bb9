"""Runs moto's server with objects that stay whole while they are read.

moto moves through an object's file without its lock when it computes the ETag, and closes the file
of an object that is replaced while others read it. S3 does neither: a reader gets all of the old
object or all of the new one.
"""

import sys
from typing import Any

from moto.s3.models import FakeKey
from moto.server import main

_etag: Any = FakeKey.etag


def _locked_etag(key: FakeKey) -> Any:
    with key.lock:
        return _etag.fget(key)


def _left_to_its_readers(key: FakeKey, garbage: bool = False) -> None:
    key.disposed = True  # the file is closed when nobody has it any more


if __name__ == "__main__":
    FakeKey.etag = property(_locked_etag)
    FakeKey.dispose = _left_to_its_readers  # type: ignore[method-assign]
    sys.exit(main())
