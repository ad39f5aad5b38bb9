"""A hook for frameworks that serialise whatever they meet, made when one of them asks."""

from typing import Any

__all__ = ["LazySerializer"]


class LazySerializer:
    """Give a class its `__pydantic_serializer__` without importing pydantic before it is used.

    Pydantic looks for that attribute where a value's type was not declared, such as the result
    of a tool. Without pydantic the attribute does not exist.
    """

    def __get__(self, instance: object, owner: Any) -> Any:
        try:
            from messagebody.interop import pydantic_types
        except ImportError as error:
            raise AttributeError("__pydantic_serializer__") from error
        return pydantic_types.serializer_of(owner)
