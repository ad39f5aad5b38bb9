"""What the makers of content share: the type that is wanted, and what they return."""

import io
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from messagebody._base.media_types import is_text

Made = str | bytes | tuple[str | bytes, str]
Maker = Callable[[Any, str | None], Made]
_Row = TypeVar("_Row")


def one_of(kind: str | None, kinds: Collection[str]) -> str:
    """Return a content type that is one of those that an object can become.

    Raises:
        ValueError: it is none of them.
    """
    if kind not in kinds or kind is None:
        raise ValueError(f"it can be {', '.join(kinds)}")
    return kind


def saved(save: Callable[[Any], Any]) -> bytes:
    """Return what a function writes to a file."""
    stream = io.BytesIO()
    save(stream)
    return stream.getvalue()


def text_or_bytes(data: bytes, kind: str) -> str | bytes:
    """Return bytes as text if their type is one of text."""
    return data.decode() if is_text(kind) else data


def package_of(cls: type) -> str:
    """Return the name of the package that a class comes from."""
    return cls.__module__.partition(".")[0]


def described(value: object) -> str:
    """Return the package and class of an object, for an error."""
    package = package_of(type(value))
    return f"the {'' if package == 'builtins' else f'{package} '}{type(value).__name__}"


def has(value: object, method: str) -> bool:
    """Return whether the class of an object has a method.

    The class is asked, because an object that answers every name, such as a mock, has no methods.
    """
    return getattr(type(value), method, None) is not None


def row(table: Mapping[Any, _Row], value: object) -> _Row | None:
    """Return what a table has for the class of an object, or for the nearest class above it.

    Arguments:
        table: values by class, or by "package.Class".
        value: the object.
    """
    for cls in type(value).__mro__:
        found = table.get(cls) or table.get(f"{package_of(cls)}.{cls.__name__}")
        if found is not None:
            return found
    return None
