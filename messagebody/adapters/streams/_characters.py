"""Characters that are cut in two: services cut texts anywhere, also between the halves of UTF-16.

JSON writes such a half as an escape, and it is no text of its own. The halves are joined where the
texts are; what is left alone is no character and is left out.
"""

import json
import re
from typing import Any, Final

from messagebody._core import Limits
from messagebody.adapters._vocabulary.values import json_value
from messagebody.errors import DecodeError

_ALONE: Final = re.compile("[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]")
"""Half of a character without its other half beside it."""


def halved_value(event: Any, problem: DecodeError, limits: Limits) -> Any:
    """Return an event in which a text has half of a character, as parsed JSON.

    Arguments:
        event: the event as it was given.
        problem: why it can't be read.
        limits: what to take before refusing.

    Raises:
        DecodeError: the problem is another one.
    """
    # Found last: the size, the depth and the number of values are as they may be.
    if "lone surrogate" not in problem.problem:
        raise problem
    value = event if isinstance(event, dict) else _parsed(event)
    # Everything else in it is checked as it would be without the half.
    json_value(whole_characters(value), _is_any, limits)
    return value


def _is_any(_: Any) -> bool:
    return True


def _parsed(data: Any) -> Any:
    """Return JSON that strict readers refuse, None if it is no JSON at all."""
    try:
        return json.loads(bytes(data))
    except (TypeError, ValueError, RecursionError):
        return None


def has_halves(value: Any) -> bool:
    """Return whether a text in a JSON value has half of a character alone, however deep."""
    pending = [value]
    while pending:
        held = pending.pop()
        if isinstance(held, str):
            if not held.isascii() and _ALONE.search(held):
                return True
        elif isinstance(held, dict):
            pending += held
            pending += held.values()
        elif isinstance(held, list):
            pending += held
    return False


def whole_characters(value: Any) -> Any:
    """Return a copy of a JSON value in which halves are joined, and those alone are left out.

    It is no deeper than the limits allow.
    """
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    if isinstance(value, dict):
        return {whole_characters(key): whole_characters(held) for key, held in value.items()}
    return [whole_characters(each) for each in value] if isinstance(value, list) else value
