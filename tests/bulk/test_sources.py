"""Sources: which files a source means, how they are cut, and that no message is lost or doubled."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import Limits
from messagebody.bulk._messages import BadLine, Message, messages_of
from messagebody.bulk._sources import SourceKind, find_shards, lines_before
from messagebody.bulk.tables import TableWriter
from messagebody.errors import InvalidArgument, ObjectNotFound
from messagebody.s3 import S3Store
from messagebody.storage import Bytes, open_store
from tests.bulk.helpers import bodies, lines, write_log

LIMITS = Limits(json_bytes=60)


def put(place: str, key: str, data: bytes) -> None:
    open_store(place).put(key, Bytes(data), content_type="text/plain", if_absent=False)


def seen(shards: Any, limits: Limits = LIMITS) -> list[tuple[int, int | None, str]]:
    """Return line, offset and content of everything in shards, as it is read."""
    return [
        (each.place.line, each.place.offset, _text(each))
        for shard in shards
        for each in messages_of(shard, member=None, limits=limits)
        if each is not None
    ]


def _text(each: Message | BadLine) -> str:
    return each.problem if isinstance(each, BadLine) else each.document.decode()


def expected(data: bytes) -> list[tuple[int, int, str]]:
    """Return the same by splitting the whole text."""
    found, offset = [], 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if len(line) >= LIMITS.json_bytes + (offset + len(line) == len(data)):
            found.append((number, offset, "the message is larger than the limit json_bytes, 60 B"))
        elif line.strip():
            found.append((number, offset, line.strip().decode()))
        offset += len(line) + 1
    return found


TEXT = st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b"[]", b" ", "ü".encode(), b"x" * 61]))


@given(TEXT.map(b"".join), st.integers(1, 40))
def test_ranges_hold_each_line_once(data: bytes, shard_bytes: int) -> None:
    put("memory://ranges", "a.jsonl", data)
    shards = find_shards(["memory://ranges/a.jsonl"], shard_bytes=shard_bytes)
    before, numbered = 1, []
    for shard in shards:
        numbered.append(type(shard)(shard.name, shard.inputs, shard.start, shard.end, before))
        before += lines_before(shard)
    assert seen(numbered) == expected(data)
    assert [shard.size for shard in shards[:-1]] == [shard_bytes] * (len(shards) - 1)
    assert sum(shard.size for shard in shards) == len(data)


def test_every_kind_of_file_gives_the_same_bodies(tmp_path: Path) -> None:
    import pyarrow as pa

    found = bodies(20)
    text = "".join(f"{line}\n" for line in lines(found)).encode()
    half = text.index(b"\n", len(text) // 2) + 1
    (tmp_path / "a.jsonl").write_bytes(text)
    # Files that were put together of compressed pieces are common.
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(text[:half]) + gzip.compress(text[half:]))
    zstd = pa.Codec("zstd")
    frames = [zstd.compress(each, asbytes=True) for each in (text[:half], text[half:])]
    (tmp_path / "c.jsonl.zst").write_bytes(b"".join(frames))
    with (tmp_path / "d.parquet").open("wb") as file:
        writer = TableWriter(file)
        for number, body in enumerate(found):
            writer.add(str(number), body)
        writer.close()
    for number, body in enumerate(found):
        body.save(tmp_path / f"{number:02}.json")
    shards = find_shards([tmp_path])
    assert [shard.name for shard in shards] == [
        "a.jsonl.00000", "b.jsonl.gz.00000", "c.jsonl.zst.00000", "d.parquet.00000",
        "messages.json.00000",
    ]  # fmt: skip
    for shard in shards:
        read = [*messages_of(shard, member=None, limits=Limits())]
        assert all(isinstance(each, Message) for each in read)
        assert [each.body for each in read] == found, shard.name  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["gz", "zst"])
@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_compressed_file_has_a_bad_line(tmp_path: Path, kind: str, damage: str) -> None:
    import pyarrow as pa

    text = "".join(f"{line}\n" for line in lines(bodies(300))).encode()
    data = gzip.compress(text) if kind == "gz" else pa.Codec("zstd").compress(text, asbytes=True)
    middle = len(data) // 2
    spoilt = data[:middle] if damage == "cut" else data[:middle] + b"\0" * 9 + data[middle + 9 :]
    (tmp_path / f"a.jsonl.{kind}").write_bytes(spoilt)
    read = [*messages_of(find_shards([tmp_path])[0], member=None, limits=Limits())]
    assert isinstance(read[-1], BadLine)
    assert "damaged or cut off" in read[-1].problem


def test_globs(tmp_path: Path) -> None:
    for name in ("2026-10/a.jsonl", "2026-11/a.jsonl", "2026-11/b.jsonl", "2026-11/deep/c.jsonl"):
        write_log(tmp_path / name, bodies(1))
    (tmp_path / "2026-11/notes.txt").write_text("no message")

    def names(*sources: str) -> list[str]:
        return [shard.name for shard in find_shards([str(tmp_path / each) for each in sources])]

    assert names("2026-1*/a.jsonl") == ["2026-10/a.jsonl.00000", "2026-11/a.jsonl.00000"]
    assert names("2026-11/*.jsonl") == ["a.jsonl.00000", "b.jsonl.00000"]
    assert names("2026-11/**/*.jsonl") == ["a.jsonl.00000", "b.jsonl.00000", "deep/c.jsonl.00000"]
    assert names("2026-1[01]/a.jsonl") == names("2026-{10,11}/a.jsonl") == names("2026-1?/a.jsonl")
    assert names("2026-11/a.jsonl") == ["a.jsonl.00000"]
    # Several sources: names from where they part, and a file that two of them mean comes once.
    assert names("2026-10/a.jsonl", "2026-11/a.jsonl") == names("2026-1*/a.jsonl")
    assert names("2026-11", "2026-11/*.jsonl") == names("2026-11/**/*.jsonl")


def test_paths_are_those_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_log(tmp_path / "logs/a.jsonl", bodies(1))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for source in ("logs", "logs/", "logs/a.jsonl", "logs/*", "~/logs/*.jsonl", "file://%s/logs"):
        [shard] = find_shards([source.replace("%s", str(tmp_path))])
        assert shard.inputs[0].url == (tmp_path / "logs/a.jsonl").as_uri()


def test_hidden_files_of_a_directory_are_left_out(tmp_path: Path) -> None:
    write_log(tmp_path / "a.jsonl", bodies(1))
    write_log(tmp_path / ".cache/b.jsonl", bodies(1))
    write_log(tmp_path / "_temporary/c.jsonl", bodies(1))
    assert [shard.name for shard in find_shards([tmp_path])] == ["a.jsonl.00000"]


def test_small_messages_are_put_together(tmp_path: Path) -> None:
    for number in range(1001):
        (tmp_path / f"{number:04}.json").write_text("[]")
    shards = find_shards([tmp_path])
    assert [len(shard.inputs) for shard in shards] == [1000, 1]
    assert {shard.kind for shard in shards} == {SourceKind.MESSAGE}
    assert [shard.name for shard in shards] == ["messages.json.00000", "messages.json.00001"]
    assert [len(shard.inputs) for shard in find_shards([tmp_path], shard_bytes=600)][:2] == [
        300
    ] * 2


@pytest.mark.parametrize("server", ["moto", "rclone"])
def test_files_on_s3(server: str, request: pytest.FixtureRequest) -> None:
    store: S3Store = request.getfixturevalue(f"{server}_store")
    for key in ("logs/a.jsonl", "logs/b.jsonl", "other.jsonl"):
        store.put(key, Bytes(b"[]\n" * 7), content_type="application/jsonl")
    settings = store.clients.settings
    options = {
        "session": request.getfixturevalue(f"{server}_server").session(),
        "endpoint_url": settings.endpoint_url,
        "addressing_style": settings.addressing_style,
        "response_checksum_validation": settings.response_checksum_validation,
    }
    source = f"{store.url}/logs/*.jsonl"
    shards = find_shards([source], storage_options=options, shard_bytes=10)
    assert [shard.name for shard in shards[:4]] == [
        "a.jsonl.00000", "a.jsonl.00001", "a.jsonl.00002", "b.jsonl.00000",
    ]  # fmt: skip
    assert len(seen(shards)) == 14


def test_a_key_can_not_lead_out_of_the_results(moto_store: S3Store) -> None:
    key = "logs/../../etc/a.jsonl"
    moto_store.client.put_object(Bucket=moto_store.bucket, Key=f"tenant/{key}", Body=b"[]\n")
    from messagebody.bulk import _sources as sources

    stat = next(each for each in moto_store.iter_objects() if each.key == key)
    base = moto_store.url.split("/")
    assert sources._name(moto_store.url_of(stat.key), base) == "logs/%2E%2E/%2E%2E/etc/a.jsonl"


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n")
    with pytest.raises(ObjectNotFound, match="no file of messages"):
        find_shards([tmp_path])
    with pytest.raises(ObjectNotFound, match="no file of messages"):
        find_shards([tmp_path / "*.jsonl"])
    with pytest.raises(InvalidArgument, match=r"ends in \.jsonl"):
        find_shards([tmp_path / "a.csv"])
    with pytest.raises(InvalidArgument, match="a URL, path or glob"):
        find_shards([7])  # type: ignore[list-item]
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(InvalidArgument, match="a Parquet file"):
        find_shards([tmp_path / "a.parquet"])


def test_a_large_parquet_file_is_cut_at_row_groups(tmp_path: Path) -> None:
    from pyarrow import parquet

    from messagebody.bulk.tables import to_table

    parquet.write_table(to_table(bodies(60)), tmp_path / "a.parquet", row_group_size=7)
    whole = find_shards([tmp_path])
    cut = find_shards([tmp_path], shard_bytes=5000)
    assert len(whole) == 1
    assert len(cut) > 3

    def read(shards: Any) -> list[Any]:
        read = (each for s in shards for each in messages_of(s, member=None, limits=Limits()))
        found = [each for each in read if isinstance(each, Message)]
        return [(each.id, each.place.line, json.dumps(each.body.to_dicts())) for each in found]

    assert read(cut) == read(whole)
    assert [each[0] for each in read(whole)] == [str(number) for number in range(60)]


@pytest.mark.parametrize("place", ["https://example.com/logs/a.jsonl", "HTTP://127.0.0.1:9/*.json"])
def test_a_web_server_has_no_list_of_files(place: str) -> None:
    with pytest.raises(InvalidArgument, match="those of web servers don't") as caught:
        find_shards([f"{place}?X-Amz-Signature=secret"])
    assert "secret" not in str(caught.value)
