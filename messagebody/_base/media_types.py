"""Content types: `type/subtype[; parameters]`.

Type and subtype take the characters of RFC 6838 restricted names and begin with a letter or
digit; parameters follow RFC 9110, quoted strings included. A content type has at most 1,024
characters. It keeps its spelling; two are compared by their essence, the lower-cased
`type/subtype`.

Every table of content types is in this module: extensions, other names, containers, well-known
types and the types that are text.
"""

import re
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Final, TypeVar

import attrs

from messagebody._base.text import plain_text, quote
from messagebody.errors import InvalidContentType

_T = TypeVar("_T")
TEXT_PLAIN: Final = "text/plain"
OCTET_STREAM: Final = "application/octet-stream"
JSON: Final = "application/json"
LINES: Final = ("application/jsonl", "application/x-ndjson")
"""The types of JSON Lines: a document in each line."""

MAX_LENGTH: Final = 1024
"""The most characters of a content type: the longest in use have two or three parameters."""

# Possessive: the engine keeps no state for each repetition, which took 170 bytes a character.
_RESTRICTED = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*+"
_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]++"
_QUOTED = r'"(?:[\t \x21\x23-\x5b\x5d-\x7e]|\\[\t \x21-\x7e])*+"'
_ESSENCE = re.compile(rf"{_RESTRICTED}/{_RESTRICTED}")
_NEXT = re.compile(rf"[ \t]*+;[ \t]*+(?:({_TOKEN})=({_TOKEN}|{_QUOTED}))?")
_CACHE = 1024
"""Content types whose reading is remembered."""
_CACHED_LENGTH = 256


@attrs.frozen
class ContentType:
    """The pieces of a content type.

    Arguments:
        essence: `type/subtype` in lower case.
        parameters: the parameters, names in lower case, values unquoted.
    """

    essence: str
    parameters: Mapping[str, str] = attrs.field(eq=dict)


def _remembered(function: Callable[[str], _T]) -> Callable[[str], _T]:
    """Remember what a function says of the content types in use: it is asked for each part."""
    known: dict[str, _T] = {}

    @wraps(function)
    def said(text: str) -> _T:
        try:
            return known[text]
        except (KeyError, TypeError):
            pass
        found = function(text)
        # Messages are untrusted: with many or long texts, a sender could fill the memory.
        if type(text) is str and len(text) <= _CACHED_LENGTH:
            if len(known) >= _CACHE:
                known.clear()
            known[text] = found
        return found

    return said


def parse_content_type(text: str) -> ContentType:
    """Take a content type apart.

    Raises:
        InvalidContentType: it breaks the rules above.

    Examples:
        >>> parse_content_type('Text/HTML; charset="utf-8"')
        ContentType(essence='text/html', parameters=mappingproxy({'charset': 'utf-8'}))
    """
    if not isinstance(text, str):
        raise InvalidContentType(f"a content type is a string, got {quote(text)}")
    if len(text) > MAX_LENGTH:
        raise InvalidContentType(
            f"content type {quote(text, limit=40)} has {len(text):,} characters, "
            f"at most {MAX_LENGTH:,} are allowed"
        )
    return _parse(text)


@_remembered
def _parse(text: str) -> ContentType:
    head = _ESSENCE.match(text)
    if head is None:
        raise InvalidContentType(
            f"content type {quote(text)} is not type/subtype, for example 'text/plain'"
        )
    return ContentType(head[0].lower(), MappingProxyType(_parameters(text, head.end())))


def _parameters(text: str, position: int) -> dict[str, str]:
    found: dict[str, str] = {}
    while position < len(text):
        match = _NEXT.match(text, position)
        if match is None:
            raise InvalidContentType(
                f"content type {quote(text)}: character {position} is {quote(text[position])}; "
                "after type/subtype come parameters such as '; charset=utf-8'"
            )
        if match[1] is not None:
            name = match[1].lower()
            if name in found:
                raise InvalidContentType(f"content type {quote(text)}: parameter {name} twice")
            found[name] = _unquote(match[2])
        position = match.end()
    return found


def _unquote(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value


@_remembered
def check_content_type(text: str) -> str:
    """Return a legal content type, interned, because a body has only a few distinct ones.

    Raises:
        InvalidContentType: it breaks the rules.
    """
    parse_content_type(text)
    return sys.intern(plain_text(text))


@_remembered
def essence(text: str) -> str:
    """Return the lower-cased `type/subtype`, by which content types are compared.

    Examples:
        >>> essence("Text/Plain; charset=utf-8")
        'text/plain'
    """
    return parse_content_type(text).essence


PLAIN_CHARSETS: Final = frozenset({"utf-8", "utf8", "us-ascii"})
"""The charsets that plain content may state, because its bytes are UTF-8."""


def stated_charset(text: str) -> str:
    """Return the lower-cased charset that a content type states, UTF-8 if it states none.

    Examples:
        >>> stated_charset("text/plain; charset=US-ASCII"), stated_charset("text/plain")
        ('us-ascii', 'utf-8')
    """
    # Only parameters state a charset, and parsing the type of each part is slow.
    if ";" not in text:
        return "utf-8"
    return parse_content_type(text).parameters.get("charset", "utf-8").lower()


def is_json(text: str) -> bool:
    """Return whether content of a type is JSON: `application/json`, or a subtype of `+json`.

    Examples:
        >>> is_json("application/json; charset=utf-8"), is_json("application/ld+json")
        (True, True)
        >>> is_json("application/jsonl")
        False
    """
    kind = essence(text)
    return kind == JSON or kind.endswith("+json")


def is_plain(text: str) -> bool:
    """Return whether content of this type is written as plain text if its bytes are UTF-8.

    This is a rule of the format, so that all writers choose the same form. `is_text` is wider.

    Examples:
        >>> is_plain("text/csv"), is_plain("application/ld+json"), is_plain("image/svg+xml")
        (True, True, False)
    """
    return _is_plain(essence(text))


def _is_plain(kind: str) -> bool:
    return kind.startswith("text/") or kind == JSON or kind.endswith("+json")


@_remembered
def is_text(text: str) -> bool:
    """Return whether content of this type is text that a person could read.

    Examples:
        >>> is_text("text/csv"), is_text("application/yaml"), is_text("image/svg+xml")
        (True, True, True)
        >>> is_text("application/x-csv"), is_text("image/png")
        (True, False)
    """
    kind = essence(text)
    usual = ALIASES.get(kind, kind)
    return _is_plain(kind) or _is_plain(usual) or usual.endswith("+xml") or usual in _TEXT


# Types that are text although their names do not say so.
_TEXT: Final = frozenset(
    {
        # code, data and documents
        "application/ecmascript", "application/graphql", "application/javascript",
        "application/json5", "application/jsonc", "application/jsonl", "application/n-quads",
        "application/n-triples", "application/rtf", "application/sql", "application/toml",
        "application/trig", "application/typescript", "application/vnd.dart",
        "application/x-csh", "application/x-httpd-php", "application/x-latex",
        "application/x-ndjson", "application/x-perl", "application/x-python",
        "application/x-ruby", "application/x-sh", "application/x-shellscript",
        "application/x-tex", "application/x-texinfo", "application/x-troff",
        "application/x-troff-man", "application/x-troff-me", "application/x-troff-ms",
        "application/xml", "application/yaml", "model/obj",
        # mail, news and what goes along with them: base64 between lines of dashes
        "application/mac-binhex40", "application/mbox", "application/pem-certificate-chain",
        "application/pgp-encrypted", "application/pgp-keys", "application/pgp-signature",
        "application/x-pem-file", "message/delivery-status", "message/disposition-notification",
        "message/global", "message/news", "message/rfc822",
        # subtitles, lists of songs, settings, forms, orders, and pictures that are source code
        "application/edi-x12", "application/edifact", "application/vnd.apple.mpegurl",
        "application/x-mswinurl", "application/x-setupscript", "application/x-subrip",
        "application/x-www-form-urlencoded", "audio/mpegurl", "audio/x-mpegurl", "image/x-xbitmap",
        "image/x-xpixmap",
    }
)  # fmt: skip

_EXTENSIONS_OF: Final = {
    # text and code
    TEXT_PLAIN: "txt text log ini cfg conf env properties",
    "text/markdown": "md markdown",
    "text/html": "html htm",
    "text/css": "css",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/calendar": "ics",
    "text/vcard": "vcf",
    "text/vtt": "vtt",
    "text/javascript": "js mjs cjs",
    "text/x-bibtex": "bib",
    "text/x-c": "c h",
    "text/x-c++": "cpp cc cxx hpp",
    "text/x-csharp": "cs",
    "text/x-diff": "diff patch",
    "text/x-go": "go",
    "text/x-java": "java",
    "text/x-kotlin": "kt",
    "text/x-lua": "lua",
    "text/x-perl": "pl",
    "text/x-python": "py pyi",
    "text/x-r": "r",
    "text/x-rst": "rst",
    "text/x-ruby": "rb",
    "text/x-rust": "rs",
    "text/x-scala": "scala",
    "text/x-shellscript": "sh bash zsh",
    "text/x-swift": "swift",
    "text/x-tex": "tex",
    "text/x-typescript": "ts tsx",
    "text/jsx": "jsx",
    "application/x-subrip": "srt",
    "application/x-httpd-php": "php",
    "application/graphql": "graphql",
    "application/sql": "sql",
    "application/toml": "toml",
    "application/yaml": "yaml yml",
    "application/xml": "xml xsd xsl",
    "application/rtf": "rtf",
    JSON: "json",
    "application/geo+json": "geojson",
    "application/jsonl": "jsonl",
    "application/ld+json": "jsonld",
    "application/x-ipynb+json": "ipynb",
    "application/x-ndjson": "ndjson",
    "application/gpx+xml": "gpx",
    "application/vnd.google-earth.kml+xml": "kml",
    "message/rfc822": "eml",
    "application/mbox": "mbox",
    # documents
    "application/pdf": "pdf",
    "application/epub+zip": "epub",
    "application/msword": "doc dot",
    "application/vnd.ms-excel": "xls xlt",
    "application/vnd.ms-powerpoint": "ppt pot pps",
    "application/vnd.ms-outlook": "msg",
    "application/vnd.ms-excel.sheet.macroenabled.12": "xlsm",
    "application/vnd.ms-word.document.macroenabled.12": "docm",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.oasis.opendocument.graphics": "odg",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/postscript": "ps eps ai",
    "application/vnd.google-earth.kmz": "kmz",
    # images
    "image/avif": "avif",
    "image/bmp": "bmp",
    "image/gif": "gif",
    "image/heic": "heic heif",
    "image/jpeg": "jpg jpeg",
    "image/jxl": "jxl",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/tiff": "tif tiff",
    "image/vnd.adobe.photoshop": "psd",
    "image/vnd.microsoft.icon": "ico",
    "image/webp": "webp",
    "image/x-tga": "tga",
    "image/jp2": "jp2",
    "image/jpx": "jpx jpf",
    "image/vnd-ms.dds": "dds",
    "image/vnd.djvu": "djvu djv",
    "image/vnd.zbrush.pcx": "pcx",
    "image/x-exr": "exr",
    "image/x-icns": "icns",
    "image/x-jp2-codestream": "j2k j2c jpc",
    "image/x-qoi": "qoi",
    "image/x-xcf": "xcf",
    "application/dicom": "dcm",
    # audio and video
    "audio/aac": "aac",
    "audio/ac3": "ac3",
    "audio/aiff": "aif aiff",
    "audio/amr": "amr",
    "audio/basic": "au snd",
    "audio/flac": "flac",
    "audio/midi": "mid midi",
    "audio/mp4": "m4a",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg oga opus",
    "audio/wav": "wav",
    "audio/webm": "weba",
    "audio/x-caf": "caf",
    "audio/x-matroska": "mka",
    "audio/x-ms-wma": "wma",
    "audio/x-w64": "w64",
    "video/3gpp": "3gp",
    "video/3gpp2": "3g2",
    "video/mp2t": "mts m2ts",
    "video/mp4": "mp4 m4v",
    "video/mpeg": "mpg mpeg",
    "video/ogg": "ogv",
    "video/quicktime": "mov",
    "video/webm": "webm",
    "video/x-flv": "flv",
    "video/x-matroska": "mkv",
    "video/x-ms-asf": "asf",
    "video/x-ms-wmv": "wmv",
    "video/x-msvideo": "avi",
    # archives and programs
    "application/gzip": "gz tgz",
    "application/bzip2": "bz2",
    "application/java-archive": "jar",
    "application/vnd.android.package-archive": "apk",
    "application/vnd.rar": "rar",
    "application/wasm": "wasm",
    "application/x-7z-compressed": "7z",
    "application/x-lz4": "lz4",
    "application/x-lzip": "lz",
    "application/x-tar": "tar",
    "application/x-wheel+zip": "whl",
    "application/x-xz": "xz",
    "application/zip": "zip",
    "application/zstd": "zst",
    # data and models
    "application/avro": "avro",
    "application/geopackage+sqlite3": "gpkg",
    "application/vnd.apache.arrow.file": "arrow feather ipc",
    "application/vnd.apache.arrow.stream": "arrows",
    "application/vnd.apache.orc": "orc",
    "application/vnd.apache.parquet": "parquet",
    "application/vnd.sqlite3": "sqlite sqlite3 db",
    "application/fits": "fits fit fts",
    "application/x-duckdb": "duckdb",
    "application/x-lance": "lance",
    "application/vnd.msgpack": "msgpack",
    "application/x-flatgeobuf": "fgb",
    "application/x-gguf": "gguf",
    "application/x-hdf5": "h5 hdf5",
    "application/x-netcdf": "nc",
    "application/x-nifti": "nii",
    "application/x-npy": "npy",
    "application/x-npz": "npz",
    "application/x-onnx": "onnx",
    "application/x-pickle": "pkl pickle",
    "application/x-protobuf": "pb",
    "application/x-pytorch": "pt pth",
    "application/x-safetensors": "safetensors",
    "model/gltf+json": "gltf",
    "model/gltf-binary": "glb",
    "model/obj": "obj",
    "model/stl": "stl",
    # fonts
    "font/otf": "otf",
    "font/ttf": "ttf",
    "font/woff": "woff",
    "font/woff2": "woff2",
}
EXTENSIONS: Final = {
    f".{extension}": kind
    for kind, extensions in _EXTENSIONS_OF.items()
    for extension in extensions.split()
}
"""The content types of extensions, the same on every machine."""
KNOWN: Final = frozenset(EXTENSIONS.values())
"""The types that have an extension: what they are, and what they are not, is known."""

_OTHER_NAMES: Final = {
    # pictures
    "image/bmp": "image/x-bmp image/x-ms-bmp image/x-windows-bmp",
    "image/gif": "image/x-gif",
    "image/jpeg": "image/jpg image/pjpeg image/x-jpeg image/x-jpg image/x-citrix-jpeg",
    "image/png": "image/x-png image/x-citrix-png",
    "image/svg+xml": "image/svg image/svg-xml",
    "image/tiff": "image/tif image/x-tif image/x-tiff",
    "image/vnd.microsoft.icon": "image/ico image/icon image/x-icon",
    "image/vnd-ms.dds": "image/x-dds",
    "image/vnd.zbrush.pcx": "image/pcx image/x-pcx",
    "image/webp": "image/x-webp",
    # sound and films
    "audio/aac": "audio/aacp audio/x-aac audio/x-hx-aac-adts",
    "audio/ac3": "audio/x-ac3 audio/vnd.dolby.dd-raw",
    "audio/aiff": "audio/aif audio/x-aiff",
    "audio/flac": "audio/x-flac",
    "audio/midi": "audio/mid audio/x-midi",
    "audio/mp4": "audio/m4a audio/x-m4a audio/x-mp4",
    "audio/mpeg": "audio/mp3 audio/mpeg3 audio/mpg audio/x-mp3 audio/x-mpeg audio/x-mpeg3",
    "audio/ogg": "audio/x-ogg",
    "audio/wav": "audio/vnd.wave audio/wave audio/x-pn-wav audio/x-wav audio/x-wave "
    "application/x-wav",
    "video/mp4": "video/x-m4v video/x-mp4",
    "video/mpeg": "video/mpg video/x-mpeg",
    "video/quicktime": "video/mov video/x-quicktime",
    "video/webm": "video/x-webm",
    "video/x-matroska": "video/matroska video/mkv",
    "video/x-msvideo": "video/avi video/msvideo video/x-avi",
    # documents and text
    JSON: "application/x-json text/json text/x-json",
    "application/msword": "application/vnd.msword application/x-msword",
    "application/pdf": "application/acrobat application/x-pdf text/pdf text/x-pdf",
    "application/rtf": "application/x-rtf text/rtf",
    "application/vnd.ms-excel": "application/excel application/msexcel application/x-excel "
    "application/x-msexcel",
    "application/vnd.ms-powerpoint": "application/mspowerpoint application/powerpoint "
    "application/x-mspowerpoint",
    "application/xml": "application/x-xml text/xml",
    "application/yaml": "application/x-yaml text/x-yaml text/yaml",
    "text/csv": "application/csv application/x-csv text/comma-separated-values text/x-csv "
    "text/x-comma-separated-values",
    "text/javascript": "application/javascript application/x-javascript text/x-javascript",
    "text/markdown": "text/x-markdown text/x-web-markdown",
    # archives, data and fonts
    "application/bzip2": "application/x-bzip2",
    "application/gzip": "application/x-gzip",
    "application/vnd.rar": "application/x-rar",
    "application/vnd.sqlite3": "application/x-sqlite3",
    "application/x-hdf5": "application/x-hdf",
    "application/zip": "application/x-zip application/x-zip-compressed",
    "application/zstd": "application/x-zstd",
    "font/otf": "application/vnd.ms-opentype",
    "font/ttf": "application/x-font-ttf font/sfnt",
}
ALIASES: Final = {other: kind for kind, others in _OTHER_NAMES.items() for other in others.split()}
"""Other names of types, as programs and libmagic write them, and their usual names."""


def canonical(text: str) -> str:
    """Return the `type/subtype` of a content type by its usual name.

    Examples:
        >>> canonical("audio/x-wav"), canonical("Text/Plain; charset=utf-8")
        ('audio/wav', 'text/plain')
    """
    kind = essence(text)
    return ALIASES.get(kind, kind)


@_remembered
def by_usual_name(text: str) -> str:
    """Return a content type by its usual name, if that is of the same top-level type.

    What takes `text/*` takes `text/xml`, so that one keeps its name.

    Examples:
        >>> by_usual_name("image/jpg"), by_usual_name("audio/x-wav; rate=8000")
        ('image/jpeg', 'audio/wav; rate=8000')
        >>> by_usual_name("text/xml"), by_usual_name("no type")
        ('text/xml', 'no type')
    """
    kind, mark, parameters = text.partition(";")
    found = ALIASES.get(kind.strip().lower(), "")
    is_alike = found.partition("/")[0] == kind.strip().lower().partition("/")[0]
    return found + mark + parameters if is_alike else text


CONTAINERS: Final = {
    "application/zip": (
        "application/vnd.",
        "application/epub",
        "application/java",
        "application/x-",
    ),
    "application/x-ole-storage": ("application/vnd.ms-", "application/msword"),
    "application/cdfv2": ("application/vnd.ms-", "application/msword"),
    "application/gzip": ("application/",),
    "application/vnd.sqlite3": ("application/geopackage",),
    "application/x-hdf5": ("application/x-netcdf",),
    "application/ogg": ("audio/", "video/"),
    "audio/ogg": ("video/ogg",),
    # Many films of telephones are called .mp4, and many tracks of sound are in a format of films.
    "video/3gpp": ("audio/3gpp", "audio/mp4", "video/mp4", "video/quicktime"),
    "video/3gpp2": ("audio/3gpp2", "audio/mp4", "video/mp4", "video/quicktime"),
    "video/mp4": ("audio/mp4", "video/quicktime"),
    "video/webm": ("audio/webm", "video/x-matroska"),
    "video/x-matroska": ("audio/webm", "audio/x-matroska", "video/webm"),
    "video/x-ms-asf": ("audio/x-ms-wma", "video/x-ms-wmv"),
    "image/jp2": ("image/jpx",),
    TEXT_PLAIN: ("model/stl",),
}
"""Formats that hold other formats, and the prefixes of types that an extension may then state."""

DIFFERING_SIGNATURES: Final = {
    "application/x-lz4": rb"\x04\x22\x4d\x18",
    "application/x-lzip": rb"LZIP\x01",
    "audio/ac3": rb"\x0b\x77.{2}[\x00-\x25@-\x65\x80-\xa5][@-G]",
    "audio/amr": rb"#!AMR\n",
    "audio/basic": rb"\.snd\x00",
    "audio/x-caf": rb"caff\x00\x01\x00",
    "audio/x-w64": rb"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb",
    "image/jp2": rb"\x00\x00\x00\x0cjP  \r\n\x87\n.{8}jp2 ",
    "image/jpx": rb"\x00\x00\x00\x0cjP  \r\n\x87\n.{8}jpx ",
    "image/vnd-ms.dds": rb"DDS \x7c\x00\x00\x00",
    "image/vnd.djvu": rb"AT&TFORM.{4}DJV[UMI]",
    "image/vnd.zbrush.pcx": rb"\n[\x00\x02-\x05]\x01[\x01\x02\x04\x08].{60}\x00",
    "image/x-exr": rb"\x76\x2f\x31\x01",
    "image/x-icns": rb"icns\x00",
    "image/x-jp2-codestream": rb"\xff\x4f\xff\x51\x00",
    "image/x-qoi": rb"qoif\x00",
    "image/x-xcf": rb"gimp xcf (?:file|v\d{3})\x00",
    "video/3gpp": rb"\x00\x00\x00.ftyp3g[egprst]",
    "video/3gpp2": rb"\x00\x00\x00.ftyp3g2",
    "video/mp2t": rb"G[@-_].[\x10-\x1f0-?].{184}G.{187}G",
    "video/x-flv": rb"FLV\x01",
    "video/x-ms-asf": rb"\x30\x26\xb2\x75\x8e\x66\xcf\x11",
    "application/dicom": rb".{128}DICM\x02\x00",
}
"""Signatures about which releases of libmagic differ: some take the bytes for nothing."""

SIGNATURES: Final = {
    **{
        f"application/{kind}": rb"PK\x03\x04.{22}\x08\x00\x00\x00mimetypeapplication/%bPK"
        % re.escape(kind).encode()
        for kind in (
            "epub+zip",
            "vnd.oasis.opendocument.graphics",
            "vnd.oasis.opendocument.presentation",
            "vnd.oasis.opendocument.spreadsheet",
            "vnd.oasis.opendocument.text",
        )
    },
    "application/bzip2": rb"BZh[1-9]1AY&SY",
    "application/gzip": rb"\x1f\x8b\x08.{15}",
    "application/pdf": rb"%PDF-",
    "application/vnd.rar": rb"Rar!\x1a\x07(?:\x00|\x01\x00)",
    "application/wasm": rb"\x00asm\x01\x00\x00\x00",
    "application/x-7z-compressed": rb"7z\xbc\xaf\x27\x1c\x00.{25}",
    "application/x-hdf5": rb"\x89HDF\r\n\x1a\n",
    "application/x-xz": rb"\xfd7zXZ\x00",
    "application/zstd": rb"\x28\xb5\x2f\xfd",
    "audio/aiff": rb"FORM.{4}AIF[CF]",
    "audio/flac": rb"fLaC\x00\x00\x00\x22",
    "audio/midi": rb"MThd\x00\x00\x00\x06",
    "audio/mp4": rb"\x00\x00\x00.ftypM4[AB] ",
    "audio/wav": rb"RIFF.{4}WAVE",
    "font/otf": rb"OTTO\x00",
    "font/woff": rb"wOFF(?:\x00\x01\x00\x00|OTTO)",
    "font/woff2": rb"wOF2(?:\x00\x01\x00\x00|OTTO)",
    "image/avif": rb"\x00\x00\x00.ftypavi[fs]",
    "image/gif": rb"GIF8[79]a",
    "image/heic": rb"\x00\x00\x00.ftyphei[cx]",
    "image/jpeg": rb"\xff\xd8\xff(?:\xe0\x00\x10JFIF\x00|[\xc0\xdb\xe1\xe2\xee\xfe]\x00)",
    "image/jxl": rb"\x00\x00\x00\x0cJXL \r\n\x87\n",
    "image/png": rb"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "image/webp": rb"RIFF.{4}WEBPVP8[ LX]",
    "video/mp4": rb"\x00\x00\x00.ftyp(?:avc1|dash|iso[2-7m]|mp4[12]|M4V )",
    "video/quicktime": rb"\x00\x00\x00.ftypqt  ",
    "video/x-msvideo": rb"RIFF.{4}AVI ",
    **DIFFERING_SIGNATURES,
}
"""Signatures of `SIGNED` types. What precedes the last line, libmagic always takes for that type,
whatever follows.

Regular expressions of bytes. Formats whose variants libmagic distinguishes by later bytes are not
here, such as TIFF, which begins like raw photographs.
"""

SIGNED: Final = frozenset(
    {
        "application/avro",
        "application/cdfv2",
        "application/java-archive",
        "application/msword",
        "application/ogg",
        "application/postscript",
        "application/vnd.apache.parquet",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.sqlite3",
        "application/x-ole-storage",
        "application/x-tar",
        "application/zip",
        "audio/ogg",
        "image/bmp",
        "image/tiff",
        "image/vnd.adobe.photoshop",
        "model/gltf-binary",
        "video/mpeg",
        "video/ogg",
        "video/webm",
        "video/x-matroska",
        *SIGNATURES,
    }
)
"""Binary formats whose first bytes are a signature of their own.

Others, such as MP3 and TGA, are recognised by two bytes or fewer, which often occur in arrays of
numbers. So they are only recognised if the extension agrees, or if more of their bytes agree.
"""

WELL_KNOWN: Final = (
    "text/plain", "text/markdown", "text/html", "text/csv", "application/json",
    "application/pdf", "image/png", "image/jpeg", "application/octet-stream", "audio/mpeg",
    "video/mp4", "image/svg+xml", "application/ld+json", "application/xml", "application/zip",
    "audio/wav", "image/gif", "image/webp", "text/css", "text/javascript", "text/x-python",
    "text/xml", "text/calendar", "application/yaml", "application/gzip", "application/x-tar",
    "application/geo+json", "application/vnd.api+json", "application/sql", "application/rtf",
    "application/wasm", "application/atom+xml", "application/msword", "audio/ogg", "audio/flac",
    "video/webm", "video/ogg", "font/woff2", "font/ttf", "model/gltf+json", "message/rfc822",
    "multipart/mixed", "example/example",
)  # fmt: skip
"""Well-known content types, the likeliest first: examples are made of them if possible."""

COMMON: Final = tuple(
    dict.fromkeys(
        (
            *WELL_KNOWN,
            *EXTENSIONS.values(),
            *sorted({*ALIASES, *SIGNED, *_TEXT}),
            "text/plain; charset=utf-8", "text/plain;charset=utf-8", "text/markdown; charset=utf-8",
            "text/html; charset=utf-8", "text/csv; charset=utf-8",
            "application/json; charset=utf-8",
        )
    )
)  # fmt: skip
"""Content types in their usual spelling, which a reader finds in a table."""

REGISTERED: Final = (
    "application", "audio", "example", "font", "haptics", "image", "message", "model",
    "multipart", "text", "video",
)  # fmt: skip
"""Top-level types that IANA has registered; RFC 9694 lists them."""


def is_registered(top_level: str) -> bool:
    """Return whether a top-level type is registered, or is marked as private by "x-".

    Examples:
        >>> is_registered("Text"), is_registered("txt"), is_registered("x-world")
        (True, False, True)
    """
    return top_level.lower() in REGISTERED or top_level[:2].lower() == "x-"


# A browser shows a page of any XML, and SVG by older names, too.
_RUNS: Final = ("+xml", "/svg", "/svg-xml", "/xml")


def is_shown_inline(text: str) -> bool:
    """Return whether a browser may show content of this type, which must not run as a page.

    Examples:
        >>> is_shown_inline("image/png"), is_shown_inline("image/svg+xml")
        (True, False)
    """
    kind = essence(text)
    is_shown = kind.startswith(("image/", "audio/", "video/")) and not kind.endswith(_RUNS)
    return is_shown or kind in {"application/pdf", TEXT_PLAIN}


MEDIA_TOP_LEVELS: Final = ("image", "audio", "video")
"""The top-level types that a block may state without a subtype: a picture, a sound, a film."""
_RANGE: Final = re.compile(rf"({'|'.join(REGISTERED)}|\*)(?:/\*)?", re.IGNORECASE)


def unspecified(top_level: str) -> str:
    """Return the content type of a picture, sound, film or document of which no more is known.

    It is a legal type of its own, so that patterns such as `image/*` take it, and `image/png` does
    not.

    Examples:
        >>> unspecified("image")
        'image/x-unknown'
    """
    return f"{top_level}/x-unknown"


DOCUMENT_TOP_LEVEL: Final = "application"
"""The top-level type of a document of which no more is known: it may be of any type."""
_UNSPECIFIED: Final = {unspecified(each): each for each in (*MEDIA_TOP_LEVELS, DOCUMENT_TOP_LEVEL)}


def unspecified_in(text: str) -> str | None:
    """Return the top-level type of a content type that says no more, None if it says more.

    Examples:
        >>> unspecified_in("Image/X-Unknown"), unspecified_in("image/png")
        ('image', None)
    """
    return _UNSPECIFIED.get(essence(text))


def may_be(content_type: str | None, top_level: str | None) -> bool:
    """Return whether a content type says more than a top-level type, or than nothing.

    Examples:
        >>> may_be("image/png", "image"), may_be("text/html", "image"), may_be("text/html", None)
        (True, False, True)
        >>> may_be("text/html", "application"), may_be("application/octet-stream", "application")
        (True, False)
    """
    if not content_type or essence(content_type) == OCTET_STREAM:
        return False
    is_any = top_level is None or top_level == DOCUMENT_TOP_LEVEL
    return is_any or essence(content_type).startswith(f"{top_level}/")


def top_level_of_range(text: str) -> str | None:
    """Return the top-level type of a range of types, as some programs state it; else None.

    Examples:
        >>> top_level_of_range("image/*"), top_level_of_range("text"), top_level_of_range("a/b")
        ('image', 'text', None)
        >>> top_level_of_range("*/*")
        '*'
    """
    found = _RANGE.fullmatch(text)
    return None if found is None else found[1].lower()


_EXTENSION_OF: Final = {kind: extension for extension, kind in reversed(EXTENSIONS.items())}


def extension_of(content_type: str | None, default: str = ".bin") -> str:
    """Return the file extension of a media type, or a default if it has none.

    Examples:
        >>> extension_of("image/jpeg"), extension_of("audio/x-wav"), extension_of(None)
        ('.jpg', '.wav', '.bin')
    """
    if not content_type:
        return default
    # Some types that have another name, too, have an extension of their own.
    own = _EXTENSION_OF.get(essence(content_type))
    return own or _EXTENSION_OF.get(canonical(content_type), default)
