"""What objects become as content: by their own methods, as the name of the part says."""

import base64
import dataclasses
import datetime as dt
import io
import json
import sys
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pytest

from messagebody import MessageBody, Part
from messagebody.errors import InvalidPart
from messagebody.samples import sample

PNG = b"\x89PNG\r\n\x1a\n rest"


def added(value: Any, name: str | None = None, content_type: str | None = None) -> Part:
    """Return the part of an object, and see that every way to make it says the same."""
    part = MessageBody().add(value, name=name, content_type=content_type)
    assert Part(value, name=name, content_type=content_type) == part
    body = MessageBody([value])
    if name is None and content_type is None:
        assert body[0] == part
    elif name is not None and content_type is None:
        body[name] = value
        assert body[name] == part
    return part


class TestImages:
    @pytest.fixture
    def image(self) -> Any:
        return pytest.importorskip("PIL.Image").new("RGB", (2, 3), "red")

    @pytest.mark.parametrize(
        ("name", "kind", "form"),
        [
            (None, "image/png", "PNG"),
            ("/charts/red", "image/png", "PNG"),
            ("/red.png", "image/png", "PNG"),
            ("/red.jpg", "image/jpeg", "JPEG"),
            ("/red.JPEG", "image/jpeg", "JPEG"),
            ("/red.webp", "image/webp", "WEBP"),
        ],
    )
    def test_the_name_says_the_format(self, image: Any, name: Any, kind: str, form: str) -> None:
        part = added(image, name)
        assert part.content_type == kind
        again = sys.modules["PIL.Image"].open(part.open())
        assert (again.format, again.size) == (form, (2, 3))

    def test_the_type_counts_more_than_the_name(self, image: Any) -> None:
        assert added(image, "/red.png", "image/jpeg").read_bytes()[:2] == b"\xff\xd8"

    def test_what_it_can_not_be(self, image: Any) -> None:
        with pytest.raises(InvalidPart) as caught:
            MessageBody().add(image, name="/red.csv")
        assert str(caught.value) == (
            "the PIL Image can't be written as text/csv: it can be image/png, image/jpeg, "
            "image/webp"
        )
        with pytest.raises(InvalidPart, match="JPEG holds no picture of mode F") as caught:
            MessageBody().add(image.convert("F"), name="/red.jpg")
        assert isinstance(caught.value.__cause__, ValueError)

    def test_new_content_keeps_the_type_of_its_part(self, image: Any) -> None:
        part = Part(b"\xff\xd8\xff", name="/photo", content_type="image/jpeg")
        assert part.evolve(content=image).read_bytes()[:2] == b"\xff\xd8"
        assert part.evolve(content=image, content_type="image/png").read_bytes()[:4] == PNG[:4]


class TestTables:
    ROWS = (
        '[{"city":"Łódź","rides":3,"share":0.30000000000000004},'
        '{"city":"b","rides":4,"share":null}]'
    )

    @pytest.fixture(params=["pandas", "polars"])
    def frame(self, request: Any) -> Any:
        library = pytest.importorskip(request.param)
        return library.DataFrame(
            {"city": ["Łódź", "b"], "rides": [3, 4], "share": [0.1 + 0.2, None]}
        )

    @pytest.mark.parametrize(
        ("name", "kind", "text"),
        [
            (None, "text/csv", "city,rides,share\nŁódź,3,0.30000000000000004\nb,4,\n"),
            ("/t.csv", "text/csv", "city,rides,share\nŁódź,3,0.30000000000000004\nb,4,\n"),
            (
                "/t.tsv",
                "text/tab-separated-values",
                "city\trides\tshare\nŁódź\t3\t0.30000000000000004\nb\t4\t\n",
            ),
            ("/t.json", "application/json", ROWS),
            (
                "/t.jsonl",
                "application/jsonl",
                '{"city":"Łódź","rides":3,"share":0.30000000000000004}\n'
                '{"city":"b","rides":4,"share":null}\n',
            ),
        ],
    )
    def test_the_name_says_the_format(self, frame: Any, name: Any, kind: str, text: str) -> None:
        part = added(frame, name)
        assert (part.content_type, part.text) == (kind, text)

    def test_parquet(self, frame: Any) -> None:
        library = sys.modules[type(frame).__module__.partition(".")[0]]
        part = added(frame, "/t.parquet")
        assert part.content_type == "application/vnd.apache.parquet"
        assert library.read_parquet(part.open()).equals(frame)

    def test_a_series(self, frame: Any) -> None:
        assert added(frame["rides"]).text == "rides\n3\n4\n"

    def test_what_it_can_not_be(self, frame: Any) -> None:
        with pytest.raises(InvalidPart, match="can't be written as image/png: it can be text/csv"):
            MessageBody().add(frame, name="/t.png")

    def test_dates_and_what_is_missing(self) -> None:
        pandas = pytest.importorskip("pandas")
        day = pandas.Timestamp("2026-11-25")
        frame = pandas.DataFrame({"day": [day, pandas.NaT], "n": pandas.array([None, 1])})
        read = added(frame, "/t.json").read_json()
        assert [row["day"] for row in read] == ["2026-11-25T00:00:00", None]
        assert [row["n"] for row in read] == [None, 1]

    def test_columns_of_one_name(self) -> None:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame([[1, 2]], columns=["a", "a"])
        assert added(frame).text == "a,a\n1,2\n"
        with pytest.raises(InvalidPart, match="columns of the same name"):
            MessageBody().add(frame, name="/t.json")

    def test_a_lazy_frame(self) -> None:
        polars = pytest.importorskip("polars")
        with pytest.raises(InvalidPart, match=r"frame\.collect\(\) makes the table"):
            MessageBody().add(polars.LazyFrame({"a": [1]}))


class TestArrays:
    def test_it_keeps_type_and_shape(self) -> None:
        numpy = pytest.importorskip("numpy")
        array = numpy.arange(6, dtype="int16").reshape(2, 3)
        part = added(array)
        assert part.content_type == "application/x-npy"
        again = numpy.load(part.open())
        assert (again == array).all()
        assert again.dtype == array.dtype
        assert added(array, "/a.json").read_json() == [[0, 1, 2], [3, 4, 5]]

    def test_a_single_number_has_no_rows(self) -> None:
        numpy = pytest.importorskip("numpy")
        with pytest.raises(InvalidPart, match=r"single number, which has no rows; array\[None\]"):
            added(numpy.array(5), "/a.jsonl")
        assert added(numpy.array(5)[None], "/a.jsonl").text == "5\n"

    def test_objects_are_refused(self) -> None:
        # Pickled objects run code when they are read.
        numpy = pytest.importorskip("numpy")
        with pytest.raises(InvalidPart, match="objects can't be saved without pickle"):
            MessageBody().add(numpy.array([object()]))


@dataclasses.dataclass
class Data:
    n: int
    when: dt.date = dt.date(2026, 11, 25)
    parts: list[Any] = dataclasses.field(default_factory=list)


@attrs.frozen
class Attrs:
    n: int
    price: Decimal = Decimal("1.10")


class Struct(msgspec.Struct):
    n: int
    raw: bytes = b"\x00\xff"


class TestFields:
    def test_dataclass_attrs_and_struct(self) -> None:
        assert added(Data(1)).text == '{"n":1,"when":"2026-11-25","parts":[]}'
        assert added(Attrs(1)).text == '{"n":1,"price":"1.10"}'
        assert added(Struct(1)).text == '{"n":1,"raw":"AP8="}'
        assert added(Data(1), "/run.json").content_type == "application/json"
        assert added(Data(1), "/run.geojson").content_type == "application/geo+json"

    def test_a_pydantic_model(self) -> None:
        pydantic = pytest.importorskip("pydantic")
        model = pydantic.create_model("Report", title=(str, "Łódź"), day=(dt.date, ...))
        report = model(day=dt.date(2026, 11, 25))
        text = '{"title":"Łódź","day":"2026-11-25"}'
        assert added(report).text == text
        assert added(Data(1, parts=[report])).read_json()["parts"] == [json.loads(text)]

    def test_numbers_of_numpy(self) -> None:
        numpy = pytest.importorskip("numpy")
        read = added(Data(1, parts=[numpy.float64(0.5), numpy.array([1, 2])])).read_json()
        assert read["parts"] == [0.5, [1, 2]]

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            (Data(1, parts=[float("nan")]), r"/parts/0"),
            (Data(1, parts=[object()]), r"the object is no JSON value; str\(…\)"),
        ],
    )
    def test_what_is_no_json(self, value: Any, problem: str) -> None:
        with pytest.raises(InvalidPart, match=problem):
            MessageBody().add(value)

    def test_a_class_is_no_object(self) -> None:
        with pytest.raises(InvalidPart, match="Data is a class; make an object of it"):
            MessageBody().add(Data)


class Bundle:
    def __init__(self, bundle: Any) -> None:
        self.bundle = bundle

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.bundle


class Svg:
    def _repr_svg_(self) -> str:
        return "<svg xmlns='http://www.w3.org/2000/svg'/>"

    def _repr_png_(self) -> bytes | None:
        return None


class TestNotebooks:
    def test_methods(self) -> None:
        part = added(Svg(), "/logo.svg")
        assert (part.content_type, part.text) == ("image/svg+xml", Svg()._repr_svg_())
        assert added(Svg()).content_type == "image/svg+xml"
        with pytest.raises(InvalidPart, match=r"as image/png: it can be image/svg\+xml"):
            MessageBody().add(Svg(), name="/logo.png")

    @pytest.mark.parametrize("with_facts", [True, False])
    def test_a_bundle(self, with_facts: bool) -> None:
        bundle: Any = {
            "text/plain": "<Chart>",
            "text/html": "<b>chart</b>",
            "image/png": base64.b64encode(PNG).decode(),
        }
        chart = Bundle((bundle, {"image/png": {"width": 1}}) if with_facts else bundle)
        assert added(chart).read_bytes() == PNG
        assert added(chart, "/chart.html").text == "<b>chart</b>"

    def test_data_in_a_bundle(self) -> None:
        kind = "application/vnd.vegalite.v5+json"
        chart = Bundle({kind: {"mark": "bar"}, "text/plain": "Chart(…)"})
        part = added(chart)
        assert (part.content_type, part.text) == (kind, '{"mark":"bar"}')
        assert added(chart, "/chart.json").text == '{"mark":"bar"}'

    @pytest.mark.parametrize("bundle", [{}, None, {"text/plain": "<Thing>"}])
    def test_the_repr_is_no_content(self, bundle: Any) -> None:
        with pytest.raises(
            InvalidPart, match="the tests Bundle can't be written: it shows nothing"
        ):
            MessageBody().add(Bundle(bundle))

    def test_bad_base64(self) -> None:
        with pytest.raises(InvalidPart, match="its image/png is neither bytes nor base64"):
            MessageBody().add(Bundle({"image/png": "?"}))
        with pytest.raises(InvalidPart, match="the tests Bundle became 3 "):
            MessageBody().add(Bundle({"image/svg+xml": 3}))

    def test_an_object_that_answers_every_name(self) -> None:
        class Mock:
            def __getattr__(self, name: str) -> Any:
                return lambda *_: "mock"

        with pytest.raises(InvalidPart, match=r"str\(…\) is its text"):
            MessageBody().add(Mock())


def stand_in(module: str, name: str, **members: Any) -> Any:
    """Return an object of a class that looks like one of a library that is not installed."""
    return type(name, (), {"__module__": module, **members})()


class TestFigures:
    """By the methods that the libraries have; `make test ENV=libraries` asks the libraries."""

    @staticmethod
    def savefig(figure: Any, stream: Any, *, format: str) -> None:  # noqa: A002 - theirs
        stream.write(f"<svg/>{format}".encode())

    def test_matplotlib(self) -> None:
        figure = stand_in("matplotlib.figure", "Figure", savefig=self.savefig)
        assert added(figure).content_type == "image/png"
        assert added(figure, "/f.svg").text == "<svg/>svg"
        assert added(figure, "/f.pdf").read_bytes() == b"<svg/>pdf"
        for grid in (
            stand_in("matplotlib.artist", "Artist", figure=figure),
            stand_in("seaborn.axisgrid", "Grid", savefig=self.savefig),
        ):
            assert added(grid, "/f.svg") == added(figure, "/f.svg")
        with pytest.raises(InvalidPart, match="it is in no figure"):
            added(stand_in("matplotlib.artist", "Artist", figure=None))

    def test_plotly(self) -> None:
        figure = stand_in(
            "plotly.basedatatypes",
            "BaseFigure",
            to_json=lambda _: '{"data":[]}',
            to_html=lambda _: "<html></html>",
            to_image=lambda _, format: f"<svg/>{format}".encode(),  # noqa: A006 - theirs
        )
        assert added(figure).content_type == "application/vnd.plotly.v1+json"
        assert added(figure, "/f.json").content_type == "application/json"
        assert added(figure, "/f.html").text == "<html></html>"
        assert added(figure, "/f.svg").text == "<svg/>svg"

    def test_altair(self) -> None:
        def save(_: Any, stream: Any, *, format: str) -> None:  # noqa: A002 - theirs
            stream.write(b"\x89PNG" if format == "png" else f"<{format}/>")

        schema = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
        chart = stand_in(
            "altair.vegalite.v6.api", "TopLevelMixin", save=save,
            to_dict=lambda _: {"$schema": schema}, to_json=lambda _: '{"mark":"bar"}',
        )  # fmt: skip
        assert added(chart).content_type == "application/vnd.vegalite.v6+json"
        assert added(chart, "/c.json").content_type == "application/json"
        assert added(chart, "/c.html").text == "<html/>"
        assert added(chart, "/c.svg").text == "<svg/>"
        assert added(chart, "/c.png").read_bytes() == b"\x89PNG"
        with pytest.raises(InvalidPart, match="it can be application"):
            added(chart, "/c.csv")


def added_to_body(value: Any) -> tuple[str, str | None]:
    part = MessageBody().add(value)
    return part.content_type, part.text


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (3, r"body\.add\(json=…\) takes JSON values"),
        ((1, 2), r"body\.add\(json=…\) takes JSON values"),
        ({1}, r"body\.add\(json=sorted\(…\)\)"),
        (iter([]), r"MessageBody\(\[…\]\) takes several"),
        (object(), r"str\(…\) is its text"),
        (stand_in("library", "Crowd", __iter__=iter), r"str\(…\) is its text"),
        (io.StringIO("x"), r"stream\.getvalue\(\) is its text"),
        (MessageBody(["a"]), r"body\.extend\(other\) adds its parts"),
        (Part("a"), r"body\.append\(part\) adds it"),
    ],
)
def test_what_can_not_be_content(value: Any, advice: str) -> None:
    with pytest.raises(InvalidPart, match=advice):
        MessageBody().add(value)


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with path.open("wb") as file, pytest.raises(InvalidPart, match="open for writing only"):
        MessageBody().add(file)
    with zipfile.ZipFile(path, "w") as archive, pytest.raises(InvalidPart, match="can't be read"):
        MessageBody().add(archive)
    reader = stand_in("library", "Archive", read=lambda _, name: b"")
    with pytest.raises(InvalidPart, match="the library Archive can't be read: "):
        MessageBody().add(reader)


def test_a_list_of_texts_paths_and_objects(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    body = MessageBody(["Hi", tmp_path / "a.csv", sample("chart.png"), Data(1), {"content": "x"}])
    assert [part.content_type for part in body] == [
        "text/plain", "text/csv", "image/png", "application/json", "text/plain",
    ]  # fmt: skip
    assert body.text == "Hi\n\na\n1\n\n\nx"
    body.append("more")  # type: ignore[arg-type]
    assert body[-1] == Part("more")
    body += ["and more"]  # type: ignore[list-item]
    assert body[-1] == Part("and more")
