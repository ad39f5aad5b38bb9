"""Certificates: proofs of an *always* that can be checked without trusting the solver.

`verify` reads two schemas and a certificate, and shares no code with the search that made the
certificate. This docstring is enough to rewrite it in another language.

**Words.** The word of a part is its name (empty for an unnamed part), a space, and its content type
in lower case. A word is legal if its name and type are legal: a name is `/segment` one or more
times, a segment is one or more of `A-Z a-z 0-9 . _ -` and neither `.` nor `..`; a type is
`type/subtype`, each a letter or digit and then any of ``a-z 0-9 ! # $ & ^ _ . + -``. A schema part
is a *box*: the set of words whose name and type match its two patterns. A list of names is a box,
too: its name pattern is `{/a,/b}`, or `/a` for one name, and it accepts any type.

**Contents.** A part with a `contentSchema` accepts only JSON types, `{application/json,*/*+json}`,
and contents that the schema accepts. So where a producer part has one, claims about its box have
the box of its name and these types in `inside`, too. A box of the consumer that has one proves
nothing by itself: `contents` says for which of them it is proved that every content of the producer
part is accepted, and `_content_proofs` says how: the case is that its schema is met, and theirs are
not.

**Patterns** mean the union of their brace expansions. `*` matches any run of characters within a
segment. In a name pattern, `**` as a whole segment matches any number of whole segments, but zero
only if more of the pattern follows. In a type pattern, `**` as the whole pattern matches any type.
Any other run of stars matches the same as `*`.

**Claims.** A claim says that each legal word in all boxes of a list (`inside`) is in at least one
box of another list (`covers`). Its proof is a list of words, which may be empty if the texts of the
patterns show the claim.

*Texts* show a claim about a single box `inside`, or the first of two of which the second has the
types of JSON, if, for each expansion of its name pattern and each
of its type pattern, some box in `covers` has two expansions that match them as if they were a name
and a type: a star in the text is one more character, which only a star matches, and only `**`
matches a segment `**`. For this, the type pattern `**` is read as `*/*`, and `/**` at the end of a
name pattern as `/**/*`. A pattern with more than 1,000 expansions matches only the same pattern.

*Words*, together with all their prefixes, form a set W. Reading a word leads to a state of the
automaton of legal words and to a set of places in each box. The proof is valid if

- W contains the empty word,
- no word of W is legal, in all boxes of `inside`, and in no box of `covers`, and
- for each w in W and each character c, W contains a word v that *stands for* wc, unless wc is not a
  prefix of a legal word or leads to no place in some box of `inside`.

v stands for wc if v leads to each place in boxes of `inside` that wc leads to, wc leads to each
place in boxes of `covers` that v leads to, and what makes wc legal makes v legal: both lead to the
same state of legal words, or wc to the start of a segment or to one of only `.` or `..`, and v to a
segment that is already legal. By induction over their length, every word but these exceptions has a
word in W that stands for it, so no legal word is in all boxes of `inside` and in no box of
`covers`.

**Trees** prove that no body is valid for the producer, avoids one box (`avoid`, if there is one),
and has, at certain names, parts in certain boxes and outside others (the *bounds* at that name). A
tree is an object `{"crowd": [i, ...], "names": {name: tree, ...}, "taken": [name, ...], "words":
[proof, ...]}`. The crowd is a list of required producer parts, each of which needs one of `names`
for itself. The claims are, in this order:

- for each i: its box is covered by `avoid` and the box of `names` and `taken`;
- for each pair, in the order of the list: no type is in both boxes, except types in `avoid` if
  `avoid` matches all `names`;
- for each name in `taken` and each i whose box matches it: the types inside all bounds there and in
  box i are covered by the boxes that a part of this name must avoid.

If the crowd is larger than `names`, no such body exists. Otherwise the crowd is a single part, and
for each of `names` that its box matches there is a tree for the case that the part has this name:
its box is one more bound.

**The certificate** of producer A and consumer B is an object with the members `rules` (1),
`producer` and `consumer` (their digests), `lenient` (whether B ignores parts that it does not know)
and either `"empty": tree`, no body is valid for A, or

- `"parts"`: for each part of A `{"in": [j, ...], "except": [name, ...], "words": proof}`: its box
  is covered by these boxes of B and the box of the excepted names. Those of B with a
  `contentSchema` have a content proof each in `"contents": {"j": proof}`. Or
  `{"in": [j, ...], "union": content proof, "words": [proof, ...]}`: its box is covered by each of
  these boxes alone, and its contents are accepted by one or another;
- `"names"`: `[i, name, tree]` for each excepted name: no body of A has a part of this name that is
  in box i and in no box of B without a `contentSchema`;
- `"required"`: `{"j": tree}` for each required part of B: no body of A avoids box j. If that has a
  `contentSchema`, the crowd is one part and there are no names, and `"contents"` in the tree is the
  content proof of that part.

The method is that of antichains (De Wulf, Doyen, Henzinger and Raskin, 2006).
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from messagebody.schema import ContentSchema

RULES: Final = 1
"""The version of the rules above."""
DEFAULT_STEPS: Final = 2_000_000
"""The number of places that a check may read; each takes about a microsecond."""

_ALNUM: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_NAME: Final = _ALNUM | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ._-")
_TYPE: Final = _ALNUM | frozenset("!#$&^_.+-")
# The automaton of legal words: for each state, the next state by character.
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
    "illegal": {},
}
# What makes a word legal after one of these states makes it legal after "in".
_BEGUN: Final = frozenset({"/", ".", ".."})
# For each state, its characters in lists that lead to one state, those to "in" first.
_ALIKE: Final = {
    state: [
        sorted(character for character, after in moves.items() if after == target)
        for target in sorted(dict.fromkeys(moves.values()), key="in".__ne__)
    ]
    for state, moves in _LEGAL.items()
}
_encode: Final = json.JSONEncoder().encode
# Certificates are untrusted, and checking a tree recurses.
_DEEPEST: Final = 200
# Bounds the cache of each pattern, which a hostile certificate could fill.
_MOST_CACHED: Final = 50_000
# Bounds the work on a pattern, whose braces may have any number of expansions.
_MOST_EXPANSIONS: Final = 1_000
_INNERMOST: Final = re.compile(r"\{([^{}]*)\}")

JSON_TYPES: Final = "{application/json,*/*+json}"
"""The types of parts that can have a content schema."""

Box = tuple[str | None, str]  # a name pattern, None for unnamed parts, and a type pattern
Places = frozenset[tuple[int, str]]
State = tuple[str, tuple[Places, ...]]  # of legal words, and in each box of a claim
Claim = tuple[Sequence[Box], Sequence[Box]]  # inside, covers

IGNORED_BOXES: Final = ((("/**", "*/*"), False), ((None, "*/*"), False))
"""What a lenient consumer accepts besides, after its parts: anything."""


class _Refused(Exception):
    """The certificate does not prove its claim."""


def verify(producer: Any, consumer: Any, certificate: Any, *, steps: int = DEFAULT_STEPS) -> bool:
    """Return whether a certificate proves that `consumer` accepts each body valid for `producer`.

    False means that this certificate is not a proof, not that the claim is wrong. Certificates may
    be untrusted: the work is bounded for every input.

    Arguments:
        producer: the schema of the bodies that are sent, or its JSON value, a list of schema parts.
        consumer: the schema of the bodies that are accepted, or its JSON value.
        certificate: a JSON value, from `check(..., certificate=True).certificate`.
        steps: the number of places in patterns that may be read.

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
    """Return the digest that identifies a schema in a certificate.

    It is `"sha256:"` and the SHA-256 of a JSON array with `[name, contentType, required]` for each
    schema part, null without a name and `*/*` without a type, written without spaces and in ASCII.
    A `contentSchema` is a fourth value, its members in alphabetical order.
    """
    parts = _parts_of(schema)
    return boxes_digest(boxes_of(parts), contents_of(parts))


def boxes_digest(
    boxes: Iterable[tuple[Box, bool]], contents: "Iterable[ContentSchema | None]"
) -> str:
    """Return the digest of the schema with these boxes, each with whether it is required.

    Arguments:
        boxes: the boxes.
        contents: for each box, what is inside, None if the schema does not say it.
    """
    # Only the texts are encoded, because encoding the whole array takes twice as long.
    parts = [
        f"[{'null' if name is None else _encode(name)},{_encode(kind)},"
        f"{'true' if required else 'false'}{'' if content is None else ',' + content.canonical}]"
        for ((name, kind), required), content in zip(boxes, contents, strict=True)
    ]
    return "sha256:" + hashlib.sha256(f"[{','.join(parts)}]".encode()).hexdigest()


def boxes_of(schema: Any) -> list[tuple[Box, bool]]:
    """Return the box of each schema part, and whether it is required."""
    return [
        ((part.get("name"), part.get("contentType") or "*/*"), bool(part.get("required")))
        for part in _parts_of(schema)
    ]


def contents_of(schema: Any) -> "list[ContentSchema | None]":
    """Return for each schema part what is inside, None if it does not say it."""
    found = (part.get("contentSchema") for part in _parts_of(schema))
    return [None if content is None else _content(content) for content in found]


def _content(value: Any) -> "ContentSchema":
    # Few schemas say what is inside, and reading that takes a library.
    from messagebody.schema import content_schema_of

    return content_schema_of(value)


def _parts_of(schema: Any) -> Any:
    value = schema.to_dicts() if hasattr(schema, "to_dicts") else schema
    return value["parts"] if isinstance(value, Mapping) else value


class Case(NamedTuple):
    """Assumptions about a body that a tree proves to be impossible.

    Arguments:
        avoided: boxes without any part of the body.
        inside: for each name, the boxes that contain the part of this name.
        outside: for each name, the boxes that do not contain it.
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
        senders, takers = _parts_of(producer), _parts_of(consumer)
        self._sent, self._taken = boxes_of(senders), boxes_of(takers)
        self._sends, self._takes = contents_of(senders), contents_of(takers)
        self._need(certificate["producer"] == boxes_digest(self._sent, self._sends))
        self._need(certificate["consumer"] == boxes_digest(self._taken, self._takes))
        if certificate["lenient"] is True:
            self._taken += IGNORED_BOXES
            self._takes += [None] * len(IGNORED_BOXES)

    def run(self) -> None:
        """Check the whole certificate."""
        if "empty" in self._certificate:
            self._check_tree(self._certificate["empty"], Case([], {}, {}))
            return
        # For each exception, a tree has to prove that it is impossible.
        excepted = set(self._check_parts())
        for i, name, tree in self._certificate["names"]:
            excepted.discard((i, name))
            rivals = [
                box
                for (box, _), content in zip(self._taken, self._takes, strict=True)
                if content is None and self._matches(box, name)
            ]
            self._check_tree(tree, Case([], {name: [self._sent[i][0]]}, {name: rivals}))
        self._need(not excepted)
        for j, (box, is_required) in enumerate(self._taken):
            if is_required:
                tree = self._certificate["required"][str(j)]
                self._check_tree(tree, Case([box], {}, {}))
                if self._takes[j] is not None:
                    # The tree is about names and types. What that part holds is proved apart.
                    self._need(len(tree["crowd"]) == 1 and not tree["names"] and not tree["taken"])
                    self._check_contents(tree["crowd"][0], [j], tree["contents"])

    def _check_parts(self) -> Iterator[tuple[int, str]]:
        """Check that each producer part is covered; yield the exceptions."""
        claims = self._certificate["parts"]
        self._need(len(claims) == len(self._sent))
        for i, claim in enumerate(claims):
            inside = inside_of(self._sent[i][0], self._sends[i])
            covers = [self._taken[j][0] for j in claim["in"]]
            if "union" in claim:
                for box, words in zip(covers, claim["words"], strict=True):
                    self._check_claim(inside, [box], words)
                self._check_contents(i, claim["in"], claim["union"])
                continue
            for j in claim["in"]:
                if self._takes[j] is not None:
                    self._check_contents(i, [j], claim["contents"][str(j)])
            names = claim["except"]
            self._check_claim(inside, [*covers, *self._named(names)], claim["words"])
            yield from ((i, name) for name in names if self._matches(inside[0], name))

    def _check_contents(self, i: int, covers: Sequence[int], proof: Any) -> None:
        """Check that what part i holds is accepted by one or another of some consumer parts."""
        from messagebody.compatibility._content_choices import NoProof
        from messagebody.compatibility._content_proofs import case_of, verify_contents

        met, unmet = [self._sends[i]], [self._takes[j] for j in covers]
        self._need(None not in met and None not in unmet)
        case = case_of([each.exact for each in met if each], [each.exact for each in unmet if each])
        try:
            verify_contents(case, proof, self._spend)
        except NoProof as error:
            raise _Refused from error

    def _check_tree(self, tree: Any, case: Case, depth: int = 0) -> None:
        self._need(depth < _DEEPEST)
        # Only required parts are met in every body.
        self._need(all(self._sent[i][1] for i in tree["crowd"]))
        crowd = [inside_of(self._sent[i][0], self._sends[i]) for i in tree["crowd"]]
        boxes, names = [inside[0] for inside in crowd], tree["names"]
        claims = self._claims(case, crowd, list(names), tree["taken"])
        for claim, words in zip(claims, tree["words"], strict=True):
            self._check_claim(*claim, words)
        if len(boxes) <= len(names):
            self._need(len(boxes) == 1)
            for name, subtree in names.items():
                if self._matches(boxes[0], name):
                    self._check_tree(subtree, case.bounded(name, boxes[0]), depth + 1)

    def _claims(
        self, case: Case, crowd: Sequence[Sequence[Box]], names: Sequence[str], taken: Sequence[str]
    ) -> Iterator[Claim]:
        """Yield the claims which prove that each part of a crowd needs a name for itself."""
        boxes = [inside[0] for inside in crowd]
        for inside in crowd:
            yield inside, [*case.avoided, *self._named([*names, *taken])]
        avoided = [box for box in case.avoided if all(self._matches(box, name) for name in names)]
        for pair in combinations(boxes, 2):
            yield _types(pair), _types(avoided)
        for name, box in product(taken, boxes):
            if self._matches(box, name):
                outside = [*case.outside.get(name, ()), *case.avoided]
                covers = _types(each for each in outside if self._matches(each, name))
                # All these boxes match the name, so only their types matter.
                yield _types([*case.inside.get(name, ()), box]), covers

    def _check_claim(self, inside: Sequence[Box], covers: Sequence[Box], words: Any) -> None:
        if not words and texts_show(inside, covers, self._spend):
            return
        patterns, inside_count = [self._pattern(box) for box in (*inside, *covers)], len(inside)
        start: State = "", tuple(pattern.start for pattern in patterns)
        states = {start: None}
        for word in words:
            state = start
            for character in word:
                state = read(patterns, state, character, self._spend)
                states[state] = None
        by_state: dict[str, list[tuple[Places, ...]]] = {}
        for legal, places in states:
            by_state.setdefault(legal, []).append(places)
        for state in states:
            self._need(not is_hole(patterns, inside_count, state))
            for _, after in moves(patterns, inside_count, state, self._spend):
                if after not in states:
                    candidates = [v for legal in freer(after[0]) for v in by_state.get(legal, ())]
                    self._spend(len(candidates) * len(patterns))
                    self._need(any(stands_for(v, after[1], inside_count) for v in candidates))

    def _named(self, names: Collection[str]) -> list[Box]:
        """Return the box of some legal names, which contain no special characters of patterns."""
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
    patterns: "Sequence[BoxPattern]", inside_count: int, state: State, spend: Callable[[int], None]
) -> Iterator[tuple[str, State]]:
    """Yield each kind of character, and the state after it, if all of `inside` can continue.

    Characters that lead to the same state of legal words are of one kind if no pattern spells them
    here. If a box of `inside` has no star here, only the characters that it spells can follow.
    """
    spelled = [pattern.spelled(places) for pattern, places in zip(patterns, state[1], strict=True)]
    without_star = [each for each in spelled[:inside_count] if "*" not in each]
    characters: Iterable[str]
    if without_star:
        characters = sorted(without_star[0])
    else:
        known = frozenset[str]().union(*spelled)
        others = [next((c for c in alike if c not in known), "") for alike in _ALIKE[state[0]]]
        characters = dict.fromkeys([*others, *sorted(known)])
    for character in characters:
        if character in _LEGAL[state[0]]:
            after = read(patterns, state, character, spend)
            if all(after[1][:inside_count]):
                yield character, after


def read(
    patterns: "Sequence[BoxPattern]", state: State, character: str, spend: Callable[[int], None]
) -> State:
    """Return the state after one more character."""
    spend(len(patterns))
    places = [p.read(at, character, spend) for p, at in zip(patterns, state[1], strict=True)]
    return _legal(state[0], character), tuple(places)


def freer(legal: str) -> tuple[str, ...]:
    """Return the states of legal words after which the same may follow, or more."""
    return (legal, "in") if legal in _BEGUN else (legal,)


def named(names: Collection[str]) -> list[Box]:
    """Return the box of all parts with these names, in a list; an empty list for no names."""
    pattern = ",".join(names)
    return [(f"{{{pattern}}}" if len(names) > 1 else pattern, "**")] if names else []


def _types(boxes: Iterable[Box]) -> list[Box]:
    return [(None, kind) for _, kind in boxes]


def inside_of(box: Box, content: "ContentSchema | None") -> list[Box]:
    """Return the boxes that each word of a producer part is in."""
    return [box] if content is None else [box, (box[0], JSON_TYPES)]


def is_hole(patterns: "Sequence[BoxPattern]", inside_count: int, state: State) -> bool:
    """Return whether a legal word ends here that is in all of `inside` but not covered."""
    if state[0] != "type":
        return False
    ends = [pattern.ends_at(at) for pattern, at in zip(patterns, state[1], strict=True)]
    return all(ends[:inside_count]) and not any(ends[inside_count:])


def stands_for(v: tuple[Places, ...], other: tuple[Places, ...], inside_count: int) -> bool:
    """Return whether a word with the places v stands for a word with other places."""
    return all(map(frozenset.issuperset, v[:inside_count], other[:inside_count])) and all(
        map(frozenset.issubset, v[inside_count:], other[inside_count:])
    )


def _is_name(text: str) -> bool:
    state = ""
    for character in text:
        state = _legal(state, character)
    return state == "in"


def _legal(state: str, character: str) -> str:
    """Return the state of legal words after one more character."""
    return _LEGAL[state].get(character, "illegal")


def texts_show(inside: Sequence[Box], covers: Sequence[Box], spend: Callable[[int], None]) -> bool:
    """Return whether each pair of expansions of a box matches one of `covers` as a text."""
    if len(inside) != 1 and not (len(inside) == 2 and inside[1][1] == JSON_TYPES):
        return False
    name, kind = inside[0]
    by_name = _matching(name or "", [name or "" for name, _ in covers], _name_segments, spend)
    by_kind = _matching(kind.lower(), [kind.lower() for _, kind in covers], _type_segments, spend)
    spend(len(by_name) * len(by_kind))
    return all(named & typed for named in by_name for typed in by_kind)


def _matching(
    pattern: str,
    others: Sequence[str],
    segments: Callable[[str], list[str]],
    spend: Callable[[int], None],
) -> set[frozenset[int]]:
    """Return for each expansion of a pattern the numbers of the others that match it as a text."""
    same = frozenset([j for j, other in enumerate(others) if other == pattern])
    texts = _expansions(pattern, spend)
    if len(same) == len(others) or not texts:
        return {same}
    globs = [
        (j, segments(glob))
        for j, other in enumerate(others)
        if j not in same
        for glob in _expansions(other, spend)
    ]
    return {
        same.union([j for j, glob in globs if _matches_text(glob, text, spend)])
        for text in map(segments, texts)
    }


def _expansions(pattern: str, spend: Callable[[int], None]) -> list[str]:
    """Return the brace expansions of a pattern; none if there are too many."""
    expanded, waiting = [], [pattern]
    while waiting:
        text = waiting.pop()
        spend(1 + len(text) // 16)
        brace = _INNERMOST.search(text)
        if brace is None:
            expanded.append(text)
        else:
            before, after = text[: brace.start()], text[brace.end() :]
            waiting += [before + each + after for each in brace[1].split(",")]
        if len(expanded) + len(waiting) > _MOST_EXPANSIONS:
            return []
    return expanded


def _name_segments(text: str) -> list[str]:
    segments = text.split("/")
    return [*segments, "*"] if segments[-1] == "**" else segments


def _type_segments(text: str) -> list[str]:
    if text == "**":
        return ["*", "*"]
    return ["*" if segment == "**" else segment for segment in text.split("/")]


def _matches_text(glob: list[str], text: list[str], spend: Callable[[int], None]) -> bool:
    """Return whether the segments of a pattern match those of another one as a text."""
    spend(len(glob) * len(text))
    place = at = 0
    # After the last `**`, the place in the pattern and the first segment that it may leave over.
    resume: tuple[int, int] | None = None
    while at < len(text):
        if place < len(glob) and glob[place] == "**":
            place += 1
            resume = place, at
        elif place < len(glob) and _matches_segment(glob[place], text[at]):
            place, at = place + 1, at + 1
        elif resume:
            place, at = resume[0], resume[1] + 1
            resume = place, at
        else:
            return False
    return all(segment == "**" for segment in glob[place:])


def _matches_segment(glob: str, text: str) -> bool:
    if text == "**":
        return False
    first, *rest = glob.split("*")
    if not rest:
        return glob == text
    at, end = len(first), len(text) - len(rest[-1])
    if at > end or not text.startswith(first) or not text.endswith(rest[-1]):
        return False
    # The first occurrence of each piece leaves the most text for the next one.
    for piece in rest[:-1]:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


class BoxPattern:
    """A box as one pattern, name and type separated by a space; reads all expansions at once.

    A place is a position in the pattern and a mark for the text read in the segment there. "s": no
    text; "i": some text, or a star that may match nothing; "g": whole segments matched by `**`, so
    that a slash or the end must follow; "z": no segment matched by `**`, so that a slash must
    follow in the pattern and is skipped; "l": a `**` with more in its segment, so that a literal
    must follow; "m" and "t": inside a star of the kind "g" or "l".
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
        return any(position == len(self._text) and mark in "ig" for position, mark in places)

    def read(self, places: Places, character: str, spend: Any) -> Places:
        """Return the places after one more character."""
        if not places:
            return places
        # One look-up only, because another thread may clear the cache in between.
        after = self._read.get((places, character))
        if after is None:
            spend(len(places))
            if len(self._read) > _MOST_CACHED:
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

    def _move(self, position: int, mark: str, character: str) -> tuple[int, str] | None:
        spelled = self._text[position : position + 1]
        if spelled == "*" and character != " ":
            return (position, mark) if mark == "m" or (mark in "it" and character != "/") else None
        if spelled != character or mark not in ("sig" if character in "/ " else "sil"):
            return None
        is_start = character == " " or (character == "/" and position < self._space)
        return position + 1, "s" if is_start else "i"

    def _closure(self, places: set[tuple[int, str]]) -> Places:
        """Return the places and all places that are reachable from them without reading."""
        waiting = [place for place in places if place[0] in self._special]
        while waiting:
            new = set(self._free_moves(*waiting.pop())) - places
            places |= new
            waiting += new
        return frozenset(places)

    def _free_moves(self, position: int, mark: str) -> Iterator[tuple[int, str]]:
        for jump in self._jumps.get(position, ()):
            yield jump, mark
        sign = self._text[position : position + 1]
        if sign == "/" and mark == "z":
            yield position + 1, "s"
        if sign != "*" or mark not in "simt":
            return
        end = position
        while self._text[end : end + 1] == "*":
            end += 1
        if mark != "s":
            yield end, {"i": "i", "m": "g", "t": "l"}[mark]
        elif end - position != 2:
            yield position, "i"
        elif position < self._space:
            yield from ((position, "m"), (position, "t"), (end, "z"))
        else:
            yield from ((position, "m"), (position, "i"))
