"""The table of a part's members, and that nothing but the table names one."""

import inspect
import json
from typing import get_type_hints

import pytest

from messagebody import MessageBody, Part
from messagebody._base.media_types import COMMON
from messagebody._wire.members import ABOUT, ARGUMENTS, KEYS, MEMBERS, PartArguments, PartRecord
from messagebody.errors import DecodeError, DuplicateName, InvalidName, InvalidPart


def test_the_table_is_the_record() -> None:
    assert tuple(member.argument for member in MEMBERS) == PartRecord.__struct_fields__
    assert tuple(member.key for member in MEMBERS) == PartRecord.__struct_encode_fields__
    assert {
        "name", "contentType", "content", "contentEncoding", "contentUrl", "size", "digest",
        "metadata",
    } == KEYS  # fmt: skip


def test_part_takes_and_shows_every_member() -> None:
    """The encoding follows from the content; every other member is an argument of `Part`."""
    rows = {member.argument for member in MEMBERS} - {"encoding", "content"}
    taken = set(inspect.signature(Part.__init__).parameters) - {"self", "content", "extra"}
    assert rows == taken == set(PartArguments.__annotations__)
    assert rows | {"content", "extra"} == ARGUMENTS
    assert all(hasattr(Part, row) for row in rows)


def test_members_about_a_part_survive_every_way(tmp_path: object) -> None:
    part = Part("x", name="/a", content_type="text/csv", metadata={"k": [1]})
    body = MessageBody([part])
    for again in (
        MessageBody.from_json(body.to_json()),
        MessageBody.from_json(body.to_json(indent=2)),
        MessageBody.from_dicts(body.to_dicts()),
    ):
        assert [getattr(again[0], member.argument) for member in ABOUT] == [
            getattr(part, member.argument) for member in ABOUT
        ]


class TestNearMisses:
    @pytest.mark.parametrize(
        ("wrong", "right"),
        [
            ("content_type", "contentType"),
            ("content-type", "contentType"),
            ("Content-Type", "contentType"),
            ("contentTyp", "contentType"),
            ("contetType", "contentType"),
            ("ContentEncoding", "contentEncoding"),
            ("content_encoding", "contentEncoding"),
            ("content_url", "contentUrl"),
            ("contentURL", "contentUrl"),
            ("contentUri", "contentUrl"),
            ("Name", "name"),
            ("metdata", "metadata"),
            ("Digest", "digest"),
        ],
    )
    @pytest.mark.parametrize("strict", [False, True])
    def test_are_refused_with_the_right_spelling(
        self, wrong: str, right: str, strict: bool
    ) -> None:
        part = {"contentType": "text/plain", "content": "hi", wrong: "x"}
        with pytest.raises(DecodeError, match=f"part 0: .*{wrong}.*did you mean '{right}'"):
            MessageBody.from_dicts([part], strict=strict)
        with pytest.raises(InvalidPart, match=f"did you mean '{right}'"):
            Part("hi").evolve(extra={wrong: "x"})

    @pytest.mark.parametrize(
        "key",
        [
            "names",
            "sizes",
            "x-trace",
            "id",
            "contentSize",
            "contentId",
            "title",
            "role",
            "",
            "xontentType",
            "content" * 5,
        ],
    )
    def test_other_members_are_kept(self, key: str) -> None:
        body = MessageBody.from_dicts([{"content": "hi", key: 1}])
        assert body[0].extra == {key: 1}
        assert MessageBody.from_json(body.to_json()) == body

    def test_keys_of_another_protocol_are_not_misread(self) -> None:
        part = {"content_type": "image/png", "content_encoding": "base64", "content": "aGk="}
        with pytest.raises(DecodeError, match="contentType"):
            MessageBody.from_dicts([part])


class TestWhatIsBuiltCanBeRead:
    """What could be written but not read again would lose the whole message."""

    def test_a_name_longer_than_readers_take(self) -> None:
        assert Part("x", name="/" + "a" * 1023).name
        with pytest.raises(InvalidName, match="1,025 characters; readers take 1,024"):
            Part("x", name="/" + "a" * 1024)
        body = MessageBody([Part("x", name="/a")])
        with pytest.raises(InvalidName):
            body.move("/a", "/" + "b" * 2000)
        with pytest.raises(InvalidName):
            body.add("x", name="/" + "b" * 2000)

    def test_a_longer_name_that_was_read_stays(self) -> None:
        from messagebody import Limits

        document = [{"name": "/" + "a" * 2000, "content": "x"}]
        body = MessageBody.from_dicts(document, limits=Limits(name_length=3000))
        assert body[0].evolve(metadata={}).name == document[0]["name"]

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            ({"url": "data:nonsense"}, "a data URL is"),
            ({"url": "data:,%zz"}, "percent"),
            ({"url": "data:;base64,***"}, "base64"),
            ({"url": "data:,abc", "size": 4}, "size says 4, the content has 3 bytes"),
            ({"url": "data:,abc", "digest": "sha256:" + "0" * 64}, "digest says"),
        ],
    )
    def test_data_urls_that_no_reader_takes(self, arguments: object, problem: str) -> None:
        with pytest.raises(InvalidPart, match=problem):
            Part(**arguments)  # type: ignore[arg-type]


def test_type_hints_resolve() -> None:
    for function in (Part.__init__, Part.evolve, MessageBody.add):
        assert get_type_hints(function)


@pytest.mark.parametrize("kind", COMMON)
def test_common_types_are_legal(kind: str) -> None:
    """They are taken without a look at what they are."""
    for held in (
        {"content": "é"},
        {"content": "aGk=", "contentEncoding": "base64"},
        {"content": "/w==", "contentEncoding": "base64"},
        {"contentUrl": "s3://bucket/key"},
    ):
        parts = [{"contentType": kind, **held}]
        document = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
        read, made = MessageBody.from_json(document), MessageBody.from_dicts(parts)
        assert read == made
        assert read[0].content_type == Part("", content_type=kind).content_type == kind


def test_other_types_are_held_alike() -> None:
    """Equal types are one string, which saves a tenth of the memory of a small part."""
    kinds = ["text/plain", "text/x-purr", "Text/X-Purr", None]
    parts = [{"contentType": kind, "content": "hi"} for kind in kinds if kind]
    parts += [{"content": "hi"}]
    document = json.dumps(parts * 2, separators=(",", ":"))
    for body in (MessageBody.from_json(document), MessageBody.from_dicts(parts * 2)):
        found = [part.content_type for part in body]
        assert found[:4] == [*kinds[:3], "text/plain"]
        assert all(one is other for one, other in zip(found[:4], found[4:], strict=True))


def test_parsed_metadata_is_copied() -> None:
    metadata = {"a": [1]}
    body = MessageBody.from_dicts([{"content": "x", "metadata": metadata}])
    metadata["a"].append(2)
    assert body[0].metadata == {"a": [1]}


def test_inserting_a_taken_name() -> None:
    body = MessageBody([Part("a", name="/a"), Part("b", name="/b")])
    with pytest.raises(DuplicateName):
        body.insert(0, Part("c", name="/a"))
    assert body.names() == ["/a", "/b"]
