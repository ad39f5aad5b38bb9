"""Archives and mail: round trips, hostile entries, bounds, and equal bytes for equal bodies."""

import bz2
import email
import email.policy
import gzip
import io
import lzma
import random
import re
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from messagebody import Limits, MessageBody, MessageBodyError, Part
from messagebody.adapters import adapter
from messagebody.archives import mime, tar
from messagebody.archives import zip as zipped
from messagebody.errors import DecodeError, InvalidArgument, RefusedPaths
from messagebody.testing.strategies import bodies

ADAPTERS: dict[str, Any] = {"zip": zipped, "tar": tar, "mime": mime}
every = pytest.mark.parametrize("name", ADAPTERS)
archives = pytest.mark.parametrize("name", ["zip", "tar"])


def sample() -> MessageBody:
    return MessageBody(
        [
            Part("# Cats", name="/cats.md"),
            Part(b"\x89PNG\r\n\x1a\n", name="/images/cat.png"),
            Part("", name="/empty.txt"),
        ]
    )


@every
def test_a_body_comes_back(name: str) -> None:
    done = ADAPTERS[name].from_body(sample())
    assert done.losses == ()
    assert adapter(name).to_body(done.value).value == sample()
    assert adapter(name).detect(done.value)
    assert [*adapter(name).iter_findings(done.value)] == []


@every
def test_long_contents_come_back(name: str) -> None:
    """A line of base64, a byte more or less than some lines, and several chunks of a file."""
    contents = [bytes(range(256)) * 1_200, *(bytes([n]) * n for n in (56, 57, 58, 113, 114, 115))]
    body = MessageBody([Part(each, name=f"/{len(each)}.bin") for each in contents])
    back = adapter(name).to_body(ADAPTERS[name].from_body(body).value).value
    assert [part.read_bytes() for part in back] == contents


@every
@settings(max_examples=15)
@given(bodies())
def test_nothing_is_lost_in_silence(name: str, body: MessageBody) -> None:
    done = ADAPTERS[name].from_body(body)
    back = ADAPTERS[name].to_body(done.value).value
    contents = [part.read_bytes() for part in body if not part.is_reference]
    assert [part.read_bytes() for part in back] == contents
    assert done.losses or back == body
    assert ADAPTERS[name].from_body(body).value == done.value


@every
def test_references_are_read_only_by_a_resolver(name: str) -> None:
    body = MessageBody([Part(url="https://example.com/a.png")])
    done = ADAPTERS[name].from_body(body)
    assert "no resolver is given" in str(done.losses)
    assert len(ADAPTERS[name].to_body(done.value).value) == 0


@every
def test_damaged_bytes_are_refused_or_read(name: str) -> None:
    chance = random.Random(5)
    data = ADAPTERS[name].from_body(sample()).value
    for _ in range(400):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        del damaged[chance.choice([len(damaged), chance.randrange(len(damaged))]) :]
        try:
            body = ADAPTERS[name].to_body(bytes(damaged)).value
        except MessageBodyError:
            continue
        assert sum(part.size or 0 for part in body) <= len(data)


@every
def test_content_may_stay_in_a_directory(name: str, tmp_path: Path) -> None:
    file = tmp_path / "archive"
    with file.open("wb") as out:
        assert ADAPTERS[name].write(sample(), out) == []
    (tmp_path / "held").mkdir()
    body = ADAPTERS[name].to_body(file, into=tmp_path / "held").value
    assert all(part.local_file is not None for part in body)
    assert [part.read_bytes() for part in body] == [part.read_bytes() for part in sample()]


@pytest.mark.slow
@every
def test_a_gibibyte_passes_in_little_memory(name: str, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    large = tmp_path / "large.bin"
    with large.open("wb") as out:
        for _ in range(1024):
            out.write(random.randbytes(1024) * 1024)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with (tmp_path / "archive").open("wb") as out:
        ADAPTERS[name].write(MessageBody([Part(large, name="/large.bin")]), out)
    (tmp_path / "held").mkdir()
    body = ADAPTERS[name].to_body(tmp_path / "archive", into=tmp_path / "held").value
    assert body[0].size == 1024**3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def _zip(*entries: tuple[str, bytes, int]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content, mode in entries:
            info = zipfile.ZipInfo(path)
            info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return file.getvalue()


def _tar(path: str, kind: bytes = tarfile.REGTYPE) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo(path)
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    return file.getvalue()


HOSTILE: list[tuple[str, Callable[[], bytes], str]] = [
    ("zip", lambda: _zip(("../x", b"", 0)), "a path that leads out"),
    ("zip", lambda: _zip(("a/../../x", b"", 0)), "a path that leads out"),
    ("zip", lambda: _zip(("/etc/passwd", b"", 0)), "an absolute path"),
    ("zip", lambda: _zip(("C:/x", b"", 0)), "an absolute path"),
    ("zip", lambda: _zip(("x", b"/etc/passwd", stat.S_IFLNK | 0o777)), "not a regular file"),
    (
        "zip",
        lambda: _zip(("x", bytes(30_000_000), 0)),
        "it unpacks to more than 200 times its size",
    ),
    ("zip", lambda: _zip(("Q3 report.pdf", b"", 0)), "not a legal part name"),
    ("tar", lambda: _tar("../x"), "a path that leads out"),
    ("tar", lambda: _tar("/etc/passwd"), "an absolute path"),
    ("tar", lambda: _tar("x", tarfile.SYMTYPE), "not a regular file"),
    ("tar", lambda: _tar("x", tarfile.LNKTYPE), "not a regular file"),
    ("tar", lambda: _tar("x", tarfile.CHRTYPE), "not a regular file"),
    ("tar", lambda: _tar("x", tarfile.FIFOTYPE), "not a regular file"),
    ("tar", lambda: _tar("x", tarfile.GNUTYPE_SPARSE), "a sparse file.* pack it without --sparse"),
    ("zip", lambda: _zip(("a-b.txt", b"", 0)).replace(b"a-b", b"a\0b"), "only up to a NUL"),
]


@pytest.mark.parametrize(("name", "made", "why"), HOSTILE)
def test_what_makes_no_part_is_refused(
    name: str, made: Callable[[], bytes], why: str, tmp_path: Path
) -> None:
    with pytest.raises(RefusedPaths, match=why):
        ADAPTERS[name].to_body(made(), into=tmp_path)
    assert [*tmp_path.iterdir()] == []
    assert re.search(why, str([*ADAPTERS[name].iter_findings(made())]))


@archives
def test_two_entries_of_one_path_are_refused(name: str) -> None:
    data = _tar("x")[:512] + _tar("x") if name == "tar" else _zip(("x", b"1", 0), ("y", b"2", 0))
    with pytest.raises(RefusedPaths, match="two entries have this path"):
        ADAPTERS[name].to_body(data.replace(b"y", b"x") if name == "zip" else data)


@archives
def test_limits_hold(name: str) -> None:
    data = ADAPTERS[name].from_body(sample()).value
    for limits, why in (
        (Limits(parts=2), "more than 2 entries"),
        (Limits(part_bytes=5), "more than 5 bytes"),
        (Limits(json_bytes=10), "more than 10 bytes together"),
    ):
        with pytest.raises(DecodeError, match=why):
            ADAPTERS[name].to_body(data, limits=limits)


def test_names_that_are_not_legal_may_be_changed() -> None:
    body = zipped.to_body(_zip(("Q3 report.pdf", b"x", 0)), rename=True).value
    assert body[0].name == "/Q3_report.pdf"
    assert body[0].metadata == {"filename": "Q3 report.pdf"}


def _tar_of(*paths: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for path in paths:
            archive.addfile(tarfile.TarInfo(path))
    return file.getvalue()


LONG = "/".join(["directory" * 20] * 8) + "/a.txt"


@archives
@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a b", "a_b"], ["/a_b-2", "/a_b"]),
        (["a_b", "a b", "a+b"], ["/a_b", "/a_b-2", "/a_b-3"]),
        (["a b", "a_b-2", "a_b"], ["/a_b-3", "/a_b-2", "/a_b"]),
        ([LONG, "a.txt"], ["/a-2.txt", "/a.txt"]),
    ],
)
def test_a_new_name_is_never_that_of_another_entry(
    name: str, paths: list[str], names: list[str]
) -> None:
    data = _tar_of(*paths) if name == "tar" else _zip(*((path, b"", 0) for path in paths))
    body = ADAPTERS[name].to_body(data, rename=True).value
    assert [part.name for part in body] == names
    originals = [(part.metadata or {}).get("filename", part.name[1:]) for part in body]
    assert originals == paths


@archives
def test_a_path_that_is_too_long_for_readers_is_refused(name: str) -> None:
    data = _tar_of(LONG) if name == "tar" else _zip((LONG, b"", 0))
    with pytest.raises(RefusedPaths, match="not a legal part name"):
        ADAPTERS[name].to_body(data)


@archives
def test_an_archive_that_is_damaged_further_on_leaves_no_files(name: str, tmp_path: Path) -> None:
    if name == "zip":
        data = _zip(("a", b"first", 0), ("b", b"second " * 9, 0))
        packed = zlib.compress(b"second " * 9, wbits=-15)
        damaged = data.replace(packed[:-3], packed[:-4] + b"\0")
    else:
        damaged = _tar_of("a")[:512] + _tar("b")[:124] + b"00000001750\0" + _tar("b")[136:512]
        damaged = damaged[:512] + _with_checksum(damaged[512:])
    with pytest.raises(DecodeError):
        ADAPTERS[name].to_body(damaged, into=tmp_path)
    assert [*tmp_path.iterdir()] == []


def _with_checksum(header: bytes) -> bytes:
    blank = header[:148] + b" " * 8 + header[156:]
    return blank[:148] + b"%06o\0 " % sum(blank) + blank[156:]


def _archive(*entries: tuple[str, str], comment: bytes = b"") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = comment
        for name, content in entries:
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "names", "why"),
    [
        (_archive(("a", "1")) + _archive(("b", "2")), ["/b"], "101 bytes before its first entry"),
        (_archive(("b", "2")) + b"\0more", ["/b"], "5 bytes after its end"),
        (_archive(("b", "2"), comment=b"of mine"), ["/b"], "no place for its comment"),
        (
            _archive(("b", "2"), ("d/", "hello")),
            ["/b"],
            "'d/': a directory has no content: 5 bytes",
        ),
    ],
)
def test_what_a_zip_archive_holds_beside_its_files_is_a_loss(
    data: bytes, names: list[str], why: str
) -> None:
    read = zipped.to_body(data)
    assert read.value.names() == names
    (loss,) = read.losses
    assert why in str(loss)


def test_what_follows_the_end_of_a_tar_archive_is_a_loss() -> None:
    read = tar.to_body(_tar("a") + _tar("b"))
    assert read.value.names() == ["/a"]
    assert [str(loss) for loss in read.losses] == [
        "omitted the archive: what follows the last entry, such as another archive or a damaged "
        "entry, is not read"
    ]
    assert tar.to_body(_tar("a") + bytes(100_000)).losses == ()


def test_a_tar_archive_that_is_cut_between_two_entries_says_so() -> None:
    whole = tar.from_body(MessageBody([Part("x", name="/a"), Part("y", name="/b")])).value
    for cut in (1024, 2048):
        read = tar.to_body(whole[:cut])
        assert read.value.names() == ["/a", "/b"][: cut // 1024]
        assert [str(loss) for loss in read.losses] == [
            "omitted the archive: its end is missing, and parts before it may be missing too"
        ]
    assert tar.to_body(whole[:2560]).losses == ()


def test_a_tar_entry_of_a_negative_size_is_refused() -> None:
    header = tarfile.TarInfo("x")
    header.pax_headers = {"size": "-1"}
    try:
        read = tar.to_body(header.tobuf(tarfile.PAX_FORMAT) + bytes(1024))
    except (RefusedPaths, DecodeError) as error:
        told = str(error)
    else:  # newer versions of the library take the header for the end of the archive
        (told,) = map(str, read.losses)
        assert len(read.value) == 0
    assert "-1 bytes" not in told


def test_large_headers_of_tar_are_refused() -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 50_000_000
    with pytest.raises(DecodeError, match="a header of the archive has more than"):
        tar.to_body(header.tobuf(tarfile.USTAR_FORMAT) + bytes(60_000_000))


def _random(size: int) -> bytes:
    return random.Random(size).randbytes(size)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress,
}  # fmt: skip
packers = pytest.mark.parametrize("packer", PACKERS)


def _with_large_dictionary(data: bytes) -> bytes:
    """Return an xz file whose header states a dictionary of 4 GiB; making one would take it."""
    size = (data[12] + 1) * 4
    header = data[12 : 12 + size - 4].replace(b"\x21\x01\x1c", b"\x21\x01\x28")
    return data[:12] + header + struct.pack("<I", zlib.crc32(header)) + data[12 + size :]


class TestCompressedTar:
    @packers
    @pytest.mark.parametrize("size", [0, 10, 300_000])
    def test_is_read(self, packer: str, size: int, tmp_path: Path) -> None:
        body = MessageBody([Part(_random(size), name="/a.bin"), Part("b", name="/b.txt")])
        data = PACKERS[packer](tar.from_body(body).value)
        assert tar.to_body(data).value == body
        assert tar.to_body(io.BytesIO(data)).losses == ()
        (tmp_path / "a").write_bytes(data)
        (tmp_path / "held").mkdir()
        held = tar.to_body(tmp_path / "a", into=tmp_path / "held").value
        assert [part.read_bytes() for part in held] == [part.read_bytes() for part in body]

    @packers
    def test_in_several_streams_as_programs_with_threads_write_it(self, packer: str) -> None:
        body = MessageBody([Part(_random(200_000), name="/a.bin")])
        data, pack = tar.from_body(body).value, PACKERS[packer]
        pieces = [pack(data[start : start + 50_000]) for start in range(0, len(data), 50_000)]
        assert tar.to_body(b"".join(pieces)).value == body
        assert tar.to_body(b"".join(pieces) + bytes(100_000 if packer == "xz" else 0)).value == body

    @packers
    def test_damage_is_told(self, packer: str) -> None:
        data = PACKERS[packer](tar.from_body(MessageBody([Part(_random(9000))])).value)
        spoiled = bytearray(data)
        spoiled[len(data) // 2] ^= 1
        for damaged in (bytes(spoiled), data[: len(data) // 2], data[:7], data + b"more"):
            with pytest.raises(DecodeError):
                tar.to_body(damaged)
        with pytest.raises(DecodeError, match="can't be read"):
            tar.to_body(PACKERS[packer](data))

    @packers
    def test_what_unpacks_to_far_more_is_refused_before_it_is(
        self, packer: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data = PACKERS[packer](tar.from_body(MessageBody([Part(bytes(40_000_000))])).value)
        written: list[int] = []

        class Spool(tempfile.SpooledTemporaryFile[bytes]):
            def write(self, data: Any) -> int:
                written.append(len(data))
                return super().write(data)

        monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Spool)
        with pytest.raises(DecodeError, match="more than 200 times its size"):
            tar.to_body(data)
        assert sum(written) <= 200 * len(data) + 2**20
        written.clear()
        body = MessageBody([Part(_random(3_000_000), name="/a.bin")])
        with pytest.raises(DecodeError, match="more than 1,048,776 bytes"):
            tar.to_body(PACKERS[packer](tar.from_body(body).value), max_bytes=100)
        assert sum(written) <= 2**20 + 200

    def test_a_dictionary_that_takes_too_much_memory_is_refused(self) -> None:
        data = _with_large_dictionary(lzma.compress(_tar("a"), preset=9))
        with pytest.raises(DecodeError, match="can't be read"):
            tar.to_body(data)

    @pytest.mark.parametrize(("start", "name", "command"), [
        (b"\x28\xb5\x2f\xfd", "zstd", "zstd -d"), (b"\x04\x22\x4d\x18", "lz4", "lz4 -d"),
        (b"LZIP\x01", "lzip", "lzip -d"), (b"\x1f\x9d\x90", "compress", "uncompress"),
    ])  # fmt: skip
    def test_other_compressions_are_named(self, start: bytes, name: str, command: str) -> None:
        with pytest.raises(
            DecodeError, match=f"compressed by {name}: unpack it first, by {command}"
        ):
            tar.to_body(start + bytes(600))


class TestMime:
    """Mail and forms."""

    def test_what_it_writes_is_read_by_the_standard_library(self) -> None:
        message = email.message_from_bytes(
            mime.from_body(sample()).value, policy=email.policy.default
        )
        assert isinstance(message, EmailMessage)
        parts = [*message.iter_parts()]
        assert [part.get_filename() for part in parts] == ["cats.md", "images/cat.png", "empty.txt"]
        assert parts[1].get_content() == b"\x89PNG\r\n\x1a\n"

    @pytest.mark.parametrize(
        ("header", "name"),
        [
            ("filename*=utf-8''%C5%BElut%C3%BD%20k%C5%AF%C5%88.txt", "žlutý kůň.txt"),
            ("filename*0*=utf-8''%C5%BElut; filename*1*=%C3%BD.txt", "žlutý.txt"),
            ('filename="=?utf-8?B?xb5sdXTDvS50eHQ=?="', "žlutý.txt"),
            ('filename="=?iso-8859-2?Q?=BElut=FD.txt?="', "žlutý.txt"),
            ('filename="žlutý.txt"', "žlutý.txt"),
            ('filename="a b.txt"', "a b.txt"),
        ],
    )
    def test_file_names_of_every_rfc(self, header: str, name: str) -> None:
        data = (
            "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
            f"Content-Disposition: attachment; {header}\r\n\r\nx\r\n--b--\r\n"
        )
        [part] = mime.to_body(data.encode()).value
        assert part.metadata == {"filename": name}

    def test_all_levels_are_read_in_order(self) -> None:
        mail = EmailMessage()
        mail.set_content("Look.")
        mail.add_alternative("<p>Look.</p>", subtype="html")
        mail.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="a.pdf")
        body = mime.to_body(mail.as_bytes()).value
        assert [part.content_type.split(";")[0] for part in body] == [
            "text/plain", "text/html", "application/pdf",
        ]  # fmt: skip
        assert body[2].name == "/a.pdf"

    def test_forms_and_related_parts_keep_their_names(self) -> None:
        about = {"formField": "photo", "contentID": "<a@b>", "contentLocation": "a.png"}
        body = MessageBody([Part(b"x", name="/a.png", metadata=about)])
        done = mime.from_body(body, subtype="form-data")
        assert done.losses == ()
        assert mime.to_body(done.value).value[0].metadata == about

    @pytest.mark.parametrize("value", ["a\r\nBcc: all@example.com", "a\nb", "a\0b", "ž"])
    def test_nothing_breaks_out_of_a_header(self, value: str) -> None:
        for key in ("contentID", "contentLocation", "formField"):
            body = MessageBody([Part(b"x", name="/a.png", metadata={key: value})])
            with pytest.raises(InvalidArgument, match="a header of one line"):
                mime.from_body(body, subtype="form-data")

    def test_only_multipart_messages_are_read(self) -> None:
        with pytest.raises(DecodeError, match="not a multipart message"):
            mime.to_body(b"Subject: Hello\r\n\r\nHello!")
        with pytest.raises(DecodeError, match="more than 20 levels"):
            mime.to_body(_nested(40))
        with pytest.raises(DecodeError, match="more than 10 bytes"):
            mime.to_body(mime.from_body(sample()).value, limits=Limits(json_bytes=10))
        with pytest.raises(InvalidArgument, match="subtype"):
            mime.from_body(sample(), subtype="x\r\ny")


def _nested(levels: int) -> bytes:
    lines = [f"Content-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\n"
             for level in range(levels)]  # fmt: skip
    return "".join([*lines, "\r\nx"]).encode()


def test_an_empty_name_in_a_zip_is_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(""), b"x")
    with pytest.raises(RefusedPaths):
        zipped.to_body(file.getvalue())


def with_wide_end(archive: bytes, size: int | None = None, moved: int = 0) -> bytes:
    """Return an archive whose end is told by 64-bit records.

    Arguments:
        archive: an archive without them and without a comment.
        size: the bytes of its list of entries; the true ones if None.
        moved: how far from its place the locator says that the 64-bit end is.
    """
    start, end = len(archive) - 22, archive[-22:]
    count, true, offset = struct.unpack_from("<HII", end, 10)
    wide = struct.pack(
        "<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size or true, offset
    )
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, start + moved, 1)
    narrow = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)
    return archive[:start] + wide + locator + narrow


class TestWideEnd:
    """The end of an archive that is told in 64 bits, which has the last word."""

    archive = zipped.from_body(sample()).value

    def test_it_is_read(self) -> None:
        assert zipped.to_body(with_wide_end(self.archive)).value == sample()

    def test_a_long_list_is_refused_before_it_is_read(self) -> None:
        hidden = with_wide_end(self.archive, size=2**40)
        hidden = hidden[:-10] + struct.pack("<IIH", 100, 0, 0)  # the 32-bit end says: 100 bytes
        with pytest.raises(DecodeError, match="the list of its entries has more than 33,554,432"):
            zipped.to_body(hidden)

    @pytest.mark.parametrize("moved", [-1, 1, 2**40])
    def test_one_that_libraries_look_for_in_different_places_is_refused(self, moved: int) -> None:
        with pytest.raises(DecodeError, match="is not where it has to be"):
            zipped.to_body(with_wide_end(self.archive, moved=moved))
