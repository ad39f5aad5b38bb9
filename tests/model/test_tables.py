"""Tables and arrays: nothing that they say is lost without a word."""

import csv
import decimal
import io
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody.errors import InvalidArgument, InvalidPart
from tests.model.test_objects import stand_in

pandas = pytest.importorskip("pandas")
numpy = pytest.importorskip("numpy")
polars = pytest.importorskip("polars")

FRAME = pandas.DataFrame({"a": ["x", "y"], "b": [3, 4]})


class TestOneObjectIsOnePart:
    """A table goes through by its columns, a file by its lines; neither is meant."""

    OBJECTS = (
        FRAME, FRAME["a"], FRAME.columns, FRAME["a"].array, polars.DataFrame({"a": ["x"]}),
        polars.Series("a", ["x"]), numpy.array(["x", "y"]), io.StringIO("a\nb"),
        io.BytesIO(b"a\nb"),
    )  # fmt: skip

    @pytest.mark.parametrize("value", OBJECTS, ids=lambda value: type(value).__name__)
    def test_it_is_refused_with_the_call(self, value: Any) -> None:
        body = MessageBody(["before"])
        calls: list[Any] = [
            lambda: MessageBody(value), lambda: body.extend(value), lambda: body + value,
            lambda: body.__iadd__(value), lambda: body.__setitem__(slice(0, 1), value),
        ]  # fmt: skip
        for call in calls:
            with pytest.raises(InvalidArgument, match="expected parts in a list") as caught:
                call()
            assert "body.add(…) and MessageBody([…]) take it as one part" in str(caught.value)
        assert body == MessageBody(["before"])

    @pytest.mark.parametrize("value", [FRAME, io.BytesIO(b"a\nb")])
    def test_the_call_does_it(self, value: Any) -> None:
        assert len(MessageBody([value])) == 1

    @pytest.mark.parametrize("value", ["x", b"x", Part("x")])
    def test_a_sum_with_no_list_leads_on(self, value: Any) -> None:
        with pytest.raises(InvalidArgument, match=r"MessageBody\(\["):
            MessageBody() + value

    def test_a_table_is_in_no_body(self) -> None:
        # Compared with each part, it would give a table of answers.
        assert FRAME not in MessageBody([FRAME])

    def test_a_set_has_no_order(self) -> None:
        with pytest.raises(InvalidArgument, match="a set has no order"):
            MessageBody({"a", "b"})

    def test_what_goes_through_as_before(self) -> None:
        texts = {"a": 1, "b": 2}
        for values in (("a", "b"), (text for text in "ab"), texts.keys(), MessageBody(["a", "b"])):
            assert MessageBody(values) == MessageBody(["a", "b"])


class TestIndex:
    @given(
        start=st.integers(-5, 5),
        step=st.integers(-3, 3).filter(bool),
        count=st.integers(1, 4),
        name=st.sampled_from([None, "key"]),
    )
    def test_an_index_is_kept(self, start: int, step: int, count: int, name: str | None) -> None:
        index = pandas.RangeIndex(start, start + step * count, step, name=name)
        frame = pandas.DataFrame({"n": range(count)}, index=index)
        for table in (frame, frame["n"]):
            text = Part(table).read_text()
            kept = len(text.partition("\n")[0].split(",")) == 2
            read = pandas.read_csv(io.StringIO(text), index_col=0 if kept else None)
            assert read.index.equals(index)
            rows = Part(table, name="/t.json").read_json()
            assert [row.get(name or "index", at) for at, row in enumerate(rows)] == [*index]
            assert all(("index" in row or "key" in row) == kept for row in rows)

    def test_what_only_counts_is_left_out(self) -> None:
        assert Part(FRAME).text == "a,b\nx,3\ny,4\n"

    def test_rows_that_were_picked_keep_their_numbers(self) -> None:
        assert Part(FRAME[FRAME["b"] > 3]).text == ",a,b\n1,y,4\n"
        picked = FRAME[FRAME["b"] > 3].reset_index(drop=True)
        assert Part(picked).text == "a,b\ny,4\n"


@pytest.mark.parametrize("ending", ["jsonl", "ndjson"])
@pytest.mark.parametrize(
    "rows",
    [
        FRAME,
        polars.DataFrame({"a": ["x", "y"], "b": [3, 4]}),
        [{"a": "x", "b": 3}, {"a": "y", "b": 4}],
    ],
    ids=["pandas", "polars", "list"],
)
def test_lines(rows: Any, ending: str) -> None:
    kind = "application/jsonl" if ending == "jsonl" else "application/x-ndjson"
    lines = '{"a":"x","b":3}\n{"a":"y","b":4}\n'
    for part in (Part(rows, name=f"/t.{ending}"), Part(rows, content_type=kind)):
        assert (part.content_type, part.text) == (kind, lines)
    if isinstance(rows, list):
        body = MessageBody()
        assert body.add(json=rows, name=f"/t.{ending}").text == lines
        body[f"/t.{ending}"] = rows[:1]
        assert body[f"/t.{ending}"] == Part(rows[:1], name=f"/t.{ending}")
        assert body[0].evolve(content=rows).text == lines


class TestArrays:
    def test_a_mask(self) -> None:
        array = numpy.ma.array([1, 2], mask=[False, True])
        with pytest.raises(InvalidPart, match=r"the mask would be lost; array\.filled\(…\)"):
            Part(array)
        assert numpy.load(Part(array.filled(0)).open()).tolist() == [1, 0]
        assert Part(array, name="/a.json").read_json() == [1, None]
        whole = numpy.ma.array([1, 2], mask=[False, False])
        assert numpy.load(Part(whole).open()).tolist() == [1, 2]

    def test_what_another_library_adds(self) -> None:
        class Quantity(numpy.ndarray):  # type: ignore[misc,name-defined]
            """As astropy's, which has a unit."""

        array = numpy.arange(2).view(Quantity)
        with pytest.raises(InvalidPart, match=r"numpy\.asarray\(…\) makes an array of it, without"):
            Part(array)
        assert Part(numpy.asarray(array)).content_type == "application/x-npy"

    def test_dates_as_json(self) -> None:
        days = numpy.array(["2026-11-25", "2026-11-26"], "datetime64[ns]")
        assert Part(days, name="/a.json").read_json() == [
            "2026-11-25T00:00:00.000000000", "2026-11-26T00:00:00.000000000",
        ]  # fmt: skip
        assert Part({"day": days[0]}).read_json() == {"day": "2026-11-25T00:00:00.000000000"}

    @pytest.mark.parametrize(
        ("array", "problem"),
        [
            (numpy.array(["NaT"], "datetime64[s]"), "NaT is no JSON value; None stands for"),
            (numpy.array([1], "timedelta64[ns]"), "durations are no JSON"),
            (numpy.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]), "its fields have names"),
            (numpy.array([float("nan")]), "nan is not a JSON number"),
            (numpy.array([1j]), "complex is no JSON value"),
        ],
    )
    def test_what_json_has_not(self, array: Any, problem: str) -> None:
        calls: list[Any] = [
            lambda: Part(array, name="/a.json"), lambda: Part({"a": array}),
            lambda: MessageBody().add(json=[array]),
        ]  # fmt: skip
        for add in calls:
            with pytest.raises(InvalidPart, match=problem.replace("is no", "is (no|not a)")):
                add()


class TestOtherFormats:
    def test_arrow(self) -> None:
        frame = pandas.DataFrame({"a": [1, 2]})
        for table, read in (
            (frame, pandas.read_feather),
            (polars.from_pandas(frame), polars.read_ipc),
        ):
            part = Part(table, name="/t.feather")
            assert part.content_type == "application/vnd.apache.arrow.file"
            assert read(part.open()).equals(table)

    def test_a_workbook(self) -> None:
        with pytest.raises(InvalidPart, match=r"frame\.to_excel\(stream\) writes it"):
            Part(FRAME, name="/t.xlsx")
        with pytest.raises(InvalidPart, match=r"frame\.write_excel\(stream\) writes it"):
            Part(polars.DataFrame({"a": [1]}), name="/t.xlsx")

    def test_a_picture(self) -> None:
        fromarray = pytest.importorskip("PIL.Image").fromarray
        pixels = numpy.zeros((2, 2, 3), "uint8")
        with pytest.raises(InvalidPart, match=r"PIL\.Image\.fromarray\(…\) makes a picture"):
            Part(pixels, name="/a.png")
        assert Part(fromarray(pixels), name="/a.png").content_type == "image/png"

    @pytest.mark.parametrize("cell", [[1], {"a": 1}, b"\xff"])
    def test_what_csv_has_no_place_for(self, cell: Any) -> None:
        table = polars.DataFrame({"a": [cell]})
        with pytest.raises(InvalidPart, match=r"a name that ends in \.parquet keeps it"):
            Part(table)
        assert polars.read_parquet(Part(table, name="/t.parquet").open()).equals(table)

    @pytest.mark.parametrize(
        "cell",
        [
            numpy.arange(3_000), numpy.array([1 / 3]), FRAME, FRAME["a"], object(), b"\xff",
            [1, "a"], {"a": (numpy.arange(3_000),)}, len, polars.Series([1]),
            pytest.importorskip("PIL.Image").new("RGB", (2, 2)), lambda: 1,
        ],
        ids=range(12),
    )  # fmt: skip
    @pytest.mark.parametrize("ending", ["csv", "tsv"])
    def test_what_only_shows_itself_in_csv(self, cell: Any, ending: str) -> None:
        table = pandas.DataFrame({"a": [1, 2]}).join(pandas.Series(["x", cell], name="b"))
        with pytest.raises(InvalidPart, match=r"column 'b' holds the .*, no text; a name"):
            Part(table, name=f"/t.{ending}")

    @pytest.mark.parametrize(
        "cell",
        [
            "<a at 0x7f>", None, pandas.NaT, pandas.Timestamp("2020-01-01"),
            numpy.float64(1.5), decimal.Decimal("1.10"), pandas.Period("2020"), 1 + 2j,
        ],
        ids=range(8),
    )  # fmt: skip
    def test_what_has_a_text_in_csv(self, cell: Any) -> None:
        table = pandas.DataFrame({"b": pandas.Series(["x", cell], dtype=object)})
        assert Part(table).text == table.to_csv(index=False)

    @pytest.mark.parametrize("ending", ["csv", "tsv"])
    @given(texts=st.lists(st.text('a\r\n\t," '), min_size=1))
    def test_texts_of_csv_come_back(self, ending: str, texts: list[str]) -> None:
        table = pandas.DataFrame({"a": texts, "b": range(len(texts))})
        written = io.StringIO(Part(table, name=f"/t.{ending}").text, newline="")
        _, *rows = csv.reader(written, delimiter="," if ending == "csv" else "\t")
        assert rows == [[each, str(n)] for n, each in enumerate(texts)]

    @pytest.mark.parametrize("library", [pandas, polars])
    def test_bytes_as_json(self, library: Any) -> None:
        with pytest.raises(InvalidPart, match=r"'/0/a': a bytes is not a JSON value; base64"):
            Part(library.DataFrame({"a": [b"\xff"]}), name="/t.json")


class TestPreviews:
    """What notebooks show of data is its beginning."""

    @pytest.mark.parametrize("name", [None, "/t.html", "/t.csv"])
    def test_a_relation_of_duckdb(self, name: str | None) -> None:
        duckdb = pytest.importorskip("duckdb")
        relation = duckdb.sql("select * from range(20000) as t(n)")
        with pytest.raises(InvalidPart, match=r"value\.df\(\) makes a frame of it") as caught:
            Part(relation, name=name)
        assert len(str(caught.value)) < 200
        assert len(Part(relation.df()).read_text().split()) == 20_001

    @pytest.mark.parametrize(
        ("protocol", "methods", "advice"),
        [
            ("__arrow_c_stream__", ["to_pandas"], "value.to_pandas() makes a frame of it"),
            ("__array__", ["compute"], "value.compute() makes the table or array"),
            ("__array__", [], "numpy.asarray(…) makes an array of it"),
            ("__geo_interface__", [], "name='….geojson') adds its GeoJSON"),
            ("__dataframe__", ["toPandas"], "value.toPandas() makes a frame of it"),
        ],
    )
    def test_the_protocols_of_data(self, protocol: str, methods: list[str], advice: str) -> None:
        members = dict.fromkeys([protocol, *methods, "_repr_html_", "_repr_svg_"], lambda _: "<b/>")
        with pytest.raises(InvalidPart, match=re.escape(advice)):
            Part(stand_in("library.tables", "Table", **members))

    def test_what_is_only_shown_is_what_is_shown(self) -> None:
        chart = stand_in("library.maps", "Map", _repr_html_=lambda _: "<b>map</b>")
        assert Part(chart).text == "<b>map</b>"

    def test_a_widget_lives_in_its_kernel(self) -> None:
        kind = "application/vnd.jupyter.widget-view+json"
        widget = stand_in(
            "widgets", "Slider", _repr_mimebundle_=lambda _: {kind: {"model_id": "3"}}
        )
        with pytest.raises(InvalidPart, match="it shows nothing"):
            Part(widget)
