"""Documents: files of JSON at a path, or at the URL of a store, read and written as a whole."""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._base.files import read_at_most, replace_file
from messagebody._base.guards import is_store_url, is_url, require_path
from messagebody._base.leaves import leaf
from messagebody._base.media_types import is_text
from messagebody._base.text import quote, redact_url
from messagebody.errors import InvalidArgument, MessageBodyError


def read_document(
    path: str | os.PathLike[str],
    limit: int,
    storage_options: Mapping[str, Any] | None,
    resolver: "messagebody.Resolver | None" = None,
) -> bytes:
    """Return the content of a document, or one byte more than the limit if it is longer.

    Arguments:
        path: the file, or its URL in a store; the program names it.
        limit: the most bytes that the caller accepts.
        storage_options: the options of `open_store`, for the URL of a store.
        resolver: reads the URL of a web server.

    Raises:
        InvalidArgument: it is the URL of a web server without a resolver, or no path at all.
        UnsafeReference: the resolver does not allow the URL.
        OSError: the file can't be read.
        StoreError: the store or the server can't be read.
    """
    if is_store_url(path):
        return leaf("read_url")(path, limit, **(storage_options or {}))  # type: ignore[no-any-return]
    if resolver is not None and isinstance(path, str) and is_url(path):
        return leaf("read_web")(path, limit, resolver)  # type: ignore[no-any-return]
    try:
        with Path(require_path(path)).open("rb") as stream:
            return read_at_most(stream, limit)
    except (InvalidArgument, OSError) as error:
        if hint := _reader_of(path):
            raise InvalidArgument("the path of a file", path, hint) from error
        raise


_JSON_TEXT: Final = re.compile(r"\s*[\[{]\s*[\"{\[\]}]")


def _reader_of(value: object) -> str:
    """Return the call that reads what somebody took for a path, or "" if it is one."""
    if isinstance(value, bytes | bytearray | memoryview) or (
        isinstance(value, str) and _JSON_TEXT.match(value)
    ):
        return "from_json(…) reads JSON"
    if isinstance(value, dict | list):
        return "from_dicts(…) reads parsed JSON"
    return "from_json(file.read()) reads an open file" if hasattr(value, "read") else ""


def write_document(
    path: str | os.PathLike[str], data: bytes, storage_options: Mapping[str, Any] | None
) -> None:
    """Write a document, completely or not at all.

    Arguments:
        path: the file, or its URL in a store; the program names it.
        data: the content.
        storage_options: the options of `open_store`, for a URL.

    Raises:
        InvalidArgument: it is the URL of a web server, or no path at all.
        OSError: the file can't be written; an existing file stays unchanged.
        StoreError: the store can't be written.
    """
    if is_store_url(path):
        leaf("write_url")(path, data, **(storage_options or {}))
    else:
        replace_file(require_path(path), data)


@contextlib.contextmanager
def in_document(
    path: str | os.PathLike[str], data: bytes, broken: type[MessageBodyError], advice: str = ""
) -> Iterator[None]:
    """Let what a reader raises name the document.

    Arguments:
        path: the file or URL.
        data: its content.
        broken: what the reader raises for content that it can't read; if the content is of another
            type, such as a picture, that is said instead.
        advice: what to do then.
    """
    try:
        yield
    except MessageBodyError as error:
        if isinstance(error, broken) and (problem := not_json(path, data)):
            raise broken(f"{problem}{advice}") from error
        error.add_note(f"in {quote(redact_url(os.fspath(path)))}")
        raise


def not_json(path: str | os.PathLike[str], data: bytes) -> str:
    """Return in words what a document holds that is not text, or "" if it is text or empty.

    Arguments:
        path: the file or URL.
        data: its content.
    """
    from messagebody._base import sniffing

    shown = redact_url(os.fspath(path))
    found = sniffing.content_type(data[: sniffing.HEAD], shown)
    if not data or is_text(found):
        return ""
    return f"{quote(shown)} is {found} and not JSON"
