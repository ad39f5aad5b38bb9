"""Links beside the parsers alone: Markdown, HTML, many texts, hostile ones, parts that move."""

from collections.abc import Callable, Sequence
from functools import partial
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from turbohtml import tokenize

from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody import MessageBody, Part

_PARAGRAPH = (
    "Cats are [cute](source:{0}), *as everybody knows*; see [the chart](/charts/{0}.png),\n"
    "`code` and [a page](https://example.com/{0}). They purr, and sleep for most of the day.\n\n"
    "- one\n- two, with **bold** words\n\n"
)
_ELEMENT = (
    "<p class='a'>Cats are <a href='source:{0}'>cute</a>, <em>as everybody knows</em>; see\n"
    "<img src='/charts/{0}.png' alt='the chart'> and <a href='https://example.com/{0}'>a page</a>."
    "</p>\n<ul><li>one<li>two, with <b>bold</b> words</ul>\n"
)
_LONG = {"text/markdown": _PARAGRAPH, "text/html": _ELEMENT}
_SHORT = {
    "text/markdown": "Cats are [cute](source:{0}), *as everybody knows*.",
    "text/html": "<p>Cats are <a href='source:{0}'>cute</a>, <em>as everybody knows</em>.</p>",
}
_MEGABYTE = 1_000_000


def _markdown_it(texts: Sequence[str]) -> None:
    for text in texts:
        MarkdownIt("commonmark").parse(text)


def _turbohtml(texts: Sequence[str]) -> None:
    for text in texts:
        for _ in tokenize(text):
            pass


def _html_parser(texts: Sequence[str]) -> None:
    for text in texts:
        HTMLParser().feed(text)


_Parser = Callable[[Sequence[str]], None]
_PARSERS: dict[str, dict[str, _Parser]] = {
    "text/markdown": {"markdown-it-py": _markdown_it},
    "text/html": {"turbohtml": _turbohtml, "html.parser": _html_parser},
}


def _rows(kind: str, texts: list[str], size: str) -> list[tuple[str, ...]]:
    body = MessageBody(Part(text, content_type=kind) for text in texts)
    found: set[int] = set()
    runs: dict[str, Callable[[], object]] = {"ours": lambda: found.add(len(body.links()))}
    runs |= {name: partial(parse, texts) for name, parse in _PARSERS[kind].items()}
    taken = compare(runs, seconds=0.5, rounds=1)
    ours = taken.pop("ours")
    return [
        (kind, size, f"{max(found):,}", show_time(ours), name, show_time(alone),
         show_ratio(ours / alone))
        for name, alone in taken.items()
    ]  # fmt: skip


def texts() -> None:
    """Compare finding the links of long texts, and of many, with parsing them."""
    rows = []
    for kind, pattern in _LONG.items():
        for megabytes in (1, 10):
            count = megabytes * _MEGABYTE // len(pattern)
            text = "".join(map(pattern.format, range(count)))
            rows += _rows(kind, [text], f"{megabytes} MB")
        short = [*map(_SHORT[kind].format, range(100_000))]
        rows += _rows(kind, short, "100,000 texts")
    columns = ("type", "size", "links", "links()", "parser", "alone", "of it")
    print_table("Find links", columns, rows)


_HOSTILE = {
    "nested brackets": ("text/markdown", "[" * 1_000_000),
    "backticks": ("text/markdown", "".join("`" * (1 + n % 1400) + " " for n in range(1_400))),
    "quotes within quotes": ("text/markdown", "> " * 500_000),
    "comments without an end": ("text/markdown", "a <!-- " * 140_000),
    "one attribute without an end": ("text/html", "<a href='" + "source:1 " * 110_000),
    "tags without an end": ("text/html", "<a href=source:1 " * 60_000),
}


def hostile_texts() -> None:
    """Time texts of 1 MB that parsers are slow with, and the half of each."""
    rows = []
    for name, (kind, text) in _HOSTILE.items():
        whole = MessageBody([Part(text, content_type=kind)])
        half = MessageBody([Part(text[: len(text) // 2], content_type=kind)])
        taken = compare({"whole": whole.links, "half": half.links}, seconds=0.5, rounds=3)
        rows.append((name, kind, *map(show_time, taken.values())))
    print_table("Hostile texts of 1 MB", ("text", "type", "links()", "of the half"), rows)


def moves() -> None:
    """Time a move of a directory that the texts of a body link to."""
    rows = []
    for kind, pattern in _LONG.items():
        for count in (100, 1_000):
            written = [Part(pattern.format(number), content_type=kind) for number in range(count)]
            named = [Part("x", name=f"/charts/{number}.png") for number in range(count)]
            body = MessageBody([*written, *named])

            def there_and_back(body: MessageBody = body) -> None:
                body.move("/charts", "/pictures", relink=True)
                body.move("/pictures", "/charts", relink=True)

            taken = compare({"moves": there_and_back, "links": body.links}, seconds=0.5, rounds=1)
            rows.append(
                (kind, f"{count:,}", show_time(taken["moves"] / 2), show_time(taken["links"]))
            )
    print_table("Move a directory with its links", ("type", "texts", "move", "links()"), rows)


def main() -> None:
    """Print all tables."""
    print(machine("messagebody", "markdown-it-py", "turbohtml"))
    texts()
    hostile_texts()
    moves()
