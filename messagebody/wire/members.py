"""The members of a part as JSON spells them.

Records are read and written by the JSON library without a Python call for each part, and the
garbage collector does not track them: at 100,000 parts it would cost more than the parsing.
Everything in a record is checked and in the form that the writer emits; `Part` is the face that
users see.
"""

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from messagebody.content import LocalFile

if TYPE_CHECKING:
    Inline = str | bytes | None
else:
    # What JSON can hold; bytes are put there after decoding and are written as base64.
    Inline = str | None


class PartRecord(msgspec.Struct, gc=False, omit_defaults=True):
    """The members of a part.

    Content is text, or bytes with `encoding` "base64": bytes of a textual type that are UTF-8 are
    held as text, so that two records of equal content are equal.
    """

    name: str | None = None
    content_type: str = msgspec.field(default="", name="contentType")
    content: Inline = None
    encoding: str | None = msgspec.field(default=None, name="contentEncoding")
    url: str | None = msgspec.field(default=None, name="contentUrl")
    size: int | None = None
    digest: str | None = None
    metadata: dict[str, Any] | None = None


class RichRecord(PartRecord, gc=False, omit_defaults=True):
    """A part with more than the members JSON defines, or with what JSON cannot carry."""

    extra: dict[str, Any] | None = None
    local_file: "LocalFile | None" = None
