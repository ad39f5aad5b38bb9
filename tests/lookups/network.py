"""Links of strangers, and a network on which every look-up and connection is noted."""

import socket
from typing import Any

import pytest

DIGEST = "sha256:" + "0" * 64
LINKS = [
    "https://example.com/", "https://h1.attacker.example/?user=bob", "https://93.184.216.34/x",
    "https://example.com:8443/x", "https://169.254.169.254/latest/", "https://[fd00:ec2::254]/x",
    "https://db.internal/x", "http://example.com/x", "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/v2/", "http://metadata.google.internal/", "http://localhost:6379/",
    "http://127.0.0.1:9/x", "http://[::1]:9/x", "https://intranet/x", "http://metadata/",
    "s3://acme-payroll/2026.csv", "s3://acme-messages/sha256/" + "0" * 64, "gs://bucket/x",
    "abfs://container/x", "file:///etc/passwd", "file://fileserver/share", "ftp://example.com/x",
    "ssh://host/x", "memory://foreign/x", "simplecache::https://example.com/x",
    "messagebody://x::https://example.com/x",
]  # fmt: skip
TYPES = ["text/plain", "image/png", "application/json"]


class Network:
    """What was asked of the network."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Note and refuse everything that asks for a name or for a connection."""
        for name in (
            "getaddrinfo",
            "gethostbyname",
            "gethostbyname_ex",
            "gethostbyaddr",
            "getfqdn",
        ):
            monkeypatch.setattr(socket, name, self.note(name))
        monkeypatch.setattr(socket, "create_connection", self.note("create_connection"))
        for name in ("connect", "connect_ex", "sendto", "sendmsg"):
            monkeypatch.setattr(socket.socket, name, self.note(name), raising=False)

    def note(self, what: str) -> Any:
        def refuse(*given: Any, **options: Any) -> Any:
            self.asked.append(f"{what}{given[-2:]}{options or ''}")
            raise OSError(f"{what} is not for tests")

        return refuse
