"""Classes of equal schemas, and the verdict of each pair of classes, kept in a registry's file.

Agents with the same schema parts are one class, and a pair of classes is decided once. A class
that is added later brings its verdicts with all classes of the other side, so that adding an agent
writes one row and one column, however many agents there are.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from typing import Any, Final, Literal

from messagebody.agents._blocks import PairSettings, decide_all
from messagebody.agents._matrix import SchemaMatrix, VerdictRow
from messagebody.agents._registry_file import RegistryFile
from messagebody.compatibility._solver.languages import members, set_of
from messagebody.schema import MessageBodySchema, SchemaPart

TABLES: Final = """
CREATE TABLE outputs (
    id INTEGER PRIMARY KEY, schema TEXT UNIQUE NOT NULL, fitting BLOB NOT NULL,
    undecided BLOB NOT NULL
);
CREATE TABLE inputs (
    id INTEGER PRIMARY KEY, schema TEXT UNIQUE NOT NULL, fitting BLOB NOT NULL,
    undecided BLOB NOT NULL
);
"""
_MOST: Final = 1 << 20
"""The most classes of a side: sets of them have a bit for each."""

One = Literal["output", "input"]


class Side:
    """The classes of all outputs, or of all inputs.

    Arguments:
        one: what each of them is.
    """

    def __init__(self, one: One) -> None:
        self.one: One = one
        self.table = f"{one}s"
        self.rows: dict[int, VerdictRow] = {}
        """For each class its verdicts with the classes of the other side that are older."""
        self.numbers: dict[str, int] = {}
        """The number of each class by the text of its schema."""
        self.names: dict[int, dict[str, None]] = {}
        """The agents of each class."""
        self.left: set[int] = set()
        """Classes that lost an agent: only these can be unused, of many thousands in a file."""
        self._gaps: list[int] | None = None

    def free_number(self) -> int:
        """Return the lowest number that no class has, which keeps the sets short."""
        if self._gaps is None:
            self._gaps = sorted({*range(max(self.rows, default=0))} - self.rows.keys())[::-1]
        return self._gaps.pop() if self._gaps else len(self.rows)

    def forget(self, number: int, text: str) -> None:
        """Remove a class."""
        del self.rows[number], self.names[number], self.numbers[text]
        self._gaps = None


class Classes:
    """The classes of all schemas in a registry, by number, and their verdicts.

    Arguments:
        file: the file that keeps them.
        settings: the settings that the verdicts depend on, besides the schemas.
    """

    def __init__(self, file: RegistryFile, settings: PairSettings) -> None:
        self._file = file
        self._settings = settings
        self._clear()

    def _clear(self) -> None:
        self.outputs, self.inputs = Side("output"), Side("input")
        self._compared: SchemaMatrix | None = None

    def _sides(self, one: One) -> tuple[Side, Side]:
        """Return a side and the other one."""
        if one == "output":
            return self.outputs, self.inputs
        return self.inputs, self.outputs

    # Reading

    def load(self) -> None:
        """Read everything from the file.

        Raises:
            StoreError: the file is damaged.
        """
        self._clear()
        for side in (self.outputs, self.inputs):
            self._load_side(side)
        self._check_sets(self.outputs, self.inputs)
        self._check_sets(self.inputs, self.outputs)

    def _load_side(self, side: Side) -> None:
        query = f"SELECT id, schema, fitting, undecided FROM {side.table}"  # noqa: S608
        for number, text, *blobs in self._file.rows(query, kinds=(int, str, bytes, bytes)):
            if not 0 <= number < _MOST or number in side.rows or text in side.numbers:
                self._file.refuse(f"the class {number} of {side.table} is not a valid one")
            if max(map(len, blobs)) > _MOST // 8:
                self._file.refuse(f"the class {number} of {side.table} has sets that are too long")
            side.numbers[text], side.names[number] = number, {}
            side.rows[number] = VerdictRow(*map(_set_in, blobs))

    def _check_sets(self, side: Side, other: Side) -> None:
        """Require that the verdicts of a side are about classes that exist."""
        others = ~set_of(other.rows)
        for number, row in side.rows.items():
            if row.fitting & row.undecided or (row.fitting | row.undecided) & others:
                problem = f"the class {number} of {side.table} fits a class that does not exist"
                self._file.refuse(problem)

    def has(self, output: int, taken: int) -> bool:
        """Return whether there are classes of these numbers."""
        return output in self.outputs.rows and taken in self.inputs.rows

    def number(self, one: One, schema: MessageBodySchema) -> int | None:
        """Return the number of a schema's class, if there is one."""
        return self._sides(one)[0].numbers.get(_text_of(schema))

    def answer(self, one: One, schema: MessageBodySchema) -> VerdictRow:
        """Return the verdicts of a schema with all classes of the other side."""
        number = self.number(one, schema)
        return self._compare(one, schema) if number is None else self.row(one, number)

    def row(self, one: One, number: int) -> VerdictRow:
        """Return the verdicts of a class with all classes of the other side."""
        mine, others = self._sides(one)
        row = mine.rows[number]
        # The rows of classes that were added later hold the verdicts with this one.
        fitting = [at for at, each in others.rows.items() if each.fitting >> number & 1]
        undecided = [at for at, each in others.rows.items() if each.undecided >> number & 1]
        return VerdictRow(row.fitting | set_of(fitting), row.undecided | set_of(undecided))

    def rows(self) -> dict[int, VerdictRow]:
        """Return the verdicts of each class of outputs with all classes of inputs."""
        rows = dict(self.outputs.rows)
        for number, later in self.inputs.rows.items():
            for at in members(later.fitting | later.undecided):
                fits, bit = later.fitting >> at & 1, 1 << number
                fitting, undecided = rows[at].fitting, rows[at].undecided
                rows[at] = VerdictRow(fitting | bit * fits, undecided | bit * (not fits))
        return rows

    # Changes

    def join(self, name: str, output: int, taken: int) -> None:
        """Count an agent among its classes."""
        self.outputs.names[output][name] = None
        self.inputs.names[taken][name] = None

    def leave(self, name: str, output: int, taken: int) -> None:
        """Count an agent no longer among its classes."""
        for side, number in (self.outputs, output), (self.inputs, taken):
            del side.names[number][name]
            side.left.add(number)

    def numbers(
        self, one: One, schemas: Iterable[MessageBodySchema], executor: Executor | None
    ) -> list[int]:
        """Return the numbers of schemas' classes; new ones are compared with the other side.

        Raises:
            MessageBodyError: the executor failed, for example because a worker died.
            StoreError: the file can't be written.
        """
        side, _ = self._sides(one)
        texts = [_text_of(schema) for schema in schemas]
        new = {text: self._schema_of(text) for text in texts if text not in side.numbers}
        for (text, plain), row in zip(new.items(), self._decided(one, new, executor), strict=True):
            self._add(side, text, plain, row)
        return [side.numbers[text] for text in texts]

    def _decided(
        self, one: One, new: Mapping[str, MessageBodySchema], executor: Executor | None
    ) -> Iterable[VerdictRow]:
        if executor is None:
            return (self._compare(one, plain) for plain in new.values())
        _, others = self._sides(one)
        known = {number: self._schema_of(text) for text, number in others.numbers.items()}
        return decide_all(
            [*new.values()], known, sends=one == "output", settings=self._settings,
            executor=executor,
        )  # fmt: skip

    def _add(self, side: Side, text: str, plain: MessageBodySchema, row: VerdictRow) -> None:
        """Add a class."""
        number = side.free_number()
        # If nothing was compared here, the matrix is made when it is first asked for.
        if self._compared is not None:
            _put(self._compared, side.one, number, plain)
        side.numbers[text], side.rows[number], side.names[number] = number, row, {}
        self._file.execute(
            f"INSERT INTO {side.table} VALUES (?, ?, ?, ?)",  # noqa: S608 - a name of ours
            [number, text, _blob(row.fitting), _blob(row.undecided)],
        )

    def forget_unused(self) -> Iterator[tuple[One, int]]:
        """Remove the classes that no agent has any more, and yield them."""
        for side, other in (self.outputs, self.inputs), (self.inputs, self.outputs):
            unused = [number for number in side.left if not side.names[number]]
            texts = {number: text for text, number in side.numbers.items()} if unused else {}
            side.left.clear()
            for number in unused:
                side.forget(number, texts[number])
                if self._compared is not None:
                    _drop(self._compared, side.one, number)
                self._file.execute(f"DELETE FROM {side.table} WHERE id = ?", [number])  # noqa: S608
                self._clear_number(other, number)
                yield side.one, number

    def _clear_number(self, other: Side, number: int) -> None:
        """Clear a number in the sets of the other side: the next class may have it."""
        mask = ~(1 << number)
        changed = {
            at: VerdictRow(row.fitting & mask, row.undecided & mask)
            for at, row in other.rows.items()
            if (row.fitting | row.undecided) >> number & 1
        }
        other.rows |= changed
        self._file.execute_many(
            f"UPDATE {other.table} SET fitting = ?, undecided = ? WHERE id = ?",  # noqa: S608
            [(_blob(row.fitting), _blob(row.undecided), at) for at, row in changed.items()],
        )

    # Comparing

    def _compare(self, one: One, schema: MessageBodySchema) -> VerdictRow:
        matrix = self._matrix
        return matrix.row(schema) if one == "output" else matrix.column(schema)

    @property
    def _matrix(self) -> SchemaMatrix:
        """All classes, made ready when something is to be compared."""
        if self._compared is None:
            made = self._settings.matrix()
            for side in (self.inputs, self.outputs):
                for text, number in side.numbers.items():
                    _put(made, side.one, number, self._schema_of(text))
            self._compared = made
        return self._compared

    def _schema_of(self, text: str) -> MessageBodySchema:
        """Return the schema of a class."""
        parts = self._file.parsed(text)
        try:
            return MessageBodySchema([_part_in(*part) for part in parts])
        except (TypeError, ValueError) as error:
            self._file.refuse(f"a class has no schema: {error}", error)


def _put(matrix: SchemaMatrix, one: One, number: int, schema: MessageBodySchema) -> None:
    (matrix.put_producer if one == "output" else matrix.put_consumer)(number, schema)


def _drop(matrix: SchemaMatrix, one: One, number: int) -> None:
    (matrix.drop_producer if one == "output" else matrix.drop_consumer)(number)


def _text_of(schema: MessageBodySchema) -> str:
    """Return a text that schemas share if their parts are the same, in any order."""
    # Descriptions don't decide which bodies fit.
    parts = {_members_of(part) for part in schema}
    return json.dumps(sorted(parts, key=lambda part: (part[0] or "", *part[1:])))


def _members_of(part: SchemaPart) -> tuple[Any, ...]:
    content = part.content_schema
    shared = part.name, part.content_type, part.required
    return shared if content is None else (*shared, content.canonical)


def _part_in(name: str | None, kind: str, required: bool, content: str | None = None) -> SchemaPart:
    return SchemaPart(name, kind, required, content_schema=content)


def _blob(found: int) -> bytes:
    return found.to_bytes((found.bit_length() + 7) // 8, "little")


def _set_in(blob: bytes) -> int:
    return int.from_bytes(blob, "little")
