"""Parts and bodies as a program builds and reads them."""

import asyncio
import copy
import io
import os
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, MessageBodySchema, Part, Resolver, check, offload
from messagebody.errors import (
    DecodeError,
    DigestMismatch,
    DigestUnknown,
    DuplicateName,
    InvalidArgument,
    InvalidContentType,
    InvalidName,
    InvalidPart,
    InvalidPattern,
    LimitExceeded,
    LocalFileChanged,
    LocalFileNotSent,
    PartNotFound,
)
from messagebody.samples import EXAMPLES, example_body, example_schema_json, sample
from messagebody.storage import FetchLimits


@pytest.fixture
def body() -> MessageBody:
    body = MessageBody()
    body.add("Cats are [cute](source:1).", content_type="text/markdown")
    body.add({"rows": 3}, name="/data/summary.json")
    body.add(b"\x89PNG\r\n\x1a\n", name="/charts/a.png")
    body.add(url="https://example.com/cats?sig=s3cret", name="/sources/1", content_type="text/html")
    return body


def test_text_is_told_by_the_type() -> None:
    types = ["text/markdown", "image/svg+xml", "application/json", "image/png"]
    assert [Part("x", content_type=each).is_text for each in types] == [True, True, True, False]


class TestBuilding:
    def test_what_add_takes(self, tmp_path: Path) -> None:
        path = tmp_path / "talk.md"
        path.write_text("# Talk")
        body = MessageBody()
        added = [
            body.add("text"),
            body.add(sample("chart.png")),
            body.add(io.BytesIO(b"\xff\xfe")),
            body.add(path, name="/talk.md"),
            body.add([1, None]),
            body.add(json=None),
            body.add(json="a string"),
            body.add(url="s3://bucket/key.csv"),
        ]
        assert [part.content_type for part in added] == [
            "text/plain", "image/png", added[2].content_type, "text/markdown",
            "application/json", "application/json", "application/json", "text/csv",
        ]  # fmt: skip
        assert [part.text for part in added[4:7]] == ["[1,null]", "null", '"a string"']
        assert list(body) == added

    @pytest.mark.parametrize(
        "given", [{}, {"content": "a", "url": "s3://b/k"}, {"json": 1, "content": ""}]
    )
    def test_exactly_one(self, given: dict[str, Any]) -> None:
        with pytest.raises(InvalidPart, match="exactly one of content, json and url"):
            MessageBody().add(**given)

    @pytest.mark.parametrize("value", [object(), 3, {1: 2}, [float("nan")], io.StringIO("x")])
    def test_what_add_refuses(self, value: Any) -> None:
        with pytest.raises(InvalidPart):
            MessageBody().add(value)

    def test_all_parts_are_added_or_none(self) -> None:
        body = MessageBody([Part("1", name="/1")])
        with pytest.raises(DuplicateName):
            body.extend([Part("2"), Part("3", name="/1")])
        assert len(body) == 1

    def test_a_taken_name(self, body: MessageBody) -> None:
        before = body.copy()
        with pytest.raises(DuplicateName, check=lambda error: error.name == "/sources/1"):
            body.add("x", name="/sources/1")
        with pytest.raises(DuplicateName):
            body.extend([Part("x", name="/new"), Part("x", name="/new")])
        with pytest.raises(DuplicateName):
            body.move("/sources/1", "/charts/a.png")
        assert body == before

    def test_a_directory_moves_with_all_below_it(self) -> None:
        names = ["/a/x", "/b", "/a/b/x", "/a", "/ab"]
        for old, new, expected in [
            ("/a/b", "/c", ["/a/x", "/b", "/c/x", "/a", "/ab"]),
            ("/a", "/c", ["/a/x", "/b", "/a/b/x", "/c", "/ab"]),
            ("/a/", "/c/d", ["/c/d/x", "/b", "/c/d/b/x", "/a", "/ab"]),
            ("/a/", "/a/b/", ["/a/b/x", "/b", "/a/b/b/x", "/a", "/ab"]),
            ("/", "/r", ["/r/a/x", "/r/b", "/r/a/b/x", "/r/a", "/r/ab"]),
            ("/a/", "/a", names),
        ]:
            body = MessageBody(Part(name, name=name) for name in names)
            first = body.move(old, new)
            assert body.names() == expected
            assert [part.text for part in body] == names
            below = [each for each in names if each.startswith(f"{old.rstrip('/')}/")]
            assert first.text == (old if old in names else below[0])

    def test_a_directory_that_can_not_move(self) -> None:
        body = MessageBody(Part("x", name=name) for name in ("/a/x", "/b/x", "/c"))
        before = body.copy()
        with pytest.raises(DuplicateName, check=lambda error: error.name == "/b/x"):
            body.move("/a", "/b")
        with pytest.raises(PartNotFound):
            body.move("/d/", "/e")
        with pytest.raises(PartNotFound):
            body.move("/c/", "/e")
        for new in ("c", "/c//d", "/"):
            with pytest.raises(InvalidName):
                body.move("/a", new)
        with pytest.raises(InvalidArgument, match="a name"):
            body.move(0, "/e")  # type: ignore[arg-type]
        assert body == before

    def test_some_of_the_parts(self) -> None:
        body = MessageBody([Part("x"), Part("a", name="/a.md"), Part("b", name="/b/c.md")])
        assert body.select("/*.md").names() == ["/a.md"]
        assert list(body.select(["/b/**", None])) == [body[0], body[2]]
        assert list(body.drop("/**")) == [body[0]]
        assert list(body.drop([None, "/*.md"])) == [body[2]]
        assert len(body) == 3
        for choose in (body.select, body.drop):
            with pytest.raises(InvalidPattern):
                choose("a.md")
            with pytest.raises(InvalidArgument, match="patterns"):
                choose(None)  # type: ignore[arg-type]

    def test_overwriting_keeps_place_and_type(self, body: MessageBody) -> None:
        body["/data/summary.json"] = {"rows": 4}
        assert (body[1].text, body[1].content_type) == ('{"rows":4}', "application/json")
        body["/charts/a.png"] = b"\xff\xd8\xff\xe0\0\x10JFIF\0"
        assert (body[2].name, body[2].content_type) == ("/charts/a.png", "image/jpeg")
        body["/new.txt"] = "last"
        body.append(Part("words", name="/new"))
        body["/new"] = ["no words"]
        assert (body[-1].text, body[-1].content_type) == ('["no words"]', "application/json")
        body.append(Part("{}", name="/own", content_type="application/vnd.own+json"))
        body["/own"] = {"a": 1}
        assert body[-1].content_type == "application/vnd.own+json"

    def test_a_sequence(self, body: MessageBody) -> None:
        parts = list(body)
        assert body[1:3] == parts[1:3]
        assert body[-1] == parts[-1]
        assert body.index("/charts/a.png") == body.index(parts[2]) == 2
        assert body.pop("/charts/a.png") == parts[2]
        del body[0]
        body.insert(1, parts[0])
        assert list(body) == [parts[1], parts[0], parts[3]]
        body.reverse()
        assert list(body) == [parts[3], parts[0], parts[1]]
        assert list(body + MessageBody([Part("x")])) == [*body, Part("x")]
        body[0:2] = [Part("y")]
        assert list(body) == [Part("y"), parts[1]]
        assert body[-1] == parts[1]
        with pytest.raises(IndexError, match="no part 9; the body has 2 parts") as caught:
            _ = body[9]
        assert caught.value.__context__ is None
        with pytest.raises(InvalidPart, match="a body holds parts"):
            body.append({"content": "text"})  # type: ignore[arg-type]
        with pytest.raises(InvalidPart, match=r"got None; body.add\(json=None\) adds JSON null"):
            body.append(None)  # type: ignore[arg-type]

    def test_the_name_of_a_directory(self) -> None:
        body = MessageBody([Part("x", name="/sources/1")])
        with pytest.raises(PartNotFound, match=r"is a directory: list\('/sources/\*\*'\)"):
            _ = body["/sources"]

    def test_missing(self, body: MessageBody) -> None:
        with pytest.raises(PartNotFound) as caught:
            _ = body["sources/1"]
        assert str(caught.value) == (
            "no part 'sources/1' (did you mean '/sources/1'?); the body has 3 named parts: "
            "/data/summary.json, /charts/a.png, /sources/1"
        )
        assert (caught.value.errno, caught.value.filename) == (2, "sources/1")
        assert "x y" not in body
        assert body.get("x y", 7) == 7

    def test_a_part_is_in_a_body_that_has_an_equal_one(self) -> None:
        body = MessageBody([Part("a", name="/a"), Part("b")])
        assert Part("a", name="/a") in body
        assert Part("b") in body
        for other in (Part("b", name="/a"), Part("a", name="/b"), Part("a"), b"a", 0):
            assert other not in body

    @pytest.mark.parametrize(
        ("stated", "kept"),
        [
            ("text/html; charset=iso-8859-1", "text/html"),
            ("text/html; charset=us-ascii", "text/html"),
            ("text/html; charset=UTF-8", "text/html; charset=UTF-8"),
        ],
    )
    def test_text_in_the_place_of_another_charset_is_utf_8(self, stated: str, kept: str) -> None:
        body = MessageBody([Part(b"old", name="/a.html", content_type=stated)])
        body["/a.html"] = "grüezi"
        assert (body["/a.html"].text, body["/a.html"].content_type) == ("grüezi", kept)


class TestReading:
    def test_text(self, body: MessageBody) -> None:
        body.add("And funny.")
        assert body.read_text() == "Cats are [cute](source:1).\n\nAnd funny."
        assert body["/data/summary.json"].read_json() == {"rows": 3}
        assert [part.name for part in body.unnamed("text/plain")] == [None]

    def test_charsets(self) -> None:
        latin = Part("grüezi".encode("latin-1"), content_type="text/plain; charset=iso-8859-1")
        assert latin.read_text() == "grüezi"
        with pytest.raises(DecodeError, match="byte 2 is not utf-8"):
            Part("grüezi".encode("latin-1"), name="/a", content_type="text/plain").read_text()
        with pytest.raises(InvalidContentType, match="give bytes"):
            Part("x", content_type="text/plain; charset=utf-16")

    def test_json_that_is_none(self) -> None:
        with pytest.raises(DecodeError, match=r"part '/a.json': not JSON"):
            Part("{", name="/a.json").read_json()

    def test_a_lone_surrogate(self) -> None:
        with pytest.raises(InvalidPart, match="character 1 is the lone surrogate U\\+D800"):
            Part("a\ud800")

    def test_asynchronously(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        path.write_text("[1]")
        part = Part(path)

        async def read() -> list[Any]:
            return [await part.aread_bytes(), await part.aread_text(), await part.aread_json()]

        assert asyncio.run(read()) == [b"[1]", "[1]", [1]]

    def test_promises_are_kept(self) -> None:
        with pytest.raises(InvalidPart, match="size says 3, the content has 1 byte"):
            Part("x", size=3)
        with pytest.raises(InvalidPart, match="digest says"):
            Part("x", digest="sha256:" + "0" * 64)


class TestLocalFiles:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "a.txt"
        path.write_text("one")
        return path

    def test_read_late(self, path: Path) -> None:
        body = MessageBody()
        part = body.add(path, name="/a.txt")
        assert (part.size, part.read_text()) == (3, "one")
        with part.open() as stream:
            assert stream.read() == b"one"
        with pytest.raises(LocalFileNotSent) as caught:
            body.to_json()
        assert str(caught.value) == (
            "part '/a.txt' is still the local file a.txt (3 B), which JSON can't carry. "
            'Offload it: offload(body, "s3://…"), or read it in: inline(body)'
        )
        assert body.digest == MessageBody([Part("one", name="/a.txt")]).digest

    @pytest.mark.parametrize("change", ["grow", "touch", "vanish", "fifo"])
    def test_changed(self, path: Path, change: str) -> None:
        part = Part(path)
        if change == "grow":
            path.write_text("longer")
        elif change == "touch":
            os.utime(path, (time.time() + 9, time.time() + 9))
        else:
            path.unlink()
        if change == "fifo":
            os.mkfifo(path)
        with pytest.raises(LocalFileChanged, match=r"a\.txt"):
            part.read_bytes()

    def test_what_is_no_file(self, tmp_path: Path) -> None:
        for path in (tmp_path, tmp_path / "missing", Path("/dev/null")):
            with pytest.raises(InvalidPart):
                Part(path)


class TestIdentity:
    def test_equality(self, body: MessageBody) -> None:
        assert Part("é", content_type="text/plain") == Part("é".encode(), content_type="text/plain")
        assert Part("a", metadata={"x": 1}) != Part("a", metadata={"x": True})
        assert Part("a", metadata={}) != Part("a")
        assert body != [*body]
        with pytest.raises(TypeError):
            hash(body)

    def test_copies(self, body: MessageBody) -> None:
        for made in (copy.copy(body), copy.deepcopy(body), pickle.loads(pickle.dumps(body))):
            assert made == body
            made.clear()
        assert len(body) == 4

    def test_reprs_are_one_line_and_tell_no_secrets(self, body: MessageBody) -> None:
        body.add("x" * 100 + "\n\x1b")
        for shown in (repr(body), *(repr(part) for part in body)):
            assert "\n" not in shown
            assert "s3cret" not in shown
            assert "x" * 41 not in shown

    def test_reprs_state_the_size_of_all_parts_or_none(self) -> None:
        known, unknown = Part("x" * 10), Part(url="https://example.com/x", content_type="image/png")
        assert (
            repr(MessageBody([known, known]))
            == "MessageBody(2 parts, 20 B, text/plain, text/plain)"
        )
        assert repr(MessageBody([known, unknown])) == "MessageBody(2 parts, text/plain, image/png)"
        assert "1,001 parts, text/plain" in repr(MessageBody([known] * 1001))

    @pytest.mark.leaf("rendering")
    def test_a_page_tells_no_secrets(self, body: MessageBody) -> None:
        assert "s3cret" not in body._repr_mimebundle_()["text/html"]

    @pytest.mark.parametrize("content", [b"\xff" * 100_000, "x" * 100_000])
    def test_a_digest_is_computed_once_for_a_part(
        self, content: str | bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        part = Part(content, name="/a", content_type="application/octet-stream")
        other = Part(content, name="/a", content_type="application/octet-stream")
        first = part.digest
        monkeypatch.setattr("messagebody._wire.members.sha256_of", lambda _: pytest.fail("hashed"))
        assert part.digest == first == copy.copy(part).digest
        assert part == other
        assert hash(part) == hash(other)
        assert repr(part) == repr(other)
        assert pickle.dumps(part) == pickle.dumps(other)

    def test_new_content_has_a_digest_of_its_own(self) -> None:
        part = Part("x" * 100_000, name="/a")
        first = part.digest
        assert part.evolve(content="y" * 100_000).digest == Part("y" * 100_000).digest != first

    def test_a_local_file_is_read_for_each_digest(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_bytes(b"x" * 100_000)
        part = Part(tmp_path / "a.txt")
        assert part.digest == Part(b"x" * 100_000).digest
        (tmp_path / "a.txt").write_bytes(b"y" * 100_000)
        with pytest.raises(LocalFileChanged):
            _ = part.digest

    def test_digests(self, body: MessageBody) -> None:
        with pytest.raises(DigestUnknown, match="part 3 '/sources/1'"):
            _ = body.digest
        assert body.manifest()[3] == {
            "name": "/sources/1", "contentType": "text/html", "size": None, "digest": None,
        }  # fmt: skip

    def test_pin(self, tmp_path: Path) -> None:
        store = tmp_path / "store"
        small = offload(MessageBody([Part("hello")]), store, threshold=0)
        loose = MessageBody([Part(url=small[0].url, content_type="text/plain")])
        assert loose.pin(Resolver(allow=[store])) is loose
        assert loose.digest == small.digest

    def test_pin_where_digests_are_required(self, tmp_path: Path) -> None:
        store = tmp_path / "store"
        small = offload(MessageBody([Part("hello")]), store, threshold=0)
        strict = Resolver(allow=[store], require_digest=True)
        loose = MessageBody([Part(url=small[0].url, name="/a", content_type="text/plain")])
        with pytest.raises(PermissionError, match="has no digest"):
            loose["/a"].read_text(strict)
        assert loose.pin(strict)["/a"].read_text(strict) == "hello"
        wrong = MessageBody([Part(url=small[0].url, size=4, content_type="text/plain")])
        with pytest.raises(DigestMismatch, match="expected 4 bytes"):
            wrong.pin(strict)
        assert wrong[0].digest is None

    def test_pin_counts_over_the_body(self, tmp_path: Path) -> None:
        store = tmp_path / "store"
        small = offload(MessageBody([Part("hello"), Part("cats!")]), store, threshold=0)
        loose = MessageBody(Part(url=part.url, content_type="text/plain") for part in small)
        tight = Resolver(allow=[store], limits=FetchLimits(body_bytes=9))
        with pytest.raises(LimitExceeded, match="body_bytes"):
            loose.pin(tight)
        assert [part.digest for part in loose] == [None, None]

    def test_with_resolver(self, tmp_path: Path) -> None:
        store = tmp_path / "store"
        small = offload(MessageBody([Part("hello")]), store, threshold=0)
        bound = small.with_resolver(Resolver(allow=[store]))
        assert bound.read_text() == "hello"
        assert bound == small
        with pytest.raises(PermissionError):
            pickle.loads(pickle.dumps(bound)).read_text()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_four_examples(name: Any, tmp_path: Path) -> None:
    body = example_body(name)
    schema = MessageBodySchema.from_json(example_schema_json(name))
    schema.validate(body)
    assert MessageBody.from_json(body.to_json()) == body
    assert body.list() == [part for part in body if part.name]
    assert check(schema, schema)
    assert MessageBodySchema.infer(body).is_valid(body)
    small = offload(body, tmp_path / "store", threshold=0)
    assert schema.is_valid(small)
    assert all(part.is_reference for part in small)


def test_what_a_person_explores_is_short() -> None:
    import messagebody

    shown = [name for name in dir(messagebody) if not name.startswith("__")]
    assert shown == sorted(messagebody.__all__)
    body = MessageBody([Part("x"), Part("y", name="/y")])
    assert body._ipython_key_completions_() == ["/y"]
    assert repr(body.fs) == f"MessageBodyFileSystem({body!r})"


@pytest.mark.parametrize("name", [1.5, ["/a"], b"/a"])
def test_a_json_part_needs_a_name_that_is_text(name: object) -> None:
    with pytest.raises(InvalidName):
        MessageBody().add(json={"a": 1}, name=name)  # type: ignore[arg-type]
