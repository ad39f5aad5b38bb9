"""The one door to jsonschema-rs: it is loaded when the first schema of contents is used.

It never fetches: it is told to stay offline, and references that leave a document were refused
before. Its patterns are matched in linear time, so they can't look around or back.
"""

import math
from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

import attrs

from messagebody._base.limits import MIB
from messagebody._base.text import count_of, escape, quote, redact_urls
from messagebody._wire import exact_json
from messagebody.errors import InvalidSchema, MissingDependency
from messagebody.findings import pointer
from messagebody.schema._dialects import count_patterns
from messagebody.schema._effort import Endless, evaluations
from messagebody.schema._listing import FlawCosts

if TYPE_CHECKING:
    from types import ModuleType

    from jsonschema_rs import Draft202012Validator

_PATTERNS: Final = 64 * MIB
"""Bytes that the compiled patterns of a schema may take together."""
_PATTERN: Final = MIB // 2
_MANY: Final = 50_000
"""Values in a content of unknown size."""
_MOST: Final = 50_000_000
"""Evaluations of a content, which take a second."""
LISTED: Final = 64 * MIB
"""Bytes that the flaws of a content may take at most, so that they are made."""
_MOST_NAMED: Final = 5
"""Members and values that a text lists."""
_CUT: Final = 40
"""Characters of a stranger's value in a text."""


class TooCostly(Exception):
    """Report a content that a schema takes too long to check."""


@attrs.frozen
class ContentFlaw:
    """One flaw of a content.

    Arguments:
        place: the place in the content, a JSON Pointer.
        rule: the place in the schema, a JSON Pointer.
        expected: what the schema asks for.
        got: what is there, cut and without secrets of URLs.
    """

    place: str
    rule: str
    expected: str
    got: str


@cache
def library() -> "ModuleType":
    """Return jsonschema-rs.

    Raises:
        MissingDependency: it is not installed.
    """
    try:
        import jsonschema_rs
    except ImportError as error:
        raise MissingDependency("a schema of contents", "json") from error
    loaded: ModuleType = jsonschema_rs
    return loaded


class Validator:
    """A compiled schema.

    Arguments:
        schema: a schema of 2020-12 whose references stay inside.

    Raises:
        InvalidSchema: the metaschema refuses it, a reference leads nowhere, or a pattern looks
            around or back.
    """

    def __init__(self, schema: dict[str, Any] | bool) -> None:
        self._schema = schema
        self._compiled = _compiled(schema)

    @cached_property
    def _evaluations(self) -> Sequence[int]:
        return evaluations(self._schema)

    @cached_property
    def _most(self) -> int:
        return max(self._evaluations)

    @cached_property
    def _listing(self) -> FlawCosts | None:
        """What it costs to list flaws, None if that takes too long to say."""
        try:
            return FlawCosts(self._schema)
        except Endless:
            return None

    def is_valid(self, value: Any, values: int = _MANY) -> bool:
        """Return whether a value of `exact_json` satisfies the schema.

        Arguments:
            value: the value.
            values: how many values it holds at most.

        Raises:
            TooCostly: it would take too long.
        """
        if self._most * values > _MOST and self._effort(value) > _MOST:
            raise TooCostly(f"checking it takes more than {_MOST:,} steps")
        valid: bool = self._compiled.is_valid(value)
        return valid

    def flaws(
        self, value: Any, most: int, room: int = LISTED
    ) -> tuple[list[ContentFlaw], int | None]:
        """Return the first flaws of a value, and the number of all others, None if not known.

        Arguments:
            value: a value that does not satisfy the schema.
            most: how many flaws are returned.
            room: bytes that all flaws may take. If they could take more, only the first one is
                made, and none if even that could.
        """
        if self._costs(value, room) <= room:
            errors = list(self._compiled.iter_errors(value))
            return [_flaw(error) for error in errors[:most]], max(0, len(errors) - most)
        if self._costs(value, room, first=True) <= room:
            try:
                self._compiled.validate(value)
            except library().ValidationError as error:
                return [_flaw(error)], None
        text = "what the schema describes; it is too large to say where it differs"
        return [ContentFlaw("", "", text, _brief_value(value))], None

    def _costs(self, value: Any, room: int, *, first: bool = False) -> float:
        try:
            return (
                math.inf if self._listing is None else self._listing.cost(value, room, first=first)
            )
        except Endless:
            return math.inf

    def _effort(self, value: Any) -> int:
        """Return how many evaluations a value takes at most."""
        each = self._evaluations
        last = len(each) - 1
        total, level, depth = 0, [value], 0
        while level and total <= _MOST:
            total += each[min(depth, last)] * len(level)
            level = [
                child
                for nested in level
                if isinstance(nested, dict | list)
                for child in (nested.values() if isinstance(nested, dict) else nested)
            ]
            depth += 1
        return total


def _compiled(schema: dict[str, Any] | bool) -> "Draft202012Validator":
    rs = library()
    # A few characters can ask for megabytes, such as \p{L}{100}, and for a tenth of a second.
    largest = min(_PATTERN, _PATTERNS // max(1, count_patterns(schema)))
    try:
        made: Draft202012Validator = rs.Draft202012Validator(
            schema,
            validate_formats=False,
            offline=True,
            pattern_options=rs.RegexOptions(size_limit=largest, dfa_size_limit=largest),
        )
    except rs.ValidationError as error:
        raise InvalidSchema(_problem(error)) from error
    return made


def require_legal(schema: Any) -> None:
    """Require that a schema is a legal one of the dialect that its `$schema` names.

    Raises:
        InvalidSchema: it is not.
    """
    rs = library()
    try:
        rs.meta.validate(schema)
    except rs.ValidationError as error:
        raise InvalidSchema(_problem(error)) from error


def _problem(error: Any) -> str:
    place = pointer(*error.instance_path) or "as a whole"
    message = escape(error.message, limit=300)
    if error.message.endswith('is not a "regex"'):
        message += (
            "; patterns are regular: they match in linear time, without looking around, and take "
            "little memory"
        )
    return f"contentSchema {place}: {message}"


def _flaw(error: Any) -> ContentFlaw:
    name, about = error.kind.name, error.kind.as_dict()
    return ContentFlaw(
        pointer(*error.instance_path),
        pointer(*error.schema_path),
        _expected(name, about),
        _names(about["unexpected"]) if "unexpected" in about else _brief_value(error.instance),
    )


def _expected(name: str, about: dict[str, Any]) -> str:
    """Return what a keyword asks for, in words."""
    match name:
        case "type":
            return " or ".join(about["types"])
        case "required":
            return f"an object with {_brief_value(about['property'])}"
        case "enum":
            return f"one of {_listed(about['options'])}"
        case "const":
            return _json(about["expected_value"])
        case "additionalProperties" | "unevaluatedProperties":
            return "no other members"
        case "additionalItems" | "unevaluatedItems":
            return "no other items"
        case "falseSchema":
            return "nothing"
        case "pattern" | "propertyNames" if "pattern" in about:
            return f"text that matches {_brief_value(about['pattern'])}"
    limits = [value for value in about.values() if isinstance(value, int | float | str)]
    return " ".join([name, *map(_json, limits)])


def _listed(values: Sequence[Any]) -> str:
    first_ones = [_json(each) for each in values[:_MOST_NAMED]]
    more = len(values) - len(first_ones)
    return ", ".join(first_ones + ([f"{more:,} more"] if more else []))


def _names(names: Sequence[Any]) -> str:
    first_ones = [_brief_value(each) for each in names[:_MOST_NAMED]]
    more = len(names) - len(first_ones)
    return ", ".join(first_ones + ([f"{more:,} more"] if more else []))


def _json(value: Any) -> str:
    return escape(exact_json.dumps(value), limit=2 * _CUT)


def _brief_value(value: Any) -> str:
    """Return a stranger's value in a few words."""
    if isinstance(value, str):
        return quote(redact_urls(value[: 10 * _CUT]), limit=_CUT)
    if isinstance(value, dict):
        return f"an object of {count_of(len(value), 'member')}"
    if isinstance(value, list):
        return f"an array of {count_of(len(value), 'item')}"
    return escape(exact_json.dumps(value), limit=_CUT)
