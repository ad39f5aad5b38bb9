"""The frames around the parts of a prompt, which no content can forge, and its other lines."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from unicodedata import normalize

from messagebody._core import count_of, human_size, xml_attribute
from messagebody.prompts._material import Material

# At most nine digits: Python refuses to read thousands of them, and our number is never longer.
_TAG: Final = re.compile(r"part-([0-9]{1,9})")
_FRAME_LIKE: Final = re.compile(
    r"(?:[<\u02C2\u2039\u226A\u2264\u227A\u2329\u276E\u27E8\u2991\u29FC\u3008\u300A\uFE64\uFF1C]"
    r"|&(?:lt|#0*60|#x0*3c);?|%3c)\s*(?:[^\s>]{0,40}\d|[/\\]?\s*part)|\[\s*/?part-\d",
    re.IGNORECASE,
)
"""What a model could take for a frame: something like `<part-0`, in whatever characters."""
# The characters that one begins with, and those that NFKC makes one of them.
_OPENING: Final = re.compile(
    r"[<&%\[\u02C2\u2039\u226A\u2264\u227A\u2329\u276E\u27E8\u2991\u29FC\u3008\u300A"
    r"\uFE3D\uFE3F\uFE47\uFE60\uFE64\uFE6A\uFF05\uFF06\uFF1C\uFF3B]"
)


def is_frame_like(text: str) -> bool:
    """Return whether a text has what a model could take for a frame, in letters of any alphabet."""
    if _OPENING.search(text) is None:
        return False
    if _FRAME_LIKE.search(text) is not None:
        return True
    return not text.isascii() and _FRAME_LIKE.search(normalize("NFKC", text)) is not None


def free_tag(texts: Iterable[str]) -> str:
    """Return a tag that occurs in none of the texts."""
    found = (number for text in texts if "part-" in text for number in _TAG.findall(text))
    taken = {int(number) for number in found}
    return f"part-{next(number for number in range(len(taken) + 1) if number not in taken)}"


# Most parts have one of a few types.
_type_attribute = lru_cache(256)(xml_attribute)


class Frames:
    """The frames of a prompt.

    Arguments:
        material: the parts of the body.
        tag: the name of the tags around a part; it occurs in no content that is shown.
        is_raw: whether unnamed text that is shown whole has no frame.
    """

    def __init__(self, material: Material, tag: str, *, is_raw: bool) -> None:
        self._material = material
        self._tag = tag
        self.is_raw = is_raw
        self.closing = f"</{tag}>"
        self._known: dict[int, str] = {}

    def opening(self, position: int) -> str:
        """Return the opening tag of a part."""
        return f"<{self._facts(position)}>"

    def line(self, position: int) -> str:
        """Return the line of a part that is listed."""
        return f"<{self._facts(position)}/>"

    def _facts(self, position: int) -> str:
        # Each plan that is tried asks again.
        known = self._known.get(position)
        if known is None:
            known = self._known[position] = self._facts_of(position)
        return known

    def _facts_of(self, position: int) -> str:
        # A name has no characters that need an escape.
        name = self._material.names[position]
        called = f'number="{position}"' if name is None else f'name="{name}"'
        kind = _type_attribute(self._material.type_of(position))
        size = human_size(self._material.part(position).size)
        number = self._material.cited.get(position)
        cited = "" if number is None else f' source="{number}"'
        tool = self._material.tool(position)
        whose = f" result-of={xml_attribute(tool)}" if tool else ""
        return f'{self._tag} {called}{cited}{whose} type={kind} size="{size}"'

    def shown(self, position: int, characters: int) -> list[str]:
        """Return the lines that show characters of a text: all of them, or its head and tail."""
        text, name = self._material.texts[position], self._material.names[position]
        if characters < len(text):
            called = str(position) if name is None else name
            return [self.opening(position), *_head_and_tail(text, characters, called), self.closing]
        if name is None and self.is_raw:
            return [text]
        return [self.opening(position), text, self.closing]


def more_parts(number: int) -> str:
    """Return the line that counts the parts that are not even listed."""
    return f"[{count_of(number, 'more part')}; list_parts lists them]"


def note(left_out: int, part: str, offset: int) -> str:
    """Return the line that stands for the characters that are left out of a text."""
    return f"[… {left_out:,} characters left out; read_part({part!r}, {offset}) shows them]"


def _head_and_tail(text: str, characters: int, part: str) -> tuple[str, str, str]:
    """Return the head of a text, a note and the tail."""
    head, tail = characters * 2 // 3, len(text) - (characters - characters * 2 // 3)
    # A line end that is cut in two would count as two line ends.
    head -= text[head - 1 : head + 1] == "\r\n"
    tail += text[tail - 1 : tail + 1] == "\r\n"
    return text[:head], note(tail - head, part, head), text[tail:]
