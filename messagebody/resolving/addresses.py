"""Which IP addresses are public, by a table of our own.

After the IANA special-purpose registries, as of 2025-10. `ipaddress.is_global` is no guard: it
calls NAT64, 6to4, IPv4-compatible and multicast addresses, 192.0.0.192 (a metadata service)
and unallocated space global, and rightly so Azure's 168.63.129.16, which answers every guest.
"""

import ipaddress

__all__ = ["is_public"]

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
# Addresses that carry an IPv4 address in their last 32 bits, and reach it.
_EMBEDDING = tuple(map(ipaddress.IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96")))


def is_public(address: str) -> bool:
    """Tell whether an address is one of the public internet's.

    Examples:
        >>> is_public("1.1.1.1"), is_public("169.254.169.254"), is_public("::ffff:127.0.0.1")
        (True, False, False)
    """
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv4Address):
        return _is_public_v4(found)
    if getattr(found, "scope_id", None):
        return False
    if any(found in network for network in _EMBEDDING):
        return _is_public_v4(ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF))
    return found in _OPEN_V6 and not any(found in network for network in _CLOSED_V6)


def _is_public_v4(address: ipaddress.IPv4Address) -> bool:
    return not any(address in network for network in _CLOSED_V4)
