"""An honest store, and copies of it with one fault each."""

import contextlib
import fnmatch
import functools
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

import attrs

from messagebody.errors import ObjectNotFound, StoreError
from messagebody.storage import Blob, Bytes, Stat, Store


class Honest(Store):
    """Objects in a dictionary."""

    url = "memory://honest"

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self.types: dict[str, str] = {}
        self._lock = threading.Lock()

    def stat(self, key: str) -> Stat | None:
        found = self.held.get(key)
        return None if found is None else Stat(key, len(found), None)

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        data = b"".join(blob.buffers(2**20))
        with self._lock:
            if if_absent and key in self.held:
                return False
            self.held[key], self.types[key] = data, content_type
            return True

    def read_range(self, key: str, start: int, end: int) -> bytes:
        return self._read(key)[start:end]

    def stream(self, key: str) -> Iterator[bytes]:
        yield from Bytes(self._read(key)).buffers(2**20)

    def iter_objects(self) -> Iterator[Stat]:
        for key, data in [*self.held.items()]:
            yield Stat(key, len(data), None)

    def delete(self, key: str) -> None:
        self.held.pop(key, None)

    def failing(self) -> Store | None:
        """Return a store of the same kind whose server does not answer."""
        return None

    def _read(self, key: str) -> bytes:
        if key not in self.held:
            raise ObjectNotFound(store=self.url, key=key)
        return self.held[key]


class LosesTheLastByte(Honest):
    def put(self, key: str, blob: Blob, **options: Any) -> bool:
        return super().put(key, Bytes(blob.read()[:-1]), **options)


class WritesTheFirstBuffer(Honest):
    def put(self, key: str, blob: Blob, **options: Any) -> bool:
        return super().put(key, Bytes(next(blob.buffers(2**20), b"")), **options)


class IgnoresIfAbsent(Honest):
    def put(self, key: str, blob: Blob, *, if_absent: bool = True, **options: Any) -> bool:
        return super().put(key, blob, if_absent=False, **options)


class NeverReplaces(Honest):
    def put(self, key: str, blob: Blob, *, if_absent: bool = True, **options: Any) -> bool:
        return super().put(key, blob, if_absent=True, **options)


class AlwaysSaysWritten(Honest):
    def put(self, key: str, blob: Blob, **options: Any) -> bool:
        super().put(key, blob, **options)
        return True


class AppendsOnReplace(Honest):
    def put(self, key: str, blob: Blob, *, if_absent: bool = True, **options: Any) -> bool:
        before = b"" if if_absent else self.held.get(key, b"")
        written = super().put(key, blob, if_absent=if_absent, **options)
        self.held[key] = before + self.held[key]
        return written


class RangeIncludesItsEnd(Honest):
    def read_range(self, key: str, start: int, end: int) -> bytes:
        return super().read_range(key, start, end + 1)


class RangeBeginsTooEarly(Honest):
    def read_range(self, key: str, start: int, end: int) -> bytes:
        return super().read_range(key, max(0, start - 1), end)


class RangeBeyondTheEndFails(Honest):
    def read_range(self, key: str, start: int, end: int) -> bytes:
        if end > len(self._read(key)):
            raise StoreError("416", self.url, key)
        return super().read_range(key, start, end)


class RangeOfMissingIsEmpty(Honest):
    def read_range(self, key: str, start: int, end: int) -> bytes:
        return super().read_range(key, start, end) if key in self.held else b""


class StatLiesAboutTheSize(Honest):
    def stat(self, key: str) -> Stat | None:
        found = super().stat(key)
        return None if found is None else attrs.evolve(found, size=-(-found.size // 512) * 512)


class StatRemembersTheFirstSize(Honest):
    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, Stat | None] = {}

    def put(self, key: str, blob: Blob, **options: Any) -> bool:
        written = super().put(key, blob, **options)
        self.seen.setdefault(key, super().stat(key))
        return written

    def stat(self, key: str) -> Stat | None:
        return self.seen.get(key) if key in self.held else None


class StatOfMissingFails(Honest):
    def stat(self, key: str) -> Stat | None:
        self._read(key)
        return super().stat(key)


class MissingIsAKeyError(Honest):
    def _read(self, key: str) -> bytes:
        return self.held[key]


class MissingIsEmpty(Honest):
    def _read(self, key: str) -> bytes:
        return self.held.get(key, b"")


class MissingIsNotNamed(Honest):
    def _read(self, key: str) -> bytes:
        if key not in self.held:
            raise ObjectNotFound
        return self.held[key]


class DeleteOfMissingFails(Honest):
    def delete(self, key: str) -> None:
        del self.held[key]


class DeleteHides(Honest):
    """It leaves a marker, which is listed."""

    def delete(self, key: str) -> None:
        self.held[key] = b""


class DeletesWhatBeginsAlike(Honest):
    def delete(self, key: str) -> None:
        self.held = {each: self.held[each] for each in self.held if not each.startswith(key)}


class ListsTwice(Honest):
    def iter_objects(self) -> Iterator[Stat]:
        found = [*super().iter_objects()]
        yield from [*found[:10], *found[9:]]


class ListsWithItsPrefix(Honest):
    def iter_objects(self) -> Iterator[Stat]:
        for found in super().iter_objects():
            yield attrs.evolve(found, key=f"tenant/{found.key}")


class ListsWithoutSizes(Honest):
    def iter_objects(self) -> Iterator[Stat]:
        for found in super().iter_objects():
            yield attrs.evolve(found, size=0)


class Flattens(Honest):
    """It keeps the last segment of a key."""

    def put(self, key: str, blob: Blob, **options: Any) -> bool:
        return super().put(key.rpartition("/")[2], blob, **options)

    def stat(self, key: str) -> Stat | None:
        found = super().stat(key.rpartition("/")[2])
        return None if found is None else attrs.evolve(found, key=key)

    def _read(self, key: str) -> bytes:
        return super()._read(key.rpartition("/")[2])


class SeesItsNeighbours(Honest):
    def below(self, name: str) -> Store:
        found = super().below(name)
        vars(found)["_prefix"] = name  # without the slash
        return found


class PublishesHalf(Honest):
    def put(self, key: str, blob: Blob, *, if_absent: bool = True, **_: Any) -> bool:
        if if_absent and key in self.held:
            return False
        self.held[key] = b""
        for piece in blob.buffers(2**20):
            self.held[key] += piece
        return True


class DeletesBeforeItReplaces(Honest):
    def put(self, key: str, blob: Blob, *, if_absent: bool = True, **options: Any) -> bool:
        if not if_absent:
            self.delete(key)
        return super().put(key, blob, if_absent=if_absent, **options)


class LeavesTemporaryObjects(Honest):
    def put(self, key: str, blob: Blob, **options: Any) -> bool:
        self.held[f"{key}.tmp"] = b""
        written = super().put(key, blob, **options)
        del self.held[f"{key}.tmp"]
        return written


class HidesAFailure(Honest):
    def put(self, key: str, blob: Blob, **options: Any) -> bool:
        try:
            return super().put(key, blob, **options)
        except StoreError:
            return False


class StreamsInOnePiece(Honest):
    def stream(self, key: str) -> Iterator[bytes]:
        yield self._read(key)


class StreamsTheLastPieceTwice(Honest):
    def stream(self, key: str) -> Iterator[bytes]:
        piece = b""
        for piece in super().stream(key):
            yield piece
        yield piece


class FollowsDots(Honest):
    @staticmethod
    def _place(key: str) -> str:
        while "/../" in key:
            before, _, after = key.partition("/../")
            key = "/".join([*before.split("/")[:-1], after])
        return key

    def put(self, key: str, blob: Blob, **options: Any) -> bool:
        return super().put(self._place(key), blob, **options)


class IsOfOneThread(Honest):
    def __init__(self) -> None:
        super().__init__()
        self.owner = threading.get_ident()

    def put(self, key: str, blob: Blob, **options: Any) -> bool:
        if threading.get_ident() != self.owner:
            raise StoreError("it is of another thread", self.url, key)
        return super().put(key, blob, **options)


class NamesAnotherPlace(Honest):
    def url_of(self, key: str) -> str:
        return f"https://example.com/{key}"


class Aliases(Honest):
    """It keeps an object under another key than it was told, and says nothing."""

    place: Callable[[str], str]

    def put(self, key: str, blob: Blob, **options: Any) -> bool:
        return super().put(self.place(key), blob, **options)

    def stat(self, key: str) -> Stat | None:
        found = super().stat(self.place(key))
        return None if found is None else attrs.evolve(found, key=key)

    def _read(self, key: str) -> bytes:
        return super()._read(self.place(key))

    def delete(self, key: str) -> None:
        super().delete(self.place(key))


def _aliasing(name: str, place: Callable[[str], str]) -> type[Aliases]:
    return type(name, (Aliases,), {"place": staticmethod(place)})


IgnoresCase = _aliasing("IgnoresCase", str.lower)
ComposesLetters = _aliasing("ComposesLetters", functools.partial(unicodedata.normalize, "NFC"))
ComparesLetters = _aliasing("ComparesLetters", functools.partial(unicodedata.normalize, "NFKC"))
DecodesEscapes = _aliasing("DecodesEscapes", unquote)
CutsKeys = _aliasing("CutsKeys", lambda key: key[:64])
CutsLongKeys = _aliasing("CutsLongKeys", lambda key: key[:255])
CutsLongNames = _aliasing(
    "CutsLongNames", lambda key: "/".join(segment[:100] for segment in key.split("/"))
)
StripsKeys = _aliasing("StripsKeys", str.strip)
SwapsSlashes = _aliasing("SwapsSlashes", lambda key: key.replace("\\", "/"))


class DecodesWhatIsAsked(Honest):
    """Only a reader is given another object."""

    def _read(self, key: str) -> bytes:
        return super()._read(unquote(key))


class DeletesByPattern(Honest):
    def delete(self, key: str) -> None:
        for each in [*self.held]:
            if fnmatch.fnmatchcase(each, key):
                del self.held[each]


class DeletesByLike(Honest):
    def delete(self, key: str) -> None:
        like = re.escape(key).replace("%", ".*").replace("_", ".")
        for each in [*self.held]:
            if re.fullmatch(like, each, re.DOTALL):
                del self.held[each]


class DeletesByExpression(Honest):
    def delete(self, key: str) -> None:
        for each in [*self.held]:
            with contextlib.suppress(re.error):
                if re.fullmatch(key, each):
                    self.held.pop(key, self.held.pop(each))
        super().delete(key)


class DeletesWhateverTheCase(Honest):
    def delete(self, key: str) -> None:
        self.held = {each: data for each, data in self.held.items() if each.lower() != key.lower()}


class FindsByPattern(Honest):
    def stat(self, key: str) -> Stat | None:
        return next((super(FindsByPattern, self).stat(each) for each in self.held
                     if fnmatch.fnmatchcase(each, key)), None)  # fmt: skip

    def put(self, key: str, blob: Blob, *, if_absent: bool = True, **options: Any) -> bool:
        if if_absent and self.stat(key) is not None:
            return False
        return super().put(key, blob, if_absent=False, **options)


class ShowsWhatItWrites(Honest):
    """What fails is taken back, but readers have seen it."""

    def put(self, key: str, blob: Blob, *, if_absent: bool = True, **_: Any) -> bool:
        before = self.held.get(key)
        if if_absent and before is not None:
            return False
        try:
            self.held[key] = b""
            for piece in blob.buffers(2**20):
                self.held[key] += piece
        except StoreError:
            if before is None:
                del self.held[key]
            else:
                self.held[key] = before
            raise
        return True


class IsGoneWhileItIsReplaced(Honest):
    def put(self, key: str, blob: Blob, *, if_absent: bool = True, **options: Any) -> bool:
        before = None if if_absent else self.held.pop(key, None)
        try:
            return super().put(key, blob, if_absent=if_absent, **options)
        except StoreError:
            if before is not None:
                self.held[key] = before
            raise


class LooksFirst(Honest):
    """All writers find nothing there, and all write."""

    def put(self, key: str, blob: Blob, *, if_absent: bool = True, **_: Any) -> bool:
        if if_absent and key in self.held:
            return False
        self.held[key] = b"".join(blob.buffers(2**20))
        return True


class LooksAfterReading(Honest):
    def put(self, key: str, blob: Blob, *, if_absent: bool = True, **options: Any) -> bool:
        data = blob.read() if isinstance(blob, Bytes) else b"".join(blob.buffers(2**20))
        is_there = if_absent and key in self.held
        time.sleep(0.01)
        return not is_there and super().put(key, Bytes(data), if_absent=False, **options)


class EndsWhenItIsDeleted(Honest):
    def stream(self, key: str) -> Iterator[bytes]:
        size, at = len(self._read(key)), 0
        while at < size and key in self.held:
            yield self.held[key][at : at + 2**20]
            at += 2**20


class InPieces(Honest):
    """Large objects are kept as several."""

    def put(self, key: str, blob: Blob, *, if_absent: bool = True, **options: Any) -> bool:
        written = super().put(key, blob, if_absent=if_absent, **options)
        if written and len(self.held[key]) > 2**20:
            self.rest[key] = self.held[key][2**20 :]
            self.held[key] = self.held[key][: 2**20]
        return written

    def __init__(self) -> None:
        super().__init__()
        self.rest: dict[str, bytes] = {}

    def stat(self, key: str) -> Stat | None:
        return Stat(key, len(self._read(key)), None) if key in {*self.held, *self.rest} else None

    def iter_objects(self) -> Iterator[Stat]:
        for key in {**self.held, **self.rest}:
            yield Stat(key, len(self._read(key)), None)

    def _read(self, key: str) -> bytes:
        if key not in {*self.held, *self.rest}:
            raise ObjectNotFound(store=self.url, key=key)
        return self.held.get(key, b"") + self.rest.get(key, b"")


class DeletesTheFirstPiece(InPieces):
    """The rest of a large object stays."""


class DeletesNothingLarge(Honest):
    def delete(self, key: str) -> None:
        if len(self.held.get(key, b"")) <= 2**20:
            super().delete(key)


class LeavesTheRest(InPieces):
    """The rest of a large object stays unseen, and is found again behind the next one."""

    def stat(self, key: str) -> Stat | None:
        return super().stat(key) if key in self.held else None

    def iter_objects(self) -> Iterator[Stat]:
        for key in self.held:
            yield Stat(key, len(self._read(key)), None)

    def _read(self, key: str) -> bytes:
        if key not in self.held:
            raise ObjectNotFound(store=self.url, key=key)
        return super()._read(key)


class ListsFifty(Honest):
    def iter_objects(self) -> Iterator[Stat]:
        yield from [*super().iter_objects()][:50]


class ListsAThousand(Honest):
    def iter_objects(self) -> Iterator[Stat]:
        yield from [*super().iter_objects()][:1000]


class SaysMilliseconds(Honest):
    def stat(self, key: str) -> Stat | None:
        found = super().stat(key)
        return None if found is None else attrs.evolve(found, modified=time.time() * 1000)


class ListsLocalTime(Honest):
    def iter_objects(self) -> Iterator[Stat]:
        for found in super().iter_objects():
            yield attrs.evolve(found, modified=time.time() - 3600)


class RaisesErrorsOfItsClient(Honest):
    """A key that the client refuses is an error of the client."""

    def stat(self, key: str) -> Stat | None:
        if len(key) > 1024:
            raise ValueError("Invalid key")
        return super().stat(key)


class RaisesErrorsOfTheSystem(Honest):
    def delete(self, key: str) -> None:
        if "\x00" in key:
            raise OSError("embedded null byte")
        super().delete(key)


class Fails(Honest):
    """The server does not answer, and the client says so in its own words."""

    def stat(self, key: str) -> Stat | None:
        raise ConnectionError("no route to the server")

    def _read(self, key: str) -> bytes:
        raise StoreError("no route to the server", self.url, key)

    def put(self, key: str, blob: Blob, **_: Any) -> bool:
        raise StoreError("no route to the server", self.url, key)

    def delete(self, key: str) -> None:
        raise StoreError("no route to the server", self.url, key)


class FailsForeignly(Honest):
    def failing(self) -> Store:
        return Fails()


class HidesThatItFails(Fails):
    def stat(self, key: str) -> Stat | None:
        return None


class SaysThatNothingIsThere(Honest):
    """A server that does not answer is taken for one where nothing is."""

    def failing(self) -> Store:
        return HidesThatItFails()


class LosesParameters(Honest):
    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        written = super().put(key, blob, content_type=content_type, if_absent=if_absent)
        self.types[key] = content_type.partition(";")[0]
        return written


class GuessesTypes(Honest):
    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        written = super().put(key, blob, content_type=content_type, if_absent=if_absent)
        self.types[key] = "application/octet-stream"
        return written


FAULTS: dict[str, tuple[type[Honest], ...]] = {
    "test_what_was_put_comes_back": (StatLiesAboutTheSize, LosesTheLastByte,
        StreamsTheLastPieceTwice),
    "test_a_large_object_comes_in_pieces": (WritesTheFirstBuffer, StreamsInOnePiece),
    "test_what_is_there_is_left_alone": (IgnoresIfAbsent, AlwaysSaysWritten),
    "test_what_is_there_is_replaced_if_that_is_asked": (NeverReplaces, AppendsOnReplace,
        StatRemembersTheFirstSize),
    "test_a_range": (RangeIncludesItsEnd, RangeBeginsTooEarly, RangeBeyondTheEndFails),
    "test_a_missing_object_can_not_be_read": (RangeOfMissingIsEmpty, MissingIsAKeyError,
        MissingIsEmpty, MissingIsNotNamed),
    "test_no_key_is_taken_for_another": (DeletesWhatBeginsAlike, ListsTwice,
        ListsWithItsPrefix, ListsWithoutSizes, Flattens, IgnoresCase, ComposesLetters,
        ComparesLetters, DecodesEscapes, CutsKeys, CutsLongKeys, CutsLongNames, StripsKeys,
        SwapsSlashes, DecodesWhatIsAsked, DeletesByPattern, DeletesByLike,
        DeletesByExpression, DeletesWhateverTheCase, FindsByPattern),
    "test_delete": (StatOfMissingFails, DeleteOfMissingFails, DeleteHides),
    "test_a_prefix_holds_its_own_objects": (SeesItsNeighbours,),
    "test_a_write_that_fails_changes_nothing": (PublishesHalf, DeletesBeforeItReplaces,
        LeavesTemporaryObjects, HidesAFailure),
    "test_a_key_does_not_lead_out_of_the_store": (FollowsDots,),
    "test_one_of_several_writers_writes": (IsOfOneThread, LooksFirst, LooksAfterReading),
    "test_bodies_come_back": (NamesAnotherPlace,),
    "test_nobody_sees_half_of_it": (ShowsWhatItWrites, IsGoneWhileItIsReplaced),
    "test_what_is_deleted_meanwhile_does_not_look_whole": (EndsWhenItIsDeleted,),
    "test_a_large_object_is_deleted": (DeletesTheFirstPiece, DeletesNothingLarge, LeavesTheRest),
    "test_many_objects_are_listed": (ListsFifty, ListsAThousand),
    "test_times_are_seconds": (SaysMilliseconds, ListsLocalTime),
    "test_errors_are_of_the_toolkit": (RaisesErrorsOfItsClient, RaisesErrorsOfTheSystem,
        FailsForeignly, SaysThatNothingIsThere),
    "test_content_types_are_kept": (LosesParameters, GuessesTypes),
}  # fmt: skip
"""The faults that each test of the contract notices."""
