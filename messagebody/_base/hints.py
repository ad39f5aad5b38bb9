"""Hints: what people type that is not there, and the call that does what they mean.

The tables are in `hints.txt`. They are read only when an attribute or a call has failed, so what
exists costs nothing; `hasattr`, `dir` and type checkers see none of it.
"""

import inspect
import re
from abc import ABCMeta
from collections.abc import Callable
from functools import cache, wraps
from itertools import product
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, NoReturn, ParamSpec, TypeVar

from messagebody._base.text import nearest, quote

P = ParamSpec("P")
R = TypeVar("R")
_Class = TypeVar("_Class", bound=type)


@cache
def tables() -> dict[str, dict[str, str]]:
    """Return advice by name, by the class or module that is asked, or what else a table is for."""
    from importlib.resources import files  # loads much, and few ask for what is not there

    found: dict[str, dict[str, str]] = {}
    asked: list[dict[str, str]] = []
    text = files("messagebody._base").joinpath("hints.txt").read_text("utf-8")
    # A head, or names and the indented advice that is for them.
    entries = r"^\[(.+)\]$|^([^\s#\[].*(?:\n\S.*)*)\n((?:    .*\n)+)"
    for head, names, advice in re.findall(entries, text, re.MULTILINE):
        asked = [found.setdefault(each, {}) for each in head.split()] or asked
        for table, name in product(asked, names.split()):
            table[name] = " ".join([table.get(name, ""), *advice.split()]).strip()
    return found


def advice_for(asked: str, name: str) -> str:
    """Return what somebody means who asks a class or module for a name; empty if nobody knows."""
    # Libraries ask classes for names that begin like this, and expect none.
    return "" if name.startswith("_") else tables().get(asked, {}).get(name, "")


def missing_attribute(value: object, name: str) -> AttributeError:
    """Return the error for an attribute that an object or a class does not have."""
    cls = value if isinstance(value, type) else type(value)
    kind = f"type object {cls.__name__!r}" if cls is value else f"{cls.__name__!r} object"
    problem = f"{kind} has no attribute {name!r}"
    for each in cls.__mro__:
        if found := advice_for(each.__name__, name):
            # Without the object: Python would add the attribute that is spelt most like it.
            return AttributeError(f"{problem}; {found}", name=name)
    return AttributeError(problem, name=name, obj=value)


class Guided(type):
    """The class of classes whose missing attributes lead on."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> NoReturn:
            raise missing_attribute(cls, name)


class GuidedABC(Guided, ABCMeta):
    """`Guided`, for classes that implement abstract ones."""


def guided(function: Callable[P, R]) -> Callable[P, R]:
    """Let a call with arguments that a function does not take say which ones are meant."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            if problem := _misfit(function, args, kwargs):
                raise TypeError(problem) from None
            raise  # it comes from inside the call

    return call


def guided_init(cls: _Class) -> _Class:
    """Let the constructor of a class lead on; see `guided`."""
    setattr(cls, "__init__", guided(vars(cls)["__init__"]))  # noqa: B010 - mypy refuses `cls.__init__ =`
    return cls


def _misfit(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str | None:
    """Return which arguments a call does not take and what is meant, or None if it takes all."""
    kinds = {each.name: each.kind for each in inspect.signature(function).parameters.values()}
    by_position = [name for name, kind in kinds.items() if kind <= kind.POSITIONAL_OR_KEYWORD]
    takes = [name for name, kind in kinds.items() if kind in _BY_NAME and name != "self"]
    owner, dot, name = function.__qualname__.rpartition(".")
    if dot and args:
        owner = type(args[0]).__name__
    called = owner if name == "__init__" else f"{owner}{dot}{name}"
    takes_any_name = inspect.Parameter.VAR_KEYWORD in kinds.values()
    unknown = [] if takes_any_name else [name for name in kwargs if name not in takes]
    if unknown:
        advice = "; ".join(_meant(called, name, takes) for name in unknown)
        return f"{called}() takes no {' and no '.join(unknown)}; {advice}"
    if inspect.Parameter.VAR_POSITIONAL in kinds.values() or len(args) <= len(by_position):
        return None
    extra, count = args[len(by_position)], len(by_position) - ("self" in by_position)
    limit = f"only {count} by position" if count else "no value by position"
    free = [name for name in takes if name not in by_position]
    free += _SPELLINGS if takes_any_name else []  # those of `Part`
    advice = advice_for("calls", called) or _named(extra, free)
    return f"{called}() takes {limit}, got one more, {quote(extra)}; {advice}"


def _meant(called: str, keyword: str, takes: list[str]) -> str:
    if advice := advice_for(f"{called}()", keyword):
        return advice
    for meant in advice_for("keywords", keyword).split():
        if meant in takes:
            return f"{keyword}= is {meant}= here"
    near = nearest(keyword, takes)
    return f"did you mean {near}=?" if near else f"it takes {_listed(takes)}"


def _named(value: object, free: list[str]) -> str:
    """Return how to pass a value by name that came by position."""
    text = value if isinstance(value, str) else ""
    likely = [name for name, look in _SPELLINGS.items() if re.match(look, text)]
    if names := [name for name in likely if name in free]:
        return f"pass {names[0]}={quote(value, limit=80)}"
    if (own := type(value).__name__.lower()) in free:
        return f"pass {own}=…"
    if isinstance(value, str | PathLike) and str(value).endswith(".html"):
        return "it returns the page, which Path(…).write_text(page) writes"
    if "resolver" in free and (isinstance(value, PathLike) or "url" in likely):
        return "pass resolver=Resolver(allow=[…])"
    return f"name it: {_listed(free)}" if free else "it takes no more"


def _listed(names: list[str]) -> str:
    return ", ".join(f"{name}=" for name in names)


_BY_NAME: Final = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
# How values look that people pass by position, by the argument that they mean.
_SPELLINGS: Final = {"url": r"[a-z][a-z0-9+.-]*://", "name": "/", "content_type": r"[a-z*]+/[a-z*]"}
