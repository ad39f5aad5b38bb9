"""Proofs that a registry keeps: made once, checked by who does not trust the table, never stale."""

import json
import sqlite3
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from messagebody.agents import Agent, Registry
from messagebody.compatibility import certificates
from messagebody.errors import InvalidArgument, MessageBodyError
from tests.agents.test_registry import AUDIO, IMAGE, TEXT
from tests.agents.test_registry_file import schemas
from tests.compatibility.test_inclusion import schema


def kept(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as file:
        return file.execute("SELECT * FROM certificates").fetchall()


@pytest.mark.parametrize("lenient", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.dear
def test_all_pairs_are_proved(lenient: bool, path: Path) -> None:
    found = schemas(20, 5)
    pairs = zip(found, reversed(found), strict=True)
    agents = [Agent(f"agent-{n}", taken, sent) for n, (taken, sent) in enumerate(pairs)]
    with Registry(path=path, lenient=lenient) as registry:
        registry.put_all(agents)
        fitting = [*registry.pairs()]
        assert [*registry.unproved()] == fitting != []
        assert registry.certify() == []
        assert [*registry.unproved()] == []
        for sender, taker in fitting:
            proof = registry.certificate(sender, taker)
            output, taken = registry[sender].output, registry[taker].input
            assert certificates.verify(output, taken, proof)
            assert proof == Registry(agents, lenient=lenient).certificate(sender, taker)


def test_a_proof_is_made_once(studio: Registry, path: Path) -> None:
    assert studio.certificate("painter", "speaker") is None
    assert kept(path) == []
    proof = studio.certificate("painter", "critic")
    assert (len(kept(path)), proof) == (
        1,
        studio.certificate("painter", "poet"),
    )  # equal schemas
    with Registry(path=path) as other:
        assert other.certificate("painter", "critic") == proof
        assert [*other.unproved()] == [
            ("critic", "painter"), ("poet", "painter"), ("poet", "speaker"),
        ]  # fmt: skip
    with pytest.raises(KeyError):
        studio.certificate("painter", "nobody")


class Dying(ThreadPoolExecutor):
    """An executor that ends in the middle of the work."""

    left = 3

    def submit(self, *call: Any, **how: Any) -> "Future[Any]":
        self.left -= 1
        return super().submit(*call, **how) if self.left >= 0 else super().submit(divmod, 1, 0)


def test_an_executor_makes_the_same_proofs(path: Path, tmp_path: Path) -> None:
    found = schemas(30, 5)
    agents = [Agent(f"agent-{n}", taken, sent) for n, (taken, sent) in enumerate(pairwise(found))]
    with Registry(path=path) as registry, Registry(path=tmp_path / "other.db") as other:
        registry.put_all(agents)
        other.put_all(agents)
        registry.certify()
        with Dying(2) as executor, pytest.raises(MessageBodyError, match="ZeroDivisionError"):
            other.certify(executor=executor)
        assert 0 < len(kept(tmp_path / "other.db")) < len(kept(path))
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            left = other.certify(executor=pool)
        assert (left, left.proved) == ([], len([*registry.pairs()]))
        with pytest.raises(InvalidArgument, match="Executor"):
            other.certify(executor="processes")  # type: ignore[arg-type]
    assert kept(tmp_path / "other.db") == kept(path) != []


def test_pairs_without_a_proof_are_told_apart(path: Path) -> None:
    # Only a search proves that two parts together accept what this one sends.
    levels = (("/*", "text/*"), ("/*/*", "text/*"), ("/*/*/**", "text/*"))
    taken, sent = schema(("/**", "text/*")), schema(*levels)
    with Registry(path=path, steps=360) as registry:
        registry.put_all([Agent("hard", sent, taken), Agent("easy", TEXT, TEXT)])
        assert {*registry.pairs()} == {("hard", "hard"), ("easy", "easy")}
        left = registry.certify()
        assert (left, left.proved) == ([("hard", "hard")], 1)
        assert len(kept(path)) == 1


def test_agents_of_one_schema_share_a_proof(studio: Registry, path: Path) -> None:
    assert studio.certify().proved == len([*studio.pairs()]) > len(kept(path))
    before = kept(path)
    assert studio.certify().proved == len([*studio.pairs()])
    assert kept(path) == before


def test_proofs_go_with_their_schemas(studio: Registry, path: Path) -> None:
    studio.certify()
    assert len(kept(path)) == 4
    studio.remove("speaker")
    assert len(kept(path)) == 3
    # Another class gets the number that is free.
    studio.put(Agent("painter", AUDIO, schema(("/a", "image/png"))))
    assert len(kept(path)) == 0
    assert [*studio.pairs()] == [*studio.unproved()] == []


def test_a_table_that_lies_is_found_out(studio: Registry, path: Path) -> None:
    studio.certify()
    honest = studio.certificate("poet", "speaker")
    with closing(sqlite3.connect(path)) as file:
        known = sum(1 << number for (number,) in file.execute("SELECT id FROM inputs"))
        file.execute("UPDATE outputs SET fitting = ?", [known.to_bytes(1, "little")])
        # A proof of another claim does not help.
        file.execute("UPDATE certificates SET data = ?", [json.dumps(honest)])
        file.commit()
    assert {*studio.unproved()} == {*studio.pairs()} - {("poet", "speaker")}
    assert ("painter", "speaker") in {*studio.unproved()}


def test_a_proof_for_a_lenient_taker_is_none_for_a_strict_one(path: Path, tmp_path: Path) -> None:
    agents = [Agent("sender", IMAGE, schema((None, "text/plain", True), ("/extra", "image/png"))),
              Agent("taker", TEXT, IMAGE)]  # fmt: skip
    with Registry(path=path, lenient=True) as lenient:
        lenient.put_all(agents)
        assert lenient.certify() == []
        proof = lenient.certificate("sender", "taker")
        assert proof is not None
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE settings SET value = 'False' WHERE name = 'lenient'")
        file.commit()
    with Registry(path=path) as strict:
        assert ("sender", "taker") in {*strict.unproved()}
