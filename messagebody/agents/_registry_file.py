"""File of a registry, which may come from somebody else: SQLite, read with suspicion.

The file has the own tables and nothing else, for a view or a trigger is a program of its writer.
A damaged file may state endless rows or values, by pages that lie in each other. So no value is
longer than a fixed size, all values of a table together no longer than the file, and the work of a
statement is bounded by the size of the file too.
"""

import contextlib
import sqlite3
import stat
import weakref
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NoReturn

from messagebody._core import DEFAULT_LIMITS, escape, exact_json, quote
from messagebody.errors import StoreError

MEMORY: Final = ":memory:"
"""SQLite's path of a database that is in no file."""
_PATIENCE: Final = 30.0
"""Seconds to wait while another process writes."""
_LONGEST: Final = 64 << 20
"""The most bytes of a value."""
_STRIDE: Final = 10_000
"""Instructions of SQLite between two looks at the work that is left."""
_WORK: Final = 2_000_000
"""Instructions of SQLite for a statement, on a file of any size."""
_WORK_A_BYTE: Final = 4
"""Instructions for each byte of the file: a row takes some dozens of both."""
_OBJECTS: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master"

Values = Sequence[Any]


class _Meter:
    """The instructions that SQLite may still run; the connection must not hold more than this."""

    def __init__(self) -> None:
        self.left = _WORK

    def is_endless(self) -> bool:
        """Count another stride, and return whether the work takes too long."""
        self.left -= _STRIDE
        return self.left < 0


class RegistryFile:
    """A database of SQLite with the tables of a registry, which are created if it is empty.

    Threads may share it if they take turns.

    Arguments:
        path: the file, which is created if it does not exist, or `MEMORY`.
        tables: the statements that create everything in it.
        settings: the content of the table `settings` in a new file.

    Raises:
        StoreError: the file can't be opened, or holds something else.
    """

    def __init__(self, path: str, tables: str, settings: dict[str, str]) -> None:
        self._path = path
        self._tables = tables
        self._work = _WORK
        self._meter = _Meter()
        self._require_regular()
        with self.translated():
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
        # A registry in memory is nothing that its users would close; Python 3.13 warns of it.
        weakref.finalize(self, self._connection.close)
        try:
            with self.translated():
                self._guard()
                self._make(settings)
        except BaseException:
            self.close()
            raise

    def _guard(self) -> None:
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        self._connection.set_progress_handler(self._meter.is_endless, _STRIDE)
        # Functions in a schema don't run, and damaged pages are found when they are read.
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
            self._connection.execute(f"PRAGMA {pragma}")

    def _make(self, settings: dict[str, str]) -> None:
        """Make the tables if there is nothing."""
        if self._objects():
            return
        with self.changing():
            # Of two processes that make the file at once, the first decides.
            if not self._objects():
                for statement in filter(str.strip, self._tables.split(";")):
                    self.execute(statement)
                for each in settings.items():
                    self.execute("INSERT INTO settings VALUES (?, ?)", each)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def check(self) -> None:
        """Require that the file has the own tables and nothing else.

        Raises:
            StoreError: it has not.
        """
        wanted, found = _objects_of(self._tables), self._objects()
        if found != wanted:
            odd = sorted({str(name) for _, name, *_ in found ^ wanted})
            self.refuse(f"its tables are not those of a registry: {', '.join(odd[:5])}")

    def _objects(self) -> frozenset[Any]:
        with self.translated():
            self._meter.left = self._work
            return frozenset(self._connection.execute(_OBJECTS))

    def version(self) -> int:
        """Return a number that changes when another connection has written."""
        with self.translated():
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def rows(self, query: str, values: Values = (), *, kinds: tuple[type, ...]) -> Iterator[Any]:
        """Yield the rows that a query finds.

        Arguments:
            query: the query.
            values: what its question marks stand for.
            kinds: the type of each value of a row.

        Raises:
            StoreError: the file can't be read, or a value is of another type.
        """
        with self.reading():
            left = self._measure()
            for row in self._connection.execute(query, values):
                if tuple(map(type, row)) != kinds:
                    self.refuse(f"a row has values of other types: {quote(row)}")
                left -= sum(len(each) for each in row if isinstance(each, str | bytes))
                if left < 0:
                    self.refuse("its rows are longer than the whole file")
                yield row

    def execute(self, statement: str, values: Values = ()) -> None:
        """Run a statement that writes."""
        with self.translated():
            self._meter.left = self._work
            self._connection.execute(statement, values)

    def execute_many(self, statement: str, rows: Iterable[Values]) -> None:
        """Run a statement that writes for each of some values."""
        with self.translated():
            self._meter.left = self._work
            self._connection.executemany(statement, rows)

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Read everything of a block as it was at one moment."""
        with self.translated():
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._end()

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Write all changes of a block, or none of them."""
        with self.translated():
            # Locked before reading: two writers could give one number to two classes.
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._measure()
                yield
                self._connection.execute("COMMIT")
            finally:
                self._end()

    def _end(self) -> None:
        # Where the disk is full, SQLite has done it already.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        """Raise what SQLite raises as an error of the package."""
        try:
            yield
        except (sqlite3.Error, UnicodeError) as error:
            is_endless = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
            problem = "it takes more work than its size explains" if is_endless else str(error)
            self.refuse(problem, error)

    def parsed(self, text: str) -> Any:
        """Return the value of JSON text in the file.

        Raises:
            StoreError: it is none.
        """
        try:
            return exact_json.loads(text, depth=DEFAULT_LIMITS.depth)
        except ValueError as error:
            self.refuse(str(error), error)

    def refuse(self, problem: str, cause: Exception | None = None) -> NoReturn:
        """Raise that the file can't be used.

        Raises:
            StoreError: always.
        """
        # The names of its tables are in what SQLite says.
        shown = f"the file of a registry can't be used: {escape(problem, limit=300)}"
        raise StoreError(shown, quote(self._path).strip("'")) from cause

    def _measure(self) -> int:
        """Return the size of the file, and give the next statement as much work."""
        self._meter.left = _WORK
        pages, each = (
            self._connection.execute(f"PRAGMA {pragma}").fetchone()[0]
            for pragma in ("page_count", "page_size")
        )
        self._work = self._meter.left = _WORK + _WORK_A_BYTE * pages * each
        return int(pages * each)

    def _require_regular(self) -> None:
        if self._path == MEMORY:
            return
        try:
            is_other = not stat.S_ISREG(Path(self._path).stat().st_mode)
        except FileNotFoundError:
            return  # which is made
        except (OSError, ValueError) as error:
            self.refuse(str(error), error)
        if is_other:  # SQLite would wait for a FIFO
            self.refuse("not a regular file")


@lru_cache
def _objects_of(tables: str) -> frozenset[Any]:
    """Return the objects of a database that some statements create."""
    with contextlib.closing(sqlite3.connect(":memory:")) as made:
        made.executescript(tables)
        return frozenset(made.execute(_OBJECTS))
