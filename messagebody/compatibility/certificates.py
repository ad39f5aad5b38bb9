"""Certificates: proofs of an *always* that can be checked without trusting the decider.

`verify` reads two schemas and a certificate, and shares no code with the search that made the
certificate. It could be rewritten in another language from this docstring.

**Words.** The word of a part is its name (nothing for an unnamed part), a space, and its content
type in lower case. Legal words are those of legal names and types: a name is `/segment` one or more
times, a segment is one or more of `A-Z a-z 0-9 . _ -` and neither `.` nor `..`; a type is
`type/subtype`, each a letter or digit and then any of ``a-z 0-9 ! # $ & ^ _ . + -``. A schema part
is a *box*: the words whose name and whose type its two patterns match. So are some listed names:
the box with the pattern `{/a,/b}`, or `/a` for one, and any type.

**Patterns** mean the union of their brace expansions. `*` reads any run within a segment. In a name
pattern, `**` that is a whole segment reads any number of whole segments, none of them only if more
of the pattern follows; in a type pattern, `**` that is all of it reads any type. Any other run of
stars reads what `*` reads.

**Claims.** A claim says that each legal word in all of some boxes (`inside`) is in at least one of
some others (`covers`). Its proof is a list of words; with all their beginnings they form a set W.
Reading a word leaves a state: that of the legal words, and a set of places in each box. The proof
holds if W has the empty word, no word of W is legal and in all of `inside` and in none of
`covers`, and for each w in W and each character c there is a v in W that *stands for* wc: both
leave the same state of the legal words, wc leaves each box of `inside` at no place where v does
not, and v leaves each box of `covers` at no place where wc does not. By induction over its length,
some word of W stands for each word, so no legal word is in all of `inside` and in none of `covers`.

**Trees** show that no body is valid for the producer, avoids one box (`avoid`, if there is one),
and has, at some names, parts in some boxes and outside of others (the *bounds* at that name). A
tree is an object `{"crowd": [i, ...], "names": {name: tree, ...}, "taken": [name, ...], "words":
[proof, ...]}`. The crowd are required producer parts, of which each needs one of `names` for
itself. The claims are, in this order: for each i that its box is covered by `avoid` and the box of
`names` and `taken`; for each two, in the order of the list, that no type is in both boxes, or only
types in `avoid` if `avoid` matches all `names`; for each name in `taken` and each i whose box
matches it, that the types inside all bounds there and box i are covered by those it must be outside
of. If the crowd is larger than `names`, there is no such body. If not, it is one part, and for each
name that its box matches there is a tree for the case that it is there: its box is one more bound.

**The certificate** of producer A and consumer B is an object with the members `rules` (1),
`producer` and `consumer` (their digests), `lenient` (whether B ignores parts that it does not know)
and either `"empty": tree`, no body is valid for A, or

- `"parts"`: for each part of A `{"in": [j, ...], "except": [name, ...], "words": proof}`: its box
  is covered by these boxes of B and the box of the excepted names;
- `"names"`: `[i, name, tree]` for each excepted name: no body of A has a part there that is in box
  i and in no box of B;
- `"required"`: `{"j": tree}` for each required part of B: no body of A avoids box j.

The method is that of antichains (De Wulf, Doyen, Henzinger and Raskin, 2006).
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, Final, NamedTuple

RULES: Final = 1
"""The version of the rules above."""
DEFAULT_STEPS: Final = 2_000_000
"""How many places a check may look at in all; about a microsecond each."""

_ALNUM: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_NAME: Final = _ALNUM | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ._-")
_TYPE: Final = _ALNUM | frozenset("!#$&^_.+-")
# The states of legal words, and what each character leads to.
_IN_NAME: Final = dict.fromkeys(_NAME, "in")
_LEGAL: Final[dict[str, dict[str, str]]] = {
    "": {"/": "/", " ": " "},
    "/": _IN_NAME | {".": "."},
    ".": _IN_NAME | {".": ".."},
    "..": _IN_NAME,
    "in": _IN_NAME | {"/": "/", " ": " "},
    " ": dict.fromkeys(_ALNUM, "kind"),
    "kind": dict.fromkeys(_TYPE, "kind") | {"/": "kind/"},
    "kind/": dict.fromkeys(_ALNUM, "type"),
    "type": dict.fromkeys(_TYPE, "type"),
}
_COMPACT: Final = json.JSONEncoder(separators=(",", ":"))
# Trees come from strangers, and checking one recurses.
_DEEPEST: Final = 200
# Bounds what a hostile certificate makes a pattern remember.
_REMEMBERED: Final = 50_000
# Small letters and digits; capital letters; signs of names and types; signs of types. More of each
# than a place of a pattern spells, or a character of the kind is not needed.
_KINDS: Final = tuple(
    "".join(sorted(kind))
    for kind in (_ALNUM, _NAME - _TYPE, (_NAME & _TYPE) - _ALNUM - {"."}, _TYPE - _NAME)
)

Box = tuple[str | None, str]  # a name pattern, None for unnamed parts, and a type pattern
Places = frozenset[tuple[int, str]]
State = tuple[str | None, tuple[Places, ...]]  # of the legal words, and of each box of a claim
Claim = tuple[Sequence[Box], Sequence[Box]]  # inside, covers


class _Refused(Exception):
    """The certificate does not prove its claim."""


def verify(producer: Any, consumer: Any, certificate: Any, *, steps: int = DEFAULT_STEPS) -> bool:
    """Return whether a certificate proves that each body valid for `producer` is for `consumer`.

    False says that this certificate is not a proof, not that the claim is wrong. A certificate may
    come from anybody: whatever it holds, the work is bounded.

    Arguments:
        producer: the schema of what is sent, or its JSON value: a list of schema parts.
        consumer: the schema of what is taken, or its JSON value.
        certificate: a JSON value, from `check(..., certificate=True).certificate`.
        steps: how many places in patterns may be looked at in all.

    Examples:
        >>> from messagebody import MessageBodySchema, check
        >>> agent = MessageBodySchema([(None, "text/markdown", True)])
        >>> reader = MessageBodySchema([(None, "text/*")])
        >>> proof = check(agent, reader, certificate=True).certificate
        >>> verify(agent, reader, proof), verify(reader, agent, proof)
        (True, False)
    """
    try:
        _Verifier(producer, consumer, certificate, steps).run()
    except (_Refused, LookupError, TypeError, ValueError, AttributeError):
        return False
    return True


def schema_digest(schema: Any) -> str:
    """Return the digest by which a certificate names a schema.

    It is `"sha256:"` and the SHA-256 of the JSON array of `[name, contentType, required]` of each
    schema part, null for no name and `*/*` for no type, without spaces and in ASCII.
    """
    return boxes_digest(boxes_of(schema))


def boxes_digest(boxes: Iterable[tuple[Box, bool]]) -> str:
    """Return the digest of the schema with these boxes, each with whether it is required."""
    text = _COMPACT.encode([[*box, required] for box, required in boxes])
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def boxes_of(schema: Any) -> list[tuple[Box, bool]]:
    """Return the box of each schema part, and whether it is required."""
    value = schema.to_dicts() if hasattr(schema, "to_dicts") else schema
    parts = value["parts"] if isinstance(value, Mapping) else value
    return [
        ((part.get("name"), part.get("contentType") or "*/*"), bool(part.get("required")))
        for part in parts
    ]


class Case(NamedTuple):
    """What is assumed of a body, which a tree shows to be impossible.

    Arguments:
        avoided: boxes that no part is in.
        inside: by name, the boxes that the part of this name is in.
        outside: by name, the boxes that it is in none of.
    """

    avoided: Sequence[Box]
    inside: Mapping[str, Sequence[Box]]
    outside: Mapping[str, Sequence[Box]]

    def bounded(self, name: str, box: Box) -> "Case":
        """Return the case in which the part of this name is also in a box."""
        return self._replace(inside={**self.inside, name: [*self.inside.get(name, ()), box]})


class _Verifier:
    """The check of one certificate."""

    def __init__(self, producer: Any, consumer: Any, certificate: Any, steps: int) -> None:
        self._certificate, self._left = certificate, steps
        self._patterns: dict[Box, BoxPattern] = {}
        self._need(certificate["rules"] == RULES)
        self._sent, self._taken = boxes_of(producer), boxes_of(consumer)
        self._need(certificate["producer"] == boxes_digest(self._sent))
        self._need(certificate["consumer"] == boxes_digest(self._taken))
        if certificate["lenient"] is True:
            self._taken += [(("/**", "*/*"), False), ((None, "*/*"), False)]

    def run(self) -> None:
        """Check all of it."""
        if "empty" in self._certificate:
            self._check_tree(self._certificate["empty"], Case([], {}, {}))
            return
        # Every exception has to be shown impossible by a tree of its own.
        excepted = set(self._check_parts())
        for i, name, tree in self._certificate["names"]:
            excepted.discard((i, name))
            rivals = [box for box, _ in self._taken if self._matches(box, name)]
            self._check_tree(tree, Case([], {name: [self._sent[i][0]]}, {name: rivals}))
        self._need(not excepted)
        for j, (box, is_required) in enumerate(self._taken):
            if is_required:
                self._check_tree(self._certificate["required"][str(j)], Case([box], {}, {}))

    def _check_parts(self) -> Iterator[tuple[int, str]]:
        """Check that each part of the producer is covered; yield what is excepted."""
        claims = self._certificate["parts"]
        self._need(len(claims) == len(self._sent))
        for i, claim in enumerate(claims):
            box, names = self._sent[i][0], claim["except"]
            covers = [self._taken[j][0] for j in claim["in"]]
            self._check_claim([box], [*covers, *self._named(names)], claim["words"])
            yield from ((i, name) for name in names if self._matches(box, name))

    def _check_tree(self, tree: Any, case: Case, depth: int = 0) -> None:
        self._need(depth < _DEEPEST)
        # Only a required part is met in every body.
        self._need(all(self._sent[i][1] for i in tree["crowd"]))
        boxes, names = [self._sent[i][0] for i in tree["crowd"]], tree["names"]
        claims = self._claims(case, boxes, list(names), tree["taken"])
        for claim, words in zip(claims, tree["words"], strict=True):
            self._check_claim(*claim, words)
        if len(boxes) <= len(names):
            self._need(len(boxes) == 1)
            for name, subtree in names.items():
                if self._matches(boxes[0], name):
                    self._check_tree(subtree, case.bounded(name, boxes[0]), depth + 1)

    def _claims(
        self, case: Case, crowd: Sequence[Box], names: Sequence[str], taken: Sequence[str]
    ) -> Iterator[Claim]:
        """Yield the claims by which each of a crowd needs one of the names for itself."""
        for box in crowd:
            yield [box], [*case.avoided, *self._named([*names, *taken])]
        avoided = [box for box in case.avoided if all(self._matches(box, name) for name in names)]
        for pair in combinations(crowd, 2):
            yield _types(pair), _types(avoided)
        for name, box in product(taken, crowd):
            if self._matches(box, name):
                outside = [*case.outside.get(name, ()), *case.avoided]
                covers = _types(each for each in outside if self._matches(each, name))
                # All of these match the name, so only their types are in question.
                yield _types([*case.inside.get(name, ()), box]), covers

    def _check_claim(self, inside: Sequence[Box], covers: Sequence[Box], words: Any) -> None:
        patterns, many = [self._pattern(box) for box in (*inside, *covers)], len(inside)
        start: State = "", tuple(pattern.start for pattern in patterns)
        states = {start: None}
        for word in words:
            state = start
            for character in word:
                state = read(patterns, state, character, self._spend)
                states[state] = None
        standing: dict[str | None, list[tuple[Places, ...]]] = {}
        for legal, places in states:
            standing.setdefault(legal, []).append(places)
        for state in states:
            self._need(not is_hole(patterns, many, state))
            for _, after in moves(patterns, many, state, self._spend):
                if after not in states:
                    candidates = standing.get(after[0], ())
                    self._spend(len(candidates) * len(patterns))
                    self._need(any(stands_for(v, after[1], many) for v in candidates))

    def _named(self, names: Collection[str]) -> list[Box]:
        """Return the box of some names, as one pattern: no sign of patterns is legal in a name."""
        self._spend(sum(map(len, names)))
        self._need(all(map(_is_name, names)))
        return named(names)

    def _matches(self, box: Box, name: str) -> bool:
        self._spend(len(name))
        pattern = self._pattern((box[0], "**"))
        places = pattern.start
        for character in (*name, " "):
            places = pattern.read(places, character, self._spend)
        return bool(places)

    def _pattern(self, box: Box) -> "BoxPattern":
        if box not in self._patterns:
            self._patterns[box] = BoxPattern(box)
        return self._patterns[box]

    def _spend(self, steps: int) -> None:
        self._left -= steps
        self._need(self._left >= 0)

    def _need(self, condition: bool) -> None:
        if not condition:
            raise _Refused


def moves(
    patterns: "Sequence[BoxPattern]", many: int, state: State, spend: Callable[[int], None]
) -> Iterator[tuple[str, State]]:
    """Yield each kind of character, and the state after it, if all of `inside` can go on.

    What no pattern spells here, patterns and legal words treat alike, kind by kind. Without a star
    in a box of `inside` it can go on with what it spells only.
    """
    spelled = [pattern.spelled(places) for pattern, places in zip(patterns, state[1], strict=True)]
    characters = next((each for each in spelled[:many] if "*" not in each), None)
    if characters is None:
        told = frozenset("./ ").union(*spelled)
        characters = told | {c for kind in _KINDS for c in [x for x in kind if x not in told][:1]}
    for character in sorted(characters - {"*"}):
        after = read(patterns, state, character, spend)
        if after[0] is not None and all(after[1][:many]):
            yield character, after


def read(
    patterns: "Sequence[BoxPattern]", state: State, character: str, spend: Callable[[int], None]
) -> State:
    """Return the state after one more character."""
    spend(len(patterns))
    places = [p.read(at, character, spend) for p, at in zip(patterns, state[1], strict=True)]
    return _legal(state[0], character), tuple(places)


def named(names: Collection[str]) -> list[Box]:
    """Return the box of all parts with some names, none for no names."""
    pattern = ",".join(names)
    return [(f"{{{pattern}}}" if len(names) > 1 else pattern, "**")] if names else []


def _types(boxes: Iterable[Box]) -> list[Box]:
    return [(None, kind) for _, kind in boxes]


def is_hole(patterns: "Sequence[BoxPattern]", many: int, state: State) -> bool:
    """Return whether a legal word ends here that is in all of `inside` and not covered."""
    if state[0] != "type":
        return False
    ends = [pattern.ends_at(at) for pattern, at in zip(patterns, state[1], strict=True)]
    return all(ends[:many]) and not any(ends[many:])


def stands_for(v: tuple[Places, ...], there: tuple[Places, ...], many: int) -> bool:
    """Return whether the places of v are enough for those of another word."""
    return all(map(frozenset.issuperset, v[:many], there[:many])) and all(
        map(frozenset.issubset, v[many:], there[many:])
    )


def _is_name(text: str) -> bool:
    state: str | None = ""
    for character in text:
        state = None if character == " " else _legal(state, character)
    return state == "in"


def _legal(state: str | None, character: str) -> str | None:
    """Return the state of legal words after one more character; None where none begins so."""
    return None if state is None else _LEGAL[state].get(character)


class BoxPattern:
    """A box as one pattern, name and type with a space between; all expansions read at once.

    A place is a position and what has been read of its segment there: "s" nothing; "i" something,
    or a star that may read nothing; "g" whole segments by `**`, so that a slash or the end must
    follow; "z" none by `**`, so that a slash must follow, which is not read again; "l" a `**` that
    is not alone, so that a literal must follow; "m" and "t" are within those stars.
    """

    def __init__(self, box: Box) -> None:
        self._text = f"{box[0] or ''} {box[1].lower()}"
        self._space = len(box[0] or "")
        self._jumps: dict[int, list[int]] = {}
        self._read: dict[tuple[Places, str], Places] = {}
        self._spelled: dict[Places, frozenset[str]] = {}
        braces: list[list[int]] = []
        for position, character in enumerate(self._text):
            if character == "{":
                braces.append([position])
            elif character == ",":
                braces[-1].append(position)
            elif character == "}":
                start, *commas = braces.pop()
                self._jumps[start] = [start + 1, *(comma + 1 for comma in commas)]
                self._jumps.update((end, [position + 1]) for end in (*commas, position))
        self._special = {at for at, sign in enumerate(self._text) if sign in "{,}*/"}
        self.start = self._closure({(0, "s")})

    def ends_at(self, places: Places) -> bool:
        """Return whether some expansion ends here."""
        return any(position == len(self._text) and been in "ig" for position, been in places)

    def read(self, places: Places, character: str, spend: Any) -> Places:
        """Return the places after one more character."""
        if not places:
            return places
        # Other threads may read the same pattern: what is found is not looked up again.
        after = self._read.get((places, character))
        if after is None:
            spend(len(places))
            if len(self._read) > _REMEMBERED:
                self._read.clear()
                self._spelled.clear()
            moves = (self._move(*place, character) for place in places)
            after = self._closure({place for place in moves if place})
            self._read[places, character] = after
        return after

    def spelled(self, places: Places) -> frozenset[str]:
        """Return the characters that some expansion spells next, "*" for a star."""
        spelled = self._spelled.get(places)
        if spelled is None:
            found = {self._text[position : position + 1] for position, _ in places}
            spelled = self._spelled[places] = frozenset(found - {"", "{", ",", "}"})
        return spelled

    def _move(self, position: int, been: str, character: str) -> tuple[int, str] | None:
        spelled = self._text[position : position + 1]
        if spelled == "*" and character != " ":
            return (position, been) if been == "m" or (been in "it" and character != "/") else None
        if spelled != character or been not in ("sig" if character in "/ " else "sil"):
            return None
        is_start = character == " " or (character == "/" and position < self._space)
        return position + 1, "s" if is_start else "i"

    def _closure(self, places: set[tuple[int, str]]) -> Places:
        """Return places with all that can be reached from them without reading."""
        waiting = [place for place in places if place[0] in self._special]
        while waiting:
            new = set(self._free_moves(*waiting.pop())) - places
            places |= new
            waiting += new
        return frozenset(places)

    def _free_moves(self, position: int, been: str) -> Iterator[tuple[int, str]]:
        for jump in self._jumps.get(position, ()):
            yield jump, been
        sign = self._text[position : position + 1]
        if sign == "/" and been == "z":
            yield position + 1, "s"
        if sign != "*" or been not in "simt":
            return
        end = position
        while self._text[end : end + 1] == "*":
            end += 1
        if been != "s":
            yield end, {"i": "i", "m": "g", "t": "l"}[been]
        elif end - position != 2:
            yield position, "i"
        elif position < self._space:
            yield from ((position, "m"), (position, "t"), (end, "z"))
        else:
            yield from ((position, "m"), (position, "i"))
