"""Faces: the public names of a package, each loaded from its module when it is first used.

So a program loads what it names: `from messagebody import check` loads no store and no S3.
"""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def face(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package (PEP 562).

    Arguments:
        package: the name of the package.
        homes: the public names of each module, separated by spaces; the module is relative to
            the package. Names of the module "" are modules themselves.

    Examples:
        >>> __getattr__, __dir__ = face("collections", {".abc": "Mapping Sequence"})
        >>> __getattr__("Mapping").__name__
        'Mapping'
        >>> __dir__()[-1]
        '__spec__'
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = home_of[name]
        module = importlib.import_module(home or f".{name}", package)
        value = getattr(module, name) if home else module
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        # Not what was loaded meanwhile: the names a user needs are those of the face.
        special = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        public = (name for name, home in home_of.items() if home)
        return sorted({*public, *special})

    return load, names
