"""Lint of schemas: likely mistakes in a legal one."""

from collections.abc import Iterator

import attrs

from messagebody._base.guards import require_schema
from messagebody._base.text import quote
from messagebody.compatibility._inclusion import Compatibility, check
from messagebody.compatibility._relations import dead_parts, satisfiable
from messagebody.compatibility._solver.budget import DEFAULT_STEPS
from messagebody.findings import Finding, Severity, pointer
from messagebody.schema import MessageBodySchema, SchemaPart


def lint(schema: MessageBodySchema, *, steps: int = DEFAULT_STEPS) -> list[Finding]:
    """Return likely mistakes in a legal schema: about the whole first, then part by part.

    Only what is proved is reported. Where the budget ends first, a finding says so. The checks are
    `unsatisfiable`: no body is valid (the only error); `dead-part`: no valid body has such a part;
    `redundant-part`: other schema parts accept all that an optional one does; `undecided`: the
    budget ended first; and those of a pattern: `matches-nothing`, `double-star`, `lone-suffix`,
    `unregistered-type`.
    `Finding.index` is the schema part's, None for the whole.

    Arguments:
        schema: the schema.
        steps: the work that each question about the schema may take.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> for finding in lint(MessageBodySchema([(None, "text/*"), (None, "text/plain")])):
        ...     print(finding)  # doctest: +ELLIPSIS
        schema part 1: the others accept all ... leave it out (warning redundant-part)
    """
    require_schema(schema)
    found: list[Finding] = []
    # Nothing is valid, so every part is dead and redundant: one finding says it.
    if satisfiable(schema, steps=steps).value is False:
        problem = "no body is valid: the required parts can't all be met"
        found.append(Finding("unsatisfiable", "", problem))
    elif schema:
        found += _on_parts(schema, steps)
    for index, part in enumerate(schema):
        found += _on_patterns(index, part)
    return sorted(found, key=_order)


def _order(finding: Finding) -> int:
    return -1 if finding.index is None else finding.index


def _on_part(check: str, index: int, problem: str) -> Finding:
    place = f"schema part {index}"
    return Finding(check, pointer(index), problem, Severity.WARNING, place=place)


def _on_parts(schema: MessageBodySchema, steps: int) -> Iterator[Finding]:
    dead = dead_parts(schema, steps=steps)
    undecided = set(dead.undecided)
    for index, part in enumerate(schema):
        if index in dead:
            yield _on_part("dead-part", index, f"no valid body has a part {part.label}")
        elif not part.required:
            redundant = _redundancy(schema, index, steps)
            if redundant:
                problem = f"the others accept all that {part.label} does; leave it out"
                yield _on_part("redundant-part", index, problem)
            elif redundant.compatible is None:
                undecided.add(index)
    if undecided:
        places = ", ".join(map(str, sorted(undecided)))
        problem = f"the budget ended before it was known if all parts are of use: {places} are open"
        yield Finding("undecided", "", problem, Severity.WARNING)


def _redundancy(schema: MessageBodySchema, index: int, steps: int) -> Compatibility:
    """Return whether the other parts accept all that one part accepts."""
    part = MessageBodySchema([schema[index]])
    # Only what they accept is the question here, not what they demand.
    others = [attrs.evolve(each, required=False) for i, each in enumerate(schema) if i != index]
    return check(part, MessageBodySchema(others), steps=steps)


def _on_patterns(index: int, part: SchemaPart) -> Iterator[Finding]:
    for pattern in (part.name_pattern, part.content_type_pattern):
        for each in () if pattern is None else pattern.lint():
            yield _on_part(each.code, index, f"{quote(str(pattern))}: {each.text}")
