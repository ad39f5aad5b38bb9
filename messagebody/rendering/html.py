"""A body as an HTML table, for notebooks."""

import html
import itertools

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._text import count_of
from messagebody.rendering.tables import place_of, preview, size_of, total_size, type_of

_MOST = 100


def html_table(body: "messagebody.MessageBody") -> str:
    """Return a body as an HTML table of its parts, for Jupyter; a long one is cut.

    Everything from the message is escaped, content is not embedded and no URL becomes a link or
    an image: showing a message fetches nothing.

    Examples:
        >>> from messagebody import MessageBody
        >>> body = MessageBody()
        >>> _ = body.add("a < b")
        >>> '<td>"a &lt; b"</td>' in html_table(body).replace("&quot;", '"')
        True
    """
    shown = list(itertools.islice(body, _MOST))
    rows = [_row(index, part) for index, part in enumerate(shown)]
    if len(body) > len(shown):
        rows.append(f'<tr><td colspan="5">… {len(body) - len(shown):,} more</td></tr>')
    caption = count_of(len(body), "part")
    if len(body) == len(shown):
        caption += f", {total_size(shown)}"
    head = "".join(f"<th>{title}</th>" for title in ("", "Name", "Content type", "Size", "Content"))
    return (
        f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _row(index: int, part: "messagebody.Part") -> str:
    cells = [str(index), part.name or "", type_of(part), size_of(part), _content(part)]
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"


def _content(part: "messagebody.Part") -> str:
    return preview(part, 80) if part.text is not None else place_of(part)
