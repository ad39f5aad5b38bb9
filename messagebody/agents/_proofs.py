"""Proofs of a registry: made in blocks, here or by an executor, and kept in its file."""

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from typing import Any, Final

import attrs

from messagebody.agents._blocks import PairSettings, results
from messagebody.agents._registry_file import RegistryFile
from messagebody.compatibility import check
from messagebody.compatibility.certificates import schema_digest
from messagebody.schema import MessageBodySchema

Proof = dict[str, Any]
"""A certificate, as `messagebody.compatibility.certificates` reads it."""

PROVED: Final = 256
"""Pairs whose proofs are written at once: a process that ends loses those it has not written."""

TABLE: Final = """
CREATE TABLE certificates (
    producer TEXT NOT NULL, consumer TEXT NOT NULL, output INTEGER NOT NULL,
    input INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (producer, consumer)
) WITHOUT ROWID;
CREATE INDEX certified_outputs ON certificates (output);
CREATE INDEX certified_inputs ON certificates (input);
"""


@attrs.frozen
class Claims:
    """Claims that all bodies of one schema are valid for each of some others.

    Arguments:
        sent: the schema of the producer.
        taken: those of the consumers.
        settings: what else the proofs depend on.
    """

    sent: MessageBodySchema
    taken: tuple[MessageBodySchema, ...]
    settings: PairSettings


def prove(claims: Claims) -> list[Proof | None]:
    """Return a certificate for each claim; None if it is not true, or the budget ends first."""
    settings = claims.settings
    results = (
        check(claims.sent, each, lenient=settings.lenient, steps=settings.steps)
        for each in claims.taken
    )
    return [result.certificate for result in results]


def prove_all(claims: Iterable[Claims], executor: Executor | None) -> Iterator[list[Proof | None]]:
    """Yield the certificates of claims in order, made here or by an executor.

    Raises:
        MessageBodyError: the executor failed, for example because a worker died.
    """
    return map(prove, claims) if executor is None else results(executor, prove, claims)


@attrs.frozen
class Unkept:
    """Pairs of one sender that fit and have no kept proof.

    Arguments:
        sender: the agent that sends.
        takers: for each claim the agents that it is about.
        claims: the claims to prove.
    """

    sender: str
    takers: tuple[list[str], ...]
    claims: Claims


class Unproved(list[tuple[str, str]]):
    """Pairs (sender, taker) that fit, and for whose proof the budget ended.

    Attributes:
        proved: the number of pairs that have a proof.
    """

    proved = 0


class KeptProofs:
    """The proofs in a registry's file, by the digests of their schemas.

    Arguments:
        file: the file.
    """

    def __init__(self, file: RegistryFile) -> None:
        self._file = file

    def get(self, output: MessageBodySchema, taken: MessageBodySchema) -> Proof | None:
        """Return the proof of a claim, if it is kept."""
        query = "SELECT data FROM certificates WHERE producer = ? AND consumer = ?"
        asked = schema_digest(output), schema_digest(taken)
        for (text,) in self._file.rows(query, asked, kinds=(str,)):
            proof = self._file.parsed(text)
            if isinstance(proof, dict):
                return proof
            self._file.refuse("a proof is no object")
        return None

    def takers_of(self, output: MessageBodySchema) -> set[str]:
        """Return the digests of the inputs with which an output has a proof."""
        query = "SELECT consumer FROM certificates WHERE producer = ?"
        found = self._file.rows(query, [schema_digest(output)], kinds=(str,))
        return {digest for (digest,) in found}

    def put(
        self, output: tuple[int, MessageBodySchema], taken: tuple[int, MessageBodySchema],
        proof: Proof,
    ) -> None:  # fmt: skip
        """Keep a proof for schemas and the numbers of their classes."""
        (sends, sent), (takes, accepted) = output, taken
        self._file.execute(
            "INSERT OR REPLACE INTO certificates VALUES (?, ?, ?, ?, ?)",
            [schema_digest(sent), schema_digest(accepted), sends, takes, json.dumps(proof)],
        )

    def forget(self, side: str, number: int) -> None:
        """Delete the proofs of a class, which is an "input" or an "output": its number is free."""
        self._file.execute(f"DELETE FROM certificates WHERE {side} = ?", [number])  # noqa: S608
