"""Which formats a document may be in."""

from messagebody import strict_json
from messagebody.cli.streams import is_body
from messagebody.envelopes.conversion import adapter, adapter_names
from messagebody.limits import DEFAULT_LIMITS

__all__ = ["BODY", "formats_of"]

BODY = "body"


def formats_of(data: bytes) -> list[str]:
    """Return the names of all formats a document looks like: "body" first; none for no JSON."""
    try:
        value = strict_json.loads(data, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson:
        return []
    found = [name for name in adapter_names() if adapter(name).detect(value)]
    return [BODY, *found] if is_body(data) else found
