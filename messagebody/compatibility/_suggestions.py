"""Suggestions: changes of one side that make a failing pair fit, each proved.

A change of the producer renames a part, drops a part that the consumer rejects, converts or narrows
its content type, adds or removes its name, or makes an optional part required. Changes are combined
until the pair fits. The consumer may take more types, or require less. Suggestions with the fewest
edits come first, and of as many those that drop the fewest parts.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from messagebody._base.budget import DEFAULT_STEPS, Budget, OutOfBudget
from messagebody._base.text import escape, quote
from messagebody.compatibility._inclusion import Compatibility, check
from messagebody.compatibility._solver.containment import are_disjoint, contains
from messagebody.compatibility._solver.decision import NOTHING, Decision
from messagebody.compatibility._solver.profile import Profile, profile_of
from messagebody.compatibility._widening import takes_names_of, widened
from messagebody.errors import InvalidSchema
from messagebody.globs import content_type_pattern
from messagebody.schema import ContentSchema, MessageBodySchema, SchemaPart

if TYPE_CHECKING:
    from messagebody.compatibility._contents._repairs import Repair

Kind = Literal[
    "rename",
    "drop",
    "convert",
    "relabel",
    "require",
    "narrow",
    "require-member",
    "add-member",
    "rename-member",
    "drop-member",
    "drop-null",
    "close-object",
    "narrow-values",
    "widen",
    "optional",
]

_CONVERTERS: Final[Mapping[str, tuple[str, ...]]] = {
    "text/markdown": ("text/html", "text/plain", "application/pdf"),
    "text/html": ("text/markdown", "text/plain", "application/pdf"),
    "text/csv": ("application/json", "text/plain"),
    "application/json": ("text/csv", "application/yaml", "text/plain"),
    "application/yaml": ("application/json", "text/plain"),
    "image/*": ("image/png", "image/jpeg", "image/webp"),
    "image/svg+xml": ("image/png",),
    "audio/*": ("audio/wav", "audio/mpeg", "text/plain"),
    "video/*": ("video/mp4", "audio/wav"),
    "application/pdf": ("text/plain", "image/png"),
}
"""Common conversions from one content type to others."""

# Bounds of the search, because users want few and short suggestions, and want them quickly.
_TRIED: Final = 2_000
_EDITS: Final = 4
_SHARE: Final = 8
_WAYS_INSIDE: Final = 3
_STEPS_INSIDE: Final = 1_000_000
"""Steps for all changes of what is inside parts; each pair of parts may take a share of them."""


@attrs.frozen
class Edit:
    """One change of one schema part.

    Arguments:
        kind: of a producer part: `rename` a named part, `drop` a part, `convert` it to another
            content type, `narrow` its content type to the accepted ones, `relabel`: name an unnamed
            part or remove the name of a named one, or `require`: promise to send it. Inside JSON
            parts: `require-member`: promise to send a member, `add-member`: send one that the
            consumer requires, as it takes it, `rename-member`, `drop-member`, `drop-null`: never
            send null, `close-object`: send no other members, or `narrow-values` to the accepted
            ones. Of a consumer part: `widen` the content types that it takes, or make it
            `optional`.
        index: the index of the part in its schema.
        before: the part before the change.
        after: the part after the change; None if it is dropped.
        pointer: the place in the content, a JSON Pointer; None for changes of other kinds.
        name: the new name of a member.
        others: further places in the content that it changes, because they share a definition.
        is_elsewhere: whether it may change more places than these.
    """

    kind: Kind
    index: int
    before: SchemaPart
    after: SchemaPart | None
    pointer: str | None = None
    name: str = ""
    others: tuple[str, ...] = ()
    is_elsewhere: bool = False

    def __str__(self) -> str:
        part = f"{self.side} part {self.index} {self.before.label}"
        if self.kind == "optional":
            return f"do not require {part}"
        if self.after is None:
            return f"drop {part}"
        if self.pointer is not None:
            return self._inside(part)
        if self.kind == "rename":
            return f"rename {part} to {quote(self.after.name)}"
        if self.kind == "require":
            return f"always send {part}"
        if self.kind == "widen":
            return f"take {escape(self.after.content_type, limit=200)} as {part}"
        if self.kind == "relabel":
            named = "without a name" if self.after.name is None else f"as {quote(self.after.name)}"
            return f"send {part} {named}"
        return f"{self.kind} {part} to {escape(self.after.content_type, limit=200)}"

    @property
    def side(self) -> Literal["producer", "consumer"]:
        """Whose part it is."""
        return "consumer" if self.kind in {"widen", "optional"} else "producer"

    def _inside(self, part: str) -> str:
        places = [quote(each) if each else "the top" for each in (self.pointer, *self.others)]
        places += ["other places that share its definition"] if self.is_elsewhere else []
        *first, last = places
        place = f"{', '.join(first)} and {last}" if first else last
        what, end = _INSIDE[self.kind]
        return f"{what} {place} of {part}{end.format(quote(self.name))}"


_INSIDE: Final[Mapping[str, tuple[str, str]]] = {
    "require-member": ("always send member", ""),
    "add-member": ("always send member", ", as the consumer takes it"),
    "rename-member": ("rename member", " to {}"),
    "drop-member": ("never send member", ""),
    "drop-null": ("never send null at", ""),
    "close-object": ("send no other members at", ""),
    "narrow-values": ("send only accepted values at", ""),
}


@attrs.frozen
class Suggestion:
    """A change of one side after which the pair always fits.

    Arguments:
        edits: the changes, part by part.
        producer: the schema of the producer after all changes.
        consumer: the schema of the consumer after all changes, which takes all that it took.
    """

    edits: tuple[Edit, ...]
    producer: MessageBodySchema
    consumer: MessageBodySchema

    def __str__(self) -> str:
        return "; ".join(map(str, self.edits))

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it: the edits, and both schemas after them."""
        edits = [
            {"kind": edit.kind, f"{edit.side}Index": edit.index, "text": str(edit)}
            for edit in self.edits
        ]
        sides = {"producer": self.producer.to_dicts(), "consumer": self.consumer.to_dicts()}
        return {"edits": edits, **sides}


def suggest(
    producer: MessageBodySchema,
    consumer: MessageBodySchema,
    *,
    lenient: bool = False,
    limit: int = 5,
    max_steps: int = DEFAULT_STEPS,
) -> list[Suggestion]:
    """Return changes of one side that make a pair fit, the fewest edits first.

    Arguments:
        producer: the schema of the bodies that are sent.
        consumer: the schema of the bodies that are accepted.
        lenient: the consumer ignores parts it does not know.
        limit: the largest number of suggestions to return.
        max_steps: the budget, once for deciding the pair and once for all suggestions together.

    Returns:
        Suggestions, each proved: its `edits`, and the schemas `producer` and `consumer` after them.
        An edit has a `kind`, such as `rename`, the `side` and `index` of its part, and the part
        `before` and `after`. An empty list if the pair fits already or no such change helps.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> agent = MessageBodySchema([(None, "text/markdown", True), ("/source/*", "text/*")])
        >>> reader = MessageBodySchema([(None, "text/html", True), ("/sources/*", "text/*")])
        >>> for edit in suggest(agent, reader)[0].edits:
        ...     print(edit)
        convert producer part 0 text/markdown to text/html
        rename producer part 1 '/source/*' text/* to '/sources/*'
        >>> linked = MessageBodySchema([(None, "application/ld+json", True)])
        >>> [found] = suggest(linked, MessageBodySchema([(None, "application/json", True)]))
        >>> print(found)
        take application/{json,*+json} as consumer part 0 application/json
    """
    result = check(producer, consumer, lenient=lenient, max_steps=max_steps)
    if result:
        return []
    changes = _of_producer(result, limit, max_steps)
    found = [Suggestion(edits, made, consumer) for edits, made in changes]
    wider = widened(result, consumer, lenient=lenient, max_steps=max_steps)
    if wider is not None:
        found.append(Suggestion(tuple(_widenings(consumer, wider)), producer, wider))
    return sorted(found, key=_cost_of)[:limit]


def _cost_of(suggestion: Suggestion) -> tuple[int, int]:
    """Return the number of edits, and how many of them lose what was sent."""
    return len(suggestion.edits), sum(edit.kind == "drop" for edit in suggestion.edits)


def _widenings(before: MessageBodySchema, after: MessageBodySchema) -> Iterator[Edit]:
    """Yield the edits between a consumer and the one that takes more."""
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if old.content_type != new.content_type:
            yield Edit("widen", index, old, new)
        if old.required and not new.required:
            yield Edit("optional", index, old, new)


def _of_producer(
    result: Compatibility, limit: int, max_steps: int
) -> list[tuple[tuple[Edit, ...], MessageBodySchema]]:
    """Return changes of the producer, the fewest edits first, and what it is after each."""
    producer, consumer = result.producer, result.consumer
    rejected = set(_senders(result))
    wanted = [
        consumer[reason.consumer_index]
        for reason in result.reasons
        if reason.consumer_index is not None
    ]
    trial = _Trial(producer, profile_of(result.consumer), Budget(max_steps))
    inside_budget = Budget(min(max_steps, _STEPS_INSIDE))
    options = []
    for index, part in enumerate(producer):
        known = list(_options(index, part, index in rejected, wanted, consumer, inside_budget))
        # After a change of another part, the consumer may accept all that is left of this one.
        if index in rejected and index in trial.contested:
            known.insert(0, _Option((), part))
        options.append(known)
    found: list[tuple[tuple[Edit, ...], MessageBodySchema]] = []
    for choice in islice(_cheapest_first(options), _TRIED):
        edits = tuple(edit for option in choice for edit in option.edits)
        if len(edits) > _EDITS or len(found) == limit:
            break
        # A suggestion with some of these edits is enough already.
        if any(set(known) <= set(edits) for known, _ in found):
            continue
        if trial.is_remedy([option.part for option in choice]):
            needed = _necessary_options(choice, producer, trial)
            edits = tuple(edit for option in needed for edit in option.edits)
            kept = [option.part for option in needed if option.part is not None]
            if not any(set(known) <= set(edits) for known, _ in found):
                found.append((edits, MessageBodySchema(kept)))
    return found


def _necessary_options(
    choice: Sequence["_Option"], producer: MessageBodySchema, trial: "_Trial"
) -> list["_Option"]:
    """Return options that are a remedy, without those of parts that may stay as they are."""
    found = list(choice)
    for index, option in enumerate(choice):
        if option.edits and sum(map(bool, (each.edits for each in found))) > 1:
            found[index] = _Option((), producer[index])
            if not trial.is_remedy([each.part for each in found]):
                found[index] = option
    return found


class _Trial:
    """A test for changed producers, with one budget for all of them.

    Arguments:
        producer: the schema before the change.
        consumer: the schema that should accept its bodies.
        budget: the budget of all trials together.
    """

    def __init__(self, producer: MessageBodySchema, consumer: Profile, budget: Budget) -> None:
        self._consumer = consumer
        self._budget = budget
        # A part that was dead before may stay dead after the change.
        before = Decision(profile_of(producer), NOTHING, budget)
        self._alive = [before.occurrence(index).is_found for index in range(len(producer))]
        self.contested = set(_contested(producer, before))

    def is_remedy(self, parts: Sequence[SchemaPart | None]) -> bool:
        """Return whether a changed producer fits and none of its parts has become dead.

        A producer with clashing requirements also fits, because no body is valid for it, and so
        does one without parts. Such changes are useless.

        Arguments:
            parts: each part after the change; None if it was dropped.
        """
        kept = [part for part in parts if part is not None]
        if not kept:
            return False
        decision = Decision(Profile(kept), self._consumer, self._budget)
        try:
            # A hard trial must leave steps for the trials after it.
            with self._budget.share(self._budget.left // _SHARE):
                self._budget.spend(len(kept))
                if decision.counterexample() is not None or decision.valid_body() is None:
                    return False
                alive = [alive for alive, part in zip(self._alive, parts, strict=True) if part]
                return all(
                    decision.occurrence(index).is_found
                    for index, was_alive in enumerate(alive)
                    if was_alive
                )
        except OutOfBudget:
            return False


def _contested(producer: MessageBodySchema, decision: Decision) -> Iterator[int]:
    """Yield the indexes of parts that accept a critical name of another, required part."""
    try:
        names = decision.critical_names
    except OutOfBudget:
        return
    needs = [[part.required and part.accepts_name(name) for part in producer] for name in names]
    for index, part in enumerate(producer):
        if any(
            part.accepts_name(name) and any(need[:index] + need[index + 1 :])
            for name, need in zip(names, needs, strict=True)
        ):
            yield index


def _senders(result: Compatibility) -> Iterator[int]:
    """Yield the indexes of producer parts that allow parts which the consumer rejects."""
    for reason in result.reasons:
        is_rejected = reason.code in {"part-not-accepted", "content-not-accepted"}
        if is_rejected and reason.producer_index is not None:
            yield reason.producer_index
        if reason.part is not None:
            yield from (i for i, each in enumerate(result.producer) if each.accepts(*reason.part))


@attrs.frozen
class _Option:
    """A possible change of a schema part, and the edits it takes."""

    edits: tuple[Edit, ...]
    part: SchemaPart | None


def _options(
    index: int,
    part: SchemaPart,
    is_rejected: bool,
    wanted: Sequence[SchemaPart],
    consumer: Sequence[SchemaPart],
    budget: Budget,
) -> Iterator[_Option]:
    """Yield possible changes of a schema part, the fewest edits first."""
    # A rejected part can't stay unchanged.
    found = [] if is_rejected else [_Option((), part)]
    for target in consumer if is_rejected else wanted:
        for edits in _ways_into(index, part, target, budget):
            after = edits[-1].after if edits else part
            if target in wanted and after is not None and not after.required:
                promised = attrs.evolve(after, required=True)
                found.append(_Option((*edits, Edit("require", index, after, promised)), promised))
            if edits:
                found.append(_Option(edits, after))
    if is_rejected:
        found.append(_Option((Edit("drop", index, part, None),), None))
    # The part need not lie inside the target, because other requirements may take its other names.
    elif not part.required and any(_may_meet(part, target) for target in wanted):
        promised = attrs.evolve(part, required=True)
        found.append(_Option((Edit("require", index, part, promised),), promised))
    yield from dict.fromkeys(sorted(found, key=lambda option: len(option.edits)))


def _ways_into(
    index: int, part: SchemaPart, target: SchemaPart, budget: Budget
) -> Iterator[tuple[Edit, ...]]:
    """Yield edits after which another schema part contains this one."""
    renamed = part
    edits: tuple[Edit, ...] = ()
    if not takes_names_of(target, part):
        renamed = attrs.evolve(part, name=target.name)
        kind: Kind = "rename" if part.name and target.name else "relabel"
        edits = (Edit(kind, index, part, renamed),)
    if contains(target.content_type_pattern, part.content_type_pattern):
        for inside in _ways_inside(index, renamed, target, budget):
            yield (*edits, *inside)
        return
    if contains(part.content_type_pattern, target.content_type_pattern):
        with suppress(InvalidSchema):  # the part says what is inside of other types
            narrowed = attrs.evolve(renamed, content_type=target.content_type)
            yield (*edits, Edit("narrow", index, renamed, narrowed))
    for made in _conversions(part):
        if target.content_type_pattern.matches(made):
            # What is made of a content is another content.
            converted = attrs.evolve(renamed, content_type=made, content_schema=None)
            yield (*edits, Edit("convert", index, renamed, converted))


def _ways_inside(
    index: int, part: SchemaPart, target: SchemaPart, budget: Budget
) -> Iterator[tuple[Edit, ...]]:
    """Yield changes of what is inside a part after which another schema part takes it."""
    sent, taken = part.content_schema, target.content_schema
    if sent is None or taken is None:
        yield ()
        return
    from messagebody.compatibility._contents._question import ContentQuestions
    from messagebody.compatibility._contents._repairs import repairs

    found: list[tuple[tuple[Repair, ...], ContentSchema]] = []
    # What was found stays if the budget ends.
    with suppress(OutOfBudget), budget.share(budget.left // _SHARE):
        found.extend(islice(repairs(sent, taken, ContentQuestions(budget)), _WAYS_INSIDE))
    for steps, schema in found:
        after = attrs.evolve(part, content_schema=schema)
        yield tuple(
            [Edit(step.kind, index, part, after, *attrs.astuple(step)[1:]) for step in steps]
        )


def _may_meet(part: SchemaPart, target: SchemaPart) -> bool:
    if are_disjoint(part.content_type_pattern, target.content_type_pattern):
        return False
    if part.name_pattern is None or target.name_pattern is None:
        return part.name_pattern is target.name_pattern
    return not are_disjoint(part.name_pattern, target.name_pattern)


def _conversions(part: SchemaPart) -> Iterator[str]:
    """Yield the content types that every content a schema part accepts can be converted to."""
    for source, results in _CONVERTERS.items():
        if contains(content_type_pattern(source), part.content_type_pattern):
            yield from results


def _cheapest_first(options: Sequence[Sequence[_Option]]) -> Iterator[tuple[_Option, ...]]:
    """Yield one option from each list, combinations with the fewest edits first."""
    if not all(options):
        return
    start = (0,) * len(options)
    queue, seen = [(_cost(options, start), start)], {start}
    while queue:
        _, places = heapq.heappop(queue)
        yield tuple(each[place] for each, place in zip(options, places, strict=True))
        for index, place in enumerate(places):
            following = (*places[:index], place + 1, *places[index + 1 :])
            if place + 1 < len(options[index]) and following not in seen:
                seen.add(following)
                # Each step makes one choice more expensive, so combinations come in order of cost.
                heapq.heappush(queue, (_cost(options, following), following))


def _cost(options: Sequence[Sequence[_Option]], places: Sequence[int]) -> int:
    return sum(len(each[place].edits) for each, place in zip(options, places, strict=True))
