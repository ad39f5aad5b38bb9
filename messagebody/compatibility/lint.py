"""Lint: findings about a legal schema that was probably not meant as it is written."""

from collections.abc import Iterator

import attrs

from messagebody._text import quote
from messagebody.compatibility.inclusion import check
from messagebody.compatibility.relations import dead_parts, satisfiable
from messagebody.findings import Finding, Severity, pointer
from messagebody.schema import MessageBodySchema, SchemaPart


def lint(schema: MessageBodySchema) -> list[Finding]:
    """Return what in a schema was probably not meant: about the whole first, then part by part.

    Only what is proved is reported. The checks are `unsatisfiable`: no body is valid (the only
    error); `dead-part`: no valid body has such a part; `redundant-part`: other schema parts
    accept all that an optional one does; and those of a pattern: `matches-nothing`,
    `double-star`, `lone-suffix`. `Finding.index` is the schema part's, None for the whole.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> for finding in lint(MessageBodySchema([(None, "text/*"), (None, "text/plain")])):
        ...     print(finding)  # doctest: +ELLIPSIS
        schema part 1: the others accept all ... leave it out (warning redundant-part)
    """
    found: list[Finding] = []
    if satisfiable(schema).value is False:
        problem = "no body is valid: what is required can't all be met"
        found.append(Finding("unsatisfiable", "", problem))
    elif schema:
        found += _on_parts(schema, set(dead_parts(schema)))
    for index, part in enumerate(schema):
        found += _on_patterns(index, part)
    return sorted(found, key=_order)


def _order(finding: Finding) -> int:
    return -1 if finding.index is None else finding.index


def _on_part(check: str, index: int, problem: str) -> Finding:
    place = f"schema part {index}"
    return Finding(check, pointer(index), problem, Severity.WARNING, place=place)


def _on_parts(schema: MessageBodySchema, dead: set[int]) -> Iterator[Finding]:
    for index, part in enumerate(schema):
        if index in dead:
            yield _on_part("dead-part", index, f"no valid body has a part {part.label}")
        elif not part.required and _is_redundant(schema, index):
            problem = f"the others accept all that {part.label} does; leave it out"
            yield _on_part("redundant-part", index, problem)


def _is_redundant(schema: MessageBodySchema, index: int) -> bool:
    part = MessageBodySchema([schema[index]])
    others = [attrs.evolve(each, required=False) for i, each in enumerate(schema) if i != index]
    return bool(check(part, MessageBodySchema(others)))


def _on_patterns(index: int, part: SchemaPart) -> Iterator[Finding]:
    for pattern in (part.name_pattern, part.content_type_pattern):
        for each in () if pattern is None else pattern.lint():
            yield _on_part(each.code, index, f"{quote(str(pattern))}: {each.text}")
