"""Two checkouts of this package beside each other: `python -m benchmarks.versions OLD_CHECKOUT`.

More arguments choose the calls whose names hold one of them: `OLD_CHECKOUT check from_json`.

Each checkout runs in a process of its own. The two take turns call by call, so that what else the
machine does meets both, and the medians of CPU time are compared as ratios. Only public names that
both checkouts have are called.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.codec import documents
from benchmarks.envelope_samples import envelope, step
from benchmarks.harness import print_table, show_ratio, show_time

_HERE = Path(__file__).resolve().parent.parent
# Many short rounds: what else a busy machine does falls on few of them.
_ROUNDS = 41
_SECONDS_A_ROUND = 0.015


def tasks(directory: Path) -> dict[str, Callable[[], object]]:
    """Return what is timed, by name: the calls that users make, at small and large sizes."""
    from messagebody import MessageBody, check, inline, offload

    found: dict[str, Callable[[], object]] = {}
    for count in (1, 3, 10, 1_000, 100_000):
        document = documents(count)[0]
        body = MessageBody.from_json(document)
        found[f"from_json, {count:,} parts"] = partial(MessageBody.from_json, document)
        found[f"to_json_bytes, {count:,} parts"] = body.to_json_bytes
        found[f"list('/sources/0/*'), {count:,} parts"] = partial(body.list, "/sources/0/*")
    body = MessageBody.from_json(documents(1_000)[0])
    found["body.fs.ls, 1,000 parts"] = lambda: body.fs.ls("/sources/1", detail=False)
    found["body.fs.cat_file, 1,000 parts"] = lambda: body.fs.cat_file("/sources/0/url0.txt")
    found["validate, 1,000 parts"] = partial(_schemas()[1].is_valid, body)
    found["check that says always"] = lambda: check(_schemas()[0], _schemas()[1])
    found["check that says no, with reasons"] = lambda: check(_schemas()[1], _schemas()[0]).reasons
    moved = offload(body, directory, threshold=0)
    found["offload of 1,000 stored parts"] = lambda: offload(body, directory, threshold=0)
    found["inline of 1,000 parts"] = lambda: inline(moved, resolver=_resolver(directory))
    with suppress(ImportError):  # an older checkout has them elsewhere
        found |= _envelopes()
    return found


def _schemas() -> tuple[Any, Any]:
    from messagebody import MessageBodySchema

    narrow = [
        {"name": "/sources/*", "contentType": "text/plain", "required": True},
        {"name": "/charts/*.png", "contentType": "image/png"},
        {"contentType": "text/markdown"},
    ]
    wide = [{"name": "/**", "contentType": "*/*"}, {"contentType": "*/*"}]
    return MessageBodySchema.from_dicts(narrow), MessageBodySchema.from_dicts(wide)


def _resolver(directory: Path) -> Any:
    from messagebody import Resolver

    return Resolver(allow=[directory])


def _envelopes() -> dict[str, Callable[[], object]]:
    from messagebody.envelopes import agents_api, olympus, sentient

    row = {"id": 7, "role": "user", "content": "hello", "metadata": {"type": "text"}}
    return {
        "agents_api.to_body": partial(agents_api.to_body, row),
        "olympus.to_body": partial(olympus.to_body, envelope(4)),
        "sentient.to_body": partial(sentient.to_body, step(["Name the birds"])),
    }


def _serve() -> None:
    """Time what standard input names, a line each, until it ends."""
    with tempfile.TemporaryDirectory() as directory:
        found = tasks(Path(directory))
        calls = {name: _calls(run) for name, run in found.items()}
        print(json.dumps(list(found)), flush=True)
        for line in sys.stdin:
            name = line.rstrip("\n")
            start = time.process_time()
            for _ in range(calls[name]):
                found[name]()
            print((time.process_time() - start) / calls[name], flush=True)


def _calls(run: Callable[[], object]) -> int:
    run()
    start = time.process_time()
    run()
    return max(1, min(20_000, int(_SECONDS_A_ROUND / max(time.process_time() - start, 1e-7))))


class _Contestant:
    """A process that times the tasks of one checkout on request."""

    def __init__(self, checkout: Path) -> None:
        # The tasks come from this checkout, the package they call from the other one.
        path = os.pathsep.join([str(checkout), str(_HERE)])
        code = (
            f"import sys; sys.path[:0] = [{str(checkout)!r}]; import messagebody;"
            f"sys.path[0] = {str(_HERE)!r}; from benchmarks.versions import _serve; _serve()"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-c", code],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        self.names: list[str] = json.loads(self._line())

    def time(self, name: str) -> float:
        assert self.process.stdin is not None
        print(name, file=self.process.stdin, flush=True)
        return float(self._line())

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


def main() -> None:
    """Compare the checkout named on the command line with this one."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m benchmarks.versions OLD_CHECKOUT [WORD …]")
    words = sys.argv[2:] or [""]
    old, new = _Contestant(Path(sys.argv[1]).resolve()), _Contestant(_HERE)
    rows = []
    for name in [each for each in new.names if each in old.names]:
        if not any(word in name for word in words):
            continue
        samples = [(old.time(name), new.time(name)) for _ in range(_ROUNDS)]
        before, after = (statistics.median(column) for column in zip(*samples, strict=True))
        rows.append([name, show_time(before), show_time(after), show_ratio(after / before)])
    for contestant in (old, new):
        assert contestant.process.stdin is not None
        contestant.process.stdin.close()
        contestant.process.wait()
    print_table("Old beside new", ["call", "old", "new", "new takes"], rows)


if __name__ == "__main__":
    main()
