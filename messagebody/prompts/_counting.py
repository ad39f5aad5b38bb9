"""Counts of tokens, estimated without a tokenizer and its tables."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from messagebody.errors import InvalidArgument

PICTURE_TOKENS: Final = 1600
"""Tokens of a picture: the most that current models take for one that they scale down."""

# A token often ends where letters change case, so base64 takes many tokens. A match is a token: up
# to seven letters of a word, three digits, a sign with another one after it, a run of line ends, or
# a run of spaces; one space belongs to the word after it. The empty group keeps `findall` from
# making a string of each match.
_ASCII: Final = re.compile(
    r"(?: (?:[a-z]{1,7}|[ \t]+)|[a-z]{1,7}|[^A-Za-z0-9\r\n \t][^\w\s\x1c-\x1f]?"
    r"|[A-Z](?:(?<![A-Z].)[a-z]{1,6}|[A-Z]{0,6})|[0-9]{1,3}|[\r\n]+|\t[ \t]+)()",
    re.ASCII,
)
# The same for all characters. The group holds a run of letters of other scripts than Latin, or of
# characters above the basic plane: their cost is by the character.
_ANY: Final = re.compile(
    r" (?:[a-z\u00df-\u024f]{1,7}|[ \t]+)|[a-z\u00df-\u024f]{1,7}"
    r"|[A-Z](?:(?<![A-Z].)[a-z\u00df-\u024f]{1,6}|[A-Z]{0,6})|[0-9]{1,3}|[\r\n]+|\t[ \t]+"
    r"|([\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]+|[\U00010000-\U0010ffff]+|[^\W\d_]+)"
    r"|[^ \t][^\w\s]?"
)
_CJK: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]")
_TOKEN: Final = 20
"""The parts that a token is counted in, because a float would depend on the order of a sum."""


def estimate_tokens(text: str) -> int:
    """Return an estimate of the tokens of a text for current models.

    It counts words, digits, scripts and signs, so it works for prose, code, tables and base64. A
    quarter of the characters would be up to six times too low. For exact budgets pass the tokenizer
    of your model instead.

    Examples:
        >>> estimate_tokens("Cats are cute."), estimate_tokens("")
        (4, 0)
    """
    return -(-_twentieths(text) // _TOKEN)


def _twentieths(text: str) -> int:
    if text.isascii():
        return _TOKEN * len(_ASCII.findall(text))
    found = _ANY.findall(text)
    runs = [run for run in found if run]
    return _TOKEN * (len(found) - len(runs)) + sum(_cost(run) for run in runs)


def _cost(run: str) -> int:
    if _CJK.match(run):
        return 17 * len(run)
    return (40 if run[0] > "\uffff" else 10) * len(run)


def _require_tokens(value: object) -> int:
    """Return what a counter returned.

    Raises:
        InvalidArgument: it is not a number of tokens.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidArgument("a number of tokens from count=", value)
    return value


class Counter:
    """A counter of texts that are made of lines; the estimate counts no line twice.

    Arguments:
        count: the tokens of a text.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        # The estimate of a text is the sum of the estimates between its line ends, which a
        # tokenizer does not promise.
        self._known: dict[str, int] | None = {} if count is estimate_tokens else None

    def count(self, text: str, pieces: Sequence[str]) -> int:
        """Return the tokens of a text.

        Arguments:
            text: the text.
            pieces: what it is made of, with line ends between them.
        """
        # An empty text costs nothing, even if the counter adds something to each text.
        if not text:
            return 0
        if self._known is None:
            return _require_tokens(self._count(text))
        between = [piece.strip("\r\n") for piece in pieces]
        costs = [self._cost(piece) for piece in between if piece]
        runs = len(costs) - 1 + (text[0] in "\r\n") + (text[-1] in "\r\n") if costs else 1
        return -(-(sum(costs) + _TOKEN * runs) // _TOKEN)

    def _cost(self, piece: str) -> int:
        assert self._known is not None  # noqa: S101 - only the estimate gets here
        known = self._known.get(piece)
        if known is None:
            known = self._known[piece] = _twentieths(piece)
        return known
