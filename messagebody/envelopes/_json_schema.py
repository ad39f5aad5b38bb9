r"""A JSON Schema interpreter with the keywords that the rules of the envelopes need.

A format states its members as a JSON Schema. The same table judges messages here and works in other
tools. Each failed keyword is one violation, as in JSON Schema's own output.

Two readings of patterns exist. ECMA-262, which JSON Schema names, ends a text at `$` and takes 0-9
for `\d`. Python's `re`, and so each validator built on it, also lets `$` pass before a final
newline and `\d` take the digits of all scripts. Both verdicts are given.
"""

import calendar
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from messagebody._core import quote
from messagebody.envelopes._values import show
from messagebody.findings import pointer

Schema = Mapping[str, Any]


class FailedKeyword(NamedTuple):
    """A keyword of a schema that a value fails: where, why, and by which rule of the schema.

    `missing` is the member that is missing, for "required".
    """

    keyword: str
    where: str
    problem: str
    rule: str
    value: Any
    missing: str | None = None

    @property
    def place(self) -> str:
        """The JSON Pointer of the value, or of the member that is missing."""
        return self.where if self.missing is None else self.where + pointer(self.missing)


def closed(required: tuple[str, ...], **properties: Schema) -> dict[str, Any]:
    """Return the schema of an object with these members and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


def whole(**properties: Schema) -> dict[str, Any]:
    """Return the schema of an object with all of these members and no others."""
    return closed(tuple(properties), **properties)


def iter_violations(value: Any, schema: Schema, *, strict: bool = True) -> Iterator[FailedKeyword]:
    """Yield each keyword of a schema that a value fails, in the order of the schema.

    Arguments:
        value: any JSON value.
        schema: the schema; an unknown keyword is an error of the program.
        strict: read patterns and date-times as ECMA-262 and RFC 3339 do; otherwise as validators
            in Python do.

    Examples:
        >>> schema = closed(("name",), name={"type": "string"})
        >>> [(each.keyword, each.problem) for each in iter_violations({"nam": "x"}, schema)]
        [('required', "no member 'name'"), ('additionalProperties', "unknown member 'nam'")]
    """
    yield from _violations(value, schema, "", "", strict)


def _violations(
    value: Any, schema: Schema, where: str, rule: str, strict: bool
) -> Iterator[FailedKeyword]:
    # Recursion goes as deep as the schema, never as deep as the value.
    for keyword, expected in schema.items():
        place = f"{rule}/{keyword}"
        if keyword == "properties":
            for name, inner in expected.items():
                if isinstance(value, dict) and name in value:
                    below = where + pointer(name)
                    yield from _violations(value[name], inner, below, place + pointer(name), strict)
        elif keyword == "items":
            for index, item in enumerate(value if isinstance(value, list) else ()):
                yield from _violations(item, expected, where + pointer(index), place, strict)
        elif keyword == "required":
            for name in expected:
                if isinstance(value, dict) and name not in value:
                    problem = f"no member {quote(name)}"
                    yield FailedKeyword(keyword, where, problem, place, value, name)
        elif keyword not in _ANNOTATIONS:
            failed = _problem(keyword, expected, value, schema, strict)
            if failed:
                yield FailedKeyword(keyword, where, failed, place, value)


_ANNOTATIONS: Final = {"$schema", "$id", "title", "description", "default"}

# Each with its words: the documents of the formats use "list" and "text", other validators don't.
_TYPES: Final[dict[str, tuple[type, str]]] = {
    "object": (dict, "an object"),
    "array": (list, "an array"),
    "string": (str, "a string"),
    "integer": (int, "an integer"),
    "boolean": (bool, "true or false"),
    "null": (type(None), "null"),
}


_KEYWORDS: Final = frozenset(
    {"type", "additionalProperties", "const", "enum", "pattern", "minimum", "maxItems", "format"}
)


def _problem(keyword: str, expected: Any, value: Any, schema: Schema, strict: bool) -> str | None:
    """Return why a value fails a keyword; None if it doesn't, or if its type has no such rule."""
    types = [expected] if isinstance(expected, str) else expected
    match keyword:
        case "type" if not any(_is_of(value, name) for name in types):
            words = " or ".join(_TYPES[name][1] for name in types)
            return f"{words} is expected, got {show(value)}"
        case "additionalProperties" if isinstance(value, dict):
            return _unknown([name for name in value if name not in schema["properties"]])
        case "const" if value != expected:
            return f"{quote(expected)} is expected, got {show(value)}"
        case "enum" if value not in expected:
            values = ", ".join("null" if each is None else each for each in expected)
            return f"one of {values} is expected, got {show(value)}"
        case "pattern" if isinstance(value, str) and not _compile(expected, strict).search(value):
            return f"{show(value)} does not match {expected}"
        case "minimum" if _is_of(value, "integer") and value < expected:
            return f"at least {expected} is expected, got {show(value)}"
        case "maxItems" if isinstance(value, list) and len(value) > expected:
            return f"at most {expected} items are expected, got {len(value)}"
        case "format" if isinstance(value, str) and not _is_date_time(value, strict):
            return f"{show(value)} is not an RFC 3339 date-time, such as '2026-05-25T00:00:00Z'"
        case _ if keyword not in _KEYWORDS:
            raise KeyError(keyword)
    return None


def _is_of(value: Any, name: str) -> bool:
    # Python's booleans are integers, JSON's are not.
    return isinstance(value, _TYPES[name][0]) and (name == "boolean" or not isinstance(value, bool))


def _unknown(names: list[str]) -> str | None:
    if not names:
        return None
    told = ", ".join(quote(name, limit=80) for name in names[:5])
    return f"unknown member{'s' if names[1:] else ''} {told}{', …' if names[5:] else ''}"


@cache  # patterns come from the schemas of this package, never from a message
def _compile(pattern: str, strict: bool) -> re.Pattern[str]:
    return re.compile(pattern.replace("$", r"\Z").replace(r"\d", "[0-9]") if strict else pattern)


_DATE_TIME: Final = (
    r"^([0-9]{4})-(0[1-9]|1[0-2])-([0-9]{2})T"
    r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)


def _is_date_time(text: str, strict: bool) -> bool:
    # RFC 3339 takes "t" and "z" as well.
    found = _compile(_DATE_TIME, strict).search(text.upper())
    if found is None or int(found[1]) == 0:
        return False
    # A month's days differ, which a pattern can't say.
    return 1 <= int(found[3]) <= calendar.monthrange(int(found[1]), int(found[2]))[1]
