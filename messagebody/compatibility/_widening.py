"""Changes of the consumer that make a failing pair fit: it takes more, and nothing less.

A consumer part takes further types of the same kind, as JSON with a media type of its own is JSON,
or it becomes optional.
"""

import re
from contextlib import suppress
from typing import Final

import attrs

from messagebody.compatibility._inclusion import Compatibility, check
from messagebody.compatibility._solver.containment import contains
from messagebody.errors import InvalidSchema
from messagebody.globs import content_type_pattern
from messagebody.schema import MessageBodySchema, SchemaPart

_ROUNDS: Final = 4
_STRUCTURED: Final = {f"application/{each}": f"*+{each}" for each in ("json", "xml", "yaml")}
"""Types with the suffix that further types of their syntax have (RFC 6839, section 3)."""
_ALTERNATIVES: Final = re.compile(r"\{([^{}]+)\}\Z")


def widened(
    result: Compatibility, consumer: MessageBodySchema, *, lenient: bool, max_steps: int
) -> MessageBodySchema | None:
    """Return a consumer that takes more, so that a pair fits; None if no such change helps.

    Arguments:
        result: the answer for the pair.
        consumer: the schema of the consumer, to which `result` may add what a lenient one ignores.
        lenient: the consumer ignores parts it does not know.
        max_steps: the budget of all attempts together.
    """
    for _ in range(_ROUNDS):
        parts = _widened_parts(result, list(consumer))
        if parts is None:
            return None
        consumer = MessageBodySchema(parts)
        result = check(result.producer, consumer, lenient=lenient, max_steps=max_steps)
        if result:
            return consumer
        max_steps -= result.max_steps
        if max_steps <= 0:
            return None
    return None


def _widened_parts(result: Compatibility, parts: list[SchemaPart]) -> list[SchemaPart] | None:
    """Return consumer parts that take more; None if something is refused that can't be mended."""
    refused = [each for each in result.reasons if each.code == "part-not-accepted"]
    for reason in refused:
        at = reason.producer_index
        changed = None if at is None else _widened_to_take(result.producer[at], parts)
        if changed is None:
            return None
        parts = changed
    if refused:
        return parts
    # Only after all types are taken: those may be what is required.
    if any(each.code != "required-may-be-missing" for each in result.reasons):
        return None
    missing = {each.consumer_index for each in result.reasons}
    return [
        _always_met(result.producer, part) if at in missing else part
        for at, part in enumerate(parts)
    ]


def _always_met(producer: MessageBodySchema, part: SchemaPart) -> SchemaPart:
    """Return a consumer part that each message meets: by another type, or required no more."""
    always = (_widened_to_take(sent, [part]) for sent in producer if sent.required)
    [met] = next((found for found in always if found is not None), [None])
    return attrs.evolve(part, required=False) if met in {None, part} else met


def _widened_to_take(sent: SchemaPart, parts: list[SchemaPart]) -> list[SchemaPart] | None:
    """Return parts with the first widened that can take what a producer part sends.

    None if no part can.

    Arguments:
        sent: the producer part.
        parts: the parts of the consumer.
    """
    for at, part in enumerate(parts):
        kinds = _common_pattern(part.content_type, sent.content_type)
        if kinds is not None and takes_names_of(part, sent):
            with suppress(InvalidSchema):  # it says what is inside, and of other types it can't
                wider = attrs.evolve(part, content_type=kinds)
                return [*parts[:at], wider, *parts[at + 1 :]]
    return None


def takes_names_of(part: SchemaPart, sent: SchemaPart) -> bool:
    """Return whether a schema part accepts all names that another one does."""
    if part.name_pattern is None or sent.name_pattern is None:
        return part.name_pattern is sent.name_pattern
    return bool(contains(part.name_pattern, sent.name_pattern))


def _common_pattern(taken: str, sent: str) -> str | None:
    """Return a pattern of all types of two patterns, if they are of one kind.

    Examples:
        >>> _common_pattern("application/json", "application/ld+json")
        'application/{json,*+json}'
        >>> _common_pattern("text/plain", "text/markdown")
        'text/{plain,markdown}'
        >>> _common_pattern("text/plain", "text/*")
        'text/*'
        >>> _common_pattern("text/*", "text/html")
        'text/*'
        >>> _common_pattern("text/plain", "image/png")
    """
    kind, _, subtype = taken.partition("/")
    other, _, more = sent.partition("/")
    if kind != other or "*" in kind or "{" in kind:
        return None
    before, wanted = content_type_pattern(taken), content_type_pattern(sent)
    if contains(before, wanted):
        return taken
    if contains(wanted, before):
        return sent
    family = _STRUCTURED.get(taken)
    if family is not None and more.endswith(family[1:]):
        more = family
    subtypes = dict.fromkeys([*_alternatives(subtype), *_alternatives(more)])
    return f"{kind}/{{{','.join(subtypes)}}}"


def _alternatives(subtype: str) -> list[str]:
    found = _ALTERNATIVES.match(subtype)
    return found[1].split(",") if found else [subtype]
