"""Stores of offloaded bytes: directories, memory, S3, and every fsspec filesystem.

`open_store` opens a store from a URL or a path. `keep` stores bytes under their digest, and `fetch`
reads them back. References to objects are plain URLs, such as `s3://bucket/prefix/sha256/…`, and
are read only through a `Resolver` that allows the store.
"""

import functools
import importlib
import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from messagebody._base.guards import is_web_url
from messagebody._base.text import nearest, quote, redact_url
from messagebody.errors import MissingDependency, StoreError
from messagebody.storage._stores.base import Stat, Store, Upload, harmless_cause
from messagebody.storage._stores.blobs import Blob, Bytes
from messagebody.storage._stores.objects import fetch, keep
from messagebody.storage._stores.owners import owned

__all__ = [
    "Blob",
    "Bytes",
    "Stat",
    "Store",
    "Upload",
    "fetch",
    "keep",
    "open_store",
    "owned",
]

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([A-Za-z0-9._-]*)((?:/[^?#\\\x00-\x20\x7f]*)?)")
# References begin with the URL of their store, and readers refuse ambiguous URLs (see
# `messagebody.storage._references.url`). So a store must have a URL that can be read again.
_READABLE = re.compile(
    r"(?:s3://[A-Za-z0-9][A-Za-z0-9._-]{1,254}"
    r"|(?!s3:)[a-z][a-z0-9+.-]*://(?:[A-Za-z0-9][A-Za-z0-9._-]*)?)"
    r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%(?!0|1|2[EeFf]|5[Cc]|7[Ff])[0-9A-Fa-f]{2})++)*+"
)
# URLs of up to 8,192 characters are read, and a key takes about seventy.
_LONGEST = 8_000
# The stores with code of their own; fsspec opens all other URLs.
_OPENERS = {
    "file": "messagebody.storage._stores.directory:open_url",
    "s3": "messagebody.s3:open_url",
    "http": "messagebody.serving:UploadAddress",
    "https": "messagebody.serving:UploadAddress",
}
_DIRECTORY = re.compile(r"/|\.\.?(?:/|$)|~" + (r"|[A-Za-z]:[/\\]" if os.name == "nt" else ""))
"""How a directory as text begins. A word alone may be meant as a bucket."""
_EXTRAS = {"gs": "gcs", "gcs": "gcs", "abfs": "azure", "abfss": "azure", "az": "azure"}


def open_store(
    place: "str | os.PathLike[str] | Store",
    *,
    filesystem: Any = None,
    **options: Any,
) -> Store:
    """Return an open store; opening it reads and writes nothing.

    Arguments:
        place: a URL such as "s3://bucket/prefix", "file:///srv/objects" or "memory://tests"; a
            directory as an `os.PathLike`, or as text that begins with "/", "./", "../" or "~"; or a
            store, which is returned unchanged.
        filesystem: an fsspec filesystem to use instead of the default one of the scheme.
        **options: the options of the filesystem; for s3://, profile, session, region, endpoint_url
            and the others of `messagebody.s3._client.Settings`.

    Raises:
        StoreError: the URL is not the URL of a store, or has secrets.
        MissingDependency: the filesystem of the scheme is not installed.

    Examples:
        >>> store = open_store("memory://tests")
        >>> store.put("greeting", Bytes(b"hello"), content_type="text/plain")
        True
        >>> store.read_range("greeting", 0, 4)
        b'hell'
    """
    if isinstance(place, Store):
        return place
    if isinstance(place, str) and filesystem is None and is_web_url(place):
        problem = (
            "a web server is not a store; only offload writes there, to an upload address such as "
            "https://agent.example/uploads/"
        )
        raise StoreError(problem, f"{place.partition(':')[0].lower()}://")
    store = _open(place, filesystem, options)
    if not _READABLE.fullmatch(store.url) or "::" in store.url or len(store.url) > _LONGEST:
        raise StoreError(
            f"{redact_url(store.url)}: references to this store could not be read, because its "
            "name is too short or has characters that URLs of references must not have; choose a "
            "plain name, for a bucket of 3 to 63 characters"
        )
    return store


def open_destination(place: "str | os.PathLike[str] | Store", **options: Any) -> Store:
    """Return an open store to write to, which may be the upload address of a server.

    Arguments:
        place: what `open_store` takes, or the URL of an upload address.
        **options: those of `open_store`, or of `serving.UploadAddress`.
    """
    if isinstance(place, str) and is_web_url(place):
        return _opener("https")(place, **options)  # type: ignore[misc]
    return open_store(place, **options)


def _open(place: "str | os.PathLike[str]", filesystem: Any, options: dict[str, Any]) -> Store:
    if isinstance(place, str) and _DIRECTORY.match(place):
        place = Path(place).expanduser()
    if isinstance(place, os.PathLike):
        from messagebody.storage._stores.directory import FileStore

        return FileStore(place)
    scheme, authority, path = _parse(place)
    opener = None if filesystem is not None else _opener(scheme)
    if opener is not None:
        return opener(place, **options)
    from messagebody.storage._stores.filesystem import FilesystemStore

    if filesystem is None:
        filesystem = _filesystem(scheme, options)
    root = f"{authority}{path}".rstrip("/")
    return FilesystemStore(filesystem, root, f"{scheme}://{root}")


@functools.cache
def _opener(scheme: str) -> Callable[..., Store] | None:
    """Return the function that opens the URLs of a scheme; None if fsspec opens them."""
    if scheme not in _OPENERS:
        return None
    module, _, name = _OPENERS[scheme].partition(":")
    found: Callable[..., Store] = getattr(importlib.import_module(module), name)
    return found


def _parse(url: object) -> tuple[str, str, str]:
    match = _URL.fullmatch(url) if isinstance(url, str) else None
    if match is None:
        shown = redact_url(url) if isinstance(url, str) else type(url).__name__
        # A word may be meant as a directory or as a bucket.
        path = quote(f"./{url}") if isinstance(url, str) and ":" not in url else "'./directory'"
        raise StoreError(
            f"{shown} is not a store; a directory is {path} or a Path, a bucket is a URL such "
            "as 's3://bucket/prefix' (credentials come from the environment or a profile, never "
            "from the URL)"
        )
    scheme, authority, path = match.groups()
    # For other schemes the authority is a bucket or host, which a store must have.
    if not authority and scheme.lower() not in {"file", "local", "memory"}:
        raise StoreError(f"{url}: a store needs a bucket after {scheme}://")
    if any(segment in {".", ".."} for segment in path.split("/")) or "//" in path:
        raise StoreError(f"{url}: the path of a store has no empty, '.' or '..' segment")
    return scheme.lower(), authority, path


def _filesystem(scheme: str, options: dict[str, Any]) -> Any:
    import fsspec

    try:
        made = fsspec.get_filesystem_class(scheme)
        # Check the options first: a half-initialised object would raise again in its destructor.
        inspect.signature(made.__init__).bind(None, **options)
        return made(**options)
    except ImportError as error:
        if scheme in _EXTRAS:
            raise MissingDependency(f"a store at {scheme}://", _EXTRAS[scheme]) from error
        problem = f"a store at {scheme}:// needs a package that is not installed: {error}"
        raise StoreError(problem, f"{scheme}://") from error
    except ValueError as error:
        near = nearest(scheme, fsspec.available_protocols())
        meant = f"; did you mean {near}://?" if near else ""
        raise StoreError(f"no filesystem of this name is known{meant}", f"{scheme}://") from error
    except Exception as error:  # noqa: BLE001 - foreign code
        # Filesystems raise all kinds of errors, and many need options that a URL can't express.
        problem = (
            f"the filesystem of {scheme}:// could not be opened ({type(error).__name__}); create "
            "it yourself and pass it: open_store(url, filesystem=…)"
        )
        raise StoreError(problem, f"{scheme}://") from harmless_cause(error)
