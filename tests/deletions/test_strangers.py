"""Sweeps by a stranger to them: places that only look like those of owners, and odd answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, payloads, sweep
from messagebody.errors import InvalidArgument, StoreError
from messagebody.storage import Bodies, Bytes, Needs, Recent
from messagebody.storage._stores.directory import FileStore
from tests.deletions.stores import age, message, value

DIGITS = "a" * 64
SWEEPING = "owners/sweeping"


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


class TestPlaces:
    """What only looks like the place or the record of an owner is never deleted."""

    def test_a_store_inside_that_is_named_like_an_owner(self, store: FileStore) -> None:
        small, kept = message("m" * 100, store), value("p", store)
        inner = FileStore(store.root / "payloads")
        message("theirs" * 100, inner)
        value("theirs", inner)
        message("gone" * 100, store)
        age(store)
        before = {each.key for each in inner.iter_objects()}
        done = sweep(store, [Bodies(small), payloads.owner(kept)], delete=True)
        assert [each.size for each in done.objects] == [400]
        with pytest.raises(StoreError, match="there is no owner 'chat' to forget here; named are"):
            sweep(store, Bodies(small), forget=["chat", "payloads"], delete=True)
        assert len(sweep(store, Bodies(small), forget=["payloads"], delete=True).objects) == 1
        assert {each.key for each in inner.iter_objects()} == before

    @pytest.mark.parametrize(
        "given", [Needs("chat", []), Recent("chat", 1), Bodies([], "chat")], ids=repr
    )
    @pytest.mark.parametrize("where", ["chat", "owners/chat", "owners/messages", "messages"])
    def test_a_place_without_a_record(self, store: FileStore, where: str, given: Any) -> None:
        small = message("m" * 100, store)
        message("theirs" * 100, FileStore(store.root / where))
        age(store)
        swept = sweep(store, [Bodies(small), given], delete=True, everything=["chat"])
        assert swept.objects == ()

    @pytest.mark.parametrize("record", [b"{}", b"[]", b'{"name": "bob", "kind": "", "ask": ""}'])
    def test_a_file_in_the_place_of_a_record(self, store: FileStore, record: bytes) -> None:
        """Such as the card of an owner of something else."""
        small = message("m" * 100, store)
        store.put("owners/alice/owner.json", Bytes(record), content_type="")
        message("theirs" * 100, FileStore(store.root / "owners/alice"))
        age(store)
        with pytest.raises(StoreError, match=r"needs: alice \(unknown"):
            sweep(store, Bodies(small), delete=True)
        with pytest.raises(StoreError, match="this is not the record of an owner"):
            sweep(store, Bodies(small), forget=["alice"], delete=True)
        given: list[Any] = [Bodies(small), Needs("alice", [])]
        assert sweep(store, given, delete=True, everything=["alice"]).objects == ()
        assert store.read_range("owners/alice/owner.json", 0, 99) == record

    def test_a_file_in_the_place_of_the_mark(self, store: FileStore) -> None:
        small = message("m" * 100, store)
        message("gone" * 100, store)
        store.put(SWEEPING, Bytes(b"chimneys, a list"), content_type="")
        age(store)
        with pytest.raises(StoreError, match="sweeping: this is not the mark of a sweep"):
            sweep(store, Bodies(small), delete=True)
        assert store.read_range(SWEEPING, 0, 99) == b"chimneys, a list"
        assert len([*store.iter_objects()]) == 3

    def test_a_place_is_no_store(self, store: FileStore) -> None:
        """Its objects belong to its owner, not to messages."""
        kept = value("p", store)
        age(store)
        place = FileStore(store.root / "owners/payloads")
        for one in (place, place.url, place.root, store.below("owners/payloads")):
            with pytest.raises(StoreError) as caught:
                sweep(one, Bodies([]), delete=True, everything=["messages"])
            said = "this is the place of the owner payloads in a store; sweep the store: "
            assert f"{said}{store.url}" in str(caught.value)
        assert payloads.inline(kept, store) == {"text": "p" * 1000}

    def test_a_file_that_is_named_like_a_record(self, store: FileStore) -> None:
        small = message("m" * 100, store)
        store.put("owner.json", Bytes(b'{"name": "Alice"}'), content_type="")
        assert sweep(store, Bodies(small), delete=True).objects == ()


class Answering:
    """An owner that gives this answer."""

    name = "payloads"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def needed(self) -> Any:
        return self.answer


async def coroutine() -> list[str]:
    return []


class TestAnswers:
    """What an owner says that it needs is understood, or is an error that names the owner."""

    @pytest.mark.parametrize(
        "spell",
        [
            lambda digits: digits, lambda digits: digits.upper(), lambda digits: f"sha256:{digits}",
            lambda digits: f"SHA256:{digits.upper()}", lambda digits: f"sha256%3A{digits}",
            lambda digits: f"sha256%3a{digits}", lambda digits: f"sha256%2F{digits}",
            lambda digits: f"s3://elsewhere/owners/payloads/sha256/{digits}?x=y#z",
            lambda digits: f"owners/payloads/sha256/{digits}", lambda digits: f" {digits}\n",
            lambda digits: json.dumps([{"url": f"memory://x/sha256/{digits}"}]),
        ],
        ids=range(11),
    )  # fmt: skip
    def test_spellings(self, store: FileStore, spell: Any) -> None:
        kept = value("p", store)
        value("gone", store)
        age(store)
        [digest] = payloads.owner(kept).needed()
        answer = [spell(digest.removeprefix("sha256:")), "https://example.com/a.png"]
        swept = sweep(store, Answering(answer), delete=True)
        assert [each.size for each in swept.objects] == [3000]
        assert payloads.inline(kept, store) == {"text": "p" * 1000}

    @pytest.mark.parametrize(
        ("answer", "got"),
        [
            (["a" * 63], f"'{'a' * 63}' at position 0"), (["sha256:"], "'sha256:' at position 0"),
            ([f"sha256:{DIGITS}", "report.pdf"], "'report.pdf' at position 1"),
            (["s3://bucket/sha256/abc"], "'s3://bucket/sha256/abc'"), ([""], "'' at position 0"),
            (["my secret text"], "a text of 14 characters without any"), ([None], "a NoneType"),
            (["https://x/?X-Amz-Signature=secret&y=sha256"], "'https://x/"), ([b"x"], "a bytes"),
            ([["sha256:"]], "a list at"), (None, "None (NoneType)"), (7, "7 (int)"),
            ("abc", "a str"), ({"a": 1}, "dict"), (b"abc", "a bytes"),
            ([MessageBody()], "a MessageBody at"),
        ],
        ids=range(16),
    )  # fmt: skip
    def test_what_is_not_understood(self, store: FileStore, answer: Any, got: str) -> None:
        value("p", store)
        age(store)
        with pytest.raises(InvalidArgument) as caught:
            sweep(store, Answering(answer), delete=True, everything=["payloads"])
        assert "from needed() of the owner 'payloads', got" in str(caught.value)
        assert got in str(caught.value)
        assert "secret" not in str(caught.value)
        assert len([*store.iter_objects()]) == 2

    def test_an_owner_that_answers_once(self, store: FileStore) -> None:
        kept, small = value("p", store), message("m" * 100, store)
        value("gone", store)
        age(store)
        once: list[Any] = [Bodies(each for each in [small])]
        once.append(Answering(iter(payloads.owner(kept).needed())))
        swept = sweep(store, once, delete=True)
        assert [each.size for each in swept.objects] == [3000]
        assert payloads.inline(kept, store) == {"text": "p" * 1000}

    @pytest.mark.filterwarnings("ignore:coroutine")
    def test_a_coroutine(self, store: FileStore) -> None:
        with pytest.raises(InvalidArgument, match=r"got .*coroutine.*await it: Needs\(name, await"):
            sweep(store, Answering(coroutine()))

    @pytest.mark.parametrize("seconds", [0, -1, float("nan"), True, "90 days", None])
    def test_a_time_of_nothing(self, seconds: Any) -> None:
        with pytest.raises(InvalidArgument, match=r"positive number of seconds, got .*'chat', 90"):
            Recent("chat", seconds)

    def test_names_to_forget(self, store: FileStore) -> None:
        value("p", store)
        with pytest.raises(InvalidArgument, match=r'got a str; forget=\["old-chat"\]'):
            sweep(store, [], forget="payloads")
        for name in ("messages", "payload"):
            words = f"there is no owner '{name}' to forget here; named are payloads"
            with pytest.raises(StoreError, match=words):
                sweep(store, Needs("payloads", []), forget=[name])

    def test_everything_is_for_one_owner(self, store: FileStore) -> None:
        value("p", store)
        message("m" * 100, store)
        age(store)
        given: list[Any] = [Bodies([]), Needs("payloads", [f"sha256:{DIGITS}"])]
        for everything in ([], ["messages"], ["payloads"]):
            with pytest.raises(StoreError, match="needs nothing of this store"):
                sweep(store, given, delete=True, everything=everything)
        with pytest.raises(StoreError, match=r"\(1 object, none of them in its place\).*store, or"):
            sweep(store, given, delete=True, everything=["messages"])
        both = ["messages", "payloads"]
        assert len(sweep(store, given, delete=True, everything=both).objects) == 2
