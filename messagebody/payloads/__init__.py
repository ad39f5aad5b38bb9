"""Payloads: values of any JSON whose long strings live in a store.

`offload(value, store)` puts each long string into a store and a reference, a short string, in its
place; `inline(value, store)` puts them back, exactly. The value stays of the same shape, so it fits
whatever holds JSON: a queue, a session, a column of a database. Text in base64 is stored decoded,
as the object that offloading a body would write.
"""

from messagebody.payloads.values import inline, offload

__all__ = ["inline", "offload"]
