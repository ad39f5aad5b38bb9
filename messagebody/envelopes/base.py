"""Adapters between a body and another system's message: contract, losses and registry."""

import importlib
from collections.abc import Iterable
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, Self, TypeVar, cast

import attrs

from messagebody._text import escape, quote
from messagebody.errors import LossyConversion, MessageBodyError

if TYPE_CHECKING:
    from messagebody.body import MessageBody

T = TypeVar("T")


class LossKind(StrEnum):
    """How much of something a conversion lost."""

    CONVERTED = "converted"
    """Still there and meaning the same, in another form."""

    DOWNGRADED = "downgraded"
    """Still there, saying less."""

    OMITTED = "omitted"
    """Not there any more."""


@attrs.frozen
class Loss:
    """Say what a conversion lost, where, and why.

    Arguments:
        kind: a `LossKind`, or its text.
        where: the place in the source, such as "metadata.attachments[0].data" or "part 2".
        why: one clause; for a person.

    Examples:
        >>> str(Loss("omitted", "tool_calls", "the envelope has no such member"))
        'omitted tool_calls: the envelope has no such member'
    """

    kind: LossKind = attrs.field(converter=LossKind)
    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.kind} {escape(self.where, limit=200)}: {self.why}"


class _Converted(NamedTuple, Generic[T]):
    value: T
    losses: tuple[Loss, ...] = ()


class Converted(_Converted[T]):
    """Hold the result of a conversion and what it lost; true only when it lost nothing.

    Arguments:
        value: the result.
        losses: every `Loss`, in the order of the source.

    Examples:
        >>> value, losses = Converted("a body")
        >>> losses
        ()
        >>> Converted("a body").or_raise()
        'a body'
    """

    __slots__ = ()

    @classmethod
    def of(cls, value: T, losses: Iterable[Loss] = ()) -> Self:
        """Make one of any iterable of losses."""
        return cls(value, tuple(losses))

    def __bool__(self) -> bool:
        return not self.losses

    def or_raise(self) -> T:
        """Return the value if nothing was lost.

        Raises:
            LossyConversion: something was; it holds the losses.
        """
        if self.losses:
            raise LossyConversion(self.losses)
        return self.value


class Adapter(Protocol):
    """What a foreign format offers; a module with these three functions is one."""

    def to_body(self, message: Any, /) -> Converted["MessageBody"]:
        """Return the body of a foreign message, given as parsed JSON or as JSON text."""

    def from_body(self, body: "MessageBody", /) -> Converted[Any]:
        """Return the foreign message that carries a body, as a JSON value or exact text."""

    def detect(self, value: Any, /) -> bool:
        """Tell whether a parsed JSON value looks like this format."""


# Names to modules, imported on first use: most programs speak one format.
_adapters: dict[str, str | Adapter] = {
    "agents-api": "messagebody.envelopes.agents_api",
    "channel": "messagebody.envelopes.channel",
    "olympus": "messagebody.envelopes.olympus",
    "sentient": "messagebody.envelopes.sentient",
}


def register(name: str, adapter: str | Adapter) -> None:
    """Make an adapter known by name.

    Arguments:
        name: what users type, such as "agents-api".
        adapter: the adapter, or the dotted name of a module that is one, imported on first use.

    Raises:
        MessageBodyError: the name is taken by another adapter.
    """
    if _adapters.setdefault(name, adapter) != adapter:
        raise MessageBodyError(f"adapter {quote(name)} is registered already")


def adapter_names() -> tuple[str, ...]:
    """Return the names of all registered adapters, sorted.

    Examples:
        >>> "agents-api" in adapter_names()
        True
    """
    return tuple(sorted(_adapters))


def adapter(name: str) -> Adapter:
    """Return the adapter registered under `name`.

    Raises:
        MessageBodyError: there is none; the text lists the names there are.

    Examples:
        >>> adapter("agents-api").detect({"role": "user", "content": "Hello"})
        True
    """
    found = _adapters.get(name)
    if found is None:
        raise MessageBodyError(_unknown(name))
    if isinstance(found, str):
        return cast("Adapter", importlib.import_module(found))
    return found


def _unknown(name: str) -> str:
    near = get_close_matches(name, _adapters, n=1)
    hint = f" (did you mean {quote(near[0])}?)" if near else ""
    return f"no adapter {quote(name)}{hint}; there are {', '.join(adapter_names())}"
