"""References inside texts, bytes, payloads and contents of a store: a sweep sees them all."""

import base64
import json
import os
import pickle
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, Part, Resolver, inline, offload, payloads, sweep
from messagebody.errors import AccessDenied, DecodeError, InvalidPart
from messagebody.storage import Bodies, Bytes, Needs, Owner, Recent, Store, open_store, owned
from messagebody.storage._offloading._mentions import digests_of
from messagebody.storage._stores.directory import FileStore
from tests.deletions.stores import age, message

DIGITS = "0123456789abcdef" * 4
DIGEST = f"sha256:{DIGITS}"
URL = f"s3://bucket/prefix/sha256/{DIGITS}"
ESCAPED = f"s3://bucket/prefix/sh%61256/{DIGITS.replace('9', '%39')}"
LONG = "Cats sleep. " * 3_000

# Each makes a text or bytes of a text, in which it can be found again.
WRAPPINGS: dict[str, Any] = {
    "json": lambda text: json.dumps({"x": [text]}),
    "slashes": lambda text: json.dumps(text).replace("/", "\\/"),
    "url": lambda text: quote(text, safe=""),
    "unicode": lambda text: text.replace("/", "\\u002f").replace(":", "\\u003A"),
    "json twice": lambda text: json.dumps(json.dumps(base64.encodebytes(text.encode()).decode())),
    "html": lambda text: text.replace("/", "&#x2F;").replace(":", "&#58;"),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64url": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "lines": lambda text: base64.encodebytes(text.encode()).decode(),
    "lines in json": lambda text: json.dumps(base64.encodebytes(text.encode()).decode()),
    "data url": lambda text: f"data:text/plain;base64,{base64.b64encode(text.encode()).decode()}",
    "word before": lambda text: f"the{base64.b64encode(text.encode()).decode()}end",
    "pickle": lambda text: pickle.dumps([text]).decode("latin-1"),
    "prose": lambda text: f"{LONG}{text}{LONG}",
    "payload": lambda text: payloads.offload({"text": text}, "memory://nowhere", threshold="1 GiB"),
    "body": lambda text: MessageBody([Part(text)]).to_json(),
    "part of bytes": lambda text: MessageBody([Part(text.encode("utf-8", "replace"))]).to_json(),
}


def as_text(wrapped: Any) -> str:
    return wrapped if isinstance(wrapped, str) else json.dumps(wrapped)


class TestDigests:
    @pytest.mark.parametrize("how", WRAPPINGS)
    @pytest.mark.parametrize("mention", [DIGEST, URL, f"x-messagebody:text;sha256={DIGITS};size=1"])
    def test_are_found_in(self, how: str, mention: str) -> None:
        assert DIGEST in digests_of(WRAPPINGS[how](mention))

    @pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
    @pytest.mark.parametrize("how", [each for each in WRAPPINGS if each != "pickle"])
    def test_are_found_in_wide_letters(self, coding: str, how: str) -> None:
        wide = as_text(WRAPPINGS[how](URL)).encode(coding)
        for held in (wide, bytes(200_001) + wide, MessageBody([Part(b"\xff" + wide)])):
            assert DIGEST in digests_of(held)

    @given(st.lists(st.sampled_from([*WRAPPINGS]), max_size=5))
    def test_are_found_at_any_depth(self, ways: list[str]) -> None:
        text = URL
        for way in ways:
            text = as_text(WRAPPINGS[way](text))
        # Escapes of escapes of escapes are nobody's habit: a sign may be escaped twice.
        escapes = [way for way in ways if way in {"url", "unicode", "html", "slashes"}]
        assert len(escapes) > 1 or DIGEST in digests_of(text.encode()), ways

    @pytest.mark.parametrize(
        "value",
        [
            DIGITS, DIGITS.upper(), {DIGITS: 1},
            f"of the file: {DIGITS}.", json.dumps({"value": DIGITS}),
            [b"x" + DIGEST.encode() + b"a"], {"a": (URL,)},
            frozenset({URL}), MessageBody([Part(url=URL)]), Part(url=URL), Part(URL),
            Part(b"\0" + URL.encode()), Bytes(URL.encode()), Path(URL), bytearray(URL.encode()),
            Part(url=ESCAPED), MessageBody([Part(url=ESCAPED)]),
            Part("x", metadata={"of": URL}), Part("x", name=f"/{DIGITS}/sha256-{DIGITS}"),
        ],
        ids=range(19),
    )  # fmt: skip
    def test_of_values(self, value: object) -> None:
        assert digests_of(value) == [DIGEST]

    @pytest.mark.parametrize(
        "text", ["", "sha256:", DIGEST[:-1], f"md5:{DIGITS[:-1]}", "x" * 10_000]
    )
    def test_are_not_invented(self, text: str) -> None:
        assert digests_of(text) == []

    def test_of_a_value_that_holds_itself(self) -> None:
        value: list[Any] = [URL]
        value.append(value)
        assert digests_of(value) == [DIGEST]


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def swept(store: FileStore, *owners: Any, **options: Any) -> list[str]:
    """Sweep, and return what the store has lost."""
    before = {each.key for each in store.iter_objects()}
    done = sweep(store, owners, delete=True, **options)
    gone = before - {each.key for each in store.iter_objects()}
    assert gone == {each.key for each in done.objects}
    return sorted(gone)


def read(small: MessageBody, store: Store) -> None:
    assert len(inline(small, all=True, resolver=Resolver(allow=store))[0].read_bytes()) > 100


class TestInValues:
    """What `payloads.owner` sees; the shell's `--owner` sees the same."""

    @pytest.mark.parametrize(
        "make",
        [
            lambda body: {"answer": body.to_dicts()},
            lambda body: {"answer": body.to_json()},
            lambda body: {"answer": body.to_json_bytes()},
            lambda body: {"answer": base64.b64encode(body.to_json_bytes()).decode()},
            lambda body: {"answer": [body]},
            lambda body: {"answer": body[0]},
            lambda body: {body[0].url: "seen"},
            lambda body: {"url": body[0].url},
            lambda body: {"digest": body[0].digest},
        ],
        ids=["dicts", "json", "bytes", "base64", "body", "part", "key", "url", "digest"],
    )
    def test_bodies_are_needed(self, store: FileStore, make: Any) -> None:
        live, dead = message("live " * 500, store), message("dead " * 500, store)
        value = make(live)
        kept = payloads.offload({"text": LONG}, store)
        age(store)
        owner = payloads.owner([value, kept])
        [gone] = swept(store, Bodies([]), owner, everything=["messages"])
        assert gone in (dead[0].url or "")
        read(live, store)

    def test_what_is_no_value(self) -> None:
        with pytest.raises(InvalidPart, match="a payload is a JSON value, got a object in it"):
            payloads.owner([object()])
        with pytest.raises(DecodeError):
            payloads.owner(["x-messagebody:text;sha256=00"])

    def test_bodies_in_bodies(self, store: FileStore) -> None:
        live, dead = message("live " * 500, store), message("dead " * 500, store)
        outer = MessageBody([Part("see inside"), Part(live.to_json_bytes())])
        other = message("other " * 500, store)
        age(store)
        assert [gone in (dead[0].url or "") for gone in swept(store, Bodies([outer, other]))] == [
            True
        ]
        read(live, store)


class TestInContents:
    """A long text that is in the store itself."""

    def nested(self, live: MessageBody, store: FileStore) -> dict[str, Owner]:
        """Return owners of values whose long contents hold the JSON of a body."""
        text = MessageBody([*live, Part(LONG)]).to_json()
        part = offload(MessageBody([Part(text)]), store, threshold="16 KiB")
        data = offload(MessageBody([Part(text.encode())]), store, threshold="16 KiB")
        whole = data.to_json() + LONG
        inner = offload(MessageBody([Part(whole)]), store, threshold="16 KiB")
        queue = owned(store, "queue")
        offload(MessageBody([Part(text)]), queue, threshold="16 KiB")
        return {
            "payload": payloads.owner(payloads.offload({"tool": text}, store)),
            "base64": payloads.owner(
                payloads.offload({"f": base64.b64encode(text.encode()).decode()}, store)
            ),
            "part": Bodies([part]), "bytes": Bodies([data]), "part in a part": Bodies([inner]),
            "queue": Recent("queue", 10 * 86_400),
        }  # fmt: skip

    @pytest.mark.parametrize(
        "which", ["payload", "base64", "part", "bytes", "part in a part", "queue"]
    )
    def test_references_are_seen(self, store: FileStore, which: str) -> None:
        live, dead = message("live " * 500, store), message("dead " * 500, store)
        owner = self.nested(live, store)[which]
        others: list[Owner] = [Bodies([]), Needs("payloads", []), Needs("queue", [])]
        given = [owner, *(each for each in others if each.name != owner.name)]
        age(store)
        names = [each.name for each in given]
        gone = swept(store, *given, everything=names)
        assert any(each in (dead[0].url or "") for each in gone)
        assert not any(each in (live[0].url or "") for each in gone)
        read(live, store)

    def test_what_they_mention_is_no_garbage(self, store: FileStore) -> None:
        live = message("live " * 500, store)
        outer = message(live.to_json() + LONG, store)
        dead = message("dead " * 500, store)
        age(store)
        found = sweep(store, Bodies([outer]))
        assert [each.key in (dead[0].url or "") for each in found.objects] == [True]

    def test_young_contents_keep_old_ones(self, store: FileStore) -> None:
        """They may be in a message that is on its way."""
        live, kept = message("live " * 500, store), message("kept " * 500, store)
        age(store)
        message(live.to_json() + LONG, store)
        assert swept(store, Bodies([kept])) == []

    def test_a_reference_across_two_pieces(self, store: FileStore) -> None:
        live, dead = message("live " * 500, store), message("dead " * 500, store)
        for before in (2**20 - 90, 2**20 - 70, 2**20 - 10, 2**20):
            text = "x " * (before // 2) + (live[0].url or "") + " x" * 2**20
            outer = message(text, store)
            age(store)
            gone = sweep(store, Bodies([outer])).objects
            assert not any(each.key in (live[0].url or "") for each in gone), before
            assert any(each.key in (dead[0].url or "") for each in gone)

    def test_pictures_are_not_read(self, store: FileStore, monkeypatch: pytest.MonkeyPatch) -> None:
        picture = b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1" + os.urandom(200_000)
        small = offload(MessageBody([Part(picture)]), store, threshold=0)
        message("dead " * 500, store)
        age(store)
        monkeypatch.setattr(FileStore, "stream", lambda *_: pytest.fail("read"))
        assert len(sweep(store, Bodies([small])).objects) == 1

    def test_nothing_is_read_if_there_is_no_garbage(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small = message("live " * 500, store)
        age(store)
        monkeypatch.setattr(FileStore, "read_range", lambda *_: pytest.fail("read"))
        assert sweep(store, Bodies([small])).objects == ()

    def test_what_can_not_be_read_stops_the_sweep(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small = message("live " * 500, store)
        message("dead " * 500, store)
        age(store)

        def denied(self: FileStore, key: str, *_: int) -> bytes:
            raise AccessDenied("403", self.url, key)

        monkeypatch.setattr(FileStore, "read_range", denied)
        with pytest.raises(AccessDenied):
            sweep(store, Bodies([small]), delete=True)
        assert len([*store.iter_objects()]) == 2

    def test_an_object_that_goes_meanwhile_mentions_nothing(self, store: FileStore) -> None:
        live, kept = message("live " * 500, store), message("kept " * 500, store)
        outer = message(live.to_json() + LONG, store)
        age(store)

        class Going:
            name = "messages"

            def needed(self) -> list[str]:
                return [kept[0].digest or "", outer[0].digest or ""]

        listed = [*store.iter_objects()]
        store.delete((outer[0].url or "").removeprefix(f"{store.url}/"))
        store.iter_objects = lambda: iter(listed)  # type: ignore[method-assign]
        assert len(sweep(store, Going()).objects) == 1


def test_what_moves_into_a_new_object_meanwhile(store: FileStore) -> None:
    """One owner was asked before it got the object, the other one after it gave the reference."""
    live, kept = message("live " * 500, store), message("kept " * 500, store)
    message("dead " * 500, store)
    value = payloads.offload({"text": LONG}, store)
    age(store)

    class Giving:
        name = "payloads"

        def needed(self) -> list[str]:
            message(live.to_json() + LONG, store)
            return [*payloads.owner(value).needed()]

    assert len(swept(store, Bodies([kept]), Giving())) == 1
    read(live, store)


@pytest.mark.parametrize("at", range(16))
def test_a_writer_between_mark_and_delete(
    store: FileStore, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Whatever a sweep does next, a writer comes first or waits, and both of its objects stay."""
    text = "again " * 500
    kept, again = message("kept " * 500, store), message(text, store)
    message(again.to_json() + LONG, store)
    age(store)
    calls: list[str] = []
    written: list[MessageBody] = []

    def write() -> None:
        inner = message(text, FileStore(store.root))
        written.extend([inner, message(inner.to_json() + LONG, FileStore(store.root))])

    writer = threading.Thread(target=write)
    for name in ("iter_objects", "stat", "put", "read_range", "delete"):

        def watched(*given: Any, _name: str = name, **named: Any) -> Any:
            calls.append(_name)
            if len(calls) == at + 1:
                writer.start()
                writer.join(0.5)  # it waits for the sweep, or is done
            return getattr(FileStore, _name)(store, *given, **named)

        monkeypatch.setattr(store, name, watched)
    sweep(store, Bodies([kept]), delete=True)
    # Nothing is left to delete, and so no mark, if the writer was quicker than the list.
    assert at < 3 or "delete" in calls
    if at < len(calls):
        writer.join()
        for small in written:
            read(small, FileStore(store.root))


def test_in_memory_and_in_another_place() -> None:
    """A content in the place of one owner mentions an object in that of another."""
    store = open_store("memory://mentions")
    live = message("live " * 500, store)
    message("dead " * 500, store)
    small = payloads.offload({"tool": live.to_json() + LONG}, store)
    given: list[Any] = [Bodies([]), payloads.owner(small)]
    done = sweep(store, given, grace=-60, unsafe=True, delete=True, everything=["messages"])
    assert len(done.objects) == 1
    read(live, store)
