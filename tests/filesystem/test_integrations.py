"""Libraries that read and write parts without knowing it; each test needs its library."""

import io
from pathlib import Path
from typing import Any

import fsspec
import pytest

from messagebody import MessageBody
from messagebody.samples import __file__ as samples

pytestmark = pytest.mark.filterwarnings("default")  # the libraries' own

ROWS = {"day": [1, 2, 3], "rides": [2173, 539, 88]}


@pytest.fixture
def body() -> MessageBody:
    body = MessageBody()
    body.fs.pipe_file("/data/rides.csv", b"day,rides\n1,2173\n2,539\n3,88\n")
    return body


@pytest.fixture
def document(body: MessageBody, tmp_path: Path) -> Path:
    path = tmp_path / "message.json"
    path.write_bytes(body.to_json_bytes())
    return path


def test_pandas_both_ways(body: MessageBody) -> None:
    pandas: Any = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    with body.fs.open("/data/rides.csv") as file:
        frame = pandas.read_csv(file)
    assert frame.to_dict("list") == ROWS
    with body.fs.open("/data/rides.parquet", "wb") as file:
        frame.to_parquet(file)
    frame.to_json("messagebody:///data/rides.json", storage_options={"body": body})
    assert pandas.read_json(body.path("/data/rides.json").open()).to_dict("list") == ROWS
    options = {"body": body}
    again = pandas.read_parquet("messagebody:///data/rides.parquet", storage_options=options)
    assert again.equals(frame)


def test_pandas_by_chained_url(document: Path) -> None:
    pandas: Any = pytest.importorskip("pandas")
    url = f"messagebody:///data/rides.csv::file://{document}"
    assert pandas.read_csv(url).to_dict("list") == ROWS


def test_pyarrow_dataset(body: MessageBody) -> None:
    pyarrow: Any = pytest.importorskip("pyarrow")
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    dataset: Any = pytest.importorskip("pyarrow.dataset")
    for day in (1, 2):
        with body.fs.open(f"/set/{day}.parquet", "wb") as file:
            parquet.write_table(pyarrow.table({"day": [day]}), file)
    table = dataset.dataset("/set", filesystem=body.fs, format="parquet").to_table()
    assert table.to_pydict() == {"day": [1, 2]}


def test_duckdb(body: MessageBody) -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register_filesystem(body.fs)
        query = "SELECT sum(rides) FROM read_csv('messagebody:///data/rides.csv')"
        assert connection.sql(query).fetchall() == [(2800,)]
        connection.sql("COPY (SELECT 7 AS x) TO 'messagebody:///out.parquet' (FORMAT parquet)")
        found = connection.sql("SELECT x FROM 'messagebody:///out.parquet'").fetchall()
    assert found == [(7,)]


def test_polars(body: MessageBody) -> None:
    polars: Any = pytest.importorskip("polars")
    with body.fs.open("/data/rides.csv") as file:
        frame = polars.read_csv(file)
    assert frame.to_dict(as_series=False) == ROWS
    with body.fs.open("/data/rides.parquet", "wb") as file:
        frame.write_parquet(file)
    assert polars.read_parquet(io.BytesIO(body["/data/rides.parquet"].read_bytes())).equals(frame)


def test_zarr(body: MessageBody) -> None:
    zarr: Any = pytest.importorskip("zarr")
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper

    store = zarr.storage.FsspecStore(AsyncFileSystemWrapper(body.fs, asynchronous=True), path="/z")
    array = zarr.create_array(store, shape=(4, 4), chunks=(2, 2), dtype="i4")
    array[:] = 7
    assert "/z/zarr.json" in body
    assert zarr.open_array(store, mode="r")[:].sum() == 112


def test_pillow(body: MessageBody) -> None:
    image: Any = pytest.importorskip("PIL.Image")
    body.add(Path(samples).with_name("chart.png"), name="/chart.png")
    with body.fs.open("/chart.png") as file, image.open(file) as chart:
        size = chart.size
        with body.fs.open("/chart.jpg", "wb") as target:
            chart.convert("RGB").save(target, format="JPEG")
    with image.open(io.BytesIO(body["/chart.jpg"].read_bytes())) as again:
        assert (again.size, body["/chart.jpg"].content_type) == (size, "image/jpeg")


def test_simplecache(document: Path) -> None:
    url = f"simplecache::messagebody:///data/rides.csv::file://{document}"
    with fsspec.open(url) as file:
        assert file.readline() == b"day,rides\n"


def test_mapper(body: MessageBody) -> None:
    mapper = body.fs.get_mapper("/data")
    mapper["new"] = b"x"
    assert sorted(mapper) == ["new", "rides.csv"]
    assert body["/data/new"].read_bytes() == b"x"
