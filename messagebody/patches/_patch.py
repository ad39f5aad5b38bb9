"""The patch: a document that makes exactly one body of exactly one other."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import attrs

from messagebody._base.digests import is_digest
from messagebody._base.guards import require_body, require_limits
from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._base.text import quote
from messagebody._model.access import edit
from messagebody._model.body import MessageBody
from messagebody._wire import strict_json
from messagebody.errors import DigestMismatch, InvalidArgument, InvalidPatch, OtherBase
from messagebody.patches._difference import difference
from messagebody.patches._edits import composed
from messagebody.patches._operations import (
    AddedPart,
    ChangedPart,
    KeptParts,
    Operation,
    joined,
    operation_of,
)

MEDIA_TYPE: Final = "application/vnd.messagebody.patch+json"
"""The media type of a patch."""
_VERSION: Final = 1
_Old = TypeVar("_Old")
_MEMBERS: Final = frozenset({"messagebodyPatch", "base", "target", "parts"})


@attrs.frozen
class Patch:
    """What makes one body of another one; `diff` returns it.

    Arguments:
        base: the state digest of the body that it changes.
        target: the state digest of the body that it makes.
        parts: what makes the parts of the new body, in order. An old part that none names goes.

    Examples:
        >>> from messagebody import diff
        >>> old, new = MessageBody(["It is cold."]), MessageBody(["It is warm."])
        >>> patch = diff(old, new)
        >>> patch.apply(old) == new
        True
        >>> Patch.from_json(patch.to_json()) == patch
        True
    """

    base: str
    target: str
    parts: tuple[Operation, ...]
    _old: MessageBody | None = attrs.field(default=None, eq=False, repr=False, kw_only=True)
    """The body that it changes, if it is known, for `invert`."""

    # JSON

    @classmethod
    def from_json(
        cls, data: str | bytes | bytearray | memoryview, *, limits: Limits = DEFAULT_LIMITS
    ) -> "Patch":
        """Read a patch.

        Arguments:
            data: the document; bytes are UTF-8.
            limits: the limits of a document.

        Raises:
            InvalidPatch: it is no patch, or breaks a rule; the text says which one.
        """
        require_limits(limits)
        if not isinstance(data, str | bytes | bytearray | memoryview):
            raise InvalidArgument("JSON, as text or bytes", data, "Patch.from_dict takes a dict")
        if len(data) > limits.json_bytes:
            raise InvalidPatch(f"it has more than {limits.json_bytes:,} bytes")
        try:
            value = strict_json.loads(data, depth=limits.depth, values=limits.values)
        except strict_json.InvalidJson as error:
            raise InvalidPatch(f"it is no JSON: {error}") from error
        return cls.from_dict(value, limits=limits)

    @classmethod
    def from_dict(cls, value: Any, *, limits: Limits = DEFAULT_LIMITS) -> "Patch":
        """Return the patch of parsed JSON; see `from_json`."""
        require_limits(limits)
        if not isinstance(value, dict) or value.keys() != _MEMBERS:
            members = ", ".join(sorted(_MEMBERS))
            raise InvalidPatch(f"a patch is an object of {members}, got {quote(value, limit=80)}")
        version = value["messagebodyPatch"]
        if type(version) is not int or version != _VERSION:
            raise InvalidPatch(
                f"its version is {quote(version, limit=80)}, and {_VERSION} is known"
            )
        for key in ("base", "target"):
            if not is_digest(value[key]):
                raise InvalidPatch(f"its {key} is no digest, got {quote(value[key], limit=80)}")
        listed = value["parts"]
        if not isinstance(listed, list):
            raise InvalidPatch(f"its parts are a list, got {quote(listed, limit=80)}")
        operations = tuple(operation_of(each, limits) for each in listed)
        _check_used(operations, limits)
        return cls(value["base"], value["target"], operations)

    def to_dict(self) -> dict[str, Any]:
        """Return the patch as parsed JSON."""
        parts = [each.to_json() for each in self.parts]
        return {
            "messagebodyPatch": _VERSION,
            "base": self.base,
            "target": self.target,
            "parts": parts,
        }

    def to_json(self) -> str:
        """Return the patch as compact JSON.

        Raises:
            LocalFileNotSent: a part that it adds is still a local file.
        """
        return strict_json.dumps(self.to_dict())

    # What is done with it

    def apply(self, body: MessageBody, *, limits: Limits = DEFAULT_LIMITS) -> MessageBody:
        """Return the new body; nothing else is ever returned.

        Arguments:
            body: the old body, which stays as it is.
            limits: the limits of the parts that change.

        Raises:
            OtherBase: the patch is for another body.
            InvalidPatch: it names a part or a place that is not there, or makes what is no body.
            DigestMismatch: what it makes is not what it promises.
        """
        old = require_body(body).copy()
        if (digest := old.state_digest) != self.base:
            raise OtherBase(self.base, digest)
        new = MessageBody()
        try:
            with edit(new):
                parts = _made(
                    self.parts,
                    list(old),
                    lambda added: added.part,
                    lambda part, change: change.apply(part, limits),
                )
                new.extend(parts)
        except FileExistsError as error:
            raise InvalidPatch(str(error)) from error
        if (digest := new.state_digest) != self.target:
            raise DigestMismatch("the body that the patch makes", self.target, digest)
        return new

    def invert(self, old: MessageBody | None = None) -> "Patch":
        """Return the patch that makes the old body of the new one.

        A patch that `diff` made knows what it removes. The JSON of a patch doesn't say it, so a
        patch that was read needs the old body.

        Arguments:
            old: the body that the patch changes.

        Raises:
            InvalidPatch: the old body is not known.

        Examples:
            >>> from messagebody import diff
            >>> old, new = MessageBody(["one", "two"]), MessageBody(["one"])
            >>> diff(old, new).invert().apply(new) == old
            True
        """
        known = self._old if old is None else require_body(old)
        if known is None:
            raise InvalidPatch("it was read, and says not what it removes: patch.invert(old)")
        return diff(self.apply(known), known)

    def __or__(self, other: object) -> "Patch":
        """Return the patch that does what this one and then another do.

        Raises:
            OtherBase: the other one is for another body.
        """
        if not isinstance(other, Patch):
            return NotImplemented
        if self.target != other.base:
            raise OtherBase(other.base, self.target)
        operations = joined(_made(other.parts, [*_singly(self.parts)], lambda added: added, _both))
        return Patch(self.base, other.target, operations, old=self._old)


def diff(old: MessageBody, new: MessageBody) -> Patch:
    """Return the patch that makes one body of another one.

    It says which parts stay, come, go, move and change; in contents, only what changed is in it.
    The cost is linear in the size of both, and nothing is fetched.

    Arguments:
        old: the body that the patch changes.
        new: the body that it makes.

    Raises:
        LocalFileNotSent: a part is still a local file.

    Examples:
        >>> old = MessageBody(["It is cold."])
        >>> new = MessageBody(["It is warm."])
        >>> [change] = diff(old, new).parts
        >>> change.edits
        (Splice(at=6, cut=4, data=b'warm'),)
    """
    old, new = require_body(old).copy(), require_body(new).copy()
    return Patch(*difference(old, new), old=old)


def _singly(operations: Sequence[Operation]) -> Iterator[Operation]:
    for each in operations:
        if isinstance(each, KeptParts):
            yield from (KeptParts(each.first + number, 1) for number in range(each.count))
        else:
            yield each


def _made(
    operations: Sequence[Operation],
    old: Sequence[_Old],
    add: Callable[[AddedPart], _Old],
    change: Callable[[_Old, ChangedPart], _Old],
) -> Iterator[_Old]:
    """Yield what operations make of old parts, or of the operations that made these.

    Raises:
        InvalidPatch: one names a part that is not there.
    """
    for each in operations:
        match each:
            case AddedPart():
                yield add(each)
            case KeptParts(first, count):
                _check_place(first + count - 1, old)
                yield from old[first : first + count]
            case ChangedPart(index):
                _check_place(index, old)
                yield change(old[index], each)


def _check_place(index: int, old: Sequence[object]) -> None:
    if index >= len(old):
        raise InvalidPatch(f"it names old part {index:,}, and there are {len(old):,}")


def _both(before: Operation, after: ChangedPart) -> Operation:
    if isinstance(before, AddedPart):
        return AddedPart(after.apply(before.part, DEFAULT_LIMITS))
    if isinstance(before, KeptParts):
        return attrs.evolve(after, index=before.first)
    kept = {key: value for key, value in before.set.items() if key not in after.unset}
    changed = {**kept, **after.set}
    gone = dict.fromkeys([*before.unset, *after.unset])
    unset = tuple(key for key in gone if key not in changed)
    edits = tuple(composed(before.edits, after.edits))
    # Edits that end each other leave the content, and need no digest.
    digest = (after.digest or before.digest) if edits else None
    return ChangedPart(before.index, changed, unset, edits, digest)


def _check_used(operations: Sequence[Operation], limits: Limits) -> None:
    """Refuse operations that make too many parts, or use an old part twice."""
    count = sum(each.count if isinstance(each, KeptParts) else 1 for each in operations)
    if count > limits.parts:
        raise InvalidPatch(f"it makes {count:,} parts, and a body has at most {limits.parts:,}")
    spans = sorted(
        (each.first, each.count) if isinstance(each, KeptParts) else (each.index, 1)
        for each in operations
        if not isinstance(each, AddedPart)
    )
    for (first, size), (second, _) in itertools.pairwise(spans):
        if first + size > second:
            raise InvalidPatch(f"it uses old part {second:,} twice")
