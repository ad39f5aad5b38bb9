"""Parse, serialise, memory and large parts, beside acp-sdk and the standard library."""

import base64
import hashlib
import io
import json
import operator
import os
import random
import re
import statistics
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from benchmarks.harness import compare, machine, print_table, show_ratio, show_time

_TEXT = "The quick brown fox jumps over the lazy dog. "


def small_parts(count: int) -> list[dict[str, Any]]:
    """Return parts as agents write them: mostly short named text, some base64, some URLs."""
    parts: list[dict[str, Any]] = []
    for number in range(count):
        name = f"/sources/{number % 97}/url{number}.txt"
        if number % 10 == 8:
            content = base64.b64encode(os.urandom(48)).decode()
            parts.append(
                {"name": name, "contentType": "image/png", "content": content,
                 "contentEncoding": "base64"}
            )  # fmt: skip
        elif number % 10 == 9:
            url = f"https://example.com/{number}"
            parts.append({"name": name, "contentType": "text/html", "contentUrl": url})
        else:
            parts.append({"name": name, "contentType": "text/plain", "content": _TEXT})
    return parts


def documents(count: int) -> tuple[bytes, bytes]:
    """Return one message in both formats: ours, and acp-sdk's."""
    ours = small_parts(count)
    return (
        json.dumps(ours, separators=(",", ":")).encode(),
        json.dumps(_as_acp(ours), separators=(",", ":")).encode(),
    )


def _as_acp(parts: list[dict[str, Any]]) -> dict[str, Any]:
    spelling = {
        "contentType": "content_type", "contentEncoding": "content_encoding",
        "contentUrl": "content_url",
    }  # fmt: skip
    return {
        "role": "agent",
        "parts": [{spelling.get(key, key): value for key, value in part.items()} for part in parts],
    }


def _by_hand() -> Callable[[bytes], Any]:
    """Return the reader that somebody writes with msgspec: names and base64 are checked.

    It does not see a member that is repeated, and knows no limits.
    """
    import msgspec

    class Record(msgspec.Struct, rename="camel"):
        content_type: str
        name: str | None = None
        content: str | None = None
        content_encoding: str | None = None
        content_url: str | None = None
        metadata: dict[str, Any] | None = None

    decode = msgspec.json.Decoder(list[Record]).decode
    legal = re.compile(r"(/(?!\.\.?(/|$))[A-Za-z0-9._-]+)+").fullmatch

    def read(document: bytes) -> Any:
        records = decode(document)
        names = [record.name for record in records if record.name is not None]
        if len(set(names)) < len(names) or not all(map(legal, names)):
            raise ValueError("a name is illegal or repeated")
        return records, [
            base64.b64decode(record.content or "", validate=True)
            for record in records
            if record.content_encoding
        ]

    return read


def parse_and_serialise() -> None:
    """Compare parsing with all checks, and serialising."""
    import orjson
    from acp_sdk.models import Message

    from messagebody import MessageBody

    by_hand = _by_hand()
    parse_rows, write_rows = [], []
    for count in (1, 3, 10, 1_000, 10_000, 100_000):
        ours, theirs = documents(count)
        times = compare(
            {
                "ours": partial(MessageBody.from_json, ours),
                "acp": partial(Message.model_validate_json, theirs),
                "by hand": partial(by_hand, ours),
                "orjson": partial(orjson.loads, ours),
            }
        )
        parse_rows.append(
            [f"{count:,}", show_time(times["ours"]), show_time(times["acp"]),
             show_ratio(times["acp"] / times["ours"]),
             show_ratio(times["ours"] / times["by hand"]),
             show_ratio(times["ours"] / times["orjson"])]
        )  # fmt: skip
        body, message = MessageBody.from_json(ours), Message.model_validate_json(theirs)
        built = MessageBody(list(body))
        times = compare(
            {
                "read": body.to_json_bytes,
                "built": built.to_json_bytes,
                "acp": partial(_dump, message),
            }
        )
        write_rows.append(
            [f"{count:,}", show_time(times["read"]), show_time(times["built"]),
             show_time(times["acp"]), show_ratio(times["acp"] / times["read"]),
             show_ratio(times["acp"] / times["built"])]
        )  # fmt: skip
    print_table(
        "Parse, with every check",
        ["parts", "messagebody", "acp-sdk", "faster by", "of msgspec by hand", "of orjson.loads"],
        parse_rows,
    )  # fmt: skip
    print_table(
        "Serialise",
        ["parts", "as read", "as built", "acp-sdk", "faster by (as read)", "faster by (as built)"],
        write_rows,
    )


def _go(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
    return "".join(escapes.get(each, each) for each in text)


def _shuffled(value: Any) -> Any:
    """Return a value with the members of each object in another order."""
    if isinstance(value, list):
        return [_shuffled(each) for each in value]
    if not isinstance(value, dict):
        return value
    members = [(name, _shuffled(item)) for name, item in value.items()]
    random.Random(len(members)).shuffle(members)
    return dict(members)


# As the JSON libraries of four languages write by default.
SPELLINGS: Final[dict[str, Callable[[Any], str]]] = {
    "JavaScript, our order": partial(json.dumps, separators=(",", ":"), ensure_ascii=False),
    "JavaScript, another order": lambda value: json.dumps(
        _shuffled(value), separators=(",", ":"), ensure_ascii=False
    ),
    "Python": json.dumps,
    "Go": _go,
    "jq": partial(json.dumps, indent=2, ensure_ascii=False),
}


def _with_metadata(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    cited = {"kind": "citation", "url": "https://example.com/?a=1&b=2", "title": "<Naïve> & co."}
    return [part | {"metadata": cited} for part in parts]


def _unnamed(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: item for key, item in part.items() if key != "name"} for part in parts]


def spellings() -> None:
    """Compare parsing of the same parts in the spellings that programs write."""
    from acp_sdk.models import Message

    from messagebody import MessageBody

    counts, ratios = (1, 3, 10, 100, 1_000), list[list[float]]()
    rows = []
    kinds: dict[str, tuple[Callable[[Any], str], Callable[[Any], Any]]] = {
        name: (spell, list) for name, spell in SPELLINGS.items()
    }
    kinds["Python, with metadata"] = (json.dumps, _with_metadata)
    kinds["Python, without names"] = (json.dumps, _unnamed)
    for name, (spell, change) in kinds.items():
        found = []
        for count in counts:
            parts = change(small_parts(count))
            ours, theirs = spell(parts).encode(), spell(_as_acp(parts)).encode()
            times = compare(
                {
                    "ours": partial(MessageBody.from_json, ours),
                    "acp": partial(Message.model_validate_json, theirs),
                },
                seconds=0.5,
                rounds=7,
            )
            found.append(times["acp"] / times["ours"])
        ratios.append(found)
        rows.append([name, *map(show_ratio, found)])
    rows.append(
        ["median", *(show_ratio(statistics.median(each)) for each in zip(*ratios, strict=True))]
    )
    print_table(
        "Parse, as programs write: CPU time of acp-sdk over ours",
        ["spelling", *(f"{count:,} part{'s' * (count > 1)}" for count in counts)], rows,
    )  # fmt: skip


def large_contents() -> None:
    """Compare parsing of what agents send most, spelled as Python writes it.

    acp-sdk leaves base64 as text; it is measured as it is, and with its base64 decoded.
    """
    from acp_sdk.models import Message

    from messagebody import MessageBody

    answer = {"contentType": "text/plain", "content": _TEXT * 4}
    rows = []
    for name, parts in {
        "an answer and a picture of 1 MB": [answer, _picture(1_000_000)],
        "ten pictures of 100 KB": [_picture(100_000) for _ in range(10)],
        "an answer and twenty texts of 2 KB": [answer, *[_long_text(2_000)] * 20],
        "an answer and a text of 16 KB": [answer, _long_text(16_000)],
        "an answer and a text of 1 MB": [answer, _long_text(1_000_000)],
    }.items():
        theirs = json.dumps(_as_acp(parts)).encode()
        times = compare(
            {
                "ours": partial(MessageBody.from_json, json.dumps(parts).encode()),
                "acp": partial(Message.model_validate_json, theirs),
                "decoded": partial(_decoded, Message.model_validate_json, theirs),
            },
            seconds=0.5,
            rounds=7,
        )  # fmt: skip
        ratios = [show_ratio(times[each] / times["ours"]) for each in ("acp", "decoded")]
        rows.append([name, show_time(times["ours"]), show_time(times["acp"]), *ratios])
    print_table(
        "Parse long contents",
        ["message", "messagebody", "acp-sdk", "faster by", "base64 decoded"], rows,
    )  # fmt: skip


def _decoded(read: Callable[[bytes], Any], document: bytes) -> list[bytes]:
    parts = read(document).parts
    return [base64.b64decode(part.content) for part in parts if part.content_encoding == "base64"]


def _picture(size: int) -> dict[str, Any]:
    content = base64.b64encode(os.urandom(size)).decode()
    return {"contentType": "image/png", "content": content, "contentEncoding": "base64"}


def _long_text(size: int) -> dict[str, Any]:
    return {"contentType": "text/plain", "content": (_TEXT * (size // len(_TEXT) + 1))[:size]}


_MEMORY = """
import sys, tracemalloc
from benchmarks.codec import documents
which, count = sys.argv[1], int(sys.argv[2])
data = documents(count)[which == "acp"]
if which == "acp":
    from acp_sdk.models import Message
    load = Message.model_validate_json
else:
    from messagebody import MessageBody
    load = MessageBody.from_json
load(data[:0] or (b'{"role":"agent","parts":[]}' if which == "acp" else b"[]"))
tracemalloc.start()
kept = load(data)
held, peak = tracemalloc.get_traced_memory()
print(held / count, peak / count)
"""


def one_hop() -> None:
    """Measure what each agent does with a message: read, validate, list and write it."""
    from messagebody import MessageBody, MessageBodySchema

    parts = [
        {"contentType": "text/markdown", "content": _TEXT * 7},
        {"name": "/sources/1", "contentType": "text/plain", "content": _TEXT * 6},
        {"name": "/sources/2", "contentType": "text/html", "contentUrl": "https://example.com/a"},
    ]
    document = json.dumps(parts).encode()
    schema = MessageBodySchema([(None, "text/*", True), ("/sources/*",)])

    def hop() -> bytes:
        body = MessageBody.from_json(document)
        schema.validate(body)
        body.list("/sources/*")
        return body.to_json_bytes()

    body = MessageBody.from_json(document)
    steps: dict[str, Callable[[], object]] = {
        "all": hop,
        "read": partial(MessageBody.from_json, document),
        "validate": partial(schema.validate, body),
        "list": partial(body.list, "/sources/*"),
        "write": body.to_json_bytes,
    }
    times = compare(steps, seconds=0.5, rounds=11)
    print_table("One hop of 3 parts", [*times], [[show_time(each) for each in times.values()]])


def stages() -> None:
    """Show where the time of parsing goes, stage by stage."""
    from messagebody._base.limits import DEFAULT_LIMITS
    from messagebody._wire import fast_reader
    from messagebody.names import are_names

    rows = []
    for count in (1, 3, 10, 1_000, 100_000):
        document, _ = documents(count)
        records = fast_reader._decode(document)
        times = compare(
            {
                "msgspec": partial(fast_reader._decode, document),
                "written again": partial(fast_reader._is_written_so, records, document),
                "names": partial(are_names, [record.name or "" for record in records]),
                "all": partial(fast_reader.decode_flawless, document, DEFAULT_LIMITS, False),
            },
            seconds=0.5,
        )
        rows.append([f"{count:,}", *(show_time(time) for time in times.values())])
    print_table(
        "Where the time of parsing goes",
        ["parts", "msgspec alone", "written again", "names", "all stages, with contents"],
        rows,
    )


def _dump(message: Any) -> bytes:
    return bytes(message.model_dump_json().encode())


def memory() -> None:
    """Compare the bytes a small part takes: held, and at the peak of loading."""
    rows = []
    for count in (1_000, 100_000):
        figures = {which: _in_process(_MEMORY, which, str(count)) for which in ("ours", "acp")}
        held, peak = figures["ours"]
        acp_held, acp_peak = figures["acp"]
        rows.append(
            [f"{count:,}", f"{held:.0f} B", f"{acp_held:.0f} B", f"{held / acp_held:.2f}",
             f"{peak:.0f} B", f"{acp_peak:.0f} B", f"{peak / acp_peak:.2f}"]
        )  # fmt: skip
    print_table(
        "Memory per small part (traced allocations)",
        ["parts", "held", "acp-sdk", "ratio", "peak while loading", "acp-sdk", "ratio"], rows,
    )  # fmt: skip


def _in_process(program: str, *arguments: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True
    )
    return [float(word) for word in done.stdout.split()]


_LARGE = """
import sys, json, base64, time, tracemalloc
which, path, traced = sys.argv[1:]
from messagebody import MessageBody
def ours(data):
    return MessageBody.from_json(data)[0].read_bytes()
def std(data):
    return base64.b64decode(json.loads(data)[0]["content"])
run = {"ours": ours, "std": std}[which]
run(b'[{"contentType":"image/png","content":"QUJD","contentEncoding":"base64"}]')
if traced == "traced":
    tracemalloc.start()
data = open(path, "rb").read()
start = time.process_time()
content = run(data)
took = time.process_time() - start
print(took, tracemalloc.get_traced_memory()[1] / len(content))
"""


def large_part(size: int = 100 * 1024 * 1024) -> None:
    """Compare one large base64 part, from the bytes of JSON to the bytes of content."""
    import tempfile

    part = {
        "name": "/a.bin",
        "contentType": "application/octet-stream",
        "content": base64.b64encode(os.urandom(size)).decode(),
        "contentEncoding": "base64",
    }
    with tempfile.NamedTemporaryFile() as file:
        file.write(json.dumps([part]).encode())
        file.flush()
        del part
        runs = [
            [_in_process(_LARGE, which, file.name, "timed")[0] for which in ("ours", "std")]
            for _ in range(5)
        ]
        peaks = [_in_process(_LARGE, which, file.name, "traced")[1] for which in ("ours", "std")]
    ours, theirs = (statistics.median(run[i] for run in runs) for i in (0, 1))
    print_table(
        "One base64 part of 100 MiB, JSON bytes to content bytes",
        ["", "CPU time", "peak memory, of the decoded size, input included"],
        [
            ["messagebody", show_time(ours), f"{peaks[0]:.2f}×"],
            ["json + base64", show_time(theirs), f"{peaks[1]:.2f}×"],
            ["faster by", show_ratio(theirs / ours), ""],
        ],
    )


def types_by_name() -> None:
    """Compare adding a file by its name with adding it with its type stated."""
    from messagebody import MessageBody

    files = {f"/report.{kind}": _office_file(first) for kind, first in _OFFICE.items()}
    files |= {"/book.epub": _zipped("mimetype", b"application/epub+zip"), "/all.zip": _zipped("a")}
    rows = []
    for name, data in files.items():
        kind = MessageBody().add(data, name=name).content_type
        times = compare(
            {
                "found": partial(_added, data, name=name),
                "stated": partial(_added, data, name=name, content_type=kind),
            }
        )
        ratio = show_ratio(times["found"] / times["stated"])
        rows.append([f"`{name}`", *map(show_time, times.values()), ratio])
    print_table("Add a file of 24 KB", ["file", "by its name", "type stated", "ratio"], rows)


_OFFICE: Final = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/a.xml"}


def _added(data: bytes, **said: Any) -> None:
    from messagebody import MessageBody

    MessageBody().add(data, **said)


def _office_file(main: str) -> bytes:
    return _zipped("[Content_Types].xml", b"", "_rels/.rels", main)


def _zipped(first: str, content: bytes = b"", *others: str) -> bytes:
    """Return an archive whose members are mostly noise, as packed ones are."""
    buffer, noise = io.BytesIO(), random.Random(first)
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(first, content or noise.randbytes(6_000))
        for name in (*others, "last.xml"):
            archive.writestr(name, noise.randbytes(6_000))
    return buffer.getvalue()


def identity() -> None:
    """Compare equality with that of the JSON of both, and the digest with one of the JSON."""
    from messagebody import MessageBody

    digest, rows = "sha256:" + "a" * 64, []
    for count in (1, 10, 1_000):
        parts = [
            part | {"size": 3, "digest": digest} if "contentUrl" in part else part
            for part in small_parts(count)
        ]
        mine, theirs = MessageBody.from_dicts(parts), MessageBody.from_dicts(parts)
        times = compare(
            {
                "equal": partial(operator.eq, mine, theirs),
                "bytes": partial(_are_written_alike, mine, theirs),
                "digest": partial(getattr, mine, "digest"),
                "sha256": partial(_hash_of_json, mine),
            },
            seconds=1.0,
            rounds=11,
        )
        rows.append(
            [f"{count:,}", show_time(times["equal"]), show_time(times["bytes"]),
             show_ratio(times["equal"] / times["bytes"]), show_time(times["digest"]),
             show_time(times["sha256"]), show_ratio(times["digest"] / times["sha256"])]
        )  # fmt: skip
    print_table(
        "Equality and digests",
        ["parts", "`==`", "JSON bytes of both", "ratio", "digest", "SHA-256 of to_json", "ratio"],
        rows,
    )


def _are_written_alike(mine: Any, theirs: Any) -> bool:
    return bool(mine.to_json_bytes() == theirs.to_json_bytes())


def _hash_of_json(body: Any) -> str:
    return hashlib.sha256(body.to_json_bytes()).hexdigest()


def imports() -> None:
    """Compare the CPU time an import takes, in fresh interpreters, less the bare interpreter's."""
    import resource
    import statistics

    # Installed packages are compiled once; a machine that forbids it would measure the compiler.
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def spent() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    def once(statement: str) -> float:
        start = spent()
        subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
        return spent() - start

    statements = [
        "pass",
        "import acp_sdk.models",
        "import messagebody",
        "from messagebody import MessageBody",
        "from messagebody import check",
        "import attrs, msgspec",
    ]
    runs = [[once(statement) for statement in statements] for _ in range(21)]
    times = [statistics.median(run[i] - run[0] for run in runs) for i in range(len(statements))]
    print_table(
        "Import, without the start of the interpreter",
        ["statement", "CPU time", "of acp_sdk.models"],
        [
            [f"`{statement}`", show_time(time), f"{time / times[1]:.2f}"]
            for statement, time in [*zip(statements, times, strict=True)][1:]
        ],
    )


def main() -> None:
    """Print all tables of this module."""
    print(machine("messagebody", "acp-sdk", "pydantic", "msgspec", "pybase64", "orjson"))
    parse_and_serialise()
    spellings()
    large_contents()
    one_hop()
    stages()
    identity()
    memory()
    large_part()
    types_by_name()
    imports()


if __name__ == "__main__":
    main()
