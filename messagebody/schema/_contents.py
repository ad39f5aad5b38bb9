"""What is inside JSON parts: a JSON Schema as a value, made of what programs have."""

from functools import cached_property
from typing import Any, Final
from weakref import WeakValueDictionary

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._base.text import escape

JSON_TYPES: Final = "{application/json,*/*+json}"
"""A pattern of the types whose content is JSON."""


class ContentSchema:
    """The JSON Schema of contents, a value; made by `content_schema_of`.

    Schemas are equal if they are the same JSON, whatever the order of their members and the
    spelling of their numbers.

    Examples:
        >>> schema = content_schema_of({"type": "object", "required": ["title"]})
        >>> schema == content_schema_of('{"required": ["title"], "type": "object"}')
        True
        >>> schema.value["required"]
        ['title']
    """

    __slots__ = ("__dict__", "__weakref__", "canonical", "text")

    text: str
    """The schema as compact JSON, in the order of its author."""
    canonical: str
    """The schema as JSON in alphabetical order, the same text for equal schemas."""

    def __init__(self, text: str, canonical: str) -> None:
        self.text = text
        self.canonical = canonical

    @property
    def value(self) -> dict[str, Any] | bool:
        """The schema as a JSON value, a new copy; a number that no float can say is a `Decimal`."""
        from messagebody._wire import exact_json

        value = exact_json.loads(self.text, depth=_ANY)
        return exact_json.floating(value)  # type: ignore[no-any-return]

    @cached_property
    def exact(self) -> dict[str, Any] | bool:
        """The schema as a JSON value whose numbers are integers and decimals; not to be changed."""
        from messagebody._wire import exact_json

        return exact_json.loads(self.canonical, depth=_ANY)  # type: ignore[no-any-return]

    @cached_property
    def patterns(self) -> int:
        """The number of patterns in it."""
        from messagebody.schema._dialects import count_patterns

        return count_patterns(self.exact)

    @cached_property
    def validator(self) -> "messagebody.schema._library.Validator":
        """What validates values, compiled once."""
        from messagebody.schema._library import Validator

        return Validator(self.exact)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ContentSchema):
            return NotImplemented
        return self is other or self.canonical == other.canonical

    def __hash__(self) -> int:
        return hash(self.canonical)

    def __reduce__(self) -> tuple[Any, ...]:
        return ContentSchema, (self.text, self.canonical)

    def __repr__(self) -> str:
        return f"ContentSchema({escape(self.text, limit=200)})"


_ANY: Final = 2**31
_known: WeakValueDictionary[str, ContentSchema] = WeakValueDictionary()


def content_schema_of(
    model: Any, *, sends: bool = False, limits: Limits = DEFAULT_LIMITS
) -> ContentSchema:
    """Return the JSON Schema of contents.

    Arguments:
        model: a JSON Schema as a dict or bool, its JSON text, a pydantic model or `TypeAdapter`, or
            what msgspec describes: a dataclass, an attrs class, a `TypedDict` or a `Struct`.
        sends: for pydantic, whether the schema is of what the model sends instead of what it takes.
            Members with a default are always sent, but need not be there to be taken.
        limits: the limits of the schema: `content_schema_bytes`, `content_schema_depth` and
            `content_patterns`.

    Raises:
        InvalidSchema: it is none of these, or not a legal schema.
        MissingDependency: the extra `json` is not installed.

    Examples:
        >>> content_schema_of({"type": "string"}).text
        '{"type":"string"}'
    """
    if isinstance(model, ContentSchema):
        return model
    from messagebody.schema._modelling import read  # only few schemas say what is inside

    text, canonical = read(model, sends=sends, limits=limits)
    known = _known.get(text)
    if known is None:
        known = ContentSchema(text, canonical)
        _ = known.validator  # it refuses what is not legal
        _known[text] = known
    return known
