"""Registry of agents in a file: the verdict of each pair is kept, and found once.

Agents with the same schema parts are one class, and a pair of classes is decided once. A class
that comes later brings its verdicts with all classes of the other side, so that adding an agent
writes one row and one column, whatever the number of agents.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from datetime import UTC, datetime
from itertools import tee
from types import TracebackType
from typing import Final, Self

import attrs

from messagebody._base.guards import require_iterable, require_path
from messagebody._base.text import count_of, quote
from messagebody.agents._agents import Agent
from messagebody.agents._blocks import Settings, chunks, decide_all
from messagebody.agents._matrix import Row, SchemaMatrix
from messagebody.agents._proofs import (
    PROVED,
    TABLE,
    Claims,
    KeptProofs,
    Proof,
    Unkept,
    Unproved,
    prove,
    prove_all,
)
from messagebody.agents._questions import Neighbours, Questions, not_found
from messagebody.agents._registry_file import RegistryFile
from messagebody.compatibility import certificates
from messagebody.compatibility._solver.languages import members, set_of
from messagebody.errors import InvalidArgument, InvalidSchema
from messagebody.schema import MessageBodySchema, SchemaPart

STEPS_A_PAIR: Final = 50_000
"""The work that a pair may take."""

_TABLES: Final = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE agents (
    name TEXT PRIMARY KEY, place INTEGER NOT NULL, added REAL NOT NULL, data TEXT NOT NULL,
    output INTEGER NOT NULL, input INTEGER NOT NULL
);
CREATE TABLE outputs (
    id INTEGER PRIMARY KEY, schema TEXT UNIQUE NOT NULL, fitting BLOB NOT NULL,
    undecided BLOB NOT NULL
);
CREATE TABLE inputs (
    id INTEGER PRIMARY KEY, schema TEXT UNIQUE NOT NULL, fitting BLOB NOT NULL,
    undecided BLOB NOT NULL
);
"""
# Kept in the file: another version would read verdicts that mean something else.
_FORMAT: Final = "1"
_MOST: Final = 1 << 20
"""The most classes of a side: sets of them have a bit for each."""
_LAST_PLACE: Final = 1 << 62


class _Side:
    """The classes of all inputs, or of all outputs.

    Arguments:
        one: what each is, an "input" or an "output".
    """

    def __init__(self, one: str) -> None:
        self.one = one
        self.table = f"{one}s"
        self.rows: dict[int, Row] = {}
        """For each class the classes of the other side that were there when it came."""
        self.numbers: dict[str, int] = {}
        """The number of each class by the text of its schema."""
        self.names: dict[int, dict[str, None]] = {}
        """The agents of each class."""
        self._gaps: list[int] | None = None

    def free_number(self) -> int:
        """Return the lowest number that no class has: sets are as short as can be."""
        if self._gaps is None:
            self._gaps = sorted({*range(max(self.rows, default=0))} - self.rows.keys())[::-1]
        return self._gaps.pop() if self._gaps else len(self.rows)

    def forget(self, number: int, text: str) -> None:
        """Take a class out."""
        del self.rows[number], self.names[number], self.numbers[text]
        self._gaps = None


@attrs.frozen
class _Kept:
    """What is kept in memory of an agent."""

    place: int
    output: int
    input: int


class StoredRegistry(Questions):
    """Agents by name in a file of SQLite, which changes as they come, change and go.

    Several processes may use one file; each sees what the others wrote. An object belongs to the
    thread that made it.

    Arguments:
        path: the file; it is made if it is not there.
        lenient: takers ignore parts they do not know.
        steps: the work a pair may take.

    Raises:
        StoreError: the file can't be opened, or holds something else.
        InvalidArgument: the file was made with other settings.

    Examples:
        >>> text = MessageBodySchema([(None, "text/*", True)])
        >>> with StoredRegistry("agents.db") as registry:
        ...     registry.put(Agent("echo", text, text))
        >>> with StoredRegistry("agents.db") as registry:
        ...     registry.takers("echo")
        ['echo']
    """

    def __init__(
        self, path: str | os.PathLike[str], *, lenient: bool = False, steps: int = STEPS_A_PAIR
    ) -> None:
        self._lenient, self._steps = lenient, steps
        self._settings = Settings(lenient, steps)
        self._version = -1
        self._compared: SchemaMatrix | None = None
        # Classes that lost an agent: only these can be unused, and a file may hold many thousands.
        self._left: set[tuple[str, int]] = set()
        self._outputs, self._inputs = _Side("output"), _Side("input")
        self._agents: dict[str, _Kept] = {}
        stated = {"format": _FORMAT, "lenient": str(lenient), "steps": str(steps)}
        self._file = RegistryFile(os.fspath(require_path(path)), _TABLES + TABLE, stated)
        self._proofs = KeptProofs(self._file)
        try:
            with self._file.reading():
                self._load()
                self._check_settings(stated)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    # Agents

    def __getitem__(self, name: str) -> Agent:
        self._refresh()
        query = "SELECT data FROM agents WHERE name = ?"
        for (text,) in self._file.rows(query, [name], kinds=(str,)):
            try:
                agent = Agent.from_dict(self._file.parsed(text))
            except InvalidSchema as error:
                self._file.refuse(str(error), error)
            if agent.name != name:
                self._file.refuse(f"the agent {quote(name)} has another name in its data")
            return agent
        raise not_found(name, self._agents)

    def __iter__(self) -> Iterator[str]:
        self._refresh()
        return iter(self._in_order())

    def _in_order(self) -> list[str]:
        return sorted(self._agents, key=lambda name: self._agents[name].place)

    def __len__(self) -> int:
        self._refresh()
        return len(self._agents)

    def __contains__(self, name: object) -> bool:
        self._refresh()
        return name in self._agents

    def __repr__(self) -> str:
        return f"StoredRegistry({count_of(len(self), 'agent')})"

    def put(self, agent: Agent) -> None:
        """Add an agent, or put it in the place of the one of its name.

        Raises:
            StoreError: the file can't be written.
        """
        self.put_all([agent])

    def put_all(self, agents: Iterable[Agent], *, executor: Executor | None = None) -> None:
        """Add or replace several agents, all of them or none.

        Arguments:
            agents: the agents.
            executor: decides the new pairs in blocks, for example a `ProcessPoolExecutor` or the
                `get_executor()` of a Dask client; they are decided here if it is None.

        Raises:
            InvalidArgument: one of them is not an agent.
            MessageBodyError: the executor failed, for example because a worker died.
            StoreError: the file can't be written.
        """
        wanted = list(require_iterable(agents, "agents in a list", hint=""))
        for each in wanted:
            if not isinstance(each, Agent):
                raise InvalidArgument("an Agent", each, "Agent.from_dict(…) reads parsed JSON")
        _require_executor(executor)
        with self._changing():
            # Inputs first: then outputs, of which one is compared with all inputs at once.
            inputs = self._classes(self._inputs, [agent.input for agent in wanted], executor)
            outputs = self._classes(self._outputs, [agent.output for agent in wanted], executor)
            for agent, output, taken in zip(wanted, outputs, inputs, strict=True):
                self._set(agent, output, taken)
            self._forget_unused()

    def remove(self, name: str) -> None:
        """Take an agent out.

        Raises:
            AgentNotFound: there is no such agent.
        """
        with self._changing():
            self._unset(name, self._kept_of(name))
            del self._agents[name]
            self._file.execute("DELETE FROM agents WHERE name = ?", [name])
            self._forget_unused()

    def added(self, name: str) -> datetime:
        """Return when an agent came, or was replaced last.

        Raises:
            AgentNotFound: there is no such agent.
        """
        query = "SELECT added FROM agents WHERE name = ?"
        for (seconds,) in self._file.rows(query, [name], kinds=(float,)):
            try:
                return datetime.fromtimestamp(seconds, UTC)
            except (OSError, OverflowError, ValueError) as error:
                self._file.refuse(f"no time: {error}", error)
        raise not_found(name, self)

    def _kept_of(self, name: str) -> _Kept:
        if name not in self._agents:
            raise not_found(name, self._agents)
        return self._agents[name]

    # Certificates

    def certificate(self, sender: str, taker: str) -> Proof | None:
        """Return the proof that a pair fits, and keep it in the file; see `Registry.certificate`.

        Agents of equal schemas share it.

        Raises:
            AgentNotFound: there is no such agent.
            StoreError: the file can't be written.
        """
        sent, taken = self[sender].output, self[taker].input
        kept = self._proofs.get(sent, taken)
        if kept is None:
            claims = Claims(sent, (taken,), self._settings)
            [kept] = made = prove(claims)
            self._keep(claims, made)
        return kept

    def certify(self, *, executor: Executor | None = None) -> Unproved:
        """Make and keep the proofs of all pairs that fit and have none.

        Can be stopped at any moment and called again: all proofs but the last few are kept.

        Arguments:
            executor: makes the proofs, for example a `ProcessPoolExecutor` or the
                `get_executor()` of a Dask client; they are made here if it is None.

        Returns:
            The pairs that fit, and for whose proof the budget ended.

        Raises:
            InvalidArgument: the executor is not one.
            MessageBodyError: the executor failed, for example because a worker died.
            StoreError: the file can't be written.
        """
        _require_executor(executor)
        found = Unproved()
        unkept, asked = tee(self._unkept(found))
        proofs = prove_all((each.claims for each in asked), executor)
        for each, made in zip(unkept, proofs, strict=True):
            self._keep(each.claims, made)
            for takers, proof in zip(each.takers, made, strict=True):
                if proof is None:
                    found += [(each.sender, taker) for taker in takers]
                else:
                    found.proved += len(takers)
        return found

    def _unkept(self, found: Unproved) -> Iterator[Unkept]:
        """Yield the pairs that fit and have no kept proof, and count the others."""
        # Agents that another process adds or removes meanwhile are left for the next time.
        inputs = {name: agent.input for name in self if (agent := self.get(name)) is not None}
        digests = {name: certificates.schema_digest(schema) for name, schema in inputs.items()}
        for sender in inputs:
            agent = self.get(sender)
            if agent is None:
                continue
            kept = self._proofs.takers_of(agent.output)
            wanted: dict[str, list[str]] = {}
            for taker in filter(digests.__contains__, self.takers(agent.output)):
                if digests[taker] in kept:
                    found.proved += 1
                else:
                    wanted.setdefault(digests[taker], []).append(taker)
            for takers in chunks(wanted.values(), PROVED):
                taken = tuple(inputs[names[0]] for names in takers)
                yield Unkept(sender, takers, Claims(agent.output, taken, self._settings))

    def unproved(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs that fit by the table and have no kept proof that is one.

        Proofs are checked by `messagebody.compatibility.certificates`, which shares no code with
        the decider. So who computed the file need not be trusted.
        """
        for sender, taker in self.pairs():
            before, after = self.get(sender), self.get(taker)
            if before is None or after is None:
                continue  # another process has removed it meanwhile
            sent, taken = before.output, after.input
            proof = self._proofs.get(sent, taken)
            # A strict proof holds for a lenient taker too, and not the other way round.
            is_meant = proof is not None and (self._lenient or proof.get("lenient") is False)
            if not (is_meant and certificates.verify(sent, taken, proof)):
                yield sender, taker

    def _keep(self, claims: Claims, proofs: Iterable[Proof | None]) -> None:
        """Write the proofs of claims."""
        with self._changing():
            output = self._outputs.numbers.get(_text_of(claims.sent))
            for schema, proof in zip(claims.taken, proofs, strict=True):
                taken = self._inputs.numbers.get(_text_of(schema))
                # Another process may have taken the last agent of a class out.
                if proof is not None and output is not None and taken is not None:
                    self._proofs.put((output, claims.sent), (taken, schema), proof)

    # Answers

    def takers(self, of: str | MessageBodySchema) -> Neighbours:
        """Return the agents that accept every body an agent sends, or every body of a schema.

        Raises:
            AgentNotFound: there is no such agent.
        """
        self._refresh()
        if not isinstance(of, str):
            return self._takers(of)
        number = self._kept_of(of).output
        return self._neighbours(self._inputs, self._whole(self._outputs, self._inputs, number))

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield all pairs (sender, taker) that surely fit, an agent with itself included."""
        return self._pairs(lambda row: row.fitting)

    def undecided(self) -> Iterator[tuple[str, str]]:
        """Yield all pairs (sender, taker) for which the budget of `steps` a pair ended."""
        return self._pairs(lambda row: row.undecided)

    def _pairs(self, kind: Callable[[Row], int]) -> Iterator[tuple[str, str]]:
        """Yield pairs as they are now: the registry may change while they are read."""
        self._refresh()
        rows = dict(self._outputs.rows)
        for number, later in self._inputs.rows.items():
            for at in members(later.fitting | later.undecided):
                fits, bit = later.fitting >> at & 1, 1 << number
                fitting, undecided = rows[at].fitting, rows[at].undecided
                rows[at] = Row(fitting | bit * fits, undecided | bit * (not fits))
        places = {name: kept.place for name, kept in self._agents.items()}
        taking = {number: [*names] for number, names in self._inputs.names.items()}
        senders = [(name, rows[self._agents[name].output]) for name in self._in_order()]
        for sender, row in senders:
            found = (name for number in members(kind(row)) for name in taking[number])
            for taker in sorted(found, key=places.__getitem__):
                yield sender, taker

    def _takers(self, output: MessageBodySchema) -> Neighbours:
        self._refresh()
        return self._answer(self._outputs, self._inputs, output)

    def _feeders(self, taken: MessageBodySchema) -> Neighbours:
        self._refresh()
        return self._answer(self._inputs, self._outputs, taken)

    def _answer(self, mine: _Side, others: _Side, schema: MessageBodySchema) -> Neighbours:
        number = mine.numbers.get(_text_of(schema))
        row = self._compare(mine, schema) if number is None else self._whole(mine, others, number)
        return self._neighbours(others, row)

    def _neighbours(self, side: _Side, row: Row) -> Neighbours:
        return Neighbours(self._named(side, row.fitting), self._named(side, row.undecided))

    def _compare(self, mine: _Side, schema: MessageBodySchema) -> Row:
        matrix = self._matrix
        return matrix.row(schema) if mine is self._outputs else matrix.column(schema)

    def _whole(self, mine: _Side, others: _Side, number: int) -> Row:
        """Return the verdicts of a class with all classes of the other side."""
        row = mine.rows[number]
        # The rows of classes that were added later hold the verdicts with this one.
        fitting = [at for at, each in others.rows.items() if each.fitting >> number & 1]
        undecided = [at for at, each in others.rows.items() if each.undecided >> number & 1]
        return Row(row.fitting | set_of(fitting), row.undecided | set_of(undecided))

    def _named(self, side: _Side, classes: int) -> list[str]:
        found = [name for number in members(classes) for name in side.names.get(number, ())]
        return sorted(found, key=lambda name: self._agents[name].place)

    @property
    def _matrix(self) -> SchemaMatrix:
        """All classes, made ready when something is to be compared."""
        if self._compared is None:
            made = self._settings.matrix()
            for text, number in self._inputs.numbers.items():
                made.put_consumer(number, self._schema_of(text))
            for text, number in self._outputs.numbers.items():
                made.put_producer(number, self._schema_of(text))
            self._compared = made
        return self._compared

    # Changes

    def _classes(
        self, side: _Side, schemas: Iterable[MessageBodySchema], executor: Executor | None
    ) -> list[int]:
        """Return the numbers of schemas' classes; new ones are compared with the other side."""
        texts = [_text_of(schema) for schema in schemas]
        new = {text: self._schema_of(text) for text in texts if text not in side.numbers}
        for (text, plain), row in zip(new.items(), self._rows(side, new, executor), strict=True):
            self._add(side, text, plain, row)
        return [side.numbers[text] for text in texts]

    def _rows(
        self, side: _Side, new: Mapping[str, MessageBodySchema], executor: Executor | None
    ) -> Iterable[Row]:
        if executor is None:
            return (self._compare(side, plain) for plain in new.values())
        sends = side is self._outputs
        others = self._inputs if sends else self._outputs
        known = {number: self._schema_of(text) for text, number in others.numbers.items()}
        return decide_all(
            [*new.values()], known, sends=sends, settings=self._settings, executor=executor
        )

    def _add(self, side: _Side, text: str, plain: MessageBodySchema, row: Row) -> None:
        """Add a class."""
        number = side.free_number()
        # Made ready when it is next asked for, if nothing was compared here.
        if self._compared is not None and side is self._outputs:
            self._compared.put_producer(number, plain)
        elif self._compared is not None:
            self._compared.put_consumer(number, plain)
        side.numbers[text], side.rows[number], side.names[number] = number, row, {}
        self._file.execute(
            f"INSERT INTO {side.table} VALUES (?, ?, ?, ?)",  # noqa: S608 - a name of ours
            [number, text, _blob(row.fitting), _blob(row.undecided)],
        )

    def _set(self, agent: Agent, output: int, taken: int) -> None:
        before = self._agents.get(agent.name)
        place = self._next_place if before is None else before.place
        self._next_place += before is None
        if before is not None:
            self._unset(agent.name, before)
        self._agents[agent.name] = _Kept(place, output, taken)
        self._outputs.names[output][agent.name] = None
        self._inputs.names[taken][agent.name] = None
        data = json.dumps(agent.to_dict(), ensure_ascii=False)
        self._file.execute(
            "INSERT OR REPLACE INTO agents VALUES (?, ?, ?, ?, ?, ?)",
            [agent.name, place, time.time(), data, output, taken],
        )

    def _unset(self, name: str, kept: _Kept) -> None:
        del self._outputs.names[kept.output][name]
        del self._inputs.names[kept.input][name]
        self._left |= {(self._outputs.table, kept.output), (self._inputs.table, kept.input)}

    def _forget_unused(self) -> None:
        """Take out the classes that no agent has any more."""
        for side in (self._outputs, self._inputs):
            unused = [
                number
                for table, number in self._left
                if table == side.table and not side.names[number]
            ]
            texts = {number: text for text, number in side.numbers.items()} if unused else {}
            for number in unused:
                side.forget(number, texts[number])
                if self._compared is not None and side is self._outputs:
                    self._compared.drop_producer(number)
                elif self._compared is not None:
                    self._compared.drop_consumer(number)
                self._file.execute(f"DELETE FROM {side.table} WHERE id = ?", [number])  # noqa: S608
                # The number is free for another class.
                self._proofs.forget(side.one, number)
                self._clear(side, number)
        self._left.clear()

    def _clear(self, side: _Side, number: int) -> None:
        """Clear a number in the sets of the other side: the next class may have it."""
        other = self._inputs if side is self._outputs else self._outputs
        mask = ~(1 << number)
        changed = {
            at: Row(row.fitting & mask, row.undecided & mask)
            for at, row in other.rows.items()
            if (row.fitting | row.undecided) >> number & 1
        }
        other.rows |= changed
        self._file.execute_many(
            f"UPDATE {other.table} SET fitting = ?, undecided = ? WHERE id = ?",  # noqa: S608
            [(_blob(row.fitting), _blob(row.undecided), at) for at, row in changed.items()],
        )

    # The file

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Write all changes of a block, or none of them."""
        try:
            with self._file.changing():
                self._refresh()
                yield
        except BaseException:
            self._load()  # what is in memory may be half of the change
            raise

    def _refresh(self) -> None:
        """Read everything again if another process has written."""
        # Changed only by other connections, so that what this one writes is not read again.
        if self._file.version() != self._version:
            self._load()

    def _load(self) -> None:
        # At one moment: else an agent may name a class that was not there yet.
        with self._file.reading():
            version = self._file.version()
            self._file.check()
            self._outputs, self._inputs = _Side("output"), _Side("input")
            for side in (self._outputs, self._inputs):
                self._load_side(side)
            for side, other in (self._outputs, self._inputs), (self._inputs, self._outputs):
                self._check_sets(side, other)
            self._load_agents()
        self._compared = None
        self._left = set()
        self._version = version

    def _load_side(self, side: _Side) -> None:
        query = f"SELECT id, schema, fitting, undecided FROM {side.table}"  # noqa: S608
        for number, text, *blobs in self._file.rows(query, kinds=(int, str, bytes, bytes)):
            if not 0 <= number < _MOST or number in side.rows or text in side.numbers:
                self._file.refuse(f"the class {number} of {side.table} is none")
            if max(map(len, blobs)) > _MOST // 8:
                self._file.refuse(f"the class {number} of {side.table} has sets that are too long")
            side.numbers[text], side.names[number] = number, {}
            side.rows[number] = Row(*map(_set_in, blobs))

    def _check_sets(self, side: _Side, other: _Side) -> None:
        """Require that the classes of a side fit with classes that there are."""
        others = ~set_of(other.rows)
        for number, row in side.rows.items():
            if row.fitting & row.undecided or (row.fitting | row.undecided) & others:
                self._file.refuse(f"the class {number} of {side.table} fits with none that is")

    def _load_agents(self) -> None:
        self._agents = {}
        query = "SELECT name, place, output, input FROM agents ORDER BY place"
        for name, *kept in self._file.rows(query, kinds=(str, int, int, int)):
            place, output, taken = kept
            known = output in self._outputs.rows and taken in self._inputs.rows
            if not known or not 0 <= place < _LAST_PLACE or name in self._agents:
                self._file.refuse(f"the agent {quote(name)} has no class or no place")
            self._agents[name] = _Kept(place, output, taken)
            self._outputs.names[output][name] = None
            self._inputs.names[taken][name] = None
        self._next_place = max((kept.place for kept in self._agents.values()), default=-1) + 1

    def _schema_of(self, text: str) -> MessageBodySchema:
        """Return the schema of a class."""
        parts = self._file.parsed(text)
        try:
            return MessageBodySchema([SchemaPart(*part) for part in parts])
        except (TypeError, ValueError) as error:
            self._file.refuse(f"a class has no schema: {error}", error)

    def _check_settings(self, wanted: dict[str, str]) -> None:
        query = "SELECT name, value FROM settings"
        stated = dict(self._file.rows(query, kinds=(str, str)))
        for name, value in wanted.items():
            if stated.get(name) != value:
                was = quote(stated.get(name), limit=60).strip("'")
                got = f"{name}={value} for a file that was made with {name}={was}"
                raise InvalidArgument("the settings that the file was made with", got=got)


def _require_executor(executor: Executor | None) -> None:
    if executor is not None and not isinstance(executor, Executor):
        raise InvalidArgument("a concurrent.futures.Executor", executor)


def _text_of(schema: MessageBodySchema) -> str:
    """Return a text that schemas have in common whose parts are the same, in whatever order."""
    # Descriptions say nothing about which bodies fit.
    parts = {(part.name, part.content_type, part.required) for part in schema}
    return json.dumps(sorted(parts, key=lambda part: (part[0] or "", *part[1:])))


def _blob(found: int) -> bytes:
    return found.to_bytes((found.bit_length() + 7) // 8, "little")


def _set_in(blob: bytes) -> int:
    return int.from_bytes(blob, "little")
