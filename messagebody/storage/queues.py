"""Claim checks: a body's message stays under a queue's limit, the large parts in a store.

The message is the body's own JSON, so that a consumer in any language reads it without us.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from messagebody._base.guards import require_body
from messagebody._base.limits import parse_size
from messagebody._model.body import MessageBody
from messagebody.storage._offloading._inline import inline
from messagebody.storage._offloading._offload import offload
from messagebody.storage._references import Resolver
from messagebody.storage._stores import Store

QUEUE_LIMITS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "sqs": 256 * 1024,  # the default of older queues; newer ones take up to 1 MiB
        "sqs-1mib": 1024 * 1024,
        "sns": 256 * 1024,
        "eventbridge": 256 * 1024,
        "kafka": 1_000_000,  # max.request.size is 1 MiB, headers and framing included
        "temporal": 2 * 1024 * 1024,  # the size of one payload
    }
)
"""Bytes that a message may have, by the queue that carries it."""

_HEADROOM: Final = 8 * 1024
"""Bytes left for attributes, which most queues count too."""


def to_message(
    body: MessageBody,
    store: str | os.PathLike[str] | Store,
    *,
    queue: str = "sqs",
    limit: int | str | None = None,
    **options: Any,
) -> str:
    """Return a body's JSON, small enough for a queue; large parts go to a store.

    Arguments:
        body: the body, which is not changed.
        store: a store, its URL, or a directory's path.
        queue: a name of `QUEUE_LIMITS`; 8 KiB of its limit stay free for attributes.
        limit: bytes that the message may have, instead of a queue's.
        **options: of `offload`.

    Examples:
        >>> from messagebody import MessageBody
        >>> body = MessageBody()
        >>> part = body.add("cats " * 100_000, name="/notes.txt")
        >>> len(to_message(body, "memory://queue")) < 1000
        True
    """
    require_body(body)
    fit = QUEUE_LIMITS[queue] - _HEADROOM if limit is None else parse_size(limit)
    # Parts stay in the message as long as it fits: a consumer then needs no store.
    return offload(body, store, **({"threshold": fit, "fit": fit} | options)).to_json()


def from_message(message: str | bytes, *, resolver: Resolver | None = None) -> MessageBody:
    """Return the body of a message, its references read in and verified.

    Arguments:
        message: what `to_message` returned.
        resolver: allows the store; without one no reference is read.
    """
    return inline(MessageBody.from_json(message), resolver=resolver)
