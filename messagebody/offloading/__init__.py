"""Offloading: large parts to a store and back, and what a store needs in the long run."""

from messagebody._threads import Stop
from messagebody.limits import parse_size
from messagebody.offloading._async import ainline, aoffload, apresent
from messagebody.offloading._inline import fetch, inline
from messagebody.offloading._migrate import migrate
from messagebody.offloading._offload import offload
from messagebody.offloading._present import present
from messagebody.offloading._put import put_content
from messagebody.offloading._sweep import Swept, sweep
from messagebody.offloading._verify import ReferenceFinding, Verification, verify

__all__ = [
    "ReferenceFinding",
    "Stop",
    "Swept",
    "Verification",
    "ainline",
    "aoffload",
    "apresent",
    "fetch",
    "inline",
    "migrate",
    "offload",
    "parse_size",
    "present",
    "put_content",
    "sweep",
    "verify",
]
