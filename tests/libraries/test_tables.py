"""Libraries of tables: what they write into a body they read back."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import dask.dataframe
import datasets
import deltalake
import duckdb
import fastavro
import fastparquet
import fsspec
import odf.opendocument
import odf.table
import openpyxl
import pandas as pd
import petl
import polars as pl
import pyarrow as pa
import pytest
import xlsxwriter
from pyarrow import csv as arrow_csv
from pyarrow import dataset, feather, parquet

from messagebody import MessageBody

ROWS = [{"day": 1, "rides": 2173}, {"day": 2, "rides": 539}]
FRAME = pd.DataFrame(ROWS)


@pytest.mark.library("pandas", "CSV, JSON, Parquet, Feather, pickle", "URL", "reads, writes")
@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "feather", "pickle"])
def test_pandas(body: MessageBody, kind: str, record_property: Any) -> None:
    url, options = f"messagebody:///t.{kind}", {"body": body}
    extra = {"index": False} if kind == "csv" else {}
    getattr(FRAME, f"to_{kind}")(url, storage_options=options, **extra)
    assert getattr(pd, f"read_{kind}")(url, storage_options=options).equals(FRAME)


@pytest.mark.library("openpyxl", "Excel", "open file", "reads, writes")
def test_openpyxl(body: MessageBody, fs: Any) -> None:
    book = openpyxl.Workbook()
    book.active.append(["day", "rides"])
    with fs.open("/t.xlsx", "wb") as file:
        book.save(file)
    with fs.open("/t.xlsx") as file:
        assert openpyxl.load_workbook(file).active["B1"].value == "rides"
    assert body["/t.xlsx"].content_type.endswith("spreadsheetml.sheet")


@pytest.mark.library("xlsxwriter", "Excel", "open file", "writes")
def test_xlsxwriter(body: MessageBody, fs: Any) -> None:
    with fs.open("/t.xlsx", "wb") as file, xlsxwriter.Workbook(file) as book:
        book.add_worksheet().write(0, 0, "rides")
    with fs.open("/t.xlsx") as file:
        assert pd.read_excel(file, header=None).iloc[0, 0] == "rides"
    assert body["/t.xlsx"].content_type.endswith("spreadsheetml.sheet")


@pytest.mark.library("odfpy", "OpenDocument", "open file", "reads, writes")
def test_odfpy(body: MessageBody, fs: Any) -> None:
    sheet = odf.opendocument.OpenDocumentSpreadsheet()
    sheet.spreadsheet.addElement(odf.table.Table(name="rides"))
    with fs.open("/t.ods", "wb") as file:
        sheet.write(file)
    with fs.open("/t.ods") as file:
        tables = odf.opendocument.load(file).spreadsheet.getElementsByType(odf.table.Table)
        assert [table.getAttribute("name") for table in tables] == ["rides"]
    assert body["/t.ods"].content_type == "application/vnd.oasis.opendocument.spreadsheet"


@pytest.mark.library("pyarrow", "Parquet, CSV, Feather, datasets", "filesystem", "reads, writes")
def test_pyarrow(body: MessageBody, fs: Any) -> None:
    table = pa.Table.from_pylist(ROWS)
    parquet.write_table(table, "/t.parquet", filesystem=fs)
    assert parquet.read_table("/t.parquet", filesystem=fs) == table
    dataset.write_dataset(table, "/parts", format="parquet", filesystem=fs)
    assert dataset.dataset("/parts", filesystem=fs).to_table() == table
    with fs.open("/t.feather", "wb") as file:
        feather.write_feather(table, file)
    with fs.open("/t.feather") as file:
        assert feather.read_table(file) == table
    with fs.open("/data/rides.csv") as file:
        assert arrow_csv.read_csv(file).num_rows == 91


@pytest.mark.library("fastparquet", "Parquet", "filesystem", "reads, writes")
def test_fastparquet(fs: Any) -> None:
    fastparquet.write("/t.parquet", FRAME, open_with=fs.open, mkdirs=fs.makedirs)
    assert fastparquet.ParquetFile("/t.parquet", fs=fs).to_pandas().equals(FRAME)


@pytest.mark.library("duckdb", "CSV, Parquet, JSON, databases", "filesystem", "reads, writes")
def test_duckdb(body: MessageBody, fs: Any, tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "t.db") as connection:
        connection.sql("CREATE TABLE t (n INT)")
    fs.put_file(tmp_path / "t.db", "/t.db")
    with duckdb.connect() as connection:
        connection.register_filesystem(fs)
        for kind in ("csv", "parquet", "json"):
            connection.sql(f"COPY (SELECT 7 AS n) TO 'messagebody:///t.{kind}'")
            assert connection.sql(f"FROM 'messagebody:///t.{kind}'").fetchall() == [(7,)]
        connection.sql("ATTACH 'messagebody:///t.db' AS d")
        connection.sql("INSERT INTO d.t VALUES (8)")
        connection.sql("DETACH d")
        connection.sql("ATTACH 'messagebody:///t.db' AS d (READ_ONLY)")
        assert connection.sql("FROM d.t").fetchall() == [(8,)]


@pytest.mark.library("polars", "CSV, Parquet, Arrow", "open file", "reads, writes")
def test_polars(fs: Any) -> None:
    frame = pl.DataFrame(ROWS)
    for kind in ("csv", "parquet", "ipc"):
        with fs.open(f"/t.{kind}", "wb") as file:
            getattr(frame, f"write_{kind}")(file)
        with fs.open(f"/t.{kind}") as file:
            assert getattr(pl, f"read_{kind}")(file).equals(frame)
    found = pl.scan_pyarrow_dataset(dataset.dataset("/t.parquet", filesystem=fs))
    assert found.select("rides").collect()["rides"].to_list() == [2173, 539]


@pytest.mark.library("dask", "CSV, Parquet", "URL", "reads, writes")
def test_dask(body: MessageBody) -> None:
    options = {"storage_options": {"body": body}}
    frame = dask.dataframe.from_pandas(FRAME, npartitions=2)
    frame.to_parquet("messagebody:///d", compute_kwargs={"scheduler": "threads"}, **options)
    found = dask.dataframe.read_parquet("messagebody:///d", **options)
    assert found["rides"].sum().compute(scheduler="threads") == 2712
    assert len(body.list("/d/*.parquet")) == 2


@pytest.mark.library("fastavro", "Avro", "open file", "reads, writes")
def test_fastavro(body: MessageBody, fs: Any) -> None:
    fields = [{"name": name, "type": "int"} for name in ROWS[0]]
    schema = {"type": "record", "name": "day", "fields": fields}
    with fs.open("/t.avro", "wb") as file:
        fastavro.writer(file, schema, ROWS)
    with fs.open("/t.avro") as file:
        assert [*fastavro.reader(file)] == ROWS
    assert body["/t.avro"].content_type == "application/avro"


@pytest.mark.library("petl", "CSV and others", "URL", "reads, writes")
def test_petl(fs: Any) -> None:
    petl.tocsv(petl.fromdicts(ROWS), petl.io.remotes.RemoteSource(fs.url("/t.csv")))
    found = petl.fromcsv(petl.io.remotes.RemoteSource(fs.url("/t.csv")))
    assert [*petl.values(found, "rides")] == ["2173", "539"]


@pytest.mark.library("datasets", "CSV, Parquet, JSON, Arrow", "URL", "reads, writes")
def test_datasets(body: MessageBody, tmp_path: Path) -> None:
    options = {"body": body}
    made = datasets.Dataset.from_list(ROWS)
    made.to_parquet("messagebody:///t.parquet", storage_options=options)
    made.save_to_disk("messagebody:///saved", storage_options=options)
    assert [*datasets.load_from_disk("messagebody:///saved", storage_options=options)] == ROWS
    message = tmp_path / "message.json"
    message.write_bytes(body.to_json_bytes())
    found = datasets.load_dataset(
        "parquet",
        data_files=f"messagebody:///t.parquet::{message.as_uri()}",
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    assert [*found] == ROWS


@pytest.mark.library("deltalake", "Delta tables", "copied files", "reads")
def test_deltalake(fs: Any, tmp_path: Path) -> None:
    deltalake.write_deltalake(tmp_path / "made", FRAME)
    fs.put(str(tmp_path / "made"), "/delta", recursive=True)
    fs.get("/delta", str(tmp_path / "got"), recursive=True)
    assert deltalake.DeltaTable(tmp_path / "got").to_pandas().equals(FRAME)


def test_the_standard_library(fs: Any) -> None:
    with fs.open("/t.csv", "w", newline="") as file:
        csv.DictWriter(file, ROWS[0]).writerows(ROWS)
    with fs.open("/t.csv", "r", newline="") as file:
        assert [*csv.reader(file)] == [["1", "2173"], ["2", "539"]]
    with fsspec.open(fs.url("/t.json.gz"), "wt", compression="gzip") as file:
        json.dump(ROWS, file)
    with fs.open("/t.json.gz", "rt", compression="gzip") as file:
        assert json.load(file) == ROWS
    assert isinstance(fs.open("/t.csv"), io.BytesIO)
