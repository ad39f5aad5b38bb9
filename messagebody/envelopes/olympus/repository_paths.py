"""Paths relative to a repository's root, as attachments and personas name files."""

import posixpath
import re

__all__ = ["is_repository_path", "lies_in"]

_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|~")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


def is_repository_path(path: str) -> bool:
    r"""Tell whether a path stays inside the repository on every system.

    It is not empty, neither absolute nor a URL, has no drive, backslash or control character,
    and no segment is "..".

    Examples:
        >>> is_repository_path("docs/a.md"), is_repository_path("../a"), is_repository_path("C:\\a")
        (True, False, False)
    """
    return (
        path.strip() != ""
        and _ELSEWHERE.match(path) is None
        and _CONTROL.search(path) is None
        and ".." not in path.split("/")
    )


def lies_in(path: str, places: tuple[str, ...]) -> bool:
    """Tell whether a path is one of `places`, or below one that ends in "/"; none means anywhere.

    Examples:
        >>> lies_in("docs/./a.md", ("docs/",)), lies_in("docs-old/a.md", ("docs/",))
        (True, False)
    """
    plain = posixpath.normpath(path)
    return not places or any(
        plain.startswith(place) if place.endswith("/") else plain == place for place in places
    )
