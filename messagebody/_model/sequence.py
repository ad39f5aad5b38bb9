"""A sequence of parts, with access by position like a list and by name like a mapping.

The body adds JSON, patterns, digests and views.
"""

import operator
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from pathlib import PurePath
from types import GeneratorType
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self, TypeVar, overload

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.guards import require_iterable
from messagebody._base.hints import GuidedABC, guided, missing_attribute
from messagebody._base.text import count_of, escape, nearest, quote
from messagebody._model.index import PartList
from messagebody._model.part import Part, build_part, is_same, rewrite_part
from messagebody._model.reading import Reading
from messagebody._wire import reader
from messagebody._wire.members import PartRecord
from messagebody.errors import InvalidArgument, InvalidPart, PartNotFound
from messagebody.names import is_name

_T = TypeVar("_T")
_Parts = TypeVar("_Parts", bound="PartSequence")
# The maximum number of names, and of characters of a name, in the search for a suggestion. It is
# slow, and programs that try names which may be missing should not wait for it.
_COMPARED: Final = 300


class PartSequence(MutableSequence[Part], metaclass=GuidedABC):
    """Parts in order, with a look-up of named parts by their unique names.

    Arguments:
        parts: the parts, in order; see `MessageBody`.

    Raises:
        DuplicateName: two parts have the same name.
        DecodeError: a dict is not a part.
    """

    __slots__ = ("__weakref__", "_parts", "_reading")

    __hash__ = None  # type: ignore[assignment]

    @guided
    def __init__(self, parts: Iterable[Any] = ()) -> None:
        self._parts = PartList([])
        self._reading = Reading()
        self._parts.extend(_records(_several(parts)))

    @classmethod
    def _of(cls, parts: PartList, reading: Reading | None = None) -> Self:
        """Return a body with this list of parts, without copying it."""
        body = cls.__new__(cls)
        body._parts = parts
        body._reading = reading or Reading()
        return body

    @property
    def _resolver(self) -> "messagebody.Resolver | None":
        return self._reading.resolver

    if not TYPE_CHECKING:  # a type checker would assume that a body has every attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    # By position and by name

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[Part]:
        return (Part._of(record, self._reading) for record in self._parts)

    def __contains__(self, value: object) -> bool:
        if isinstance(value, str | PurePath):
            return self._parts.find(key_of(value)) is not None
        if isinstance(value, Part) and value.name is not None:
            return self.get(value.name) == value
        return isinstance(value, Part) and any(value == part for part in self)

    @overload
    def __getitem__(self, key: int | str | PurePath) -> Part: ...
    @overload
    def __getitem__(self, key: slice) -> list[Part]: ...
    def __getitem__(self, key: Any) -> Part | list[Part]:
        key = key_of(key)
        if isinstance(key, str):
            return self._part(self._record_named(key))
        if isinstance(key, slice):
            return Part._all_of(self._parts.records(key), self._reading)
        try:
            record = self._parts.at(key)
        except (IndexError, TypeError):
            record = None
        # Outside, so that the error that says what is wrong has no other one behind it.
        return self._part(record or self._parts.at(self._position(key)))

    def __setitem__(self, key: Any, value: Any) -> None:
        key = key_of(key)
        if isinstance(key, slice):
            parts = [*self]
            parts[key] = _several(value)
            # A new list, so that an error, such as a repeated name, leaves the body unchanged.
            self._parts = type(self)(parts)._parts
        elif not isinstance(key, str):
            self._parts.replace(self._position(key), _record(value))
        elif (old := self.get(key)) is not None:
            self._parts.replace_named(key, rewrite_part(old, value)._record)
        elif isinstance(value, Part):
            self._parts.append(value.evolve(name=key)._record)
        else:
            self._parts.append(build_part(value, name=key)._record)

    def __delitem__(self, key: Any) -> None:
        key = key_of(key)
        if isinstance(key, str):
            if not self._parts.remove_named(key):
                raise self._missing(key)
        elif isinstance(key, slice):
            records = [*self._parts]
            del records[key]
            self._parts = PartList(records)
        else:
            self._parts.remove(self._position(key))

    def insert(self, index: int, value: Part) -> None:
        """Insert a part before a position."""
        if not hasattr(index, "__index__"):
            raise InvalidArgument("a position", index)
        start = slice(index, None).indices(len(self))[0]
        self._parts.insert(start, _record(value))

    def extend(self, values: Iterable[Part]) -> None:
        """Add all parts at the end, or none if one of them can't be added.

        `mount` puts all parts of another body below a directory instead.

        Raises:
            DuplicateName: a name is taken.
        """
        self._parts.extend([_record(part) for part in _several(values)])

    def pop(self, index: int | str = -1) -> Part:
        """Remove and return the part at a position, or the part with a name."""
        part = self[index]
        del self[index]
        return part

    def remove(self, value: Part | str) -> None:
        """Remove a part, given as a part or by its name.

        Raises:
            PartNotFound: no part has that name.
            ValueError: the part is not in the body.
        """
        del self[value if isinstance(value, str | PurePath) else self.index(value)]

    def reverse(self) -> None:
        """Reverse the order of the parts, in place."""
        self._parts = PartList([*self._parts][::-1])

    def clear(self) -> None:
        """Remove all parts."""
        self._parts = PartList([])

    def copy(self) -> Self:
        """Return a copy of the body with the same parts."""
        return self._of(PartList(self._parts.records()), self._reading)

    __copy__ = copy

    def __add__(self, other: Iterable[Part]) -> Self:
        both = self.copy()
        both.extend(other)
        return both

    def __iadd__(self, other: Iterable[Part]) -> Self:
        self.extend(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartSequence):
            return NotImplemented
        mine, theirs = self._parts.records(), other._parts.records()
        return len(mine) == len(theirs) and all(map(is_same, mine, theirs))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), [*self._parts])

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        from copy import deepcopy

        return self._of(PartList(deepcopy([*self._parts], memo)), Reading(self._resolver))

    # Finding

    @guided
    def names(self) -> list[str]:
        """Return the names of the named parts, in message order."""
        return self._parts.columns().named.copy()

    @overload
    def get(self, name: str | PurePath) -> Part | None: ...
    @overload
    def get(self, name: str | PurePath, default: _T) -> Part | _T: ...
    def get(self, name: str | PurePath, default: Any = None) -> Any:
        """Return the part with a name, or `default`."""
        name = key_of(name)
        record = self._parts.find(name) if isinstance(name, str) else None
        return default if record is None else self._part(record)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the position of a part, or of the part with a name.

        Raises:
            PartNotFound: no part has that name.
            ValueError: the part is not in the body.
        """
        value = key_of(value)
        if not isinstance(value, str):
            return self._index_of(value, start, len(self) if stop is None else stop)
        position = self._parts.position_of(value)
        if position is None:
            raise self._missing(value)
        if position not in range(*slice(start, stop).indices(len(self))):
            raise PartNotFound(value, f" in [{start}:{stop}]")
        return position

    # Internal

    def _index_of(self, value: Any, start: int, stop: int) -> int:
        if not isinstance(value, Part):
            raise InvalidArgument("a Part or its name", value)
        try:
            return super().index(value, start, stop)
        except ValueError as error:
            raise InvalidPart(f"{value.label} is not in the body") from error

    def _columns(self) -> tuple[Sequence[str | None], Sequence[str]]:
        """Return all names and all content types, in order, without making parts."""
        columns = self._parts.columns()
        return columns.names, columns.types

    def _part(self, record: PartRecord) -> Part:
        return Part._of(record, self._reading)

    def _bound(self, part: Part) -> Part:
        return part if self._resolver is None else part.with_resolver(self._resolver)

    def _position(self, index: int) -> int:
        if not hasattr(index, "__index__"):
            raise InvalidArgument("a position, a name or a slice", index)
        length, index = len(self), operator.index(index)
        position = index + length if index < 0 else index
        if not 0 <= position < length:
            raise IndexError(f"no part {index}; the body has {count_of(length, 'part')}")
        return position

    def _record_named(self, name: str) -> PartRecord:
        record = self._parts.find(name)
        if record is None:
            raise self._missing(name)
        return record

    def _missing(self, name: str) -> PartNotFound:
        if is_name(name) and self._parts.is_directory(f"{name}/"):
            below = f"{name}/**"
            return PartNotFound(name, f"; it is a directory: list({below!r}) gives its parts")
        return PartNotFound(name, _missing_hint(name, self.names()))


def _several(parts: Any) -> Iterable[Any]:
    """Return parts to go through.

    Raises:
        InvalidArgument: it is one object, such as a table, which would be taken apart.
    """
    if isinstance(parts, list | tuple | PartSequence | GeneratorType):
        return parts
    from messagebody._model.objects import is_one

    if not isinstance(parts, _ADVISED) and is_one(parts):
        takes = "body.add(…) and MessageBody([…]) take it as one part"
        raise InvalidArgument("parts in a list", got=f"a {type(parts).__name__}", hint=takes)
    if isinstance(parts, set | frozenset):
        raise InvalidArgument(
            "parts in a list", parts, "a set has no order; sorted(…) makes a list"
        )
    found: Iterable[Any] = require_iterable(parts)
    return found


_ADVISED: Final = (str, bytes, bytearray, memoryview, dict, PurePath, Part)
"""What `require_iterable` has advice for."""


def _restore(cls: type[_Parts], records: list[PartRecord]) -> _Parts:
    return cls._of(PartList(records))


def key_of(key: Any) -> Any:
    """Return a key of a body; a path, such as `part.path`, becomes a name."""
    return key.as_posix() if isinstance(key, PurePath) else key


def _records(parts: Iterable[Any]) -> list[PartRecord]:
    """Return the records of parts; dicts are parsed as JSON."""
    parts = [*parts]
    unread = [part for part in parts if isinstance(part, dict)]
    read = iter(reader.decode_parsed(unread) if unread else ())
    return [next(read) if isinstance(part, dict) else _record(part) for part in parts]


def _record(part: Any) -> PartRecord:
    """Return the record of a part; content becomes an unnamed part."""
    if isinstance(part, Part):
        return part._record
    if isinstance(part, dict):
        takes = "MessageBody.from_dicts([…]) reads dicts, body.add(…) writes one as JSON"
        raise InvalidPart(f"a body holds parts, got {quote(part)}; {takes}")
    if part is None:
        raise InvalidPart("a body holds parts, got None; body.add(json=None) adds JSON null")
    return Part(part)._record


def _missing_hint(name: str, names: list[str]) -> str:
    """Return a hint for a missing name: the closest name and the first names of the body."""
    has = f"the body has {count_of(len(names), 'named part')}"
    if not names:
        return f"; {has}"
    near = _nearest(name, names)
    meant = f" (did you mean {quote(near)}?)" if near else ""
    shown = ", ".join(escape(name, limit=100) for name in names[:3])
    return f"{meant}; {has}: {shown}{', …' if len(names) > 3 else ''}"


def _nearest(name: str, names: list[str]) -> str:
    # The most common mistake is a missing leading slash.
    if not is_name(name) and "/" + name in names:
        return "/" + name
    return nearest(name[:_COMPARED], names[:_COMPARED])
