"""Losses: differences between a part and what is read back from its blocks."""

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from messagebody._core import (
    JSON,
    TEXT_PLAIN,
    MessageBody,
    Part,
    canonical,
    is_text,
    may_be,
    quote,
    sniffing,
    unspecified_in,
)
from messagebody.adapters._contract import Affected, Loss, LossKind
from messagebody.adapters._conversion.alignment import (
    holds_url_content,
    lost_id,
    same_call,
    same_content,
    same_name,
)
from messagebody.adapters._conversion.citations import neutral, with_url
from messagebody.adapters._conversion.fallbacks import FAILED, text_of
from messagebody.adapters._conversion.unread_members import is_ignored
from messagebody.adapters._vocabulary.part_names import FOUND, RESULT


class Positions:
    """The positions of the parts of a body, which losses state.

    Arguments:
        parts: the parts.
    """

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts

    @cached_property
    def _positions(self) -> dict[int, int]:
        # By identity: equal parts have different positions.
        return {id(part): index for index, part in enumerate(self.parts)}

    def position(self, part: Part) -> int:
        """Return the position of a part in the body."""
        return self._positions[id(part)]

    def loss(self, kind: LossKind, part: Part, why: str, affects: Affected) -> Loss:
        """Return a loss of a part."""
        where = f"part {self.position(part)}" + (f" {part.name}" if part.name else "")
        return Loss(kind, where, why, affects=affects)


Why = tuple[LossKind, str, Affected]
"""What a loss says of a part."""


class Comparison(NamedTuple):
    """A part of a body, beside the part that is read back from its blocks.

    Arguments:
        part: the part that is written.
        back: the part that is read from its blocks.
        body: the body of the part, where its citations find their sources.
        sources: the named parts that were read back.
        reason: why the target can't read the part's reference.
        is_said: whether a text before it states the name.
    """

    part: Part
    back: Part
    body: MessageBody
    sources: Mapping[str, Part]
    reason: str = ""
    is_said: bool = False

    def losses(self) -> Iterator[Why]:
        """Yield what the part has and the other one has not."""
        part, back = self.part, self.back
        if part == back:
            return
        if (spoken := _spoken(part, back)) is not None:
            yield LossKind.DOWNGRADED, f"{spoken} goes out as plain text", Affected.FORM
            yield from self._of_metadata()
            return
        is_same = same_content(part, back)
        if not is_same and not same_call(part, back):
            loss = self._of_content()
            yield loss
            if loss[0] is LossKind.OMITTED:
                return
        if not same_name(part, back):
            yield self._of_name()
        if not is_same and (lost := lost_id(part, back)) is not None:
            yield LossKind.OMITTED, f"there is no place for its id {quote(lost)}", Affected.LABELS
        yield from self._of_description()
        yield from self._of_metadata()
        if missing := _differing(part.extra, back.extra):
            yield _of_members("extra", missing)
        if part.metadata == {} and back.metadata is None:
            yield LossKind.CONVERTED, "its empty metadata goes out as none", Affected.LABELS

    def _of_content(self) -> Why:
        """Return the loss of another content; "omitted" if none of the content goes out."""
        part, back = self.part, self.back
        kind, why = LossKind.CONVERTED, "its content goes out in another form"
        if part.url is not None and back.url is not None:
            return _of_url(part.url, back.url)
        if holds_url_content(part, back):
            why = "it goes out as content"
        elif part.is_reference and back.size != part.size and back.content_type == JSON:
            pass  # a value is spelt in another way
        elif part.is_reference and back.size != part.size and is_text(back.content_type):
            kind, why = LossKind.OMITTED, with_reason(_NAMED, self.reason)
        elif part.is_reference:
            why = "it goes out as content"
        elif back.is_reference or (part.size and not back.size):
            kind, why = LossKind.OMITTED, "there is no place for it"
        elif not part.size and back.text == FAILED:
            why = "a text says that the call failed: no failed result goes out without content"
        elif part.read_bytes() in back.read_bytes():
            starts = (f"{part.name}:", f"{str(part.name).rpartition('/')[2]}:")
            is_named = (back.text or "").startswith(starts)
            why = f"it goes out as text that {'begins with its name' if is_named else 'holds it'}"
        elif text_of(part) is None:
            kind, why = LossKind.OMITTED, _NAMED
        is_gone = kind is LossKind.OMITTED
        return kind, why, Affected.CONTENT if is_gone else Affected.FORM

    def _of_description(self) -> Iterator[Why]:
        """Yield the losses of type, size and digest."""
        part, back = self.part, self.back
        # The response to a signed URL states the type.
        is_signed = part.is_reference and back.is_reference and part.url != back.url
        if _is_more_exact(part, back):
            if back.is_reference or not _shows_type(back):
                why = f"its exact type is not known: {back.content_type} is a guess"
                yield LossKind.CONVERTED, why, Affected.LABELS
        elif not _same_type(part.content_type, back.content_type) and not is_signed:
            why = f"{part.content_type} goes out as {back.content_type}"
            yield LossKind.DOWNGRADED, why, Affected.LABELS
        for member in ("size", "digest") if part.is_reference else ():
            stated = getattr(part, member)
            if stated is not None and stated != getattr(back, member):
                yield LossKind.OMITTED, f"there is no place for its {member}", Affected.LABELS

    def _of_name(self) -> Why:
        part, back = self.part, self.back
        if part.name is None:
            return LossKind.CONVERTED, f"it gets the name {quote(back.name)}", Affected.LABELS
        if self.is_said:
            return LossKind.CONVERTED, "its name goes out as a text before it", Affected.LABELS
        if back.name is None:
            return LossKind.OMITTED, "there is no place for its name", Affected.LABELS
        said = (back.metadata or {}).get("filename", back.name)
        if said in (part.name, f"messagebody:{part.name}"):
            why = "it goes out as a file of its name, which the speaker can only say as a file"
            return LossKind.DOWNGRADED, why, Affected.FORM
        return LossKind.DOWNGRADED, f"its name goes out as {quote(said)}", Affected.LABELS

    def _of_metadata(self) -> Iterator[Why]:
        """Yield the losses of metadata, in the words of what it says."""
        part, back = self.part, self.back
        mine, theirs = part.metadata, back.metadata or {}
        if not mine:
            return
        lost = _differing(mine, theirs)
        if RESULT in lost:
            lost.remove(RESULT)
            yield from _of_result(mine[RESULT], theirs.get(RESULT))
        if FOUND in lost:
            lost.remove(FOUND)
            yield from _of_found(mine[FOUND], theirs.get(FOUND))
        if "role" in lost and part.name is None:
            lost.remove("role")
            why = f"it is said by {quote(mine['role'])}, and goes out as said by another"
            yield LossKind.DOWNGRADED, why, Affected.LABELS
        if "citations" in lost and "citations" in theirs:
            lost.remove("citations")
            yield from self._of_citations(mine["citations"], theirs["citations"])
        elif "citations" in lost:
            lost.remove("citations")
            kind, why, _ = _of_members("metadata", ["citations"])
            yield kind, why, Affected.CONTENT
        if "language" in lost and _states_language(part, back, mine["language"]):
            lost.remove("language")
        if "filename" in lost and not same_name(part, back):
            lost.remove("filename")  # the name that goes out is in the loss of the name
        if lost:
            yield _of_members("metadata", lost)

    def _of_citations(self, mine: Any, theirs: Any) -> Iterator[Why]:
        """Yield what the citations of a text no longer say; each format has words of its own."""
        mine = [_resolved(each, self.body) for each in (mine if isinstance(mine, list) else ())]
        left: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        for each in theirs:
            held = _resolved(each, self.sources)
            left[repr(held.get("url"))].append(held)
        without: set[str] = set()
        gone = 0
        for each in mine:
            alike = left.get(repr(each.get("url")))
            if not alike:
                gone += 1
                continue
            back = alike.popleft()
            without |= {
                key for key, value in each.items()
                if not is_ignored(key) and not _is_held(value, back)
                and not (key == "domain" and str(value) in str(back.get("url")))
            }  # fmt: skip
        if gone:
            why = f"there is no place for {gone} of its citations"
            yield LossKind.OMITTED, why, Affected.CONTENT
        if without:
            said = ", ".join(map(quote, sorted(without)))
            yield LossKind.DOWNGRADED, f"its citations go out without {said}", Affected.LABELS


def _same_type(mine: str, theirs: str) -> bool:
    """Return whether two types are the same, maybe by another of its names."""
    if mine == theirs:
        return True
    is_bare = ";" not in mine + theirs
    return is_bare and mine != canonical(mine) == canonical(theirs)


def _is_more_exact(part: Part, back: Part) -> bool:
    """Return whether a picture, sound or film of an unknown type goes out with a type."""
    top_level = unspecified_in(part.content_type)
    is_known = top_level is not None and unspecified_in(back.content_type) is None
    return is_known and may_be(back.content_type, top_level)


def _shows_type(part: Part) -> bool:
    """Return whether the content of a part shows that it is of its type."""
    return sniffing.content_type(part.read_bytes()[: sniffing.HEAD]) == part.content_type


def _of_url(mine: str, theirs: str) -> Why:
    """Return the loss of another URL: a signed one, or the id of a file without its provider."""
    scheme, _, known = mine.partition(":")
    if scheme.endswith("-file") and theirs.partition(":")[2] == known:
        why = f"the id of its file goes out, and not that {scheme.removesuffix('-file')} stores it"
        return LossKind.DOWNGRADED, why, Affected.LABELS
    return LossKind.CONVERTED, "its URL goes out as a signed one", Affected.FORM


def with_reason(problem: str, reason: str) -> str:
    """Return a problem with its reason, if there is one."""
    return f"{problem}: {reason}" if reason else problem


_NAMED: Final = "only a text that names it goes out"


def _of_members(member: str, lost: list[str]) -> Why:
    why = f"there is no place for its {member} {', '.join(map(quote, lost))}"
    return LossKind.OMITTED, why, Affected.LABELS


def _of_result(mine: Any, theirs: Any) -> Iterator[Why]:
    """Yield what a result no longer says; ids, and the name of the tool, stand in its call."""
    mine, theirs = (each if isinstance(each, dict) else {} for each in (mine, theirs))
    unlike = {key for key in mine if theirs.get(key) != mine[key]}
    if mine.get("error") is True and "error" in unlike:
        why = "there is no place for the fact that the call failed"
        yield LossKind.OMITTED, why, Affected.CONTENT
    if others := sorted(unlike - {"id", "name", "type", "error", "empty", "pending"}):
        said = ", ".join(map(quote, others))
        yield LossKind.OMITTED, f"there is no place for its result's {said}", Affected.LABELS


def _of_found(mine: Any, theirs: Any) -> Iterator[Why]:
    """Yield what a search result no longer says of the place where it was found."""
    mine, theirs = (each if isinstance(each, dict) else {} for each in (mine, theirs))
    # The lengths of its texts are those of a text that may have changed.
    if gone := [key for key in _differing(mine, theirs) if key != "lengths"]:
        why = f"there is no place for its search result's {', '.join(map(quote, gone))}"
        yield LossKind.OMITTED, why, Affected.CONTENT


def _differing(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Return the names of members that others do not have, or have with another value."""
    return [key for key in mine if key not in theirs or theirs[key] != mine[key]]


def _resolved(citation: Any, named: Mapping[str, Part] | MessageBody) -> dict[str, Any]:
    """Return a citation with the URL of the source that it names."""
    if not isinstance(citation, dict):
        return {"citation": citation}
    return with_url(neutral(citation), named)


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
