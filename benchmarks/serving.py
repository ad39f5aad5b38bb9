"""Requests a second and memory of a server, beside Starlette's own for static files.

Both run under uvicorn, in a process of their own, and take turns; a client with one connection asks
for the same bytes. Ours reads a part of a message, theirs a file in a directory.
"""

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.harness import machine, print_table, show_ratio
from messagebody import MessageBody, Part, offload

_SERVER: Final = """
import socket, sys, uvicorn
from pathlib import Path
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from messagebody import serving
source = Path(sys.argv[2])
served = {
    "messagebody": lambda: serving.app(source),
    "StaticFiles": lambda: Starlette(routes=[Mount("/", StaticFiles(directory=source))]),
}
app = served[sys.argv[1]]()
listener = socket.socket(fileno=int(sys.argv[3]))
config = uvicorn.Config(app, http="h11", log_level="critical", access_log=False)
uvicorn.Server(config).run(sockets=[listener])
"""
_ROUNDS: Final = 7
_REQUESTS: Final = 400
_MIB: Final = 1024 * 1024
_LARGE: Final = 1024 * _MIB
_SIZES: Final = {"1 KB": 1000, "16 KB": 16_000, "200 KB": 200_000}
NAMES: Final = ("messagebody", "StaticFiles")


@contextlib.contextmanager
def serving(name: str, source: Path) -> Iterator[tuple[int, int]]:
    """Run a server, and give its port and the id of its process."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        given = [sys.executable, "-c", _SERVER, name, str(source), str(listener.fileno())]
        process = subprocess.Popen(given, pass_fds=[listener.fileno()])
        try:
            yield listener.getsockname()[1], process.pid
        finally:
            process.terminate()
            process.wait()


def asked(port: int, path: str, headers: dict[str, str], times: int) -> float:
    """Return the seconds of a request, on one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    begun = time.perf_counter()
    for _ in range(times):
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        while answer.read(_MIB):
            pass
        if answer.status not in {200, 206, 304}:
            raise RuntimeError(f"{path}: {answer.status}")
    taken = (time.perf_counter() - begun) / times
    connection.close()
    return taken


def held(process: int) -> int:
    """Return the most bytes that a process has held."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def write_files(directory: Path) -> None:
    """Write parts of each size: in a message, and as files."""
    body = MessageBody()
    (directory / "m").mkdir()
    for name, size in _SIZES.items():
        content = os.urandom(size)
        file = name.replace(" ", "")
        body.append(Part(content, name=f"/{file}", content_type="image/png"))
        (directory / "m" / file).write_bytes(content)
    (directory / "large").mkdir()
    with (directory / "large/film").open("wb") as film:
        film.truncate(_LARGE)
    body.save(directory / "m.json")
    large = MessageBody([Part(directory / "large/film", name="/film", content_type="video/mp4")])
    offload(large, directory).save(directory / "large.json")
    # A message that was written just before is read again each time.
    for each in directory.glob("*.json"):
        os.utime(each, (0, 0))


def main() -> None:
    """Print requests a second, and the memory of a large part."""
    print(machine("messagebody", "starlette", "uvicorn", "h11"))
    with tempfile.TemporaryDirectory() as made, contextlib.ExitStack() as stack:
        directory = Path(made)
        write_files(directory)
        servers = {name: stack.enter_context(serving(name, directory)) for name in NAMES}
        for port, _ in servers.values():
            asked(port, "/m/1KB", {}, 50)
        print_table(
            "Requests a second, one connection",
            ["request", *NAMES, "ratio"],
            [row(servers, *each) for each in requests()],
        )
        before = {name: held(process) for name, (_, process) in servers.items()}
        rows = []
        for name, (port, process) in servers.items():
            taken = asked(port, "/large/film", {}, 1)
            more = (held(process) - before[name]) / _MIB
            rows.append([name, f"{_LARGE / _MIB / taken:,.0f} MiB/s", f"{more:.0f} MiB"])
        print_table("A part of 1 GiB", ["server", "pace", "more memory"], rows)


def requests() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield what is asked for: its name, its path, and the headers."""
    for name in _SIZES:
        yield name, f"/m/{name.replace(' ', '')}", {}
    yield "a range of 200 KB", "/m/200KB", {"Range": "bytes=1000-1999"}


def row(
    servers: dict[str, tuple[int, int]], name: str, path: str, headers: dict[str, str]
) -> list[str]:
    """Return a row of the table; the servers take turns."""
    times: dict[str, list[float]] = {each: [] for each in servers}
    for _ in range(_ROUNDS):
        for each, (port, _) in servers.items():
            times[each].append(asked(port, path, headers, _REQUESTS))
    ours, theirs = (1 / median(times[each]) for each in NAMES)
    return [name, f"{ours:,.0f}", f"{theirs:,.0f}", show_ratio(ours / theirs)]


if __name__ == "__main__":
    main()
