"""Proofs that a registry keeps: made once, checked by who does not trust the table, never stale."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from messagebody import certificates
from messagebody.compatibility import Agent, Registry, StoredRegistry
from tests.compatibility.test_inclusion import schema
from tests.compatibility.test_registry import AUDIO, IMAGE, TEXT
from tests.compatibility.test_stored import schemas


def kept(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as file:
        return file.execute("SELECT * FROM certificates").fetchall()


@pytest.mark.parametrize("lenient", [False, True])
def test_all_pairs_are_proved(lenient: bool, path: Path) -> None:
    found = schemas(20, 5)
    pairs = zip(found, reversed(found), strict=True)
    agents = [Agent(f"agent-{n}", taken, sent) for n, (taken, sent) in enumerate(pairs)]
    with Registry.open(path, lenient=lenient) as registry:
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


def test_a_proof_is_made_once(studio: StoredRegistry, path: Path) -> None:
    assert studio.certificate("painter", "speaker") is None
    assert kept(path) == []
    proof = studio.certificate("painter", "critic")
    assert (len(kept(path)), proof) == (
        1,
        studio.certificate("painter", "poet"),
    )  # equal schemas
    with Registry.open(path) as other:
        assert other.certificate("painter", "critic") == proof
        assert [*other.unproved()] == [
            ("critic", "painter"), ("poet", "painter"), ("poet", "speaker"),
        ]  # fmt: skip
    with pytest.raises(KeyError):
        studio.certificate("painter", "nobody")


def test_proofs_go_with_their_schemas(studio: StoredRegistry, path: Path) -> None:
    studio.certify()
    assert len(kept(path)) == 4
    studio.remove("speaker")
    assert len(kept(path)) == 3
    # Another class gets the number that is free.
    studio.put(Agent("painter", AUDIO, schema(("/a", "image/png"))))
    assert len(kept(path)) == 0
    assert [*studio.pairs()] == [*studio.unproved()] == []


def test_a_table_that_lies_is_found_out(studio: StoredRegistry, path: Path) -> None:
    studio.certify()
    honest = studio.certificate("poet", "speaker")
    with closing(sqlite3.connect(path)) as file:
        every = (255).to_bytes(1, "little")
        file.execute("UPDATE outputs SET fitting = ?", [every])
        # A proof of another claim does not help.
        file.execute("UPDATE certificates SET data = ?", [json.dumps(honest)])
        file.commit()
    assert {*studio.unproved()} == {*studio.pairs()} - {("poet", "speaker")}
    assert ("painter", "speaker") in {*studio.unproved()}


def test_a_proof_for_a_lenient_taker_is_none_for_a_strict_one(path: Path, tmp_path: Path) -> None:
    agents = [Agent("sender", IMAGE, schema((None, "text/plain", True), ("/extra", "image/png"))),
              Agent("taker", TEXT, IMAGE)]  # fmt: skip
    with Registry.open(path, lenient=True) as lenient:
        lenient.put_all(agents)
        assert lenient.certify() == []
        proof = lenient.certificate("sender", "taker")
        assert proof is not None
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE settings SET value = 'False' WHERE name = 'lenient'")
        file.commit()
    with Registry.open(path) as strict:
        assert ("sender", "taker") in {*strict.unproved()}
