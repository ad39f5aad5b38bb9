"""Pages that show a body: one complete HTML file that runs nothing and fetches nothing."""

import base64
import hashlib
import importlib.resources
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any, Final

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._base.guards import require_body, require_resolver, require_schema
from messagebody._base.limits import parse_size
from messagebody._base.text import count_of
from messagebody.rendering._changes import Changes, text_changes
from messagebody.rendering._contents import Contents, Shown, fold, json_text
from messagebody.rendering._elements import Html, element
from messagebody.rendering._tables import kind_of, preview, size_of, total_size, type_of

MOST_PARTS: Final = 5_000
"""The most parts of one page; more make browsers slow."""

_OPEN: Final = 24
"""Up to this many parts are unfolded when a page opens."""
_MOST_PROBLEMS: Final = 100
"""Problems that a page lists."""
_MOST_COMPARED: Final = 200
"""Parts whose changes a page shows line by line."""
_COLOURED: Final = frozenset({"text", "image", "audio", "video"})


def page(
    body: "messagebody.MessageBody",
    *,
    schema: "messagebody.MessageBodySchema | None" = None,
    against: "messagebody.MessageBody | None" = None,
    resolver: "messagebody.Resolver | None" = None,
    title: str = "Message",
    most: int | str = "5 MiB",
    total: int | str = "50 MiB",
) -> str:
    """Return a body as an HTML page, to look at in a browser or to keep as a file.

    Text, Markdown, HTML, pictures, sound, film and tables are shown; a PDF can be saved. The page
    has no script and sends no requests: nothing on it could, and a content security policy (CSP)
    forbids both as well.

    Arguments:
        body: the body.
        schema: shows at each part what the schema does not accept.
        against: an older body; shows what is new and what changed.
        resolver: reads references; None shows them as links and fetches nothing.
        title: the title of the page.
        most: the most bytes of a part to show; a larger part is listed with its size.
        total: the most bytes of all contents together.

    Raises:
        MissingDependency: there is Markdown or HTML, and the extra `view` is not installed.
        InvalidArgument: an argument is of another type.

    Examples:
        >>> from messagebody import MessageBody
        >>> body = MessageBody()
        >>> _ = body.add("Cats are *cute*.", content_type="text/markdown")
        >>> "<em>cute</em>" in page(body)
        True
    """
    require_body(body)
    contents = Contents(
        body, require_resolver(resolver), most=parse_size(most), total=parse_size(total)
    )
    changes = Changes() if against is None else Changes.between(require_body(against), body)
    problems = _problems(body, schema)
    parts = _Parts(contents, changes, problems)
    facts = [_facts(body), *_verdict(schema, problems), *_change_counts(against, changes)]
    return document(
        title,
        element("header", element("h1", title), element("p", *facts, class_="facts")),
        element("div", _contents_list(body, problems), element("main", *parts.sections(body)),
                class_="columns"),
    )  # fmt: skip


def document(title: str, *children: Html, style: str | None = None) -> str:
    """Return a whole HTML document with the style and the policy of all pages.

    Arguments:
        title: the name of the page.
        *children: its content.
        style: the whole style; that of pages about bodies if None.
    """
    style = style_of() if style is None else style
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        # It comes first, because a policy only applies to the elements after it.
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        # Without an icon, browsers would request one from a server.
        element("link", rel="icon", href="data:,"),
        element("style", Html(style)),
    )
    return f"<!doctype html>\n{element('html', head, element('body', *children), lang='en')}\n"


@cache
def style_of(*more: str) -> str:
    """Return the style of all pages, with the styles of further files."""
    here = importlib.resources.files(__package__)
    files = ("look.css", "page.css", *more)
    return "".join(here.joinpath(name).read_text("utf-8") for name in files)


# Heading


def _facts(body: "messagebody.MessageBody") -> str:
    return f"{count_of(len(body), 'part')}, {total_size(body)}" if len(body) else "no parts"


def _problems(
    body: "messagebody.MessageBody", schema: "messagebody.MessageBodySchema | None"
) -> "dict[int | None, list[messagebody.schema.Violation]]":
    """Return the violations of a schema by the position of their part; None for missing parts."""
    found: dict[int | None, list[Any]] = defaultdict(list)
    if schema is not None:
        for violation in require_schema(schema).iter_violations(body):
            found[violation.part_index].append(violation)
    return found


def _verdict(
    schema: "messagebody.MessageBodySchema | None", problems: dict[int | None, list[Any]]
) -> Iterator[Html]:
    if schema is None:
        return
    count = sum(map(len, problems.values()))
    words = f"✗ {count_of(count, 'violation')}" if count else "✓ valid"
    yield element("span", words, class_="badge bad" if count else "badge good")


def _change_counts(against: "messagebody.MessageBody | None", changes: Changes) -> Iterator[Html]:
    if against is None:
        return
    counts = {"new": changes.added, "changed": changes.changed, "removed": changes.removed}
    told = [f"{len(found):,} {word}" for word, found in counts.items() if found]
    yield element("span", ", ".join(told) or "no changes", class_="badge")


def _contents_list(body: "messagebody.MessageBody", problems: Container[int | None]) -> Html:
    shown = [
        element("li", _entry(i, part, is_wrong=i in problems))
        for i, part in enumerate(body[:MOST_PARTS])
    ]
    if len(shown) < 3:
        return Html()
    return element("nav", element("ol", *shown), aria_label="Parts")


def _entry(index: int, part: "messagebody.Part", *, is_wrong: bool) -> Html:
    name = part.name if part.name is not None else preview(part, 40) or part.content_type
    mark = element("span", "✗", class_="wrong", title="not accepted") if is_wrong else Html()
    return element("a", _dot(part), element("bdi", name), mark, href=f"#part-{index}", title=name)


def _dot(part: "messagebody.Part") -> Html:
    kind = kind_of(part)
    return element("i", class_=f"dot {kind}" if kind in _COLOURED else "dot")


# Parts


@attrs.define
class _Parts:
    """Makes the sections of a page.

    Arguments:
        contents: makes contents.
        changes: between an older body and this one.
        problems: violations by position.
    """

    contents: Contents
    changes: Changes
    problems: "dict[int | None, list[messagebody.schema.Violation]]"
    compared: int = attrs.field(default=_MOST_COMPARED, init=False)

    def sections(self, body: "messagebody.MessageBody") -> Iterator[Html]:
        """Yield the missing parts, the removed parts, and the parts in order."""
        yield from _missing(self.problems.get(None, []))
        yield from self._removed()
        shown = [(i, part, self.contents.show(part)) for i, part in enumerate(body[:MOST_PARTS])]
        is_short = len(shown) <= _OPEN
        for is_sheet, group in groupby(shown, lambda each: bool(each[2].picture)):
            run = list(group)
            if is_sheet and len(run) > 1:
                yield self._sheet(run, is_open=is_short)
            else:
                yield from (self._part(*each, is_open=is_short) for each in run)
        if len(body) > MOST_PARTS:
            yield element("p", f"{len(body) - MOST_PARTS:,} more parts", class_="note")
        if not len(body):
            yield element("p", "This body has no parts.", class_="note")

    def _removed(self) -> Iterator[Html]:
        if self.changes.removed:
            rows = [
                element("li", element("bdi", part.name or preview(part) or "unnamed"), " ",
                        element("small", f"{type_of(part)}, {size_of(part)}"))
                for part in self.changes.removed[:_MOST_PROBLEMS]
            ]  # fmt: skip
            heading = f"{count_of(len(self.changes.removed), 'part')} removed"
            yield element("section", element("h2", heading), element("ul", *rows), class_="gone")

    def _sheet(
        self, run: "Sequence[tuple[int, messagebody.Part, Shown]]", *, is_open: bool
    ) -> Html:
        """Return neighbouring pictures side by side; a chosen picture grows."""
        figures = [self._figure(*each) for each in run]
        sheet = element("div", *figures, class_="sheet")
        summary = element("summary", f"{len(run):,} pictures")
        has_news = any(self._is_news(index) for index, _, _ in run)
        return element("details", summary, sheet, class_="part", open=is_open or has_news)

    def _figure(self, index: int, part: "messagebody.Part", shown: Shown) -> Html:
        larger = element("a", shown.html, href=f"#part-{index}", title="Show it larger")
        cross = "\N{MULTIPLICATION SIGN}"
        smaller = element("a", cross, href="#", class_="smaller", aria_label="Show it smaller")
        caption = element("figcaption", *self._heading(index, part))
        return element("figure", larger, smaller, caption, *self._remarks(index, part, shown),
                       id=f"part-{index}")  # fmt: skip

    def _part(self, index: int, part: "messagebody.Part", shown: Shown, *, is_open: bool) -> Html:
        # A link to an element inside opens the section, and a link to the section would not.
        inside = element("div", *self._remarks(index, part, shown), shown.html,
                         id=f"part-{index}", class_="content")  # fmt: skip
        summary = element("summary", *self._heading(index, part))
        is_open = is_open or self._is_news(index)
        return element("details", summary, inside, class_="part", open=is_open)

    def _is_news(self, index: int) -> bool:
        news = index in self.changes.added or index in self.changes.changed
        return news or index in self.problems

    def _heading(self, index: int, part: "messagebody.Part") -> Iterator[Html]:
        yield _dot(part)
        name = f"part {index}" if part.name is None else part.name
        yield element("bdi", name, class_="name" if part.name is not None else "name unnamed")
        if index in self.changes.added:
            yield element("span", "new", class_="badge good")
        if index in self.changes.changed:
            yield element("span", "changed", class_="badge")
        if index in self.problems:
            yield element("span", "✗ not accepted", class_="badge bad")
        size = "" if part.size is None else f"  {size_of(part)}"
        yield element("small", f"{type_of(part)}{size}")

    def _remarks(self, index: int, part: "messagebody.Part", shown: Shown) -> Iterator[Html]:
        """Yield the remarks about a part besides its content."""
        for violation in self.problems.get(index, [])[:_MOST_PROBLEMS]:
            yield element("p", str(violation), class_="problem")
        if index in self.changes.changed:
            yield self._difference(self.changes.changed[index], shown)
        about = {**(part.metadata or {}), **part.extra}
        if about:
            yield fold("Metadata", json_text(about))

    def _difference(self, old: "messagebody.Part", new: Shown) -> Html:
        """Return the lines that differ, or a note that everything is different."""
        before = self.contents.text_of(old)
        self.compared -= 1
        lines = None
        if before is not None and new.text is not None and self.compared >= 0:
            lines = text_changes(before, new.text)
        if not lines:
            was = f"before: {type_of(old)}, {size_of(old)}"
            return element("p", was, class_="note")
        signed = [element(_SIGNS.get(line[:1], "span"), line or " ") for line in lines[2:]]
        return fold_open("Changes", element("pre", *signed, class_="diff", tabindex="0"))


_SIGNS: Final = {"+": "ins", "-": "del", "@": "b"}


def fold_open(title: str, *children: str) -> Html:
    """Return an open section that the reader can close by its title."""
    return element("details", element("summary", title), *children, class_="fold", open=True)


def _missing(
    violations: "Sequence[messagebody.schema.Violation]",
) -> Iterator[Html]:
    if violations:
        rows = [element("li", str(each)) for each in violations[:_MOST_PROBLEMS]]
        heading = element("h2", f"{count_of(len(violations), 'part')} missing")
        yield element("section", heading, element("ul", *rows), class_="missing")
