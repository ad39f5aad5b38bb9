"""Images: what becomes of the parts of a schema in steps, said by schema parts again.

An image accepts all that arrives of a schema part, and maybe more, never less. So what is always
valid of images is always valid of messages, and what never is, never. What may break is looked for
as a part of an image, which is pulled back to what the sender has to send.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

import attrs

from messagebody._core import Budget, extension_of, is_json
from messagebody.compatibility import check, meet
from messagebody.schema import ContentSchema, MessageBodySchema, SchemaPart
from messagebody.workflows._steps import STAYS, Move, StepRule, WitnessPart, WorkflowStep, sample_of

_CACHED: Final = 8192
_QUESTION: Final = 100
"""Steps of the budget for a question about two patterns."""
_MOST: Final = 2_000
"""Steps after which such a question stays open."""
_FREE: Final = re.compile(r"[*{]")
_LISTED: Final = re.compile(r"([^*{}]*)\{([^*{}]*,[^*{}]*)\}([^*{}]*)")
_NUMBER: Final = re.compile(r"[*{].*|[1-9][0-9]*(?:[.*{].*)?")
"""What may be a number with an extension; a pattern that begins so may have one among its words."""


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

    def pulled_back(self, sample: WitnessPart) -> WitnessPart:
        """Return what has to be sent, so that a part of this image arrives."""
        image: Image | None = self
        while image is not None:
            sample = image.move.back(sample)
            image = image.before
        return sample


class Clash(NamedTuple):
    """Two images of which parts may get the same name.

    Arguments:
        one: an image.
        other: another one, or the same.
        is_certain: whether such parts always come.
    """

    one: Image
    other: Image
    is_certain: bool = False


def clash_of(one: Image, other: Image, budget: Budget) -> Clash | None:
    """Return that two parts may get one name, None if they can't; they are different parts."""
    if common_name(one, other, budget) is None:
        return None
    literal = one.part.name_pattern and one.part.name_pattern.literal
    is_same = literal is not None and one.part.name == other.part.name
    return Clash(one, other, is_same and one.part.required and other.part.required)


@attrs.frozen(eq=False)
class StepEffect:
    """What a step makes of images.

    Arguments:
        stay: what is there afterwards.
        gone: what is not there any more.
        clashes: what may get the same name.
    """

    stay: list[Image] = attrs.field(factory=list)
    gone: list[Image] = attrs.field(factory=list)
    clashes: list[Clash] = attrs.field(factory=list)


def images_of(schema: Iterable[SchemaPart]) -> list[Image]:
    """Return the images of schema parts before all steps."""
    return [
        Image(part, at, content=part.content_schema, several=part.name is None)
        for at, part in enumerate(schema)
    ]


ANYTHING: Final = (SchemaPart("/**"), SchemaPart())


def change(step: WorkflowStep, images: Sequence[Image], budget: Budget) -> StepEffect:
    """Return what a step makes of images.

    Raises:
        OutOfBudget: the budget ended first.
    """
    found = StepEffect()
    if step.rules is None:
        found.stay.extend(Image(part, -1) for part in ANYTHING)
        return found
    moved: list[tuple[Image, Move]] = []
    for image in images:
        for each, move in _sorted_by(step, step.rules, image, budget):
            if move is None:
                found.gone.append(each)
            else:
                moved.append((_moved(each, move, budget), move))
    moved += _first_number(moved)
    found.stay.extend(image for image, _ in moved)
    for (one, move), (other, another) in combinations_with_replacement(moved, 2):
        if _may_newly_meet(one, move, other, another):
            clash = clash_of(one, other, budget)
            # One part may be what two schema parts require, if a step names it.
            is_certain = move.names != another.names
            found.clashes.extend(
                [clash._replace(is_certain=clash.is_certain and is_certain)] if clash else []
            )
    return found


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
            inside, rest = split(rest, rule.glob, budget)
            if inside is not None:
                found.append((inside, rule.move))
    return found if rest is None else [*found, (rest, step.rest)]


def split(image: Image, glob: SchemaPart, budget: Budget) -> tuple[Image | None, Image | None]:
    """Return what of an image a schema part accepts, and the rest."""
    try:
        both = shared(image.part, glob, budget)
    except UnwrittenMeet:
        either = attrs.evolve(image, part=attrs.evolve(image.part, required=False))
        return either, either
    if both is None:
        return None, image
    if (both.name, both.content_type) == (image.part.name, image.part.content_type):
        return image, None
    inside = attrs.evolve(image, part=attrs.evolve(both, required=False))
    outside = _outside(image, both)
    if image.without and is_empty(inside, budget):
        return None, image
    return (image, None) if is_empty(outside, budget) else (inside, outside)


def _outside(image: Image, inside: SchemaPart) -> Image:
    """Return what of an image a smaller schema part does not accept."""
    part = attrs.evolve(image.part, required=False)
    if inside.name_pattern is not None and inside.content_type == part.content_type:
        names = _unlisted(f"{part.name}", inside.name_pattern.matches)
        if names is not None:
            return attrs.evolve(image, part=attrs.evolve(part, name=names))
    elif inside.name == part.name:
        kinds = _unlisted(part.content_type.lower(), inside.content_type_pattern.matches_essence)
        if kinds is not None:
            return attrs.evolve(image, part=attrs.evolve(part, content_type=kinds))
    gone = attrs.evolve(inside, required=False, content_schema=None)
    return attrs.evolve(image, part=part, without=(*image.without, gone))


def _unlisted(pattern: str, is_gone: Callable[[str], bool]) -> str | None:
    """Return a pattern without some of the words that it lists; None if it lists no others."""
    found = _LISTED.fullmatch(pattern)
    if found is None:
        return None
    before, listed, after = found.groups()
    rest = [each for each in listed.split(",") if not is_gone(before + each + after)]
    if len(rest) < 2:
        return before + rest[0] + after if rest else None
    return f"{before}{{{','.join(rest)}}}{after}"


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
        # Without an extension, a star alone says all that is known.
        literal = part.content_type_pattern.literal
        name = f"{name}{'' if literal is None else extension_of(literal, default='')}"
    kind = kind if move.kinds is None else move.kinds[1]
    return attrs.evolve(part, name=name, content_type=kind, content_schema=None)


def _unclear(part: SchemaPart, move: Move) -> SchemaPart:
    below = (move.names and move.names[1]) or "/"
    return attrs.evolve(part, name=f"{below}**", required=False)


def _first_number(moved: Sequence[tuple[Image, Move]]) -> list[tuple[Image, Move]]:
    """Return the image of the first part that gets a number, if it is certain what that is."""
    numbered = [each for each in moved if each[1].is_numbering]
    kinds = {image.part.content_type_pattern.literal for image, _ in numbered}
    required = [each for each in numbered if each[0].part.required]
    if not required or len(kinds) != 1 or None in kinds:
        return []
    image, move = required[0]
    name = (image.part.name or "").replace("/*", "/1")
    return [(attrs.evolve(image, part=attrs.evolve(image.part, name=name)), move)]


# Whether two parts may have one name


def _may_newly_meet(one: Image, move: Move, other: Image, another: Move) -> bool:
    """Return whether parts that had different names may have one name after their moves."""
    names, others = move.names, another.names
    if names != others:
        return not any(
            each.is_numbering and not _may_be_number(each, image)
            for each, image in ((move, other), (another, one))
        )
    # All that is named by one step has the same name; a rename keeps names apart.
    if names is None or names[0] is not None or move.is_numbering:
        return False
    return one is not other or (one.before is not None and one.before.several)


def _may_be_number(numbering: Move, image: Image) -> bool:
    """Return whether an image may have a name that is a number below a directory."""
    name, below = image.part.name or "", (numbering.name(None) or "")[:-1]
    rest = name[len(below) :] if name.startswith(below) else "*"
    return _NUMBER.fullmatch(rest) is not None


def common_name(one: Image, other: Image, budget: Budget) -> str | None:
    """Return a name that parts of both images may have, "" if that is not known; None if none."""
    if (
        one.part.name is None
        or other.part.name is None
        or _are_apart(one.part.name, other.part.name)
    ):
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
    numbers = [image.part.name.replace("*", "1") for image in (one, other)
               if image.part.name and image.move.is_numbering]  # fmt: skip
    # The first number, where one of them gets it; any other name would be none.
    parts = [shared(both, SchemaPart(name), budget) for name in numbers]
    for part in (*filter(None, parts), both):
        found = _ask(part, without, budget)
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
    wanted = MessageBodySchema([attrs.evolve(part, required=False)])
    steps = _MOST + _QUESTION * len(without)
    found = check(wanted, MessageBodySchema(without), steps=steps)
    body = None if found else found.counterexample
    return PatternDifference(bool(found), sample_of(body[0]) if body else None, found.steps_taken)


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
    sides = (MessageBodySchema([attrs.evolve(each, required=False)]) for each in (one, other))
    met = meet(*sides, steps=_MOST)
    if met is None:
        raise UnwrittenMeet
    return met[0] if met else None


def may_share(one: SchemaPart, other: SchemaPart) -> bool:
    """Return whether the texts of two schema parts leave open that both accept something."""
    if one.name is None or other.name is None:
        is_apart = one.name is not other.name
    else:
        is_apart = _are_apart(one.name, other.name)
    kinds = one.content_type_pattern.text.lower(), other.content_type_pattern.text.lower()
    return not is_apart and not _are_apart(*kinds)


@lru_cache(_CACHED)
def _fixed(pattern: str) -> tuple[str, bool]:
    """Return what all words of a pattern begin with, and whether that is all of them."""
    found = _FREE.search(pattern)
    return (pattern, True) if found is None else (pattern[: found.start()], False)


def _are_apart(one: str, other: str) -> bool:
    """Return whether it is clear from their beginnings that no word matches both patterns."""
    (first, is_whole), (second, is_other_whole) = _fixed(one), _fixed(other)
    if is_whole and is_other_whole:
        return first != second
    return not (first.startswith(second) and not is_other_whole) and not (
        second.startswith(first) and not is_whole
    )
