"""Losses: differences between parts and what is read back from their blocks."""

import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from messagebody._base.media_types import JSON, TEXT_PLAIN, is_text
from messagebody._base.text import quote
from messagebody._model.part import Part
from messagebody._wire import data_urls
from messagebody.adapters._contract import Loss, LossKind
from messagebody.adapters._conversion.missed import is_unmissed
from messagebody.adapters._vocabulary.items import Call
from messagebody.adapters._vocabulary.places import RESULT, items_of
from messagebody.errors import DecodeError


@attrs.define
class Losses:
    """Collect the losses of parts that go out.

    Arguments:
        parts: all parts of the body.
        found: the losses, in the order of its parts.
    """

    parts: list[Part]
    found: list[Loss] = attrs.field(factory=list)
    _positions: dict[int, int] = attrs.field(init=False)
    _reasons: dict[int, str] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        # By identity: equal parts have different places.
        self._positions = {id(part): index for index, part in enumerate(self.parts)}

    def explain(self, part: Part, why: str) -> None:
        """Keep why the target can't read a reference, for the loss if it does not go out."""
        if why:
            self._reasons[id(part)] = why

    def with_reason(self, part: Part, problem: str) -> str:
        """Return a problem with the reason that was kept for a part."""
        why = self._reasons.get(id(part))
        return f"{problem}: {why}" if why else problem

    def compare(
        self, part: Part, back: Part, sources: Mapping[str, Part], *, is_said: bool = False
    ) -> None:
        """Note the differences between a part and the part that was read back.

        Arguments:
            part: the part that is written.
            back: the part that is read from its blocks.
            sources: the named parts that were read back.
            is_said: whether a text before it states the name.
        """
        if part == back:
            return
        if (spoken := _spoken(part, back)) is not None:
            self.lose(LossKind.DOWNGRADED, part, f"{spoken} goes out as plain text")
            self._compare_metadata(part, back, sources)
            return
        if not _same_content(part, back) and not self._compare_content(part, back):
            return
        if not _same_name(part, back):
            self._compare_names(part, back, is_said=is_said)
        if (lost_id := _lost_id(part, back)) is not None:
            self.lose(LossKind.OMITTED, part, f"there is no place for its id {quote(lost_id)}")
        # The response to a signed URL states the type.
        is_signed = part.is_reference and back.is_reference and part.url != back.url
        if part.content_type != back.content_type and not is_signed:
            why = f"{part.content_type} goes out as {back.content_type}"
            self.lose(LossKind.DOWNGRADED, part, why)
        for member in ("size", "digest") if part.is_reference else ():
            stated = getattr(part, member)
            if stated is not None and stated != getattr(back, member):
                self.lose(LossKind.OMITTED, part, f"there is no place for its {member}")
        self._compare_metadata(part, back, sources)
        lost = _differing(part.extra, back.extra)
        if lost:
            self._lose_members(part, "extra", lost)
        if part.metadata == {} and back.metadata is None:
            self.lose(LossKind.CONVERTED, part, "its empty metadata goes out as none")

    def _compare_metadata(self, part: Part, back: Part, sources: Mapping[str, Part]) -> None:
        """Note the metadata that does not go out, in the words of what it says."""
        mine, theirs = part.metadata or {}, back.metadata or {}
        lost = _differing(mine, theirs)
        if RESULT in lost:
            lost.remove(RESULT)
            self._compare_results(part, mine[RESULT], theirs.get(RESULT))
        if "role" in lost and part.name is None:
            lost.remove("role")
            why = f"it is said by {quote(mine['role'])}, and goes out as said by another"
            self.lose(LossKind.DOWNGRADED, part, why)
        if "citations" in lost and "citations" in theirs:
            lost.remove("citations")
            self._compare_citations(part, mine["citations"], theirs["citations"], sources)
        if "language" in lost and _states_language(part, back, mine["language"]):
            lost.remove("language")
        if "filename" in lost and not _same_name(part, back):
            lost.remove("filename")  # the name that goes out is in the loss of the name
        if lost:
            self._lose_members(part, "metadata", lost)

    def _lose_members(self, part: Part, member: str, lost: list[str]) -> None:
        why = f"there is no place for its {member} {', '.join(map(quote, lost))}"
        self.lose(LossKind.OMITTED, part, why)

    def _compare_results(self, part: Part, mine: Any, theirs: Any) -> None:
        """Note what a result no longer says; ids, and the name of the tool, stand in its call."""
        mine, theirs = (each if isinstance(each, dict) else {} for each in (mine, theirs))
        unlike = {key for key in mine if theirs.get(key) != mine[key]}
        if mine.get("error") is True and "error" in unlike:
            self.lose(LossKind.OMITTED, part, "there is no place for the fact that the call failed")
        if others := sorted(unlike - {"id", "name", "type", "error", "empty", "pending"}):
            said = ", ".join(map(quote, others))
            self.lose(LossKind.OMITTED, part, f"there is no place for its result's {said}")

    def _compare_citations(
        self, part: Part, mine: Any, theirs: Any, sources: Mapping[str, Part]
    ) -> None:
        """Note what the citations of a text no longer say; each format has words of its own."""
        named = {str(each.name): each for each in self.parts if each.name is not None}
        left = [_resolved(each, sources) for each in theirs]
        without: set[str] = set()
        gone = 0
        for each in (_resolved(each, named) for each in (mine if isinstance(mine, list) else ())):
            back = next((other for other in left if other.get("url") == each.get("url")), None)
            if back is None:
                gone += 1
                continue
            left.remove(back)
            without |= {
                key for key, value in each.items()
                if not is_unmissed(key) and not _is_held(value, back)
            }  # fmt: skip
        if gone:
            self.lose(LossKind.OMITTED, part, f"there is no place for {gone} of its citations")
        if without:
            said = ", ".join(map(quote, sorted(without)))
            self.lose(LossKind.DOWNGRADED, part, f"its citations go out without {said}")

    def _compare_content(self, part: Part, back: Part) -> bool:
        """Note a difference of content, and return whether any of the content goes out."""
        if _same_call(part, back):
            return True
        kind, why = LossKind.CONVERTED, "its content goes out in another form"
        if part.is_reference and back.is_reference:
            why = "its URL goes out as a signed one"
        elif _holds(part, back):
            why = "it goes out as content"
        elif part.is_reference and back.size != part.size and back.content_type == JSON:
            pass  # a value is spelt in another way
        elif part.is_reference and back.size != part.size and is_text(back.content_type):
            kind, why = LossKind.OMITTED, self.with_reason(part, _NAMED)
        elif part.is_reference:
            why = "it goes out as content"
        elif back.is_reference or (part.size and not back.size):
            kind, why = LossKind.OMITTED, "there is no place for it"
        elif part.read_bytes() in back.read_bytes():
            starts = (f"{part.name}:", f"{str(part.name).rpartition('/')[2]}:")
            is_named = (back.text or "").startswith(starts)
            why = f"it goes out as text that {'begins with its name' if is_named else 'holds it'}"
        elif not is_text(part.content_type):
            kind, why = LossKind.OMITTED, _NAMED
        self.lose(kind, part, why)
        return kind is not LossKind.OMITTED

    def _compare_names(self, part: Part, back: Part, *, is_said: bool) -> None:
        if part.name is None:
            self.lose(LossKind.CONVERTED, part, f"it gets the name {quote(back.name)}")
        elif is_said:
            self.lose(LossKind.CONVERTED, part, "its name goes out as a text before it")
        elif back.name is None:
            self.lose(LossKind.OMITTED, part, "there is no place for its name")
        elif (said := (back.metadata or {}).get("filename", back.name)) in (
            part.name, f"messagebody:{part.name}",
        ):  # fmt: skip
            why = "it goes out as a file of its name, which the speaker can only say as a file"
            self.lose(LossKind.DOWNGRADED, part, why)
        else:
            self.lose(LossKind.DOWNGRADED, part, f"its name goes out as {quote(said)}")

    def lose(self, kind: LossKind, part: Part, why: str) -> None:
        """Note a loss of a part."""
        self.found.append(Loss(kind, self.where(part), why))

    def place(self, part: Part) -> int:
        """Return the position of a part in its body."""
        return self._positions[id(part)]

    def where(self, part: Part) -> str:
        """Return the place of a part, for a person."""
        return f"part {self.place(part)}" + (f" {part.name}" if part.name else "")


def _differing(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Return the names of members that others do not have, or have with another value."""
    return [key for key in mine if key not in theirs or theirs[key] != mine[key]]


def _resolved(citation: Any, named: Mapping[str, Part]) -> dict[str, Any]:
    """Return a citation with the URL of the source that it names."""
    if not isinstance(citation, dict):
        return {"citation": citation}
    source = named.get(str(citation.get("source")))
    if source is None or source.url is None:
        return citation
    return {**{key: citation[key] for key in citation if key != "source"}, "url": source.url}


def _is_held(value: Any, held: Any) -> bool:
    """Return whether a JSON value holds another one, under whatever name."""
    if value in (held, None, "", [], {}):
        return True
    inner = held.values() if isinstance(held, dict) else held if isinstance(held, list) else ()
    return any(_is_held(value, each) for each in inner)


_SPOKEN: Final = re.compile(r"/(refusals|code|reasoning|tool/results)/\d+(?:/.+)?\Z")
_CALLED: Final = {
    "refusals": "the refusal", "code": "the code", "reasoning": "the thought",
    "tool/results": "the result",
}  # fmt: skip
"""Items whose names say what they are: without it, they would pass for what was said."""


def _spoken(part: Part, back: Part) -> str | None:
    """Return what a part is that goes out as plain text, None if it does not."""
    what = _SPOKEN.match(part.name or "")
    if what is None or back.name is not None or back.is_reference or part.is_reference:
        return None
    return _CALLED[what[1]] if part.read_bytes() in back.read_bytes() else None


def _states_language(part: Part, back: Part, language: Any) -> bool:
    """Return whether the text around code states its language, or its type does."""
    is_typed = back.content_type == part.content_type != TEXT_PLAIN
    return is_typed or f"```{language}\n" in (back.text or "")


_NAMED: Final = "only a text that names it goes out"

_NUMBERED: Final = re.compile(
    r"(/tool/(?:calls|results)/|/(?:reasoning|refusals|code|images)/)\d+(\.json|/.+)?"
)
"""The names of items, whose numbers are those of the body that they are in."""


def _same_name(part: Part, back: Part) -> bool:
    """Return whether two parts have the same name, or are items that are numbered again."""
    if part.name == back.name or part.name is None or back.name is None:
        return part.name == back.name
    first, second = _NUMBERED.fullmatch(part.name), _NUMBERED.fullmatch(back.name)
    return first is not None and second is not None and first.groups() == second.groups()


def _same_call(part: Part, back: Part) -> bool:
    """Return whether two parts are the same call; a format may need an id where none was stated."""
    first, second = _call_in(part), _call_in(back)
    if first is None or second is None:
        return False
    return (first.name, first.arguments) == (second.name, second.arguments)


def _lost_id(part: Part, back: Part) -> str | None:
    """Return the id of a call that goes out without one."""
    first, second = _call_in(part), _call_in(back)
    if first is None or second is None or second.id is not None:
        return None
    return first.id


def _call_in(part: Part) -> Call | None:
    ((item, _),) = items_of([part])
    return item if isinstance(item, Call) else None


def aligned(parts: list[Part], found: list[Part]) -> list[tuple[Part, Part | None]]:
    """Return each part with the part that was read back for it, None if there is none.

    Several parts may have become one: if a result holds only one text, its texts are joined.
    """
    left, pairs = [*found], []
    for part in parts:
        same = (back for back in left if _same_content(part, back) or _holds(part, back))
        alike = (back for back in left if len(parts) == 1 or back.is_reference == part.is_reference)
        back = next(same, None) or next(alike, None)
        if back is not None:
            left = [each for each in left if each is not back]
        pairs.append((part, back))
    return pairs


def _in_url(part: Part) -> Part | None:
    """Return a part with the content of its `data:` URL, None if it has no such URL."""
    if part.url is None or not data_urls.is_data_url(part.url):
        return None
    return Part(data_urls.decode(part.url)[1], content_type=part.content_type)


def _holds(part: Part, back: Part) -> bool:
    """Return whether the content of a part's `data:` URL is in what is read back."""
    held = None if back.is_reference else _in_url(part)
    if held is None:
        return False
    try:
        if held.is_text and back.text is not None:
            return held.read_text() in back.text
    except DecodeError:
        return False  # its bytes are no text, whatever it states
    return held.read_bytes() in back.read_bytes()


def _same_content(part: Part, back: Part) -> bool:
    if part.is_reference or back.is_reference:
        return part.url == back.url
    if part.text is not None and back.text is not None:
        return part.text == back.text
    return part.read_bytes() == back.read_bytes()
