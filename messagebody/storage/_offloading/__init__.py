"""Offloading: moving large parts to a store and back, and the maintenance of stores."""

from messagebody._base.limits import parse_size
from messagebody._base.threads import Stop
from messagebody.storage._offloading._async import ainline, aoffload, apresent
from messagebody.storage._offloading._inline import fetch, inline
from messagebody.storage._offloading._migrate import migrate
from messagebody.storage._offloading._offload import offload
from messagebody.storage._offloading._owners import Bodies, Needs, Owner, Recent
from messagebody.storage._offloading._present import present
from messagebody.storage._offloading._put import put_content
from messagebody.storage._offloading._sweep import KeptObjects, Swept, sweep
from messagebody.storage._offloading._verify import ReferenceFinding, Verification, verify

__all__ = [
    "Bodies",
    "KeptObjects",
    "Needs",
    "Owner",
    "Recent",
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
