"""Libraries that read and write parts without knowing it."""

import gc
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import dask.bag
import dask.dataframe
import duckdb
import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.fs
import pytest
import zarr
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from PIL import Image
from pyarrow import dataset

from messagebody import MessageBody, Part
from messagebody.errors import UnsafeReference
from messagebody.samples import sample

# 91 days of rides and rain: the rows of a real file, not three made up for the test.
RIDES = sample("rides.csv")
DAYS, TOTAL = 91, sum(int(line.split(b",")[2]) for line in RIDES.splitlines()[1:])


@pytest.fixture
def body() -> MessageBody:
    body = MessageBody()
    body.add(RIDES, name="/data/rides.csv")
    body.add(sample("chart.png"), name="/charts/rides.png")
    return body


class TestPandas:
    @pytest.mark.parametrize("kind", ["csv", "json", "parquet", "pickle"])
    def test_a_refused_reference_is_named(self, kind: str) -> None:
        """Also where pandas asks a second time, with an option of S3."""
        body = MessageBody([Part(url="https://example.com/a", name="/t/a", size=10)])
        read = getattr(pd, f"read_{kind}")
        for url, options in [
            ("messagebody:///t/a", {"body": body}),
            (body.fs.url("/t/a"), None),
        ]:
            with pytest.raises(UnsafeReference, match=r"'/t/a' points to https://example\.com/a"):
                read(url, storage_options=options)
            with pytest.raises(TypeError, match="unexpected options: 'key'"):
                read("messagebody:///t/a", storage_options={"body": body, "key": "x"})

    def test_a_write_that_nothing_would_keep_is_refused(self, document: Path) -> None:
        url, before = f"messagebody:///new.csv::file://{document}", document.read_bytes()
        frame = pd.read_csv(io.BytesIO(RIDES))
        with pytest.raises(OSError, match="Read-only"):
            frame.to_csv(url)
        with pytest.raises(ValueError, match="neither"):
            frame.to_csv("messagebody:///new.csv")
        assert document.read_bytes() == before
        frame.to_csv(url, storage_options={"messagebody": {"autosave": True}})
        assert "/new.csv" in MessageBody.from_json(document.read_bytes())

    def test_partitions(self) -> None:
        """The names of columns and their values may look like quoted names."""
        options = {"body": MessageBody(), "quoted_names": True}
        frame = pd.DataFrame({"year_2024": ["a_20", "a "], "rides": [1, 2]})
        frame.to_parquet("messagebody:///p", partition_cols=["year_2024"], storage_options=options)
        again = pd.read_parquet("messagebody:///p", storage_options=options)
        found = again.astype({"year_2024": str}).sort_values("rides").reset_index(drop=True)
        assert found[["year_2024", "rides"]].to_dict() == frame.to_dict()


class TestPyarrow:
    def test_directories_that_are_made(self, body: MessageBody) -> None:
        files = pa.fs.PyFileSystem(pa.fs.FSSpecHandler(body.fs))
        files.create_dir("/made/deep")
        assert files.get_file_info("/made/deep").type == pa.fs.FileType.Directory
        files.delete_dir("/made")
        assert files.get_file_info("/made").type == pa.fs.FileType.NotFound

    def test_a_dataset_of_many_parts(self, body: MessageBody) -> None:
        whole = pa.Table.from_pandas(pd.read_csv(io.BytesIO(RIDES)))
        dataset.write_dataset(
            whole, "/set", filesystem=body.fs, format="parquet", max_rows_per_file=30,
            max_rows_per_group=30,
        )  # fmt: skip
        assert len(body.list("/set/*.parquet")) == 4
        found = dataset.dataset("/set", filesystem=body.fs, format="parquet")
        wet = found.to_table(filter=dataset.field("rain_mm") > 5)
        assert found.count_rows() == DAYS
        assert wet.num_rows == pd.read_csv(io.BytesIO(RIDES)).query("rain_mm > 5").shape[0]


class TestDuckDB:
    def test_several_bodies_in_one_connection(self, body: MessageBody) -> None:
        other = MessageBody()
        other.add("date,rides\n2025-04-01,5\n", name="/data/rides.csv")
        with duckdb.connect() as connection:
            connection.register_filesystem(body.filesystem(protocol="left"))
            connection.register_filesystem(other.filesystem(protocol="right"))
            found = connection.sql(
                "SELECT l.rides, r.rides FROM 'left:///data/rides.csv' l "
                "JOIN 'right:///data/*.csv' r USING (date)"
            ).fetchall()
            connection.sql("COPY (SELECT 1 AS x) TO 'right:///one.csv'")
        assert found == [(1907, 5)]
        assert other["/one.csv"].text == "x\n1\n"

    def test_partitions_and_directories(self, body: MessageBody) -> None:
        with duckdb.connect() as connection:
            connection.register_filesystem(body.filesystem(quoted_names=True))
            rides = "SELECT *, rain_mm > 5 AS wet FROM 'messagebody:///data/rides.csv'"
            connection.sql(
                f"COPY ({rides}) TO 'messagebody:///p' (FORMAT parquet, PARTITION_BY wet)"
            )
            found = connection.sql("SELECT sum(rides) FROM 'messagebody:///p/*/*.parquet'")
            assert found.fetchall() == [(TOTAL,)]
            connection.sql(
                f"COPY ({rides}) TO 'messagebody:///many' (FORMAT parquet, PER_THREAD_OUTPUT)"
            )
        assert {name.split("/")[2] for name in body.names() if name.startswith("/p/")} == {
            "wet_3Dfalse", "wet_3Dtrue",
        }  # fmt: skip
        assert body.list("/many/*.parquet")

    def test_a_database_is_attached_and_changed(self, body: MessageBody, tmp_path: Path) -> None:
        with duckdb.connect(tmp_path / "new.db") as connection:
            connection.sql("CREATE TABLE rides (n INT)")
        body.fs.put_file(tmp_path / "new.db", "/rides.db")

        def run(*statements: str) -> Any:
            with duckdb.connect() as connection:
                connection.register_filesystem(body.fs)
                connection.sql("ATTACH 'messagebody:///rides.db' AS d")
                for statement in statements:
                    connection.sql(statement)
                return connection.sql("SELECT count(*), sum(n) FROM d.rides").fetchall()

        assert run("INSERT INTO d.rides VALUES (1), (2)", "CHECKPOINT d") == [(2, 3)]
        assert run("INSERT INTO d.rides SELECT range FROM range(10000)") == [(10_002, 49_995_003)]
        assert run("DELETE FROM d.rides WHERE n < 9999") == [(1, 9999)]
        # Its log of changes was written beside it, and removed.
        assert body.names() == ["/data/rides.csv", "/charts/rides.png", "/rides.db"]


@pytest.fixture
def database(tmp_path: Path) -> bytes:
    """A database of DuckDB with one empty table."""
    with duckdb.connect(tmp_path / "made.db") as connection:
        connection.sql("CREATE TABLE rides (n INT)")
    return (tmp_path / "made.db").read_bytes()


class TestDuckDBsLog:
    """What was committed is in the message, though the database is open still."""

    def rides(self, body: MessageBody, tmp_path: Path) -> int:
        """Count by DuckDB's own files, as a reader of the message would."""
        copy = tmp_path / "copy"
        body.fs.get("/", str(copy), recursive=True)
        with duckdb.connect(copy / "rides.db") as connection:
            (found,) = connection.sql("SELECT count(*) FROM rides").fetchall()
        shutil.rmtree(copy)
        return int(found[0])

    def test_it_is_kept(self, database: bytes, tmp_path: Path) -> None:
        body = MessageBody([Part(database, name="/rides.db")])
        with duckdb.connect() as connection:
            connection.register_filesystem(body.fs)
            connection.sql("ATTACH 'messagebody:///rides.db' AS d")
            for expected in (1000, 2000):
                connection.sql("INSERT INTO d.rides SELECT range FROM range(1000)")
                assert body.fs.isfile("/rides.db.wal")
                assert self.rides(body, tmp_path) == expected
            connection.sql("DETACH d")
        assert body.names() == ["/rides.db"]
        assert self.rides(body, tmp_path) == 2000

    def test_it_goes_on_where_another_one_ended(self, database: bytes, tmp_path: Path) -> None:
        body = MessageBody([Part(database, name="/rides.db")])
        connections = []
        for expected in (1000, 2000, 3000):
            body = MessageBody.from_json(body.to_json())  # in the middle of the work
            connections.append(duckdb.connect())
            # DuckDB knows open databases by their URLs.
            connections[-1].register_filesystem(body.filesystem(protocol=f"b{expected}"))
            connections[-1].sql(f"ATTACH 'b{expected}:///rides.db' AS d")
            connections[-1].sql("INSERT INTO d.rides SELECT range FROM range(1000)")
            assert self.rides(body, tmp_path) == expected
        for connection in connections:
            connection.close()

    @pytest.mark.dear
    def test_a_program_may_die(self, database: bytes, document: Path, tmp_path: Path) -> None:
        document.write_bytes(MessageBody([Part(database, name="/rides.db")]).to_json_bytes())
        program = """
import duckdb, os, sys
from messagebody.filesystem import MessageBodyFileSystem
connection = duckdb.connect()
connection.register_filesystem(MessageBodyFileSystem(fo=sys.argv[1], autosave=True))
connection.sql("ATTACH 'messagebody:///rides.db' AS d")
connection.sql("INSERT INTO d.rides SELECT range FROM range(1000)")
os._exit(0)
"""
        subprocess.run([sys.executable, "-c", program, document], check=True, timeout=60)
        assert self.rides(MessageBody.from_json(document.read_bytes()), tmp_path) == 1000
        ending = program.replace("os._exit(0)", "")
        subprocess.run([sys.executable, "-c", ending, document], check=True, timeout=60)
        assert self.rides(MessageBody.from_json(document.read_bytes()), tmp_path) == 2000


def zarr_store(body: MessageBody, path: str, **options: Any) -> Any:
    filesystem = AsyncFileSystemWrapper(body.filesystem(**options), asynchronous=True)
    return zarr.storage.FsspecStore(filesystem, path=path)


class TestZarr:
    def test_arrays_whose_names_look_quoted(self) -> None:
        root = zarr.create_group(zarr_store(MessageBody(), "/g", quoted_names=True))
        for name in ("t_2030", "t 30"):
            root.create_array(name, shape=(2,), dtype="u1")
        assert sorted(root.array_keys()) == ["t 30", "t_2030"]

    def test_an_array_in_chunks(self, body: MessageBody) -> None:
        values = np.asarray(Image.open(io.BytesIO(sample("chart.png"))).convert("L"))
        store = zarr_store(body, "/chart")
        array = zarr.create_array(store, shape=values.shape, chunks=(100, 100), dtype="u1")
        array[:] = values
        assert "/chart/zarr.json" in body
        chunks = -(-values.shape[0] // 100) * -(-values.shape[1] // 100)
        assert len(body.list("/chart/c/**")) <= chunks  # none for one of nothing but zeros
        again = MessageBody.from_json(body.to_json())
        read = zarr.open_array(zarr_store(again, "/chart"), mode="r")
        assert (read[10:20, 30:40] == values[10:20, 30:40]).all()
        assert (read[:] == values).all()


class TestDask:
    @pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
    def test_a_bag_of_lines(self, document: Path, scheduler: str) -> None:
        """Worker processes get the filesystem pickled: it names its document."""
        body = MessageBody.from_json(document.read_bytes())
        for number in range(4):
            rows = [json.dumps({"line": line, "of": number}) for line in range(5)]
            body.add("\n".join(rows), name=f"/logs/{number}.jsonl")
        document.write_bytes(body.to_json_bytes())
        bag = dask.bag.read_text(
            "messagebody:///logs/*.jsonl", storage_options={"fo": f"file://{document}"}
        )
        lines = bag.map(json.loads).pluck("line")
        assert bag.npartitions == 4
        assert lines.sum().compute(scheduler=scheduler) == 4 * (0 + 1 + 2 + 3 + 4)

    @pytest.mark.dear
    def test_workers_do_not_write_into_their_copies(self, body: MessageBody) -> None:
        frame = dask.dataframe.from_pandas(pd.DataFrame({"x": range(8)}), npartitions=2)
        with pytest.raises(OSError, match="Read-only"):
            frame.to_parquet(
                "messagebody:///d", storage_options={"body": body},
                compute_kwargs={"scheduler": "processes"},
            )  # fmt: skip


class TestFsspec:
    def test_open_by_chained_url(self, document: Path) -> None:
        with fsspec.open(f"messagebody:///data/rides.csv::file://{document}", "r") as file:
            assert file.readline() == "date,rain_mm,rides\n"

    def test_open_many_files(self, document: Path) -> None:
        files = fsspec.open_files(f"messagebody:///*/rides.*::file://{document}")
        assert [file.path for file in files] == ["/charts/rides.png", "/data/rides.csv"]

    def test_simplecache(self, document: Path, tmp_path: Path) -> None:
        url = f"simplecache::messagebody:///data/rides.csv::file://{document}"
        cache = tmp_path / "cache"
        with fsspec.open(url, simplecache={"cache_storage": str(cache)}) as file:
            assert file.read() == RIDES
        assert [path.read_bytes() for path in cache.iterdir()] == [RIDES]

    def test_mapper(self, body: MessageBody) -> None:
        mapper = body.fs.get_mapper("/data")
        mapper["new"] = b"x"
        assert sorted(mapper) == ["new", "rides.csv"]
        assert body["/data/new"].read_bytes() == b"x"
        del mapper["new"]
        assert "/data/new" not in body


# fsspec leaves the file of its cache to the collector.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_cache_of_blocks_reads_parts(tmp_path: Path) -> None:
    filesystem = MessageBody([Part("date,rides\n" * 2000, name="/rides.csv")]).fs
    blocks = fsspec.filesystem("blockcache", fs=filesystem, cache_storage=str(tmp_path / "blocks"))
    for _ in range(2):
        with blocks.open("/rides.csv") as file:
            assert file.read() == filesystem.cat_file("/rides.csv")
            assert file.seek(2) == 2
            assert file.read(2) == b"te"
            if hasattr(file, "cache"):  # a file that is whole on disk has none
                assert file.cache._fetch(2, 4) == b"te"
        assert file.closed
    blocks.open("/rides.csv").close()
    gc.collect()
