"""Spellings of paths: names with any character, and URLs of bodies that are in memory."""

import re
import secrets
import weakref
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from messagebody.filesystem.view import BodyView

# Of what names don't take, all but "/" and the characters of fsspec's patterns.
_ODD: Final = re.compile(r"[^A-Za-z0-9._/*?\[\]-]+")
_QUOTED: Final = re.compile(r"(?:_[0-9A-F]{2})+")
_TAKEN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/")


def quote_name(path: str) -> str:
    """Return the part name of a path that may hold any character.

    Each byte, in UTF-8, that a name does not take is written `_` and two upper-case hex digits.
    Patterns stay patterns: `*`, `?`, `[` and `]` are left as they are.

    Examples:
        >>> quote_name("/rides/city=Oslo/my file.csv")
        '/rides/city_3DOslo/my_20file.csv'
    """
    return _ODD.sub(lambda odd: "".join(f"_{byte:02X}" for byte in odd[0].encode()), path)


def unquote_name(name: str) -> str:
    """Return the path that `quote_name` made a name of.

    Only what a name does not take is decoded: `_41` stays, since `A` needs no quoting.

    Examples:
        >>> unquote_name("/rides/city_3DOslo/a_41.csv")
        '/rides/city=Oslo/a_41.csv'
    """
    return _QUOTED.sub(_unquoted, name) if "_" in name else name


def _unquoted(match: re.Match[str]) -> str:
    data = bytes.fromhex(match[0].replace("_", ""))
    if _TAKEN & {*data}:
        return match[0]
    try:
        return data.decode()
    except UnicodeDecodeError:
        return match[0]


# What URLs of live bodies begin with; no part name can hold the character.
_MARK: Final = "@"
_live: "weakref.WeakValueDictionary[str, BodyView]" = weakref.WeakValueDictionary()


def is_live(text: str) -> bool:
    """Tell whether a URL, without its protocol, names a body in memory."""
    return text.startswith(_MARK)


def live_token(filesystem: "BodyView") -> str:
    """Return what URLs of a filesystem begin with, for as long as the filesystem is used.

    The token can't be guessed: a URL from somebody else must not lead into a body of the program.
    """
    token = _MARK + secrets.token_hex(16)
    _live[token] = filesystem
    return token


def live_options(url: str) -> dict[str, Any]:
    """Return the arguments of the filesystem that a URL leads into; none for other URLs.

    Raises:
        FileNotFoundError: the body is not in this process, or no longer.
    """
    text = str(url).removeprefix("messagebody://")
    if not is_live(text):
        return {}
    filesystem = _live.get(text.partition("/")[0])
    if filesystem is None:
        raise FileNotFoundError(
            "the body of this messagebody: URL is not in this process, or no longer; "
            "keep the body, and give other processes a file of it"
        )
    options: dict[str, Any] = filesystem.storage_options
    return options
