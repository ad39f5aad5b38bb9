"""Pages that show a body: one complete HTML file that runs nothing and fetches nothing."""

import base64
import hashlib
import importlib.resources
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import count_of, guided, require_body, require_resolver, require_schema
from messagebody.rendering._cards import Cards
from messagebody.rendering._changes import Changes
from messagebody.rendering._contents import Contents
from messagebody.rendering._elements import Html, element
from messagebody.rendering._limits import MOST, PARTS, ROWS, PageLimits
from messagebody.rendering._pieces import badge
from messagebody.rendering._tables import total_size


@guided
def page(
    body: "messagebody.MessageBody",
    *,
    schema: "messagebody.MessageBodySchema | None" = None,
    against: "messagebody.MessageBody | None" = None,
    resolver: "messagebody.Resolver | None" = None,
    title: str = "Message",
    most: int | str = MOST,
    rows: int = ROWS,
    parts: int = PARTS,
) -> str:
    """Return a body as an HTML page, to look at in a browser or to keep as a file.

    Text, Markdown, HTML, pictures, sound, film and tables are shown; directories fold, and each
    part can be saved. A link shows the beginning of its part, a part names what
    links to it, and citations are numbers with their quotes. The page has no script and sends no
    requests: nothing on it could, and a content security policy (CSP) forbids both as well. Where a
    limit leaves something out, the page names it.

    Arguments:
        body: the body.
        schema: shows at each part what the schema does not accept.
        against: an older body; shows what is new and what changed.
        resolver: reads references; None shows them as links and fetches nothing.
        title: the title of the page.
        most: the most bytes of a part to show; a larger part is listed with its size. All contents
            together have ten times as much room.
        rows: the most rows of a table.
        parts: the most parts to show.

    Raises:
        MissingDependency: there is Markdown or HTML, and the extra `view` is not installed.
        InvalidArgument: an argument is of another type, or a number is less than 1.
        InvalidSize: `most` is not a size.

    Examples:
        >>> from messagebody import MessageBody
        >>> body = MessageBody()
        >>> _ = body.add("Cats are *cute*.", content_type="text/markdown")
        >>> "<em>cute</em>" in page(body)
        True
    """
    limits = PageLimits(most, rows, parts)
    return draw(
        body, schema=schema, against=against, resolver=resolver, title=title, limits=limits
    ).html


@attrs.frozen
class Drawn:
    """A page, and what the shell says of it.

    Arguments:
        html: the page.
        unread: the parts and messages that could not be read, each with the reason.
    """

    html: str
    unread: Sequence[str]


def draw(
    body: "messagebody.MessageBody",
    *,
    schema: "messagebody.MessageBodySchema | None",
    against: "messagebody.MessageBody | None",
    resolver: "messagebody.Resolver | None",
    title: str,
    limits: PageLimits,
) -> Drawn:
    """Return the page of a body and what it could not show; see `page` for the arguments."""
    contents = Contents(require_body(body), require_resolver(resolver), limits)
    changes = Changes() if against is None else Changes.between(require_body(against), body)
    problems = _problems(body, schema)
    cards = Cards(body, contents, changes, problems)
    facts = [_facts(body), *_verdict(schema, problems), *_change_counts(against, changes)]
    html = document(
        title,
        element("header", element("h1", title), element("p", *facts, class_="facts")),
        element("div", cards.listed(), element("main", *cards.sections()), class_="columns"),
    )
    return Drawn(html, contents.unread)


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
    yield badge(words, "bad" if count else "good")


def _change_counts(against: "messagebody.MessageBody | None", changes: Changes) -> Iterator[Html]:
    if against is None:
        return
    counts = {"new": changes.added, "changed": changes.changed, "removed": changes.removed}
    told = [f"{len(found):,} {word}" for word, found in counts.items() if found]
    yield badge(", ".join(told) or "no changes")
