"""Images: what becomes of the parts of a schema in steps, said by schema parts again.

An image accepts all that arrives of a schema part, and maybe more, never less. So what is always
valid of images is always valid of messages, and what never is, never. What may break is looked for
as a part of an image, which is pulled back to what the sender has to send.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

import attrs

from messagebody._core import Budget, extension_of, is_json
from messagebody.compatibility import check, meet
from messagebody.globs import ContentTypePattern, NamePattern
from messagebody.schema import ContentSchema, MessageBodySchema, SchemaPart
from messagebody.workflows._steps import (
    STAYS,
    Chain,
    Move,
    StepRule,
    WitnessPart,
    WorkflowStep,
    sample_of,
)

_CACHED: Final = 8192
_QUESTION: Final = 100
"""Steps of the budget for a question about two patterns."""
_MOST: Final = 2_000
"""Steps after which such a question stays open."""
_NUMBER: Final = "{1,2,3,4,5,6,7,8,9}*"
"""What accepts numbers, and an extension that is not known."""
_ANYTHING: Final = (SchemaPart("/**"), SchemaPart())


class UnwrittenMeet(Exception):
    """What two patterns share takes too many patterns to say."""


@attrs.frozen(eq=False)
class Image:
    """What arrives of a schema part.

    Arguments:
        part: accepts all of it.
        origin: the number of the schema part; -1 if that is not known.
        without: accept what of that does not arrive here.
        content: what is inside, also while its type does not tell.
        several: whether one body may have several of them that are all alike.
        before: what it was before a step; None if that is the schema part itself.
        move: what the step did.
    """

    part: SchemaPart
    origin: int
    without: tuple[SchemaPart, ...] = ()
    content: ContentSchema | None = None
    several: bool = False
    before: "Image | None" = None
    move: Move = STAYS

    def history(self) -> Iterator["Image"]:
        """Yield the image, what it was before the last step, and so on."""
        image: Image | None = self
        while image is not None:
            yield image
            image = image.before

    @property
    def is_numbered(self) -> bool:
        """Whether some step has given numbers as names."""
        return any(image.move.is_numbering for image in self.history())

    @property
    def words(self) -> SchemaPart:
        """The schema part as a person would write it, where a star stands for numbers."""
        name = self.part.name and self.part.name.replace(_NUMBER, "*")
        return attrs.evolve(self.part, name=name)

    def pulled_back(self, sample: WitnessPart) -> WitnessPart:
        """Return what has to be sent, so that a part of this image arrives."""
        for image in self.history():
            sample = image.move.back(sample)
        return sample

    def arrived(self, sample: WitnessPart) -> WitnessPart:
        """Return what becomes of a part that is sent, if it is the first to get a number."""
        for image in reversed([*self.history()]):
            sample = image.move.follow(sample, 1)
        return sample


class Clash(NamedTuple):
    """Two images of which parts may get the same name.

    Arguments:
        one: an image.
        other: another one, or the same.
        is_certain: whether such parts always come.
        senders: the numbers of those who send the one and the other.
    """

    one: Image
    other: Image
    is_certain: bool = False
    senders: tuple[int, int] = (0, 0)


@attrs.frozen(eq=False)
class Trace:
    """What becomes of the parts of a schema on an edge.

    Arguments:
        end: what arrives.
        gone: what goes on the way.
        clashes: what may get the same name on the way.
        is_open: whether there is a step of which nothing is known beforehand.
    """

    end: list[Image]
    gone: list[Image]
    clashes: list[Clash]
    is_open: bool


def images_of(schema: Iterable[SchemaPart]) -> list[Image]:
    """Return the images of schema parts before all steps."""
    return [
        Image(part, at, content=part.content_schema, several=part.name is None)
        for at, part in enumerate(schema)
    ]


def trace(schema: MessageBodySchema, chain: Chain, budget: Budget) -> Trace:
    """Follow the parts of a schema through steps.

    Raises:
        OutOfBudget: the budget ended first.
    """
    images, gone, clashes = images_of(schema), list[Image](), list[Clash]()
    for step in chain:
        changed = change(step, images, budget)
        gone += [image for image, move in changed if move is None]
        stay = [(image, move) for image, move in changed if move is not None]
        clashes += _new_clashes(stay, budget)
        images = [image for image, _ in stay]
    return Trace(images, gone, clashes, any(step.rules is None for step in chain))


def change(
    step: WorkflowStep, images: Iterable[Image], budget: Budget
) -> list[tuple[Image, Move | None]]:
    """Return the images after a step, each with what the step did; None if it goes.

    Raises:
        OutOfBudget: the budget ended first.
    """
    if step.rules is None:
        return [(Image(part, -1), STAYS) for part in _ANYTHING]
    return [
        (each if move is None else _moved(each, move, budget), move)
        for image in images
        for each, move in _sorted_by(step, step.rules, image, budget)
    ]


def _sorted_by(
    step: WorkflowStep, rules: Sequence[StepRule], image: Image, budget: Budget
) -> list[tuple[Image, Move | None]]:
    """Return the pieces of an image, each with what happens to it."""
    moves = list(dict.fromkeys(rule.move for rule in rules))
    globs = [rule.glob for rule in rules if may_share(rule.glob, image.part)]
    # What happens to all parts alike happens to the image as a whole.
    if len(moves) == 1 and globs and is_empty(image, budget, *globs):
        return [(image, moves[0])]
    found: list[tuple[Image, Move | None]] = []
    rest: Image | None = image
    for rule in rules:
        if rest is not None and may_share(rule.glob, rest.part):
            inside, rest = _split(rest, rule.glob, budget)
            if inside is not None:
                found.append((inside, rule.move))
    return found if rest is None else [*found, (rest, step.rest)]


def _split(image: Image, glob: SchemaPart, budget: Budget) -> tuple[Image | None, Image | None]:
    """Return what of an image a schema part accepts, and the rest."""
    part = attrs.evolve(image.part, required=False)
    try:
        both = shared(image.part, glob, budget)
    except UnwrittenMeet:
        either = attrs.evolve(image, part=part)
        return either, either
    if both is None:
        return None, image
    if (both.name, both.content_type) == (part.name, part.content_type):
        return image, None
    inside = attrs.evolve(image, part=attrs.evolve(both, required=False))
    if image.without and is_empty(inside, budget):
        return None, image
    gone = attrs.evolve(both, required=False, content_schema=None)
    outside = attrs.evolve(image, part=part, without=(*image.without, gone))
    return (image, None) if is_empty(outside, budget) else (inside, outside)


def _moved(image: Image, move: Move, budget: Budget) -> Image:
    if move == STAYS:
        return image
    part = _moved_part(image.part, move) or _unclear(image.part, move)
    without = []
    for each in image.without:
        with suppress(UnwrittenMeet):  # less that is left out, which is not wrong
            inside = shared(each, _source(part, move), budget)
            moved = inside and _moved_part(inside, move)
            without += [moved] if moved else []
    literal = part.content_type_pattern.literal
    content = image.content if literal is None or is_json(literal) else None
    if content is not None:
        part = attrs.evolve(part, content_schema=content)
    several = image.several and (move.names is None or move.is_numbering)
    return Image(part, image.origin, tuple(without), image.content, several, image, move)


def _source(part: SchemaPart, move: Move) -> SchemaPart:
    """Return what accepts all parts that a move changes, if it changes those of a schema part."""
    old = part.name if move.names is None else move.names[0]
    name = f"{old}**" if old is not None and old.endswith("/") else old
    return SchemaPart(name, "*/*" if move.kinds is None else move.kinds[0])


def _moved_part(part: SchemaPart, move: Move) -> SchemaPart | None:
    """Return what a schema part is after a move; None if no pattern is known to say it."""
    old = move.names[0] if move.names else None
    if old is not None and old.endswith("/") and not (part.name or "").startswith(old):
        return None
    name, kind = move.name(part.name), part.content_type
    if move.is_numbering:
        literal = part.content_type_pattern.literal
        extension = "" if literal is None else extension_of(literal, default="")
        name = f"{name}".removesuffix("*") + _NUMBER + extension
    kind = kind if move.kinds is None else move.kinds[1]
    return SchemaPart(name, kind, part.required)


def _unclear(part: SchemaPart, move: Move) -> SchemaPart:
    below = (move.names and move.names[1]) or "/"
    return SchemaPart(f"{below}**", part.content_type)


# Whether two parts may have one name


def _new_clashes(moved: Sequence[tuple[Image, Move]], budget: Budget) -> Iterator[Clash]:
    """Yield which images of one body may have one name after a step, and had none before."""
    for (one, move), (other, another) in combinations_with_replacement(moved, 2):
        is_moved_apart = move.names != another.names
        if not is_moved_apart and not _is_named_twice(one, other, move):
            continue
        clash = clash_of(one, other, budget)
        if clash is not None:
            # One part may be what two schema parts require, if a step names it.
            yield clash._replace(is_certain=clash.is_certain and is_moved_apart)


def _is_named_twice(one: Image, other: Image, move: Move) -> bool:
    """Return whether a move gives one name to parts of two images; a rename keeps names apart."""
    if move.names is None or move.names[0] is not None or move.is_numbering:
        return False
    return one is not other or (one.before is not None and one.before.several)


def clash_of(one: Image, other: Image, budget: Budget) -> Clash | None:
    """Return that two different parts may get one name; None if they can't."""
    if common_name(one, other, budget) is None:
        return None
    is_literal = one.part.name_pattern is not None and one.part.name_pattern.literal is not None
    is_same = is_literal and one.part.name == other.part.name
    return Clash(one, other, is_same and one.part.required and other.part.required)


def _is_beside_numbers(name: str, named: str) -> bool:
    """Return whether a pattern of numbers and another one are surely apart: the usual case."""
    below, number, _ = name.partition(_NUMBER)
    rest = named.removeprefix(below)
    return bool(number) and rest != named and rest[:1] not in "*{123456789"


def common_name(one: Image, other: Image, budget: Budget) -> str | None:
    """Return a name that parts of both images may have, "" if that is not known; None if none."""
    name, named = one.part.name_pattern, other.part.name_pattern
    if name is None or named is None or _are_apart(name, named):
        return None
    if _is_beside_numbers(name.text, named.text) or _is_beside_numbers(named.text, name.text):
        return None
    try:
        both = shared(SchemaPart(one.part.name), SchemaPart(other.part.name), budget)
    except UnwrittenMeet:
        return ""
    if both is None:
        return None
    without = tuple(
        SchemaPart(each.name)
        for image in (one, other)
        for each in image.without
        if each.content_type in ("*/*", image.part.content_type)
    )
    found = _ask(both, without, budget)
    if found.sample is not None:
        return found.sample.name
    return None if found.is_empty else ""


# Questions about patterns


def sampled(image: Image, budget: Budget, *others: SchemaPart) -> WitnessPart | None:
    """Return what an image accepts, and others don't; None if nothing was found."""
    return _ask(image.part, (*image.without, *others), budget).sample


def is_empty(image: Image, budget: Budget, *others: SchemaPart) -> bool:
    """Return whether it is certain that an image, or what others leave of it, accepts nothing."""
    return _ask(image.part, (*image.without, *others), budget).is_empty


class PatternDifference(NamedTuple):
    """What a schema part accepts, and others don't.

    Arguments:
        is_empty: whether that is certainly nothing.
        sample: a part of it, if one was found.
        steps: what it took to find that out.
    """

    is_empty: bool
    sample: WitnessPart | None
    steps: int


def _ask(part: SchemaPart, without: tuple[SchemaPart, ...], budget: Budget) -> PatternDifference:
    found = difference(part, without)
    # What an earlier question has found costs the same, so that answers are always the same.
    budget.spend(_QUESTION + found.steps)
    return found


@lru_cache(_CACHED)
def difference(part: SchemaPart, without: tuple[SchemaPart, ...] = ()) -> PatternDifference:
    """Return what a schema part accepts, and others don't."""
    steps = _MOST + _QUESTION * len(without)
    found = check(optional([part]), optional(without), max_steps=steps)
    body = None if found else found.counterexample
    return PatternDifference(bool(found), sample_of(body[0]) if body else None, found.steps_taken)


def optional(schema: Iterable[SchemaPart]) -> MessageBodySchema:
    """Return a schema that accepts the same parts, and requires none."""
    return MessageBodySchema([attrs.evolve(part, required=False) for part in schema])


def shared(one: SchemaPart, other: SchemaPart, budget: Budget) -> SchemaPart | None:
    """Return what accepts all that two schema parts both accept; None if that is nothing.

    Raises:
        UnwrittenMeet: no pattern of a fair length says it.
        OutOfBudget: the budget ended first.
    """
    budget.spend(1)
    if not may_share(one, other):
        return None
    # Where both have stars, what they share may take many patterns.
    stars = (each.name or "" for each in (one, other))
    budget.spend(_QUESTION * (1 + math.prod(each.count("*") for each in stars)))
    return one if one == other else _met(one, other)


@lru_cache(_CACHED)
def _met(one: SchemaPart, other: SchemaPart) -> SchemaPart | None:
    met = meet(optional([one]), optional([other]), max_steps=_MOST)
    if met is None:
        raise UnwrittenMeet
    return met[0] if met else None


def may_share(one: SchemaPart, other: SchemaPart) -> bool:
    """Return whether the texts of two schema parts leave open that both accept something."""
    if one.name_pattern is None or other.name_pattern is None:
        is_apart = one.name is not other.name
    else:
        is_apart = _are_apart(one.name_pattern, other.name_pattern)
    return not is_apart and not _are_apart(one.content_type_pattern, other.content_type_pattern)


def _are_apart(
    one: NamePattern | ContentTypePattern, other: NamePattern | ContentTypePattern
) -> bool:
    """Return whether it is clear from their beginnings that no word matches both patterns."""
    first, second = one.prefix.lower(), other.prefix.lower()
    if one.literal is not None and other.literal is not None:
        return first != second
    return not (other.literal is None and first.startswith(second)) and not (
        one.literal is None and second.startswith(first)
    )
