"""The algebra of the library that validates: what it proves where the search does not."""

from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import Any, Final

from messagebody.schema import ContentSchema, content_schema_of
from messagebody.schema._library import library

_LONGEST: Final = 16_384
"""Characters of the schemas of a question: the library has no budget."""
_CACHED: Final = 256


def is_none(met: Sequence[ContentSchema], unmet: Sequence[ContentSchema]) -> bool:
    """Return whether the library proves that no value meets some schemas and none of others.

    Examples:
        >>> from messagebody.schema import content_schema_of
        >>> integer, number = (content_schema_of({"type": kind}) for kind in ("integer", "number"))
        >>> is_none([integer], [number]), is_none([number], [integer])
        (True, False)
    """
    if sum(len(each.canonical) for each in (*met, *unmet)) > _LONGEST:
        return False
    rs = library()
    try:
        wanted = map(_canonical, met or [content_schema_of(True)])
        both = reduce(lambda one, other: one.intersect(other), wanted)
        if not unmet:
            return bool(both.satisfiability() == rs.canonical.Satisfiability.NO)
        either = reduce(lambda one, other: one.union(other), map(_canonical, unmet))
        return bool(either.covers(both) == rs.canonical.Containment.YES)
    except rs.canonical.CanonicalizationError:
        return False  # it is beyond the algebra


@lru_cache(_CACHED)
def _canonical(schema: ContentSchema) -> Any:
    rs = library()
    return rs.canonicalize(
        schema.exact, draft=rs.Draft202012, offline=True, validate_formats=False,
        pattern_options=rs.RegexOptions(),
    )  # fmt: skip
