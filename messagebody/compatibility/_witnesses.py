"""Bodies that show an answer: made of the names and content types that the solver found."""

import base64
import sys
from collections.abc import Sequence
from typing import Final

from messagebody._base.limits import Limits
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.compatibility._reasons import exists
from messagebody.compatibility._solver.contents import FilledType
from messagebody.compatibility._solver.profile import PartType

# Small contents that readers of each type accept.
_PIXEL: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
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


def body_of(types: Sequence[PartType], *, in_order: bool = False) -> MessageBody | None:
    """Return a body whose parts have these names and content types, with small contents.

    None if a content type is longer than the limit, which patterns don't know.

    Names may be longer than readers accept, because the decision is about names of any length.

    Arguments:
        types: the names and content types.
        in_order: keep the order; else unnamed parts come first, because they are the content to
            show.
    """
    if not exists(types):
        return None
    ordered = types
    if not in_order:
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
