"""Schemas of contents from what programs have: JSON, models and types."""

from collections.abc import Mapping
from typing import Any, Final

from messagebody._base.leaves import leaf
from messagebody._base.limits import Limits
from messagebody._base.text import quote
from messagebody._wire import exact_json
from messagebody._wire.strict_json import InvalidJson
from messagebody.errors import InvalidSchema
from messagebody.schema._dialects import count_patterns, require_inside
from messagebody.schema._library import require_legal
from messagebody.schema._translation import translated

_KINDS: Final = (
    "a JSON Schema (an object or a bool), its JSON text, a pydantic model or TypeAdapter, or a "
    "dataclass, attrs class, TypedDict or msgspec Struct"
)


def read(model: Any, *, sends: bool, limits: Limits) -> tuple[str, str]:
    """Return a schema as JSON in the order of its author, and in alphabetical order.

    Raises:
        InvalidSchema: it is not a legal schema.
    """
    try:
        value = _value_of(model, sends, limits)
        value = exact_json.normal(value, depth=limits.content_schema_depth)
        value = translated(value, require_legal)
    except InvalidJson as error:
        raise InvalidSchema(f"contentSchema: {error.problem}") from error
    if not isinstance(value, dict | bool):
        raise InvalidSchema(f"contentSchema is an object, true or false, got {quote(value)}")
    text = exact_json.dumps(value)
    _require_short(len(text.encode()), limits)
    require_few_patterns(count_patterns(value), limits)
    require_inside(value)
    return text, exact_json.dumps(value, is_sorted=True)


def require_few_patterns(count: int, limits: Limits) -> None:
    """Refuse more patterns than a limit.

    Raises:
        InvalidSchema: there are more.
    """
    if count > limits.content_patterns:
        raise InvalidSchema(
            f"contentSchema has {count:,} patterns, more than {limits.content_patterns:,} "
            "(limit content_patterns)"
        )


def _value_of(model: Any, sends: bool, limits: Limits) -> Any:
    if isinstance(model, bool | Mapping):
        return dict(model) if isinstance(model, Mapping) else model
    if isinstance(model, str | bytes | bytearray):
        _require_short(len(model), limits)
        return exact_json.loads(model, depth=limits.content_schema_depth)
    if hasattr(model, "__pydantic_core_schema__") or hasattr(model, "core_schema"):
        return leaf("pydantic").json_schema_of(model, sends=sends)
    try:
        return exact_json.described(model)
    except TypeError as error:
        raise InvalidSchema(f"contentSchema is {_KINDS}, got {quote(model)}") from error


def _require_short(size: int, limits: Limits) -> None:
    if size > limits.content_schema_bytes:
        raise InvalidSchema(
            f"contentSchema has {size:,} bytes, more than {limits.content_schema_bytes:,} "
            "(limit content_schema_bytes)"
        )
