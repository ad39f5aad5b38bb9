"""Patterns of several stars and few alternatives, as regexes that never backtrack far.

After a star, the leftmost place where the next literal fits is as good as any other, for the star
behind that literal can take up the rest; the same holds for `**` and whole segments. So each such
step is an atomic group: once matched, it is never tried again, and matching takes time linear in
the name, whatever the pattern. (A regex translated star by star takes exponential time for some.)
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from messagebody.globs.shapes import branches
from messagebody.globs.syntax import Syntax

__all__ = ["regex_of"]

_LONGEST: Final = 32_768
_SEGMENT: Final = "/[^/]+"


def regex_of(syntax: Syntax) -> re.Pattern[str] | None:
    """Return a regex whose full matches among legal names are those of a name pattern.

    None if the pattern has many alternatives or is too long for a regex to be quick.
    """
    found = branches(syntax)
    if not found or sum(map(len, found)) > _LONGEST:
        return None
    return re.compile("|".join("".join(_branch(branch)) for branch in found))


def _branch(text: str) -> Iterator[str]:
    """Yield the regex of a pattern without braces, block by block between its globstars."""
    segments = text.split("/")[1:]
    blocks = [
        (is_globstar, [*block])
        for is_globstar, block in groupby(segments, key=lambda segment: segment == "**")
    ]
    for index, (is_globstar, block) in enumerate(blocks):
        is_last = index == len(blocks) - 1
        if is_globstar:
            yield f"(?:{_SEGMENT})+" if is_last else ""
        elif index == 0:
            yield "".join(map(_segment, block))
        else:
            found = f"(?:{_SEGMENT})*?" + "".join(map(_segment, block))
            yield found if is_last else f"(?>{found})"


def _segment(glob: str) -> str:
    first, *rest = (re.escape(piece) for piece in re.split(r"\*+", glob))
    if not rest:
        return f"/{first}(?=/|\\Z)"
    if not first and not any(rest):
        return _SEGMENT
    *middles, last = rest
    steps = "".join(f"(?>[^/]*?{middle})" for middle in middles)
    return f"(?>/{first}{steps}[^/]*{last}(?=/|\\Z))"
