"""The names and addresses at which a server of HTTP answers."""

import ipaddress
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from mcp.server.transport_security import TransportSecuritySettings

from messagebody._core import quote
from messagebody.errors import InvalidArgument

_HOST_NAME: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?\.?")
_HTTP: Final = 80
"""The port that requests do not state."""


def host_check(
    addresses: Iterable[str], port: int, names: Iterable[str] = ()
) -> TransportSecuritySettings:
    """Return settings that answer only requests to some addresses and names, from pages of these.

    Otherwise, any page that a person opens could read the messages, through a name of its own that
    points to the address of the server (DNS rebinding).

    Arguments:
        addresses: at which the server listens; other ports of them are refused.
        port: the port.
        names: other names and addresses that lead to it, such as that of a proxy, with the port
            that requests state; without one, they state this port or none.

    Raises:
        InvalidArgument: one is neither a name nor an address.
    """
    places = [f"{_host(host)}:{port}" for host in addresses]
    places += [place.removesuffix(":80") for place in places if port == _HTTP]
    for name in names:
        host, own = _split(name)
        places += [f"{host}:{own}"] if own else [host, f"{host}:{port}"]
    origins = [f"{scheme}://{place}" for scheme in ("http", "https") for place in places]
    settings = TransportSecuritySettings()
    settings.allowed_hosts, settings.allowed_origins = _Names(places), _Names(origins)
    return settings


class _Names(list[str]):
    """Names in small letters, among which a name is found in whatever letters it is written."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and super().__contains__(name.lower())


def _split(name: str) -> tuple[str, str]:
    """Return a name or an address as requests state it, and its port or ""."""
    # A colon stands before a port or inside of IPv6, but then a port needs brackets.
    found = re.fullmatch(r"(\[.+\]|[^:]+)(?::([0-9]{1,5}))?|(.+)", name)
    if found is None:
        raise InvalidArgument("a host name or an address", got=quote(name))
    return _host(found[1] or found[3]), found[2] or ""


def _host(host: str) -> str:
    """Return a name or an address as requests state it.

    Raises:
        InvalidArgument: it is neither.
    """
    bare = host[1:-1] if host[:1] + host[-1:] == "[]" else host
    with suppress(ValueError):
        # The interface of an address, such as %eth0, is not part of requests.
        address = ipaddress.ip_address(bare.partition("%")[0])
        return f"[{address.compressed}]" if address.version == 6 else address.compressed
    if _HOST_NAME.fullmatch(host):
        return host.lower()
    raise InvalidArgument("a host name or an address", got=quote(host))
