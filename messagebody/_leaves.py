"""Views of the model that other libraries provide, loaded by name when they are first used."""

from typing import Any


class LazySerializer:
    """Give a class its `__pydantic_serializer__` without importing pydantic before it is used.

    Pydantic looks for that attribute where a value's type was not declared, such as the result
    of a tool. Without pydantic the attribute does not exist.
    """

    def __get__(self, instance: object, owner: Any) -> Any:
        try:
            from messagebody.interop import pydantic
        except ImportError as error:
            raise AttributeError("__pydantic_serializer__") from error
        return pydantic.serializer_of(owner)
