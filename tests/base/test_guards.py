"""Public entrances given what is not a body, part, schema, resolver or store."""

import io
import re
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody import (
    MessageBody,
    MessageBodyError,
    MessageBodySchema,
    Part,
    check,
    inline,
    offload,
    verify,
)
from messagebody.errors import (
    DecodeError,
    DuplicateName,
    InvalidArgument,
    InvalidPart,
    PartNotFound,
    StoreError,
)

SCHEMA = MessageBodySchema([("/a/*", "image/*")])
BODY = MessageBody([Part("x", name="/x")])
NO_BODIES: list[Any] = [
    "",
    b"",
    {},
    None,
    3,
    "[]",
    SCHEMA,
    Path("m.json"),
    [{"content": "x"}],
    Part("x"),
]
NO_SCHEMAS: list[Any] = ["[]", b"[]", BODY, {("/a", "text/*")}, {}, None, 3, Path("s.json")]
NO_RESOLVERS: list[Any] = [Path("store"), "memory://x", 3, ["s3://b/"]]


def name(value: Any) -> str:
    return f"{type(value).__name__}-{str(value)[:12]}"


@pytest.mark.parametrize("value", NO_BODIES, ids=name)
@pytest.mark.parametrize(
    "enter",
    [
        SCHEMA.is_valid,
        SCHEMA.validate,
        lambda value: list(SCHEMA.iter_violations(value)),
        MessageBodySchema.infer,
        lambda value: offload(value, "memory://guards"),
        inline,
        verify,
    ],
)
def test_what_is_not_a_body(enter: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(InvalidArgument, match="expected a MessageBody, got"):
        enter(value)


@pytest.mark.parametrize("value", NO_SCHEMAS, ids=name)
@pytest.mark.parametrize("enter", [lambda v: check(v, SCHEMA), lambda v: check(SCHEMA, v)])
def test_what_is_not_a_schema(enter: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(InvalidArgument, match="expected a MessageBodySchema, got"):
        enter(value)


@pytest.mark.parametrize("value", NO_RESOLVERS, ids=name)
@pytest.mark.parametrize(
    "enter",
    [
        BODY[0].read_bytes,
        BODY[0].read_text,
        BODY[0].read_json,
        BODY[0].open,
        BODY[0].with_resolver,
        BODY.with_resolver,
        BODY.pin,
        lambda value: BODY.filesystem(resolver=value),
        lambda value: inline(BODY, resolver=value),
    ],
)
def test_what_is_not_a_resolver(enter: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(InvalidArgument, match="expected a Resolver, got"):
        enter(value)


def test_hints_say_what_to_write() -> None:
    for value, hint in (
        ("[]", "MessageBody.from_json"),
        ([{}], "MessageBody.from_dicts"),
        (Path("m.json"), "MessageBody.load"),
        (SCHEMA, "this is a schema"),
    ):
        with pytest.raises(InvalidArgument, match=hint):
            SCHEMA.is_valid(value)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="this is a body"):
        check(BODY, SCHEMA)  # type: ignore[call-overload]


def test_parts_that_are_no_body_are_fine() -> None:
    part = Part(b"\x89PNG\r\n\x1a\n", name="/a/b", content_type="image/png")
    assert SCHEMA.is_valid([part])
    assert SCHEMA.is_valid(iter([part]))
    assert MessageBodySchema.infer([part]) == MessageBodySchema.infer(MessageBody([part]))


class TestKeys:
    @pytest.mark.parametrize("key", [None, 1.5, b"/x", ("/x",)])
    def test_of_a_wrong_type(self, key: Any) -> None:
        with pytest.raises(InvalidArgument, match="a position, a name or a slice"):
            BODY[key]
        with pytest.raises(TypeError):
            del BODY.copy()[key]

    def test_paths_are_names(self) -> None:
        body = BODY.copy()
        path = body[0].path
        assert path == PurePosixPath("/x")
        assert path in body
        assert body.get(path) == body[path] == body[0]
        assert body.index(path) == 0
        body[path] = "y"
        assert body["/x"].text == "y"
        body.remove(path)  # type: ignore[arg-type]
        assert len(body) == 0

    def test_index_and_remove_say_what_is_missing(self) -> None:
        with pytest.raises(ValueError, match=r"part '/y' is not in the body"):
            BODY.index(Part("y", name="/y"))
        with pytest.raises(ValueError, match="the unnamed text/plain part is not in the body"):
            BODY.copy().remove(Part("y"))
        with pytest.raises(InvalidArgument, match="a Part or its name"):
            BODY.index(3)
        with pytest.raises(PartNotFound):
            BODY.index("/y")


class TestAdding:
    def test_a_part(self) -> None:
        with pytest.raises(InvalidPart, match=r"body\.append\(part\)"):
            MessageBody().add(Part("x"))

    @pytest.mark.parametrize(
        "value",
        [
            {"name": "/x", "contentType": "text/plain", "content": "hi"},
            {"contentUrl": "https://example.com/"},
        ],
    )
    def test_a_part_as_json(self, value: Any) -> None:
        with pytest.raises(InvalidPart, match="from_dicts"):
            MessageBody().add(value)
        assert MessageBody().add(json=value).read_json() == value

    def test_other_dicts_are_json(self) -> None:
        assert MessageBody().add({"name": "x"}).content_type == "application/json"
        assert MessageBody().add({"content": "x", "role": "user"}).read_json()["role"] == "user"

    def test_a_number(self) -> None:
        with pytest.raises(InvalidPart, match="json="):
            MessageBody().add(3)


class Once(io.RawIOBase):
    """A pipe: it can't go back."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = min(len(buffer), len(self.data))
        buffer[:count], self.data = self.data[:count], self.data[count:]
        return count


class TestFileObjects:
    def test_what_was_just_written_is_read_from_its_start(self) -> None:
        buffer = io.BytesIO()
        buffer.write(b"\x89PNG\r\n\x1a\n")
        assert MessageBody().add(buffer, name="/a.png").size == 8
        with tempfile.TemporaryFile() as file:
            file.write(b"abc")
            assert MessageBody().add(file).read_bytes() == b"abc"
            assert MessageBody().add(file).read_bytes() == b"abc"

    def test_an_empty_one_that_can_go_back_is_empty(self) -> None:
        assert MessageBody().add(io.BytesIO()).size == 0

    def test_one_that_cannot_go_back(self) -> None:
        pipe = Once(b"abc")
        assert MessageBody().add(pipe).read_bytes() == b"abc"
        with pytest.raises(InvalidPart, match="can't go back to its start"):
            MessageBody().add(pipe)

    def test_a_closed_one(self) -> None:
        buffer = io.BytesIO(b"abc")
        buffer.close()
        with pytest.raises(InvalidPart, match="can't be read") as caught:
            MessageBody().add(buffer)
        assert isinstance(caught.value.__cause__, ValueError)


class TestFiles:
    def test_there_and_back(self, tmp_path: Path) -> None:
        path = tmp_path / "m.json"
        BODY.save(path)
        assert MessageBody.load(str(path)) == BODY
        BODY.save(path, indent=2)
        assert MessageBody.load(path) == BODY
        with pytest.raises(FileNotFoundError):
            MessageBody.load(tmp_path / "none.json")

    def test_a_failed_save_leaves_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "m.json"
        BODY.save(path)
        local = tmp_path / "a.txt"
        local.write_text("a")
        with pytest.raises(MessageBodyError, match="local file"):
            MessageBody([Part(local)]).save(path)
        assert MessageBody.load(path) == BODY
        assert sorted(each.name for each in tmp_path.iterdir()) == ["a.txt", "m.json"]

    def test_a_large_one_is_not_read_whole(self, tmp_path: Path) -> None:
        from messagebody import Limits

        path = tmp_path / "m.json"
        with path.open("wb") as file:
            file.truncate(1 << 40)  # sparse
        with pytest.raises(MessageBodyError, match="limit json_bytes"):
            MessageBody.load(path, limits=Limits(json_bytes=1000))


class TestAsText:
    def test_unnamed_text_and_a_line_for_the_rest(self) -> None:
        body = MessageBody([Part("Cats\nare \x1b[31mcute.", content_type="text/markdown")])
        body.add(b"\0\1", name="/a.bin")
        body.add(url="https://user:secret@example.com/a.png?signature=secret")
        assert str(body) == (
            "Cats\nare \\x1b[31mcute.\n\n[/a.bin, application/octet-stream, 2 B]\n\n"
            "[image/png, unknown size, https://…@example.com/a.png?…]"
        )
        assert repr(body).startswith("MessageBody(3 parts")

    def test_is_capped(self) -> None:
        assert len(str(MessageBody([Part("x" * 100_000)]))) <= 8100
        many = MessageBody([Part("x" * 100) for _ in range(1000)])
        assert len(str(many)) < 8500
        assert str(many).endswith("more parts]")

    @pytest.mark.parametrize(
        ("name", "advice"),
        [("content", "read_text()"), ("json", "read_json()"), ("contentType", "content_type"),
         ("contentUrl", "part.url")],
    )  # fmt: skip
    def test_words_of_json_are_no_attributes_of_a_part(self, name: str, advice: str) -> None:
        with pytest.raises(AttributeError, match=re.escape(advice)) as error:
            getattr(BODY[0], name)
        assert error.value.name == name
        assert not hasattr(BODY[0], "nothing_of_the_kind")

    def test_a_path_in_place_of_json(self) -> None:
        path: Any = Path("message.json")
        with pytest.raises(DecodeError, match=r"a file: load\(…\)"):
            MessageBody.from_json(path)
        with pytest.raises(DecodeError, match=r"load\(…\) reads a file"):
            MessageBody.from_json("messages/message.json")

    def test_a_directory_as_text_in_place_of_a_store(self) -> None:
        with pytest.raises(StoreError, match=r"a directory is '\./srv/store'"):
            offload(BODY, "srv/store")

    def test_a_part_is_not_written_as_an_empty_object(self) -> None:
        import msgspec

        with pytest.raises(TypeError):
            msgspec.json.encode(Part("x"))
        with pytest.raises(AttributeError, match=r"evolve\(name=…\)"):
            BODY[0].name = "/y"  # type: ignore[misc]
        with pytest.raises(DuplicateName):
            MessageBody([Part("x", name="/x"), Part("y", name="/x")])


ODD: list[Any] = [
    None, "", "x", b"x", 1, 1.5, True, [], {}, {"a": 1}, {1: 2}, ("a",), set(), object(), len,
    float("nan"), 10**5000, -1, 2**70, "\ud800", "a" * 3000, "/\0", "/a", "text/plain; charset=\"",
    "https://x", "data:,%", "sha256:" + "0" * 64, Path("/nowhere"), io.BytesIO(b"a"), Part("x"),
    io.StringIO("a"), bytearray(b"x"), MessageBody(),
]  # fmt: skip
NAMES = ["name", "content_type", "url", "size", "digest", "metadata"]


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(ODD), max_size=1),
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(ODD), max_size=4),
    st.lists(st.sampled_from(ODD), max_size=1),
)
def test_odd_arguments_raise_errors_of_ours(
    content: list[Any], members: dict[str, Any], json: list[Any]
) -> None:
    value = {"json": json[0]} if json else {}
    extra = {"extra": json[0]} if json else {}
    make: Any
    for make, positional, named in (
        (Part, content, members),
        (MessageBody().add, content, {**members, **value}),
        (BODY[0].evolve, [], {**members, **extra}),
    ):
        try:
            make(*positional, **named)
        except MessageBodyError:
            continue
