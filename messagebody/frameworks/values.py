"""Bodies, parts and schemas as JSON values and back, for libraries that ask by type."""

from typing import Any, Final, TypeVar

from messagebody._core import MessageBody, Part, record_of
from messagebody.errors import DecodeError
from messagebody.schema import MessageBodySchema

KINDS: Final = (MessageBody, Part, MessageBodySchema)
"""The types that have values."""
_T = TypeVar("_T")


def is_known(kind: Any) -> bool:
    """Return whether a type is one of `KINDS` or derived from one."""
    return isinstance(kind, type) and issubclass(kind, KINDS)


def to_values(value: MessageBody | Part | MessageBodySchema) -> Any:
    """Return the JSON values of a body, part or schema.

    Raises:
        LocalFileNotSent: a part is still a local file.
    """
    return MessageBody([value]).to_dicts()[0] if isinstance(value, Part) else value.to_dicts()


def from_values(kind: type[_T], value: Any) -> _T:
    """Return the body, part or schema of JSON values; a body, part or schema is returned unchanged.

    Raises:
        DecodeError, InvalidSchema: the values are not one.
    """
    if isinstance(value, kind):
        return value
    if not issubclass(kind, Part):
        return kind.from_dicts(value)  # type: ignore[attr-defined,no-any-return]
    try:
        return kind._of(record_of(MessageBody.from_dicts([value])[0]))
    except DecodeError as error:
        # A part on its own has no position.
        raise DecodeError(error.problem, name=error.name, others=error.others) from error
