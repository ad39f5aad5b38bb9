"""Journeys through the package by its public names, for `figures.py` to measure.

Each function prepares a journey and returns it, ready to be made once.
"""

import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from messagebody import MessageBody, MessageBodySchema, Part, Resolver, check, inline, offload
from messagebody.envelopes import agents_api, channel, olympus, sentient

Journey = Callable[[], object]
_VECTORS: Final = Path(__file__).parents[2] / "tests" / "vectors"
_LARGE: Final = bytes(range(256)) * 2_000
_SCRATCH: Final = tempfile.TemporaryDirectory()


def _new_directory() -> Path:
    return Path(tempfile.mkdtemp(dir=_SCRATCH.name))


def _seven_parts() -> MessageBody:
    return MessageBody(
        [
            Part("# Trip\n", content_type="text/markdown"),
            Part("a,b\n1,2\n", name="/sources/rides.csv", content_type="text/csv"),
            Part("Rain.", name="/sources/weather.md", content_type="text/markdown"),
            Part(b"\x89PNG", name="/charts/1.png", content_type="image/png"),
            Part(b"\x89PNG2", name="/charts/2.png", content_type="image/png"),
            Part(url="s3://bucket/key", name="/talk.mp4", content_type="video/mp4"),
            Part(_LARGE, name="/data.bin", content_type="application/octet-stream"),
        ]
    )


def _from_json(**unknown: str) -> Journey:
    parts = [{**part, **unknown} for part in _seven_parts().to_dicts()]
    return partial(MessageBody.from_json, json.dumps(parts, separators=(",", ":")))


def _list() -> Journey:
    return partial(_seven_parts().list, "/sources/*")


def _add() -> Journey:
    return partial(_seven_parts().add, "meow", name="/a.txt")


def _offload() -> Journey:
    return partial(offload, MessageBody([Part(_LARGE, name="/a")]), _new_directory())


def _inline() -> Journey:
    place = _new_directory()
    small = offload(MessageBody([Part(_LARGE, name="/a")]), place)
    return partial(inline, small, resolver=Resolver(allow=[place]))


def _road() -> Journey:
    document, place = _seven_parts().to_json_bytes(), _new_directory()

    def road() -> object:
        body = MessageBody.from_json(document)
        body.list("/sources/*")
        return offload(body, place).to_json()

    return road


def _check(*said: str, fits: bool = False) -> Journey:
    sends: list[Any] = [("/a/*", "text/plain", True), (None, "image/*", False)]
    takes: list[Any] = [("/a/*", "text/*", True), (None, "image/*" if fits else "image/png", False)]
    producer, consumer = MessageBodySchema(sends), MessageBodySchema(takes)

    def ask() -> object:
        found = check(producer, consumer)
        return [getattr(found, name) for name in ("verdict", *said)]

    return ask


def _read_file() -> Journey:
    body = _seven_parts()

    def read() -> object:
        with body.fs.open("/sources/rides.csv") as file:
            return file.read()

    return read


def _to_body(adapter: Any, message: Any) -> Journey:
    return partial(adapter.to_body, message)


def _vector(name: str, *path: Any) -> Any:
    found = json.loads((_VECTORS / name).read_text("utf-8").split("\n")[0])
    for step in path:
        found = found[step]
    return found


def _envelopes() -> dict[str, Callable[[], Journey]]:
    body = MessageBody([Part("Hello"), Part("x", name="/a.txt", content_type="text/plain")])
    bases = json.loads((_VECTORS / "sentient_bases.json").read_text("utf-8"))["bases"]
    messages = {
        agents_api: agents_api.from_body(body).value,
        channel: channel.from_body(body).value,
        olympus: _vector("olympus_schema.jsonl", "input"),
        sentient: bases["full4"][3],
    }
    return {
        f"to_body of {adapter.__name__.rpartition('.')[2]}": partial(_to_body, adapter, message)
        for adapter, message in messages.items()
    }


JOURNEYS: Final[dict[str, Callable[[], Journey]]] = {
    "from_json, 7 parts": _from_json,
    "from_json, 7 parts with an unknown member": partial(_from_json, note="x"),
    "list, cold": _list,
    "add a text": _add,
    "offload 1 part to a directory": _offload,
    "inline 1 reference": _inline,
    "from_json, list, offload, to_json": _road,
    "check, yes": partial(_check, fits=True),
    "check, no": _check,
    "check, no, with the counterexample": partial(_check, "counterexample"),
    "check, no, with the reasons": partial(_check, "reasons"),
    "body.fs.open and read": _read_file,
    **_envelopes(),
}
