"""The grammar of reference URLs, and private hosts that are closed by default."""

import ipaddress
import re
from typing import Final
from urllib.parse import unquote

import attrs

_CLOSED_V4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # carrier-grade NAT
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # Azure's host agent
            "169.254.0.0/16",  # link-local, metadata services
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # IETF protocols, a metadata service
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/3",  # multicast, reserved, broadcast
        ),
    )
)
_OPEN_V6 = ipaddress.IPv6Network("2000::/3")
_CLOSED_V6 = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "2001::/23",  # IETF protocols, Teredo
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "3ffe::/16",  # 6bone
            "3fff::/20",  # documentation
        ),
    )
)
# Networks whose addresses have an IPv4 address in their last 32 bits, and lead to it.
_EMBEDDING = tuple(map(ipaddress.IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96")))


def is_public(address: str) -> bool:
    """Return whether an address belongs to the public internet.

    Examples:
        >>> is_public("1.1.1.1"), is_public("169.254.169.254"), is_public("::ffff:127.0.0.1")
        (True, False, False)
    """
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv4Address):
        return _is_public_v4(found)
    # A zone is an interface of this machine.
    if getattr(found, "scope_id", None):
        return False
    if any(found in network for network in _EMBEDDING):
        return _is_public_v4(ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF))
    return found in _OPEN_V6 and not any(found in network for network in _CLOSED_V6)


def _is_public_v4(address: ipaddress.IPv4Address) -> bool:
    return not any(address in network for network in _CLOSED_V4)


# Addresses where machines in a cloud get their credentials.
_METADATA = tuple(
    map(
        ipaddress.ip_network,
        (
            "169.254.0.0/16",  # link-local: most clouds, and containers
            "100.100.100.200/32",  # Alibaba
            "168.63.129.16/32",  # Azure's host agent
            "192.0.0.192/32",  # Oracle
            "fd00:ec2::/32",  # Amazon
            "fd20:ce::/32",  # Google
            "fe80::/10",  # link-local
        ),
    )
)
_METADATA_NAMES = frozenset({"metadata", "instance-data"})


def is_metadata(host: str) -> bool:
    """Return whether a host is the metadata service of a cloud, by its address or name.

    Examples:
        >>> is_metadata("169.254.169.254"), is_metadata("metadata.google.internal")
        (True, True)
        >>> is_metadata("10.0.0.1"), is_metadata("metadata.example.com")
        (False, False)
    """
    try:
        found = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return is_closed_name(host) and host.partition(".")[0] in _METADATA_NAMES
    embedded = any(found in network for network in _EMBEDDING)
    address = ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF) if embedded else found
    return any(address in network for network in _METADATA)


# Names of RFC 6761, 6762, 7686, 8375 and 9476, and of Kubernetes and cloud networks.
_CLOSED_NAMES = frozenset(
    {"localhost", "local", "localdomain", "internal", "svc", "home.arpa", "arpa", "onion",
     "invalid"}
)  # fmt: skip


def is_closed_name(host: str) -> bool:
    """Return whether a name is in a private zone; such a name is refused without a look-up.

    Examples:
        >>> is_closed_name("db.internal"), is_closed_name("internal.example.com")
        (True, False)
    """
    labels = host.split(".")
    return any(".".join(labels[start:]) in _CLOSED_NAMES for start in range(len(labels)))


class Closed(Exception):
    """An error for a private host, to which no connection is opened; it has the reason."""

    def __init__(self, host: str, problem: str) -> None:
        super().__init__(host, problem)
        self.host = host
        self.problem = problem


LONGEST: Final = 8192
"""The maximum number of characters of a URL."""

_PORTS: Final = {"http": 80, "https": 443}
_URL = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*)://"
    r"([^/?#]*)"
    r"(/[^?#]*)?"
    r"(\?[^#]*)?"
    r"(#.*)?"
)
_LEGAL = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*")
_LOOSE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
# A label of DNS (RFC 1035): 63 characters at most, no hyphen at an end.
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
# Only one form, although `inet_aton` also reads octal, hexadecimal and short forms.
_QUAD = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}")
_PLAIN = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*)?")
# Only plain bucket names, because boto3 would also accept and sign ARNs.
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")
_TRICKS = re.compile(r"%(?:2e|2f|5c|00|0[0-9a-f]|1[0-9a-f]|7f)", re.IGNORECASE)
# Text that some web servers read as a dot, separator or control character: dot segments with
# parameters, escapes of escapes, and overlong UTF-8.
_WEB_TRICKS = re.compile(
    r"/\.{1,2};|%(?:25)*+(?:2e|2f|5c|0[0-9a-f]|1[0-9a-f]|7f|c[01]|e0%[89]|f0%8)", re.IGNORECASE
)


class Malformed(ValueError):
    """An error for text that is not a legal URL; it has the reason."""


@attrs.frozen
class Url:
    """The checked components of a URL.

    Arguments:
        scheme: the scheme, in lower case.
        host: the host of http and https, in lower case; for other schemes the bucket as written, or
            empty.
        port: the port of http and https; None for other schemes.
        path: the path with its first slash, or empty.
        query: the query with its question mark, or empty.
    """

    scheme: str
    host: str
    port: int | None
    path: str
    query: str

    @property
    def is_http(self) -> bool:
        """Whether the URL is http or https."""
        return self.scheme in _PORTS

    @property
    def has_default_port(self) -> bool:
        """Whether the port is the default port of the scheme."""
        return self.port == _PORTS.get(self.scheme)

    @property
    def address(self) -> str | None:
        """The host without brackets if it is an address; None if it is a name."""
        bare = self.host.strip("[]")
        return bare if self.host.startswith("[") or _QUAD.fullmatch(bare) else None

    @property
    def target(self) -> str:
        """The target of an HTTP request: path and query."""
        return (self.path or "/") + self.query

    @property
    def origin(self) -> tuple[str, str, int | None]:
        """Scheme, host and port, which must equal those of an allow entry."""
        return self.scheme, self.host, self.port

    @property
    def segments(self) -> list[str]:
        """The segments of the path; none for an empty path."""
        return self.path.split("/")[1:]


def check_host(url: Url) -> None:
    """Raise an error for a host that is private by its name or address, without a look-up.

    Raises:
        Closed: the host is a name of a private zone, or an address that is not public.
    """
    if url.address is not None:
        if not is_public(url.address):
            raise Closed(url.host, "an address that is not public")
    elif is_closed_name(url.host):
        raise Closed(url.host, "a name of a private network")


def parse(text: str, *, has_local_hosts: bool = False) -> Url:
    """Parse a URL.

    Arguments:
        text: the URL.
        has_local_hosts: whether a host may be a name without a dot, such as "minio". What it leads
            to depends on the network, so such a URL names a part, and nothing opens it.

    Raises:
        Malformed: the URL breaks the grammar, which is strict so that no URL is ambiguous.

    Examples:
        >>> parse("https://Example.com/a?b")
        Url(scheme='https', host='example.com', port=443, path='/a', query='?b')
    """
    _check_characters(text)
    match = _URL.fullmatch(text)
    if match is None:
        raise Malformed("is not scheme://host/path")
    scheme, authority, path, query, fragment = (piece or "" for piece in match.groups())
    # Some clients resolve them, and others leave that to the server.
    if any(segment in {".", ".."} for segment in path.split("/")):
        raise Malformed("has a '.' or '..' segment")
    scheme = scheme.lower()
    if scheme in _PORTS:
        host, port = _host_and_port(authority, _PORTS[scheme], 1 if has_local_hosts else 2)
        return Url(scheme, host, port, path, query)
    # Stores would treat them as a part of the key, or silently drop them.
    if query or fragment:
        raise Malformed(f"has a query or fragment, which {scheme} URLs can't have")
    return Url(scheme, _place(scheme, authority), None, path, "")


def check_path(url: Url) -> None:
    """Raise an error for an ambiguous path.

    Raises:
        Malformed: the path has an empty segment, or an escaped separator.
    """
    segments = url.segments
    if "" in segments[:-1] or (not url.is_http and "" in segments):
        raise Malformed("has an empty segment")
    if _TRICKS.search(url.path) or (url.is_http and _hides_from_web_servers(url.path)):
        raise Malformed("hides a separator, a dot or a control behind a percent escape or ';'")


def _hides_from_web_servers(path: str) -> bool:
    # Some servers decode twice, so check the decoded path, too.
    return any(map(_WEB_TRICKS.search, (path, unquote(path, "latin-1"))))


def _check_characters(text: str) -> None:
    if len(text) > LONGEST:
        raise Malformed(f"is {len(text):,} characters long, at most {LONGEST:,} are read")
    if not text.isascii():
        raise Malformed("holds characters outside of ASCII")
    legal = _LEGAL.match(text)
    if legal is None or legal.end() != len(text):
        raise Malformed("holds a character that RFC 3986 does not allow")
    if _LOOSE_PERCENT.search(text):
        raise Malformed("holds a percent sign without two hex digits")
    # fsspec opens chains such as `simplecache::file:///…`; brackets hold an IPv6 address.
    if "::" in re.sub(r"\[[^\]]*\]", "", text):
        raise Malformed("chains filesystems by '::'")


def _host_and_port(authority: str, default: int, least_labels: int) -> tuple[str, int]:
    if "@" in authority:
        raise Malformed("holds user-info")
    match = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*)(?::(.*))?", authority)
    if match is None:
        raise Malformed("has an ambiguous host")
    host, port = match.groups()
    return _host(host.lower(), least_labels), default if port is None else _port(port)


def _port(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,4}", text) or int(text) > 65535:
        raise Malformed("has a port that is not a number from 1 to 65535")
    return int(text)


def _host(host: str, least_labels: int) -> str:
    if host.startswith("["):
        return _ipv6(host)
    if "%" in host:
        raise Malformed("has a percent escape in its host")
    labels = host.split(".")
    # A host whose last label is a number is an address (WHATWG URL).
    if _NUMBER.fullmatch(labels[-1]):
        if not _QUAD.fullmatch(host):
            raise Malformed("has a host that is a number, but not a dotted quad in its usual form")
        return host
    # A name without a dot would be looked up in the search domains of the network.
    if len(labels) < least_labels or len(host) > 253 or not all(map(_LABEL.fullmatch, labels)):
        if host == "localhost":
            raise Malformed("has the host localhost; write 127.0.0.1 or [::1] for this machine")
        raise Malformed("has a host that is not a name of letters, digits, hyphens and a dot")
    return host


def _ipv6(host: str) -> str:
    if "%" in host:
        raise Malformed("has an address with a zone")
    try:
        # In canonical form, so that prefixes can be compared as text.
        return f"[{ipaddress.IPv6Address(host[1:-1])}]"
    except ValueError as error:
        raise Malformed("has brackets without an IPv6 address in them") from error


def _place(scheme: str, authority: str) -> str:
    # A bucket must not be an ARN or an access point, which boto3 would sign.
    pattern = _BUCKET if scheme == "s3" else _PLAIN
    if "@" in authority:
        raise Malformed("holds user-info")
    if not pattern.fullmatch(authority):
        wanted = "bucket" if scheme == "s3" else "place"
        raise Malformed(f"has no plain {wanted} name after {scheme}://")
    return authority
