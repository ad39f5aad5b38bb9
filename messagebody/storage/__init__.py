"""Storage: stores of bytes, reading of references, and moving parts to a store and back.

`open_store` opens a directory, memory, S3 or any fsspec filesystem. `offload` moves large parts to
a store, and `inline` brings them back. References are read only through a `Resolver` that allows
their store.
"""

from typing import TYPE_CHECKING

from messagebody._base.faces import face

if TYPE_CHECKING:
    from messagebody.storage._offloading import (
        Bodies,
        KeptObjects,
        Needs,
        Owner,
        Recent,
        ReferenceFinding,
        Stop,
        Swept,
        Verification,
        ainline,
        aoffload,
        apresent,
        fetch,
        inline,
        migrate,
        offload,
        parse_size,
        present,
        put_content,
        sweep,
        verify,
    )
    from messagebody.storage._references import (
        FetchBudget,
        FetchLimits,
        ReferenceFile,
        Resolver,
        Spool,
        measure_reference,
        open_reference,
        read_reference,
    )
    from messagebody.storage._stores import (
        Blob,
        Bytes,
        Stat,
        Store,
        Upload,
        open_store,
        owned,
    )

__all__ = [
    "Blob",
    "Bodies",
    "Bytes",
    "FetchBudget",
    "FetchLimits",
    "KeptObjects",
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
            "._offloading": "Bodies KeptObjects Needs Owner Recent ReferenceFinding Stop Swept "
            "Verification ainline aoffload apresent fetch inline migrate offload "
            "parse_size present put_content sweep verify",
            "._references": "FetchBudget FetchLimits ReferenceFile Resolver Spool "
            "measure_reference open_reference read_reference",
            "._stores": "Blob Bytes Stat Store Upload open_store owned",
        },
    )
