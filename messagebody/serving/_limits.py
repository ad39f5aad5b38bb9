"""Limits on what one client may cost a server."""

from typing import Final

import attrs

from messagebody._core import MIB, Limits


@attrs.frozen
class ServingLimits:
    """Limit the sizes and times of requests and answers.

    Arguments:
        message: the limits of a message, one that is served and one that is put.
        schema_bytes: bytes of a schema that somebody validates against.
        schema_steps: parts of such a schema times characters of the message's names, a second per
            million at worst.
        upload_bytes: bytes of the content of one part that is put.
        inline_bytes: bytes up to which the content of a part that is put stays in the message;
            larger content goes to the store.
        cached_bytes: bytes of the JSON of messages that are kept in memory between requests; a
            larger message is kept alone.
        ranges: ranges in one request; the whole content answers one with more.
        page: messages on one page of the list.
        seconds: the time in which a client has to send the next piece of a request.
        bytes_per_second: the pace that a client has to keep on the whole.
        upload_seconds: how long an upload may be referred to.

    Examples:
        >>> ServingLimits(page=20).page
        20
    """

    message: Limits = attrs.field(factory=lambda: Limits(json_bytes=64 * MIB))
    schema_bytes: int = MIB
    schema_steps: int = 10_000_000
    upload_bytes: int = 64 * 1024 * MIB
    inline_bytes: int = MIB // 4
    cached_bytes: int = 32 * MIB
    ranges: int = 100
    page: int = 200
    seconds: float = 30.0
    bytes_per_second: int = 1024
    upload_seconds: int = 24 * 3600


DEFAULT: Final = ServingLimits()
