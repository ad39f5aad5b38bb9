"""Claim checks: large parts go to a store, so that a message fits the limit of a queue.

The message is plain JSON of the body, so that consumers in any language can read it without this
package.
"""

import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from messagebody._base.guards import require_body
from messagebody._base.limits import parse_size
from messagebody._base.text import quote
from messagebody._model.body import MessageBody
from messagebody.errors import InvalidArgument
from messagebody.storage._offloading._inline import inline
from messagebody.storage._offloading._offload import offload
from messagebody.storage._references.resolver import Resolver
from messagebody.storage._stores import Store

QUEUE_LIMITS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "sqs": 256 * 1024,  # the default of older queues; newer ones take up to 1 MiB
        "sqs-1mib": 1024 * 1024,
        "sns": 256 * 1024,
        "eventbridge": 256 * 1024,
        "kafka": 1_000_000,  # max.request.size is 1 MiB, including headers and framing
        "temporal": 2 * 1024 * 1024,  # the size of one payload
    }
)
"""The maximum size of a message in bytes, by queue."""

_HEADROOM: Final = 8 * 1024
"""Bytes reserved for attributes, which most queues count, too."""

_REFUSED: Final = re.compile("[^\\t\\n\\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What SQS and SNS take in no message: the characters that XML does not have."""


def to_message(
    body: MessageBody,
    store: str | os.PathLike[str] | Store,
    *,
    queue: str = "sqs",
    limit: int | str | None = None,
    **options: Any,
) -> str:
    r"""Return the JSON of a body, small enough for a queue; large parts go to a store.

    SQS refuses a message with a character that XML does not have. JSON escapes controls anyway, as
    `\u0000`; U+FFFE and U+FFFF are escaped here, as `\uffff`, and count with the six bytes that
    this takes. Whoever reads the JSON gets the characters back.

    Arguments:
        body: the body, which is not changed.
        store: a store, its URL, or the path of a directory.
        queue: a key of `QUEUE_LIMITS`; 8 KiB of its limit are reserved for attributes.
        limit: the maximum size of the message, instead of the limit of a queue.
        **options: more options of `offload`.

    Raises:
        InvalidArgument: the queue is not known.

    Examples:
        >>> from messagebody import MessageBody
        >>> body = MessageBody()
        >>> part = body.add("cats " * 100_000, name="/notes.txt")
        >>> len(to_message(body, "memory://queue")) < 1000
        True
    """
    require_body(body)
    if limit is None and queue not in [*QUEUE_LIMITS]:
        expected = f"queue= as one of {', '.join(QUEUE_LIMITS)}, or limit="
        raise InvalidArgument(expected, got=quote(queue))
    fit = QUEUE_LIMITS[queue] - _HEADROOM if limit is None else parse_size(limit)
    # Parts stay in the message as long as it fits, because the consumer then needs no store.
    sent = offload(body, store, **({"threshold": fit, "fit": fit} | options))
    return _REFUSED.sub(lambda found: f"\\u{ord(found[0]):04x}", sent.to_json())


def from_message(message: str | bytes, *, resolver: Resolver | None = None) -> MessageBody:
    """Return the body of a message, with its references inlined and verified.

    Arguments:
        message: the result of `to_message`.
        resolver: a resolver that allows the store; by default no reference is read.
    """
    return inline(MessageBody.from_json(message), resolver=resolver)
