"""Limits of a page: how much it shows, and which option shows more."""

from typing import Final

import attrs

from messagebody._core import parse_size
from messagebody.errors import InvalidArgument

MOST: Final = "5 MiB"
ROWS: Final = 1_000
PARTS: Final = 5_000

CHARACTERS: Final = 100_000
"""Characters of a text; the whole can be saved, and longer markup is slow to parse."""
OPEN_PARTS: Final = 24
"""Up to this many parts of a page or of a directory are unfolded when a page opens."""
RUN: Final = 100
"""Parts of one directory that are listed one below the other; more are folded by the hundred."""
DEPTH: Final = 8
"""Directories inside of each other; deeper ones are not folded."""
PROBLEMS: Final = 100
"""Problems of a part, or of a body, that a page lists."""
COMPARED: Final = 200
"""Parts whose changes a page shows line by line."""
CITATIONS: Final = 500
"""Citations of a text that a page shows."""
PEEKS: Final = 500
"""Links of a page that show the beginning of their part."""
LABEL: Final = 200
"""Characters of the name of a tool, a speaker or a source."""
LINKED_FROM: Final = 20
"""Links to a part that a page lists at it."""
COLUMNS: Final = 50
"""Columns of a table."""
CELL: Final = 200
"""Characters of a cell on a page."""

_PARTS_OF_A_PAGE: Final = 10
"""Parts of the largest size whose contents a page has room for."""
# A cell takes some thirty bytes of HTML, whatever it holds.
_CELLS_A_ROW: Final = 500
# Three of the longest texts, or thousands of short ones: some ten seconds in the worst case.
MARKUP: Final = 12_500_000
LONGEST_CODE: Final = 15_000
"""Characters of code in colours; longer code has none."""
# The squares of all lengths: some ten seconds in the worst case. Usual code takes milliseconds.
CODE: Final = 300_000_000


@attrs.frozen
class PageLimits:
    """The limits of one page that its reader may lift; each field is an option of that name.

    Arguments:
        most: bytes of a part; the contents of a page have ten times as much together.
        rows: rows of a table; the tables of a page have 500 times as many cells together.
        parts: parts of a page, and messages and steps of a run; many more make browsers slow.

    Raises:
        InvalidSize: a size is not a number of bytes.
        InvalidArgument: a number is not a whole number from 1.
    """

    most: int = attrs.field(default=parse_size(MOST), converter=parse_size)
    rows: int = ROWS
    parts: int = PARTS

    def __attrs_post_init__(self) -> None:
        for name in ("rows", "parts"):
            number = getattr(self, name)
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                raise InvalidArgument(f"a whole number from 1 for {name}=", number)

    @property
    def total(self) -> int:
        """Bytes of all contents together."""
        return _PARTS_OF_A_PAGE * self.most

    @property
    def cells(self) -> int:
        """Cells of all tables together."""
        return _CELLS_A_ROW * self.rows


def more_with(option: str) -> str:
    """Return the words that name the option that shows more.

    Examples:
        >>> more_with("rows")
        'more with --rows, in Python rows='
    """
    return f"more with --{option}, in Python {option}="
