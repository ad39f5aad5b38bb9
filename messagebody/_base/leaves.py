"""Views of the model in other packages and libraries, loaded by name on first use.

The model imports nothing that is built on it. One table here lists the views that it loads by name:
`body.fs`, `body.path`, `body.links`, the hooks of pydantic, HTML, and reading through a resolver.
So importing a body stays quick, and lower modules don't depend on higher ones.
"""

import importlib
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, Final, TypeVar

_T = TypeVar("_T")

LEAVES: Final = {
    "Resolver": "messagebody.storage._references.resolver:Resolver",
    "read_reference": "messagebody.storage._references.reader:read_reference",
    "open_reference": "messagebody.storage._references.reader:open_reference",
    "measure_reference": "messagebody.storage._references.reader:measure_reference",
    "read_web": "messagebody.storage._references.reader:read_web",
    "read_url": "messagebody.storage._stores.documents:read_url",
    "write_url": "messagebody.storage._stores.documents:write_url",
    "MessageBody": "messagebody._model.body:MessageBody",
    "Part": "messagebody._model.part:Part",
    "MessageBodySchema": "messagebody.schema:MessageBodySchema",
    "name_pattern": "messagebody.globs:name_pattern",
    "content_type_pattern": "messagebody.globs:content_type_pattern",
    "disjoint": "messagebody.compatibility:disjoint",
    "SchemaStream": "messagebody.compatibility:SchemaStream",
    "filesystem": "messagebody.filesystem:MessageBodyFileSystem",
    "path_into": "messagebody.views:path_into",
    "links_of": "messagebody.links._links:links_of",
    "link_findings": "messagebody.links._findings:iter_findings",
    "mount": "messagebody.links._composition:mount",
    "relinked": "messagebody.links._composition:renamed",
    "MissingDependency": "messagebody.errors:MissingDependency",
    "check_agents": "messagebody.agents._agreement:check_agents",
    "explanation": "messagebody.rendering:explanation",
    "body_html": "messagebody.rendering._notebook:body_html",
    "part_html": "messagebody.rendering._notebook:part_html",
    "schema_html": "messagebody.rendering._notebook:schema_html",
    "verdict_html": "messagebody.rendering._notebook:verdict_html",
    "violation_html": "messagebody.rendering._notebook:violation_html",
    "listed_html": "messagebody.rendering._notebook:listed_html",
    "pydantic": "messagebody.frameworks.pydantic",
}
"""The place of each view: a module, or a module and an attribute."""

_EXTRAS: Final = {"path_into": ("paths into a body", "pathlib")}


@cache
def leaf(name: str) -> Any:
    """Return a view of the model.

    Arguments:
        name: a key of `LEAVES`.

    Raises:
        MissingDependency: it needs an extra that is not installed.
    """
    module, _, attribute = LEAVES[name].partition(":")
    try:
        loaded = importlib.import_module(module)
        return getattr(loaded, attribute) if attribute else loaded
    except ImportError as error:
        if name not in _EXTRAS or isinstance(error, leaf("MissingDependency")):
            raise
        raise leaf("MissingDependency")(*_EXTRAS[name]) from error


class LazySerializer:
    """Give a class its `__pydantic_serializer__` without importing pydantic before it is used.

    Pydantic looks for that attribute if the type of a value is not declared, as for the result of a
    tool. Without pydantic, the attribute does not exist.
    """

    def __get__(self, instance: object, owner: Any) -> Any:
        try:
            return leaf("pydantic").serializer_of(owner)
        except ImportError as error:
            raise AttributeError("__pydantic_serializer__") from error


class PydanticHook:
    """A hook that pydantic calls on a type, and on a value that annotates a type.

    Arguments:
        of_type: the function of `messagebody.frameworks.pydantic` that takes the type.
        of_value: the function that takes the value, for `Annotated[…, value]`; empty for types
            whose values annotate nothing.
    """

    def __init__(self, of_type: str, of_value: str = "") -> None:
        self._of_type = of_type
        self._of_value = of_value

    def __get__(self, instance: object, owner: Any) -> Callable[[Any, Any], Any]:
        if instance is None or not self._of_value:
            return partial(getattr(leaf("pydantic"), self._of_type), owner)
        return partial(getattr(leaf("pydantic"), self._of_value), instance)


class _Readable:
    __slots__ = ()

    def __str__(self: Iterable[Any]) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        return leaf("listed_html")(self)  # type: ignore[no-any-return]


class FoundTuple(_Readable, tuple[_T, ...]):
    """A tuple of violations, findings or losses: printed as one line each, a list in a notebook.

    Examples:
        >>> print(FoundTuple(["a", "b"]))
        a
        b
        >>> FoundTuple(["a", "b"])
        ('a', 'b')
    """

    __slots__ = ()


class FoundList(_Readable, list[_T]):
    """A list of violations or findings with the face of `FoundTuple`.

    Examples:
        >>> print(FoundList(["a", "b"]))
        a
        b
    """

    __slots__ = ()
