"""Requests and bytes of lazy reads, beside s3fs and obstore, counted by a proxy before the server.

Ours are references of a body, read through its resolver; the peers read the same objects through
their own filesystems. Counts do not depend on the machine. Peers that are not installed are left
out; s3fs pins another botocore, so it needs an environment of its own.
"""

import contextlib
import importlib.util
import io
import os
import zipfile
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
from PIL import Image
from pyarrow import parquet

from benchmarks.harness import machine, print_table
from messagebody import MessageBody, Part, Resolver, offload
from messagebody.s3 import S3Store
from messagebody.s3._client import Clients
from tests import servers
from tests.faults.proxy import Proxy

BUCKET = "lazy"
MIB = 1024 * 1024
COLUMNS = 6

Make = Callable[[str], tuple[Any, str]]
"""Makes a fresh filesystem for a file, and the path of the file there."""


def table() -> bytes:
    """Return a Parquet file of six columns, 46 MiB."""
    random = np.random.default_rng(1)
    columns = {f"c{number}": random.random(MIB) for number in range(COLUMNS)}
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream, row_group_size=MIB // 8, compression=None)
    return stream.getvalue()


def archive() -> bytes:
    """Return a zip file of 200 members, 48 MiB."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        for number in range(200):
            made.writestr(f"{number}.bin", os.urandom(240 * 1024))
    return stream.getvalue()


def picture() -> bytes:
    """Return a PNG file of noise, 12 MiB."""
    stream = io.BytesIO()
    noise = np.random.default_rng(1).integers(0, 256, (2048, 2048, 3)).astype("uint8")
    Image.fromarray(noise).save(stream, format="PNG", compress_level=0)
    return stream.getvalue()


def footer(fs: Any, path: str) -> None:
    with fs.open(path) as file:
        parquet.ParquetFile(file)


def column(fs: Any, path: str) -> None:
    with fs.open(path) as file:
        parquet.ParquetFile(file, pre_buffer=False).read(columns=["c3"])


def members(fs: Any, path: str) -> None:
    with fs.open(path) as file, zipfile.ZipFile(file) as found:
        found.namelist()


def member(fs: Any, path: str) -> None:
    with fs.open(path) as file, zipfile.ZipFile(file) as found:
        found.read("100.bin")


def header(fs: Any, path: str) -> None:
    with fs.open(path) as file:
        Image.open(file).size  # noqa: B018


def seeks(fs: Any, path: str) -> None:
    with fs.open(path) as file:
        for number in range(20):
            file.seek(number * 2 * MIB)
            file.read(1024)


def sequential(fs: Any, path: str) -> None:
    with fs.open(path) as file:
        while file.read(64 * 1024):
            pass


READS: dict[str, tuple[str, Callable[[Any, str], object]]] = {
    "Parquet: footer": ("table.parquet", footer),
    f"Parquet: 1 of {COLUMNS} columns": ("table.parquet", column),
    "zip: names": ("archive.zip", members),
    "zip: 1 of 200 members": ("archive.zip", member),
    "PNG: size": ("picture.png", header),
    "first 4 KiB": ("table.parquet", lambda fs, path: fs.head(path, 4096)),
    "last 4 KiB": ("table.parquet", lambda fs, path: fs.tail(path, 4096)),
    "20 × 1 KiB by seek": ("table.parquet", seeks),
    "all, 64 KiB at a time": ("table.parquet", sequential),
    "all at once": ("table.parquet", lambda fs, path: fs.cat_file(path)),
    "info": ("table.parquet", lambda fs, path: fs.info(path)),
}


def _offloaded(server: servers.Server, files: dict[str, bytes]) -> MessageBody:
    """Return a body of references to the files; what that takes is not counted."""
    body = MessageBody(Part(data, name=f"/{name}") for name, data in files.items())
    return offload(body, S3Store(_clients(server, server.endpoint), BUCKET, "x"), threshold=0)


def _clients(server: servers.Server, endpoint: str) -> Clients:
    return Clients(
        session=server.session(), endpoint_url=endpoint, addressing_style="path",
        response_checksum_validation="when_required",
    )  # fmt: skip


def _contestants(server: servers.Server, endpoint: str, body: MessageBody) -> dict[str, Make]:
    """Return what makes a fresh filesystem and the path of a file, by the name of the client."""
    keys = {str(part.name)[1:]: str(part.url).removeprefix("s3://") for part in body}
    store = S3Store(_clients(server, endpoint), BUCKET, "x")

    def ours(name: str) -> tuple[Any, str]:
        return body.filesystem(resolver=Resolver(allow=store)), f"/{name}"

    def of_s3fs(name: str) -> tuple[Any, str]:
        import s3fs  # type: ignore[import-not-found,unused-ignore]

        fs = s3fs.S3FileSystem(
            key=server.access_key, secret=server.secret_key, endpoint_url=endpoint,
            skip_instance_cache=True, use_listings_cache=False,
            config_kwargs={"response_checksum_validation": "when_required"},
        )  # fmt: skip
        return fs, keys[name]

    def of_obstore(name: str) -> tuple[Any, str]:
        from obstore.fsspec import FsspecStore

        options: dict[str, Any] = {
            "endpoint": endpoint,
            "region": servers.REGION,
            "access_key_id": server.access_key,
            "secret_access_key": server.secret_key,
            "client_options": {"allow_http": True},
            "skip_instance_cache": True,
        }
        return FsspecStore("s3", **options), keys[name]

    peers = {"s3fs": of_s3fs, "obstore": of_obstore}
    return {"messagebody": ours} | {
        name: make for name, make in peers.items() if importlib.util.find_spec(name) is not None
    }


def main() -> None:
    """Print the table."""
    print(machine("boto3", "s3fs", "obstore", "fsspec", "pyarrow", "moto"))
    files = {"table.parquet": table(), "archive.zip": archive(), "picture.png": picture()}
    with servers.moto() as server:  # rclone answers ranges with a status that obstore refuses
        client = _clients(server, server.endpoint).get()
        client.create_bucket(Bucket=BUCKET)
        proxy = Proxy(int(urlsplit(server.endpoint).port or 0))
        with contextlib.closing(proxy):
            contestants = _contestants(server, proxy.endpoint, _offloaded(server, files))
            rows = [
                [what, *(_counted(proxy, make, name, read) for make in contestants.values())]
                for what, (name, read) in READS.items()
            ]
    print_table("KiB over the wire (requests)", ["read", *contestants], rows)


def _counted(proxy: Proxy, make: Make, name: str, read: Callable[..., object]) -> str:
    fs, path = make(name)
    proxy.heal()
    read(fs, path)
    return f"{proxy.answered / 1024:,.0f} ({len(proxy.operations)})"


if __name__ == "__main__":
    main()
