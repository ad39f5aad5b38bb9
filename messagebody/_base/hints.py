"""Hints: what people type that is not there, and the call that does what they mean.

The tables are in `hints.txt`. They are read only when an attribute or a call has failed, so what
exists costs nothing; `hasattr`, `dir` and type checkers see none of it.
"""

import inspect
import re
from abc import ABCMeta
from collections.abc import Callable
from functools import cache, wraps
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, NoReturn, ParamSpec, TypeVar

from messagebody._base.text import nearest, quote

P = ParamSpec("P")
R = TypeVar("R")
_Class = TypeVar("_Class", bound=type)


@cache
def tables() -> dict[str, dict[str, str]]:
    """Return advice by name, by the class or module that is asked.

    `keywords` has those that people may mean by another one, `Part()` what keywords of one call
    mean, and `calls` what those mean who give a call more arguments than it takes.
    """
    from importlib.resources import files  # loads much, and few ask for what is not there

    text = files("messagebody._base").joinpath("hints.txt").read_text("utf-8")
    _, *sections = re.split(r"^\[(.+)\]\n", re.sub(r"(?m)^#.*\n", "", text), flags=re.MULTILINE)
    pairs = zip(sections[::2], sections[1::2], strict=True)
    return {head: _table(table) for heads, table in pairs for head in heads.split()}


def _table(text: str) -> dict[str, str]:
    """Return advice by name; indented advice follows the names that it is for."""
    found: dict[str, str] = {}
    for names, advice in re.findall(r"^(\S.*(?:\n\S.*)*)\n((?:    .*\n)+)", text, re.MULTILINE):
        for name in names.split():
            found[name] = " ".join([found.get(name, ""), *advice.split()]).strip()
    return found


def advice_for(asked: str, name: str) -> str:
    """Return what somebody means who asks a class or module for a name; empty if nobody knows."""
    # Libraries ask classes for names that begin like this, and expect none.
    return "" if name.startswith("_") else tables().get(asked, {}).get(name, "")


def missing_attribute(value: object, name: str) -> AttributeError:
    """Return the error for an attribute that an object or a class does not have.

    Arguments:
        value: what was asked.
        name: the attribute.
    """
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
    """Let a call with arguments that a function does not take say which ones are meant.

    Arguments:
        function: the function.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            problem = _misfit(function, args, kwargs)
            if problem is None:  # it comes from inside the call
                raise
        raise TypeError(problem)

    return call


def guided_init(cls: _Class) -> _Class:
    """Let the constructor of a class lead on; see `guided`."""
    setattr(cls, "__init__", guided(vars(cls)["__init__"]))  # noqa: B010 - mypy refuses `cls.__init__ =`
    return cls


def _misfit(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str | None:
    """Return which arguments a call does not take and what is meant, or None if it takes all."""
    parameters = [*inspect.signature(function).parameters.values()]
    by_position = [each.name for each in parameters if each.kind <= each.POSITIONAL_OR_KEYWORD]
    takes = [each.name for each in parameters if each.kind in _BY_NAME and each.name != "self"]
    kinds = {each.kind for each in parameters}
    called = _called(function, args)
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        unknown = [name for name in kwargs if name not in takes]
        if unknown:
            advice = "; ".join(_meant(called, name, takes) for name in unknown)
            return f"{called}() takes no {' and no '.join(unknown)}; {advice}"
    if inspect.Parameter.VAR_POSITIONAL not in kinds and len(args) > len(by_position):
        extra = args[len(by_position)]
        count = len(by_position) - ("self" in by_position)
        limit = f"only {count} by position" if count else "no value by position"
        free = [name for name in takes if name not in by_position]
        if inspect.Parameter.VAR_KEYWORD in kinds:  # those of `Part`
            free += _SPELLINGS
        advice = advice_for("calls", called) or _named(extra, free)
        return f"{called}() takes {limit}, got one more, {quote(extra)}; {advice}"
    return None


def _called(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Return how a function was called: a method by the class of its object."""
    owner, dot, name = function.__qualname__.rpartition(".")
    owner = type(args[0]).__name__ if dot and args else owner
    return owner if name == "__init__" else f"{owner}{dot}{name}"


_BY_NAME: Final = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


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
    for name, pattern in _SPELLINGS.items():
        if name in free and isinstance(value, str) and pattern.match(value):
            return f"pass {name}={quote(value, limit=80)}"
    if (own := type(value).__name__.lower()) in free:
        return f"pass {own}=…"
    if isinstance(value, str | PathLike) and str(value).endswith(".html"):
        return "it returns the page, which Path(…).write_text(page) writes"
    if "resolver" in free and (isinstance(value, PathLike) or _is_url(value)):
        return "pass resolver=Resolver(allow=[…])"
    return f"name it: {_listed(free)}" if free else "it takes no more"


# How values look that people pass by position, by the argument that they mean.
_SPELLINGS: Final = {
    "url": re.compile(r"[a-z][a-z0-9+.-]*://"),
    "name": re.compile("/"),
    "content_type": re.compile(r"[a-z*]+/[a-z*]"),
}


def _is_url(value: object) -> bool:
    return isinstance(value, str) and _SPELLINGS["url"].match(value) is not None


def _listed(names: list[str]) -> str:
    return ", ".join(f"{name}=" for name in names)
