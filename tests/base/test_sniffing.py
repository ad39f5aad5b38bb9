"""Content types found from bytes and names."""

import bz2
import gzip
import importlib
import io
import itertools
import lzma
import random
import re
import struct
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from messagebody import MessageBody, Part
from messagebody._base import sniffing
from messagebody._base.media_types import (
    DIFFERING_SIGNATURES,
    EXTENSIONS,
    SIGNATURES,
    SIGNED,
    check_content_type,
)
from messagebody.samples import sample
from tests.forks import ends_in_a_fork

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


@pytest.mark.parametrize("extension", ["fits", "nii", "lance", "msgpack", "pt", "duckdb"])
def test_data_of_science_has_types_of_its_own(extension: str) -> None:
    found = sniffing.from_name(f"/a.{extension}")
    assert found not in {None, "application/octet-stream"}
    assert sniffing.content_type(b"\1\2\3" + bytes(300), f"/a.{extension}") == found


def test_a_model_that_is_an_archive() -> None:
    assert sniffing.content_type(ZIP, "/model.pt") == "application/x-pytorch"


def test_a_name_without_a_known_extension() -> None:
    assert sniffing.from_name("/.env") is None
    assert sniffing.from_name("/.md") is None
    assert sniffing.from_name("/d/.md") is None
    assert sniffing.from_name("/a.b/c") is None
    assert sniffing.from_name("/a.unheard-of") is None


@pytest.mark.parametrize("content", ["bytes", "file", "filesystem"])
@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'{"a":1}\n{"a":2}\n', "application/x-ndjson"),
        (b'{"a":1}\r\n\r\n[2]', "application/x-ndjson"),
        (b'{"a": [1, 2]}\n' * 9000, "application/x-ndjson"),
        (b'[{"a": 1},\n' + b'{"a": 2},\n' * 2000 + b"{}]", "application/json"),
        (b'{"a":1}\n', "application/json"),
        (b'{"a":1,}', "text/plain"),
        (b'{"a":NaN}', "text/plain"),
        (b'{"a":1} x', "text/plain"),
        (b'{"a":1}\n{"a":', "text/plain"),
        (b"[" * 9000, "text/plain"),
        (b"{not", "text/plain"),
        (b"From: a@example.com\nSubject: Cats\n\nmeow\n", "text/plain"),
        (b"1\n00:00:01,000 --> 00:00:02,000\nMeow\n\n", "text/plain"),
        (b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQENB\n", "text/plain"),
        (b"[autorun]\r\nopen=a\r\n", "text/plain"),
        (b"-----BEGIN PGP MESSAGE-----\n\nhQEMA\n=ab\n", "text/plain"),
        (b"[InternetShortcut]\r\nURL=https://e.com\r\n", "text/plain"),
        (b"Path: a!b\nNewsgroups: comp.lang\nXref: x\n\nHi\n", "text/plain"),
        (b"WARC/1.0\r\nWARC-Type: response\r\n\r\nHi", "text/plain"),
        (b"P2\n2 2\n255\n0 1\n2 3\n", "text/plain"),
        (b'/* XPM */\nstatic char * a[] = {\n"2 2 2 1"};\n', "text/plain"),
        (b"d8:announce22:http://e.com/announce4:infod4:name1:aee", "text/plain"),
        (b"  0\nSECTION\n  2\nHEADER\n", "text/plain"),
        (b"\vwords", "text/plain"),
    ],
)
def test_text_without_a_name(data: bytes, found: str, content: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(data)
    body = MessageBody()
    if content == "filesystem":
        body.fs.pipe_file("/a", data)
    else:
        body.add(data if content == "bytes" else tmp_path / "a")
    assert body[0].content_type == found


@pytest.mark.parametrize(
    ("data", "name", "found"),
    [
        (b"\0\0\0\x18ftyp3gp4" + bytes(99), "/v.3gp", "video/3gpp"),
        (b"\0\0\0\x18ftyp3gp4" + bytes(99), "/v.mp4", "video/mp4"),
        (b"\1\2\3", "/v.3gp", "video/3gpp"),
        (b"\x1aE\xdf\xa3\xa3B\x86\x81\x01B\x82\x88matroska", "/a.mka", "audio/x-matroska"),
        (b"solid a\nfacet normal 0 0 0\n", "/a.stl", "model/stl"),
        (bytes(80) + b"\1\0\0\0" + bytes(50), "/a.stl", "model/stl"),
        (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11" + bytes(99), "/a.wma", "audio/x-ms-wma"),
        (b"\x0b\x77\1\2\x14\x40" + bytes(99), None, "audio/ac3"),
        (b"\x0b\x77\1\2\x14\x80" + bytes(99), None, "application/octet-stream"),
        (b"G@\x11\x10" + bytes(184) + b"G" + bytes(187) + b"G", "/film", "video/mp2t"),
        (b"G@\x11\x10" + bytes(600), "/film", "application/octet-stream"),
    ],
)
def test_sounds_films_and_models(data: bytes, name: str | None, found: str) -> None:
    assert sniffing.content_type(data, name) == found


@pytest.mark.parametrize(
    ("form", "found"),
    [("JPEG2000", "image/jp2"), ("ICNS", "image/x-icns"), ("DDS", "image/vnd-ms.dds"),
     ("PCX", "image/vnd.zbrush.pcx")],
)  # fmt: skip
def test_real_pictures_of_rarer_formats(form: str, found: str) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (16, 16)).save(buffer, form)
    assert sniffing.content_type(buffer.getvalue()) == found


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


def zipped(*members: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


FILLING = random.Random(1).randbytes(3000)
OFFICE = "application/vnd.openxmlformats-officedocument."
EXTENSION_OF = {"wo": ".docx", "xl": ".xlsx", "pp": ".pptx"}
ODT = "application/vnd.oasis.opendocument.text"


class TestContainers:
    @pytest.mark.parametrize(
        ("member", "found"),
        [
            ("word/document.xml", OFFICE + "wordprocessingml.document"),
            ("xl/workbook.xml", OFFICE + "spreadsheetml.sheet"),
            ("ppt/presentation.xml", OFFICE + "presentationml.presentation"),
        ],
    )
    @pytest.mark.parametrize("name", [None, "/report", "/report.zip"])
    def test_office_files(self, member: str, found: str, name: str | None) -> None:
        data = zipped(("_rels/.rels", FILLING), ("[Content_Types].xml", FILLING), (member, b"x"))
        assert sniffing.content_type(data, name) == found

    def test_opendocument_and_books(self) -> None:
        for kind in (ODT, "application/epub+zip"):
            data = zipped(("mimetype", kind.encode()), ("content.xml", FILLING))
            assert sniffing.content_type(data) == kind
        assert sniffing.content_type(zipped(("mimetype", b"image/png"))) == "application/zip"

    @pytest.mark.parametrize("member", ["word/a.xml", "xl/a.xml", "ppt/a.xml"])
    @pytest.mark.parametrize("first", ["[Content_Types].xml", "_rels/.rels", "docProps/app.xml"])
    def test_office_files_need_no_libmagic(
        self, first: str, member: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        members = dict.fromkeys([first, "[Content_Types].xml", member, "xl/b.xml"], FILLING)
        data = zipped(*members.items())
        with monkeypatch.context() as patch:
            patch.setattr(sniffing, "_office_type", lambda data: None)
            slowly = sniffing.content_type(data, f"/a{EXTENSION_OF[member[:2]]}")
        monkeypatch.setattr(sniffing, "_from_libmagic", lambda data: pytest.fail("asked"))
        assert sniffing.content_type(data) == slowly

    def test_of_a_stream_whose_sizes_are_behind_the_contents(self) -> None:
        class Stream(io.RawIOBase):
            written = b""

            def writable(self) -> bool:
                return True

            def write(self, data: Any) -> int:
                self.written += bytes(data)
                return len(data)

        stream = Stream()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("[Content_Types].xml", FILLING)
            archive.writestr("ppt/a.xml", FILLING)
        assert sniffing.content_type(stream.written) == OFFICE + "presentationml.presentation"

    def test_names_behind_the_first_bytes_do_not_count(self, tmp_path: Path) -> None:
        far = random.Random(2).randbytes(sniffing.HEAD - 100)
        for size in range(sniffing.HEAD - 200, sniffing.HEAD - 50):
            data = zipped(("[Content_Types].xml", far[:size]), ("word/a.xml", b""))
            head = data[: sniffing.HEAD]
            assert sniffing.content_type(data) == sniffing.content_type(head)

    @pytest.mark.parametrize("name", [None, "/all.zip", "/all.docx"])
    def test_an_archive_of_office_files_is_none(self, name: str | None) -> None:
        office = zipped(("[Content_Types].xml", b"x"), ("word/document.xml", b"x"))
        found = sniffing.content_type(zipped(("report.docx", office)), name)
        expected = name and sniffing.from_name(name)
        assert found == (expected or "application/zip")

    def test_the_name_says_more_than_a_bare_archive(self) -> None:
        data = zipped(("a.npy", FILLING))
        assert sniffing.content_type(data, "/a.npz") == "application/x-npz"
        assert sniffing.content_type(data, "/a.whl") == "application/x-wheel+zip"
        assert sniffing.content_type(data, "/a.png") == "application/zip"

    FIRST = (
        "a.txt", "docs/a.md", "mimetype", "classes.dex", "doc.kml", "Payload/a.app/a", "visio/a",
        "__MACOSX/a", "resources/a", "a.docx", "Index/Document.iwa", "metadata",
    )  # fmt: skip

    @pytest.mark.parametrize("rest", ["a.xml", "META-INF/a", "word/document.xml"])
    @pytest.mark.parametrize("first", FIRST)
    def test_archives_by_their_names_need_no_libmagic(
        self, first: str, rest: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data = zipped((first, FILLING), (rest, FILLING))
        with monkeypatch.context() as patch:
            patch.setattr(sniffing, "_is_zip_of_files", lambda data: False)
            slowly = sniffing.content_type(data, "/all.zip")
        monkeypatch.setattr(sniffing, "_from_libmagic", lambda data: pytest.fail("asked"))
        assert sniffing.content_type(data, "/all.zip") == slowly

    @pytest.mark.parametrize("mark", [b"", b"\xfe\xca\0\0"])
    @pytest.mark.parametrize("first", ["META-INF/", "a.class"])
    def test_archives_of_java(self, first: str, mark: bytes) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            marked = zipfile.ZipInfo(first)
            marked.extra = mark
            archive.writestr(marked, b"")
            archive.writestr("a.txt" if mark else "META-INF/MANIFEST.MF", FILLING)
        found = sniffing.content_type(buffer.getvalue(), "/all.zip")
        assert found == "application/java-archive"

    @pytest.mark.parametrize("size", [4, 20, 29])
    def test_an_archive_that_is_cut_short(self, size: int) -> None:
        data = zipped(("a", FILLING))[:size]
        assert sniffing.content_type(data, "/all.zip") == "application/zip"

    def test_a_local_file_is_the_same(self, tmp_path: Path) -> None:
        data = zipped(("_rels/.rels", FILLING), ("[Content_Types].xml", b""), ("xl/a.xml", b""))
        (tmp_path / "book").write_bytes(data)
        assert Part(tmp_path / "book").content_type == Part(data).content_type
        assert Part(data).content_type.endswith(".sheet")


@pytest.mark.parametrize("extension", sorted(EXTENSIONS))
def test_an_extension_means_the_same_everywhere(extension: str) -> None:
    kind = EXTENSIONS[extension]
    assert check_content_type(kind) == kind == kind.lower()
    assert Part(url=f"https://example.com/a{extension}").content_type == kind
    assert Part(url="https://example.com/", name=f"/a{extension.upper()}").content_type == kind
    assert Part(b"", name=f"/a{extension}").content_type == kind


class TestTextByName:
    """Text whose name says text needs no look at every signature."""

    def test_does_not_ask_libmagic(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sniffing, "_from_bytes", lambda *_: pytest.fail("asked"))
        assert sniffing.content_type("Süß ".encode() * 2000, "/a.md") == "text/markdown"

    def test_text_that_is_a_tar_archive(self) -> None:
        """A header of nothing but text, with the checksum that makes it one."""
        header = bytearray(b"a" * 512)
        header[148:156] = b" " * 8
        header[148:156] = f"{sum(header):06o}  ".encode()
        assert sniffing.content_type(bytes(header), "/a.txt") == "application/x-tar"


FILL = b" and some more words\n" * 30
SAMPLES = ("chart.png", "valley.jpg", "counter.pdf", "bell.wav", "rides.csv", "report.md")


class TestArraysOfNumbers:
    """A chunk of an array is not a picture because two of its bytes look like one."""

    @pytest.mark.parametrize("kind", ["mask", "bytes", "int16", "float32"])
    def test_have_no_type_of_their_own(self, kind: str) -> None:
        luck = random.Random(kind)
        found = {sniffing.content_type(array(luck, kind), "/chunk") for _ in range(150)}
        assert found == {"application/octet-stream"}

    @pytest.mark.parametrize("kind", ["mask", "bytes", "int16", "float32"])
    def test_do_not_ask_libmagic(self, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[bytes] = []

        def ask(data: bytes) -> str:
            asked.append(data)
            return ""

        monkeypatch.setattr(sniffing, "_from_libmagic", ask)
        luck = random.Random(kind)
        for _ in range(150):
            sniffing.content_type(array(luck, kind), "/chunk")
        assert len(asked) <= 1


def tar_of(name: str, data: bytes, kind: int = tarfile.USTAR_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=kind) as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def old_tar(name: bytes) -> bytes:
    """The header of an archive of before 1988, with a sum that is wrong: libmagic takes it."""
    header = bytearray(512)
    header[: len(name)] = name
    header[100:108] = header[108:116] = header[116:124] = b"000644 \0"
    header[148:156] = b" 12345 \0"
    return bytes(header)


def mac_binary(data: bytes) -> bytes:
    header = bytearray(128)
    header[1:7] = b"\x05photo"
    header[65:73], header[102:106] = b"PNGfogle", b"mBIN"
    header[122:124] = b"\x82\x81"
    struct.pack_into(">I", header, 83, len(data))
    return bytes(header) + data


class TestQuickAnswers:
    """What libmagic can't know, and text by its name, is not shown to it, and is answered alike."""

    WORDS = (
        b"%PDF-1.7", b"\n%PDF-1.4", b"words %PDF-1.7", b"%!PS-Adobe-3.0", b"RIFF    WEBPVP8 ",
        b"FORM    AIFF", b"MThd", b"OggS", b"fLaC", b"OTTO", b"wOFF", b"wOF2", b"8BPS", b"glTF",
        b"    ftypisom", b"    ftypqt  ", b"    moov", b"    mdat", b"SQLite format 3", b"BM",
        b"MZ", b"RE~^", b"MSCF", b"<html>", b"<?xml version='1.0'?>", b"{}", b"{\\rtf1",
        b"#!/bin/sh\n", b"a,b\n1,2\n", "ü".encode(), b"\xff\xfe", b"\x1b[0m", b"",
    )  # fmt: skip
    HEADS = (
        b"\xff\xd8\xff\xe0", b"\xff\xd8\xff\xed", b"\xff\x0a\xfa\x1f", PNG,
        b"\x89PNG\r\n\x1a\n\0\0\0\x04CgBI\x50\0\x20\x02", b"II*\0\x08\0\0\0", b"MM\0*", b"II+\0",
        b"MM\0+", b"\0\0\0\x0cJXL \r\n\x87\n", b"BM\x36\0\x0c\0\0\0\0\0\x36\0\0\0\x28\0\0\0",
        b"\x28\0" + bytes(10) + b"\x01\0\x18\0", b"8BPS\0\x01", b"GIF89a\1\0\1\0", b"\0\0\x01\xba",
        b"\0\0\x01\xb0\1\0\0\1\xb5", b"\0\0\x01\xb3",
        b"\x1aE\xdf\xa3\x01\0\0\0\0\0\0\x1fB\x86\x81\x01B\x82\x84webm",
        b"\x1aE\xdf\xa3\xa3B\x86\x81\x01B\x82\x88matroska",
        b"OggS\0\x02" + bytes(22) + b"\x01vorbis", b"OggS\0\x02" + bytes(22) + b"\x80theora",
        b"RIFF\1\0\0\0WAVEfmt ", b"RIFF\1\0\0\0AVI LIST", b"RF64\xff\xff\xff\xffWAVEds64",
        b"FORM\0\0\0\1AIFFCOMM", b"MThd\0\0\0\x06\0\1", b"fLaC\0\0\0\x22", b"\0\0\0\x20ftypisom",
        b"\0\0\0\x14ftypqt ", b"\0\0\1\0moov", b"\0\0\1\0mdat", b"glTF\2\0\0\0", b"OTTO\0\x0c",
        b"\0\x01\0\0\0\x0c\0\x80\0\x03\0\x40", b"true\0\x0c", b"ttcf\0\1\0\0", b"wOFF\0\1\0\0",
        b"wOF2\0\1\0\0", b"\0asm\1\0\0\0", b"\x1f\x8b\x08\0", b"BZh91AY&SY", b"\xfd7zXZ\0",
        b"7z\xbc\xaf\x27\x1c\0\4", b"Rar!\x1a\x07\0", b"RE~^\0", ZIP, b"PK\x05\x06" + bytes(18),
        b"PK\x07\x08PK\x03\x04", b"\1" * 22 + b"PK\x05\x06", b"#\0" + bytes(20) + b"PK\x05\x06",
        *(bytes([first]) + b"\xb5\x2f\xfd\0" for first in range(0x22, 0x29)),
        b"\x50\x2a\x4d\x18\4\0\0\0abcd\x28\xb5\x2f\xfd\x04", b"\x89HDF\r\n\x1a\n\0",
        bytes(512) + b"\x89HDF\r\n\x1a\n\0", bytes(1024) + b"\x89HDF\r\n\x1a\n\0",
        b"\x0e\x03\x13\x01", b"SQLite format 3\0\x10\0\1\1", b"PAR1\0", b"Obj\1\x04\x14",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\x09\x04\x06\0\0\0\x10\0", b"MSCF\0\0\0\0",
        b"\xdb\xa5-\0\0\0", b"1\xbe\0\0" + bytes(124) + b"\1", b"PO^Q`", b"\x94\xa6\x2e",
        b"\xfe\x32\0\0" + bytes(8), b"\xfe\x37\0\x1c" + bytes(8), b"\x04%!PS", b"%!PS\0",
        b"%PDF-1.7\0", b"\0\0\n%PDF-1.7", b"\xef\xbb\xbf%PDF-1.4\0",
        b"ID3\4\0\0\0\0\0\0fLaC\0\0\0\x22", "Katzen".encode("utf-16"),
        b"\xfe\xff" + "Katzen".encode("utf-16-be"), "Katzen".encode("utf-32"), b"\0", b"\1\0",
        mac_binary(PNG), old_tar(b"a"), b"ANDROID BACKUP\n1\n0\nnone\n" + old_tar(b"a"),
        b"ClamAV-VDB:" + bytes(501) + old_tar(b"a"), tar_of("a", b""), tar_of("\1", b"\0"),
        tar_of("a", b"b", tarfile.GNU_FORMAT),
    )  # fmt: skip

    NAMES = (None, "/a.bin", "/a.xlsx", "/a.txt", "/a.json", "/a.svg", "/a.rtf", "/a.md")

    @pytest.mark.parametrize("name", NAMES)
    def test_are_what_the_slow_way_finds(
        self, name: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        luck = random.Random(name)
        starts = [*self.HEADS, *self.WORDS, *(sample(file)[:4000] for file in SAMPLES)]
        heads = [start + rest for start in starts for rest in (b"", bytes(2000), FILL, FILLING)]
        heads += [head[: luck.randrange(1, 600)] for head in heads]
        heads += [array(luck, kind) for kind in ("mask", "bytes", "int16", "float32") * 25]
        heads += [bytes(luck.choices(b"PKRIFGM%!DBZhftyp-18 \n", k=40)) for _ in range(100)]
        heads += [("x" * (2045 + cut) + "ü€").encode() + FILL for cut in range(4)]
        found = [sniffing.content_type(head, name) for head in heads]
        for shortcut in ("_is_surely_unknown", "_is_surely_text"):
            monkeypatch.setattr(sniffing, shortcut, lambda head: False)
        assert found == [sniffing.content_type(head, name) for head in heads]

    def test_of_the_types_that_count_are_told_apart(self) -> None:
        found = {sniffing.content_type(head + bytes(2000)) for head in self.HEADS}
        assert len(found & SIGNED) > 30


def array(luck: random.Random, kind: str) -> bytes:
    if kind == "mask":
        return bytes(luck.getrandbits(1) for _ in range(512))
    if kind == "bytes":
        return luck.randbytes(512)
    if kind == "int16":
        return struct.pack("<256h", *(luck.randrange(-300, 300) for _ in range(256)))
    return struct.pack("<128f", *(luck.gauss(0, 1) for _ in range(128)))


def decided_by_libmagic(monkeypatch: pytest.MonkeyPatch, data: bytes) -> str:
    with monkeypatch.context() as patch:
        patch.setattr(sniffing, "_SIGNATURE", re.compile(b"(?!)"))
        patch.setattr(sniffing, "_is_surely_unknown", lambda head: False)
        return sniffing.content_type(data)


# Not every version of libmagic knows these types.
EXAMPLES = {
    "application/wasm": b"\0asm\1\0\0\0" + bytes(100),
    "font/woff": b"wOFF\0\1\0\0" + bytes(100),
    "font/woff2": b"wOF2\0\1\0\0" + bytes(100),
}


class TestSignatures:
    """The table answers what libmagic would, without asking it."""

    @pytest.mark.parametrize("kind", SIGNATURES)
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
    @given(data=st.data())
    def test_are_what_libmagic_finds(
        self, kind: str, data: st.DataObject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        signature = re.compile(SIGNATURES[kind], re.DOTALL)
        head = data.draw(st.from_regex(signature, fullmatch=True))
        rest = data.draw(st.binary(max_size=600) | st.sampled_from([bytes(600), FILL]))
        assert sniffing.content_type(head + rest) == kind
        example = EXAMPLES.get(kind)
        if kind in DIFFERING_SIGNATURES:
            slowly = decided_by_libmagic(monkeypatch, head + rest)
            assert slowly.startswith((kind, "application/octet-stream", "text/plain"))
        elif example is None or decided_by_libmagic(monkeypatch, example) == kind:
            assert decided_by_libmagic(monkeypatch, head + rest) == kind

    @pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "AVIF", "TIFF", "BMP", "PDF"])
    def test_of_real_pictures(self, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
        for mode, size in itertools.product(("RGB", "L"), ((1, 1), (300, 5))):
            buffer = io.BytesIO()
            Image.new(mode, size).save(buffer, form)
            found = sniffing.content_type(buffer.getvalue())
            assert found == decided_by_libmagic(monkeypatch, buffer.getvalue())
            assert found.endswith(f"/{form.lower()}")

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
    @pytest.mark.parametrize("content", [b"", FILL, bytes(5000)])
    def test_of_real_archives(
        self, pack: Any, content: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data = pack(content)
        assert sniffing.content_type(data) == decided_by_libmagic(monkeypatch, data)

    @pytest.mark.parametrize("first", ["GIF89a", "%PDF-", "BZh91AY&SY", "wOFFOTTO"])
    def test_of_an_archive_whose_first_file_is_called_like_one(
        self, first: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            archive.addfile(tarfile.TarInfo(first))
        assert sniffing.content_type(buffer.getvalue()) == "application/x-tar"
        assert decided_by_libmagic(monkeypatch, buffer.getvalue()) == "application/x-tar"

    def test_are_of_types_that_bytes_alone_may_decide(self) -> None:
        assert SIGNATURES.keys() <= SIGNED

    def test_do_not_ask_libmagic(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sniffing, "_from_libmagic", lambda data: pytest.fail("asked"))
        assert sniffing.content_type(PNG) == "image/png"


class TestCharsets:
    @pytest.mark.parametrize("charset", ["iso-8859-1", "windows-1252", "utf-16", "utf-32", "utf-8"])
    @pytest.mark.parametrize("name", ["/notes.txt", "/notes.md", None])
    def test_text_that_is_typed_as_text_can_be_read(self, charset: str, name: str | None) -> None:
        text = "Käse — 5 €\n" if charset != "iso-8859-1" else "Käse\n"
        part = Part(text.encode(charset), name=name)
        if name is None and charset in ("iso-8859-1", "windows-1252"):
            assert part.content_type == "application/octet-stream"  # nothing says that it is text
            return
        if charset == "utf-32" and not part.content_type.startswith("text/"):
            assert name is None  # libmagic takes no UTF-32 for text
            return
        assert part.read_text().removeprefix("\ufeff") == text

    def test_a_character_past_the_first_bytes_counts(self) -> None:
        data = b"a" * 3000 + b"\xe9"
        assert Part(data, name="/a.txt").content_type == "text/plain; charset=iso-8859-1"
        assert Part(data, name="/a.txt").read_text().endswith("é")

    def test_bytes_in_no_known_encoding_are_not_text(self) -> None:
        assert Part(b"\xff\0\x81\x01", name="/a.txt").content_type == "application/octet-stream"

    @pytest.mark.parametrize("name", [None, "/key", "/data.bin"])
    @pytest.mark.parametrize(
        "data",
        [
            bytes(range(160, 256)), b"\xe9\n", "Käse".encode("latin-1"), b"a b\xa0" * 40,
            "日本語".encode("shift-jis"), "日本語".encode("euc-jp"), "Привет".encode("koi8-r"),
        ],
    )  # fmt: skip
    def test_bytes_that_are_not_unicode_are_no_text(
        self, data: bytes, name: str | None, tmp_path: Path
    ) -> None:
        (tmp_path / "a").write_bytes(data)
        body = MessageBody()
        body.fs.pipe_file("/written", data)
        assert Part(data, name=name).content_type == "application/octet-stream"
        assert (
            Part(tmp_path / "a").content_type == body[0].content_type == "application/octet-stream"
        )

    def test_a_page_says_that_it_is_text(self) -> None:
        page = "<!DOCTYPE html><html><p>Käse</p></html>".encode("latin-1")
        assert Part(page).content_type == "text/html; charset=iso-8859-1"

    def test_a_cut_character_is_no_flaw(self, tmp_path: Path) -> None:
        data = b"a" * (sniffing.HEAD - 1) + "é".encode() + b"b"
        (tmp_path / "a.txt").write_bytes(data)
        assert Part(tmp_path / "a.txt").content_type == "text/plain"

    def test_rewriting_states_the_charset(self) -> None:
        body = MessageBody([Part("x", name="/a.txt")])
        body["/a.txt"] = "é".encode("latin-1")
        assert body["/a.txt"].read_text() == "é"


def test_where_the_system_has_no_libmagic_a_wheel_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It tells python-magic where its library lies, which must be asked again then."""
    real, asked = importlib.import_module, list[str]()

    def load(name: str, *arguments: Any) -> Any:
        asked.append(name)
        if name == "magic" and "pylibmagic" not in asked:
            raise ImportError("failed to find libmagic")
        return None if name == "pylibmagic" else real(name, *arguments)

    monkeypatch.setattr(importlib, "import_module", load)
    sniffing._libmagic.cache_clear()
    assert Part(ZIP).content_type == "application/zip"
    assert asked == ["magic", "pylibmagic", "magic"]
    sniffing._libmagic.cache_clear()


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

    def test_signatures_and_extensions_decide(self) -> None:
        assert Part(PNG, name="/photo.jpg").content_type == "image/png"
        assert Part(ZIP, name="/photo.jpg").content_type == "image/jpeg"
        assert Part(ZIP).content_type == "application/octet-stream"


class TestMp3:
    """What speech services return has no name; two bytes alone say nothing."""

    FRAMES = (
        b"\xff\xfb\x90\x64" + bytes(413),  # MPEG 1, 128 kbit/s, 44.1 kHz
        b"\xff\xf3\x40\xc4" + bytes(100),  # MPEG 2, 32 kbit/s, 22.05 kHz
        b"\xff\xfa\x90\x64" + bytes(413),  # with a checksum
        b"\xff\xe3\x10\xc4" + bytes(48),  # MPEG 2.5, 8 kbit/s, 11.025 kHz
        b"\xff\xfb\x92\x64" + bytes(414),  # padded by a byte
    )

    @pytest.mark.parametrize("frame", FRAMES)
    @pytest.mark.parametrize("tag", [b"", b"ID3\3\0\0\0\0\0\x0a" + bytes(10),
                                     b"ID3\4\0\x10\0\0\0\x0a" + bytes(20)])  # fmt: skip
    def test_with_a_tag_and_without(self, frame: bytes, tag: bytes) -> None:
        assert sniffing.content_type(tag + 8 * frame) == "audio/mpeg"
        assert sniffing.content_type(tag + 8 * frame, "/voice.bin") == "audio/mpeg"

    def test_a_tag_with_a_cover_is_longer_than_the_first_bytes(self) -> None:
        assert sniffing.content_type(b"ID3\4\0\0\0\1\x7f\x7f" + PNG) == "audio/mpeg"

    @pytest.mark.parametrize("data", [
        2 * FRAMES[0], FRAMES[0] + b"\0" + 8 * FRAMES[0], FRAMES[0] + 4 * FRAMES[1],
        b"ID3\4\0\0\0\0\0\0" + bytes(50), b"ID3\4\0\0\xff\0\0\0" + FRAMES[0], b"ID3", b"ID3\3",
        b"ID3\x09\0\0\0\0\0\0" + FRAMES[0], b"\xff\xfb", 9 * b"\xff\xf9\x90\x64",
        99 * b"\xff\xfb\xf0\0",
    ])  # fmt: skip
    def test_what_is_none(self, data: bytes) -> None:
        assert sniffing.content_type(data) != "audio/mpeg"

    def test_arrays_are_none(self) -> None:
        luck = random.Random(3)
        for _ in range(2000):
            data = bytes([0xFF, luck.choice([0xFB, 0xF3, 0xFA])]) + luck.randbytes(3000)
            assert sniffing.content_type(data) == "application/octet-stream"


def test_a_fork_beside_threads_that_look_at_bytes_looks_at_bytes() -> None:
    luck, is_over = random.Random(1), threading.Event()
    texts = [luck.randbytes(4000).hex().encode() for _ in range(20)]

    def look() -> None:
        while not is_over.is_set():
            for data in texts:
                sniffing.content_type(data)

    sniffing.content_type(texts[0])  # what is loaded for it is not what is tried here
    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        ends = [ends_in_a_fork(lambda: sniffing.content_type(texts[0]), 5) for _ in range(20)]
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert all(ends)
