"""Certificates: each *always* has one that verifies, and none verifies where the claim is false."""

import copy
import itertools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBodySchema, check
from messagebody.compatibility import _certification, certificates
from messagebody.compatibility._inclusion import lenient_schema
from messagebody.compatibility.certificates import BoxPattern, schema_digest, verify
from messagebody.errors import InvalidPattern
from messagebody.globs import content_type_pattern, name_pattern
from tests.compatibility import oracle
from tests.compatibility.generators import crowded, dotted, globs, pair, plausible

Generator = Callable[[random.Random], tuple[oracle.Schema, oracle.Schema]]


def _to_itself(name: str) -> tuple[oracle.Schema, oracle.Schema]:
    return [(name, "text/plain", False)], [(name, "text/plain", False)]


# Each shows one way to prove: a part inside another, a union, a count of parts and names, also
# with names that are taken, cases, no body at all.
PROVED: list[tuple[oracle.Schema, oracle.Schema]] = [
    ([("/sources/*", "text/markdown", False)], [("/sources/**", "text/*", False)]),
    ([("/**", "text/plain", False)], [("/*", "*/*", False), ("/*/**", "text/*", False)]),
    (
        [("/{a,b}", "text/plain", True), ("/a", "text/html", True)],
        [("/b", "text/plain", True), ("/*", "text/*", False)],
    ),
    (
        [("/{a,b}", "text/{plain,html}", True), ("/a", "text/{html,csv}", True),
         ("/a", "text/{csv,plain}", True)],
        [("/b", "text/*", True), ("/*", "text/*", False)],
    ),
    (
        [("/{a,b}", "text/plain", True), ("/{a,b}", "text/html", True),
         ("/{a,b}", "image/png", False)],
        [("/*", "text/*", False)],
    ),
    ([("/a", "text/plain", True), ("/a", "text/html", True)], []),
    ([("/./a", "text/plain", False)], [("/./a", "text/*", False)]),
    *[
        # The shortest text that the pattern matches is no name.
        _to_itself(name)
        for name in ("/{src/,report.md}", "/{.,src}", "/*..", "/.*.", "/{docs/,README.md}", "/src/")
    ],
    ([("/a", "image/png", False), ("/a", "text/plain", True)], [("/a", "text/*", True)]),
    ([(None, "text/markdown", True)], [(None, "text/*", True), ("/**", "*/*", False)]),
    ([(f"/{{{'a,b,c'}}}", f"text/{n}", True) for n in range(4)], []),
    (
        [("/*", "*/*", False)],
        [(f"/{letter}*", "**", False) for letter in sorted(set(map(chr, range(45, 123))) & set(
            "-._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        ))],
    ),
]  # fmt: skip


def certified(a: oracle.Schema, b: oracle.Schema, **how: Any) -> Any:
    """Return the certificate as it comes out of a file."""
    proof = check(MessageBodySchema(a), MessageBodySchema(b), certificate=True, **how).certificate
    return json.loads(json.dumps(proof))


class TestVerify:
    @pytest.mark.parametrize(("a", "b"), PROVED)
    def test_each_way_to_prove(self, a: oracle.Schema, b: oracle.Schema) -> None:
        assert verify(MessageBodySchema(a), MessageBodySchema(b), certified(a, b))

    def test_reads_the_json_of_schemas(self) -> None:
        a, b = PROVED[0]
        sent, taken = MessageBodySchema(a), MessageBodySchema(b)
        assert verify(sent.to_dicts(), {"parts": taken.to_dicts()}, certified(a, b))

    @pytest.mark.parametrize(("a", "b"), PROVED)
    def test_proves_nothing_about_other_schemas(self, a: oracle.Schema, b: oracle.Schema) -> None:
        other = MessageBodySchema([*a, ("/other", "text/plain", False)])
        assert not verify(other, MessageBodySchema(b), certified(a, b))

    def test_lenient_consumers(self) -> None:
        a: oracle.Schema = [(None, "text/plain", True), ("/x", "*/*", False)]
        b: oracle.Schema = [(None, "text/*", True)]
        proof = certified(a, b, lenient=True)
        sent, taken = MessageBodySchema(a), MessageBodySchema(b)
        assert verify(sent, taken, proof)
        assert not verify(sent, taken, proof | {"lenient": False})
        assert not verify(sent, lenient_schema(taken), proof)

    def test_contents_are_part_of_what_is_proved(self) -> None:
        plain = [{"contentType": "application/json"}]
        narrow = [{**plain[0], "contentSchema": {"type": "array"}}]
        proof = check(*[MessageBodySchema.from_dicts(plain)] * 2, certificate=True).certificate
        assert verify(plain, plain, proof)
        assert not verify(narrow, plain, proof)
        assert not verify(plain, narrow, proof)
        sides = [MessageBodySchema.from_dicts(each) for each in (narrow, plain)]
        assert verify(narrow, plain, check(*sides, certificate=True).certificate)

    def test_each_is_its_own(self) -> None:
        a, b = PROVED[1]
        before = certified(a, b)
        answer = check(MessageBodySchema(a), MessageBodySchema(b))
        assert answer.certificate is not None
        assert answer.certificate["parts"][0]["words"]
        answer.certificate["parts"][0]["words"].clear()
        assert certified(a, b) == before

    def test_only_always_has_one(self) -> None:
        assert certified([("/a", "*/*", False)], [("/b", "*/*", False)]) is None

    def test_none_where_the_budget_ends(self) -> None:
        a, b = PROVED[-1]
        answer = check(MessageBodySchema(a), MessageBodySchema(b))
        assert answer.certificate is not None
        poor = check(MessageBodySchema(a), MessageBodySchema(b), steps=1)
        assert poor.certificate is None

    @pytest.mark.dear
    def test_comparing_words_is_work_too(self) -> None:
        """Here no word stands for another, so that half a million pairs of them are compared."""
        words = map("".join, itertools.product("abcdefghijk", repeat=3))
        a: oracle.Schema = [(f"/{{{','.join(words)}}}", "*/*", False)]
        b: oracle.Schema = [("/*", "*/*", False)]
        poor = check(MessageBodySchema(a), MessageBodySchema(b), steps=100_000)
        assert poor
        assert poor.certificate is None
        assert verify(MessageBodySchema(a), MessageBodySchema(b), certified(a, b))

    def test_too_few_steps_prove_nothing(self) -> None:
        a, b = PROVED[-1]
        sent, taken, proof = MessageBodySchema(a), MessageBodySchema(b), certified(a, b)
        assert verify(sent, taken, proof)
        assert not verify(sent, taken, proof, steps=1000)


def by_texts(a: oracle.Schema, b: oracle.Schema) -> dict[str, Any]:
    """Return a certificate which says that each part is accepted, and lists no words."""
    return {
        "rules": 1, "lenient": False, "names": [], "required": {},
        "producer": schema_digest(MessageBodySchema(a)),
        "consumer": schema_digest(MessageBodySchema(b)),
        "parts": [{"in": [*range(len(b))], "except": [], "words": []} for _ in a],
    }  # fmt: skip


def is_shown(a: oracle.Schema, b: oracle.Schema, **how: Any) -> bool:
    return verify(MessageBodySchema(a), MessageBodySchema(b), by_texts(a, b), **how)


class TestTexts:
    """Claims that the texts of the patterns show need no words."""

    @pytest.mark.parametrize(
        ("inner", "outer"),
        [
            ("/a", "/a"),
            ("/a", "/*"),
            ("/*", "/**"),
            ("/a/b/c", "/**"),
            ("/a/**", "/**"),
            ("/a/**", "/a/**/*"),
            ("/a/**/*", "/a/**"),
            ("/**/a", "/**/**/a"),
            ("/a/**/b/*.md", "/**/b/*"),
            ("/**/a/**/c", "/**/c"),
            ("/a*c*e", "/*c*"),
            ("/{a,b}", "/{c,b,a}"),
            ("/{a,b/*}", "/{a,b/**}"),
            ("/{a,{b,c}}", "/*"),
            ("/a{,b}", "/a*"),
            ("/a**", "/a*"),
            ("/a*", "/a***"),
        ],
    )
    def test_shown(self, inner: str, outer: str) -> None:
        assert is_shown([(inner, "text/plain", False)], [(outer, "text/*", False)])
        proof = certified([(inner, "text/plain", False)], [(outer, "**", False)])
        assert proof["parts"] == [{"in": [0], "except": [], "words": []}]

    @pytest.mark.parametrize(
        ("inner", "outer"),
        [
            ("/a", "/b"),
            ("/a*", "/a"),
            ("/a*", "/ab*"),
            ("/*", "/a*"),
            ("/**", "/*"),
            ("/a/**", "/a/*"),
            ("/a", "/a/**"),
            ("/**/a", "/*/a"),
            ("/*a", "/*a*a"),
            ("/**/a", "/**/*/a"),
            ("/{a,b}", "/a"),
            ("/{aa,ba}b", "/*a*b*b"),
            ("/{a,b/c}", "/*"),
            ("/a**b", "/**/a/b"),
        ],
    )
    def test_not_shown(self, inner: str, outer: str) -> None:
        a: oracle.Schema = [(inner, "text/plain", False)]
        b: oracle.Schema = [(outer, "text/*", False)]
        assert not is_shown(a, b)
        assert not is_shown([(None, *a[0][1:])], b)
        assert not is_shown(a, [(None, *b[0][1:])])

    def test_types(self) -> None:
        for inner, outer, shown in (
            ("text/plain", "TEXT/*", True),
            ("**", "*/*", True),
            ("*/*", "**", True),
            ("text/{plain,html}", "text/{html,*n}", True),
            ("application/{json,*+json}", "application/*json", True),
            ("text/*", "text/plain", False),
            ("text/*", "**/plain", False),
            ("text/{plain,html}", "text/plain", False),
        ):
            assert is_shown([(None, inner, False)], [(None, outer, False)]) is shown

    def test_several_boxes_share_the_expansions(self) -> None:
        a: oracle.Schema = [("/{a,b}", "text/{plain,html}", False)]
        b: oracle.Schema = [
            ("/a", "text/*", False), ("/*", "text/plain", False), ("/b", "*/html", False)
        ]  # fmt: skip
        assert is_shown(a, b)
        for place in range(3):
            assert not is_shown(a, b[:place] + b[place + 1 :])

    def test_too_many_expansions(self) -> None:
        a: oracle.Schema = [("/" + "{a,b}" * 10, "text/plain", False)]
        b: oracle.Schema = [("/*", "text/*", False)]
        assert not is_shown(a, b)
        assert is_shown(a, a)
        assert certified(a, b)["parts"][0]["words"]
        assert is_certified(a, b)
        assert not is_shown([("/" + "ab" * 5, "text/plain", False)], a)

    @pytest.mark.parametrize(
        ("inner", "outer"),
        [
            ("/" + "{a,b}" * 2_000, "/*"),
            ("/" + "{" * 2_000 + "a" + ",b}" * 2_000, "/*"),
            ("/{" + ",".join(["a" * 900] * 900) + "}", "/*" + "a*" * 400 + "b"),
            ("/a" * 3_000, "/**/a" * 3_000 + "/b"),
        ],
    )
    def test_the_work_is_bounded(self, inner: str, outer: str) -> None:
        a, b = [(inner, "*/*", False)], [(outer, "*/*", False)]
        sides = [[{"name": name, "contentType": kind} for name, kind, _ in side] for side in (a, b)]
        proof = by_texts([], []) | {
            "producer": schema_digest(sides[0]), "consumer": schema_digest(sides[1]),
            "parts": [{"in": [0], "except": [], "words": []}],
        }  # fmt: skip
        assert not verify(sides[0], sides[1], proof)

    @pytest.mark.dear
    def test_what_is_shown_is_true(self) -> None:
        """Brute force confirms each claim that the texts show."""
        rng = random.Random(5)
        shown = 0
        for _ in range(1_500):
            a, b = globs(rng) if rng.random() < 0.7 else dotted(rng)
            a, b = [(name, kind, False) for name, kind, _ in a][:1], b[:3]
            b = [(name, kind, False) for name, kind, _ in b]
            if is_shown(a, b):
                shown += 1
                assert oracle.decide(a, b).always, (a, b)
        assert shown > 200


def pigeons(names: int, parts: int) -> oracle.Schema:
    """Return required parts that no part of a body satisfies two of, and which share the names."""
    pattern = "/{" + ",".join(f"n{i}" for i in range(names)) + "}"
    return [(pattern, f"text/t{i}", True) for i in range(parts)]


class TestCounting:
    """Required parts that have fewer names than they are many."""

    @pytest.mark.parametrize("count", [6, 10, 40])
    def test_one_name_too_few(self, count: int) -> None:
        proof = certified(pigeons(count, count + 1), [])
        assert verify(MessageBodySchema(pigeons(count, count + 1)), MessageBodySchema([]), proof)
        assert len(proof["empty"]["crowd"]) == count + 1
        assert len(json.dumps(proof)) < 500 + 20 * count**2

    @pytest.mark.parametrize("count", [6, 10, 20])
    def test_no_name_left(self, count: int) -> None:
        a = [*pigeons(count, count), ("/n0", "image/png", False)]
        b: oracle.Schema = [("/*", "text/*", False), ("/n1", "text/*", True)]
        proof = certified(a, b)
        assert verify(MessageBodySchema(a), MessageBodySchema(b), proof)
        # Take a part away: a name is left, and the same words prove nothing.
        for place in range(count):
            sent = MessageBodySchema(
                [*a[:place], (a[place][0], a[place][1], False), *a[place + 1 :]]
            )
            forged = proof | {"producer": schema_digest(sent)}
            assert not verify(sent, MessageBodySchema(b), forged)

    @pytest.mark.parametrize(
        "forge",
        [
            {"crowd": [0, 1]},
            {"crowd": [0, 1, 1]},
            {"crowd": [0, 1, 3]},
            {"crowd": [0, 1, 4]},
            {"crowd": [0, 1, 5]},
            {"crowd": []},
            {"crowd": [], "names": {}, "words": []},
            {"crowd": [0, 1, 4], "words": []},
            {"names": {"/a": None}},
            {"names": {"/a": None, "/c": None}},
            {"names": {"/a": None, "/b/": None}},
            {"names": {"/a": None}, "taken": ["/b"]},
            {"names": {}, "taken": ["/a", "/b"]},
            {"words": []},
        ],
    )
    def test_forged(self, forge: dict[str, Any]) -> None:
        # Parts 0 and 1 have one name too many for them; 2 makes them a crowd, the others do not.
        a: oracle.Schema = [
            ("/{a,b}", "text/plain", True),
            ("/{a,b}", "text/html", True),
            ("/{a,b}", "text/csv", True),
            ("/{a,b}", "text/css", False),
            ("/{a,b}", "text/*", True),
            ("/{a,b,c}", "text/css", True),
        ]
        taken = MessageBodySchema([])
        proof = certified(a, [])
        assert proof["empty"]["crowd"] == [0, 1, 2]
        assert verify(MessageBodySchema(a), taken, proof)
        sent = MessageBodySchema([*a[:2], (a[2][0], a[2][1], False), *a[3:]])
        assert not check(sent, taken)
        for words in (proof["empty"]["words"], [[" text/"]] * 6, [["/a text/", "/b"]] * 3):
            tree = {**proof["empty"], "words": words, **forge}
            forged = proof | {"producer": schema_digest(sent), "empty": tree}
            assert not verify(sent, taken, forged)

    def test_what_is_avoided_at_one_name_is_not_at_another(self) -> None:
        kinds = [f"text/{{plain,{each}}}" for each in ("html", "csv", "css")]
        a: oracle.Schema = [("/{a,b}", kind, True) for kind in kinds]
        b: oracle.Schema = [("/*", "*/*", False), ("/{a,b}", "text/plain", True)]
        proof, sent = certified(a, b), MessageBodySchema(a)
        # For boxes with an end of words, all of these are a proof.
        types = [f" text/{each}" for each in ("plain", "html", "csv", "css")]
        every = [name + kind for name in ("/a", "/b") for kind in types]
        tree = proof["required"]["1"] | {"words": [every] * 3 + [types] * 3}
        proof["required"]["1"] = tree
        assert verify(sent, MessageBodySchema(b), proof)
        # One part, /b with text/plain, may satisfy all three here.
        b[1] = ("/a", "text/plain", True)
        assert not oracle.decide(a, b).always
        taken = MessageBodySchema(b)
        assert not verify(sent, taken, proof | {"consumer": schema_digest(taken)})

    def test_a_name_is_taken_only_by_what_is_there(self) -> None:
        sent, word = MessageBodySchema([("/b", "text/plain", True)]), "/b text/plain"
        for name, is_true in (("/b", True), ("/a", False)):
            taken = MessageBodySchema([(name, "text/plain", True), ("/*", "*/*", False)])
            head = {"rules": 1, "lenient": False, "names": []}
            head |= {"producer": schema_digest(sent), "consumer": schema_digest(taken)}
            parts = [{"in": [1], "except": [], "words": [word]}]
            tree = {"crowd": [0], "names": {}, "taken": ["/b"], "words": [[word], [word[2:]]]}
            proof = head | {"parts": parts, "required": {"0": tree}}
            assert verify(sent, taken, proof) is is_true

    @pytest.mark.dear
    def test_every_always_is_certified(self) -> None:
        pairs = [crowded(random.Random(seed)) for seed in range(400)]
        assert [(a, b) for a, b in pairs if not is_certified(a, b)] == []
        assert sum(bool(check(MessageBodySchema(a), MessageBodySchema(b))) for a, b in pairs) > 80

    @pytest.mark.dear
    def test_false_claims_are_never_proved(self) -> None:
        assert proved_wrongly(range(300), crowded) == []

    @pytest.mark.slow
    def test_false_claims_are_never_proved_at_length(self) -> None:
        assert proved_wrongly(range(300, 10_000), crowded) == []


class TestRandomPairs:
    @pytest.mark.dear
    def test_every_always_is_certified(self) -> None:
        assert uncertified(range(1500)) == []

    @pytest.mark.slow
    @pytest.mark.timeout(1200)
    def test_every_always_of_100_000_is_certified(self) -> None:
        assert uncertified(range(100_000)) == []

    @pytest.mark.dear
    def test_illegal_names(self) -> None:
        """Patterns that also match what ends in a slash, or is a dot or two."""
        pairs = [dotted(random.Random(seed)) for seed in range(1500)]
        assert [(a, b) for a, b in pairs if not is_certified(a, b)] == []
        assert sum(bool(check(MessageBodySchema(a), MessageBodySchema(b))) for a, b in pairs) > 250

    @pytest.mark.slow
    def test_illegal_names_at_length(self) -> None:
        pairs = (dotted(random.Random(seed)) for seed in range(1500, 50_000))
        assert [(a, b) for a, b in pairs if not is_certified(a, b)] == []

    def test_realistic_pairs(self) -> None:
        rng = random.Random(7)
        pairs = [plausible(rng) for _ in range(300)]
        assert [(a, b) for a, b in pairs if not is_certified(a, b)] == []

    @pytest.mark.dear
    def test_false_claims_are_never_proved(self) -> None:
        assert proved_wrongly(range(600)) == []
        assert proved_wrongly(range(300), dotted) == []

    @pytest.mark.slow
    def test_false_claims_are_never_proved_at_length(self) -> None:
        assert proved_wrongly(range(20_000)) == []


class TestWords:
    """Words prove everything, also what the texts would show."""

    @pytest.fixture(autouse=True)
    def without_texts(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        for module in (_certification, certificates):
            monkeypatch.setattr(module, "texts_show", lambda *_: False)
        _certification._proof.cache_clear()
        yield
        _certification._proof.cache_clear()

    @pytest.mark.parametrize(("a", "b"), PROVED)
    def test_each_way_to_prove(self, a: oracle.Schema, b: oracle.Schema) -> None:
        assert is_certified(a, b)

    @pytest.mark.dear
    @pytest.mark.parametrize("generate", [crowded, dotted, globs, plausible])
    def test_every_always_is_certified(self, generate: Generator) -> None:
        pairs = [generate(random.Random(seed)) for seed in range(300)]
        assert [(a, b) for a, b in pairs if not is_certified(a, b)] == []

    @pytest.mark.dear
    @pytest.mark.parametrize("generate", [crowded, dotted, globs])
    def test_false_claims_are_never_proved(self, generate: Generator) -> None:
        assert proved_wrongly(range(200), generate) == []


def uncertified(seeds: range) -> list[int]:
    return [seed for seed in seeds if not is_certified(*pair(seed))]


def is_certified(a: oracle.Schema, b: oracle.Schema) -> bool:
    sent, taken = MessageBodySchema(a), MessageBodySchema(b)
    answer = check(sent, taken)
    return not answer or verify(sent, taken, json.loads(json.dumps(answer.certificate)))


def proved_wrongly(
    seeds: range, generate: Generator | None = None
) -> list[tuple[oracle.Schema, oracle.Schema]]:
    """Return pairs of which a certificate convinces and brute force does not."""
    wrong = []
    for seed in seeds:
        a, b = generate(random.Random(seed)) if generate else pair(seed)
        proof = certified(a, b)
        if proof is None:
            continue
        rng = random.Random(seed)
        for _ in range(4):
            changed_a, changed_b, changed = mutated(a, b, proof, rng)
            sent, taken = MessageBodySchema(changed_a), MessageBodySchema(changed_b)
            # As an attacker would: the digests are those of the schemas.
            changed |= {"producer": schema_digest(sent), "consumer": schema_digest(taken)}
            if verify(sent, taken, changed) and not oracle.decide(changed_a, changed_b).always:
                wrong.append((changed_a, changed_b))
    return wrong


def mutated(
    a: oracle.Schema, b: oracle.Schema, proof: dict[str, Any], rng: random.Random
) -> tuple[oracle.Schema, oracle.Schema, dict[str, Any]]:
    """Return the pair and the proof with something left out or changed."""
    a, b, proof = list(a), list(b), copy.deepcopy(proof)
    for _ in range(rng.randint(1, 2)):
        kind = rng.randrange(6)
        if kind == 0 and b:
            b.pop(rng.randrange(len(b)))
        elif kind == 1 and a:
            place = rng.randrange(len(a))
            name, content_type, required = a[place]
            a[place] = rng.choice(
                [
                    (name, "*/*", required),
                    ("/**", content_type, required),
                    (name, content_type, False),
                ]
            )
        elif kind == 2 and b:
            place = rng.randrange(len(b))
            name, content_type, _ = b[place]
            b[place] = rng.choice([(name, content_type, True), (name, "text/plain", True)])
        else:
            mutate_proof(proof, rng)
    return a, b, proof


def mutate_proof(value: Any, rng: random.Random) -> None:
    """Leave out or change something within a JSON value."""
    places = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    if not places:
        return
    key, inner = rng.choice(places)
    if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
        mutate_proof(inner, rng)
    elif rng.random() < 0.5:
        del value[key]
    elif isinstance(inner, str):
        value[key] = inner[: rng.randint(0, len(inner))]
    elif isinstance(inner, int):
        value[key] = rng.randint(0, 3)
    else:
        value[key] = type(inner)()


class TestHostileCertificates:
    @given(st.recursive(
        st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
            st.sampled_from(["parts", "names", "required", "empty", "crowd", "taken", "words"]),
            inner, max_size=4,
        ),
        max_leaves=12,
    ))  # fmt: skip
    def test_anything_at_all(self, value: Any) -> None:
        sent, taken = MessageBodySchema([("/a",)]), MessageBodySchema([("/b",)])
        head: dict[str, Any] = {"rules": 1, "lenient": False}
        head |= {"producer": schema_digest(sent), "consumer": schema_digest(taken)}
        rest = value if isinstance(value, dict) else {"parts": value}
        assert verify(sent, taken, value) is False
        assert verify(sent, taken, head | rest) is False

    def test_deep_trees_end(self) -> None:
        sent, taken = MessageBodySchema([("/a", "*/*", True)]), MessageBodySchema([])
        tree: Any = None
        for _ in range(5000):
            tree = {"crowd": [0], "names": {"/a": tree}, "taken": [], "words": [["/a a/a"]]}
        proof = {"rules": 1, "lenient": False, "empty": tree}
        proof |= {"producer": schema_digest(sent), "consumer": schema_digest(taken)}
        assert not verify(sent, taken, proof)

    @pytest.mark.dear
    def test_long_words_end(self) -> None:
        a, b = PROVED[0]
        proof = certified(a, b)
        proof["parts"][0]["words"] = ["/sources/" + "a" * 300_000] * 100
        assert not verify(MessageBodySchema(a), MessageBodySchema(b), proof)


class TestPatterns:
    """The checker reads patterns by rules of its own; they are the rules of the dialect."""

    @given(st.lists(st.sampled_from(["/", "a", ".", "*", "**", "{", ",", "}", "/b"]), max_size=9),
           st.lists(st.sampled_from(["/", "a", "b", ".", "/a"]), max_size=6))  # fmt: skip
    def test_names(self, pattern: list[str], name: list[str]) -> None:
        text, word = "".join(pattern), "/" + "".join(name)
        try:
            expected = name_pattern(text).matches(word)
        except InvalidPattern:
            return
        legal = not any(segment in {"", ".", ".."} for segment in word[1:].split("/"))
        if legal:
            assert matches((text, "**"), word + " a/a") == expected

    @given(st.lists(st.sampled_from(["/", "A", "a", "+", "*", "**", "{", ",", "}"]), max_size=8),
           st.sampled_from(["a/a", "a+a/a", "aa/a+a", "b/a", "a/b"]))  # fmt: skip
    def test_types(self, pattern: list[str], kind: str) -> None:
        text = "".join(pattern)
        try:
            expected = content_type_pattern(text).matches_essence(kind)
        except InvalidPattern:
            return
        assert matches((None, text), " " + kind) == expected


def matches(box: tuple[str | None, str], word: str) -> bool:
    pattern = BoxPattern(box)
    places = pattern.start
    for character in word:
        places = pattern.read(places, character, lambda steps: None)
    return pattern.ends_at(places)
