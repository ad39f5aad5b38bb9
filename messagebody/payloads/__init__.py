"""Payloads: JSON values whose long strings are in a store.

`offload(value, store)` moves each long string to a store, and replaces it by a reference, which is
a short string. `inline(value, store)` brings back exactly the same strings. The value keeps its
shape, so it still fits into a queue, a session or a column of a database. Text in base64 is stored
decoded, as the object that offloading a body would write.
"""

from messagebody.payloads._objects import (
    DEFAULT_MAX_BYTES,
    Batch,
    Cipher,
    Objects,
    Stored,
    checked_threshold,
)
from messagebody.payloads._texts import join_text, split_text
from messagebody.payloads._values import Payloads, inline, offload, owner

__all__ = [
    "DEFAULT_MAX_BYTES",
    "Batch",
    "Cipher",
    "Objects",
    "Payloads",
    "Stored",
    "checked_threshold",
    "inline",
    "join_text",
    "offload",
    "owner",
    "split_text",
]
