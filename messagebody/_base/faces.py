"""Faces: the public names of a package, each loaded from its module when it is first used.

So a program loads what it names: `from messagebody import check` loads no store and no S3. A name
that a package does not have leads to the package that has it.
"""

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType, ModuleType
from typing import Any

from messagebody._base.hints import advice_for


def face(
    package: str,
    homes: Mapping[str, str] = MappingProxyType({}),
    *,
    optional: str = "",
    hints: str = "",
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package (PEP 562).

    Arguments:
        package: the name of the package.
        homes: the public names of each module, separated by spaces; the module is relative to
            the package. Names of the module "" are modules themselves.
        optional: modules that need an extra. If that is not installed, `dir` leaves their names
            out, because `inspect.getmembers`, `help` and others get all that it lists.
        hints: the table with advice for missing names, by default that of the package's last name.

    Examples:
        >>> __getattr__, __dir__ = face("collections", {".abc": "Mapping Sequence"})
        >>> __getattr__("Mapping").__name__
        'Mapping'
        >>> __dir__()[-1]
        '__spec__'
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        home = home_of.get(name)
        if home is None:
            if _is_public(name) and _is_module(package, name):
                return importlib.import_module(f"{package}.{name}")
            missing = MissingName(package, name, hints or package.rpartition(".")[2])
            # In an import of names, Python would drop the text of an AttributeError.
            if sys._getframe(1).f_code.co_name == "_handle_fromlist" and missing.advice:
                problem = f"cannot import name {name!r} from {package!r}; {missing.advice}"
                raise ImportError(problem, name=package)
            raise missing
        module = importlib.import_module(home or f".{name}", package)
        value = _member(module, name) if home else module
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        # Not what was loaded meanwhile: the names a user needs are those of the face.
        special = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        absent = {home for home in optional.split() if not _loads(package, home)}
        public = (name for name, home in home_of.items() if home and home not in absent)
        return sorted({*public, *special})

    return load, names


def _loads(package: str, module: str) -> bool:
    """Return whether a module can be imported, so whether what it needs is installed."""
    try:
        importlib.import_module(module, package)
    except ImportError:
        return False
    return True


def _member(module: ModuleType, name: str) -> Any:
    """Return what a module has under a name, or its module of that name."""
    try:
        return getattr(module, name)
    except AttributeError:
        if _is_module(module.__name__, name):
            return importlib.import_module(f"{module.__name__}.{name}")
        raise


class MissingName(AttributeError):
    """A name that a package does not have; where it is is looked up when somebody reads this."""

    def __init__(self, package: str, name: str, hints: str) -> None:
        super().__init__(f"module {package!r} has no attribute {name!r}")
        self._wanted = package, name, hints

    @property
    def advice(self) -> str:
        package, name, hints = self._wanted
        return advice_for(hints, name) or _elsewhere(package, name)

    def __str__(self) -> str:
        # `hasattr` never gets here, so it doesn't wait for the search.
        return "; ".join(filter(None, [super().__str__(), self.advice]))


def _elsewhere(package: str, name: str) -> str:
    """Return how to import a public name that another package has, or ""."""
    if not _is_public(name):
        return ""
    root = sys.modules[package.partition(".")[0]]
    for room in [root.__name__, *(f"{root.__name__}.{each.name}" for each in _rooms(root))]:
        if room == package:
            continue
        try:
            module = importlib.import_module(room)
        except ImportError:  # what it needs is not installed
            continue
        # A module without `__all__` has what it defines.
        if name in getattr(module, "__all__", ()) or (
            not hasattr(module, "__all__")
            and getattr(vars(module).get(name), "__module__", "") == room
        ):
            return f"from {room} import {name}"
    return ""


@lru_cache(1024)  # a search of directories
def _is_module(package: str, name: str) -> bool:
    is_package = hasattr(sys.modules[package], "__path__")
    return is_package and importlib.util.find_spec(f"{package}.{name}") is not None


def _rooms(root: Any) -> list[pkgutil.ModuleInfo]:
    return [each for each in pkgutil.iter_modules(root.__path__) if not each.name.startswith("_")]


def _is_public(name: str) -> bool:
    return name.isidentifier() and not name.startswith("_")
