"""What in a legal body was probably not meant: for a caller who asks."""

import os
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from messagebody import sniffing
from messagebody._text import quote
from messagebody.part import Part

__all__ = ["Finding", "iter_findings"]

_LONGEST_PATH: Final = 255


@attrs.frozen
class Finding:
    """Something in a legal body that was probably not meant.

    Arguments:
        code: `type-disagrees`: the bytes are of another type than the part states;
            `text-is-a-path`: the text is the path of a file, which was not read.
        index: the part's place, from 0.
        name: the part's name, if it has one.
        text: the finding in words, with what to write instead where that is known.
    """

    code: str
    index: int
    name: str | None
    text: str

    def __str__(self) -> str:
        place = f"part {self.index}" + (f" {quote(self.name)}" if self.name else "")
        return f"{place}: {self.text}"


def iter_findings(parts: Iterable[Part]) -> Iterator[Finding]:
    """Yield what was probably not meant, part by part; references are not looked at.

    Local files are read for their first bytes; a text that is a path is never opened.

    Examples:
        >>> from messagebody import MessageBody, Part
        >>> body = MessageBody([Part(b"%PDF-1.7 ...", name="/a.png", content_type="image/png")])
        >>> print(*iter_findings(body))
        part 0 '/a.png': it states image/png, its bytes are application/pdf
    """
    for index, part in enumerate(parts):
        if part.is_reference:
            continue
        found = sniffing.content_type(_head(part))
        if not sniffing.agree(part.content_type, found):
            text = f"it states {part.content_type}, its bytes are {found}"
            yield Finding("type-disagrees", index, part.name, text)
        if part.text is not None and _is_a_file(part.text):
            text = f"its text is the path of a file; for the file itself: Path({quote(part.text)})"
            yield Finding("text-is-a-path", index, part.name, text)


def _head(part: Part) -> bytes:
    with part.open() as stream:
        return stream.read(sniffing.HEAD)


def _is_a_file(text: str) -> bool:
    is_path_like = 0 < len(text) <= _LONGEST_PATH and text.isprintable() and " " not in text
    return is_path_like and os.path.isfile(text)  # noqa: PTH113 - text may be no path at all
