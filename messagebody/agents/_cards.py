"""Cards: the content types that an agent states, in an A2A agent card or an ACP manifest.

A card lists modes. A mode is read as what messages of its protocol become: an unnamed part of that
type, and a named one, since a file with a name is a part with a name. Not all modes in use are
content types. Those with a known meaning are read by it; of any other nothing is known, so it is
read so that no yes can be wrong: then any output is possible, and no further input is accepted.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

import attrs

from messagebody._core import DEFAULT_LIMITS, JSON, TEXT_PLAIN, parse_content_type, quote
from messagebody.errors import InvalidCard, InvalidContentType
from messagebody.findings import Finding, Severity, pointer
from messagebody.schema import MessageBodySchema, SchemaPart

_ANYTHING: Final = "*/*"
_ALL_NAMES: Final = "/**"
_MEANINGS: Final = {
    "text": TEXT_PLAIN, "file": _ANYTHING, "files": _ANYTHING, "data": JSON, "json": JSON,
    "structured": JSON, "image": "image/*", "audio": "audio/*", "video": "video/*",
}  # fmt: skip
_UNKNOWN: Final = {"Input": "nothing is taken for it", "Output": "anything may be sent"}
_A2A: Final = {"defaultInputModes", "defaultOutputModes", "skills", "capabilities"}
_ACP: Final = {"input_content_types", "output_content_types"}
_MANIFEST: Final = {"name", "description", "metadata"}
"""The members of a manifest that states no types."""
_MOST: Final = 20_000
"""How many modes and skills are read of one card."""


@attrs.frozen
class Card:
    """The statements of a card.

    Arguments:
        input: the bodies that the agent takes.
        output: the bodies that it sends.
        findings: modes that are no content types, by their place on the card.
    """

    input: MessageBodySchema
    output: MessageBodySchema
    findings: tuple[Finding, ...]


def is_card(data: Mapping[str, Any]) -> bool:
    """Return whether an object looks like an agent card or a manifest."""
    return bool(data.keys() & (_A2A | _ACP)) or data.keys() == _MANIFEST


def read_card(data: Mapping[str, Any], *, agent: str, skill: str | None = None) -> Card:
    """Read an agent card or a manifest.

    Arguments:
        data: the card.
        agent: the name of the agent, for errors.
        skill: the id of the skill that is used; None for all of them.

    Raises:
        InvalidCard: a place of it can't be read, or there is no such skill.
    """
    reader = _CardReader(agent)
    if data.keys() & _A2A:
        taken, sent = (reader.card_types(data, way, skill) for way in ("Input", "Output"))
    else:
        reader.require(skill is None, "a manifest has no skills", "")
        taken, sent = (reader.manifest_types(data, way) for way in ("input", "output"))
    most = DEFAULT_LIMITS.schema_parts // 2  # each type is an unnamed part and a named one
    for types in (taken, sent):
        reader.require(len({*types}) <= most, f"more than {most:,} types (limit schema_parts)", "")
    return Card(_schema_of(taken), _schema_of(sent), tuple(dict.fromkeys(reader.findings)))


class _CardReader:
    """The reading of one card.

    Arguments:
        agent: the name of the agent, for errors.
    """

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._count = 0
        self.findings: list[Finding] = []

    def require(self, is_right: bool, problem: str, where: str) -> None:
        """Refuse the card unless a place of it is as it has to be."""
        if not is_right:
            raise InvalidCard(problem, where, self._agent)

    def card_types(self, card: Mapping[str, Any], way: str, skill: str | None) -> list[str]:
        """Return the types of one way of an agent card: "Input" or "Output"."""
        member, own = f"default{way}Modes", f"{way.lower()}Modes"
        # A skill's own modes stand in for the card's where it is used, so that all skills
        # together may meet either.
        stated = [self._items(each, own, where) for each, where in self._skills(card, skill)]
        modes = [*chain.from_iterable(stated)]
        if skill is None or not modes:
            defaults = self._items(card, member)
            modes = defaults + modes
            # Protocol buffers leave an empty list out, so it states nothing.
            if not defaults and not (stated and all(stated)):
                problem = f"no {member} are stated, so {_UNKNOWN[way]}"
                self.findings.append(Finding("mode", "", problem, Severity.WARNING))
                modes += [(_ANYTHING, "")] if way == "Output" else []
        return [*self.content_types(modes, way)]

    def manifest_types(self, manifest: Mapping[str, Any], way: str) -> list[str]:
        """Return the types of one way of a manifest, "input" or "output"."""
        member = f"{way}_content_types"
        if manifest.get(member) is None:
            return [_ANYTHING]  # the default of the protocol
        return [*self.content_types(self._items(manifest, member), way.title())]

    def _skills(self, card: Mapping[str, Any], wanted: str | None) -> Iterator[tuple[Any, str]]:
        """Yield the skills that are used, each with its place."""
        is_known = wanted is None
        for skill, where in self._items(card, "skills"):
            self.require(isinstance(skill, Mapping), f"expected a skill, got {quote(skill)}", where)
            if wanted is None or skill.get("id") == wanted:
                is_known = True
                yield skill, where
        self.require(is_known, f"no skill has the id {quote(wanted)}", "/skills")

    def _items(
        self, holder: Mapping[str, Any], member: str, where: str = ""
    ) -> list[tuple[Any, str]]:
        """Return the members of a list, each with its place; none if there is no list."""
        where += pointer(member)
        found = holder.get(member)
        self.require(
            found is None or isinstance(found, list), f"expected a list, got {quote(found)}", where
        )
        self._count += len(found or ())
        self.require(self._count <= _MOST, f"more than {_MOST:,} modes and skills", where)
        return [(each, f"{where}/{at}") for at, each in enumerate(found or ())]

    def content_types(self, modes: Iterable[tuple[Any, str]], way: str) -> Iterator[str]:
        """Yield the types that modes mean."""
        for mode, where in modes:
            self.require(isinstance(mode, str), f"a mode is text, got {quote(mode)}", where)
            # Patterns have no parameters, and cards state `text/plain; charset=utf-8`.
            word = mode.partition(";")[0].strip().lower()
            if _is_type(word):
                yield word
                continue
            meant = _MEANINGS.get(word)
            reading = _UNKNOWN[way] if meant is None else f"it is read as {meant}"
            problem = f"the mode {quote(mode)} is no content type; {reading}"
            self.findings.append(Finding("mode", where, problem, Severity.WARNING))
            if meant is not None:
                yield meant
            elif way == "Output":
                yield _ANYTHING


def _is_type(word: str) -> bool:
    """Return whether a mode is a content type, all subtypes of a type, or all types."""
    kind, _, subtype = word.partition("/")
    if subtype == "*":
        subtype, kind = "x", "x" if kind == "*" else kind
    try:
        # Not as a pattern: braces are in no content type.
        parse_content_type(f"{kind}/{subtype}")
    except InvalidContentType:
        return False
    return True


def _schema_of(types: Iterable[str]) -> MessageBodySchema:
    """Return the schema of unnamed and named parts of these content types."""
    kinds = dict.fromkeys(types)
    return MessageBodySchema(SchemaPart(n, kind) for kind in kinds for n in (None, _ALL_NAMES))


def schema_of_modes(modes: Iterable[str]) -> MessageBodySchema:
    """Return what a caller takes who accepts these modes, read as on a card.

    A word of which nothing is known adds nothing. Without any mode, nothing is stated, so
    everything is taken.
    """
    listed = [(mode, "") for mode in modes]
    types = _CardReader("").content_types(listed, "Input") if listed else [_ANYTHING]
    return _schema_of(types)
