"""Lint of schemas: likely mistakes in legal schemas."""

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import attrs

from messagebody._base.budget import DEFAULT_STEPS, Budget, OutOfBudget
from messagebody._base.guards import require_schema
from messagebody._base.leaves import FoundList
from messagebody._base.media_types import ALIASES, by_usual_name
from messagebody._base.text import did_you_mean, quote
from messagebody.compatibility._inclusion import Compatibility, check
from messagebody.compatibility._relations import satisfiable
from messagebody.compatibility._solver.decision import NOTHING, Decision
from messagebody.compatibility._solver.profile import profile_of
from messagebody.errors import InvalidSchema
from messagebody.findings import Finding, Severity, pointer
from messagebody.schema import ContentSchema, MessageBodySchema, SchemaPart, content_schema_of

if TYPE_CHECKING:
    from messagebody.compatibility._contents._question import ContentQuestions

_MOST_PLACES: Final = 200
"""Places that are looked at: each takes a question."""
_NAMED_SCHEMAS: Final = ("properties", "patternProperties", "dependentSchemas")
_LISTED_SCHEMAS: Final = ("prefixItems", "anyOf", "oneOf")
_SINGLE_SCHEMAS: Final = ("additionalProperties", "items", "then", "else")

_Place = tuple[str | int, ...]


def lint(schema: MessageBodySchema, *, max_steps: int = DEFAULT_STEPS) -> list[Finding]:
    """Return likely mistakes in a legal schema, first those of the whole schema, then part by part.

    All but `unknown-word` are proved. The checks are `unsatisfiable`: no body is valid (the only
    error); `dead-part`: no valid body has such a part; `dead-content`: no content uses a schema or
    a value inside a content schema; `unknown-word`: a word of a content schema that JSON Schema
    ignores, and that is nearly one of its own; `redundant-part`: other schema parts accept all that
    an optional part accepts; `undecided`: the budget ended first; and the checks of patterns:
    `matches-nothing`, `double-star`, `lone-suffix`, `unregistered-type`; and `alias-type`: it
    spells a type by another name than parts have that are read from elsewhere. `Finding.index` is
    the index of the schema part, None for the whole schema.

    Arguments:
        schema: the schema.
        max_steps: the budget for each question about the schema.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> for finding in lint(MessageBodySchema([(None, "text/*"), (None, "text/plain")])):
        ...     print(finding)  # doctest: +ELLIPSIS
        schema part 1: the others accept all ... leave it out (warning redundant-part)
    """
    require_schema(schema)
    found: list[Finding] = []
    # If no body is valid, every part is dead and redundant, and one finding is enough.
    if satisfiable(schema, max_steps=max_steps).value is False:
        problem = "no body is valid: the required parts can't all be met"
        found.append(Finding("unsatisfiable", "", problem))
    elif schema:
        found += _on_parts(schema, max_steps)
    for index, part in enumerate(schema):
        found += _on_patterns(index, part)
        found += _on_aliases(index, part, schema)
    return FoundList(sorted(found, key=_order))


def _order(finding: Finding) -> int:
    return -1 if finding.index is None else finding.index


def _on_part(check: str, index: int, problem: str) -> Finding:
    place = f"schema part {index}"
    return Finding(check, pointer(index), problem, Severity.WARNING, place=place)


def _on_parts(schema: MessageBodySchema, max_steps: int) -> Iterator[Finding]:
    decision = Decision(profile_of(schema), NOTHING, Budget(max_steps))
    occurrences = [decision.occurrence(index) for index in range(len(schema))]
    undecided = {index for index, found in enumerate(occurrences) if not found.is_settled}
    for index, part in enumerate(schema):
        is_dead = occurrences[index].is_refuted
        if is_dead:
            yield _on_part("dead-part", index, f"no valid body has a part {part.label}")
        elif not part.required:
            redundant = _redundancy(schema, index, max_steps)
            if redundant:
                problem = f"the others accept all that {part.label} does; leave it out"
                yield _on_part("redundant-part", index, problem)
            elif redundant.compatible is None:
                undecided.add(index)
        if not is_dead and part.content_schema is not None:
            yield from _on_content(index, part.content_schema, max_steps)
    if undecided:
        places = ", ".join(map(str, sorted(undecided)))
        problem = f"the budget ended before it was known whether these parts are of use: {places}"
        yield Finding("undecided", "", problem, Severity.WARNING)


def _redundancy(schema: MessageBodySchema, index: int, max_steps: int) -> Compatibility:
    """Return whether the other parts accept everything that one part accepts."""
    part = MessageBodySchema([schema[index]])
    # Made optional, because only their acceptance matters here.
    others = [attrs.evolve(each, required=False) for i, each in enumerate(schema) if i != index]
    return check(part, MessageBodySchema(others), max_steps=max_steps)


def _on_content(index: int, content: ContentSchema, max_steps: int) -> Iterator[Finding]:
    # Loaded here, because few schemas say what is inside.
    from messagebody.compatibility._contents._question import ContentQuestions

    yield from _on_words(index, content)
    for place in dead_places(content, ContentQuestions(Budget(max_steps))):
        yield _on_part(
            "dead-content", index, f"no content uses {quote(place)} of its content schema"
        )


def _on_words(index: int, content: ContentSchema) -> Iterator[Finding]:
    from messagebody.schema._dialects import WORDS, subschemas

    for place, schema in subschemas(content.exact):
        for word in schema if isinstance(schema, dict) else ():
            near = "" if word in WORDS or word.startswith("x-") else did_you_mean(word, WORDS)
            if near:
                at = quote(pointer(*place, word))
                problem = f"{at} of its content schema says nothing{near}"
                yield _on_part("unknown-word", index, problem)


def _on_patterns(index: int, part: SchemaPart) -> Iterator[Finding]:
    for pattern in (part.name_pattern, part.content_type_pattern):
        for each in () if pattern is None else pattern.lint():
            yield _on_part(each.code, index, f"{quote(str(pattern))}: {each.text}")


def _on_aliases(index: int, part: SchemaPart, schema: MessageBodySchema) -> Iterator[Finding]:
    """Yield the other names of types that a part spells, where none of its kind has the usual one.

    Messages that are converted, and files that are added, have types by their usual names.
    """
    if "*" in part.content_type:
        return
    alike = [each.content_type_pattern for each in schema if each.name == part.name]
    for other in ALIASES:
        usual = by_usual_name(other)
        if usual == other or not part.content_type_pattern.matches(other):
            continue
        if not any(pattern.matches(usual) for pattern in alike):
            problem = f"{quote(other)} is another name of {quote(usual)}, which most parts have"
            yield _on_part("alias-type", index, problem)


# Places inside content schemas


def dead_places(schema: ContentSchema, questions: "ContentQuestions") -> Iterator[str]:
    """Yield a JSON Pointer to each schema or value inside that no content uses.

    What is taken out changes nothing then: all contents are still accepted. Places below a dead
    one, below `not` and in definitions are not looked at.

    Arguments:
        schema: the schema, which some content meets.
        questions: answers whether there is a value.

    Examples:
        >>> from messagebody.compatibility._contents._question import ContentQuestions
        >>> from messagebody._base.budget import Budget
        >>> schema = content_schema_of({"type": "string", "enum": ["a", 1]})
        >>> list(dead_places(schema, ContentQuestions(Budget())))
        ['/enum/1']
    """
    waiting: list[_Place] = [()]
    tried = 0
    while waiting:
        place = waiting.pop()
        # Every content meets the schemas of `allOf`, and the whole.
        if place and place[-2:-1] != ("allOf",):
            tried += 1
            if tried > _MOST_PLACES:
                return
            if _is_dead(schema, place, questions):
                yield pointer(*place)
                continue
        waiting += reversed(
            [(*place, *steps) for steps in _places_inside(_schema_at(schema.exact, place))]
        )


def _places_inside(schema: Any) -> Iterator[_Place]:
    """Yield the steps to each schema and value inside a schema."""
    if not isinstance(schema, dict):
        return
    for keyword in _NAMED_SCHEMAS:
        yield from ((keyword, name) for name in schema.get(keyword, ()))
    for keyword in (*_LISTED_SCHEMAS, "allOf"):
        yield from ((keyword, index) for index in range(len(schema.get(keyword, ()))))
    # One that is false is not asked about: its author says that nothing is there.
    yield from ((keyword,) for keyword in _SINGLE_SCHEMAS if keyword in schema)
    values = schema.get("enum", ())
    if len(values) > 1:
        yield from (("enum", index) for index in range(len(values)))


def _is_dead(schema: ContentSchema, place: _Place, questions: "ContentQuestions") -> bool:
    document = copy.deepcopy(schema.exact)
    holder, last = _schema_at(document, place[:-1]), place[-1]
    if holder[last] is False:
        return False
    if place[-2:-1] == ("enum",):
        del holder[last]
    else:
        holder[last] = False
    try:
        return questions.ask([schema], [content_schema_of(document)]) is None
    except (InvalidSchema, OutOfBudget):  # something refers to the place; or it is not known
        return False


def _schema_at(document: Any, steps: _Place) -> Any:
    for step in steps:
        document = document[step]
    return document
