"""The reading of JSON into bodies: the reference reader, and the decision to try the fast one.

`decode_parsed` is the reference reader. It reads one part after another, and reports every flaw
with its place. `decode` first tries the fast reader, which only accepts flawless compact documents
and checks them column by column. The reference reader reads all other documents. So both accept the
same documents, and all errors come from one place.
"""

import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Final

import msgspec

from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._base.media_types import OCTET_STREAM, TEXT_PLAIN
from messagebody._base.text import count_of, escape, human_size, plain_text, quote
from messagebody._wire import base64, strict_json
from messagebody._wire.fast_reader import convert_flawless, decode_flawless
from messagebody._wire.members import (
    ABOUT,
    KEYS,
    PartRecord,
    RichRecord,
    check_promise,
    check_reference,
    content_members,
    foreign_members,
    keep_promise,
    make_record,
    misreading,
    refuse_near_misses,
)
from messagebody.errors import DecodeError, InvalidName, LocalFileNotSent, MessageBodyError

# A hostile body can have a flaw in every part; twenty are enough for a person.
_SHOWN_FLAWS: Final = 20
_LONGEST_PATH: Final = 256
# Levels of nesting in an array of parts without metadata.
_FLAT: Final = 2
# Made once, because `str | bytes` in a call would make a union each time.
_JSON: Final = (str, bytes, bytearray, memoryview)
_ENCODINGS: Final = ("plain", "base64")
_NOUNS: Final[dict[type, str]] = {str: "a string", int: "an integer", dict: "an object"}


# Decoding


def decode(
    data: str | bytes | bytearray | memoryview,
    limits: Limits = DEFAULT_LIMITS,
    strict: bool = False,
) -> list[PartRecord]:
    """Return the records of the parts of a body in JSON.

    Raises:
        DecodeError: the document is not a body.
    """
    document = data if type(data) is bytes else _bytes_of(data, limits)
    if len(document) > limits.json_bytes:
        raise too_large(len(document), limits)
    # With a limit below the depth of an empty part, the reference reader refuses everything.
    if limits.depth >= _FLAT:
        records = decode_flawless(document, limits, strict)
        if records is not None:
            return records
    try:
        parsed = strict_json.loads(data, depth=limits.depth, values=limits.values)
    except strict_json.InvalidJson as error:
        hint = "; load(…) reads a file" if _is_path(data) else ""
        raise _placed(error, hint) from error
    return _parts(parsed, limits, strict)


def _bytes_of(data: str | bytes | bytearray | memoryview, limits: Limits) -> bytes:
    """Return a copy that nobody can change; a document that is too large is not copied."""
    if not isinstance(data, _JSON):
        reader = "a file: load(…)" if isinstance(data, PathLike) else "parsed JSON: from_dicts(…)"
        if hasattr(data, "read"):
            reader = "an open file: from_json(file.read())"
        raise DecodeError(f"JSON is text or bytes, got {quote(data)}; {reader}")
    if isinstance(data, str):
        # A lone surrogate is accepted here, because the reader refuses it later and knows its
        # place.
        return data.encode("utf-8", "surrogatepass")
    size = memoryview(data).nbytes
    if size > limits.json_bytes:
        raise too_large(size, limits)
    return bytes(data)


def too_large(size: int, limits: Limits) -> DecodeError:
    """Return the error for a document of more bytes than the limit."""
    limit = human_size(limits.json_bytes)
    return DecodeError(f"{human_size(size)} of JSON; the limit json_bytes is {limit}")


def decode_parsed(
    data: Any, limits: Limits = DEFAULT_LIMITS, strict: bool = False
) -> list[PartRecord]:
    """Return the records of the parts of a body in parsed JSON.

    Raises:
        DecodeError: the value is not a body.
    """
    if isinstance(data, _JSON):
        raise DecodeError(
            f"a body is an array of parts, got {_kind(data)}; "
            "MessageBody.from_json(…) reads JSON text"
        )
    if isinstance(data, list) and limits.depth >= _FLAT:
        records = convert_flawless(data, limits, strict)
        if records is not None:
            return records
    try:
        strict_json.check_value(data, depth=limits.depth)
    except strict_json.InvalidJson as error:
        raise _placed(error) from error
    return _parts(data, limits, strict)


def _is_path(data: str | bytes | bytearray | memoryview) -> bool:
    """Return whether text is probably the path of a file that the caller wants to read."""
    return isinstance(data, str) and len(data) < _LONGEST_PATH and data.endswith(".json")


def _placed(error: strict_json.InvalidJson, hint: str = "") -> DecodeError:
    """Return the error for a flaw in JSON, with the part that contains it."""
    # In an object with `parts`, the first step of the path names no part.
    path = error.path[1:] if error.path[:1] == ("parts",) else error.path
    if not path or not isinstance(path[0], int):
        return DecodeError(error.problem + hint)
    member = "/".join(str(step) for step in path[1:])
    problem = f"{escape(member, limit=200)}: {error.problem}" if member else error.problem
    return DecodeError(problem, path[0])


def _parts(data: Any, limits: Limits, strict: bool) -> list[PartRecord]:
    members = _array_of_parts(data)
    if len(members) > limits.parts:
        raise DecodeError(f"{count_of(len(members), 'part')}; the limit parts is {limits.parts:,}")
    found: list[PartRecord] = []
    flaws: list[DecodeError] = []
    seen: dict[str, int] = {}
    # All flaws at once, because whoever corrects a message wants to see them together.
    for index, value in enumerate(members):
        try:
            record = _record(value, limits, strict)
            if record.name is not None and seen.setdefault(record.name, index) != index:
                raise DecodeError(f"the name is taken by part {seen[record.name]}")
            found.append(record)
        except MessageBodyError as error:
            flaws.append(_at(error, index, value))
            if len(flaws) == _SHOWN_FLAWS:
                break
    if flaws:
        if all(isinstance(each, dict) and set() < each.keys() <= _OF_SCHEMAS for each in members):
            first = flaws[0]
            flaws[0] = DecodeError(f"{first.problem}; {_A_SCHEMA}", first.index, first.name)
        raise _all_of(flaws) from flaws[0].__cause__
    return found


_OF_SCHEMAS: Final = {"name", "contentType", "required", "description"}
_A_SCHEMA: Final = (
    "parts without content are those of a schema, which MessageBodySchema.from_json(…) and "
    ".load(…) read"
)


def _array_of_parts(data: Any) -> list[Any]:
    if isinstance(data, Mapping):
        others = [key for key in data if key != "parts"]
        # Otherwise another system's envelope would be read as a body, and lose all but its parts.
        if "parts" in data and others:
            names = ", ".join(quote(key, limit=40) for key in others[:5])
            raise DecodeError(
                f"an object with 'parts' holds nothing else, got {names} too; "
                "if this is another system's envelope, convert it: messagebody.envelopes"
            )
        if "parts" not in data:
            raise DecodeError(
                "a body is an array of parts, got an object without 'parts'"
                + ("; one part is a body too: [ {…} ]" if KEYS & data.keys() else "")
            )
        data = data["parts"]
    if not isinstance(data, list | tuple):
        raise DecodeError(f"a body is an array of parts, got {_kind(data)}")
    return list(data)


def _at(error: MessageBodyError, index: int, value: Any) -> DecodeError:
    name = value.get("name") if isinstance(value, Mapping) else None
    # The place already names the part.
    problem = error.problem if isinstance(error, DecodeError | InvalidName) else str(error)
    placed = DecodeError(problem, index, name if isinstance(name, str) else None)
    # The cause is the foreign error, if there is one, and not our own error about it.
    placed.__cause__ = error if not isinstance(error, DecodeError) else error.__cause__
    return placed


def _all_of(flaws: list[DecodeError]) -> DecodeError:
    first, *others = flaws
    if not others:
        return first
    return DecodeError(first.problem, first.index, first.name, others)


def _record(value: Any, limits: Limits, strict: bool) -> PartRecord:
    if not isinstance(value, Mapping):
        raise DecodeError(f"a part is an object, got {_kind(value)}")
    extra = {key: item for key, item in value.items() if key not in KEYS}
    if extra:
        # Checked first, because a misspelt `content_type` would make other checks fail.
        refuse_near_misses(extra)
        if problem := misreading(value):
            warnings.warn(problem, stacklevel=2)
    if strict:
        _check_strict(value, extra)
    _check_name_length(_string(value, "name"), limits)
    content = _content(value, limits, strict)
    # The type decides whether bytes are kept as text, so it is checked before the content.
    about = _about(value, _default_type(content))
    url, size, digest = _string(value, "contentUrl"), value.get("size"), _string(value, "digest")
    if content is None:
        assert url is not None  # noqa: S101 - one of the two is there
        check_reference(url, size, digest, max_bytes=limits.part_bytes)
        size = None if size is None else int(size)
        held: dict[str, Any] = {"url": url, "size": size, "digest": digest}
    else:
        # The form is checked before the value: `"size": "3"` is a wrong type and not a wrong size.
        check_promise(size, digest)
        keep_promise(content, size, digest)
        held = content_members(content, about["content_type"])
    return make_record(about, held, strict_json.plain(extra))


def _about(value: Mapping[str, Any], default_type: str) -> dict[str, Any]:
    """Return the members that describe the part, checked one by one."""
    about: dict[str, Any] = {}
    for member in ABOUT:
        # null for an optional member means absent, because several writers write every member.
        item = value.get(member.key)
        if item is None:
            about[member.argument] = None
        elif not isinstance(item, member.kind):
            raise DecodeError(f"{member.key} is {_NOUNS[member.kind]}, got {_kind(item)}")
        elif member.kind is dict:  # the whole document has been checked to be JSON
            about[member.argument] = strict_json.plain(item)
        else:
            about[member.argument] = member.check(item)
    if about["content_type"] is None:
        about["content_type"] = default_type
    return about


def _check_name_length(name: str | None, limits: Limits) -> None:
    if name is not None and len(name) > limits.name_length:
        raise DecodeError(
            f"a name of {len(name):,} characters; the limit name_length is {limits.name_length:,}"
        )


def _check_strict(value: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
    if extra:
        names = ", ".join(quote(key, limit=40) for key in list(extra)[:5])
        raise DecodeError(f"unknown members {names} (strict)")
    for key, item in value.items():
        if item is None:
            raise DecodeError(f"{key} is null; leave it out (strict)")
    if "contentType" not in value:
        raise DecodeError("contentType is absent (strict)")


def _string(value: Mapping[str, Any], key: str) -> str | None:
    item = value.get(key)
    if item is None or isinstance(item, str):
        return None if item is None else plain_text(item)
    # Messages of chat APIs are also arrays of objects with a `content`.
    chat = (
        "; a chat message, with a role, is not a part"
        if key == "content" and "role" in value
        else ""
    )
    raise DecodeError(f"{key} is a string, got {_kind(item)}{chat}")


def _default_type(content: str | bytes | None) -> str:
    return TEXT_PLAIN if isinstance(content, str) else OCTET_STREAM


def _content(value: Mapping[str, Any], limits: Limits, strict: bool) -> str | bytes | None:
    content = _string(value, "content")
    url = _string(value, "contentUrl")
    encoding = _string(value, "contentEncoding")
    if (content is None) == (url is None):
        got = "neither" if content is None else "both"
        meant = [f"{key!r} is {meant} here" for key, meant in foreign_members(value)]
        hint = "; ".join(["", *meant])
        raise DecodeError(f"exactly one of content and contentUrl is expected, got {got}{hint}")
    if encoding is not None and encoding not in _ENCODINGS:
        raise DecodeError(f"contentEncoding is 'plain' or 'base64', got {quote(encoding)}")
    if url is not None:
        # An encoding describes how content is written, and a reference has no content.
        if encoding is not None:
            raise DecodeError("contentEncoding goes with content, not with contentUrl")
        return None
    assert content is not None  # noqa: S101 - exactly one was checked above
    held = _from_base64(content, strict) if encoding == "base64" else content
    size = len(held) if isinstance(held, bytes) or held.isascii() else len(held.encode())
    _check_size(size, limits)
    return held


def _check_size(size: int, limits: Limits) -> None:
    if size > limits.part_bytes:
        limit = human_size(limits.part_bytes)
        raise DecodeError(f"content of {human_size(size)}; the limit part_bytes is {limit}")


def _from_base64(text: str, strict: bool) -> bytes:
    try:
        return base64.decode(text, strict=strict)
    except ValueError as error:
        raise DecodeError(
            f"content is not base64 ({error}); contentEncoding says base64. "
            "If it is text, drop contentEncoding"
        ) from error


def _kind(value: Any) -> str:
    """Return JSON's name for the type of a value."""
    if value is None:
        return "null"
    # In this order, because true is an integer in Python.
    kinds: list[tuple[type, str]] = [
        (bool, "true or false"), (str, "a string"), (int, "a number"), (float, "a number"),
        (Mapping, "an object"), (list, "an array"), (tuple, "an array"), (bytes, "bytes"),
    ]  # fmt: skip
    return next((name for kind, name in kinds if isinstance(value, kind)), type(value).__name__)


# Encoding


_write: Final = msgspec.json.Encoder().encode
_ONE_KIND: Final = frozenset({PartRecord})


def encode(records: Sequence[PartRecord], *, indent: int | None = None) -> bytes:
    """Return a body's JSON: an array of parts, in UTF-8.

    Raises:
        LocalFileNotSent: a part is still a local file.
    """
    data = _write(_writable(records))
    return data if indent is None else msgspec.json.format(data, indent=indent)


def encode_parsed(records: Sequence[PartRecord]) -> list[dict[str, Any]]:
    """Return the Python values that `encode` writes."""
    return [msgspec.to_builtins(record) for record in _writable(records)]


def _writable(records: Sequence[PartRecord]) -> Sequence[Any]:
    """Return the values for the JSON library: the records themselves, unless one needs more."""
    # One C call for the whole body, because a Python call for each part would take most of the
    # time.
    if _ONE_KIND.issuperset(map(type, records)):
        return records
    return [
        _flat(record, index) if isinstance(record, RichRecord) else record
        for index, record in enumerate(records)
    ]


def _flat(record: RichRecord, index: int) -> dict[str, Any]:
    """Return the members of a record, with those that the format does not define beside them."""
    if record.local_file is not None:
        place = f"part {quote(record.name)}" if record.name else f"part {index}"
        file = record.local_file
        name = escape(file.path.name, limit=200)
        raise LocalFileNotSent(place, name, human_size(file.size))
    members: dict[str, Any] = msgspec.to_builtins(record)
    # Flattened by hand, because undefined members are beside the others and not below one of them.
    del members["extra"]
    return {**members, **(record.extra or {})}
