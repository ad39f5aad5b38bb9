"""Reading of schemas, strict because a misspelt `required` would change every result."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from messagebody._base.limits import Limits
from messagebody._base.media_types import JSON
from messagebody._base.text import count_of, did_you_mean, quote
from messagebody.errors import InvalidPattern, InvalidSchema
from messagebody.schema._contents import ContentSchema, content_schema_of
from messagebody.schema._part import ANY_TYPE, SchemaPart

if TYPE_CHECKING:
    from messagebody._wire.strict_json import InvalidJson

_MEMBERS: Final[dict[str, tuple[type, str]]] = {
    "name": (str, "a string"),
    "contentType": (str, "a string"),
    "required": (bool, "true or false"),
    "description": (str, "a string"),
    "contentSchema": (object, "a JSON Schema"),
}
_PATTERNS: Final = ("name", "contentType")
# A content schema is a word of its own: among other arguments it would be a riddle.
_IN_TUPLES: Final = ("name", "contentType", "required", "description")
_TUPLE: Final = "a tuple is (name, content type, required)"
# Members that only the parts of a body have.
_OF_BODIES: Final = frozenset({"content", "contentUrl", "contentEncoding"})
# Texts that end like a file are shorter.
_LONGEST_PATH: Final = 4096
# Limits the length of an error about a schema with a flaw in every part.
_SHOWN: Final = 20


def decode(data: str | bytes | bytearray | memoryview, limits: Limits) -> tuple[SchemaPart, ...]:
    """Read the parts of a schema from JSON.

    Raises:
        InvalidSchema: the document is not a schema.
    """
    # A schema that the program states needs no parser.
    from messagebody._wire import exact_json, strict_json

    if not isinstance(data, str | bytes | bytearray | memoryview):
        hint = "MessageBodySchema.from_dicts(…) reads parsed JSON"
        raise InvalidSchema(f"JSON is text or bytes, got {quote(data)}; {hint}")
    # Lone surrogates raise an error later, where their position is known.
    size = len(data.encode("utf-8", "surrogatepass")) if isinstance(data, str) else len(data)
    if size > limits.json_bytes:
        problem = f"{size:,} bytes are more than {limits.json_bytes:,} (limit json_bytes)"
        raise InvalidSchema(problem)
    try:
        parsed = exact_json.loads(data, depth=limits.depth, values=limits.values)
    except strict_json.InvalidJson as error:
        if isinstance(data, str) and len(data) < _LONGEST_PATH and data.endswith(".json"):
            raise InvalidSchema(f"{error.problem}; load(…) reads a file") from error
        raise _placed(error) from error
    return decode_parsed(parsed, limits)


def _placed(error: "InvalidJson") -> InvalidSchema:
    # For an object, the path begins with `parts`.
    steps = [step for step in error.path if step != "parts"]
    index = steps[0] if steps and isinstance(steps[0], int) else None
    return InvalidSchema(error.problem, index)


def decode_parsed(data: Any, limits: Limits) -> tuple[SchemaPart, ...]:
    """Read the parts of a schema from parsed JSON: an array, or an object with `parts`.

    Raises:
        InvalidSchema: the value is not a schema; the error lists the flaws of every part.
    """
    if isinstance(data, Mapping):
        data = _parts_of(data)
    if not isinstance(data, Sequence) or isinstance(data, str | bytes | bytearray):
        raise InvalidSchema(f"a schema is an array of schema parts, got {quote(data)}")
    if len(data) > limits.schema_parts:
        problem = f"{len(data):,} parts are more than {limits.schema_parts:,} (limit schema_parts)"
        raise InvalidSchema(problem)
    parts = read_parts(data, limits)
    _check_states(parts, limits)
    return parts


def _parts_of(data: Mapping[Any, Any]) -> Any:
    if "parts" not in data:
        raise InvalidSchema("a schema is an array of schema parts, or an object with parts")
    others = [quote(key) for key in data if key != "parts"]
    if others:
        raise InvalidSchema(f"unknown {_member(others)} {', '.join(others)} beside parts")
    return data["parts"]


def _member(names: Sequence[str]) -> str:
    return "member" if len(names) == 1 else "members"


def read_parts(items: Sequence[Any], limits: Limits) -> tuple[SchemaPart, ...]:
    """Read schema parts from values that `read_part` accepts.

    Raises:
        InvalidSchema: a part is flawed; the error lists the flaws of every part, and has the index
            of the first.
    """
    parts: list[SchemaPart] = []
    errors: list[InvalidSchema] = []
    total = 0
    contents: _ContentTotals | None = None
    for index, item in enumerate(items):
        try:
            part = read_part(item, limits)
            parts.append(part)
        except (InvalidSchema, InvalidPattern) as error:
            problem = error.problem if isinstance(error, InvalidSchema) else str(error)
            errors.append(InvalidSchema(problem, index))
            errors[-1].__cause__ = error
            continue
        # The automata of thousands of long patterns would take gigabytes. Parts that are already a
        # `SchemaPart` don't count, because the program made them, not a stranger.
        total += 0 if part is item else len(part.name or "") + len(part.content_type)
        if total > limits.pattern_total:
            raise InvalidSchema(
                f"the patterns up to part {index} have {total:,} characters together, more than "
                f"{limits.pattern_total:,} (limit pattern_total)"
            )
        if part is not item and part.content_schema is not None:
            contents = contents or _ContentTotals(limits)
            contents.add(part.content_schema, index)
    if errors:
        raise _joined(errors) from errors[0].__cause__
    return tuple(parts)


class _ContentTotals:
    """The content schemas of one schema, which are limited together.

    Parts that are already a `SchemaPart` don't count here either.

    Arguments:
        limits: the limits.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._size = self._patterns = 0

    def add(self, content: ContentSchema, index: int) -> None:
        """Count the content schema of a part.

        Raises:
            InvalidSchema: together, they are too large.
        """
        self._size += len(content.text)
        self._patterns += content.patterns
        for found, unit, name in (
            (self._size, "characters", "content_schema_total"),
            (self._patterns, "patterns", "content_patterns"),
        ):
            most = getattr(self._limits, name)
            if found > most:
                raise InvalidSchema(
                    f"the content schemas up to part {index} have {found:,} {unit} together, more "
                    f"than {most:,} (limit {name})"
                )


def _check_states(parts: Sequence[SchemaPart], limits: Limits) -> None:
    # A character counts at most 3, so short patterns need no exact count.
    if 3 * sum(len(part.name or "") + len(part.content_type) for part in parts) <= (
        limits.schema_states
    ):
        return
    patterns = {
        pattern for part in parts for pattern in (part.name_pattern, part.content_type_pattern)
    }
    rich = [pattern for pattern in patterns if pattern is not None and pattern.literal is None]
    states = sum(pattern.syntax.states for pattern in rich)
    if states > limits.schema_states:
        raise InvalidSchema(
            f"the patterns have {states:,} states together, more than {limits.schema_states:,} "
            "(limit schema_states); a star counts 3, a globstar 7, any other character 1"
        )


def _joined(errors: Sequence[InvalidSchema]) -> InvalidSchema:
    texts = [errors[0].problem, *map(str, errors[1:_SHOWN])]
    if len(errors) > _SHOWN:
        texts.append(f"And {count_of(len(errors) - _SHOWN, 'more flawed part')}")
    return InvalidSchema(". ".join(texts), errors[0].index)


def read_part(item: Any, limits: Limits) -> SchemaPart:
    """Read a schema part from a dict, or from a tuple of the arguments of `SchemaPart`.

    Raises:
        InvalidSchema: a member is unknown or of the wrong type.
        InvalidPattern: a pattern breaks the rules.
    """
    if isinstance(item, SchemaPart):
        return item
    is_tuple = isinstance(item, tuple)
    if is_tuple:
        if len(item) > len(_IN_TUPLES):
            raise InvalidSchema(f"{_TUPLE}, got {quote(item)}")
        item = dict(zip(_IN_TUPLES, item, strict=False))
    if not isinstance(item, Mapping):
        hint = f"; {_TUPLE}" if isinstance(item, str) else ""
        raise InvalidSchema(f"a schema part is an object, got {quote(item)}{hint}")
    problems = list(_problems(item, limits))
    if problems:
        problems += [_TUPLE] if is_tuple else []
        raise InvalidSchema("; ".join(problems))
    # null means absent, as in a body.
    present = {key: value for key, value in item.items() if value is not None}
    part = SchemaPart(
        present.get("name"),
        present.get("contentType", JSON if "contentSchema" in present else ANY_TYPE),
        present.get("required", False),
        present.get("description"),
    )
    if "contentSchema" not in present:
        return part
    content = content_schema_of(present["contentSchema"], limits=limits)
    return attrs.evolve(part, content_schema=content)


def _problems(item: Mapping[Any, Any], limits: Limits) -> Iterator[str]:
    for key, value in item.items():
        if key not in _MEMBERS:
            yield _unknown(key)
            continue
        expected, words = _MEMBERS[key]
        if value is not None and not isinstance(value, expected):
            yield f"{key} is {words}, got {quote(value)}"
        elif isinstance(value, str) and key in _PATTERNS and len(value) > limits.pattern_length:
            yield (
                f"{key} has {len(value):,} characters, more than {limits.pattern_length:,} "
                "(limit pattern_length)"
            )


def _unknown(key: object) -> str:
    has = "a schema part has name, contentType, required, description and contentSchema"
    if key in _OF_BODIES:
        has += ", and a part of a body has this: MessageBody.from_json(…) and .load(…) read bodies"
        return f"unknown member {quote(key)}; {has}"
    return f"unknown member {quote(key)}{did_you_mean(str(key)[:50], _MEMBERS)}; {has}"


def encode_parsed(parts: Sequence[SchemaPart]) -> list[dict[str, Any]]:
    """Return schema parts as JSON values, without default values except for contentType."""
    return [
        {
            **({} if part.name is None else {"name": part.name}),
            "contentType": part.content_type,
            **({"required": True} if part.required else {}),
            **({} if part.description is None else {"description": part.description}),
            **({} if part.content_schema is None else {"contentSchema": part.content_schema.value}),
        }
        for part in parts
    ]
