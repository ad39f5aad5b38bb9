"""A store with several owners: nothing of one goes with what another does not need."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import payloads, sweep
from messagebody.errors import AccessDenied, InvalidArgument, StoreError
from messagebody.storage import Bodies, Bytes, Needs, Recent, open_store, owned
from messagebody.storage._stores.directory import FileStore
from messagebody.storage._stores.owners import Mark, wait_for_sweep
from tests.deletions.stores import DAY, age, message, value

KEY = f"sha256/{'a' * 64}"


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path)


class TestNames:
    def test_an_owner_names_itself_before_its_first_object(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        written: list[str] = []
        put = FileStore.put

        def noted(store: FileStore, key: str, *given: Any, **options: Any) -> bool:
            written.append(key)
            return put(store, key, *given, **options)

        monkeypatch.setattr(FileStore, "put", noted)
        value("a", store)
        first, second = written
        assert first == "owners/payloads/owner.json"
        assert second.startswith("owners/payloads/sha256/")
        assert json.loads((store.root / first).read_bytes()) == {
            "name": "payloads", "kind": "payloads", "ask": "payloads.owner(value)"
        }  # fmt: skip

    def test_once_an_hour(self, store: FileStore, monkeypatch: pytest.MonkeyPatch) -> None:
        mine = owned(store, "chat", kind="langgraph", ask="owner(saver)")
        record = store.root / "owners/chat/owner.json"
        mine.put("a", Bytes(b"1"), content_type="")
        record.unlink()
        mine.put("b", Bytes(b"1"), content_type="")
        assert not record.exists()
        now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: now + 3601)
        mine.put("c", Bytes(b"1"), content_type="")
        assert record.exists()

    def test_one_name_for_two_kinds_is_refused(self, store: FileStore) -> None:
        value("a", store, owner="chat")
        other = owned(store, "chat", kind="langgraph", ask="owner(saver)")
        with pytest.raises(StoreError, match="the owner chat is 'payloads'; choose another"):
            other.put(KEY, Bytes(b"1"), content_type="")
        assert store.stat(f"owners/chat/{KEY}") is None

    @pytest.mark.parametrize(
        "name", ["", "a/b", "..", "messages", "owners", "sha256", "sweeping", "x" * 65]
    )
    def test_is_a_segment_of_a_key(self, store: FileStore, name: str) -> None:
        with pytest.raises(InvalidArgument, match="an owner's name"):
            payloads.Payloads(store, owner=name)


class TestSweep:
    @pytest.fixture
    def shared(self, store: FileStore) -> dict[str, Any]:
        """Three owners, each with something old that it needs and that it does not."""
        found: dict[str, Any] = {
            "messages": message("m" * 100, store), "payloads": value("p", store),
            "chat": value("c", store, owner="chat"),
        }  # fmt: skip
        message("m-gone" * 100, store)
        value("p-gone", store)
        value("c-gone", store, owner="chat")
        age(store)
        return found

    def owners(self, shared: dict[str, Any]) -> list[Any]:
        return [
            Bodies(shared["messages"]), payloads.owner(shared["payloads"]),
            payloads.owner([shared["chat"]], name="chat"),
        ]  # fmt: skip

    def test_each_keeps_what_it_needs(self, store: FileStore, shared: dict[str, Any]) -> None:
        before = {each.key for each in store.iter_objects()}
        listed = sweep(store, self.owners(shared))
        assert {each.key for each in store.iter_objects()} == before
        swept = sweep(store, self.owners(shared), delete=True)
        assert {each.key for each in swept.objects} == {each.key for each in listed.objects}
        assert sorted(each.size for each in swept.objects) == [600, 4500, 4500]
        assert payloads.inline(shared["chat"], store, owner="chat") == {"text": "c" * 1000}
        assert {each.key for each in store.iter_objects()} == before - {
            each.key for each in swept.objects
        }

    def test_is_refused_where_one_is_missing(
        self, store: FileStore, shared: dict[str, Any]
    ) -> None:
        for delete in (False, True):
            for missing in self.owners(shared):
                others = [each for each in self.owners(shared) if each.name != missing.name]
                with pytest.raises(StoreError) as caught:
                    sweep(store, others, delete=delete)
                assert f"needs: {missing.name} (" in str(caught.value)
        assert "(payloads: payloads.owner(value))" in str(caught.value)
        assert len([*store.iter_objects()]) == 8

    def test_an_owner_that_fails_keeps_everything(
        self, store: FileStore, shared: dict[str, Any]
    ) -> None:
        class Down:
            name = "chat"

            def needed(self) -> Iterator[str]:
                yield f"sha256:{'0' * 64}"
                raise ConnectionError("the database is down")

        with pytest.raises(ConnectionError):
            sweep(store, [*self.owners(shared)[:2], Down()], delete=True)
        assert len([*store.iter_objects()]) == 8

    def test_what_moves_between_owners_meanwhile_is_seen(
        self, store: FileStore, shared: dict[str, Any]
    ) -> None:
        messages, values, chat = self.owners(shared)
        moving = [message("m-gone" * 100, store)[0].digest or ""]
        age(store)

        class Giving:
            name = "payloads"

            def needed(self) -> list[str]:
                # Asked after the first, and it has given its reference to it meanwhile.
                kept.extend(moving)
                moving.clear()
                return [*values.needed()]

        kept = [*messages.needed()]

        class Taking:
            name = "messages"

            def needed(self) -> list[str]:
                return [*kept]

        swept = sweep(store, [Taking(), Giving(), chat], delete=True)
        assert sorted(each.size for each in swept.objects) == [4500, 4500]

    def test_one_that_needs_nothing_is_probably_a_mistake(
        self, store: FileStore, shared: dict[str, Any]
    ) -> None:
        owners = [*self.owners(shared)[:2], Needs("chat", [])]
        with pytest.raises(StoreError, match="the owner chat needs nothing of this store"):
            sweep(store, owners, delete=True)
        assert len([*store.iter_objects()]) == 8
        assert len(sweep(store, owners, delete=True, everything=["chat"]).objects) == 4

    def test_one_that_is_gone_is_forgotten_with_its_last_object(
        self, store: FileStore, shared: dict[str, Any]
    ) -> None:
        value("young", store, owner="chat")
        owners = self.owners(shared)[:2]
        for left in (1, 0):
            assert store.stat("owners/chat/owner.json") is not None
            sweep(store, owners, delete=True, forget=["chat"])
            assert len([*store.below("owners/chat/sha256").iter_objects()]) == left
            age(store)
        assert store.stat("owners/chat/owner.json") is None
        assert sweep(store, owners, delete=True).objects == ()

    def test_recent_needs_what_is_younger(self, store: FileStore, shared: dict[str, Any]) -> None:
        owners = [*self.owners(shared)[:2], Recent("chat", 30 * DAY)]
        assert len(sweep(store, owners).objects) == 2
        age(store, 36)
        assert len(sweep(store, owners).objects) == 2
        age(store, 38)
        assert len(sweep(store, owners, delete=True).objects) == 4

    @pytest.mark.parametrize("turn", [1, -1])
    def test_an_owner_that_is_given_twice_has_the_longer_time(
        self, store: FileStore, turn: int
    ) -> None:
        owned(store, "queue").put(KEY, Bytes(b"x"), content_type="")
        age(store, 30)
        given: list[Any] = [Needs("queue", []), Recent("queue", 90 * DAY)][::turn]
        assert sweep(store, given, delete=True, everything=["queue"]).objects == ()

    def test_what_is_old_when_it_arrives_is_not_deleted_at_once(self, store: FileStore) -> None:
        """Nobody was asked about it when the sweep began; it is copied there with its old time."""
        small = message("m" * 100, store)
        message("gone" * 100, store)
        age(store)
        asked: list[int] = []

        class Copying:
            name = "messages"

            def needed(self) -> Any:
                if asked:
                    (store.root / KEY).write_bytes(b"x")
                    age(store)
                asked.append(1)
                return Bodies(small).needed()

        assert len(sweep(store, Copying(), delete=True).objects) == 1
        assert len(asked) == 2
        assert (store.root / KEY).exists()

    def test_objects_of_other_stores_are_not_read(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Stores of others may lie in a store, and hold anything."""
        small = message("m" * 100, store)
        message("gone" * 100, store)
        message("n" * 100, FileStore(store.root / "other"))
        age(store)
        read, reading = list[str](), FileStore.read_range

        def noted(self: FileStore, key: str, start: int, end: int) -> bytes:
            read.append(key)
            return reading(self, key, start, end)

        monkeypatch.setattr(FileStore, "read_range", noted)
        assert len(sweep(store, Bodies(small)).objects) == 1
        assert [key for key in read if key.startswith("other/")] == []

    def test_places_of_nobody_stay(self, store: FileStore, shared: dict[str, Any]) -> None:
        for key in (f"mine/{KEY}", f"messages/{KEY}", f"a/b/{KEY}", "owners/x.txt"):
            store.put(key, Bytes(b"1"), content_type="")
        age(store)
        swept = sweep(store, self.owners(shared), delete=True)
        assert len(swept.objects) == 3
        assert store.stat(f"messages/{KEY}")

    @pytest.mark.parametrize("record", [b"", b"{", b"[" * 9999, b'{"kind": "\\u001b"}', b"\xff"])
    def test_a_damaged_record_still_names_its_owner(
        self, store: FileStore, shared: dict[str, Any], record: bytes
    ) -> None:
        store.put("owners/chat/owner.json", Bytes(record), content_type="", if_absent=False)
        with pytest.raises(StoreError, match=r"needs: chat \(unknown: an object with"):
            sweep(store, self.owners(shared)[:2])

    def test_a_record_of_a_stranger_prints_nothing_odd(self, store: FileStore) -> None:
        odd = json.dumps({"name": "chat", "kind": "\x1b[31m", "ask": "x" * 999}).encode()
        store.put("owners/chat/owner.json", Bytes(odd), content_type="")
        with pytest.raises(StoreError) as caught:
            sweep(store, [])
        assert "\x1b" not in str(caught.value)
        assert len(str(caught.value)) < 600


class TestMark:
    def test_a_second_sweep_waits_for_the_first(self, store: FileStore) -> None:
        small = message("m" * 100, store)
        message("gone" * 100, store)
        age(store)
        with Mark(store):
            with pytest.raises(StoreError, match="another sweep deletes here"):
                sweep(store, Bodies(small), delete=True)
            assert len(sweep(store, Bodies(small)).objects) == 1
        assert len(sweep(store, Bodies(small), delete=True).objects) == 1
        assert [each.key[:7] for each in store.iter_objects()] == ["sha256/"]

    def test_the_mark_of_a_killed_sweep_is_taken_over(self, store: FileStore) -> None:
        small = message("m" * 100, store)
        message("gone" * 100, store)
        Mark(store).__enter__()
        age(store)
        assert len(sweep(store, Bodies(small), delete=True).objects) == 1

    def test_a_sweep_that_lost_its_mark_stops(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Mark(store) as first:
            age(store, 1)
            now = time.monotonic()
            with Mark(store) as second:
                monkeypatch.setattr(time, "monotonic", lambda: now + 15)
                with pytest.raises(StoreError, match="another sweep deletes here"):
                    first.renew()
                assert first.is_young()
                second.renew()
            monkeypatch.setattr(time, "monotonic", lambda: now + 25)
            assert not first.is_young()

    @pytest.mark.parametrize("hours", [-50, 50])
    def test_a_wrong_clock_deletes_nothing(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch, hours: int
    ) -> None:
        small = message("m" * 100, store)
        message("gone" * 100, store)
        age(store, 30)
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + hours * 3600)
        with pytest.raises(StoreError, match=f"the clock of this machine is {abs(hours)} hours"):
            sweep(store, Bodies(small), delete=True)
        assert len([*store.iter_objects()]) == 2

    def test_a_writer_of_an_old_object_waits_and_looks(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The sweep saw that the object is old; a writer renews it; then the sweep deletes it."""
        again = message("again" * 100, store)
        age(store)
        [found] = store.iter_objects()
        waits: list[float] = []
        with Mark(store) as mark:

            def deleted_meanwhile(seconds: float) -> None:
                waits.append(seconds)
                store.delete(found.key)
                mark.__exit__(None, None, None)

            monkeypatch.setattr(time, "sleep", deleted_meanwhile)
            assert message("again" * 100, store) == again
        assert len(waits) == 1
        assert [each.key for each in store.iter_objects()] == [found.key]

    def test_a_slow_sweep_looks_again(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Between its look and the deletion more time passed than writers wait."""
        small = message("m" * 100, store)
        again = message("again" * 100, store)
        age(store)
        stat, offset = FileStore.stat, [0.0]
        now = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: now() + offset[0])
        monkeypatch.setattr(time, "sleep", lambda seconds: offset.__setitem__(0, offset[0] + 20))

        def slow(self: FileStore, key: str) -> Any:
            found = stat(self, key)
            if key in (again[0].url or "") and not offset[0]:
                offset[0] = 1.0  # this once
                assert message("again" * 100, store) == again
            return found

        listed = [*store.iter_objects()]
        monkeypatch.setattr(FileStore, "iter_objects", lambda _: iter(listed))
        monkeypatch.setattr(FileStore, "stat", slow)
        assert sweep(store, Bodies(small), delete=True).objects == ()
        assert offset[0] > 60
        assert (store.root / (again[0].url or "")[-71:]).exists()

    def test_a_writer_that_may_not_list_needs_no_mark(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """S3 answers 403 for what is not there, unless the role may list the bucket."""
        again = message("again" * 100, store)
        age(store)
        stat = FileStore.stat

        def denied(self: FileStore, key: str) -> Any:
            found = stat(self, key)
            if found is None:
                raise AccessDenied("403", self.url, key)
            return found

        monkeypatch.setattr(FileStore, "stat", denied)
        assert message("again" * 100, store) == again
        [found] = store.iter_objects()
        assert time.time() - (found.modified or 0) < DAY

    def test_a_stale_mark_costs_writers_nothing(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Mark(store).__enter__()
        age(store, 1)
        store.put(KEY, Bytes(b""), content_type="")
        monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("waited"))
        wait_for_sweep(store, KEY)


@pytest.mark.parametrize("place", ["s3", "memory"])
def test_other_stores_have_owners_too(place: str, request: pytest.FixtureRequest) -> None:
    """Records, the mark and the clock work as in a directory."""
    is_s3 = place == "s3"
    store = request.getfixturevalue("moto_store") if is_s3 else open_store("memory://owned")
    small, kept = message("m" * 100, store), value("p", store)
    value("gone", store)
    with pytest.raises(StoreError, match="needs: payloads"):
        sweep(store, Bodies(small))
    given: list[Any] = [Bodies(small), payloads.owner(kept)]
    swept = sweep(store, given, grace=-60, delete=True, unsafe=True)
    assert [each.key[:16] for each in swept.objects] == ["owners/payloads/"]
    assert payloads.inline(kept, store) == {"text": "p" * 1000}
    assert sorted(each.key.partition("sha256")[0] for each in store.iter_objects()) == [
        "", "owners/payloads/", "owners/payloads/owner.json"
    ]  # fmt: skip
