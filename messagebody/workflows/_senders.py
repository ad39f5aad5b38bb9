"""What a sender may send: parts of each kind that images tell apart, pulled back to the sender."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import Final

import attrs

from messagebody._core import COMMON, Budget, essence, extension_of
from messagebody.compatibility import satisfiable
from messagebody.errors import DuplicateName
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.workflows._images import (
    Clash,
    Image,
    UnwrittenMeet,
    change,
    common_name,
    difference,
    images_of,
    sampled,
    shared,
)
from messagebody.workflows._steps import Chain, Mount, WitnessPart, accepts, sample_of

WitnessParts = list[WitnessPart]
Stage = tuple[int, int]
"""The number of a chain, and how many of its steps are done."""
END: Final[Stage] = (-1, -1)
"""The stage where the parts of all chains, and of all senders, are together."""
_CACHED: Final = 1024
_EXAMPLE: Final = 100_000
"""Steps for finding a valid body."""
_PART: Final = 50
"""Steps of the budget for each part of a schema when a valid body is found."""
_MOST_COPIES: Final = 64
"""Bodies with more parts without a name are not made."""
_ALIKE: Final = 8
"""Types with different extensions that stand for all that nothing tells apart."""
_MOST_NUMBERS: Final = 6
"""Counts of such parts that are tried."""
_KINDS: Final = [kind for kind in COMMON if kind == essence(kind)]
_OWNERS: Final = Counter(
    extension
    for extension, _ in {(extension_of(kind, default=""), kind.split("/")[0]) for kind in _KINDS}
)
"""How many kinds of media have an extension."""
_ORDERS: Final = 24
"""Orders of parts without a name that are tried."""
_NUMBERS: Final = re.compile(r"(?<![0-9])[1-9][0-9]?(?![0-9])")


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


def trace(schema: MessageBodySchema, chain: Chain, budget: Budget) -> Trace:
    """Follow the parts of a schema through steps."""
    images, gone, clashes = images_of(schema), list[Image](), list[Clash]()
    for step in chain:
        found = change(step, images, budget)
        images = found.stay
        gone += found.gone
        clashes += found.clashes
    return Trace(images, gone, clashes, any(step.rules is None for step in chain))


@attrs.frozen(eq=False)
class SentPart:
    """A part that a sender may send.

    Arguments:
        part: the part.
        sender: the number of the sender.
        sent: the schema parts of the sender that accept it, as bits.
        taken: the schema parts of the taker that accept what arrives of it, as bits.
        refused: how many of it have to be sent, so that something arrives that the taker does not
            accept; 0 if nothing ever does. It is more than one only if parts are numbered.
        names: the names on its path, each with the number of such parts in the body that has it.
    """

    part: WitnessPart
    sender: int
    sent: int
    taken: int
    refused: int
    names: Mapping[tuple[Stage, str], int]


def hits(schema: Iterable[SchemaPart], part: WitnessPart) -> int:
    """Return the schema parts that accept a part, as bits."""
    return sum(1 << i for i, each in enumerate(schema) if accepts(each, part))


def passed(parts: Sequence[WitnessPart], chain: Chain) -> Sequence[WitnessPart]:
    """Return what is left of parts after steps.

    Raises:
        DuplicateName: two parts have the same name on the path.
    """
    for step in chain:
        parts = step.follow(parts)
    return parts


@lru_cache(_CACHED)
def _example(schema: MessageBodySchema) -> tuple[bool, WitnessParts]:
    """Return whether no body of a schema is valid, and if not, the parts of one that is."""
    found = satisfiable(schema, steps=_EXAMPLE)
    return found.value is False, [*map(sample_of, found.witness or ())]


class EdgeSender:
    """A schema whose bodies go along edges to one taker.

    Arguments:
        number: its number among the senders of the taker.
        schema: the schema.
        chains: the steps of each edge.
        taker: what arrives is meant for it.
        budget: the budget.
        texts: all names and patterns of those who send to the taker, as one text.
    """

    def __init__(
        self,
        number: int,
        schema: MessageBodySchema,
        chains: Sequence[Chain],
        taker: MessageBodySchema,
        budget: Budget,
        texts: str = "",
    ) -> None:
        self.number = number
        self.schema = schema
        self.chains = chains
        self.required = sum(1 << i for i, part in enumerate(schema) if part.required)
        self.length = 1 + sum(map(len, chains))
        self._taker, self._budget, self._texts = taker, budget, texts
        self.traces = [trace(schema, chain, budget) for chain in chains]
        self.is_numbered = any(isinstance(step, Mount) for chain in chains for step in chain)

        budget.spend(_PART * (1 + len(schema)))
        self.is_silent, self.example = _example(schema)

    def arrive(self, parts: Sequence[WitnessPart]) -> WitnessParts:
        """Return what arrives of the parts of a body.

        Raises:
            DuplicateName: two parts have the same name on the path.
        """
        self._budget.spend(self.length * (1 + len(parts)))
        return [part for chain in self.chains for part in passed(parts, chain)]

    def certain_images(self) -> Iterator[list[Image]]:
        """Yield images of which one always arrives: those of a required part that never goes."""
        for each in self.traces:
            lost = {image.origin for image in each.gone}
            for at, part in enumerate(self.schema):
                if part.required and at not in lost:
                    yield [image for image in each.end if image.origin == at]

    def arriving(self) -> Iterator[SchemaPart]:
        """Yield schema parts of all that arrives, and maybe of more."""
        for each in self.traces:
            yield from (image.part for image in each.end)
        for images in self.certain_images():
            parts = [image.part for image in images]
            alike = {(part.name is None, part.content_schema) for part in parts}
            if len(alike) == 1 and not any(part.required for part in parts):
                name = _either([part.name for part in parts if part.name])
                kind = _either([part.content_type for part in parts])
                [(_, content)] = alike
                yield SchemaPart(name, kind or "*/*", required=True, content_schema=content)

    # Parts to send

    @cached_property
    def options(self) -> list[SentPart]:
        """Parts of each kind that images tell apart."""
        has_contents = any(part.content_schema for part in (*self.schema, *self._taker))
        found: dict[object, SentPart] = {}
        for part in self._samples():
            key = part if has_contents else part[:2]
            sent = 0 if key in found else hits(self.schema, part)
            self._budget.spend(len(self.schema) + len(self._taker))
            if sent:
                found[key] = self._option(part, sent)
        return list(found.values())

    def _samples(self) -> Iterator[WitnessPart]:
        yield from self.example
        for each in self.traces:
            for image in each.end:
                yield from self._sampled(image, image.part, *self._taker)
                for wanted in self._taker:
                    yield from self._sampled(image, wanted)
            for image in each.gone:
                yield from self._sampled(image, image.part)
            for pair in each.clashes:
                yield from self._namesakes(pair.one, pair.other)
        is_open = any(each.is_open for each in self.traces)
        for image in images_of(self.schema) if is_open else ():
            # Nothing is known of what arrives, so what is sent is tried.
            yield from self._sampled(image, image.part)
            for wanted in self._taker:
                yield from self._sampled(image, wanted)
        if self.is_numbered or is_open:
            for part in self.schema:
                yield from self._of_other_types(part)

    def _sampled(
        self, image: Image, wanted: SchemaPart, *without: SchemaPart
    ) -> Iterator[WitnessPart]:
        """Yield what has to be sent, so that a part arrives that a schema part accepts."""
        with suppress(UnwrittenMeet):
            part = shared(image.part, wanted, self._budget)
            if part is None:
                return
            found = sampled(attrs.evolve(image, part=part), self._budget, *without)
            sample = found and image.pulled_back(found)
            if sample and image.content and not part.content_schema:
                # Its type did not tell what is inside.
                sent = SchemaPart(*sample[:2], content_schema=image.content)
                sample = difference(sent).sample
            if sample is not None:
                yield sample

    def _namesakes(self, one: Image, other: Image) -> Iterator[WitnessPart]:
        """Yield parts to send that get one name."""
        name = common_name(one, other, self._budget)
        for image in (one, other) if name else ():
            yield from self._sampled(image, SchemaPart(name))

    def _of_other_types(self, part: SchemaPart) -> Iterator[WitnessPart]:
        """Yield parts without a name, some of each kind of extension that steps and takers tell."""
        alike: Counter[object] = Counter()
        known = [SchemaPart(None, kind) for kind in _KINDS]
        shown = SchemaPart(None, part.content_type, content_schema=part.content_schema)
        wild = part.name is None and part.content_type_pattern.literal is None
        # The first one has a type that is not known, and so no extension.
        found = [difference(shown, tuple(known)).sample] if wild else []
        for kind in known if wild else ():
            self._budget.spend(2 * self.length)
            with suppress(UnwrittenMeet):
                each = shared(shown, kind, self._budget)
                found += [difference(each).sample] if each is not None else []
        for sample in filter(None, found):
            sign = self._sign(sample)
            alike[sign] += 1
            if alike[sign] <= _ALIKE:
                yield sample

    def _sign(self, part: WitnessPart) -> object:
        """Return what tells the type of a part without a name from others."""
        option = self._option(part, 1)
        extension = extension_of(part.content_type, default="")
        is_told = extension in self._texts or _OWNERS[extension] > 1
        arrived = [len(passed([part], chain)) for chain in self.chains]
        return option.taken, option.refused, is_told and extension, *arrived

    def _option(self, part: WitnessPart, sent: int) -> SentPart:
        taken, refused = 0, 0
        names = dict[tuple[Stage, str], int]()
        for copies in self._copies if part.name is None else (1,):
            for stage, name in self._names([part] * copies):
                names.setdefault((stage, name), copies)
            with suppress(DuplicateName):
                found = [hits(self._taker, each) for each in self.arrive([part] * copies)]
                taken |= 0 if copies > 1 else reduce(or_, found, 0)
                refused = refused or (0 if all(found) else copies)
        return SentPart(part, self.number, sent, taken, refused, names)

    @cached_property
    def _copies(self) -> Sequence[int]:
        """How many parts without a name to send, so that the last has a number that matters."""
        if not self.is_numbered:
            return (1,)
        found = [int(each) for each in _NUMBERS.findall(self._texts)]
        near = {1, 2, *found, *(each + 1 for each in found)}
        return sorted(each for each in near if each <= _MOST_COPIES)[:_MOST_NUMBERS]

    def _names(self, parts: Sequence[WitnessPart]) -> Iterator[tuple[Stage, str]]:
        """Yield the names of the last of some equal parts, at each stage."""
        for number, chain in enumerate(self.chains):
            here = parts
            for done, step in enumerate(chain, 1):
                try:
                    here = step.follow(here)
                except DuplicateName as error:
                    yield (number, done), error.name
                    break
                if here and here[-1].name is not None:
                    yield (number, done), here[-1].name
            else:
                if here and here[-1].name is not None:
                    yield END, here[-1].name


def _either(patterns: Sequence[str]) -> str | None:
    """Return a pattern of all that some patterns match; None if there are none."""
    different = list(dict.fromkeys(patterns))
    if len(different) < 2:
        return next(iter(different), None)
    # Names all begin with a slash, and braces stand behind it.
    start = "/" if different[0].startswith("/") else ""
    return f"{start}{{{','.join(each.removeprefix(start) for each in different)}}}"
