"""Servers for tests: started on loopback, on a free port, ended by their own process id."""

import contextlib
import functools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs
import boto3

REGION = "us-east-1"
# Looks for a server that starts, twenty a second: on a busy machine it takes long.
_LOOKS = 2400


@attrs.frozen
class Server:
    """A running S3 server and what its clients need."""

    endpoint: str
    access_key: str
    secret_key: str
    directory: Path | None = None

    def session(self) -> boto3.session.Session:
        """Return a boto3 session with the server's credentials; one a process, for it is slow."""
        return _session(self.access_key, self.secret_key)

    def environment(self) -> dict[str, str]:
        """Return what boto3 reads from the environment."""
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }


@functools.cache
def _session(access_key: str, secret_key: str) -> boto3.session.Session:
    return boto3.session.Session(access_key, secret_key, region_name=REGION)


def free_port() -> int:
    """Return a port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _binary(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is not installed; it comes with the test dependencies")
    return found


@contextlib.contextmanager
def running(command: list[str], port: int, env: Mapping[str, str] | None = None) -> Iterator[None]:
    """Run a server until the block ends, which begins when it listens."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env
    ) as process:
        try:
            _wait_for(port, process)
            yield
        finally:
            process.kill()


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(_LOOKS):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.05)
    raise RuntimeError("the server does not listen")


@contextlib.contextmanager
def moto() -> Iterator[Server]:
    """Run a moto server: S3's semantics, any credentials, parts of any size."""
    port = free_port()
    program = str(Path(__file__).with_name("moto_server.py"))
    command = [sys.executable, "-P", program, "-H", "127.0.0.1", "-p", str(port)]
    settings = os.environ | {"S3_UPLOAD_PART_MIN_SIZE": "1"}
    with running(command, port, env=settings):
        yield Server(f"http://127.0.0.1:{port}", "test", "test")


@contextlib.contextmanager
def rclone(
    directory: Path, port: int | None = None, certificate: Path | None = None
) -> Iterator[Server]:
    """Run rclone over a directory: signatures are checked; buckets are its directories.

    Arguments:
        directory: where the buckets are.
        port: where it listens; a free one if None.
        certificate: a file with a certificate and its key, for https.
    """
    port = port or free_port()
    keys = ("rclone-key", "rclone-secret")
    command = [
        _binary("rclone"), "serve", "s3", "--addr", f"127.0.0.1:{port}",
        "--auth-key", ",".join(keys), "--config", os.devnull, "--no-unicode-normalization",
        str(directory),
    ]  # fmt: skip
    if certificate is not None:
        command += ["--cert", str(certificate), "--key", str(certificate)]
    with running(command, port):
        scheme = "http" if certificate is None else "https"
        yield Server(f"{scheme}://127.0.0.1:{port}", *keys, directory)


def postgres_binaries() -> Path | None:
    """Return the directory of PostgreSQL's programs, as Debian installs them; None if absent."""
    found = shutil.which("postgres")
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return Path(found).parent if found else newest[-1].parent if newest else None


@contextlib.contextmanager
def postgres(binaries: Path) -> Iterator[str]:
    """Run a PostgreSQL that listens on a socket file only; yield what its clients connect to."""
    # It refuses to run as root, and has to reach its directory as the user that it runs as.
    user = "postgres" if os.geteuid() == 0 else None
    directory = Path(tempfile.mkdtemp(prefix="messagebody-postgres-"))
    try:
        if user is not None:
            shutil.chown(directory, user)
        data = directory / "data"
        initialize = [str(binaries / "initdb"), "-D", str(data), "-U", "test", "-A", "trust", "-N"]
        subprocess.run(initialize, check=True, stdout=subprocess.DEVNULL, user=user, cwd="/")
        options = ["-D", str(data), "-k", str(directory), "-c", "listen_addresses=", "-F"]
        command = [str(binaries / "postgres"), *options]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, user=user, cwd="/") as process:
            try:
                _wait_until_ready(data, process)
                yield f"host={directory} user=test dbname=postgres"
            finally:
                process.send_signal(signal.SIGINT)  # its fast shutdown, which ends its children
    finally:
        shutil.rmtree(directory)


def _wait_until_ready(data: Path, process: "subprocess.Popen[bytes]") -> None:
    # Its socket is there a moment before it takes clients; the last line of this file says when.
    status = data / "postmaster.pid"
    for _ in range(_LOOKS):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode}")
        if status.exists() and status.read_text().rstrip().endswith("\nready"):
            return
        time.sleep(0.05)
    raise RuntimeError("the server does not listen")
