"""What other packages add by entry points: found by name, and left out where it does harm."""

import warnings
from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from messagebody._base.text import escape, quote, redact_urls
from messagebody.errors import MessageBodyError


def installed(group: str, own: Collection[str]) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; none of them is loaded.

    It warns of each that is left out: its name is one of `own`, or another package has it.

    Arguments:
        group: the group, such as "messagebody.adapters".
        own: the names that no package may take.
    """
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        if entry.name in own:
            warn_of(described(entry), "messagebody has something of this name itself")
        elif found.setdefault(entry.name, entry).value != entry.value:
            warn_of(described(entry), f"{described(found[entry.name])} has its name")
    return found


def load(entry: EntryPoint) -> Any:
    """Return the object of an entry point.

    Raises:
        MessageBodyError: it can't be loaded; the text names the package.
    """
    found, why = _loaded(entry)
    if why:
        raise MessageBodyError(f"{described(entry)} can't be loaded: {why}")
    return found


# What fails once is not tried again for each message.
@cache
def _loaded(entry: EntryPoint) -> tuple[Any, str]:
    try:
        return entry.load(), ""
    except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code
        return None, said_by(error)


def described(entry: EntryPoint) -> str:
    """Return what an entry point is called in a text for a person."""
    package = f" of the package {quote(entry.dist.name)}" if entry.dist is not None else ""
    return f"{quote(entry.name)}{package} ({escape(entry.group)}: {escape(entry.value)})"


def said_by(error: BaseException) -> str:
    """Return what an error says, safe to show; with its type, if it is one of foreign code."""
    kind = "" if isinstance(error, MessageBodyError) else f"{type(error).__name__}: "
    return escape(redact_urls(f"{kind}{error}"), limit=400)


def warn_of(what: str, why: str) -> None:
    """Warn that something of another package is left out.

    Arguments:
        what: what it is called.
        why: why it is left out.
    """
    warnings.warn(f"{what} is left out: {why}", stacklevel=2)
