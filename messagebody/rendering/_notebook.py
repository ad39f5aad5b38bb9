"""Notebook views: bodies, parts, schemas, verdicts and violations with the look of a page.

A notebook has its own style. So each view keeps its style to itself, needs no extra, and fetches
nothing.
"""

import importlib.resources
import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import MessageBody, count_of, escape
from messagebody.errors import MissingDependency
from messagebody.rendering._contents import Contents, as_source
from messagebody.rendering._elements import Html, element, joined
from messagebody.rendering._limits import PageLimits
from messagebody.rendering._pieces import badge, framed
from messagebody.rendering._tables import kind_of, place_of, preview, size_of, total_size, type_of
from messagebody.rendering._verdicts import Paragraph, on_counterexample, paragraphs

# A view is saved in the notebook's file, with all its content.
_MOST_ROWS: Final = 100
_LONGEST: Final = 2_000
_PREVIEW: Final = 80
# Pictures of the table of a body: small ones, and not many.
_THUMBNAIL: Final = "128 KiB"
_VERDICTS: Final = {"always": "good", "undecided": ""}


@cache
def _style() -> str:
    here = importlib.resources.files(__package__)
    look = "".join(here.joinpath(name).read_text("utf-8") for name in ("look.css", "notebook.css"))
    # A page styles the root element, and a view its outermost element. The class is doubled, to
    # have priority over the notebook's own styles for tables and texts.
    return f".messagebody.messagebody {{\n{look.replace(':root', '&')}}}"


def _view(*children: Html) -> str:
    return element("div", element("style", Html(_style())), *children, class_="messagebody")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]], caption: str = "") -> Html:
    heads = [element("th", title, scope="col") for title in head]
    return framed(heads, ([element("td", cell) for cell in row] for row in rows), caption)


def body_html(body: "messagebody.MessageBody") -> str:
    """Return a body as a table of its parts; a long one is cut.

    Small pictures are embedded, other content is not, and no URL becomes a link or a picture.

    Examples:
        >>> from messagebody import MessageBody
        >>> body = MessageBody()
        >>> _ = body.add("a < b")
        >>> '<td>"a &lt; b"</td>' in body_html(body).replace("&quot;", '"')
        True
    """
    return _view(_parts_table(body))


def _parts_table(body: "messagebody.MessageBody") -> Html:
    shown = list(itertools.islice(body, _MOST_ROWS))
    contents = Contents(MessageBody(), None, PageLimits(most=_THUMBNAIL))
    rows: list[tuple[str, ...]] = [
        (str(index), part.name or "", type_of(part), size_of(part), _content(part, contents))
        for index, part in enumerate(shown)
    ]
    caption = count_of(len(body), "part")
    if len(body) > len(shown):
        rows.append(("", f"… {len(body) - len(shown):,} more", "", "", ""))
    else:
        caption += f", {total_size(shown)}"
    return _table(("", "Name", "Content type", "Size", "Content"), rows, caption)


def _content(part: "messagebody.Part", contents: Contents) -> str:
    if kind_of(part) == "image" and (picture := contents.show(part).picture):
        return element("img", src=picture, alt=part.name or part.content_type, class_="thumbnail",
                       loading="lazy")  # fmt: skip
    return preview(part, _PREVIEW) if part.text is not None else place_of(part)


def part_html(part: "messagebody.Part") -> str:
    """Return a part with its content; a reference is not read.

    Markup is laid out if the extra `view` is installed, else its source is shown.
    """
    heading = element(
        "p",
        element("bdi", part.name or "unnamed", class_="name"),
        element("small", f"  {type_of(part)}  {size_of(part)}"),
    )
    contents = Contents(MessageBody([part]), None)
    try:
        shown = contents.show(part)
        content = joined(shown.html, contents.raw(shown))
    # Notebooks show a view without being asked, so it must not raise an error.
    except MissingDependency:
        content = as_source(part.text or "")
    return _view(heading, element("div", content, class_="content"))


def schema_html(schema: "messagebody.MessageBodySchema") -> str:
    """Return a schema as a table of its parts."""
    rows: list[tuple[str, ...]] = [
        (
            str(index),
            "unnamed" if part.name is None else part.name,
            part.content_type,
            "required" if part.required else "",
            escape(part.description or "", limit=_LONGEST),
        )
        for index, part in enumerate(schema.parts[:_MOST_ROWS])
    ]
    if len(schema) > len(rows):
        rows.append(("", f"… {len(schema) - len(rows):,} more", "", "", ""))
    head = ("", "Name", "Content type", "", "Description")
    return _view(_table(head, rows, count_of(len(schema), "schema part")))


def verdict_html(result: "messagebody.Compatibility") -> str:
    """Return an answer to `check`: the verdict, its reasons, and a counterexample as a table."""
    verdict = str(result.verdict)
    reasons = (each for told in paragraphs(result) for each in _reason(told))
    said = element("p", badge(verdict, _VERDICTS.get(verdict, "bad")))
    return _view(said, *reasons, *_on_counterexample(result))


def _reason(told: Paragraph) -> Iterator[Html]:
    yield element("p", told.text)
    if told.points:
        yield element("ul", *[element("li", point) for point in told.points])
    if told.rows:
        more = [("", f"… {told.more:,} more", "")] if told.more else []
        yield _table(("Why not", "Accepted", "By"), [*told.rows, *more])
    if told.hint:
        yield element("p", told.hint, class_="note")


def _on_counterexample(result: "messagebody.Compatibility") -> Iterator[Html]:
    for said in on_counterexample(result):
        yield element("p", said[:1].upper() + said[1:])
    if result.counterexample:
        yield _parts_table(result.counterexample)


def listed_html(values: Sequence[Any]) -> str:
    """Return violations, findings or losses as a list; a long one is cut."""
    lines = [escape(str(value), limit=_LONGEST) for value in values[:_MOST_ROWS]]
    if len(values) > len(lines):
        lines.append(f"… {len(values) - len(lines):,} more")
    if not lines:
        return _view(element("p", "nothing", class_="note"))
    return _view(element("ul", *(element("li", line) for line in lines)))


def violation_html(violation: "messagebody.Violation") -> str:
    """Return a violation as one line."""
    return _view(element("p", str(violation), class_="problem"))
