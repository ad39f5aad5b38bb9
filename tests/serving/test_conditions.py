"""Conditions and ranges of requests, each by what RFC 9110 says of it."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from messagebody import MessageBody, Part
from tests.serving.servers import writer

CONTENT = "0123456789"


@pytest.fixture
def served(tmp_path: Path) -> TestClient:
    MessageBody([Part(CONTENT, name="/a.txt")]).save(tmp_path / "m.json")
    return writer(tmp_path)


# Section 13.1.1 compares strongly, and 13.1.2 weakly; TAG is what is there.
@pytest.mark.parametrize(
    ("header", "value", "reads", "writes"),
    [
        ("If-Match", "TAG", 200, 204),
        ("If-Match", "*", 200, 204),
        ("If-Match", '"other", TAG', 200, 204),
        ("If-Match", "W/TAG", 412, 412),
        ("If-Match", '"other"', 412, 412),
        ("If-Match", "", 412, 412),
        ("If-None-Match", "TAG", 304, 412),
        ("If-None-Match", "W/TAG", 304, 412),
        ("If-None-Match", "*", 304, 412),
        ("If-None-Match", '"other", W/TAG', 304, 412),
        ("If-None-Match", '"other"', 200, 412),
    ],
)
@pytest.mark.parametrize("path", ["/m", "/m/a.txt"])
def test_conditions(
    served: TestClient, path: str, header: str, value: str, reads: int, writes: int
) -> None:
    headers = {header: value.replace("TAG", served.get(path).headers["etag"])}
    for method in ("GET", "HEAD"):
        got = served.request(method, path, headers=headers)
        assert got.status_code == reads
        assert ("etag" in got.headers) is (reads < 400)
    headers["Content-Type"] = "application/json" if path == "/m" else "text/plain"
    got = served.put(path, content='[{"content": "new"}]', headers=headers)
    assert got.status_code == writes
    assert (served.get("/m").json()[0]["content"] == CONTENT) is (writes == 412)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 201), ({"If-None-Match": "*"}, 201), ({"If-None-Match": '"x"'}, 201),
        ({"If-Match": "*"}, 412), ({"If-Match": '"x"'}, 412),
    ],
)  # fmt: skip
def test_conditions_of_what_is_not_there(
    served: TestClient, headers: dict[str, str], status: int
) -> None:
    headers = headers | {"Content-Type": "application/json"}
    assert served.put("/new", content="[]", headers=headers).status_code == status
    assert served.get("/new").status_code == (200 if status == 201 else 404)


@pytest.mark.parametrize(
    ("wanted", "if_range", "status", "text"),
    [
        ("bytes=2-4", None, 206, "234"), ("bytes=7-", None, 206, "789"),
        ("bytes=-3", None, 206, "789"), ("bytes=-99", None, 206, CONTENT),
        ("bytes=9-99", None, 206, "9"), ("bytes=0-0", None, 206, "0"),
        ("bytes=10-", None, 416, None), ("bytes=10-12", None, 416, None),
        ("bytes=-0", None, 200, CONTENT), ("bytes=4-2", None, 200, CONTENT),
        ("lines=1-2", None, 200, CONTENT), ("bytes=x", None, 200, CONTENT),
        ("bytes=2-4", "TAG", 206, "234"), ("bytes=2-4", "W/TAG", 200, CONTENT),
        ("bytes=2-4", '"other"', 200, CONTENT),
        ("bytes=2-4", "Wed, 21 Oct 2099 07:28:00 GMT", 200, CONTENT),
        ("bytes=2-4,99-", None, 206, "234"),
    ],
)  # fmt: skip
def test_ranges(
    served: TestClient, wanted: str, if_range: str | None, status: int, text: str | None
) -> None:
    headers = {"Range": wanted}
    if if_range is not None:
        headers["If-Range"] = if_range.replace("TAG", served.get("/m/a.txt").headers["etag"])
    got = served.get("/m/a.txt", headers=headers)
    assert got.status_code == status
    if text is not None:
        assert got.text == text
    if status == 206:
        first = CONTENT.index(got.text)
        last = first + len(got.text) - 1
        assert got.headers["content-range"] == f"bytes {first}-{last}/10"
    if status == 416:
        assert got.headers["content-range"] == "bytes */10"


def test_what_is_there_is_not_new(served: TestClient) -> None:
    headers = {"If-Match": "*", "If-None-Match": "*", "Content-Type": "application/json"}
    assert served.put("/m", content="[]", headers=headers).status_code == 412
