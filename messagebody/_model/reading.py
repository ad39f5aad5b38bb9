"""The resolver of a body for reading references, and the budgets that limit the cost."""

from weakref import WeakKeyDictionary

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.forks import lock_for_forks
from messagebody._wire.data_urls import is_data_url

_lock = lock_for_forks()


class Reading:
    """The resolver and budgets that all parts of one body share.

    A body, its copies and its parts share one budget for each resolver. So reading them, one by one
    or together, never costs more than the limits of that resolver.

    Arguments:
        resolver: the resolver of the body; None for the closed default.
        first: the object whose budgets this one shares; None for new budgets.
    """

    __slots__ = ("_budgets", "_first", "resolver")

    def __init__(
        self, resolver: "messagebody.Resolver | None" = None, first: "Reading | None" = None
    ) -> None:
        self.resolver = resolver
        self._first = first
        self._budgets: (
            WeakKeyDictionary[messagebody.Resolver, messagebody.storage.FetchBudget] | None
        ) = None

    def through(self, resolver: "messagebody.Resolver | None") -> "Reading":
        """Return a reading with another resolver and the same budgets."""
        return Reading(resolver, self._first or self)

    def budget(
        self, resolver: "messagebody.Resolver", url: str
    ) -> "messagebody.storage.FetchBudget | None":
        """Return the budget of the body; None for a `data:` URL."""
        # Reading a `data:` URL costs nothing, however often.
        if is_data_url(url):
            return None
        if self._first is not None:
            return self._first.budget(resolver, url)
        with _lock:
            # Created on demand, because most bodies are never read through a resolver. Weak, so
            # that a body that outlives its resolvers does not keep their budgets.
            if self._budgets is None:
                self._budgets = WeakKeyDictionary()
            if resolver not in self._budgets:
                self._budgets[resolver] = resolver.budget()
            return self._budgets[resolver]
