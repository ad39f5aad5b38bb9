"""Types of parts as searches find them, with contents if those matter, and bodies made of them."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.limits import Limits
from messagebody._base.media_types import MAX_LENGTH
from messagebody._base.text import escape
from messagebody.schema import PartType

NOT_JSON: Final = "not JSON"
"""The content that no schema of contents takes."""
Value = tuple[Any] | None
"""A JSON value in a tuple; None for what is not JSON."""


Types = list[PartType]
"""The parts of a body."""


class FilledType(str):
    """A JSON type with the content of a part.

    It compares as text, because patterns of types read no content.

    Attributes:
        value: the content.

    Examples:
        >>> FilledType("application/json", ([1, None],)).content
        '[1,null]'
    """

    __slots__ = ("value",)

    value: Value

    def __new__(cls, kind: str, value: Value) -> Self:
        """Fill a type with a content."""
        filled = super().__new__(cls, kind)
        filled.value = value
        return filled

    @property
    def content(self) -> str:
        """The content as text."""
        if self.value is None:
            return NOT_JSON
        from messagebody._wire import exact_json

        return exact_json.dumps(self.value[0])

    def beginning(self, limit: int) -> str:
        """Return so many characters of the content, safe to show; the rest is not made."""
        if self.value is None:
            return NOT_JSON
        from messagebody._wire import exact_json

        return escape(exact_json.beginning(self.value[0], limit))


# Small contents that readers of each type accept.
_PIXEL: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63"
    "6000000002000148afa4710000000049454e44ae426082"
)

_CONTENTS: Final[dict[str, str | bytes]] = {
    "text/markdown": "# Example\n",
    "text/html": "<!doctype html><title>Example</title>",
    "text/csv": "name,value\nexample,1\n",
    "application/json": "{}",
    "application/xml": "<example/>",
    "application/yaml": "example: 1\n",
    "image/png": _PIXEL,
    "image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg"/>',
}
_ANY_LENGTH: Final = Limits(name_length=sys.maxsize)
_BY_SUFFIX: Final = {"json": "{}", "xml": "<example/>", "yaml": "example: 1\n"}


def can_exist(types: Iterable[PartType]) -> bool:
    """Return whether a body can have these parts: patterns match content types of any length."""
    return all(len(part.content_type) <= MAX_LENGTH for part in types)


def example_body(types: Sequence[PartType]) -> "messagebody.MessageBody | None":
    """Return a body whose parts have these names and content types, with small contents.

    None if a content type is longer than the limit, which patterns don't know.

    Names may be longer than readers accept, because the decision is about names of any length.
    Unnamed parts come first, because they are the content to show.
    """
    if not can_exist(types):
        return None
    # Whoever only decides about schemas needs no model.
    from messagebody._model.body import MessageBody
    from messagebody._model.part import Part

    ordered = sorted(types, key=lambda part: (part.name is not None, part))
    parts = MessageBody(Part(_content(kind), content_type=kind) for _, kind in ordered).to_dicts()
    named = [
        part if name is None else {"name": name, **part}
        for (name, _), part in zip(ordered, parts, strict=True)
    ]
    return MessageBody.from_dicts(named, limits=_ANY_LENGTH)


def _content(kind: str) -> str | bytes:
    if isinstance(kind, FilledType):
        return kind.content
    if kind in _CONTENTS:
        return _CONTENTS[kind]
    suffix = _BY_SUFFIX.get(kind.rpartition("+")[2])
    if suffix is not None:
        return suffix
    return "example" if kind.startswith("text/") else b"example"
