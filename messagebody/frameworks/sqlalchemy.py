"""A column type of SQLAlchemy for bodies, stored as JSON.

A body that is read from a row or assigned to a row notices changes, so that the row is saved:
`row.body.add("More.")` is enough. Changes through `body.fs` or of a copy are not noticed.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from messagebody._model.access import resolver_of
from messagebody._model.body import MessageBody
from messagebody.errors import InvalidPart, MissingDependency

try:
    from sqlalchemy.ext.mutable import Mutable
    from sqlalchemy.types import JSON, TypeDecorator
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.sqlalchemy", "sqlalchemy") from error

_CHANGES: Final = (
    "__delitem__", "__setitem__", "add", "clear", "extend", "insert", "move", "pin", "reverse"
)  # fmt: skip


class _JSONBody(TypeDecorator):  # type: ignore[misc]
    """JSON in the database, a body in Python."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: MessageBody | None, dialect: Any) -> Any:
        return None if value is None else value.to_dicts()

    def process_result_value(self, value: Any, dialect: Any) -> MessageBody | None:
        return None if value is None else TrackedBody.from_dicts(value)


class TrackedBody(Mutable, MessageBody):  # type: ignore[misc]
    """A body that reports changes to its row."""

    @classmethod
    def coerce(cls, key: str, value: Any) -> "TrackedBody | None":
        """Return the body for an attribute, a copy of the one that was assigned.

        Raises:
            InvalidPart: the value is not a body.
        """
        if value is None or isinstance(value, cls):
            return value
        if not isinstance(value, MessageBody):
            raise InvalidPart(f"{key} takes a MessageBody or None, got {type(value).__name__}")
        return cls(value).with_resolver(resolver_of(value))

    def __reduce__(self) -> tuple[Any, ...]:
        # A program that reads the pickle may not have SQLAlchemy.
        return MessageBody(self).__reduce__()


def _tracked(name: str) -> Callable[..., Any]:
    change = getattr(MessageBody, name)

    @wraps(change)
    def changed(self: TrackedBody, *args: Any, **kwargs: Any) -> Any:
        result = change(self, *args, **kwargs)
        self.changed()
        return result

    return changed


for _name in _CHANGES:
    setattr(TrackedBody, _name, _tracked(_name))


def column_type() -> Any:
    """Return the type of a column that holds bodies.

    Use it as `mapped_column(column_type())`; None is stored as SQL NULL.
    """
    return TrackedBody.as_mutable(_JSONBody())
