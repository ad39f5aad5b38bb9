"""What a reader may keep: the raw view of a content, and a link that saves it as a file."""

from typing import Final

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import OCTET_STREAM, base64, extension_of, human_size
from messagebody.rendering._elements import Html, element
from messagebody.rendering._limits import HEX_BYTES

_COLUMNS: Final = 16


def data_url(kind: str, data: bytes) -> str:
    """Return bytes as a `data:` URL of a type."""
    return f"data:{kind};base64,{base64.encode(data)}"


def save_link(words: str, name: str, data: bytes) -> Html:
    """Return a link that saves bytes as a file.

    Arguments:
        words: the text of the link; the name is said as well to those who hear it.
        name: the name of the file.
        data: the bytes.
    """
    # A browser may open a type that it knows, and a stranger's HTML would run scripts there.
    return element("a", words, href=data_url(OCTET_STREAM, data), download=name,
                   title=f"{words} {name}", aria_label=f"{words} {name}")  # fmt: skip


def file_name(part: "messagebody.Part", index: int) -> str:
    """Return a name for the file of a part.

    Examples:
        >>> from messagebody import Part
        >>> file_name(Part("x", name="/a/b.txt"), 0), file_name(Part("x"), 7)
        ('b.txt', 'part-7.txt')
    """
    name = f"part-{index}" if part.path is None else part.path.name
    return name if "." in name else name + extension_of(part.content_type, default="")


def hex_lines(data: bytes) -> str:
    r"""Return the first bytes as lines of hexadecimal digits and characters.

    Examples:
        >>> hex_lines(b"\x89PNG")
        '00000000  89 50 4e 47                                      .PNG'
    """
    shown = data[:HEX_BYTES]
    lines = []
    for start in range(0, len(shown), _COLUMNS):
        row = shown[start : start + _COLUMNS]
        letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        lines.append(f"{start:08x}  {row.hex(' '):{3 * _COLUMNS - 1}}  {letters}")
    if len(data) > len(shown):
        lines.append(f"… {human_size(len(data))} in all")
    return "\n".join(lines)
