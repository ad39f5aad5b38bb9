"""Blocks of pairs: many schemas against many others, decided here or by an executor.

A block is decided by a plain function that knows no engine. So a loop, a pool of processes and the
workers of a cluster give the same answers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import lru_cache
from itertools import islice
from typing import Final, TypeVar

import attrs

from messagebody._core import results_in_order
from messagebody.agents._matrix import SchemaMatrix, VerdictRow
from messagebody.errors import MessageBodyError
from messagebody.schema import MessageBodySchema

_ASKED: Final = 2_500
"""Schemas of a block that are compared with the others."""
_OTHERS: Final = 10_000
"""Schemas of a block: a worker makes the others ready once, and keeps them for the next block."""
_AHEAD: Final = 16
"""Blocks that are handed out at a time, so that they take no memory before they are needed."""

_Item = TypeVar("_Item")
_Block = TypeVar("_Block")
_Done = TypeVar("_Done")
Numbered = tuple[int, MessageBodySchema]


@attrs.frozen
class PairSettings:
    """The settings that the verdicts of all pairs depend on, besides the schemas.

    Arguments:
        lenient: consumers ignore parts they do not know.
        steps: the work a pair may take.
    """

    lenient: bool
    steps: int

    def matrix(self) -> SchemaMatrix:
        """Return an empty matrix of these settings."""
        return SchemaMatrix(lenient=self.lenient, steps=self.steps)


@attrs.frozen
class Block:
    """Schemas that are compared with others.

    Arguments:
        asked: the schemas.
        others: those of the other side, by the bit that each has in the rows.
        sends: the asked ones are producers.
        settings: what else the verdicts depend on.
    """

    asked: tuple[MessageBodySchema, ...]
    others: tuple[Numbered, ...]
    sends: bool
    settings: PairSettings


def decide(block: Block) -> list[VerdictRow]:
    """Return for each asked schema which of the others it fits with."""
    matrix = _matrix_of(block.others, block.sends, block.settings)
    return [(matrix.row if block.sends else matrix.column)(schema) for schema in block.asked]


# Blocks of the same others follow each other.
@lru_cache(1)
def _matrix_of(others: tuple[Numbered, ...], sends: bool, settings: PairSettings) -> SchemaMatrix:
    matrix = settings.matrix()
    for number, schema in others:
        (matrix.put_consumer if sends else matrix.put_producer)(number, schema)
    return matrix


def decide_all(
    asked: Sequence[MessageBodySchema],
    others: Mapping[int, MessageBodySchema],
    *,
    sends: bool,
    settings: PairSettings,
    executor: Executor,
) -> list[VerdictRow]:
    """Return for each asked schema which of the others it fits with, decided by an executor.

    Raises:
        MessageBodyError: the executor failed, for example because a worker died.
    """
    rows = [VerdictRow(0, 0)] * len(asked)
    # The others outside: a worker that gets blocks of the same ones makes them ready once.
    places = [
        (first, chunk)
        for chunk in chunks(sorted(others.items()), _OTHERS)
        for first in range(0, len(asked), _ASKED)
    ]
    blocks = (
        Block(tuple(asked[first : first + _ASKED]), _from_zero(chunk), sends, settings)
        for first, chunk in places
    )
    for (first, chunk), found in zip(places, results(executor, decide, blocks), strict=True):
        shift = chunk[0][0]
        for at, row in enumerate(found, first):
            rows[at] = VerdictRow(
                rows[at].fitting | row.fitting << shift, rows[at].undecided | row.undecided << shift
            )
    return rows


def chunks(items: Iterable[_Item], size: int) -> Iterator[tuple[_Item, ...]]:
    """Yield items in tuples of at most `size`."""
    left = iter(items)
    while chunk := tuple(islice(left, size)):
        yield chunk


def _from_zero(chunk: tuple[Numbered, ...]) -> tuple[Numbered, ...]:
    """Return schemas with numbers from zero on, so that the rows of a block are short."""
    return tuple([(number - chunk[0][0], schema) for number, schema in chunk])


def results(
    executor: Executor, act: Callable[[_Block], _Done], blocks: Iterable[_Block]
) -> Iterator[_Done]:
    """Yield the results of a function for each block, in order.

    Raises:
        MessageBodyError: the executor failed, for example because a worker died.
    """
    try:
        yield from results_in_order(executor, act, blocks, ahead=_AHEAD)
    except MessageBodyError:
        raise
    except Exception as error:
        # A dead worker has a name of its own in each executor.
        problem = f"a block of pairs could not be decided: {type(error).__name__}"
        raise MessageBodyError(problem) from error
