"""Relations of schemas besides inclusion: satisfiable, disjoint, equivalent, evolution."""

import attrs

from messagebody._base.budget import DEFAULT_STEPS, Budget, OutOfBudget
from messagebody._base.guards import require_schema
from messagebody._base.text import quote
from messagebody._model.body import MessageBody
from messagebody.compatibility._inclusion import Compatibility, check
from messagebody.compatibility._solver.decision import NOTHING, Decision
from messagebody.compatibility._solver.part_types import example_body
from messagebody.compatibility._solver.profile import profile_of
from messagebody.schema import MessageBodySchema, PartType


@attrs.frozen(eq=False)
class Relation:
    """The answer to a yes-or-no question; true only if the yes is proved.

    Arguments:
        value: True, False, or None if the budget ended first.
        witness: a body that shows the answer, if a body can show it.
    """

    value: bool | None
    witness: MessageBody | None = None

    def __bool__(self) -> bool:
        return self.value is True


_UNDECIDED = Relation(None)
_MODES = {"backward", "forward", "full"}


def satisfiable(schema: MessageBodySchema, *, max_steps: int = DEFAULT_STEPS) -> Relation:
    """Return whether some body is valid; the witness is a valid body.

    Returns:
        The answer, true only if it is proved: its `value` is True, False, or None if the budget
        ended first, and its `witness` a body that shows it, if a body can.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> clash = MessageBodySchema([("/a", "text/plain", True), ("/a", "image/png", True)])
        >>> satisfiable(clash).value
        False
    """
    require_schema(schema)
    try:
        types = Decision(profile_of(schema), NOTHING, Budget(max_steps)).valid_body()
    except OutOfBudget:
        return _UNDECIDED
    return Relation(False) if types is None else _with_witness(True, types)


def disjoint(
    one: MessageBodySchema, other: MessageBodySchema, *, max_steps: int = DEFAULT_STEPS
) -> Relation:
    """Return whether no body is valid for both schemas; the witness is a body that is.

    Returns:
        The answer, as `satisfiable` gives it.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> text = MessageBodySchema([(None, "text/*", True)])
        >>> image = MessageBodySchema([(None, "image/*", True)])
        >>> disjoint(text, image).value, disjoint(text, text).witness[0].content_type
        (True, 'text/plain')
    """
    require_schema(one)
    require_schema(other)
    try:
        profiles = profile_of(one), profile_of(other)
        types = Decision(*profiles, Budget(max_steps)).shared_body()
    except OutOfBudget:
        return _UNDECIDED
    return Relation(True) if types is None else _with_witness(False, types)


def equivalent(
    one: MessageBodySchema, other: MessageBodySchema, *, max_steps: int = DEFAULT_STEPS
) -> Relation:
    """Return whether the same bodies are valid for both; the witness is valid for only one.

    Returns:
        The answer, as `satisfiable` gives it.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> braces = MessageBodySchema([("/{a,b}", "text/*")])
        >>> equivalent(braces, MessageBodySchema([("/a", "text/*"), ("/b", "text/*")])).value
        True
    """
    require_schema(one)
    require_schema(other)
    ways = [check(one, other, max_steps=max_steps), check(other, one, max_steps=max_steps)]
    # A counterexample in one direction settles it, even if the other direction is undecided.
    for way in ways:
        if way.compatible is False:
            return Relation(False, way.counterexample)
    return Relation(True) if all(ways) else _UNDECIDED


def evolution(
    old: MessageBodySchema,
    new: MessageBodySchema,
    mode: str,
    *,
    lenient: bool = False,
    max_steps: int = DEFAULT_STEPS,
) -> Compatibility:
    """Decide whether a schema may change under a mode; true only if that is proved.

    Arguments:
        old: the present schema.
        new: the schema after the change.
        mode: `backward`: the new schema accepts every body that is valid for the old one;
            `forward`: the old schema accepts every body that is valid for the new one; or `full`:
            both. In any case.
        lenient: readers ignore parts they do not know.
        max_steps: the budget for each direction.

    Returns:
        The answer to `check`; for `full`, the worse answer of the two directions.

    Raises:
        ValueError: the mode is unknown.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> old = MessageBodySchema([(None, "text/plain", True)])
        >>> new = MessageBodySchema([(None, "text/*", True)])
        >>> bool(evolution(old, new, "backward")), bool(evolution(old, new, "forward"))
        (True, False)
    """
    require_schema(old)
    require_schema(new)
    wanted = mode.lower()
    if wanted not in _MODES:
        raise ValueError(f"a mode is backward, forward or full, not {quote(mode)}")
    ways = []
    if wanted != "forward":
        ways.append(check(old, new, lenient=lenient, max_steps=max_steps))
    if wanted != "backward":
        ways.append(check(new, old, lenient=lenient, max_steps=max_steps))
    # The worse of the two answers: a counterexample first, then an undecided one.
    return min(ways, key=lambda way: (way.compatible is not False, way.compatible is not None))


def _with_witness(value: bool, types: list[PartType]) -> Relation:
    return Relation(value, example_body(types))
