"""A network for tests: names resolve by a table, public addresses lead to a server on loopback."""

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PUBLIC = "93.184.216.34"

Handler = Callable[["Request", Any], None]


@attrs.define
class Request:
    """What a client asked: the request line and its headers."""

    line: str
    headers: dict[str, str]

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]


@attrs.define
class Authority:
    """A certificate authority of the test's own."""

    key: Any
    certificate: x509.Certificate
    directory: Path

    @classmethod
    def make(cls, directory: Path) -> "Authority":
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        certificate = (
            _builder(name, name, key.public_key(), days=1)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        )
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False,
            key_encipherment=False, data_encipherment=False, key_agreement=False,
            encipher_only=False, decipher_only=False,
        )  # fmt: skip
        signed = certificate.add_extension(usage, critical=True).sign(key, hashes.SHA256())
        return cls(key, signed, directory)

    def server_context(self, *names: str, days: int = 1, is_own: bool = True) -> ssl.SSLContext:
        """Return what a server of these names needs; expired for negative days."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        issuer, signer = (self.certificate.subject, self.key) if is_own else (subject, key)
        alternatives = x509.SubjectAlternativeName([_general_name(name) for name in names])
        certificate = (
            _builder(subject, issuer, key.public_key(), days)
            .add_extension(alternatives, critical=False)
            # Python 3.13 and later take no certificate without it.
            .add_extension(_authority_of(signer), critical=False)
            .sign(signer, hashes.SHA256())
        )
        path = self.directory / f"{abs(hash((names, days, is_own)))}.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def client_context(self) -> ssl.SSLContext:
        """Return what trusts this authority, and no other."""
        pem = self.certificate.public_bytes(serialization.Encoding.PEM).decode()
        return ssl.create_default_context(cadata=pem)


def _authority_of(signer: Any) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(subject: Any, issuer: Any, key: Any, days: int) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=30))
        .not_valid_after(now + dt.timedelta(days=days))
    )


class WebServer:
    """A server on loopback that hands every connection to the test's handler."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self.handler: Handler = lambda _, connection: reply(connection, b"hello")
        self.context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: Any) -> None:
        with connection:
            try:
                if self.context is not None:
                    connection = self.context.wrap_socket(connection, server_side=True)
                request = _read_request(connection)
                self.requests.append(request)
                self.handler(request, connection)
                if self.context is not None:
                    connection.unwrap()
            except (OSError, ValueError):
                return  # the client hung up, which several tests are about
            finally:
                connection.close()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def _read_request(connection: Any) -> Request:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            raise OSError("no request")
        data += more
    line, *rest = data.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    headers = dict(header.split(": ", 1) for header in rest)
    return Request(line, {name.lower(): value for name, value in headers.items()})


def reply(connection: Any, body: bytes = b"", status: str = "200 OK", **headers: str) -> None:
    """Answer a request; underscores in header names are hyphens."""
    fields = {"Content-Length": str(len(body))} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    connection.sendall(f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body)


class Network:
    """Name service and routes as a test wants them; records every look-up and connection."""

    def __init__(self, port: int) -> None:
        self.names: dict[str, list[str] | Callable[[], list[str]]] = {}
        self.lookups: list[str] = []
        self.connections: list[tuple[str, int]] = []
        self.port = port

    def getaddrinfo(self, host: str, port: Any, *_: Any, **__: Any) -> list[Any]:
        self.lookups.append(host)
        if host not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        found = self.names[host]
        addresses = found() if callable(found) else found
        return [
            (socket.AF_INET6 if ":" in a else socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port))
            for a in addresses
        ]

    def create_connection(self, address: tuple[str, int], timeout: Any = None) -> socket.socket:
        self.connections.append(address)
        connection = socket.socket()
        connection.settimeout(timeout)
        connection.connect(("127.0.0.1", self.port))
        return connection
