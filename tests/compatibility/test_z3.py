"""`check` beside z3, an oracle without a pool of words: `make test ENV=solver` installs it."""

import random

import pytest

from messagebody.compatibility import check
from messagebody.schema import MessageBodySchema
from tests.compatibility import generators
from tests.compatibility.oracle import Schema

pytest.importorskip("z3")

from tests.compatibility.z3_oracle import GaveUp, Pool

_REQUIRED = 3
_PAIRS = 40


def chosen(names: list[str], types: list[str], rng: random.Random) -> Schema:
    """Return a schema of patterns of a pool, with few required parts."""
    parts: Schema = [
        (rng.choice([*names, None]), rng.choice(types), False) for _ in range(rng.randint(0, 4))
    ]
    return generators.require(parts, rng, _REQUIRED)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(12))
def test_pairs_of_one_pool(seed: int) -> None:
    """Five name patterns, four of content types, and pairs of schemas made of them."""
    rng = random.Random(seed)
    names = [each for _ in range(12) if (each := generators.name_pattern(rng)) is not None][:5]
    types = rng.sample(generators.KINDS, 4)
    try:
        pool = Pool(names, types, 2 * _REQUIRED)
    except GaveUp:
        pytest.skip(f"z3 gives up on {names} and {types}")
    seen = set()
    for _ in range(_PAIRS):
        a, b = chosen(names, types, rng), chosen(names, types, rng)
        if rng.random() < 0.5:
            b = [*a[1:], *b]
        if sum(required for _, _, required in (*a, *b)) > 2 * _REQUIRED:
            continue
        expected = pool.verdict(a, b)
        seen.add(expected)
        assert check(MessageBodySchema(a), MessageBodySchema(b)).verdict == expected, (a, b)
    assert len(seen) == 3
