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
        Budget,
        FetchLimits,
        Reader,
        Resolver,
        Spool,
        measure_reference,
        open_reference,
        read_reference,
    )
    from messagebody.storage._stores import (
        CHUNK,
        Blob,
        Bytes,
        Stat,
        Store,
        Upload,
        digest_of,
        open_store,
    )

__all__ = [
    "CHUNK",
    "Blob",
    "Budget",
    "Bytes",
    "FetchLimits",
    "Reader",
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
    "digest_of",
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
            "._references": "Budget FetchLimits Reader Resolver Spool measure_reference "
            "open_reference read_reference",
            "._stores": "CHUNK Blob Bytes Stat Store Upload digest_of open_store",
        },
    )
