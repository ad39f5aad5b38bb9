"""Part by part: what is certain already, and what still can be."""

import copy
import pickle
import random

import pytest

from messagebody import Part
from messagebody.compatibility import SchemaStream
from messagebody.schema import Status
from tests.compatibility import generators, oracle
from tests.compatibility.test_inclusion import schema


def part(name: str | None, content_type: str = "text/plain") -> Part:
    return Part("", name=name, content_type=content_type)


def can_become_valid(parts: oracle.Schema, body: list[tuple[str | None, str]]) -> bool:
    """Decide by brute force: what was sent is required of its name, and nobody else may have it."""
    hit = {
        i
        for i, (pattern, kind, _) in enumerate(parts)
        for name, content_type in body
        if oracle.is_valid([(pattern, kind, False)], [(name, content_type)])
    }
    taken = {name for name, _ in body}
    left = [p for i, p in enumerate(parts) if p[2] and i not in hit]
    states = {0}
    names = [None, *(n for n in oracle.pool() if n not in taken)]
    bits = [oracle.name_bits(p[0]) if p[0] is not None else None for p in left]
    place = {name: i for i, name in enumerate(oracle.pool())}
    kinds = [oracle.type_bits(p[1]) for p in left]
    for name in names:
        options = set()
        for t in range(len(oracle.TYPES)):
            met = 0
            for i, (names_of, types_of) in enumerate(zip(bits, kinds, strict=True)):
                fits = names_of is None if name is None else (
                    names_of is not None and names_of >> place[name] & 1
                )  # fmt: skip
                if fits and types_of >> t & 1:
                    met |= 1 << i
            options.add(met)
        for _ in range(len(left) if name is None else 1):
            states |= {state | option for state in states for option in options}
        if (1 << len(left)) - 1 in states:
            return True
    return (1 << len(left)) - 1 in states


class TestStatuses:
    def test_a_message_in_order(self) -> None:
        """Waiting, then valid."""
        stream = schema((None, "text/*", True), ("/files/*",)).stream()
        assert stream.status == "waiting"
        assert stream.status.missing == (0,)
        assert stream.feed(part("/files/a")) == "waiting"
        assert stream.feed(part(None)) == "valid"
        assert stream.status
        assert stream.finish() == []

    def test_invalid_is_for_good(self) -> None:
        """A part that nothing accepts, and a name that comes twice."""
        stream = schema((None, "text/*", True), ("/files/*",)).stream()
        assert stream.feed(part("/other")) == "invalid"
        assert stream.feed(part(None)) == "invalid"
        assert [each.code for each in stream.finish()] == ["part-not-accepted"]
        stream = schema(("/files/*",)).stream()
        assert stream.feed(part("/files/a")) == "valid"
        assert stream.feed(part("/files/a")) == "invalid"
        assert [each.code for each in stream.finish()] == ["repeated-name"]

    def test_hopeless_when_a_name_is_taken(self) -> None:
        """The required name went to another type."""
        stream = schema(("/a", "image/*", True), ("/**", "text/*")).stream()
        assert stream.feed(part("/b")) == "waiting"
        assert stream.feed(part("/a")) == "hopeless"
        assert not stream.status
        assert stream.feed(part("/c")) == "hopeless"
        assert [each.code for each in stream.finish()] == ["required-part-missing"]

    def test_hopeless_when_the_last_of_several_names_goes(self) -> None:
        """Many names for one requirement, taken one by one."""
        stream = schema(("/{a,b,c}", "image/*", True), ("/**", "text/*")).stream()
        statuses = [str(stream.feed(part(f"/{letter}"))) for letter in "abc"]
        assert statuses == ["waiting", "waiting", "hopeless"]

    def test_hopeless_from_the_start(self) -> None:
        """A schema that nothing meets."""
        assert schema(("/a", "a/b", True), ("/a", "a/c", True)).stream().status == "hopeless"

    def test_a_budget_that_ends(self) -> None:
        """Waiting, and not exact."""
        hard = schema(*[("/{a,b,c}", f"text/{kind}", True) for kind in "xyz"])
        assert SchemaStream(hard, max_steps=2).status.exact is False
        assert SchemaStream(hard, max_steps=2).status == "waiting"
        assert SchemaStream(hard).status.exact

    def test_against_brute_force(self) -> None:
        """Random schemas and messages: each status is what the pool says."""
        rng = random.Random(11)
        seen = set()
        for number in range(400):
            parts, _ = generators.GENERATORS[number % 3](rng)
            stream = schema(*parts).stream()
            sent: list[tuple[str | None, str]] = []
            for _ in range(rng.randint(0, 4)):
                name = rng.choice([None, "/a", "/b", "/z", "/ab", "/a/b"])
                kind = rng.choice(oracle.TYPES)
                if name is not None and name in {each for each, _ in sent}:
                    continue
                sent.append((name, kind))
                stream.feed(part(name, kind))
            optional = [(n, k, False) for n, k, _ in parts]
            if not oracle.is_valid(optional, sent):
                expected = {"invalid", "hopeless"}
            elif oracle.is_valid(parts, sent):
                expected = {"valid"}
            else:
                expected = {"waiting"} if can_become_valid(parts, sent) else {"hopeless"}
            assert str(stream.status) in expected, (parts, sent)
            seen.add(str(stream.status))
        assert seen == {"valid", "waiting", "invalid", "hopeless"}


class TestStatus:
    def test_survives_copies(self) -> None:
        """Pickled and copied with what it knows."""
        status = Status("waiting", exact=False, missing=(1, 2))
        for twin in (pickle.loads(pickle.dumps(status)), copy.deepcopy(status)):
            assert (twin, twin.exact, twin.missing) == ("waiting", False, (1, 2))
        assert repr(status) == "<Status waiting>"

    @pytest.mark.parametrize("word", ["waiting", "invalid", "hopeless"])
    def test_only_valid_is_true(self, word: str) -> None:
        """Whatever stands behind an `if` is true only when it is safe to go on."""
        assert not Status(word)  # type: ignore[arg-type]
        assert Status("valid")
