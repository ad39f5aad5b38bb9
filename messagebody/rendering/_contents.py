"""Contents of parts as HTML: the view of each type, or the reason why it is not shown."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import (
    DEFAULT_LIMITS,
    JSON,
    TEXT_PLAIN,
    Part,
    access_of,
    canonical,
    count_of,
    data_urls,
    essence,
    human_size,
    is_text,
    redact_url,
    redact_urls,
    sniffing,
    strict_json,
)
from messagebody.errors import MessageBodyError, MissingDependency
from messagebody.links import target_of
from messagebody.rendering import _grids as grids
from messagebody.rendering._changes import text_changes
from messagebody.rendering._code import coloured, indented, language_of
from messagebody.rendering._elements import Html, element, joined
from messagebody.rendering._limits import (
    CHARACTERS,
    CODE,
    COMPARED,
    LONGEST_CODE,
    MARKUP,
    PEEKS,
    PageLimits,
    more_with,
)
from messagebody.rendering._markup import Sieve
from messagebody.rendering._peeks import Citations, unmarked, with_peeks
from messagebody.rendering._pieces import (
    data_url,
    diff,
    file_name,
    fold,
    link,
    save_link,
    web_address,
)
from messagebody.rendering._tables import kind_of

# Types that a browser shows and that fetch nothing. Playlists (HLS, DASH) are not among them: they
# contain URLs, and browsers follow them whatever type is stated. So the bytes decide, not the
# stated type.
_MEDIA: Final = {
    "image/avif": "img",
    "image/bmp": "img",
    "image/gif": "img",
    "image/jpeg": "img",
    "image/png": "img",
    "image/webp": "img",
    "audio/aac": "audio",
    "audio/flac": "audio",
    "audio/mp4": "audio",
    "audio/mpeg": "audio",
    "audio/ogg": "audio",
    "audio/wav": "audio",
    "video/mp4": "video",
    "video/ogg": "video",
    "video/quicktime": "video",
    "video/webm": "video",
}
_SVG: Final = "image/svg+xml"
_PDF: Final = "application/pdf"
_MARKDOWN: Final = "text/markdown"
_PROSE: Final = frozenset({_MARKDOWN, "text/html", "application/xhtml+xml"})
_SEPARATED: Final = {"text/csv": ",", "text/tab-separated-values": "\t"}
# It may be scrolled, so the keyboard has to reach it.
_REGION: Final = {"tabindex": "0", "role": "region", "aria_label": "Text"}
_JSON_LINES: Final = frozenset({"application/x-ndjson", "application/jsonl"})
_PARQUET: Final = frozenset({"application/vnd.apache.parquet", "application/x-parquet"})


@attrs.define
class Room:
    """The room that is left on a page, in bytes or another measure."""

    left: int

    def take(self, size: int) -> bool:
        """Take room, and return whether there was enough of it."""
        if size > self.left:
            return False
        self.left -= size
        return True


class NotShown(Exception):
    """Content that is not on the page; the text tells the reader why."""


@attrs.frozen
class Shown:
    """The view of a part on the page.

    Arguments:
        html: the content.
        picture: the `data:` URL if the content is only a picture, so that other pictures may be
            beside it; else empty.
        text: the content as text, if it is text.
        data: the bytes of the content; None if they were not read.
        is_raw: whether `html` shows the content as it was written.
    """

    html: Html
    picture: str = ""
    text: str | None = None
    data: bytes | None = None
    is_raw: bool = False


class Contents:
    """Turns the contents of the parts of one body into HTML.

    Arguments:
        body: the body.
        resolver: reads references; None if they are not read.
        limits: how much is shown.
    """

    def __init__(
        self,
        body: "messagebody.MessageBody",
        resolver: "messagebody.Resolver | None",
        limits: PageLimits | None = None,
    ) -> None:
        self._resolver = resolver
        self.limits = PageLimits() if limits is None else limits
        self._room = Room(self.limits.total)
        self._markup = Room(MARKUP)
        self._colours = Room(CODE)
        self._cells = Room(self.limits.cells)
        self._peeks = Room(PEEKS)
        self._compared = Room(COMPARED)
        self.unread: list[str] = []
        """Parts whose content could not be read, each with the reason."""
        self.places = {
            part.name: (self.anchor(i) if i < self.limits.parts else "", part)
            for i, part in enumerate(body)
            if part.name is not None
        }
        """The anchors and parts that links and pictures in texts find by their names.

        A part that is not shown has no anchor.
        """
        self._text_at = ""
        self._holder: str | None = None
        self._pictured: dict[str, str] = {}
        """The anchors of pictures that a text shows, each with that of the text."""

    def show_all(self, parts: Sequence[tuple[str, "messagebody.Part"]]) -> list[Shown]:
        """Return the contents of parts; a picture that a text shows is shown only there.

        Arguments:
            parts: parts with their anchors.

        Raises:
            MissingDependency: there is Markdown or HTML, and the extra `view` is not installed.
        """
        found: dict[int, Shown] = {}
        # Texts come first, because a picture may come before the text that shows it.
        for index in sorted(range(len(parts)), key=lambda i: not _is_prose(parts[i][1])):
            anchor, part = parts[index]
            self._text_at = anchor
            found[index] = self._in_text(anchor, self.show(part))
        return [found[index] for index in range(len(parts))]

    def _in_text(self, anchor: str, shown: Shown) -> Shown:
        """Return a content, but for a picture that a text shows a link to that text."""
        if not shown.picture or anchor not in self._pictured:
            return shown
        where = link(f"#{self._pictured[anchor]}", "in a text")
        note = element("p", "shown ", where, class_="note")
        return attrs.evolve(shown, html=note, picture="")

    def show(self, part: "messagebody.Part") -> Shown:
        """Return a part's content, or the reason why it can't be shown.

        Raises:
            MissingDependency: it is Markdown or HTML, and the extra `view` is not installed.
        """
        self._holder = part.name
        try:
            shown = self._show_bytes(part)
        except NotShown as reason:
            shown = _note(reason)
        return attrs.evolve(shown, html=joined(shown.html, _origin(part)))

    def anchor(self, index: int) -> str:
        """Return the `id` of the part at a position, which links lead to."""
        return f"part-{index}"

    def keeping(self, index: int, part: "messagebody.Part", shown: Shown) -> Html:
        """Return the raw view of a part, unless it is shown as it is, and a link that saves it."""
        if shown.data is None:
            return Html()
        if len(shown.data) > self.limits.most:
            words = f"Save: too large for this page ({more_with('most')})"
            return element("p", element("span", words), class_="keep")
        saved = element("p", save_link(file_name(part, index), shown.data), class_="keep")
        return joined(saved, self.raw(shown))

    def raw(self, shown: Shown) -> Html:
        """Return a folded view of a text as it was written, unless it is shown so."""
        if shown.text is None or shown.is_raw:
            return Html()
        return fold("Raw", as_source(shown.text), look="raw")

    @property
    def reads_references(self) -> bool:
        """Whether contents behind references are read."""
        return self._resolver is not None

    def text_of(self, part: "messagebody.Part") -> str | None:
        """Return the text of a part; None if it has none that can be shown."""
        try:
            return _text(part, self._bytes(part)) if part.is_text else None
        except NotShown:
            return None

    def json(self, value: Any) -> Html:
        """Return a JSON value that is no content, without secrets from URLs."""
        return as_source(redact_urls(indented(value, CHARACTERS)))

    def changed_lines(self, old: "messagebody.Part", new: Shown) -> Html | None:
        """Return the lines of a text that changed; None if there are none that can be shown."""
        before = None if new.text is None else self.text_of(old)
        if before is None or new.text is None or not self._compared.take(1):
            return None
        lines = text_changes(before, new.text)
        return diff(lines[2:]) if lines else None

    def picture_before(self, old: "messagebody.Part", new: Shown) -> Html | None:
        """Return the picture that a part was before; None if it was or is no picture."""
        if not new.picture or kind_of(old) != "image":
            return None
        was = self.show(old)
        return was.html if was.picture else None

    def _show_bytes(self, part: "messagebody.Part") -> Shown:
        data = self._bytes(part)
        if not data:
            raise NotShown("empty")
        try:
            shown = self._laid_out(part, data)
        except NotShown as reason:
            shown = _note(reason)
        return attrs.evolve(shown, data=data)

    def _laid_out(self, part: "messagebody.Part", data: bytes) -> Shown:
        kind = canonical(part.content_type)
        if kind == _SVG:
            return self._picture(_SVG, data, part)
        if is_text(part.content_type):
            text = _text(part, data)
            citations = Citations((part.metadata or {}).get("citations"), self.places, text)
            # Marks would change what tables, JSON and code are.
            is_read = kind in _PROSE | {TEXT_PLAIN}
            shown = self._shown_text(part, citations.marked(text) if is_read else text)
            return attrs.evolve(shown, html=citations.shown(shown.html), text=text)
        if kind in _PARQUET:
            return self._parquet(data)
        return self._shown_bytes(part, kind, data)

    def _bytes(self, part: "messagebody.Part") -> bytes:
        """Return the content of a part, if it is small enough and may be read."""
        url = part.url
        if url is not None and self._resolver is None and not data_urls.is_data_url(url):
            raise NotShown("not fetched")
        try:
            size = self._size_of(part)
            if size > self.limits.most and not (part.text and part.is_text):
                what = f"{human_size(size)}: too large to show here"
                raise NotShown(f"{what} ({more_with('most')})")
            # A part may have its own resolver, but the caller of this page did not allow it.
            data = part.with_resolver(self._resolver).read_bytes()
        except (MessageBodyError, OSError) as error:
            self.unread.append(f"{part.label}: {error}")
            raise NotShown(f"not readable: {error}") from error
        if not self._room.take(min(len(data), self.limits.most)):
            raise NotShown(f"not shown: the page has no more room ({more_with('most')})")
        return data

    def _size_of(self, part: "messagebody.Part") -> int:
        if part.size is not None or self._resolver is None or part.url is None:
            # A `data:` URL is in the message, and the message's reader has limited its size.
            return part.size or 0
        budget = access_of(part, self._resolver)["budget"]
        return self._resolver.size(part.url, subject=part.label, budget=budget)

    # Tables

    def _parquet(self, data: bytes) -> Shown:
        try:
            return self._table(grids.of_parquet(data, self.limits.rows))
        except grids.NoGrid as error:
            raise NotShown(f"not readable as a table: {error}") from error
        except MissingDependency as error:
            raise NotShown(str(error)) from error

    def _table(self, grid: grids.Grid) -> Shown:
        if not self._cells.take(grid.cells):
            raise grids.NoGrid(f"the page has too many cells ({more_with('rows')})")
        return Shown(grids.table(grid))

    # Text

    @cached_property
    def _sieve(self) -> Sieve:
        # Made only for markup, so that a body without markup needs no extra.
        return Sieve(self._link_to, self._picture_at, self._may_colour, unmarked)

    def _shown_text(self, part: "messagebody.Part", text: str) -> Shown:
        kind = canonical(part.content_type)
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > self.limits.most:
            return self._beginning(text, size, part)
        if kind in _PROSE and self._may_parse(text):
            return Shown(self._prose(kind, text))
        try:
            if kind in _SEPARATED:
                return self._table(grids.of_csv(text, _SEPARATED[kind], self.limits.rows))
            if kind in _JSON_LINES:
                return self._table(grids.of_json_lines(text, self.limits.rows))
            if kind == JSON or kind.endswith("+json"):
                return self._json(text)
        except grids.NoGrid as reason:
            return self._source(text, f"not a table: {reason}")
        language = language_of(part.content_type, part.name)
        return self._plain(text, part) if language is None else self._code(text, language)

    def _code(self, text: str, language: str) -> Shown:
        if not self._may_colour(text):
            return self._source(text)
        try:
            return Shown(_region("pre", coloured(text, language)), is_raw=True)
        except MissingDependency as error:  # without colours it is read as well
            return self._source(text, str(error))

    def _beginning(self, text: str, size: int, part: "messagebody.Part") -> Shown:
        """Return the beginning of a text that is too large to be laid out."""
        begins = self._plain(text[: self.limits.most], part)
        words = f"{human_size(size)}: too large to lay out here ({more_with('most')})"
        return attrs.evolve(begins, html=joined(begins.html, element("p", words, class_="note")))

    def _plain(self, text: str, part: "messagebody.Part") -> Shown:
        # Unnamed text is shown as text to read, and named parts as files.
        if part.name is None and essence(part.content_type) == TEXT_PLAIN:
            said = _shortened_element(text, "div", class_="said")
            return Shown(said, is_raw=True)
        return self._source(text)

    def _source(self, text: str, note: str = "") -> Shown:
        """Return a text as it was written, and perhaps a note of why it is not laid out."""
        source = as_source(text)
        below = element("p", note, class_="note") if note else Html()
        return Shown(joined(source, below), is_raw=True)

    def _may_parse(self, text: str) -> bool:
        # The time for nested and unfinished markup grows with the square of its length.
        cost = len(text) + len(text) ** 2 // 2_500
        return len(text) <= CHARACTERS and self._markup.take(cost)

    def _may_colour(self, code: str) -> bool:
        return len(code) <= LONGEST_CODE and self._colours.take(len(code) ** 2)

    def _prose(self, kind: str, text: str) -> Html:
        cleaned = self._sieve.markdown(text) if kind == _MARKDOWN else self._sieve.html(text)
        linked = with_peeks(cleaned, self.places, lambda: self._peeks.take(1))
        return element("div", linked, class_="prose", dir="auto")

    def _json(self, text: str) -> Shown:
        """Return JSON as a table if it holds rows, else indented."""
        try:
            value = strict_json.loads(text, depth=DEFAULT_LIMITS.depth)
        except strict_json.InvalidJson as error:
            return self._source(text, f"not JSON: {error}")
        try:
            return self._table(grids.of_objects(value, self.limits.rows))
        except grids.NoGrid:
            return self._code(indented(value, CHARACTERS), "json")

    # Bytes

    def _shown_bytes(self, part: "messagebody.Part", kind: str, data: bytes) -> Shown:
        # Checked before the stated type is used, because a sender may call anything a picture.
        found = canonical(sniffing.content_type(data[: sniffing.HEAD]))
        if found in _MEDIA and kind.partition("/")[0] in {"image", "audio", "video"}:
            shown = self._media(found, data, part)
            if sniffing.agree(part.content_type, found):
                return shown
            note = element("p", f"its bytes are {found}", class_="note")
            return attrs.evolve(shown, html=joined(shown.html, note), picture="")
        if found == kind == _PDF:
            return Shown(element("p", "a PDF, which is read once it is saved", class_="note"))
        what = f"binary content, {human_size(len(data))}"
        stated = "" if sniffing.agree(part.content_type, found) else f"; its bytes are {found}"
        raise NotShown(what + stated)

    def _media(self, kind: str, data: bytes, part: "messagebody.Part") -> Shown:
        tag = _MEDIA[kind]
        if tag == "img":
            return self._picture(kind, data, part)
        label = part.name or part.content_type
        player = element(tag, src=data_url(kind, data), controls=True, preload="metadata",
                         aria_label=label)  # fmt: skip
        return Shown(player)

    def _picture(self, kind: str, data: bytes, part: "messagebody.Part") -> Shown:
        # In an `img` element, an SVG runs no script and fetches nothing.
        source = data_url(kind, data)
        alt = part.name or part.content_type
        return Shown(element("img", src=source, alt=alt, loading="lazy"), source)

    # Links and pictures in Markdown and HTML

    def _link_to(self, url: str) -> str | None:
        place = self._place(url)
        if place is None:
            return None
        anchor, part = place
        return f"#{anchor}" if anchor else web_address(part.url or "")

    def _place(self, url: str) -> "tuple[str, messagebody.Part] | None":
        target = target_of(url, self._holder)
        return None if target is None else self.places.get(target[0])

    def _picture_at(self, url: str) -> str | None:
        """Return the `data:` URL of a picture that is a part, or in the URL itself."""
        place = self._place(url)
        try:
            if data_urls.is_data_url(url):
                kind, data = data_urls.decode(url, max_bytes=self.limits.most)
                return self._picture_of(Part(data, content_type=kind))
            if place is None:
                return None
            anchor, part = place
            if picture := self._picture_of(part):
                self._pictured.setdefault(anchor, self._text_at)
        except (NotShown, ValueError, MessageBodyError):
            return None
        return picture

    def _picture_of(self, part: "messagebody.Part") -> str | None:
        # Only pictures are shown: markup inside of markup would have no end.
        return self._show_bytes(part).picture if kind_of(part) == "image" else None


def _is_prose(part: "messagebody.Part") -> bool:
    return canonical(part.content_type) in _PROSE


def _note(reason: NotShown) -> Shown:
    return Shown(element("p", str(reason), class_="note"))


def _text(part: "messagebody.Part", data: bytes) -> str:
    if part.text is not None:
        return part.text
    try:
        # Read like inline content, so that a wrong or unknown charset is reported in the same way.
        return part.evolve(content=data).read_text()
    except MessageBodyError as error:
        raise NotShown(f"not readable as text: {error}") from error


def _origin(part: "messagebody.Part") -> Html:
    """Return the target of a reference: a link without secrets, or the URL as text."""
    if part.url is None or data_urls.is_data_url(part.url):
        return Html()
    shown, address = redact_url(part.url, limit=2_000), web_address(part.url)
    target = element("code", shown) if address is None else link(address, shown)
    return element("p", target, class_="origin")


def as_source(text: str) -> Html:
    """Return a text as it was written."""
    return _shortened_element(text, "pre", **_REGION)


def _region(tag: str, *children: Html) -> Html:
    return element(tag, *children, dir="auto", **_REGION)


def _shortened_element(text: str, tag: str, **attributes: str) -> Html:
    """Return a text as an element; a line states how much of a long text is left out."""
    shown = element(tag, text[:CHARACTERS], dir="auto", **attributes)
    rest = len(text) - CHARACTERS
    if rest <= 0:
        return shown
    return joined(shown, element("p", f"and {count_of(rest, 'more character')}", class_="note"))
