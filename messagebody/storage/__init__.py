"""Storage: where bytes live, how references to them are read, and how parts move there and back.

`open_store` opens a directory, memory, S3 or any filesystem of fsspec. `offload` moves large parts
there, `inline` brings them back. Only a `Resolver` that allows a place reads from it.
"""

from typing import TYPE_CHECKING

from messagebody._base.faces import face

if TYPE_CHECKING:
    from messagebody.storage._offloading import (
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
        read_back,
    )

__all__ = [
    "Blob",
    "Bytes",
    "FetchBudget",
    "FetchLimits",
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
    "parse_size",
    "present",
    "put_content",
    "read_back",
    "read_reference",
    "sweep",
    "verify",
]

if not TYPE_CHECKING:  # for a type checker, a name is there only if it is listed above
    __getattr__, __dir__ = face(
        __name__,
        {
            "._offloading": "ReferenceFinding Stop Swept Verification ainline aoffload apresent "
            "fetch inline migrate offload parse_size present put_content sweep verify",
            "._references": "FetchBudget FetchLimits ReferenceFile Resolver Spool "
            "measure_reference open_reference read_reference",
            "._stores": "Blob Bytes Stat Store Upload open_store read_back",
        },
    )
