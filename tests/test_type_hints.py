"""Annotations of what users import: libraries that ask for them get an answer."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest

import messagebody
from messagebody import MessageBody, MessageBodySchema
from messagebody.compatibility import SchemaStream

# Types of libraries that are installed with an extra, or for type checkers only.
WITHOUT = {"Registry.graph", "S3Store.client"}
# Made by the package only: an attrs class whose owner is defined below it.
WITHOUT |= {"Reservation.__init__"}


def public() -> Iterator[Any]:
    """Yield every function, class and method that a face of the package gives."""
    packages = pkgutil.walk_packages(messagebody.__path__, "messagebody.")
    for module in ["messagebody", *(each.name for each in packages if each.ispkg)]:
        if any(piece.startswith("_") for piece in module.split(".")):
            continue
        try:
            face = importlib.import_module(module)
        except ImportError:  # an extra is not installed
            continue
        for name in getattr(face, "__all__", []):
            try:
                value = getattr(face, name)
            except ImportError:
                continue
            yield value
            if inspect.isclass(value):
                yield from _methods(value)


def _methods(kind: type) -> Iterator[Any]:
    for name, value in vars(kind).items():
        if name == "__init__" or not name.startswith("_"):
            yield getattr(value, "__func__", getattr(value, "fget", value))


def test_type_hints_resolve() -> None:
    asked = {
        f"{each.__module__}.{each.__qualname__}": each
        for each in public()
        if (inspect.isfunction(each) or inspect.ismethod(each) or inspect.isclass(each))
        and each.__qualname__ not in WITHOUT
        and each.__module__.startswith("messagebody")
    }
    assert len(asked) > 500
    wrong = {name: error for name, each in asked.items() if (error := _unresolved(each))}
    assert wrong == {}


def _unresolved(value: Any) -> str:
    try:
        get_type_hints(value)
    except NameError as error:
        return str(error)
    return ""


def test_a_type_that_is_loaded_when_asked_for_resolves() -> None:
    assert get_type_hints(MessageBodySchema.stream)["return"] is SchemaStream
    upath = pytest.importorskip("upath")
    assert get_type_hints(MessageBody.path)["return"] is upath.UPath
