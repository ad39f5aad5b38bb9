"""Payloads: JSON values whose long strings are in a store.

`offload(value, store)` moves each long string to a store, and replaces it by a reference, which is
a short string. `inline(value, store)` brings back exactly the same strings. The value keeps its
shape, so it still fits into a queue, a session or a column of a database. Text in base64 is stored
decoded, as the object that offloading a body would write.
"""

from messagebody.payloads._values import inline, offload, references

__all__ = ["inline", "offload", "references"]
