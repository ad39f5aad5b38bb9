"""Dead places: schemas and values inside a content schema that no content uses."""

import copy
from collections.abc import Iterator
from typing import Any, Final

from messagebody._base.budget import OutOfBudget
from messagebody.compatibility._contents._question import ContentQuestions
from messagebody.errors import InvalidSchema
from messagebody.findings import pointer
from messagebody.schema import ContentSchema, content_schema_of

_MOST: Final = 200
"""Places that are looked at: each takes a question."""
_NAMED: Final = ("properties", "patternProperties", "dependentSchemas")
_LISTED: Final = ("prefixItems", "anyOf", "oneOf")
_SINGLE: Final = ("additionalProperties", "items", "then", "else")

_Steps = tuple[str | int, ...]


def dead_places(schema: ContentSchema, questions: ContentQuestions) -> Iterator[str]:
    """Yield a JSON Pointer to each schema or value inside that no content uses.

    What is taken out changes nothing then: all contents are still accepted. Places below a dead
    one, below `not` and in definitions are not looked at.

    Arguments:
        schema: the schema, which some content meets.
        questions: answers whether there is a value.

    Examples:
        >>> from messagebody._base.budget import Budget
        >>> schema = content_schema_of({"type": "string", "enum": ["a", 1]})
        >>> list(dead_places(schema, ContentQuestions(Budget())))
        ['/enum/1']
    """
    waiting: list[_Steps] = [()]
    tried = 0
    while waiting:
        place = waiting.pop()
        # Every content meets the schemas of `allOf`, and the whole.
        if place and place[-2:-1] != ("allOf",):
            tried += 1
            if tried > _MOST:
                return
            if _is_dead(schema, place, questions):
                yield pointer(*place)
                continue
        waiting += reversed([(*place, *steps) for steps in _inside(_at(schema.exact, place))])


def _inside(schema: Any) -> Iterator[_Steps]:
    """Yield the steps to each schema and value inside a schema."""
    if not isinstance(schema, dict):
        return
    for keyword in _NAMED:
        yield from ((keyword, name) for name in schema.get(keyword, ()))
    for keyword in (*_LISTED, "allOf"):
        yield from ((keyword, index) for index in range(len(schema.get(keyword, ()))))
    # A schema that is false says itself that there is nothing.
    yield from ((keyword,) for keyword in _SINGLE if keyword in schema)
    values = schema.get("enum", ())
    if len(values) > 1:
        yield from (("enum", index) for index in range(len(values)))


def _is_dead(schema: ContentSchema, place: _Steps, questions: ContentQuestions) -> bool:
    document = copy.deepcopy(schema.exact)
    holder, last = _at(document, place[:-1]), place[-1]
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


def _at(document: Any, steps: _Steps) -> Any:
    for step in steps:
        document = document[step]
    return document
