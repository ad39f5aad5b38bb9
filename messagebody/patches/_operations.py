"""The operations of a patch: parts that are kept, added or changed; their JSON, read strictly."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import attrs

from messagebody._base.digests import is_digest, sha256_of
from messagebody._base.limits import Limits
from messagebody._base.text import quote
from messagebody._model.access import record_of
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._wire.members import KEYS, piece_members, piece_of, refuse_near_misses
from messagebody._wire.state import members_of
from messagebody.errors import DigestMismatch, InvalidPart, InvalidPatch, MessageBodyError
from messagebody.patches._edits import Splice, check_order, edited

_CONTENT: Final = frozenset({"content", "contentEncoding"})
_OF_REFERENCES: Final = frozenset({"contentUrl", "size", "digest"})
_NOTHING: Final = {"content": "", "contentEncoding": "base64"}
"""Content that any type may have."""
_ALWAYS_THERE: Final = frozenset({"contentType", "contentUrl"})


@attrs.frozen
class KeptParts:
    """Old parts as they are.

    Arguments:
        first: the index of the first.
        count: how many.
    """

    first: int
    count: int

    def to_json(self) -> dict[str, Any]:
        """Return the operation as JSON."""
        return {"keep": [self.first, self.count]}


@attrs.frozen
class AddedPart:
    """A new part.

    Arguments:
        part: the part.
    """

    part: Part

    def to_json(self) -> dict[str, Any]:
        """Return the operation as JSON."""
        return {"add": MessageBody([self.part]).to_dicts()[0]}


@attrs.frozen
class ChangedPart:
    """An old part with changes.

    Arguments:
        index: its index.
        set: members with new values.
        unset: members that go.
        edits: what is cut from its content and put in.
        digest: the digest of the new content, if there are edits.
    """

    index: int
    set: Mapping[str, Any] = attrs.field(factory=dict)
    unset: tuple[str, ...] = ()
    edits: tuple[Splice, ...] = ()
    digest: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the operation as JSON."""
        written: dict[str, Any] = {"change": self.index}
        if self.set:
            written["set"] = dict(self.set)
        if self.unset:
            written["unset"] = [*self.unset]
        if self.edits:
            written["edits"] = [
                {"at": edit.at, "cut": edit.cut, **piece_members(edit.data)} for edit in self.edits
            ]
            written["digest"] = self.digest
        return written

    def apply(self, part: Part, limits: Limits) -> Part:
        """Return a part with the changes.

        Raises:
            InvalidPatch: the part can't have them.
            DigestMismatch: its new content is not the promised one.
        """
        if not self.edits:
            return self._described(part, limits)
        if part.is_reference:
            raise InvalidPatch(f"{part.label} is a reference, which has no content to edit")
        old = part.read_bytes()
        data = edited(old, self.edits)
        if (digest := sha256_of(data)) != self.digest:
            raise DigestMismatch(f"{part.label} after the patch", str(self.digest), digest)
        return self._described(part.evolve(content=_like(part.text, old, data)), limits)

    def _described(self, part: Part, limits: Limits) -> Part:
        if not self.set and not self.unset:
            return part
        foreign = () if part.is_reference else _OF_REFERENCES & {*self.set, *self.unset}
        if foreign:
            problem = f"{part.label} is no reference, so its {min(foreign)} can't be changed"
            raise InvalidPatch(problem)
        stated = members_of(record_of(part))
        members = {key: each for key, each in stated.items() if key not in self.unset}
        content = {} if part.is_reference else _NOTHING
        try:
            [made] = MessageBody.from_dicts([{**members, **self.set, **content}], limits=limits)
        except MessageBodyError as error:
            raise InvalidPatch(f"{part.label} can't have these members: {error}") from error
        if part.is_reference:
            return made
        about = {"name": made.name, "content_type": made.content_type, "metadata": made.metadata}
        # As bytes, because the text may have another encoding by its new type.
        return part.evolve(**about, extra=made.extra, content=part.read_bytes())


def _like(text: str | None, old: bytes, data: bytes) -> str | bytes:
    """Return new content as text if the old one is text, whatever its type says."""
    try:
        # In another encoding, the bytes would change with the text.
        is_utf8 = text is not None and text.encode() == old
        return data.decode() if is_utf8 else data
    except UnicodeError:
        return data


Operation = KeptParts | AddedPart | ChangedPart
"""What a patch does for some parts of the new body."""


def joined(operations: Iterator[Operation]) -> tuple[Operation, ...]:
    """Return operations, in which neighbours that are kept are one."""
    found: list[Operation] = []
    for each in operations:
        last = found[-1] if found else None
        if (
            isinstance(last, KeptParts)
            and isinstance(each, KeptParts)
            and last.first + last.count == each.first
        ):
            found[-1] = KeptParts(last.first, last.count + each.count)
        else:
            found.append(each)
    return tuple(found)


def operation_of(value: Any, limits: Limits) -> Operation:
    """Return the operation that JSON says.

    Raises:
        InvalidPatch: it is none, or breaks a rule.
    """
    if isinstance(value, dict):
        if value.keys() == {"keep"}:
            return _keep(value["keep"])
        if value.keys() == {"add"}:
            return _add(value["add"], limits)
        if "change" in value:
            return _change(value)
    raise InvalidPatch(f"an operation is keep, add or change, got {quote(value, limit=80)}")


def _keep(value: Any) -> KeptParts:
    if isinstance(value, list) and [*map(type, value)] == [int, int] and min(value) >= 0:
        first, count = value
        if count:
            return KeptParts(first, count)
    raise InvalidPatch(f"keep is [first, count], got {quote(value, limit=80)}")


def _add(value: Any, limits: Limits) -> AddedPart:
    try:
        [part] = MessageBody.from_dicts([value], limits=limits)
    except MessageBodyError as error:
        raise InvalidPatch(f"the part that it adds is none: {error}") from error
    return AddedPart(part)


def _change(value: dict[str, Any]) -> ChangedPart:
    _only(value, {"change", "set", "unset", "edits", "digest"})
    index, changed, gone = value["change"], value.get("set", {}), value.get("unset", [])
    if type(index) is not int or index < 0:
        raise InvalidPatch(f"change is the index of a part, got {quote(index, limit=80)}")
    edits, digest = value.get("edits", []), value.get("digest")
    if not isinstance(edits, list):
        raise InvalidPatch(f"edits is a list, got {quote(edits, limit=80)}")
    made = tuple(map(_edit, edits))
    check_order(made)
    if (made or digest is not None) and not (made and is_digest(digest)):
        raise InvalidPatch("edits come with the digest of the new content")
    return ChangedPart(index, _members(changed), _names(gone, changed), made, digest)


def _members(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidPatch(f"set is an object, got {quote(value, limit=80)}")
    if wrong := [key for key in value if key in _CONTENT or (key in KEYS and value[key] is None)]:
        raise InvalidPatch(f"set has no {quote(wrong[0])}: content is edited, and null is unset")
    try:
        refuse_near_misses(value.keys() - KEYS)
    except InvalidPart as error:
        raise InvalidPatch(f"set: {error}") from error
    return value


def _names(value: Any, changed: Collection[str]) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidPatch(f"unset is a list of members, got {quote(value, limit=80)}")
    if wrong := [each for each in value if each in _CONTENT | _ALWAYS_THERE or each in changed]:
        raise InvalidPatch(f"{quote(wrong[0])} can't be unset")
    return tuple(dict.fromkeys(value))


def _edit(value: Any) -> Splice:
    if not isinstance(value, dict):
        raise InvalidPatch(f"an edit is an object, got {quote(value, limit=80)}")
    _only(value, {"at", "cut", "text", "base64"})
    at, cut = value.get("at"), value.get("cut")
    if type(at) is not int or type(cut) is not int or min(at, cut) < 0:
        raise InvalidPatch("at and cut of an edit are numbers of bytes")
    if ("text" in value) == ("base64" in value):
        raise InvalidPatch("an edit has either text or base64")
    try:
        return Splice(at, cut, piece_of(value))
    except ValueError as error:
        raise InvalidPatch(f"what an edit puts in: {error}") from error


def _only(value: Mapping[str, Any], known: Collection[str]) -> None:
    if unknown := sorted(value.keys() - known):
        raise InvalidPatch(f"nothing is known of its member {quote(unknown[0], limit=80)}")
