"""Name patterns beside wcmatch: selecting among many names, hostile patterns."""

import random
from collections.abc import Callable
from functools import partial

from wcmatch import glob

from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody.globs import NamePattern, name_pattern
from messagebody.globs._syntax import parse_name_pattern

FLAGS = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX | glob.CASE
PATTERNS = [
    "/sources/*",
    "/sources/**/url*.txt",
    "/**/*.{png,jpg}",
    "/**",
    "/*/web/**/u*1*.txt",
    "/{sources,data}/**/*.{png,jpg}",
    "/{sources,data}/*{1,{2,3}}*/url*{4,5}*.txt",
]


def names(count: int) -> list[str]:
    """Return names as agents give them: five directories, some deep, four extensions."""
    pick = random.Random(1)
    found = []
    for number in range(count):
        directory = pick.choice(
            [
                "/sources",
                f"/sources/web/{number % 50}",
                "/charts",
                f"/data/raw/{number % 200}",
                f"/files/src/pkg{number % 30}",
            ]
        )
        stem, extension = pick.choice(["url", "doc", "img"]), pick.choice(["txt", "png", "jpg"])
        found.append(f"{directory}/{stem}{number}.{extension}")
    return found


def _contestants(pattern: str, column: list[str]) -> dict[str, Callable[[], object]]:
    def cold() -> list[int]:
        return NamePattern(pattern, parse_name_pattern(pattern)).select(column)

    def warm() -> list[int]:
        return name_pattern(pattern).select(column)

    def peer() -> list[str]:
        return glob.globfilter(column, pattern, flags=FLAGS, limit=0)  # type: ignore[return-value]

    assert [column[position] for position in cold()] == peer()
    return {"cold": cold, "warm": warm, "wcmatch": peer}


def select() -> None:
    """Compare selecting names by one pattern, parsed anew and kept."""
    rows = []
    for count in (1_000, 100_000):
        column = names(count)
        for pattern in PATTERNS:
            taken = compare(_contestants(pattern, column), seconds=1.0)
            rows.append(
                (
                    f"{count:,}",
                    f"`{pattern}`",
                    *(show_time(seconds) for seconds in taken.values()),
                    show_ratio(taken["wcmatch"] / taken["cold"]),
                    show_ratio(taken["wcmatch"] / taken["warm"]),
                )
            )
    columns = ("names", "pattern", "cold", "warm", "wcmatch.globfilter", "cold by", "warm by")
    print_table("Select names", columns, rows)


def list_parts() -> None:
    """Compare listing the parts of a body, made anew at each call, with selecting their names."""
    from messagebody import MessageBody

    column = names(100_000)
    body = MessageBody.from_dicts([{"name": name, "content": "meow"} for name in column])
    rows = []
    for pattern in PATTERNS:
        taken = compare(
            {
                "list": partial(body.list, pattern),
                "wcmatch": partial(glob.globfilter, column, pattern, flags=FLAGS, limit=0),
            },
            seconds=1.0,
        )
        rows.append(
            (
                f"`{pattern}`",
                f"{len(body.list(pattern)):,}",
                *(show_time(seconds) for seconds in taken.values()),
                show_ratio(taken["wcmatch"] / taken["list"]),
            )
        )
    columns = ("pattern", "parts found", "body.list", "wcmatch.globfilter", "faster by")
    print_table("List the parts of a body of 100,000", columns, rows)


def hostile() -> None:
    """Compare growth on patterns that are made to hurt; wcmatch's regex backtracks."""
    rows = []
    pattern = "/**/a*/**/a*/**/a*/**/b"
    for length in (10, 20, 40, 80):
        name = "/a" * length + "/c"
        kept = name_pattern(pattern)
        peer = glob.compile(pattern, flags=FLAGS, limit=0)
        taken = compare(
            {
                "ours": lambda kept=kept, name=name: kept.matches(name),  # type: ignore[misc]
                "wcmatch": lambda peer=peer, name=name: peer.match(name),  # type: ignore[misc]
            },
            seconds=0.5,
            rounds=3,
        )
        ratio = show_ratio(taken["wcmatch"] / taken["ours"])
        rows.append((len(name), show_time(taken["ours"]), show_time(taken["wcmatch"]), ratio))
    columns = ("characters", "ours", "wcmatch, compiled", "by")
    print_table("`/**/a*/**/a*/**/a*/**/b` against `/a/a/…/c`", columns, rows)


def main() -> None:
    """Print all tables."""
    print(machine("wcmatch"))
    select()
    list_parts()
    hostile()


if __name__ == "__main__":
    main()
