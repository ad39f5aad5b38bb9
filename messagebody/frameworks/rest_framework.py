"""A field of Django REST framework for bodies."""

from typing import Any

from messagebody._model.body import MessageBody
from messagebody.errors import DecodeError, InvalidBody, MissingDependency
from messagebody.schema import MessageBodySchema

try:
    from rest_framework.serializers import Field, ValidationError
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.rest_framework", "django") from error


class MessageBodyField(Field):  # type: ignore[misc]
    """A body in a serializer: JSON in requests and answers, a `MessageBody` in Python.

    Arguments:
        schema: the schema of the body; None accepts any body.
        **options: the options of every field, such as `required`.
    """

    def __init__(self, *, schema: MessageBodySchema | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.schema = schema

    def to_internal_value(self, data: Any) -> MessageBody:
        """Return the body of a request's JSON.

        Raises:
            ValidationError: it is not a body, or it breaks the schema; answered with 400.
        """
        try:
            body = MessageBody.from_dicts(data)
            if self.schema is not None:
                self.schema.validate(body)
        except DecodeError as error:
            raise ValidationError([str(each) for each in _all(error)]) from error
        except InvalidBody as error:
            raise ValidationError([str(each) for each in error.violations]) from error
        return body

    def to_representation(self, value: MessageBody) -> list[dict[str, Any]]:
        """Return a body as JSON values."""
        return value.to_dicts()


def _all(error: DecodeError) -> list[DecodeError]:
    first = DecodeError(error.problem, error.index, error.name)
    return [first, *error.others]
