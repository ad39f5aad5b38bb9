"""An honest store, and copies of it with one fault each."""

import threading
from collections.abc import Iterator
from typing import Any

import attrs

from messagebody.errors import ObjectNotFound, StoreError
from messagebody.storage import Blob, Bytes, Stat, Store


class Honest(Store):
    """Objects in a dictionary."""

    url = "memory://honest"

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def stat(self, key: str) -> Stat | None:
        return Stat(key, len(self.held[key]), None) if key in self.held else None

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        if if_absent and key in self.held:
            return False
        self.held[key] = b"".join(blob.buffers(2**20))
        return True

    def read_range(self, key: str, start: int, end: int) -> bytes:
        return self._read(key)[start:end]

    def stream(self, key: str) -> Iterator[bytes]:
        yield from Bytes(self._read(key)).buffers(2**20)

    def iter_objects(self) -> Iterator[Stat]:
        for key in self.held:
            yield Stat(key, len(self.held[key]), None)

    def delete(self, key: str) -> None:
        self.held.pop(key, None)

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


class ListsOnePage(Honest):
    def iter_objects(self) -> Iterator[Stat]:
        yield from [*super().iter_objects()][:10]


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


FAULTS: dict[type[Store], str] = {
    LosesTheLastByte: "test_what_was_put_comes_back",
    WritesTheFirstBuffer: "test_a_large_object_comes_in_pieces",
    IgnoresIfAbsent: "test_what_is_there_is_left_alone",
    NeverReplaces: "test_what_is_there_is_replaced_if_that_is_asked",
    AlwaysSaysWritten: "test_what_is_there_is_left_alone",
    AppendsOnReplace: "test_what_is_there_is_replaced_if_that_is_asked",
    RangeIncludesItsEnd: "test_a_range",
    RangeBeginsTooEarly: "test_a_range",
    RangeBeyondTheEndFails: "test_a_range",
    RangeOfMissingIsEmpty: "test_a_missing_object_can_not_be_read",
    StatLiesAboutTheSize: "test_stat_and_list",
    StatRemembersTheFirstSize: "test_what_is_there_is_replaced_if_that_is_asked",
    StatOfMissingFails: "test_a_missing_object_has_no_stat",
    MissingIsAKeyError: "test_a_missing_object_can_not_be_read",
    MissingIsEmpty: "test_a_missing_object_can_not_be_read",
    MissingIsNotNamed: "test_a_missing_object_can_not_be_read",
    DeleteOfMissingFails: "test_delete",
    DeleteHides: "test_delete",
    DeletesWhatBeginsAlike: "test_no_key_is_taken_for_another",
    ListsOnePage: "test_stat_and_list",
    ListsTwice: "test_stat_and_list",
    ListsWithItsPrefix: "test_stat_and_list",
    ListsWithoutSizes: "test_stat_and_list",
    Flattens: "test_no_key_is_taken_for_another",
    SeesItsNeighbours: "test_a_prefix_holds_its_own_objects",
    PublishesHalf: "test_a_write_that_fails_changes_nothing",
    DeletesBeforeItReplaces: "test_a_write_that_fails_changes_nothing",
    LeavesTemporaryObjects: "test_a_write_that_fails_changes_nothing",
    HidesAFailure: "test_a_write_that_fails_changes_nothing",
    StreamsInOnePiece: "test_a_large_object_comes_in_pieces",
    StreamsTheLastPieceTwice: "test_what_was_put_comes_back",
    FollowsDots: "test_a_key_does_not_lead_out_of_the_store",
    IsOfOneThread: "test_threads_may_share_it",
    NamesAnotherPlace: "test_bodies_come_back",
}
"""The test of the contract that notices each fault."""
