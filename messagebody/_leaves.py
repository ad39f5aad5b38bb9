"""Views of the model that other libraries provide, loaded by name when they are first used."""

from collections.abc import Callable
from functools import partial
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


class PydanticHook:
    """A hook that pydantic calls on a type, and on a value that annotates a type.

    Arguments:
        of_type: the function of `messagebody.interop.pydantic` that takes the type.
        of_value: the function that takes the value, for `Annotated[…, value]`.
    """

    def __init__(self, of_type: str, of_value: str) -> None:
        self._of_type = of_type
        self._of_value = of_value

    def __get__(self, instance: object, owner: Any) -> Callable[[Any, Any], Any]:
        from messagebody.interop import pydantic

        if instance is None:
            return partial(getattr(pydantic, self._of_type), owner)
        return partial(getattr(pydantic, self._of_value), instance)
