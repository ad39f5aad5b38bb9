"""What the steps of a run say, as HTML: texts, files, arguments, results, and what changed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import (
    DEFAULT_LIMITS,
    JSON,
    TEXT_PLAIN,
    Part,
    escape,
    essence,
    redact_url,
    redact_urls,
    strict_json,
    text_changes,
)
from messagebody.adapters import Step
from messagebody.errors import MissingDependency
from messagebody.rendering._changes import key_of
from messagebody.rendering._contents import Contents, Shown, fold, pair_of
from messagebody.rendering._elements import Html, element, joined
from messagebody.rendering._markup import is_web_link
from messagebody.rendering._tables import kind_of, size_of, type_of

_MOST_CITED: Final = 100
"""Citations that are listed below one text."""
_MOST_ARGUMENTS: Final = 20
"""Arguments of a call that stand one below the other; more are shown as one value."""
_FOLDED: Final = 1_200
"""Characters of what the system says that are unfolded."""
_SHORT: Final = 80
"""Characters of an argument that stands beside its name."""
_LONGEST: Final = 500
"""Characters of a text among the members of a message that are not content."""
ROLES: Final = frozenset({"user", "assistant", "system", "tool"})
_TITLES: Final = ("title", "document_title", "filename")
"""Members of citations with the title of the source."""
_LONGEST_NAME: Final = 2_000
"""Characters of a name that are looked at."""
_NAME: Final = 200
"""Characters of the name of a tool, a speaker or a source."""
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
_SIGNS: Final = {"+": "ins", "-": "del", "@": "b"}


def anchor_of(number: int) -> str:
    """Return the `id` of a message."""
    return f"message-{number}"


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
    _bodies: "dict[int, messagebody.MessageBody]" = attrs.field(factory=dict, init=False)
    _cited: dict[int, set[str]] = attrs.field(factory=dict, init=False)
    _last: dict[str, tuple[int, Part]] = attrs.field(factory=dict, init=False)
    _pictures: dict[Any, str] = attrs.field(factory=dict, init=False)

    def enter(self, number: int, body: "messagebody.MessageBody") -> None:
        """Begin a message: links in texts find its parts by their names from now on."""
        self._bodies[number] = body
        self._cited[number] = {
            str(cited.get("part")) for part in body for cited in _citations(part)
        }
        for position, part in enumerate(body):
            if part.name is not None:
                self.contents.places[part.name] = f"{anchor_of(number)}-part-{position}", part

    # Steps

    def step(self, number: int, role: str, step: Step) -> Html:
        """Return what a step says that is neither a call nor its result."""
        part = step.parts[0]
        if step.kind == "unknown":
            title = "a block of another kind" + (f", {cut(step.name)}" if step.name else "")
            return fold(title, self._json(part.read_json()), is_open=True)
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
            return self._text(number, role, step)
        if part.name in self._cited[number] and part.is_reference:
            return Html()  # it is among the sources of its text
        if part.url is not None and _SOURCE.fullmatch(part.name or "") and not self._reads:
            return self._sources(number, [{"part": part.name}])
        card = self._card(number, part)
        if not isinstance(step.about.get("source"), str):
            return card
        # What a search found has its source beside the content.
        return joined(card, self._sources(number, [{**(part.metadata or {}), **step.about}]))

    def result(self, number: int, step: Step) -> Iterator[Html]:
        """Yield the parts of a result."""
        for part in step.parts:
            if (part.metadata or {}).get("tool_result", {}).get("empty"):
                yield element("p", "an empty result", class_="note")
            elif (hit := self._hit(part)) is not None:
                yield element("p", hit, class_="plain")
            elif part.name is not None and _NUMBERED.fullmatch(part.name):
                yield element("div", self.contents.show(_as_json(part)).html, class_="plain")
            else:
                yield self._card(number, part)

    @property
    def _reads(self) -> bool:
        """Whether references are read, and not only named."""
        return self.contents.reads_references

    def _hit(self, part: Part) -> Html | None:
        """Return what a search found as a link with its title; None for another part."""
        title = (part.metadata or {}).get("title")
        if part.url is None or self._reads or not isinstance(title, str):
            return None
        return joined(web_link(part.url, cut(title)), " ", _site(part.url))

    def arguments(self, call: Step) -> Iterator[Html]:
        """Yield the arguments of a call: each with its name, if there are few."""
        value = call.arguments
        if not isinstance(value, dict) or len(value) > _MOST_ARGUMENTS:
            yield self._value(value, call)
            return
        for name, argument in value.items():
            key = element("b", cut(name))
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
        if not about:
            return Html()
        return fold("Details", self._json(about))

    def _json(self, value: Any) -> Html:
        """Return a JSON value that is not content, without secrets from URLs."""
        text = redact_urls(strict_json.dumps(_shortened(value)))
        return self.contents.show(Part(text, content_type=JSON)).html

    # Texts

    def _text(self, number: int, role: str, step: Step) -> Html:
        part = step.parts[0]
        other = (part.metadata or {}).get("role")
        speaker = other if other in ROLES else role
        shown = self._spoken(speaker, part)
        said = shown.html
        if speaker == "system" and len(shown.text or "") > _FOLDED:
            said = fold("Instructions", said)
        label = badge(speaker) if speaker != role else Html()
        sources = self._sources(number, [step.about, *_citations(part)])
        return element("div", label, said, sources, class_="says")

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

    def _sources(self, number: int, citations: Sequence[dict[str, Any]]) -> Html:
        """Return the sources of a text, each once: links, titles, and what is quoted."""
        found = dict.fromkeys(self._source(number, cited) for cited in citations)
        rows = [element("li", source) for source in [*found][:_MOST_CITED] if source]
        return element("ol", *rows, class_="sources") if rows else Html()

    def grounds(self, number: int, about: dict[str, Any]) -> Html:
        """Return the sources that Gemini names for all of a message."""
        grounding = about.get("groundingMetadata", about.get("grounding_metadata"))
        held = grounding if isinstance(grounding, dict) else {}
        chunks = held.get("groundingChunks", held.get("grounding_chunks"))
        inner = [[*each.values()] for each in chunks if isinstance(each, dict)] if isinstance(
            chunks, list
        ) else []  # fmt: skip
        found = [each for values in inner for each in values if isinstance(each, dict)]
        return self._sources(number, [{**each, "url": each.get("uri")} for each in found])

    def _source(self, number: int, cited: dict[str, Any]) -> Html:
        """Return a source: its title as a link if it has a URL, and the text that is quoted."""
        source = self._bodies[number].get(str(cited.get("part")))
        about = {} if source is None else source.metadata or {}
        url = (
            source.url
            if source is not None
            else cited.get("url", cited.get("part", cited.get("source")))
        )
        title = _first_text([*(cited.get(name) for name in _TITLES), about.get("title")])
        quoted = _quoted_in(cited)
        words = element("q", cut(quoted)) if quoted else Html()
        if not isinstance(url, str) or not url:
            return joined(*([cut(title)] if title else []), " ", words) if title or words else words
        link = web_link(url, cut(title or redact_url(url, limit=_NAME)))
        return joined(link, " ", _site(url), *([" ", words] if words else []))

    # Files

    def pictures(self, number: int, parts: Sequence[Part]) -> Html:
        """Return pictures without names side by side; one that is on the page is only named."""
        figures = []
        for part in parts:
            where = self._pictures.get(_content(part))
            if where is not None:
                link = element("a", "the same picture", href=f"#{where}")
                figures.append(element("p", link, " as before", class_="note"))
                continue
            anchor = self._pictures[_content(part)] = f"{anchor_of(number)}-picture-{len(figures)}"
            figures.append(self._figure(anchor, number, part))
        return element("div", *figures, class_="sheet")

    def _figure(self, anchor: str, number: int, part: Part) -> Html:
        shown = self.contents.show(part)
        if not shown.picture:  # it says why it is not shown, perhaps with a link
            return element("figure", shown.html, element("figcaption", _facts(part)), id=anchor)
        larger = element("a", shown.html, href=f"#{anchor}",
                         title="Show it larger")  # fmt: skip
        cross = "\N{MULTIPLICATION SIGN}"
        smaller = element("a", cross, href=f"#{anchor_of(number)}", class_="smaller",
                          aria_label="Show it smaller")  # fmt: skip
        caption = element("figcaption", _facts(part))
        kept = self.contents.keeping(number, part, shown)
        return element("figure", larger, smaller, caption, kept, id=anchor)

    def _card(self, number: int, part: Part) -> Html:
        """Return a file; one that was there before under its name says what changed."""
        name = part.name or part.content_type
        key = _RESULT.sub("", name)
        before = None if part.name is None or _NUMBERED.fullmatch(name) else self._last.get(key)
        self._last[key] = number, part
        marks: list[Html] = []
        is_open = True
        if before is None:
            inside = self._part_html(number, part)
        elif _content(before[1]) == _content(part):
            link = element("a", f"message {before[0]}", href=f"#{anchor_of(before[0])}")
            inside = element("p", "the same as in ", link, class_="note")
            marks.append(badge("unchanged"))
            is_open = False
        else:
            self.news.add(number)
            marks.append(badge("changed"))
            inside = self._changed(before, number, part)
        heading = element(
            "summary", element("i", class_=f"dot {kind_of(part)}"),
            element("bdi", _RESULT.sub("", name), class_="name"), *marks, _facts(part),
        )  # fmt: skip
        place = self.contents.places.get(name)
        is_own = place is not None and place[0].startswith(f"{anchor_of(number)}-")
        anchor = place[0] if place is not None and is_own else None
        content = element("div", inside, id=anchor, class_="content")
        return element("details", heading, content, class_="part", open=is_open)

    def _part_html(self, number: int, part: Part) -> Html:
        shown = self.contents.show(part)
        return joined(shown.html, self.contents.keeping(number, part, shown))

    def _changed(self, before: tuple[int, Part], number: int, part: Part) -> Html:
        """Return what changed: two pictures side by side, the lines of a text that differ."""
        since, old = before
        link = element("a", f"message {since}", href=f"#{anchor_of(since)}")
        new = self.contents.show(part)
        kept = self.contents.keeping(number, part, new)
        if kind_of(old) == kind_of(part) == "image":
            was = self.contents.show(old).html
            return joined(pair_of(was, joined("before, in ", link), new.html), kept)
        text = self.contents.text_of(old)
        lines = None if text is None or new.text is None else text_changes(text, new.text)
        if not lines:
            was = element("p", f"before: {type_of(old)}, {size_of(old)}, in ", link, class_="note")
            return joined(was, new.html, kept)
        signed = [element(_SIGNS.get(line[:1], "span"), line or " ") for line in lines[2:]]
        return joined(
            element("p", "since ", link, class_="note"),
            element("pre", *signed, class_="diff", tabindex="0"),
            fold("All of it", new.html, kept),
        )


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


def _citations(part: Part) -> list[dict[str, Any]]:
    found = (part.metadata or {}).get("citations")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _first_text(values: Iterable[Any]) -> str:
    return next((each for each in values if isinstance(each, str) and each), "")


def _quoted_in(cited: dict[str, Any]) -> str:
    """Return the text of a source that a citation quotes."""
    pieces = cited.get("sourceContent")
    texts = [each.get("text") for each in pieces if isinstance(each, dict)] if isinstance(
        pieces, list
    ) else []  # fmt: skip
    return _first_text([cited.get("quote"), " ".join(map(str, filter(None, texts)))])


def marks_of(step: Step) -> Iterator[Html]:
    """Yield a badge for a step that failed, or that ended otherwise than usual."""
    if step.is_error:
        yield badge("error", "bad")
    if step.ending is not None:
        yield badge(cut(step.ending), "bad")


def _facts(part: Part) -> Html:
    size = "" if part.size is None else f"  {size_of(part)}"
    return element("small", f"{type_of(part)}{size}")


def _site(url: str) -> Html:
    """Return the host of a link, which a title does not tell."""
    host = urlsplit(url).hostname if is_web_link(url) else None
    return element("small", host) if host else Html()


def web_link(url: str, words: str) -> Html:
    """Return a link without the secrets of its URL; words alone if it may be no link."""
    if not is_web_link(url):
        return element("span", words)
    # Query and fragment may hold signatures and tokens, and people pass pages on.
    target = urlsplit(url)._replace(query="", fragment="").geturl()
    return element("a", words, href=target, rel="noopener noreferrer nofollow")


def cut(text: str) -> str:
    """Return a name of any length, cut for the page, without secrets from URLs."""
    return escape(redact_urls(text[:_LONGEST_NAME]), limit=_NAME)


def badge(words: str, look: str = "", href: str | None = None) -> Html:
    """Return a short remark, which leads to a place on the page if one is given."""
    class_ = f"badge {look}".strip()
    if href is None:
        return element("span", words, class_=class_)
    return element("a", words, href=href, class_=class_)


def tool_line(name: str, *more: Html) -> Html:
    """Return the line above a call or a result."""
    return element("p", element("code", cut(name)), *more, class_="tool")


def _shortened(value: Any) -> Any:
    """Return a JSON value in which long texts are cut: signatures are not to be read."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}… {len(value):,} characters"
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    return [_shortened(each) for each in value] if isinstance(value, list) else value
