"""The table of a part's members: their names in JSON, their values and their checks.

`PartRecord` is the table. All code that handles the members of a part uses it: both readers, the
writer, the arguments of `Part`, pydantic, JSON Schema, envelopes and the test strategies. A new
member needs a field here, and an argument and a property of `Part`; no other code names it.

The JSON library reads and writes records without a Python call for each part. The garbage collector
does not track them, because for 100,000 parts it would cost more than the parsing. All values in a
record are checked and in the form of the writer; users see a `Part`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypedDict, get_args, get_origin

import attrs
import msgspec

from messagebody._base.digests import DIGEST_PATTERN, is_digest, sha256_of
from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import (
    COMMON,
    PLAIN_CHARSETS,
    check_content_type,
    is_plain,
    stated_charset,
)
from messagebody._base.text import count_of, escape, nearest, plain_text, quote, redact_url
from messagebody._wire import base64, data_urls, strict_json
from messagebody.errors import (
    DecodeError,
    InvalidContentType,
    InvalidName,
    InvalidPart,
    LimitExceeded,
)
from messagebody.names import NAME_PATTERN, check_name

URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff]++")
# The largest integer that every JSON reader keeps exactly (RFC 8259, 6).
_MAX_SIZE: Final = 2**53 - 1
# The array of parts and the part itself are also levels of nesting.
_DEPTH: Final = DEFAULT_LIMITS.depth - 2


# Checks of single members


def check_text(text: str) -> str:
    """Return a text if UTF-8 can encode it.

    Raises:
        InvalidPart: it is not a string, or it holds a lone surrogate.
    """
    if not isinstance(text, str):
        raise InvalidPart(f"expected a string, got {quote(text)}")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidPart(
                f"character {error.start:,} is the lone surrogate U+{ord(text[error.start]):04X}, "
                "which UTF-8 can't carry; if this is binary, give bytes"
            ) from error
    # A subclass of `str` may answer differently later, so a plain string is kept.
    return plain_text(text)


def piece_members(data: bytes) -> dict[str, str]:
    """Return a piece of content as JSON has it: text if it is UTF-8, else base64."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.encode(data)}


def piece_of(members: Mapping[str, Any]) -> bytes:
    """Return a piece of content; the inverse of `piece_members`.

    Raises:
        ValueError: its text or base64 is not legal.
    """
    if "text" in members:
        return check_text(members["text"]).encode()
    return base64.decode(check_text(members["base64"]))


def check_url(url: str) -> str:
    """Return a URL of the form `scheme:rest`; a `data:` URL must also be decodable.

    Raises:
        InvalidPart: it is not one.
    """
    if not isinstance(url, str) or URL.fullmatch(url) is None:
        # A signed URL is a credential, and messages end up in logs.
        shown = quote(redact_url(url)) if isinstance(url, str) else quote(url)
        raise InvalidPart(f"URL {shown} is not scheme:rest without white space and controls")
    return plain_text(url)


def check_size(size: int) -> int:
    """Return a number of bytes.

    Raises:
        InvalidPart: it is not an integer that every JSON reader keeps exactly (RFC 8259, 6).
    """
    # True is an integer in Python, but not a size.
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= _MAX_SIZE:
        raise InvalidPart(f"size is an integer from 0 to 2^53-1, got {quote(size)}")
    return int(size)


def check_digest(digest: str) -> str:
    """Return a digest in the form that parts state.

    Raises:
        InvalidPart: it is not one.
    """
    if not is_digest(digest):
        raise InvalidPart(f"digest is 'sha256:' and 64 lower-case hex digits, got {quote(digest)}")
    return plain_text(digest)


def check_object(value: Mapping[str, Any], what: str = "metadata") -> dict[str, Any]:
    """Return a copy of an object of JSON values, in the types that a parser returns.

    Raises:
        InvalidPart: it is not one; the text names the place.
    """
    if not isinstance(value, Mapping):
        raise InvalidPart(f"{what} is an object of JSON values, got {quote(value)}")
    try:
        return strict_json.checked_copy(dict(value), depth=_DEPTH)  # type: ignore[no-any-return]
    except strict_json.InvalidJson as error:
        place = "".join(f"/{step}" for step in error.path)
        raise InvalidPart(f"{what}{escape(place, limit=200)}: {error}") from error


# The table


def _member(
    check: Callable[[Any], Any], description: str, *, group: str = "about", **schema: Any
) -> msgspec.Meta:
    """Describe a member: the check of its value, and its JSON Schema."""
    return msgspec.Meta(
        description=description, extra_json_schema=schema, extra={"check": check, "group": group}
    )


if TYPE_CHECKING:
    Inline = str | bytes | None
    Common = str
# For static checkers bytes are allowed, but the parser must not read a JSON string as bytes.
else:
    # The values of JSON; decoded bytes are put here later, and are written as base64.
    Inline = str | None
    # The parser finds these in a table, without making and checking a string for each part.
    # `AnyRecord` takes the others.
    Common = Literal[COMMON]


class PartRecord(msgspec.Struct, gc=False, omit_defaults=True):
    """The members of a part.

    Content is text, or bytes with `encoding` "base64". UTF-8 bytes of a textual type are kept as
    text, so that two records of equal content are equal.
    """

    name: Annotated[
        str | None,
        _member(
            check_name,
            "A path, unique in the body; absent for content to show.",
            pattern=NAME_PATTERN,
        ),
    ] = None
    content_type: Annotated[
        Common,
        _member(check_content_type, "type/subtype[; parameters], for example text/markdown."),
    ] = msgspec.field(default="", name="contentType")
    content: Annotated[Inline, _member(check_text, "Inline content.", group="content")] = None
    encoding: Annotated[
        str | None,
        _member(
            check_text,
            "How content is written; plain if absent.",
            group="content",
            enum=["plain", "base64"],
        ),
    ] = msgspec.field(default=None, name="contentEncoding")
    url: Annotated[
        str | None,
        _member(
            check_url,
            "Where the content is, instead of content.",
            group="reference",
            pattern="^[A-Za-z][A-Za-z0-9+.-]*:[^ ]+$",
        ),
    ] = msgspec.field(default=None, name="contentUrl")
    size: Annotated[
        int | None,
        _member(
            check_size,
            "Bytes of the decoded content.",
            group="promise",
            minimum=0,
            maximum=_MAX_SIZE,
        ),
    ] = None
    digest: Annotated[
        str | None,
        _member(
            check_digest,
            "Of the decoded content.",
            group="promise",
            pattern=f"^{DIGEST_PATTERN}$",
        ),
    ] = None
    metadata: Annotated[
        dict[str, Any] | None,
        _member(check_object, "Anything JSON.", additionalProperties=True),
    ] = None


class AnyRecord(PartRecord, gc=False, omit_defaults=True):
    """A part with an uncommon content type, as the parser reads it."""

    content_type: str = msgspec.field(default="", name="contentType")


class RichRecord(PartRecord, gc=False, omit_defaults=True):
    """A part with members that the format does not define, or with a value that JSON can't hold."""

    extra: dict[str, Any] | None = None
    local_file: Any = None
    """The file that is the content of a part until it is offloaded or inlined: a `LocalFile`."""


class PartArguments(TypedDict, total=False):
    """The arguments of `Part` besides its content, for functions that pass them on."""

    name: str | None
    content_type: str | None
    url: str | None
    size: int | None
    digest: str | None
    metadata: Mapping[str, Any] | None


@attrs.frozen
class Member:
    """One row of the table.

    Arguments:
        argument: the argument and property of `Part`, and the field of its record.
        key: its name in JSON.
        kind: `str`, `int` or `dict`.
        group: "about" for members that describe the part and depend on no other member; "content",
            "reference" and "promise" for members that are checked together.
        check: returns a legal value in plain types, or raises.
        schema: the JSON Schema of a value.
    """

    argument: str
    key: str
    kind: type
    group: str
    check: Callable[[Any], Any]
    schema: dict[str, Any]


_JSON_TYPES: Final[dict[type, str]] = {str: "string", int: "integer", dict: "object"}


def _row(field: msgspec.structs.FieldInfo) -> Member:
    annotated: Any = field.type
    meta = annotated.__metadata__[0]
    declared = annotated.__origin__
    # In a union of a type with None, the type comes first.
    first = get_args(declared)[0] if isinstance(declared, UnionType) else declared
    kind = str if first is Common else get_origin(first) or first
    schema = {"type": _JSON_TYPES[kind], **meta.extra_json_schema, "description": meta.description}
    return Member(
        field.name, field.encode_name, kind, meta.extra["group"], meta.extra["check"], schema
    )


MEMBERS: Final = tuple(map(_row, msgspec.structs.fields(PartRecord)))
"""Every member of a part, in the order in which they are written."""

ABOUT: Final = tuple(member for member in MEMBERS if member.group == "about")
"""The members that describe a part with any content: name, type and metadata."""

KEYS: Final = frozenset(member.key for member in MEMBERS)
"""The names of a part's members in JSON."""

ARGUMENTS: Final = frozenset({"content", "extra", *PartArguments.__annotations__})
"""The arguments of `Part.evolve`."""


def check_about(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked arguments of a builder that describe a part.

    Raises:
        InvalidName, InvalidContentType, InvalidPart: one breaks its rule.
    """
    checked = {}
    for member in ABOUT:
        if member.argument in arguments:
            value = arguments[member.argument]
            checked[member.argument] = None if value is None else member.check(value)
    name = checked.get("name")
    if name is not None:
        _check_length(name)
    return checked


def check_part_name(name: str) -> str:
    """Return `name` if a new part may have it: it is legal, and short enough for default readers.

    A message with a longer name could be written, but not read.

    Raises:
        InvalidName: it is not legal, or it is too long.
    """
    return _check_length(check_name(name))


def _check_length(name: str) -> str:
    longest = DEFAULT_LIMITS.name_length
    if len(name) > longest:
        problem = f"it has {len(name):,} characters; readers take {longest:,} by default"
        raise InvalidName(name, problem)
    return name


def about(record: PartRecord) -> dict[str, Any]:
    """Return the members that describe a part, by argument."""
    return {member.argument: getattr(record, member.argument) for member in ABOUT}


def check_extra(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return members that the format does not define.

    Raises:
        InvalidPart: one is a part's own member, or a near miss of one.
    """
    extra = check_object(value, "extra")
    defined = sorted(extra.keys() & KEYS)
    if defined:
        names = ", ".join(map(quote, defined))
        raise InvalidPart(f"extra holds members that the format does not define, got {names}")
    refuse_near_misses(extra)
    return extra


# Names similar to shorter ones may have another meaning, such as "names" and "sizes".
_MISTYPED_LENGTH: Final = 6
_MISTYPED_RATIO: Final = 0.9
_FOLDED: Final = {member.key.lower(): member.key for member in MEMBERS}


def refuse_near_misses(keys: Iterable[str]) -> None:
    """Refuse unknown members that look like a part's own, such as `content_type`.

    Otherwise the part would be read as something else: binary as text, a reference as nothing.

    Raises:
        InvalidPart: a member looks like one; the text names the member that was probably meant.
    """
    for key in keys:
        # A name that is far longer than any member is not a misspelling, and comparing it is slow.
        meant = _meant(key) if len(key) <= _KEY_LENGTH else None
        if meant is not None:
            raise InvalidPart(f"unknown member {quote(key)}; did you mean {quote(meant)}?")


_KEY_LENGTH: Final = 2 * max(map(len, KEYS))

# What other formats call the members of a part. They are legal here, and mean nothing.
_ELSEWHERE: Final = {
    **dict.fromkeys(("mimeType", "mediaType", "mime_type", "media_type", "mimetype", "mime"),
                    "contentType"),
    **dict.fromkeys(("encoding", "content_encoding"), "contentEncoding"),
    **dict.fromkeys(("filename", "fileName", "file_name"), "name"),
    **dict.fromkeys(("contentBytes", "data", "bytes", "base64", "blob", "inlineData"),
                    "content, with contentEncoding base64"),
    **dict.fromkeys(("url", "uri", "href", "image_url", "file_uri"), "contentUrl"),
    "text": "content",
}  # fmt: skip


def foreign_members(keys: Iterable[str]) -> list[tuple[str, str]]:
    """Return the unknown members that other formats have for a part's own, and what is meant."""
    return [(key, _ELSEWHERE[key]) for key in keys if key in _ELSEWHERE]


def misreading(members: Mapping[str, Any]) -> str:
    """Return why a part is probably not what its sender meant, or "".

    Only what is sure is told: its type or its encoding stands under the name of another format, and
    not under its own, so that a picture is read as text.
    """
    for key, meant in foreign_members(members):
        is_type = meant == "contentType"
        is_encoding = meant == "contentEncoding" and members[key] == "base64"
        if meant not in members and (is_type or is_encoding):
            return f"a part has the member {key!r}, which means nothing in a body: it is {meant}"
    return ""


@lru_cache(1024)
def _meant(key: str) -> str | None:
    """Return the member that was probably meant by an unknown key, if any."""
    # The spellings of other languages: content_type, content-type, ContentType.
    folded = re.sub(r"[\s_-]++", "", key).lower()
    if folded in _FOLDED:
        return _FOLDED[folded]
    alike = [
        # The first letter is hardly ever wrong, and comparing with all members would be slow.
        known
        for known in _FOLDED
        if len(known) >= _MISTYPED_LENGTH and known[:1] == folded[:1]
    ]
    near = nearest(folded, alike, _MISTYPED_RATIO)
    return _FOLDED[near] if near else None


# Content and references


def check_promise(size: int | None, digest: str | None) -> None:
    """Check that a stated size and digest are well-formed.

    Raises:
        InvalidPart: they are not.
    """
    if size is not None:
        check_size(size)
    if digest is not None:
        check_digest(digest)


def keep_promise(content: str | bytes, size: int | None, digest: str | None) -> None:
    """Check the stated size and digest of inline content.

    Raises:
        InvalidPart: the content has another.
    """
    has = None if digest is None else inline_digest(content)
    compare_promise(inline_size(content), has, size, digest)


def compare_promise(
    has_size: int, has_digest: str | None, size: int | None, digest: str | None
) -> None:
    """Compare the size and digest that content has with the stated ones.

    Raises:
        InvalidPart: they differ.
    """
    if size is not None and size != has_size:
        raise InvalidPart(f"size says {size:,}, the content has {count_of(has_size, 'byte')}")
    if digest is not None and digest != has_digest:
        raise InvalidPart(f"digest says {digest}, the content has {has_digest}")


def inline_size(content: str | bytes) -> int:
    """Return the bytes of content."""
    # ASCII text has as many bytes as characters, so it need not be encoded.
    if isinstance(content, bytes) or content.isascii():
        return len(content)
    return len(content.encode())


def inline_digest(content: str | bytes) -> str:
    """Return the digest of content."""
    return sha256_of(content.encode() if isinstance(content, str) else content)


def check_reference(
    url: str, size: int | None, digest: str | None, *, max_bytes: int = DEFAULT_LIMITS.part_bytes
) -> None:
    """Check that URL, size and digest of a reference are well-formed.

    A `data:` URL contains its content, so it is decoded, and size and digest are compared.
    Otherwise a body could be written that can't be read.

    Raises:
        InvalidPart: they are not.
    """
    check_url(url)
    # Most references of other systems state neither, and this code runs for each of them.
    if size is not None or digest is not None:
        check_promise(size, digest)
    if data_urls.is_data_url(url):
        try:
            content = data_urls.decode(url, max_bytes=max_bytes)[1]
        except (DecodeError, LimitExceeded) as error:
            raise InvalidPart(error.problem) from error
        keep_promise(content, size, digest)


def content_members(content: str | bytes, content_type: str) -> dict[str, Any]:
    """Return content and encoding in the form of the writer.

    Raises:
        InvalidContentType: plain text can't be of that charset.
    """
    if isinstance(content, str):
        _check_charset(content, content_type)
        return {"content": content}
    text = as_text(content, content_type)
    return {"content": content, "encoding": "base64"} if text is None else {"content": text}


def as_text(content: bytes, content_type: str) -> str | None:
    """Return bytes as text if they are UTF-8 and have a textual type, else None."""
    charset = _charset_of_text(content_type)
    if charset is None:
        return None
    try:
        return content.decode(charset)
    except UnicodeDecodeError:
        return None


@lru_cache(256)
def _charset_of_text(content_type: str) -> str | None:
    """Return the charset in which content of a type is written as text, None if it is not text."""
    if not is_plain(content_type):
        return None
    charset = stated_charset(content_type)
    # Bytes in another charset are written as base64 with their type, and are not transcoded.
    return charset if charset in PLAIN_CHARSETS else None


def _check_charset(text: str, content_type: str) -> None:
    charset = stated_charset(content_type)
    if charset not in PLAIN_CHARSETS:
        raise InvalidContentType(
            f"content type {quote(content_type)} of plain text: its bytes are UTF-8, "
            "so charset is utf-8 or us-ascii; give bytes in the other encoding"
        )
    if charset == "us-ascii" and not text.isascii():
        raise InvalidContentType("content of charset us-ascii holds characters outside of it")


def make_record(
    about: Mapping[str, Any], content: Mapping[str, Any], extra: dict[str, Any] | None = None
) -> PartRecord:
    """Return a record of checked members.

    Arguments:
        about: those that say something about the part, by argument.
        content: those of its content, by argument.
        extra: members that the format does not define.
    """
    # A record with more fields is larger, and few parts need it.
    if extra:
        return RichRecord(**about, **content, extra=extra)
    return PartRecord(**about, **content)


def changed_record(record: PartRecord, **members: Any) -> PartRecord:
    """Return a record with other members, which are checked."""
    return msgspec.structs.replace(record, **members)
