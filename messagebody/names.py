"""Part names: absolute POSIX paths of portable characters.

A name is `/segment` one or more times; a segment is one or more of `A-Z a-z 0-9 . _ -` and is
neither `.` nor `..`. No glob metacharacter can occur in a name, so a name is also a pattern that
matches just itself.
"""

import posixpath
import re
import sys
import unicodedata
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, Final

from messagebody._base.text import plain_text, quote
from messagebody.errors import InvalidName

NAME_PATTERN: Final = r"^(?:/(?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-]|\.\.[A-Za-z0-9._-])[A-Za-z0-9._-]*)+$"
"""A legal name as a regular expression without look-ahead, which not every engine supports."""

_PATH = r"(?:/[A-Za-z0-9._-]++)++"
_SHAPE = re.compile(_PATH)
_SHAPES = re.compile(rf"{_PATH}(?:\n{_PATH})*+")
_DOT_SEGMENT = re.compile(r"/\.\.?(?![^/\n])")
# In names, one per line: a relative name, and a segment that is empty, "." or "..".
_RELATIVE = re.compile(r"\n[^/]")
_NO_SEGMENT = re.compile(r"/(?:[/\n]|\.\.?(?![^/\n]))")
_LEGAL = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/"
# Up to this many characters, one regular expression is faster than three searches.
_FEW = 160
_ILLEGAL = re.compile(r"[^A-Za-z0-9._/-]")
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
# Leaves room for a directory within the limits of file systems and archives.
_SAFE_LENGTH = 100
_LONGEST_ORIGINAL = 4096
"""The most characters of a file name that are read; no file system has longer names."""
_SEARCHED = 16
"""How many numbers are tried one by one to find a free name."""


def is_name(text: str) -> bool:
    """Return whether `text` is a legal part name.

    Examples:
        >>> is_name("/sources/1"), is_name("sources/1"), is_name("/a/../b")
        (True, False, False)
    """
    return _SHAPE.fullmatch(text) is not None and not (
        "/." in text and _DOT_SEGMENT.search(text) is not None
    )


def are_names(names: Sequence[str], longest: int = sys.maxsize) -> bool:
    """Return whether all are legal and not too long, which is quicker than asking one by one.

    All names are joined and searched at once: no Python code runs for a single name.
    """
    if len(names) < 2:
        return not names or (is_name(names[0]) and len(names[0]) <= longest)
    breaks = len(names) - 1
    joined = "\n".join(names)
    if len(joined) > longest and not _has_short_lines(joined, longest):
        return False
    # A line break in a name would split it into two names.
    if len(joined) < _FEW:
        return (
            _SHAPES.fullmatch(joined) is not None
            and joined.count("\n") == breaks
            and not ("/." in joined and _DOT_SEGMENT.search(joined) is not None)
        )
    # The same in three searches, which are quicker for long texts.
    return (
        joined.isascii()
        and joined.encode().translate(None, _LEGAL) == b"\n" * breaks
        and joined[0] == "/"
        and joined[-1] not in "/\n"
        and _RELATIVE.search(joined) is None
        and _NO_SEGMENT.search(joined) is None
    )


def _has_short_lines(text: str, longest: int) -> bool:
    """Return whether no line has more characters, without looking at each line."""
    start = 0
    while len(text) - start > longest:
        # The last line break that may end this line, so that many short lines are passed at once.
        start = text.rfind("\n", start, start + longest + 1) + 1
        if not start:
            return False
    return True


def check_name(name: str) -> str:
    """Return `name` if it is a legal part name.

    Raises:
        InvalidName: it is not legal; the text has the broken rule and a legal name.

    Examples:
        >>> check_name("/charts/sales.png")
        '/charts/sales.png'
    """
    if not isinstance(name, str):
        raise InvalidName(name, "a name is a string")
    if not is_name(name):
        raise InvalidName(name, _problem(name))
    return plain_text(name)


def _problem(name: str) -> str:
    illegal = _ILLEGAL.search(name)
    if illegal is not None:
        return (
            f"character {illegal.start()} is {quote(illegal[0])}; a name takes "
            f"A-Z a-z 0-9 . _ - and /, for example {quote(_legal_relative(name))}"
        )
    if not name.strip("/"):
        return "a name is /segment one or more times, for example '/report.pdf'"
    if not name.startswith("/"):
        return f"a name begins with '/', for example {quote(_without_odd_segments(name))}"
    if name.endswith("/"):
        return (
            f"a name doesn't end in '/', for example {quote(_without_odd_segments(name))}; "
            "directories are implied by the names in them"
        )
    if "//" in name:
        return f"a segment is empty; perhaps {quote(_without_odd_segments(name))}"
    return f"no segment may be '.' or '..'; perhaps {quote(_without_odd_segments(name))}"


def _without_odd_segments(name: str) -> str:
    segments = [segment for segment in name.split("/") if segment not in ("", ".", "..")]
    return "/" + ("/".join(segments) or "file")


def _legal_relative(name: str) -> str:
    segments = [segment for segment in name.split("/") if segment.strip(".")]
    return "/" + "/".join(_safe_segment(segment) for segment in segments) if segments else "/file"


def parent(name: str) -> str:
    """Return the directory that contains a name; "/" at the top.

    Examples:
        >>> parent("/sources/1"), parent("/a")
        ('/sources', '/')
    """
    return posixpath.dirname(name)


def ancestors(name: str) -> Iterator[str]:
    """Yield the directories above a name, nearest first, without the root.

    Examples:
        >>> list(ancestors("/a/b/c"))
        ['/a/b', '/a']
    """
    end = name.rfind("/")
    while end > 0:
        yield name[:end]
        end = name.rfind("/", 0, end)


def safe_name(original: str, *, directory: str = "/", taken: Container[Any] = ()) -> str:
    """Return a legal name for a file of any name, the same one every time.

    Only the last component of a path is used; accents are dropped, every run of other characters
    becomes one "_", the extension stays, and a clash with `taken` gets "-2", "-3", ….

    Arguments:
        original: a file name or path, from anywhere.
        directory: the directory the part goes into, itself a legal name or "/".
        taken: names in use, for example a body.

    Raises:
        InvalidName: `directory` is neither "/" nor a legal name.

    Examples:
        >>> safe_name("Q3 report (final).pdf", directory="/files")
        '/files/Q3_report_final.pdf'
        >>> safe_name("a.txt", taken={"/a.txt"})
        '/a-2.txt'
    """
    base = "" if directory == "/" else check_name(directory)
    path = original.rstrip("/\\")
    segment = _safe_segment(path[max(path.rfind("/"), path.rfind("\\")) + 1 :])
    stem, extension = posixpath.splitext(segment)
    name = f"{base}/{segment}"
    if name not in taken:
        return name
    return _first_free(lambda number: f"{base}/{stem}-{number}{extension}", taken)


def _first_free(name_of: Callable[[int], str], taken: Container[Any]) -> str:
    """Return a free numbered name: the first, or a later one if many are taken."""
    for number in range(2, _SEARCHED):
        if (name := name_of(number)) not in taken:
            return name
    # A sender may give a million files the same name, and each search must not try all numbers.
    high = _SEARCHED
    while name_of(high) in taken:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if name_of(middle) in taken else (low, middle)
    return name_of(high)


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    # Splits letters from their accents, so that the letter can stay.
    letters = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _safe_segment(original: str) -> str:
    if len(original) > _LONGEST_ORIGINAL:
        # Only the beginning and the extension are used; folding all of it takes 20 times the
        # memory.
        half = _LONGEST_ORIGINAL // 2
        original = original[:half] + original[-half:]
    stem, extension = posixpath.splitext(_ODD.sub("_", _without_accents(original)))
    stem = stem.strip("_").lstrip(".")
    extension = extension.rstrip("_.")[:20]
    return (stem[: _SAFE_LENGTH - len(extension)] or "file") + extension
