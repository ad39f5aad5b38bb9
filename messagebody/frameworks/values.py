"""Bodies, parts and schemas as JSON values and back, for libraries that ask by type."""

from typing import Any, Final, TypeVar

from messagebody._core import MessageBody, Part, record_of
from messagebody.errors import DecodeError
from messagebody.schema import MessageBodySchema, SchemaPart

KINDS: Final = (MessageBody, Part, MessageBodySchema, SchemaPart)
"""The types that have values."""
_T = TypeVar("_T")


def is_known(kind: Any) -> bool:
    """Return whether a type is one of `KINDS` or derived from one."""
    return isinstance(kind, type) and issubclass(kind, KINDS)


def to_values(value: MessageBody | Part | MessageBodySchema | SchemaPart) -> Any:
    """Return the JSON values of a body, a schema, or a part of one.

    Raises:
        LocalFileNotSent: a part is still a local file.
    """
    if isinstance(value, Part):
        return MessageBody([value]).to_dicts()[0]
    if isinstance(value, SchemaPart):
        return MessageBodySchema([value]).to_dicts()[0]
    return value.to_dicts()


def from_values(kind: type[_T], value: Any) -> _T:
    """Return what JSON values are: a body, a schema, or a part; one of these is returned unchanged.

    Raises:
        DecodeError, InvalidSchema: the values are not one.
    """
    if isinstance(value, kind):
        return value
    if issubclass(kind, SchemaPart):
        return MessageBodySchema.from_dicts([value])[0]  # type: ignore[return-value]
    if not issubclass(kind, Part):
        return kind.from_dicts(value)  # type: ignore[attr-defined,no-any-return]
    try:
        return kind._of(record_of(MessageBody.from_dicts([value])[0]))
    except DecodeError as error:
        # A part on its own has no position.
        raise DecodeError(error.problem, name=error.name, others=error.others) from error
