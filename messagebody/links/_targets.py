"""Targets: the names of parts that URLs in texts mean, and how a URL of another name is written."""

import posixpath
import re
from typing import Final
from urllib.parse import unquote

from messagebody._core import LinkKind
from messagebody.names import is_name

SOURCES: Final = "/sources/"
_SOURCE: Final = "source:"
# The first colon before any other delimiter ends a scheme (RFC 3986, 3.1).
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:")
_REST: Final = re.compile(r"[?#]")


def target_of(url: str, holder: str | None) -> tuple[str, LinkKind] | None:
    """Return the name of the part that a URL means and the kind of link, None for any other URL.

    Arguments:
        url: the URL as the parser of the text gives it, without escapes of the markup.
        holder: the name of the part with the text; None for an unnamed part, whose base is "/".

    Examples:
        >>> target_of("source:1/urls/5#top", None)
        ('/sources/1/urls/5', 'source')
        >>> target_of("../img/%61.png", "/site/index.html")
        ('/img/a.png', 'path')
        >>> target_of("https://example.com/a", None)
    """
    path = _REST.split(url, maxsplit=1)[0]
    if path.startswith(_SOURCE):
        name = _decoded(SOURCES + path.removeprefix(_SOURCE))
        return (name, "source") if is_name(name) else None
    if not path or path.startswith("//") or _SCHEME.match(path):
        return None
    name = _decoded(_absolute(path, holder))
    return (name, "path") if is_name(name) else None


def _absolute(path: str, holder: str | None) -> str:
    """Return a path without dot segments, which start at the root or beside the holder.

    These are the steps of RFC 3986, 5.2.4, where ".." at the root stays at the root.
    """
    base = "" if path.startswith("/") else _directory(holder)
    steps: list[str] = []
    for step in (base + path).split("/")[1:]:
        if step == "..":
            del steps[-1:]
        elif step != ".":
            steps.append(step)
    if path.endswith(("/.", "/..")) or path in {".", ".."}:
        steps.append("")  # a directory, which is no name
    return "/" + "/".join(steps)


def _directory(holder: str | None) -> str:
    return "/" if holder is None else holder[: holder.rfind("/") + 1]


def _decoded(path: str) -> str:
    # An escaped slash would separate segments that it does not separate in the URL.
    if "%" not in path:
        return path
    steps = [unquote(step) for step in path.split("/")]
    return "" if any("/" in step for step in steps) else "/".join(steps)


def spelled(url: str, target: str, holder: str | None) -> str:
    """Return the URL of another target, spelled as the URL that it replaces; without its fragment.

    A source stays a source while its name is below `/sources`, and a relative path stays relative.

    Arguments:
        url: the URL that is replaced.
        target: the name that it shall mean.
        holder: the name that the part with the text has by then; None if it has none.

    Examples:
        >>> spelled("source:1", "/sources/7", None), spelled("source:1", "/cats.html", None)
        ('source:7', '/cats.html')
        >>> spelled("img/a.png", "/other/a.png", "/site/index.html")
        '../other/a.png'
    """
    if url.startswith(_SOURCE):
        is_source = target.startswith(SOURCES)
        return _SOURCE + target.removeprefix(SOURCES) if is_source else target
    if url.startswith("/"):
        return target
    directory, name = posixpath.split(target)
    return posixpath.normpath(
        posixpath.join(posixpath.relpath(directory, _directory(holder)), name)
    )
