"""Where offloaded bytes live: directories, memory, S3, and whatever fsspec speaks.

`open_store` opens a store from a URL or a path. References to its objects are plain URLs, such
as `s3://bucket/prefix/sha256/…`; nothing but a `Resolver` that allows the store reads them.
"""

import os
import re
from typing import Any

from messagebody._text import redact_url
from messagebody.errors import MissingDependency, StoreError
from messagebody.stores.base import (
    CHUNK,
    Blob,
    Bytes,
    Stat,
    Store,
    Upload,
    digest_of,
)

__all__ = [
    "CHUNK",
    "Blob",
    "Bytes",
    "Stat",
    "Store",
    "Upload",
    "digest_of",
    "open_store",
]

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([A-Za-z0-9._-]*)((?:/[^?#\\\x00-\x20\x7f]*)?)")
_EXTRAS = {"gs": "gcs", "gcs": "gcs", "abfs": "azure", "abfss": "azure", "az": "azure"}


def open_store(
    place: "str | os.PathLike[str] | Store", *, filesystem: Any = None, **options: Any
) -> Store:
    """Open a store; nothing is read or written by opening it.

    Arguments:
        place: a URL such as "s3://bucket/prefix", "file:///srv/objects" or "memory://tests", a
            directory as an `os.PathLike`, or a store, which is returned as it is.
        filesystem: an fsspec filesystem to use instead of the one the scheme stands for.
        **options: of the filesystem; for s3:// profile, session, region, endpoint_url and the
            others of `messagebody.stores.s3.open_s3_store`.

    Raises:
        StoreError: the URL is none of a store, or holds secrets.
        MissingDependency: the filesystem of its scheme is not installed.

    Examples:
        >>> store = open_store("memory://tests")
        >>> store.put("greeting", Bytes(b"hello"), content_type="text/plain")
        True
        >>> store.read_range("greeting", 0, 4)
        b'hell'
    """
    if isinstance(place, Store):
        return place
    if isinstance(place, os.PathLike):
        return _open_directory(place)
    scheme, authority, path = _parse(place)
    if filesystem is not None:
        return _open_filesystem(filesystem, scheme, authority, path)
    if scheme == "file":
        return _open_directory_url(place)
    if scheme == "s3":
        from messagebody.stores.s3 import open_s3_store

        return open_s3_store(authority, path.strip("/"), **options)
    return _open_filesystem(_filesystem(scheme, options), scheme, authority, path)


def _parse(url: object) -> tuple[str, str, str]:
    match = _URL.fullmatch(url) if isinstance(url, str) else None
    if match is None:
        shown = redact_url(url) if isinstance(url, str) else type(url).__name__
        raise StoreError(
            f"{shown} is no store: give a URL such as 's3://bucket/prefix' (credentials come from "
            "the environment or a profile, never from the URL) or a pathlib.Path"
        )
    scheme, authority, path = match.groups()
    if not authority and scheme.lower() not in {"file", "local", "memory"}:
        raise StoreError(f"{url}: a store needs a bucket after {scheme}://")
    if any(segment in {".", ".."} for segment in path.split("/")) or "//" in path:
        raise StoreError(f"{url}: the path of a store has no empty, '.' or '..' segment")
    return scheme.lower(), authority, path


def _open_directory(path: "os.PathLike[str]") -> Store:
    from messagebody.stores.directory import FileStore

    return FileStore(path)


def _open_directory_url(url: str) -> Store:
    from messagebody.stores.directory import FileStore

    return FileStore.from_url(url)


def _open_filesystem(filesystem: Any, scheme: str, authority: str, path: str) -> Store:
    from messagebody.stores.filesystem import FilesystemStore

    place = f"{authority}{path}".rstrip("/")
    return FilesystemStore(filesystem, place, f"{scheme}://{place}")


def _filesystem(scheme: str, options: dict[str, Any]) -> Any:
    import fsspec

    try:
        return fsspec.filesystem(scheme, **options)
    except ImportError as error:
        if scheme in _EXTRAS:
            raise MissingDependency(f"a store at {scheme}://", _EXTRAS[scheme]) from error
        problem = f"a store at {scheme}:// needs a package that is not installed: {error}"
        raise StoreError(problem, f"{scheme}://") from error
    except ValueError as error:
        raise StoreError(f"no filesystem speaks {scheme}://", f"{scheme}://") from error
