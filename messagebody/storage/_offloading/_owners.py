"""Owners of objects in a store, and what they say that they still need."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

import attrs

from messagebody._base.guards import require_iterable
from messagebody._base.text import quote, redact_url
from messagebody._model.body import MessageBody
from messagebody.errors import InvalidArgument
from messagebody.storage._offloading._mentions import digests_of, digits_in
from messagebody.storage._stores.owners import MESSAGES

# The URL of another place, in which no digest can be hidden.
_ELSEWHERE: Final = re.compile(r"(?!.*sha256)[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_LISTED: Final = "a list, empty if it needs nothing; of a coroutine, await it: Needs(name, await …)"


class Owner(Protocol):
    """Whoever keeps objects in a store, and can say which of them it still needs."""

    @property
    def name(self) -> str:
        """Its name in the store."""

    def needed(self) -> Iterable[str]:
        """Return all that it still needs: URLs, keys or digests of objects.

        A longer text, such as JSON, may hold several. A text in which there is none is an error,
        unless it is the URL of another place. `sweep` may ask twice.
        """


@attrs.frozen
class Bodies:
    """The messages that refer to objects of a store; those at its top belong to them.

    Arguments:
        bodies: every body that is still in use, as a body or JSON, or a single body.
        name: the owner's name.

    Examples:
        >>> from messagebody import MessageBody, Part, offload
        >>> small = offload(MessageBody([Part("cats " * 1000)]), "memory://owners", threshold=0)
        >>> [text[:7] for text in Bodies(small).needed()]
        ['sha256:']
    """

    bodies: MessageBody | Iterable[MessageBody | str | bytes] = attrs.field(repr=False)
    name: str = MESSAGES

    def needed(self) -> Iterator[str]:
        """Yield the digest of each object that a body refers to, or mentions in its contents.

        Raises:
            DecodeError: a body is invalid.
        """
        # A body is a list of parts, not of bodies.
        bodies = [self.bodies] if isinstance(self.bodies, MessageBody) else self.bodies
        for body in require_iterable(bodies, "bodies in a list", hint="Bodies([body])"):
            decoded = body if isinstance(body, MessageBody) else MessageBody.from_json(body)
            yield from digests_of(decoded)


@attrs.frozen
class Needs:
    """An owner whose needs are listed.

    Arguments:
        name: its name in the store.
        texts: all that it still needs: URLs, keys or digests, or texts that hold some.
    """

    name: str
    texts: Iterable[str] = attrs.field(repr=False)

    def needed(self) -> Iterable[str]:
        """Return the texts."""
        return require_iterable(self.texts, "texts in a list", hint="Needs('chat', [url])")


@attrs.frozen
class Recent:
    """An owner that can't be asked, but needs nothing for longer than some time, such as a queue.

    Arguments:
        name: its name in the store.
        seconds: how long it needs an object after it was written.

    Raises:
        InvalidArgument: the time is not a positive number.
    """

    name: str
    seconds: float = attrs.field()

    @seconds.validator
    def _check(self, _: object, seconds: Any) -> None:
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not (is_number and seconds > 0):
            hint = f"Recent({quote(self.name)}, 90 * 86_400) is 90 days"
            raise InvalidArgument("a positive number of seconds", seconds, hint)

    def needed(self) -> tuple[()]:
        """Return nothing: the age of an object decides."""
        return ()


def digits_needed(owner: Owner) -> set[str]:
    """Return the digits of all digests that an owner needs, wherever the objects lie.

    Raises:
        InvalidArgument: it returned something else, or a text in which there is none.
    """
    found: set[str] = set()
    expected = f"URLs, keys or digests of objects from needed() of the owner {quote(owner.name)}"
    for number, text in enumerate(require_iterable(owner.needed(), expected, hint=_LISTED)):
        digits = digits_in(text) if isinstance(text, str) else set()
        if not digits and not (isinstance(text, str) and _ELSEWHERE.fullmatch(text)):
            got = f"{_described(text)} at position {number:,}"
            hint = (
                "what is not understood could be deleted; for values that may hold none, "
                "needed() of payloads.owner(values)"
            )
            raise InvalidArgument(expected, got=got, hint=hint)
        found |= digits
    return found


def _described(text: object) -> str:
    """Return an answer for an error, without what may be content."""
    if not isinstance(text, str):
        return f"a {type(text).__name__}"
    if len(text) > 100 or re.search(r"\s", text):
        return f"a text of {len(text):,} characters without any"
    return quote(redact_url(text))
