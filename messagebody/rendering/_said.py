"""What the steps of a run say, as HTML: texts, files, arguments, results, and what changed."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import DEFAULT_LIMITS, JSON, TEXT_PLAIN, Part, essence, strict_json
from messagebody.adapters import Step
from messagebody.errors import MissingDependency
from messagebody.rendering._changes import key_of
from messagebody.rendering._contents import Contents, Shown
from messagebody.rendering._elements import Html, element, joined
from messagebody.rendering._peeks import Citations
from messagebody.rendering._pieces import (
    badge,
    card,
    dot,
    facts,
    figure,
    fold,
    link,
    pair_of,
    short,
    web_link,
)
from messagebody.rendering._tables import size_of, type_of

_MOST_ARGUMENTS: Final = 20
"""Arguments of a call that stand one below the other; more are shown as one value."""
_FOLDED: Final = 1_200
"""Characters of what the system says that are unfolded."""
_SHORT: Final = 80
"""Characters of an argument that stands beside its name."""
_LONGEST: Final = 500
"""Characters of a text among the members of a message that are not content."""
_ANCHORED: Final = frozenset({"content", "call", "result"})
"""Kinds of steps whose parts links lead to."""
ROLES: Final = frozenset({"user", "assistant", "system", "tool"})
_CODE: Final = {"python": "text/x-python", "bash": "text/x-shellscript"}
"""The types of what some tools run, by the name of the tool."""
_FORMATTED: Final = re.compile(r"^(?:#{1,6}|[-*+]|\d{1,9}[.)]|>) |\*\*\S|^```|\]\(", re.MULTILINE)
"""What texts in Markdown have, and others hardly."""
_HIDDEN: Final = re.compile(r"<|&#?\w+;|\]:")
"""What Markdown does not show as it is written: markup, and definitions of links."""
# Readers of formats number what has no name, so an equal name says nothing.
_NUMBERED: Final = re.compile(r"(?:/tool/results/\d+)?/(?:(?:images|sources|code)/)?\d+")
_SOURCE: Final = re.compile(r"/sources/\d+")
_RESULT: Final = re.compile(r"/tool/results/\d+(?=/)")


def anchor_of(number: int) -> str:
    """Return the `id` of a message."""
    return f"message-{number}"


def message_link(number: int) -> Html:
    """Return a link to a message."""
    return link(f"#{anchor_of(number)}", f"message {number}")


@attrs.define
class Said:
    """Makes what the steps of a run say.

    Arguments:
        contents: makes the contents of parts.
    """

    contents: Contents
    news: set[int] = attrs.field(factory=set, init=False)
    """Messages in which a file is there again, and has changed."""
    is_unformatted: bool = attrs.field(default=False, init=False)
    """Whether Markdown is shown as text because the extra is not installed."""
    _cited: dict[int, set[str]] = attrs.field(factory=dict, init=False)
    _last: dict[str, tuple[int, Part]] = attrs.field(factory=dict, init=False)
    _pictures: dict[Any, str] = attrs.field(factory=dict, init=False)

    def enter(self, number: int, body: "messagebody.MessageBody", steps: Sequence[Step]) -> None:
        """Begin a message: links in texts find its parts by their names from now on.

        Arguments:
            number: its number.
            body: its body.
            steps: those of its steps that are shown.
        """
        self._cited[number] = {
            str(each.get("part"))
            for part in body
            for each in _dicts((part.metadata or {}).get("citations"))
        }
        shown = {part.name for step in steps if step.kind in _ANCHORED for part in step.parts}
        for position, part in enumerate(body):
            if part.name is not None:
                has_place = part.name in shown and not self._is_source(number, part)
                anchor = f"{anchor_of(number)}-part-{position}" if has_place else ""
                self.contents.places[part.name] = anchor, part

    def anchor(self, number: int, part: Part) -> str | None:
        """Return the `id` of a part of a message; None if no link leads to it."""
        found = self.contents.places.get(part.name or "", ("", part))[0]
        # Another message may have a part of this name.
        return found if found.startswith(f"{anchor_of(number)}-") else None

    def _is_source(self, number: int, part: Part) -> bool:
        """Return whether a part is only named, among the sources of a text."""
        if part.name in self._cited[number]:
            return part.is_reference
        is_named = part.url is not None and _SOURCE.fullmatch(part.name or "") is not None
        return is_named and not self.contents.reads_references

    # Steps

    def step(self, number: int, role: str, step: Step) -> Html:
        """Return what a step says that is neither a call nor its result."""
        part = step.parts[0]
        if step.kind == "unknown":
            title = "a block of another kind" + (f", {short(step.name)}" if step.name else "")
            return fold(title, self.contents.json(_shortened(part.read_json())), is_open=True)
        if step.kind == "thought":
            return fold("Thoughts", self._spoken("assistant", _unnamed(part)).html)
        if step.kind == "refusal":
            mark = badge("refuses", "bad")
            return element("div", mark, self._spoken(role, _unnamed(part)).html, class_="says")
        if step.kind == "code":
            title = "Output" if (part.metadata or {}).get("outcome") else "Code"
            head = tool_line(title, *marks_of(step))
            return element("div", head, self.contents.show(part).html, class_="alone")
        if part.name is None and part.is_text:
            return self._text(role, step)
        if self._is_source(number, part):
            is_listed = part.name in self._cited[number]
            return Html() if is_listed else self._sources([{"part": part.name}])
        card = self._card(number, part)
        if not isinstance(step.about.get("source"), str):
            return card
        # What a search found has its source beside the content.
        return joined(card, self._sources([{**(part.metadata or {}), **step.about}]))

    def result(self, number: int, step: Step) -> Iterator[Html]:
        """Yield the parts of a result."""
        for part in step.parts:
            anchor = self.anchor(number, part)
            if (part.metadata or {}).get("tool_result", {}).get("empty"):
                yield element("p", "an empty result", id=anchor, class_="note")
            elif (hit := self._hit(part)) is not None:
                yield element("p", hit, id=anchor, class_="plain")
            elif part.name is not None and _NUMBERED.fullmatch(part.name):
                shown = self.contents.show(_as_json(part)).html
                yield element("div", shown, id=anchor, class_="plain")
            else:
                yield self._card(number, part)

    def _hit(self, part: Part) -> Html | None:
        """Return what a search found as a link with its title; None for another part."""
        title = (part.metadata or {}).get("title")
        if part.url is None or self.contents.reads_references or not isinstance(title, str):
            return None
        return web_link(part.url, short(title))

    def arguments(self, call: Step) -> Iterator[Html]:
        """Yield the arguments of a call: each with its name, if there are few."""
        value = call.arguments
        if not isinstance(value, dict) or len(value) > _MOST_ARGUMENTS:
            yield self._value(value, call)
            return
        for name, argument in value.items():
            key = element("b", short(name))
            line = argument if isinstance(argument, str) else strict_json.dumps(argument)
            if len(line) <= _SHORT and "\n" not in line:
                yield element("p", key, " ", element("code", line), class_="argument")
            else:
                yield element("div", key, self._value(argument, call), class_="argument")

    def _value(self, value: Any, call: Step) -> Html:
        """Return a JSON value; a text is shown as a text of lines."""
        if isinstance(value, str):
            kind = _CODE.get(call.name or "", TEXT_PLAIN)
            return self.contents.show(Part(value, name="/argument", content_type=kind)).html
        return self.contents.show(Part(strict_json.dumps(value), content_type=JSON)).html

    def details(self, about: dict[str, Any]) -> Html:
        """Return the members of a message that are not content, folded."""
        return fold("Details", self.contents.json(_shortened(about))) if about else Html()

    # Texts

    def _text(self, role: str, step: Step) -> Html:
        part = step.parts[0]
        other = (part.metadata or {}).get("role")
        speaker = other if other in ROLES else role
        shown = self._spoken(speaker, part)
        said = shown.html
        if speaker == "system" and len(shown.text or "") > _FOLDED:
            said = fold("Instructions", said)
        label = badge(speaker) if speaker != role else Html()
        return element("div", label, said, class_="says")

    def _spoken(self, speaker: str, part: Part) -> Shown:
        """Return a text; models write Markdown, and their formats don't say so."""
        is_plain = part.name is None and essence(part.content_type) == TEXT_PLAIN
        is_model = speaker == "assistant"
        if is_plain and not self.is_unformatted and (is_model or _is_formatted(part.text or "")):
            try:
                shown = self.contents.show(part.evolve(content_type="text/markdown"))
            except MissingDependency:
                self.is_unformatted = True
            else:
                # What people write in lines is meant to stand in lines.
                html = shown.html if is_model else element("div", shown.html, class_="lines")
                return attrs.evolve(shown, html=html)
        return self.contents.show(part)

    def grounds(self, about: dict[str, Any]) -> Html:
        """Return the sources that Gemini names for all of a message."""
        grounding = about.get("groundingMetadata", about.get("grounding_metadata"))
        held = grounding if isinstance(grounding, dict) else {}
        chunks = held.get("groundingChunks", held.get("grounding_chunks"))
        values = [value for chunk in _dicts(chunks) for value in chunk.values()]
        return self._sources([{**each, "url": each.get("uri")} for each in _dicts(values)])

    def _sources(self, citations: list[dict[str, Any]]) -> Html:
        """Return a list of sources: links, titles, and what is quoted."""
        return Citations(citations, self.contents.places).listed()

    # Files

    def pictures(self, number: int, parts: Sequence[Part]) -> Html:
        """Return pictures without names side by side; one that is on the page is only named."""
        figures = []
        for part in parts:
            where = self._pictures.get(_content(part))
            if where is not None:
                same = link(f"#{where}", "the same picture")
                figures.append(element("p", same, " as before", class_="note"))
                continue
            anchor = self._pictures[_content(part)] = f"{anchor_of(number)}-picture-{len(figures)}"
            figures.append(self._figure(anchor, number, part))
        return element("div", *figures, class_="sheet")

    def _figure(self, anchor: str, number: int, part: Part) -> Html:
        shown = self.contents.show(part)
        if not shown.picture:  # it says why it is not shown, perhaps with a link
            return element("figure", shown.html, element("figcaption", facts(part)), id=anchor)
        kept = self.contents.keeping(number, part, shown)
        return figure(shown.html, [facts(part)], kept, anchor=anchor, back=anchor_of(number))

    def _card(self, number: int, part: Part) -> Html:
        """Return a file; one that was there before under its name says what changed."""
        name = part.name or part.content_type
        key = _RESULT.sub("", name)
        before = None if part.name is None or _NUMBERED.fullmatch(name) else self._last.get(key)
        self._last[key] = number, part
        is_same = before is not None and _content(before[1]) == _content(part)
        marks: list[Html] = []
        if before is None:
            inside = self._part_html(number, part)
        elif is_same:
            marks = [badge("unchanged")]
            inside = element("p", "the same as in ", message_link(before[0]), class_="note")
        else:
            self.news.add(number)
            marks, inside = [badge("changed")], self._changed(before, number, part)
        heading = [dot(part), element("bdi", key, class_="name"), *marks, facts(part)]
        return card(heading, inside, anchor=self.anchor(number, part), is_open=not is_same)

    def _part_html(self, number: int, part: Part) -> Html:
        shown = self.contents.show(part)
        return joined(shown.html, self.contents.keeping(number, part, shown))

    def _changed(self, before: tuple[int, Part], number: int, part: Part) -> Html:
        """Return what changed: two pictures side by side, the lines of a text that differ."""
        since, old = before
        where = message_link(since)
        new = self.contents.show(part)
        kept = self.contents.keeping(number, part, new)
        if (was := self.contents.picture_before(old, new)) is not None:
            return joined(pair_of(was, joined("before, in ", where), new.html), kept)
        if (lines := self.contents.changed_lines(old, new)) is not None:
            note = element("p", "since ", where, class_="note")
            return joined(note, lines, fold("All of it", new.html, kept))
        note = element("p", f"before: {type_of(old)}, {size_of(old)}, in ", where, class_="note")
        return joined(note, new.html, kept)


def _unnamed(part: Part) -> Part:
    """Return a part as what somebody says, and not as a file."""
    return part.evolve(name=None)


def _is_formatted(text: str) -> bool:
    """Return whether a text is formatted as Markdown, and all of it is shown then."""
    return _FORMATTED.search(text) is not None and _HIDDEN.search(text) is None


def _as_json(part: Part) -> Part:
    """Return the result of a tool as JSON if it is an object or a list, which many state as text.

    It is shown as a tree or a table.
    """
    text = part.text or ""
    if essence(part.content_type) != TEXT_PLAIN or text.lstrip()[:1] not in ("{", "["):
        return part
    try:
        strict_json.loads(text, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson:
        return part
    return part.evolve(content_type=JSON)


def _content(part: Part) -> Any:
    """Return what tells the content of a part from another content."""
    return key_of(part)[1:3]


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def marks_of(step: Step) -> Iterator[Html]:
    """Yield a badge for a step that failed, or that ended otherwise than usual."""
    if step.is_error:
        yield badge("error", "bad")
    if step.ending is not None:
        yield badge(short(step.ending), "bad")


def tool_line(name: str, *more: Html) -> Html:
    """Return the line above a call or a result."""
    return element("p", element("code", short(name)), *more, class_="tool")


def _shortened(value: Any) -> Any:
    """Return a JSON value in which long texts are cut: signatures are not to be read."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}… {len(value):,} characters"
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    return [_shortened(each) for each in value] if isinstance(value, list) else value
