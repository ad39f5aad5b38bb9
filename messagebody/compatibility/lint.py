"""Lint of schemas: likely mistakes in a legal one."""

from collections.abc import Iterator

import attrs

from messagebody._text import quote
from messagebody.compatibility.inclusion import Compatibility, check
from messagebody.compatibility.relations import dead_parts, satisfiable
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.solver.budget import DEFAULT_STEPS


@attrs.frozen
class Finding:
    """A likely mistake in a legal schema.

    Arguments:
        code: `unsatisfiable`: no body is valid; `dead-part`: no valid body has such a part;
            `redundant-part`: others accept all that an optional part does; `undecided`: the
            budget ended first; or that of a pattern: `matches-nothing`, `double-star`,
            `lone-suffix`.
        text: the finding in words, with what to write instead where that is known.
        schema_index: the schema part concerned, None for the schema as a whole.
    """

    code: str
    text: str
    schema_index: int | None = None

    def __str__(self) -> str:
        place = "" if self.schema_index is None else f"schema part {self.schema_index}: "
        return place + self.text


def lint(schema: MessageBodySchema, *, steps: int = DEFAULT_STEPS) -> list[Finding]:
    """Return likely mistakes, the whole schema first, then part by part.

    Only what is proved is reported. Where the budget ends first, a finding says so.

    Arguments:
        schema: the schema.
        steps: the work that each question about the schema may take.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> for finding in lint(MessageBodySchema([(None, "text/*"), (None, "text/plain")])):
        ...     print(finding)
        schema part 1: the others accept all that text/plain does; leave it out
    """
    found: list[Finding] = []
    if satisfiable(schema, steps=steps).value is False:
        text = "no body is valid: what is required can't all be met"
        found.append(Finding("unsatisfiable", text))
    elif schema:
        found += _on_parts(schema, steps)
    for index, part in enumerate(schema):
        found += _on_patterns(index, part)
    return sorted(found, key=_place)


def _place(finding: Finding) -> int:
    return -1 if finding.schema_index is None else finding.schema_index


def _on_parts(schema: MessageBodySchema, steps: int) -> Iterator[Finding]:
    dead = dead_parts(schema, steps=steps)
    undecided = set(dead.undecided)
    for index, part in enumerate(schema):
        if index in dead:
            yield Finding("dead-part", f"no valid body has a part {part.label}", index)
        elif not part.required:
            redundant = _redundancy(schema, index, steps)
            if redundant:
                text = f"the others accept all that {part.label} does; leave it out"
                yield Finding("redundant-part", text, index)
            elif redundant.compatible is None:
                undecided.add(index)
    if undecided:
        places = ", ".join(map(str, sorted(undecided)))
        text = f"the budget ended before it was known if all parts are of use: {places} are open"
        yield Finding("undecided", text)


def _redundancy(schema: MessageBodySchema, index: int, steps: int) -> Compatibility:
    """Return whether the other parts accept all that one part accepts."""
    part = MessageBodySchema([schema[index]])
    others = [attrs.evolve(each, required=False) for i, each in enumerate(schema) if i != index]
    return check(part, MessageBodySchema(others), steps=steps)


def _on_patterns(index: int, part: SchemaPart) -> Iterator[Finding]:
    for pattern in (part.name_pattern, part.content_type_pattern):
        for each in () if pattern is None else pattern.lint():
            yield Finding(each.code, f"{quote(str(pattern))}: {each.text}", index)
