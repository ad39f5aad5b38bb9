"""Verification of references: existence, size and digest."""

from functools import partial

import attrs

from messagebody._base.guards import require_body, require_resolver
from messagebody._base.text import count_of
from messagebody._base.threads import Stop, run_all
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.errors import DigestMismatch, DigestUnknown
from messagebody.storage._offloading._inline import budget_for
from messagebody.storage._offloading._jobs import subject_of
from messagebody.storage._references.limits import FetchBudget
from messagebody.storage._references.reader import measure_reference
from messagebody.storage._references.resolver import Resolver


@attrs.frozen
class ReferenceFinding:
    """A reference whose content is missing, or has another size or digest.

    Arguments:
        index: the position of the part.
        name: the name of the part, or None.
        error: the error that reading it would raise.
    """

    index: int
    name: str | None
    error: Exception

    def __str__(self) -> str:
        return str(self.error)


@attrs.frozen
class Verification:
    """The result of `verify`; true only if every reference was checked and is valid."""

    checked: int
    findings: tuple[ReferenceFinding, ...]

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        if self:
            return f"nothing is wrong with {count_of(self.checked, 'reference')}"
        return f"{len(self.findings)} of {count_of(self.checked, 'reference')}: " + "; ".join(
            map(str, self.findings)
        )


def verify(
    body: MessageBody, *, resolver: Resolver | None = None, digest: bool = True
) -> Verification:
    """Check the content of every reference against its size and digest.

    Arguments:
        body: the body.
        resolver: decides which references are read; by default the body's resolver.
        digest: read every reference and check its digest; otherwise check only its size.

    Examples:
        >>> from messagebody import MessageBody, Resolver, offload, verify
        >>> body = MessageBody()
        >>> part = body.add("cats " * 1000, name="/notes.txt")
        >>> small = offload(body, "memory://tests", threshold="1 KiB")
        >>> bool(verify(small, resolver=Resolver(allow="memory://tests")))
        True
    """
    require_body(body)
    require_resolver(resolver)
    references = [(at, part) for at, part in enumerate(body) if part.is_reference]
    budgets = budget_for(resolver)
    check = _check_digest if digest else _check_size
    work = [partial(check, at, part, *budgets(part)) for at, part in references]
    errors = run_all(work, Stop()).errors
    findings = tuple(
        ReferenceFinding(at, part.name, errors[number])
        for number, (at, part) in enumerate(references)
        if number in errors
    )
    return Verification(len(references), findings)


def _check_digest(position: int, part: Part, resolver: Resolver, budget: FetchBudget) -> None:
    subject = subject_of(position, part)
    if part.reference is None or part.reference.digest is None:
        raise DigestUnknown([subject])
    measure_reference(part.reference, resolver=resolver, subject=subject, budget=budget)


def _check_size(position: int, part: Part, resolver: Resolver, budget: FetchBudget) -> None:
    subject = subject_of(position, part)
    if part.reference is None or part.reference.size is None:
        raise DigestUnknown([subject])
    found = resolver.size(part.reference.url, subject=subject, budget=budget)
    if found != part.reference.size:
        raise DigestMismatch(subject, f"{part.reference.size:,} bytes", f"{found:,}")
