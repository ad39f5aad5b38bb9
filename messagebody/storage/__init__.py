"""Storage: stores of bytes, reading of references, and moving parts to a store and back.

`open_store` opens a directory, memory, S3 or any fsspec filesystem. `offload` moves large parts to
a store, and `inline` brings them back. References are read only through a `Resolver` that allows
their store.
"""

from typing import TYPE_CHECKING

from messagebody._base.faces import face

if TYPE_CHECKING:
    from messagebody._base.limits import parse_size
    from messagebody._base.threads import Stop
    from messagebody.storage._offloading._async import ainline, aoffload, apresent
    from messagebody.storage._offloading._inline import fetch, inline
    from messagebody.storage._offloading._migrate import migrate
    from messagebody.storage._offloading._offload import offload
    from messagebody.storage._offloading._owners import Bodies, Needs, Owner, Recent
    from messagebody.storage._offloading._present import present
    from messagebody.storage._offloading._put import put_content
    from messagebody.storage._offloading._sweep import Swept, sweep
    from messagebody.storage._offloading._verify import ReferenceFinding, Verification, verify
    from messagebody.storage._references.limits import FetchBudget, FetchLimits
    from messagebody.storage._references.reader import (
        ReferenceFile,
        measure_reference,
        open_reference,
        read_reference,
    )
    from messagebody.storage._references.resolver import Resolver
    from messagebody.storage._references.spool import Spool
    from messagebody.storage._stores import Blob, Bytes, Stat, Store, Upload, open_store, owned

__all__ = [
    "Blob",
    "Bodies",
    "Bytes",
    "FetchBudget",
    "FetchLimits",
    "Needs",
    "Owner",
    "Recent",
    "ReferenceFile",
    "ReferenceFinding",
    "Resolver",
    "Spool",
    "Stat",
    "Stop",
    "Store",
    "Swept",
    "Upload",
    "Verification",
    "ainline",
    "aoffload",
    "apresent",
    "fetch",
    "inline",
    "measure_reference",
    "migrate",
    "offload",
    "open_reference",
    "open_store",
    "owned",
    "parse_size",
    "present",
    "put_content",
    "read_reference",
    "sweep",
    "verify",
]

if not TYPE_CHECKING:  # a type checker must only see the names above
    __getattr__, __dir__ = face(
        __name__,
        {
            ".._base.limits": "parse_size",
            ".._base.threads": "Stop",
            "._offloading._async": "ainline aoffload apresent",
            "._offloading._inline": "fetch inline",
            "._offloading._migrate": "migrate",
            "._offloading._offload": "offload",
            "._offloading._owners": "Bodies Needs Owner Recent",
            "._offloading._present": "present",
            "._offloading._put": "put_content",
            "._offloading._sweep": "Swept sweep",
            "._offloading._verify": "ReferenceFinding Verification verify",
            "._references.limits": "FetchBudget FetchLimits",
            "._references.reader": "ReferenceFile measure_reference open_reference read_reference",
            "._references.resolver": "Resolver",
            "._references.spool": "Spool",
            "._stores": "Blob Bytes Stat Store Upload open_store owned",
        },
    )
