"""Verdicts of many schemas: each pair is decided once, whoever asks and whatever comes later.

Registries that are made of each other share them. A schema that comes later is compared with all of
the other side at once, and what was known of those is carried over.
"""

from collections.abc import Callable
from threading import Lock

import attrs

from messagebody.agents._blocks import Settings
from messagebody.agents._matrix import Row
from messagebody.schema import MessageBodySchema


@attrs.frozen
class _Side:
    """All outputs, or all inputs.

    Arguments:
        compare: compares a schema with all of the other side.
        numbers: the number of each.
        schemas: they by number.
        rows: what is known of each.
        seen: how many of the other side that is; later ones know it.
    """

    compare: Callable[[MessageBodySchema], Row]
    numbers: dict[MessageBodySchema, int] = attrs.field(factory=dict)
    schemas: list[MessageBodySchema] = attrs.field(factory=list)
    rows: dict[int, Row] = attrs.field(factory=dict)
    seen: dict[int, int] = attrs.field(factory=dict)

    def number(
        self, schema: MessageBodySchema, put: Callable[[int, MessageBodySchema], None]
    ) -> int:
        """Return the number of a schema; a new one is put into the matrix."""
        known = self.numbers.get(schema)
        if known is not None:
            return known
        number = self.numbers[schema] = len(self.schemas)
        self.schemas.append(schema)
        put(number, schema)
        return number


class Verdicts:
    """Which outputs fit which inputs; threads may share it.

    Arguments:
        settings: what the verdicts depend on besides the schemas.
    """

    def __init__(self, settings: Settings) -> None:
        self._matrix = settings.matrix()
        self._outputs, self._inputs = _Side(self._matrix.row), _Side(self._matrix.column)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._outputs.schemas) + len(self._inputs.schemas)

    def add(self, output: MessageBodySchema, taken: MessageBodySchema) -> tuple[int, int]:
        """Return the numbers of an output and an input."""
        with self._lock:
            return (
                self._outputs.number(output, self._matrix.put_producer),
                self._inputs.number(taken, self._matrix.put_consumer),
            )

    def row(self, output: MessageBodySchema) -> Row:
        """Return what is known of all inputs and one output, which need not be added."""
        return self._answer(self._outputs, self._inputs, output)

    def column(self, taken: MessageBodySchema) -> Row:
        """Return what is known of all outputs and one input, which need not be added."""
        return self._answer(self._inputs, self._outputs, taken)

    def _answer(self, mine: _Side, others: _Side, schema: MessageBodySchema) -> Row:
        with self._lock:
            number = mine.numbers.get(schema)
            if number is None:
                return mine.compare(schema)
            row = self._known(mine, others, number)
            later = range(mine.seen[number], len(others.schemas))
            if later:
                # Each of them came after this row, so it is compared with this schema in its own.
                rows = [(1 << at, self._known(others, mine, at)) for at in later]
                fitting = sum(bit for bit, each in rows if each.fitting >> number & 1)
                undecided = sum(bit for bit, each in rows if each.undecided >> number & 1)
                row = Row(row.fitting | fitting, row.undecided | undecided)
                mine.rows[number], mine.seen[number] = row, later.stop
            return row

    def _known(self, mine: _Side, others: _Side, number: int) -> Row:
        """Return what is known of a schema, and of those that were there when it was asked."""
        if number not in mine.rows:
            mine.rows[number] = mine.compare(mine.schemas[number])
            mine.seen[number] = len(others.schemas)
        return mine.rows[number]
