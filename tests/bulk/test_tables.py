"""Tables of parts: nothing is lost, other libraries read them, and rows of no body are refused."""

import io
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from messagebody import MessageBody, Part
from messagebody.bulk.tables import COLUMNS, TableReader, TableWriter, from_table, to_table
from messagebody.errors import InvalidArgument, LocalFileNotSent, MessageBodyError
from messagebody.testing.strategies import bodies


def sample() -> MessageBody:
    body = MessageBody([Part("Hällo!"), Part(b"\x00\xff", name="/raw.bin", metadata={"dpi": 72.0})])
    body.add(url="https://example.com/cats", name="/sources/1", content_type="text/html", size=3)
    body.append(Part("x", name="/x").evolve(extra={"seen": [1, None, {"deep": True}]}))
    return body


def written(*found: MessageBody) -> io.BytesIO:
    file = io.BytesIO()
    writer = TableWriter(file)
    for number, body in enumerate(found):
        writer.add(f"b{number}", body)
    writer.close()
    return file


@given(st.lists(bodies(), max_size=4))
def test_nothing_is_lost(found: list[MessageBody]) -> None:
    table = to_table(found)
    assert table.column_names == list(COLUMNS)
    back = [*from_table(table)]
    assert [body_id for body_id, _ in back] == [str(number) for number in range(len(found))]
    assert [body.to_json() for _, body in back] == [body.to_json() for body in found]


@given(st.lists(bodies(), max_size=4))
def test_nothing_is_lost_in_a_file(found: list[MessageBody]) -> None:
    reader = TableReader(written(*found))
    rows = [*reader.bodies(0, len(reader.groups()))]
    assert [row.error for row in rows] == [None] * len(found)
    assert [row.body for row in rows] == found


@given(st.lists(bodies(), max_size=4))
def test_columns_are_those_that_arrow_makes_of_lists(found: list[MessageBody]) -> None:
    table = to_table(found)
    table.validate(full=True)
    lists = {name: table.column(name).to_pylist() for name in COLUMNS}
    assert table.combine_chunks() == pa.table(lists, schema=table.schema)


def test_large_bodies_are_tables_one_after_another() -> None:
    found = [MessageBody([Part("ä" * 3_000_000), Part(bytes(9_000_000)), Part("")])] * 3
    table = to_table(found)
    assert [body for _, body in from_table(table)] == found
    assert table.column("data").num_chunks > 3
    assert max(each.nbytes for each in table.to_batches()) < 10_000_000


def test_a_row_says_what_a_part_is() -> None:
    body = sample()
    with duckdb.connect() as database:
        database.register("parts", to_table({"a": body}))
        rows = database.sql("SELECT index, name, encoding, size, digest FROM parts").fetchall()
    encodings = ["plain", "base64", None, "plain"]
    assert rows == [
        (at, part.name, encoding, part.size, part.digest)
        for at, (part, encoding) in enumerate(zip(body, encodings, strict=True))
    ]


def test_a_body_without_parts_is_a_row_without_an_index() -> None:
    table = to_table({"none": MessageBody(), "one": MessageBody([Part("x")])})
    assert table.column("index").to_pylist() == [None, 0]
    assert [len(body) for _, body in from_table(table)] == [0, 1]


def test_ids_of_pairs_are_kept() -> None:
    body = sample()
    assert [*from_table(to_table([("b", body), ("a", body)]))] == [("b", body), ("a", body)]


def test_bodies_are_found_from_any_row_group() -> None:
    """A body belongs to the group of its first row, wherever its others are."""
    found = [MessageBody([Part(f"{n} {k}") for k in range(3)]) for n in range(7)]
    table = to_table(found)
    file = io.BytesIO()
    parquet.write_table(table, file, row_group_size=2)
    reader = TableReader(file)
    groups = len(reader.groups())
    assert groups == 11
    by_group = [[row.body_id for row in reader.bodies(at, at + 1)] for at in range(groups)]
    assert [each for group in by_group for each in group] == [str(number) for number in range(7)]
    assert [row.number for row in reader.bodies(0, groups)] == [1, 4, 7, 10, 13, 16, 19]
    for size in (2, 3, 5):
        parts = [[*reader.bodies(at, min(at + size, groups))] for at in range(0, groups, size)]
        assert [row.body for part in parts for row in part] == found


def test_row_groups_are_small() -> None:
    reader = TableReader(written(*[MessageBody([Part(bytes([n]) * 3_000_000)]) for n in range(40)]))
    groups = reader.groups()
    assert len(groups) > 2
    assert max(size for _, size in groups) < 64 * 1024 * 1024


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"text": ["changed", None]}, "size says|digest says"),
        ({"index": [0, 2]}, "comes index 2"),
        ({"index": [1, 2]}, "comes index 1"),
        ({"body_id": ["0", "1"]}, "belongs|comes index 1"),
        ({"body_id": [None, None]}, "body_id is text"),
        ({"content_type": [None, None]}, "has no content type"),
        ({"content_type": ["nonsense", "text/plain"]}, "content type 'nonsense'"),
        ({"name": ["relative", None]}, "relative"),
        ({"metadata": ["{", None]}, "metadata is JSON"),
        ({"metadata": [b"{}", None]}, "metadata is JSON text"),
        ({"metadata": ["[]", None]}, "metadata is a JSON object"),
        ({"extra": ['{"contentTyp":"x"}', None]}, "did you mean 'contentType'"),
        ({"data": [b"a", None]}, "both text and data"),
        ({"text": [None, None]}, "content"),
    ],
)
def test_rows_of_no_body_are_refused(changes: dict[str, list[Any]], problem: str) -> None:
    table = to_table([MessageBody([Part("a"), Part("b")])])
    for name, values in changes.items():
        at = table.column_names.index(name)
        kind = pa.binary() if b"{}" in values else table.schema.field(at).type
        table = table.set_column(at, name, pa.array(values, kind))
    with pytest.raises(ValueError, match=problem) as caught:
        list(from_table(table))
    assert isinstance(caught.value, MessageBodyError)
    # Whoever reads a file goes on after the bad body.
    good = to_table({"good": sample()})
    if b"{}" in changes.get("metadata", []):
        return  # columns of two types make no file
    file = io.BytesIO()
    parquet.write_table(pa.concat_tables([table, good]), file)
    rows = [*TableReader(file).bodies(0, 1)]
    assert rows[0].error is not None
    assert rows[-1].body == sample()


def test_a_local_file_is_refused(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(LocalFileNotSent):
        to_table([MessageBody([Part(tmp_path / "a.txt")])])


def test_other_files_and_values_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="a Parquet file"):
        TableReader(io.BytesIO(b"PAR1 is not enough"))
    file = io.BytesIO()
    parquet.write_table(pa.table({"index": [0]}), file)
    with pytest.raises(InvalidArgument, match="one without body_id"):
        TableReader(file)
    with pytest.raises(InvalidArgument, match=r"pyarrow\.Table"):
        list(from_table([sample()]))
    with pytest.raises(InvalidArgument, match="put a single body into a list"):
        to_table(sample())  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="text as an id of a body"):
        to_table([(1, sample())])  # type: ignore[list-item]
    with pytest.raises(InvalidArgument, match="text as an id of a body"):
        to_table({"\ud800": sample()})
