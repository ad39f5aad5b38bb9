"""Construction of content proofs: which member, item or rule shows that no value fits a case."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from messagebody.compatibility._content_choices import NoProof
from messagebody.compatibility._content_proofs import ContentCase, ContentLeaf, open_leaves
from messagebody.compatibility._solver.budget import Budget

_DEEPEST: Final = 24
# Of an array, so many items are tried one by one.
_ITEMS: Final = 16

Proof = list[Any] | int


def content_proof(case: ContentCase, budget: Budget) -> Proof | None:
    """Return a proof that no value fits a case; None if none is found.

    Arguments:
        case: the case.
        budget: the budget.

    Raises:
        OutOfBudget: the budget ended first.
    """
    try:
        return _Prover(budget).proof((case,))
    except (NoProof, LookupError, TypeError, ValueError):
        return None  # a schema that the proofs do not follow


class _Prover:
    def __init__(self, budget: Budget) -> None:
        self._spend = budget.spend

    def proof(self, path: tuple[ContentCase, ...]) -> Proof | None:
        """Return the proof of the last case of a path of cases inside each other."""
        case, above = path[-1], path[-2::-1]
        for levels, other in enumerate(above, 1):
            if case.includes(other):
                return levels
        if len(path) > _DEEPEST:
            return None
        steps = []
        for leaf in open_leaves(case, self._spend):
            step = next(self._steps(path, leaf), None)
            if step is None:
                return None
            steps.append(step)
        return steps

    def _steps(self, path: tuple[ContentCase, ...], leaf: ContentLeaf) -> Iterator[dict[str, Any]]:
        """Yield the steps that prove a leaf."""
        for name in leaf.present:
            yield from self._one("member", name, path, leaf.at_member(name))
        for index in range(min(leaf.items, _ITEMS)):
            yield from self._one("item", index, path, leaf.at_item(index))
        for index, wanted in enumerate(leaf.contains):
            yield from self._several("contains", index, path, leaf.containing(wanted))
        for index, broken in enumerate(leaf.broken):
            yield from self._several("broken", index, path, leaf.breaking(broken))

    def _one(
        self, kind: str, place: str | int, path: tuple[ContentCase, ...], case: ContentCase
    ) -> Iterator[dict[str, Any]]:
        proof = self.proof((*path, case)) if case.met else None
        if proof is not None:
            yield {kind: place, "in": proof}

    def _several(
        self, kind: str, place: int, path: tuple[ContentCase, ...], cases: Iterable[ContentCase]
    ) -> Iterator[dict[str, Any]]:
        proofs = {}
        for number, case in enumerate(cases):
            proof = self.proof((*path, case))
            if proof is None:
                return
            if proof != []:
                proofs[str(number)] = proof
        yield {kind: place, "in": proofs}
