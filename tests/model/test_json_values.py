"""JSON as content: what is inside dicts and lists, models, and names that say something else."""

import collections
import datetime as dt
import enum
import json
import re
import types
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from messagebody import MessageBody, Part
from messagebody.errors import InvalidPart
from tests.model.test_objects import Attrs, Data, Struct

pydantic = pytest.importorskip("pydantic")
numpy = pytest.importorskip("numpy")


class Point(NamedTuple):
    x: int


class Color(enum.Enum):
    RED = "red"


class Reading(pydantic.BaseModel):  # type: ignore[name-defined,misc]
    model_config = pydantic.ConfigDict(validate_by_name=True)
    level: float | None = pydantic.Field(default=1.5, alias="waterLevel")


class Spelled(Reading):
    model_config = pydantic.ConfigDict(ser_json_inf_nan="strings")


class Constant(Reading):
    model_config = pydantic.ConfigDict(ser_json_inf_nan="constants")


class ByName(Reading):
    model_config = pydantic.ConfigDict(serialize_by_alias=False)


@pydantic.dataclasses.dataclass
class Record:
    level: float = pydantic.Field(alias="waterLevel", default=2)


KEY = uuid.UUID(int=7)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (Reading(), {"waterLevel": 1.5}),
        (Data(1), {"n": 1, "when": "2026-11-25", "parts": []}),
        (Attrs(1), {"n": 1, "price": "1.10"}),
        (Record(), {"waterLevel": 2}),
        (dt.date(2026, 11, 25), "2026-11-25"),
        (dt.datetime(2026, 11, 25, 8, tzinfo=dt.UTC), "2026-11-25T08:00:00Z"),
        (dt.timedelta(days=1), "P1D"),
        (Decimal("1.10"), "1.10"),
        (KEY, str(KEY)),
        (Color.RED, "red"),
        (numpy.int64(3), 3),
        (numpy.float64(0.5), 0.5),
        (numpy.bool_(True), True),
        (numpy.arange(2), [0, 1]),
        (collections.UserDict(a=Reading()), {"a": {"waterLevel": 1.5}}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
    ],
)
def test_what_is_inside_has_its_usual_form(value: Any, read: Any) -> None:
    assert Part({"a": [value]}).read_json() == {"a": [read]}
    assert Part([{"a": value}]).read_json() == [{"a": read}]
    assert MessageBody().add(json=value).read_json() == read
    assert Part(collections.UserDict(a=value)).read_json() == {"a": read}


@pytest.mark.parametrize(
    ("value", "place", "advice"),
    [
        ({"a": [b"x"]}, "'/a/0'", "base64.b64encode(…).decode() makes text of it"),
        ({"a": {3}}, "'/a'", "sorted(…) makes a list of it"),
        ({"a": float("nan")}, "'/a'", "None stands for what is missing"),
        ({"a": Path("x")}, "'/a'", "json.dumps(…, default=str)"),
        ({"a": range(3)}, "'/a'", "list(…) makes a list of it"),
        ([object()], "'/0'", "json.dumps(…, default=str)"),
        ([dt.date(2026, 1, 1), object()], "'/1'", "json.dumps(…, default=str)"),
        ([Data(1, parts=[object()])], "'/0'", "json.dumps(…, default=str)"),
        ([Reading(level=float("inf"))], "'/0/waterLevel'", "inf is not a JSON number"),
    ],
)
def test_what_has_none_leads_on(value: Any, place: str, advice: str) -> None:
    calls: list[Any] = [lambda: Part(value), lambda: MessageBody().add(json=value)]
    for add in calls:
        with pytest.raises(InvalidPart, match=re.escape(f"JSON value at {place}")) as caught:
            add()
        assert advice in str(caught.value)


def test_tables_inside_lead_on() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"a": [1]})
    with pytest.raises(InvalidPart, match=r"frame\.to_dict\('records'\) makes a list of it"):
        Part({"rows": frame})
    assert Part({"rows": frame.to_dict("records")}).read_json() == {"rows": [{"a": 1}]}
    with pytest.raises(InvalidPart, match=r"series\.to_list\(\)"):
        Part({"rows": frame["a"]})
    image = pytest.importorskip("PIL.Image").new("RGB", (1, 1))
    with pytest.raises(InvalidPart, match="adds it as a part of its own"):
        Part({"picture": image})


def test_what_holds_itself_ends() -> None:
    one: list[Any] = []
    one.append(one)
    two: dict[str, Any] = {"day": dt.date(2026, 11, 25)}
    two["two"] = two
    three: Any = collections.UserDict()
    three["three"] = three
    for value in (one, two, three, {"three": three}):
        with pytest.raises(InvalidPart, match="JSON value"):
            Part(value)


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (Decimal("1.1"), r"json=…\) writes it as JSON, body\.add\(str\(…\)\) as text"),
        (Color.RED, r"json=…\) writes it as JSON, body\.add\(str\(…\)\) as text"),
        (dt.date(2026, 1, 1), r"json=…\) writes it as JSON, body\.add\(str\(…\)\) as text"),
        (KEY, r"json=…\) writes it as JSON, body\.add\(str\(…\)\) as text"),
        (numpy.int64(3), r"body\.add\(json=…\) takes JSON values"),
        (Point(1), r"value\._asdict\(\) makes a dict of it"),
        (range(3), r"body\.add\(list\(…\)\) writes a list as JSON"),
    ],
)
def test_single_values_lead_on(value: Any, advice: str) -> None:
    with pytest.raises(InvalidPart, match=advice):
        MessageBody().add(value)


@pytest.mark.parametrize("value", [Data(1), Attrs(1), Struct(1), Reading(), {"n": 1}, [1]])
class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "/a.csv",
            "/a.html",
            "/a.toml",
            "/a.txt",
            "/a.yaml",
            "/a.md",
            "/a.png",
            "/a.xml",
            "/a.zip",
        ],
    )
    def test_of_another_format_is_refused(self, value: Any, name: str) -> None:
        with pytest.raises(InvalidPart, match="it can be application/json, application/jsonl"):
            Part(value, name=name)
        kind = str(Part("", name="/a.csv").content_type)
        with pytest.raises(InvalidPart, match="can't be written as text/csv: it can be"):
            Part(value, content_type=kind)

    @pytest.mark.parametrize("name", [None, "/a", "/a.json", "/a.bin", "/a.unheard-of"])
    def test_of_json_or_none(self, value: Any, name: str | None) -> None:
        part = Part(value, name=name)
        assert part.content_type == "application/json"
        assert part.read_json()

    @pytest.mark.parametrize("kind", ["application/vnd.acme.event", "application/problem+json"])
    def test_of_a_type_of_your_own(self, value: Any, kind: str) -> None:
        assert Part(value, content_type=kind).content_type == kind

    def test_of_lines(self, value: Any) -> None:
        part = Part(value, name="/a.jsonl")
        assert part.content_type == "application/jsonl"
        assert [json.loads(line) for line in str(part.text).splitlines()]
        assert str(part.text).endswith("\n")


class TestModels:
    def test_the_model_reads_it_again(self) -> None:
        reading = Reading(level=2)
        assert Reading.model_validate_json(Part(reading).read_text()) == reading
        assert Part(reading).read_json().keys() == Reading.model_json_schema()["properties"].keys()
        assert Part(Data(1, parts=[reading])).read_json()["parts"] == [{"waterLevel": 2}]
        assert Part(Record()).read_json() == {"waterLevel": 2}

    def test_the_model_may_say_otherwise(self) -> None:
        assert Part(ByName(level=2)).read_json() == {"level": 2}
        assert Part(Spelled(level=float("inf"))).read_json() == {"waterLevel": "Infinity"}

    @pytest.mark.parametrize("number", ["inf", "-inf", "nan"])
    def test_a_number_that_json_has_not(self, number: str) -> None:
        reading = Reading(level=float(number))
        with pytest.raises(InvalidPart, match=r"'/waterLevel': .* is not a JSON number") as caught:
            Part(reading)
        assert "ser_json_inf_nan='strings'" in str(caught.value)
        with pytest.raises(InvalidPart, match="is not a JSON number"):
            Part(Constant(level=float(number)))

    def test_null_is_null(self) -> None:
        assert Part(Reading(level=None)).read_json() == {"waterLevel": None}
