"""What in a schema was probably not meant."""

from collections.abc import Iterator

import attrs

from messagebody._text import quote
from messagebody.compatibility.inclusion import check
from messagebody.compatibility.relations import dead_parts, satisfiable
from messagebody.schema import MessageBodySchema, SchemaPart


@attrs.frozen
class Finding:
    """Something in a legal schema that was probably not meant.

    Arguments:
        code: `unsatisfiable`: no body is valid; `dead-part`: no valid body has such a part;
            `redundant-part`: others accept all that an optional part does; or that of a pattern:
            `matches-nothing`, `double-star`, `lone-suffix`.
        text: the finding in words, with what to write instead where that is known.
        schema_index: the schema part concerned, None for the schema as a whole.
    """

    code: str
    text: str
    schema_index: int | None = None

    def __str__(self) -> str:
        place = "" if self.schema_index is None else f"schema part {self.schema_index}: "
        return place + self.text


def lint(schema: MessageBodySchema) -> list[Finding]:
    """Return what was probably not meant, the whole schema first, then part by part.

    Only what is proved is reported.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> for finding in lint(MessageBodySchema([(None, "text/*"), (None, "text/plain")])):
        ...     print(finding)
        schema part 1: the others accept all that text/plain does; leave it out
    """
    found: list[Finding] = []
    if satisfiable(schema).value is False:
        text = "no body is valid: what is required can't all be met"
        found.append(Finding("unsatisfiable", text))
    elif schema:
        found += _on_parts(schema, set(dead_parts(schema)))
    for index, part in enumerate(schema):
        found += _on_patterns(index, part)
    return sorted(found, key=_place)


def _place(finding: Finding) -> int:
    return -1 if finding.schema_index is None else finding.schema_index


def _on_parts(schema: MessageBodySchema, dead: set[int]) -> Iterator[Finding]:
    for index, part in enumerate(schema):
        if index in dead:
            yield Finding("dead-part", f"no valid body has a part {part.label}", index)
        elif not part.required and _is_redundant(schema, index):
            text = f"the others accept all that {part.label} does; leave it out"
            yield Finding("redundant-part", text, index)


def _is_redundant(schema: MessageBodySchema, index: int) -> bool:
    part = MessageBodySchema([schema[index]])
    others = [attrs.evolve(each, required=False) for i, each in enumerate(schema) if i != index]
    return bool(check(part, MessageBodySchema(others)))


def _on_patterns(index: int, part: SchemaPart) -> Iterator[Finding]:
    for pattern in (part.name_pattern, part.content_type_pattern):
        for each in () if pattern is None else pattern.lint():
            yield Finding(each.code, f"{quote(str(pattern))}: {each.text}", index)
