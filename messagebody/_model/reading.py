"""How the references of a body are read: the resolver bound to it, and what reading has cost."""

import threading
from weakref import WeakKeyDictionary

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._wire.data_urls import is_data_url

_lock = threading.Lock()


class Reading:
    """What all parts of one body share when they are read.

    A body, its copies and its parts share one budget for each resolver. Whoever reads them, one by
    one or together, can't make them cost more than the limits of that resolver.

    Arguments:
        resolver: the resolver bound to the body; None for the closed default.
        first: the reading whose budgets this one shares; it has budgets of its own if None.
    """

    __slots__ = ("_budgets", "_first", "resolver")

    def __init__(
        self, resolver: "messagebody.Resolver | None" = None, first: "Reading | None" = None
    ) -> None:
        self.resolver = resolver
        self._first = first
        self._budgets: (
            WeakKeyDictionary[messagebody.Resolver, messagebody.storage._references.Budget] | None
        ) = None

    def through(self, resolver: "messagebody.Resolver | None") -> "Reading":
        """Return the same reading with another resolver."""
        return Reading(resolver, self._first or self)

    def budget(
        self, resolver: "messagebody.Resolver", url: str
    ) -> "messagebody.storage.Budget | None":
        """Return what the body may still cost; None for content that is in the URL itself."""
        # Read again and again, such content costs nobody anything.
        if is_data_url(url):
            return None
        if self._first is not None:
            return self._first.budget(resolver, url)
        with _lock:
            # Made late, because most bodies are never read through a resolver. Weak, so that a
            # body that outlives its resolvers does not collect their budgets.
            if self._budgets is None:
                self._budgets = WeakKeyDictionary()
            if resolver not in self._budgets:
                self._budgets[resolver] = resolver.budget()
            return self._budgets[resolver]
