"""Owners of objects in a store, and what they say that they still need."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import attrs

from messagebody._base.guards import require_iterable
from messagebody._model.body import MessageBody
from messagebody.storage._stores.owners import MESSAGES


class Owner(Protocol):
    """Whoever keeps objects in a store, and can say which of them it still needs."""

    @property
    def name(self) -> str:
        """Its name in the store."""

    def needed(self) -> Iterable[str]:
        """Return all that it still needs: URLs, keys or digests of objects.

        A text may hold several of them, or none, such as the URL of another place. `sweep` may ask
        twice.
        """


@attrs.frozen
class Bodies:
    """The messages that refer to objects of a store; those at its top belong to them.

    Arguments:
        bodies: every body that is still in use, as a body or JSON, or a single body.
        name: the owner's name; "agent-files" for bodies of a backend of deepagents.

    Examples:
        >>> from messagebody import MessageBody, Part, offload
        >>> small = offload(MessageBody([Part("cats " * 1000)]), "memory://owners", threshold=0)
        >>> [text[:7] for text in Bodies(small).needed()]
        ['memory:', 'sha256:']
    """

    bodies: MessageBody | Iterable[MessageBody | str | bytes] = attrs.field(repr=False)
    name: str = MESSAGES

    def needed(self) -> Iterator[str]:
        """Yield URL and digest of each reference.

        Raises:
            DecodeError: a body is invalid.
        """
        # A body is a list of parts, not of bodies.
        bodies = [self.bodies] if isinstance(self.bodies, MessageBody) else self.bodies
        for body in require_iterable(bodies, "bodies in a list", hint="Bodies([body])"):
            decoded = body if isinstance(body, MessageBody) else MessageBody.from_json(body)
            for part in decoded:
                # Both, because another spelling of the URL must not make an object look unused.
                if part.url is not None:
                    yield part.url
                if part.reference is not None and part.reference.digest is not None:
                    yield part.reference.digest


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
    """

    name: str
    seconds: float

    def needed(self) -> tuple[()]:
        """Return nothing: the age of an object decides."""
        return ()
