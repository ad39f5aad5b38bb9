"""Counts of tokens, estimated without a tokenizer and its tables."""

import math
import re
from collections.abc import Callable
from typing import Final

from messagebody._model.part import Part

PICTURE_TOKENS: Final = 1600
"""Tokens of a picture: the most that current models take for one that they scale down."""

# A token often ends where letters change case, so base64 takes many tokens. Letters of other
# scripts than Latin, and characters above the basic plane, take a token each.
_PIECE: Final = re.compile(
    r"(?P<word>[A-Z]?[a-z\u00df-\u024f]+|[A-Z]+)|(?P<digits>[0-9]+)|(?P<lines>[\r\n]+)"
    r"|(?P<spaces>[ \t]+)|(?P<cjk>[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]+)"
    r"|(?P<astral>[\U00010000-\U0010ffff]+)|(?P<letters>[^\W\d_]+)|(?P<other>.[^\w\s]?)",
    re.DOTALL,
)
_COSTS: Final[dict[str, Callable[[int], float]]] = {
    "word": lambda length: math.ceil(length / 7),
    "digits": lambda length: math.ceil(length / 3),
    "lines": lambda _: 1,
    # A space belongs to the word after it; a run of spaces is one more token.
    "spaces": lambda length: int(length > 1),
    "cjk": lambda length: 0.85 * length,
    "astral": lambda length: 2 * length,
    "letters": lambda length: 0.5 * length,
    "other": lambda _: 1,
}


def estimate_tokens(text: str) -> int:
    """Return an estimate of the tokens of a text for current models.

    It counts words, digits, scripts and signs, so it works for prose, code, tables and base64. A
    quarter of the characters would be up to six times too low. For exact budgets pass the tokenizer
    of your model instead.

    Examples:
        >>> estimate_tokens("Cats are cute."), estimate_tokens("")
        (4, 0)
    """
    total = 0.0
    for match in _PIECE.finditer(text):
        kind = match.lastgroup or "other"
        total += _COSTS[kind](match.end() - match.start())
    return math.ceil(total)


def picture_cost(part: Part) -> int:  # noqa: ARG001 - other functions of the kind look at it
    """Return the tokens of a picture: 1,600, whatever its size."""
    return PICTURE_TOKENS
