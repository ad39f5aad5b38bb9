"""What a reader may keep: a link that saves a content as a file."""

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import OCTET_STREAM, base64, extension_of
from messagebody.rendering._elements import Html, element


def data_url(kind: str, data: bytes) -> str:
    """Return bytes as a `data:` URL of a type."""
    return f"data:{kind};base64,{base64.encode(data)}"


def save_link(name: str, data: bytes) -> Html:
    """Return a link that saves bytes as a file of a name, which those hear who don't see it."""
    # A browser may open a type that it knows, and a stranger's HTML would run scripts there.
    return element("a", "Save", href=data_url(OCTET_STREAM, data), download=name,
                   title=f"Save {name}", aria_label=f"Save {name}")  # fmt: skip


def file_name(part: "messagebody.Part", index: int) -> str:
    """Return a name for the file of a part.

    Examples:
        >>> from messagebody import Part
        >>> file_name(Part("x", name="/a/b.txt"), 0), file_name(Part("x"), 7)
        ('b.txt', 'part-7.txt')
    """
    name = f"part-{index}" if part.path is None else part.path.name
    return name if "." in name else name + extension_of(part.content_type, default="")
