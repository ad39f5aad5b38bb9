"""Kinds of values that commands take: how they are called and read."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

import click

from messagebody._core import parse_size, quote, require_token
from messagebody.errors import InvalidArgument, StoreError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_DURATION: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z]*)")
_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "day": 86_400, "days": 86_400}


def size(text: str) -> int:
    """Return the bytes of a size such as "256 KiB"; a number alone is bytes."""
    try:
        return parse_size(int(text) if text.isdecimal() else text)
    except (StoreError, ValueError) as error:
        raise click.BadParameter(str(error)) from error


def seconds(text: str) -> float:
    """Return the seconds of a time such as "15m" or "7 days"; a number alone is seconds."""
    match = _DURATION.fullmatch(text.strip())
    if match is None or match[2] not in _SECONDS:
        raise click.BadParameter(f"{quote(text)} is not a time; write 90s, 15m, 12h or '7 days'")
    return float(match[1]) * _SECONDS[match[2]]


def slashed(pattern: str) -> str:
    """Return a name or pattern with its first slash, which users may leave out."""
    return pattern if pattern.startswith(("/", "{/")) else "/" + pattern


# A mistyped URL would otherwise become a directory with that name.
_LIKE_A_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/*(.*)")
_SLASHES: Final = re.compile(r"(s3|gs|gcs|az|abfss?|file|memory|https?)//+(.*)", re.IGNORECASE)


def store_url(text: str) -> str:
    """Return the URL of a store; a text without "://" is a directory."""
    if "://" in text:
        return text
    if os.name != "nt" and re.match(r"[A-Za-z]:[/\\]", text):
        raise click.UsageError(
            f"{quote(text)} is a directory of Windows, and this is another system"
        )
    mistyped = _LIKE_A_URL.fullmatch(text) or _SLASHES.fullmatch(text)
    if mistyped:
        scheme, rest = mistyped[1].lower(), mistyped[2]
        raise click.UsageError(
            f"{quote(text)} is not a URL; write {quote(f'{scheme}://{rest}')}, "
            f"or {quote('./' + text)} for a directory of that name"
        )
    return Path(os.path.realpath(Path(text).expanduser())).as_uri()


def existing_store_url(text: str) -> str:
    """Return the URL of a store for reading; a directory must exist."""
    url = store_url(text)
    scheme, _, path, *_ = urlsplit(url)
    if scheme.lower() == "file" and not Path(unquote(path)).is_dir():
        meant = "" if "/" in text else f"; a bucket is s3://{text}"
        raise click.UsageError(f"there is no directory {quote(text)}{meant}")
    return url


def secret_in(path: str) -> str:
    """Return the secret in a file, without the line end that editors add."""
    try:
        # Some editors mark UTF-8 at the start of a file.
        found = Path(path).read_text("utf-8-sig").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise click.UsageError(f"can't read {quote(path)}: {reason}") from error
    if not found:
        raise click.UsageError(f"{quote(path)} is empty, and should hold a secret")
    return found


def token_in(path: str) -> str:
    """Return the token in a file."""
    try:
        return require_token(secret_in(path))
    except InvalidArgument as error:
        raise click.UsageError(f"{quote(path)}: {error}") from error


class ValueKind(click.ParamType[Any, str]):
    """A kind of value, the same in all commands.

    Arguments:
        name: its name in the help.
        read: returns the value of a text, or raises a click error.
        completed: what the shell completes it with: "file" or "dir".
    """

    def __init__(
        self, name: str, read: Callable[[str], Any] = str, completed: str | None = None
    ) -> None:
        self.name = name
        self._read = read
        self._completed = completed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of a text; none is read while the shell completes a command."""
        is_read = ctx is not None and ctx.resilient_parsing
        return value if is_read else self._read(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        """Let the shell complete a file or a directory."""
        from click.shell_completion import CompletionItem  # few calls complete a command

        kind = self._completed
        return [] if kind is None else [CompletionItem(incomplete, type=kind)]


_IS_TAKEN: Final = f"{__name__}.input"


class _InputFile(ValueKind):
    """A file, a URL that --allow opens, or "-" for standard input, which only one can be."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, unless another argument is standard input already."""
        if value == "-" and ctx is not None:
            if _IS_TAKEN in ctx.meta:
                raise click.UsageError("only one argument can be standard input")
            ctx.meta[_IS_TAKEN] = True
        return value


FILE: Final = _InputFile("FILE", completed="file")
NAME: Final = ValueKind("NAME")
PATH: Final = ValueKind("NAME", slashed)
PATTERN: Final = ValueKind("PATTERN", slashed)
PLACE: Final = ValueKind("STORE", completed="dir")
STORE: Final = ValueKind("STORE", store_url, "dir")
EXISTING_STORE: Final = ValueKind("STORE", existing_store_url, "dir")
SECRET: Final = ValueKind("FILE", secret_in, "file")
TOKEN: Final = ValueKind("FILE", token_in, "file")
SIZE: Final = ValueKind("SIZE", size)
TIME: Final = ValueKind("TIME", seconds)
