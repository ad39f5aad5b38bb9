"""Content types found from bytes and names, with libmagic.

libmagic alone calls Markdown, YAML and source code `text/plain`, WAV `audio/x-wav` and an empty
file `application/x-empty`, and its releases differ. So its answer is combined with the extension of
the name: a definite answer from the bytes wins, and text and containers get the more precise type
of their extension. libmagic takes 100 µs and more, so it is only called for bytes that it may know
and that a table of signatures does not decide. If it can't be loaded, the table and the extensions
decide alone.
"""

import importlib
import json
import re
import struct
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final

from messagebody._base.forks import lock_for_forks
from messagebody._base.media_types import (
    ALIASES,
    CONTAINERS,
    EXTENSIONS,
    JSON,
    LINES,
    OCTET_STREAM,
    SIGNATURES,
    SIGNED,
    TEXT_PLAIN,
    canonical,
    is_text,
    may_be,
    unspecified_in,
)

HEAD: Final = 65_536
"""The number of first bytes to read: in a container, they must name its content."""

# Longer than all known extensions.
_LONGEST_EXTENSION: Final = 32
# libmagic's cost grows with the buffer, but its answers hardly improve.
_MAGIC_HEAD: Final = 2048
_UNKNOWN: Final = {"", OCTET_STREAM, "application/x-empty", "inode/x-empty", "inode/empty"}
# Types of text that every release recognises by the bytes.
_DEFINITE_TEXT: Final = {"text/html", "application/xml", JSON, "image/svg+xml", "application/rtf"}
_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_OFFICE_MEMBERS: Final = {
    b"word/": _OFFICE + "wordprocessingml.document",
    b"xl/": _OFFICE + "spreadsheetml.sheet",
    b"ppt/": _OFFICE + "presentationml.presentation",
}
_OFFICE_DIRECTORIES: Final = (*_OFFICE_MEMBERS,)
_OFFICE_INDEX: Final = b"[Content_Types].xml"
# An Office file begins with one of these members; an archive of Office files does not.
_OFFICE_FIRST: Final = (_OFFICE_INDEX, b"_rels/", b"docProps/", b"customXml/", *_OFFICE_DIRECTORIES)
_ZIP: Final = "application/zip"
# The extra field of the first member, and the name of one, in archives of Java.
_JAVA_MARK: Final = b"\xfe\xca"
_JAVA_MANIFEST: Final = b"META-INF/MANIFEST.MF"
# The beginning of a member of a zip archive (APPNOTE 4.3.7), and how long its packed content, its
# name and its extra field are. The name follows.
_ZIP_MEMBER: Final = b"PK\x03\x04"
_ZIP_HEADER: Final = struct.Struct("<18xI4xHH")
_BYTE_ORDER_MARKS: Final = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
# The mark of a tar archive, whatever the name of its first file: a checksum in octal digits. The
# checksum of 512 bytes of text has at least five digits.
_TAR: Final = rb".{148}\s{0,3}[0-7]{5}"
_SIGNED_TYPES: Final = (*SIGNATURES,)
_SIGNATURE: Final = re.compile(
    b"(?!%b)(?:%b)" % (_TAR, b"|".join(b"(%b)" % each for each in SIGNATURES.values())), re.DOTALL
)
# The beginnings of files of `SIGNED` types that any release of libmagic knows. Signatures without a
# control character:
_WORDS: Final = (
    rb"8BPS|BM|BZh|FORM|GIF8|MSCF|MThd|MZ|OTTO|OggS|PAR1|PO\^Q`|PK|RE~\^|RF64|RIF[FX]|Rar!"
    rb"|SQLite|II|MM|Obj|fLaC|glTF|ttcf|true|wOF|%!|.{4}(?:ftyp|moov|mdat|wide|skip|free|idat|pnot)"
)
_SIGNATURE_IN_TEXT: Final = re.compile(_WORDS + b"|" + _TAR, re.DOTALL)
_SIGNATURE_IN_BINARY: Final = re.compile(
    _WORDS
    # Signatures with one: pictures, films, fonts, archives, and documents of old programs.
    + rb"|\xff\xd8\xff|\xff\x0a|\x89PNG|\0\0\0\x0cJXL|\x28\0.{10}\x01\0|\0\0\x01[\xb0-\xbf]"
    rb"|\x1aE\xdf\xa3|\0asm|\xfd7zXZ|\x1f\x8b|7z\xbc\xaf|[\x22-\x28]\xb5\x2f\xfd|\x04%!"
    rb"|(?:.{512}){0,2}\x89HDF|\x0e\x03\x13\x01|\xd0\xcf\x11\xe0|\x09\x04\x06\0|\xdb\xa5-\0"
    rb"|1\xbe\0\0|\x94\xa6\x2e|\xfe[247]\0.\0{4}|.{22}PK\x05\x06|ANDROID|ClamAV"
    # Tar archives, by a checksum that may be as small as 256, or by blanks and zeros around it.
    rb"|.{148}(?:\s{0,5}[0-7]{3}|[ 0].{6}[ \0].{344}\0{8})"
    # Files that hold another file, whose type is reported: comments of ZSTD, tags of songs, old
    # disks.
    rb"|[\x50-\x5f]\x2a\x4d\x18|ID3|\0[\x01-\x3f][\x1f-\xff].{71}\0.{7}\0"
    rb"|SBMBAK|PNCI|DOSEMU|PSDB|\xfe\xef"
    # Marks of text in UTF-16 and UTF-32.
    rb"|\xff\xfe|\xfe\xff|\0\0\xfe\xff",
    re.DOTALL,
)
# A document may begin with other text.
_PDF: Final = b"%PDF-"
# Controls that never occur in text: all but tab, line feeds, form feed, carriage return, escape.
_NO_TEXT: Final = bytes({*range(32)} - {*b"\t\n\v\f\r\x1b"}) + b"\x7f"
_CONTROL: Final = re.compile(b"[%b]" % re.escape(_NO_TEXT))
_HIGH_CONTROLS: Final = bytes(range(0x80, 0xA0))


def content_type(data: bytes, name: str | None = None) -> str:
    """Return the content type of bytes that may have a name.

    Text in UTF-16 or UTF-32, which has a byte order mark, states its charset. Other text that is
    not UTF-8 looks like any other bytes. It is `application/octet-stream`, unless its name or its
    beginning says that it is text; its charset is then ISO 8859-1 or Windows-1252.

    Arguments:
        data: the content, or its first bytes: except for text, `HEAD` bytes are enough.
        name: a part name or file name, for its extension.

    Examples:
        >>> content_type(b"%PDF-1.7 ...", "/report.pdf")
        'application/pdf'
        >>> content_type(b"# Cats", "/notes.md")
        'text/markdown'
        >>> content_type("Katzen sind süß.".encode("latin-1"), "/notes.md")
        'text/markdown; charset=iso-8859-1'
        >>> content_type("Katzen sind süß.".encode("latin-1"))
        'application/octet-stream'
    """
    expected, is_of_text = _expected(name or "")
    if expected and is_of_text and _is_surely_text(data[:_MAGIC_HEAD]):
        if len(data) < _MAGIC_HEAD:
            return expected  # all of it was read, and is UTF-8
        found = expected
    else:
        found = _reconcile(_from_bytes(data, expected), expected)
    if not data or not is_text(found):
        return found
    # Controls don't matter if the name says that it is text and the bytes are UTF-8.
    charset = "utf-8" if _is_encoded(data, "utf-8") else charset_of(data)
    if charset is None and (is_of_text or found in _DEFINITE_TEXT):
        charset = _charset_of_one_byte(data)
    if charset is None:
        return OCTET_STREAM
    return found if charset == "utf-8" else f"{found}; charset={charset}"


def _is_surely_text(head: bytes) -> bool:
    """Return whether libmagic could only answer text, or nothing, for these bytes.

    libmagic takes about 200 µs for text, because it tries every signature. The signatures of the
    binary formats in `SIGNED` have control characters, or bytes that never occur in UTF-8, except
    for a few words.
    """
    return (
        len(head.translate(None, _NO_TEXT)) == len(head)
        and _SIGNATURE_IN_TEXT.match(head) is None
        and _PDF not in head
        and (head.isascii() or _is_cut_utf8(head))
    )


def _is_cut_utf8(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return len(head) == _MAGIC_HEAD and error.end == len(head) and error.start > len(head) - 4
    return True


def charset_of(data: bytes) -> str | None:
    r"""Return the encoding of text: UTF-8, or UTF-16 or UTF-32 with a byte order mark; else None.

    Arguments:
        data: the text, or its first bytes.

    Examples:
        >>> charset_of("ü".encode()), charset_of("ü".encode("utf-16")), charset_of(b"\0\1")
        ('utf-8', 'utf-16', None)
    """
    for mark, charset in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return charset if _is_encoded(data, charset) else None
    is_text = len(data.translate(None, _NO_TEXT)) == len(data) and _is_encoded(data, "utf-8")
    return "utf-8" if is_text else None


def _charset_of_one_byte(data: bytes) -> str | None:
    """Return the encoding of bytes that are known to be text, and are not in Unicode."""
    if len(data.translate(None, _NO_TEXT)) != len(data):
        return None
    if len(data.translate(None, _HIGH_CONTROLS)) == len(data):
        return "iso-8859-1"
    return "windows-1252" if _is_encoded(data, "windows-1252") else None


def _is_encoded(data: bytes, charset: str) -> bool:
    try:
        data.decode(charset)
    except UnicodeDecodeError as error:
        # The last character of the first bytes may be cut.
        return len(data) >= HEAD and error.end == len(data) and len(data) - error.start < 4
    return True


def text_type(name: str) -> str:
    """Return the content type of text with a name, which is always a type of text."""
    found = from_name(name)
    return found if found and is_text(found) else TEXT_PLAIN


def from_name(name: str) -> str | None:
    """Return the content type of an extension, None if the extension is unknown.

    The table is the same on every machine, because the table of the system is not used.
    """
    return _expected(name)[0]


def from_url(url: str, top_level: str | None = None) -> str | None:
    """Return the content type that the end of a URL suggests, None if it suggests none.

    Nothing is fetched.

    Arguments:
        url: the URL.
        top_level: the top-level type that is known; what is not of it is no suggestion.

    Examples:
        >>> from_url("https://e.com/a.png?size=2"), from_url("https://e.com/8f3a")
        ('image/png', None)
        >>> from_url("https://e.com/show.html", "image") is None
        True
    """
    found = from_name("/" + re.split(r"[?#]", url)[0].rpartition("/")[2])
    return found if may_be(found, top_level) else None


def _expected(name: str) -> tuple[str | None, bool]:
    """Return the content type for the extension of a name, and whether it is text."""
    dot = name.rfind(".")
    has_one = name.rfind("/") + 1 < dot and len(name) - dot <= _LONGEST_EXTENSION
    return _of_extension(name[dot:]) if has_one else (None, False)


@lru_cache(1024)
def _of_extension(extension: str) -> tuple[str | None, bool]:
    extension = extension.lower()
    found = EXTENSIONS.get(extension)
    if found is None and (found := _table().get(extension)):
        found = ALIASES.get(found, found)
    return found, found is not None and is_text(found)


def agree(declared: str, sniffed: str) -> bool:
    """Return whether a declared content type can be right for content found to be `sniffed`.

    Examples:
        >>> agree("text/markdown", "text/plain"), agree("image/png", "image/jpeg")
        (True, False)
        >>> agree("image/x-unknown", "image/jpeg")
        True
    """
    wanted, found = canonical(declared), canonical(sniffed)
    if wanted == found or found in _UNKNOWN or wanted in _UNKNOWN:
        return True
    if (top_level := unspecified_in(wanted)) is not None:
        return may_be(found, top_level)
    return _reconcile(found, wanted) == wanted


def _reconcile(sniffed: str, expected: str | None) -> str:
    if expected is None:
        return OCTET_STREAM if sniffed in _UNKNOWN else sniffed
    if sniffed in _UNKNOWN or sniffed == expected:
        return expected
    if is_text(sniffed) and is_text(expected):
        return expected
    if expected.startswith(CONTAINERS.get(sniffed, ("\n",))):
        return expected
    return sniffed


def _from_bytes(data: bytes, expected: str | None) -> str:
    signature = _SIGNATURE.match(data)
    if signature is not None:
        # Each signature is a group, in the order of the table.
        return _SIGNED_TYPES[(signature.lastindex or 0) - 1]
    if office := _office_type(data):
        return office
    if expected == _ZIP and _is_zip_of_files(data):
        return _ZIP
    if _is_mp3(data):
        return "audio/mpeg"
    return "" if _is_surely_unknown(data[:_MAGIC_HEAD]) else _from_libmagic(data)


# The kbit/s and Hz of layer III, by the numbers in the header of a frame; MPEG 2.5 has half the
# rates of MPEG 2 (ISO/IEC 11172-3, 2.4.2.3, and 13818-3).
_KBITS: Final = {
    3: (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_HERTZ: Final = {
    3: (44_100, 48_000, 32_000),
    2: (22_050, 24_000, 16_000),
    0: (11_025, 12_000, 8_000),
}


def _is_mp3(data: bytes) -> bool:
    r"""Return whether bytes begin like an MP3 file: with an ID3 tag, or with three frames.

    A frame begins with two bytes that are common in arrays of numbers. That three headers stand
    where the ones before them say is not. libmagic is content with one.

    Examples:
        >>> frame = b"\xff\xfb\x90\x64" + bytes(413)
        >>> _is_mp3(3 * frame), _is_mp3(frame), _is_mp3(b"ID3\4\0\0\0\0\0\0" + frame)
        (True, False, True)
    """
    if data[:3] != b"ID3":
        return _has_frames(data, 3)
    if len(data) < 10 or data[3] not in (2, 3, 4) or data[4] == 0xFF or max(data[6:10]) > 0x7F:
        return False
    # Four bytes of seven bits (ID3v2.4, 3.1 and 6.2), and a footer like the header.
    size = sum((byte << 7 * place) for place, byte in enumerate(reversed(data[6:10])))
    start = 10 + size + (10 if data[5] & 0x10 else 0)
    # Other sounds may have such a tag, too; a tag with a cover may be longer than what is here.
    return start + 4 > len(data) or _has_frames(data[start:], 1)


def _has_frames(data: bytes, count: int) -> bool:
    """Return whether there are as many frames of layer III, one right after another."""
    start, kind = 0, None
    for _ in range(count):
        head = data[start : start + 4]
        if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE6 != 0xE2:
            return False
        version, rate, hertz = head[1] >> 3 & 3, head[2] >> 4, head[2] >> 2 & 3
        if version == 1 or not 0 < rate < 15 or hertz == 3 or kind not in (None, (version, hertz)):
            return False
        kind = version, hertz
        kbits = _KBITS[3 if version == 3 else 2][rate - 1]
        samples = 144_000 if version == 3 else 72_000
        start += samples * kbits // _HERTZ[version][hertz] + (head[2] >> 1 & 1)
    return True


def _is_surely_unknown(head: bytes) -> bool:
    """Return whether libmagic could not find a type for these bytes that matters here.

    Chunks of arrays are an example: they are not text, and don't begin like files of `SIGNED`
    types.
    """
    return (
        _SIGNATURE_IN_BINARY.match(head) is None
        and _CONTROL.search(head) is not None
        and _PDF not in head
    )


_asking: Final = lock_for_forks()
"""Held while python-magic is loaded or asked: a forked process could not take its own locks."""


def _from_libmagic(data: bytes) -> str:
    with _asking:
        library = _libmagic()
        if library is None or not data:
            return ""
        try:
            found = str(library.from_buffer(data[:_MAGIC_HEAD], mime=True)).lower()
        except library.MagicException:  # no answer for these bytes, so the name decides
            return ""
    found = ALIASES.get(found, found)
    if found == _ZIP and _JAVA_MANIFEST in data[:HEAD]:
        return "application/java-archive"
    if found in SIGNED and not _is_surely_text(data[:_MAGIC_HEAD]):
        return found
    return "" if found in _UNKNOWN else _kind_of_text(found, data[:HEAD])


def _kind_of_text(found: str, head: bytes) -> str:
    """Return the type of bytes that libmagic takes for text, which may be an array of numbers."""
    if head.lstrip()[:1] in (b"{", b"["):
        found = _kind_of_json(head)
    if found in _DEFINITE_TEXT or found in LINES:
        return found if charset_of(head) or _charset_of_one_byte(head) else ""
    return TEXT_PLAIN if charset_of(head) else ""


def _kind_of_json(head: bytes) -> str:
    """Return whether text is a JSON document, one document in each line, or neither.

    libmagic takes more for JSON than JSON is, and its releases differ about a document in one line.
    """
    if _is_json(head):
        return JSON
    lines = head.splitlines()
    if len(head) >= HEAD:
        lines.pop()  # it may be cut
    filled = [line for line in lines if line.strip()]
    return LINES[1] if len(filled) > 1 and all(map(_is_json, filled)) else TEXT_PLAIN


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data, parse_constant=_refuse, parse_int=len, parse_float=len)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _office_type(data: bytes) -> str | None:
    """Return the type of an Office file, by the names of its members; None if it is none."""
    if not data.startswith(_ZIP_MEMBER) or not data.startswith(_OFFICE_FIRST, _ZIP_HEADER.size):
        return None
    head = data[:HEAD]
    if _OFFICE_INDEX not in head:
        return None
    for name in _zip_names(head):
        if head.startswith(_OFFICE_DIRECTORIES, name):
            return _OFFICE_MEMBERS[head[name : head.index(b"/", name) + 1]]
    return None


def _is_zip_of_files(data: bytes) -> bool:
    """Return whether libmagic could only answer that bytes are an archive, if their name says so.

    By the first members it knows Office files, and archives of Java, which may have a mark there.
    """
    if not data.startswith(_ZIP_MEMBER) or len(data) < _ZIP_HEADER.size:
        return False
    _, name, _ = _ZIP_HEADER.unpack_from(data)
    is_of_format = data.startswith((*_OFFICE_FIRST, b"META-INF/"), _ZIP_HEADER.size)
    is_of_java = data.startswith(_JAVA_MARK, _ZIP_HEADER.size + name)
    return not (is_of_format or is_of_java or _JAVA_MANIFEST in data[:HEAD])


def _zip_names(head: bytes) -> Iterator[int]:
    """Yield where the names of the members of a zip archive begin."""
    start = 0
    while 0 <= start <= len(head) - _ZIP_HEADER.size:
        yield start + _ZIP_HEADER.size
        packed, name, extra = _ZIP_HEADER.unpack_from(head, start)
        following = start + _ZIP_HEADER.size + packed + name + extra
        if not head.startswith(_ZIP_MEMBER, following):
            # The size of this content is stated behind it.
            following = head.find(_ZIP_MEMBER, start + 1)
        start = following


@cache
def _table() -> dict[str, str]:
    import mimetypes

    return mimetypes.MimeTypes().types_map[True]


@cache
def _libmagic() -> Any:
    """Return python-magic with the system's libmagic, or with the wheel's, or None."""
    try:
        return importlib.import_module("magic")
    except ImportError:
        pass  # the system has no libmagic; the wheel below brings one
    try:
        importlib.import_module("pylibmagic")  # tells python-magic where its library lies
        return importlib.import_module("magic")
    except (ImportError, OSError):
        return None
