"""Offloading: large parts to a store and back, and what a store needs in the long run."""

from messagebody.offloading.asynchronous import ainline, aoffload, apresent
from messagebody.offloading.fetching import fetch
from messagebody.offloading.migrating import migrate
from messagebody.offloading.presenting import present
from messagebody.offloading.reading_back import inline
from messagebody.offloading.sizes import parse_size
from messagebody.offloading.sweeping import Swept, sweep
from messagebody.offloading.uploading import offload
from messagebody.offloading.verifying import ReferenceFinding, Verification, verify
from messagebody.offloading.working import Stop

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
    "sweep",
    "verify",
]
