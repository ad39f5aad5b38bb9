"""Content types found from bytes and names."""

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from messagebody import MessageBody, Part, sniffing
from messagebody.samples import sample

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0"
ZIP = b"PK\x03\x04\x14\0\0\0\0\0" + bytes(40)


@pytest.mark.parametrize(
    ("head", "name", "found"),
    [
        (b"# Cats\n", "/notes.md", "text/markdown"),
        (b"a: 1\n", "/config.yaml", "application/yaml"),
        (b"import os\nprint(os)\n", "/tool.py", "text/x-python"),
        (b"", "/empty.csv", "text/csv"),
        (b"", None, "application/octet-stream"),
        (PNG, None, "image/png"),
        (PNG, "/photo.jpg", "image/png"),
        (b"plain words", "/image.png", "text/plain"),
        (b"plain words", None, "text/plain"),
        (ZIP, "/book.epub", "application/epub+zip"),
        (ZIP, "/all.zip", "application/zip"),
        (b"\x00\x01\x02\x03", "/data.parquet", "application/vnd.apache.parquet"),
        (b'{"a": 1}', "/map.geojson", "application/geo+json"),
    ],
)
def test_bytes_and_names_are_reconciled(head: bytes, name: str | None, found: str) -> None:
    assert sniffing.content_type(head, name) == found


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("chart.png", "image/png"),
        ("valley.jpg", "image/jpeg"),
        ("counter.pdf", "application/pdf"),
        ("bell.wav", "audio/wav"),
        ("rides.csv", "text/csv"),
    ],
)
def test_real_files(file: str, found: str) -> None:
    assert sniffing.content_type(sample(file)[: sniffing.HEAD], "/" + file) == found


def test_text_is_never_called_binary() -> None:
    assert sniffing.text_type("/a.png") == "text/plain"
    assert sniffing.text_type("/a.svg") == "image/svg+xml"
    assert MessageBody().add("words", name="/a.png").content_type == "text/plain"


def test_a_name_without_a_known_extension() -> None:
    assert sniffing.from_name("/.env") is None
    assert sniffing.from_name("/a.b/c") is None
    assert sniffing.from_name("/a.unheard-of") is None


@pytest.mark.parametrize(
    ("declared", "sniffed", "agree"),
    [
        ("text/markdown", "text/plain", True),
        ("image/png", "image/jpeg", False),
        ("audio/x-wav", "audio/wav", True),
        ("application/octet-stream", "image/png", True),
        ("application/epub+zip", "application/zip", True),
    ],
)
def test_agreement(declared: str, sniffed: str, agree: bool) -> None:
    assert sniffing.agree(declared, sniffed) is agree


class TestWithoutLibmagic:
    @pytest.fixture(autouse=True)
    def no_libmagic(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        real = importlib.import_module

        def refuse(name: str, *arguments: Any) -> Any:
            if name in {"magic", "pylibmagic"}:
                raise ImportError(name)
            return real(name, *arguments)

        sniffing._libmagic.cache_clear()
        monkeypatch.setattr(importlib, "import_module", refuse)
        yield
        sniffing._libmagic.cache_clear()

    def test_extensions_decide(self) -> None:
        assert Part(PNG, name="/photo.jpg").content_type == "image/jpeg"
        assert Part(PNG).content_type == "application/octet-stream"
