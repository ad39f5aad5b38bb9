"""Paths: quoted names, URLs of bodies in memory, and errors about paths."""

import contextlib
import os
import re
import secrets
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NoReturn

import attrs

from messagebody.errors import UnsafeReference

if TYPE_CHECKING:
    from messagebody._model.views import BodyFileSystem

# Characters that names can't hold, except "/" and the characters of fsspec's patterns. A lone
# surrogate of UTF-16 has no UTF-8 bytes, so it is not quoted, and its path is refused as a name.
_ODD_CHARACTER: Final = re.compile(r"[^A-Za-z0-9._/*?\[\]\ud800-\udfff-]")


def _quoted_characters() -> str:
    """Return a regular expression for one quoted character, without its first "_"."""
    odd = "|".join(f"{code:02X}" for code in range(128) if _ODD_CHARACTER.match(chr(code)))
    more = "_[89AB][0-9A-F]"
    # The well-formed sequences of UTF-8: exactly one for each character.
    return (
        f"(?:{odd}|(?:C[2-9A-F]|D[0-9A-F]){more}|E0_[AB][0-9A-F]{more}"
        f"|(?:E[1-9A-CEF]){more}{more}|ED_[89][0-9A-F]{more}"
        f"|F0_[9AB][0-9A-F]{more}{more}|F[1-3]{more}{more}{more}|F4_8[0-9A-F]{more}{more})"
    )


_QUOTED_CHARACTER: Final = _quoted_characters()
# A "_" that would be read as the beginning of a quoted character, or of a quoted "_", is quoted
# itself: "_20" is written "_5F20", and "_5F20" is "_5F5F20".
_QUOTED_UNDERSCORE: Final = f"5F(?=(?:5F)*{_QUOTED_CHARACTER})"
_TO_QUOTE: Final = re.compile(f"{_ODD_CHARACTER.pattern}|_(?=(?:5F)*{_QUOTED_CHARACTER})")
_QUOTED: Final = re.compile(f"_(?:{_QUOTED_UNDERSCORE}|{_QUOTED_CHARACTER})")


def quote_name(path: str) -> str:
    """Return the part name of a path that may hold any character.

    Each UTF-8 byte of a character that names can't hold is written as `_` and two upper-case hex
    digits. A `_` that already precedes such digits is written as `_5F`, so that two paths never
    have the same name. The characters of patterns, `*`, `?`, `[` and `]`, are left as they are.

    Examples:
        >>> quote_name("/rides/city=Oslo/my file.csv"), quote_name("/sales_2024.csv")
        ('/rides/city_3DOslo/my_20file.csv', '/sales_5F2024.csv')
    """
    return _TO_QUOTE.sub(lambda each: "".join(f"_{byte:02X}" for byte in each[0].encode()), path)


def unquote_name(name: str) -> str:
    """Return the only path that `quote_name` turns into a name.

    Only characters that a name can't hold are decoded: `_41` stays, because `A` needs no quoting.

    Examples:
        >>> unquote_name("/rides/city_3DOslo/a_41.csv")
        '/rides/city=Oslo/a_41.csv'
    """
    return _QUOTED.sub(_unquoted, name) if "_" in name else name


def _unquoted(match: re.Match[str]) -> str:
    return bytes.fromhex(match[0].replace("_", "")).decode()


# The first character of live URLs; no part name can hold it.
_MARK: Final = "@"
_live: "weakref.WeakValueDictionary[str, BodyFileSystem]" = weakref.WeakValueDictionary()


@attrs.frozen
class Live:
    """The target of a live URL, which is a URL of a body in memory.

    Arguments:
        token: the beginning of the URL.
        filesystem: the filesystem that made the URL, kept in use so that the URL works.
    """

    token: str
    filesystem: "BodyFileSystem"


def is_live(text: str) -> bool:
    """Return whether a URL without its protocol names a body in memory."""
    return text.startswith(_MARK)


def live_token(filesystem: "BodyFileSystem") -> str:
    """Return a new token for the URLs of a filesystem, valid while the filesystem is in use.

    The token can't be guessed: a URL from somebody else must not open a body of the program.
    """
    token = _MARK + secrets.token_hex(16)
    _live[token] = filesystem
    return token


def live_target(url: str) -> Live | None:
    """Return the target of a live URL; None for other URLs.

    Raises:
        FileNotFoundError: the body is not in this process, or no longer.
    """
    text = str(url).removeprefix("messagebody://")
    if not is_live(text):
        return None
    token = text.partition("/")[0]
    filesystem = _live.get(token)
    if filesystem is None:
        raise FileNotFoundError(
            "the body of this messagebody: URL is not in this process, or no longer; "
            "keep the body, and give other processes a file of it"
        )
    return Live(token, filesystem)


def fail(number: int, path: str, text: str | None = None) -> NoReturn:
    """Raise the error for a number, with the system's message if `text` is None.

    Raises:
        OSError: always, as the subclass for the number.
    """
    raise OSError(number, text or os.strerror(number), path)


@contextlib.contextmanager
def concerning(path: str) -> Iterator[None]:
    """Add the path to the error of a refused reference, as in errors about files."""
    try:
        yield
    except UnsafeReference as error:
        error.filename = path
        raise


def with_slash(path: str) -> str:
    """Return a path that ends with a slash."""
    return path if path.endswith("/") else path + "/"
