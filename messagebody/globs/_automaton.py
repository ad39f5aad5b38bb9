"""Exact automata of patterns, without epsilon moves and without brace expansion.

A pattern becomes its position automaton (Glushkov 1961), run on bitsets (Navarro and Raffinot,
2004). A state is a place of the pattern; all moves into a state read the characters of that
state's label. Most states are entered only from the state before them, so one shift moves them all;
in long patterns, a shift for each short distance moves those at stars and small braces too. The
others are entered in groups with the same sources.

The language is exactly the *legal* names (or content types) that the pattern matches. The states
record whether a segment is empty, "." or ".." so far, so an automaton accepts nothing illegal, and
two automata can be compared without further rules. States that cannot reach acceptance are left out
of every step, so a set of states is empty as soon as nothing can match any more.
"""

import string
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import Final, NamedTuple

import attrs

from messagebody.globs._syntax import Syntax, fold

_ALNUM: Final = frozenset(string.ascii_lowercase + string.digits)
_NAME: Final = frozenset(string.ascii_letters + string.digits + "._-")
_TYPE: Final = _ALNUM | frozenset("!#$&^_.+-")
_DOT: Final = frozenset(".")
_SLASH: Final = frozenset("/")
_NAME_BUT_DOT: Final = _NAME - _DOT

NAME_ALPHABET: Final = _NAME | _SLASH
"""The 65 characters of name segments, and "/"."""
TYPE_ALPHABET: Final = _TYPE | _SLASH
"""The RFC 6838 restricted-name characters in lower case, and "/"."""

States = int
"""A set of states of one automaton, a bit for each."""

_SMALL: Final = 512
"""Up to this number of states, all groups are compared, because choosing some would be slower."""
_NEAR: Final = 16
"""In larger automata, moves over at most this number of states are shifts and not groups.

Those of a globstar go back by 4 and forward by 11.
"""
_FULL_BITS: Final = 1 << 25
"""Up to this number of bits in all groups, sets are not shifted down, which saves the shifts."""
_BITS_OF_A_STEP: Final = 4096
"""The number of states in one comparison."""
# Bounded, because strangers choose the words, and so the sets of states.
_CACHED_BITS: Final = 1 << 22  # of remembered state sets in one automaton: at most 512 KiB


class _Group(NamedTuple):
    """States that are entered from the same sources; both sets are shifted down."""

    source_shift: int
    sources: States
    entered_shift: int
    entered: States


_first = itemgetter(0)


def _first_source(group: _Group) -> int:
    return group.source_shift + _lowest(group.sources)


def _end(group: _Group) -> int:
    return group.source_shift + group.sources.bit_length()


class Automaton:
    """A non-deterministic automaton without epsilon moves, run on sets of states.

    A set of states is an int, bit `q` for state `q`. The set 0 is empty: nothing matches any more.

    Attributes:
        alphabet: every character a word can hold.
        size: number of states; a state is a number from 0 to `size - 1`.
        start: the set of start states: state 0, or empty if the language is empty.
        accepting: the set of accepting states; never state 0.
        labels: by state, the characters that every move into it reads (empty for state 0).
        literals: the distinguished characters; all others of the alphabet lead to the same states.
    """

    __slots__ = (
        "_cached_bits", "_chained", "_firsts", "_groups", "_near", "_reach", "_reading", "_rows",
        "accepting", "alphabet", "labels", "literals", "size", "start",
    )  # fmt: skip

    def __init__(self, builder: "_Builder", accepting: States) -> None:
        # Only states that can reach acceptance, so that the empty set means "no match".
        live = builder.live(accepting)
        self.alphabet: frozenset[str] = builder.alphabet
        self.size: int = len(builder.labels)
        self.start: States = live & 1
        self.accepting: States = accepting & live
        self.labels: tuple[frozenset[str], ...] = tuple(builder.labels)
        self.literals: frozenset[str] = _distinguished(set(builder.labels), self.alphabet)
        self._chained, self._near, groups = builder.moves(live)
        # Sorted by their sources, so that a step over few states checks few groups.
        ordered = sorted(((_first_source(group), group) for group in groups), key=_first)
        self._groups = tuple([group for _, group in ordered])
        self._firsts = [first for first, _ in ordered]
        # A bound for all groups, because they are sorted by their first source, not by their last.
        self._reach: int = max((_end(group) - first for first, group in ordered), default=0)
        self._reading = _readers(self.labels, live, self.literals, self.alphabet)
        self._rows = self._empty_rows()
        self._cached_bits = 0

    def step(self, states: States, character: str) -> States:
        """Return the states after reading one character of the alphabet.

        A character outside the alphabet leads to the empty set. Results are remembered in bounded
        memory, so that running over many words takes one look-up per character.
        """
        row = self._rows.get(character)
        if row is None:
            return 0
        after = row.get(states)
        if after is None:
            after = self.move(states, character)
            self._remember(row, states, after)
        return after

    def move(self, states: States, character: str) -> int:
        """Return the same as `step` without remembering it, for callers that remember results."""
        if character not in self.alphabet:
            return 0
        # "" stands for all characters that are not distinguished.
        symbol = character if character in self.literals else ""
        return self._targets(states) & self._reading[symbol]

    def row(self, states: States) -> dict[str, States]:
        """Return the states after each distinguished character, at "" those after all others."""
        # Where the states lead does not depend on the character.
        targets = self._targets(states)
        return {symbol: targets & reading for symbol, reading in self._reading.items()}

    def run(self, states: States, word: str) -> States:
        """Return the states after reading a word."""
        for character in word:
            states = self.step(states, character)
            if not states:
                break
        return states

    def accepts(self, word: str) -> bool:
        """Return whether a word is in the language."""
        return bool(self.run(self.start, word) & self.accepting)

    def successors(self, state: int) -> States:
        """Return the states that one move leads to from one state, over all characters."""
        return self._targets(1 << state)

    @property
    def is_infinite(self) -> bool:
        """Return whether the language is infinite, because a state can be reached again.

        States are numbered in the order of the pattern, and each is on the path of some word. So
        there is a cycle exactly if some move does not go forward.
        """
        return any(distance <= 0 for distance, _ in self._near) or any(
            group.source_shift + group.sources.bit_length()
            > group.entered_shift + _lowest(group.entered)
            for group in self._groups
        )

    def step_cost(self, states: States) -> int:
        """Return the number of comparisons for moving a set of states by one character."""
        first, last = self._span(states)
        return (len(self._near) + last - first) * (1 + self.size // _BITS_OF_A_STEP)

    def row_cost(self, states: States) -> int:
        """Return the number of comparisons for moving a set of states by all characters."""
        characters = len(self.literals) * (1 + self.size // _BITS_OF_A_STEP)
        return self.step_cost(states) + characters

    def distances(self) -> list[int]:
        """Return for each state how many characters the nearest word still needs.

        The search is breadth first, against the moves. A state is entered from near ones or by one
        group, and the first state found in a group is the nearest, so each group is followed once.
        """
        distances = [self.size + 1] * self.size
        group_of = {
            state: group
            for group in self._groups
            for state in _members(group.entered, group.entered_shift)
        }
        queue = _members(self.accepting)
        for state in queue:
            distances[state] = 0
        # Visited states are removed by one set operation: groups of a long pattern share sources.
        unmet = ((1 << self.size) - 1) & ~self.accepting
        followed: set[int] = set()
        for state in queue:
            group = group_of.get(state)
            if group is None:
                sources = self._sources_near(state) & unmet
            elif id(group) in followed:
                continue
            else:
                followed.add(id(group))
                sources = group.sources << group.source_shift & unmet
            unmet ^= sources
            for source in _members(sources):
                distances[source] = distances[state] + 1
                queue.append(source)
        return distances

    def _sources_near(self, state: int) -> States:
        found = 0
        for distance, entered in ((1, self._chained), *self._near):
            if entered >> state & 1:
                found |= 1 << state - distance
        return found

    @property
    def is_empty(self) -> bool:
        """Return whether no word is in the language."""
        return not self.start

    def _empty_rows(self) -> dict[str, dict[int, int]]:
        """Return a row for each character; characters that are not distinguished share one row."""
        shared: dict[int, int] = {}
        return {each: {} if each in self.literals else shared for each in self.alphabet}

    def _targets(self, states: States) -> States:
        targets = states << 1 & self._chained
        for distance, entered in self._near:
            moved = states << distance if distance > 0 else states >> -distance
            targets |= moved & entered
        first, last = self._span(states)
        for shift, sources, entered_shift, entered in self._groups[first:last]:
            if not entered_shift:  # then neither set is shifted down
                if states & sources:
                    targets |= entered
            elif states >> shift & sources:
                targets |= entered << entered_shift
        return targets

    def _span(self, states: States) -> tuple[int, int]:
        """Return the range of the groups that some of the states can be sources of."""
        if self.size <= _SMALL or not states:
            return 0, len(self._groups)
        first = bisect_left(self._firsts, _lowest(states) - self._reach)
        return first, bisect_right(self._firsts, states.bit_length())

    def _remember(self, row: dict[int, int], states: States, after: int) -> None:
        self._cached_bits += self.size + 2048  # a set of states and its entry in the table
        if self._cached_bits > _CACHED_BITS:
            # Clear all rows, because choosing entries would cost more than computing some again.
            for each in self._rows.values():
                each.clear()
            self._cached_bits = 0
        row[states] = after


def representatives(automata: Iterable[Automaton]) -> list[str]:
    """Return one character for every class of characters that the automata can distinguish.

    Literal characters come first, in order; then one that stands for all others, if any. Reading
    only these explores the same states as reading the whole alphabet.
    """
    alphabet: frozenset[str] = frozenset()
    literals: set[str] = set()
    for automaton in automata:
        alphabet |= automaton.alphabet
        literals |= automaton.literals
    return sorted(literals) + sorted(alphabet - literals)[:1]


def _distinguished(labels: set[frozenset[str]], alphabet: frozenset[str]) -> frozenset[str]:
    """Return the characters that some label treats differently from the ordinary ones.

    The ordinary characters are in no small label and in every large label.
    """
    distinguished: set[str] = set()
    for label in labels:
        # A label is small (a literal) or nearly everything (a star), so one side is short.
        distinguished |= label if 2 * len(label) <= len(alphabet) else alphabet - label
    return frozenset(distinguished)


def _readers(
    labels: tuple[frozenset[str], ...],
    live: int,
    literals: frozenset[str],
    alphabet: frozenset[str],
) -> dict[str, int]:
    """Return the live states that each distinguished character leads to; "" is for all others."""
    by_label: dict[frozenset[str], list[int]] = {}
    for state, is_live in enumerate(_digits(live)):
        if is_live == "1":
            by_label.setdefault(labels[state], []).append(state)
    ordinary = next(iter(alphabet - literals), None)
    reading = dict.fromkeys([*literals, ""], 0)
    for label, states in by_label.items():
        mask = _bits(states, len(labels))
        for character in label & literals:
            reading[character] |= mask
        if ordinary in label:
            reading[""] |= mask
    return reading


def _lowest(states: States) -> int:
    """Return the number of the lowest state of a set."""
    return (states & -states).bit_length() - 1


def _members(states: States, shift: int = 0) -> list[int]:
    """Return the numbers of the states of a set, lowest first, each plus a shift."""
    found = []
    while states:
        lowest = states & -states
        found.append(lowest.bit_length() - 1 + shift)
        states ^= lowest
    return found


def _digits(states: States) -> str:
    """Return "1" for each state of a set and "0" for others; a shift per state is quadratic."""
    return f"{states:b}"[::-1]


def _bits(states: Iterable[int], size: int) -> States:
    """Return the set of some states, built from bytes; a shift per state would be quadratic."""
    data = bytearray((size >> 3) + 1)
    for state in states:
        data[state >> 3] |= 1 << (state & 7)
    return int.from_bytes(data, "little")


class _Builder:
    """The states of a pattern, added in order: sources before targets.

    The sources of a state are kept as a set that is shifted down to its lowest state. A long
    pattern has tens of thousands of states, and full sets for all of them would take hundreds of
    megabytes.
    """

    def __init__(self, alphabet: frozenset[str]) -> None:
        self.alphabet = alphabet
        self.labels: list[frozenset[str]] = [frozenset()]
        self.sources: list[tuple[int, States]] = [(0, 0)]

    def add(self, label: frozenset[str], sources: States) -> States:
        """Add a state and return its set; the empty set if it can't be entered."""
        if not sources or not label:
            return 0
        self.labels.append(label)
        self.sources.append(_shifted_down(sources))
        return 1 << (len(self.labels) - 1)

    def enter_also(self, state: States, sources: States) -> None:
        """Let a state be entered from more states."""
        if state:
            number = state.bit_length() - 1
            shift, mask = self.sources[number]
            self.sources[number] = _shifted_down(mask << shift | sources)

    def live(self, accepting: States) -> States:
        """Return the states that lead to acceptance.

        One pass backwards is enough: the only moves back are those of a globstar, whose states are
        all live if its last state is.
        """
        live = accepting
        for state in range(len(self.labels) - 1, -1, -1):
            if live >> state & 1:
                shift, mask = self.sources[state]
                live |= mask << shift
        return live

    def moves(
        self, live: States
    ) -> tuple[States, tuple[tuple[int, States], ...], tuple[_Group, ...]]:
        """Return the states that the one before leads to, those of other near ones, and groups.

        In a small automaton, near is the state before and nothing else: a loop over few groups is
        as fast as a shift for each distance.
        """
        size = len(self.labels)
        near: dict[int, list[int]] = {}
        groups: dict[tuple[int, States], list[int]] = {}
        for state, is_live in enumerate(_digits(live)):
            # No move enters state 0.
            if is_live == "0" or not state:
                continue
            shift, mask = self.sources[state]
            farthest, nearest = state - shift, state - shift - mask.bit_length() + 1
            if farthest == nearest == 1 or (
                size > _SMALL and farthest <= _NEAR and nearest >= -_NEAR
            ):
                for source in _members(mask, shift):
                    near.setdefault(state - source, []).append(state)
            else:
                groups.setdefault((shift, mask), []).append(state)
        # Full sets save two shifts per step, but take quadratic memory for a long pattern.
        is_compact = len(groups) * size > _FULL_BITS
        entered = tuple(
            [_group(*sources, states, size, is_compact) for sources, states in groups.items()]
        )
        chained = _bits(near.pop(1, ()), size)
        shifts = tuple([(distance, _bits(states, size)) for distance, states in near.items()])
        return chained, shifts, entered


def _shifted_down(states: States) -> tuple[int, States]:
    shift = (states & -states).bit_length() - 1 if states else 0
    return shift, states >> shift


def _group(shift: int, sources: States, states: list[int], size: int, is_compact: bool) -> _Group:
    if not is_compact:
        return _Group(0, sources << shift, 0, _bits(states, size))
    first = states[0]
    moved = [state - first for state in states]
    return _Group(shift, sources, first, _bits(moved, moved[-1]))


# Names


@attrs.frozen
class _NameFront:
    """The states that some expansion can be in, by the tokens that may follow.

    Arguments:
        free: states that any token may follow.
        starry: states after a `**` that acts as `*` at the start of a segment, before a literal.
        globbed: states after a `**` that is a whole segment and has read segments, before `/` or
            the end.
        skipped: states after a `**` that is a whole segment and has read no segment.
    """

    free: int = 0
    starry: int = 0
    globbed: int = 0
    skipped: int = 0

    def __or__(self, other: "_NameFront") -> "_NameFront":
        return _NameFront(
            self.free | other.free,
            self.starry | other.starry,
            self.globbed | other.globbed,
            self.skipped | other.skipped,
        )


class _NameBuilder(_Builder):
    """Distinguishes states by the segment read so far: nothing, ".", "..", or anything else."""

    def __init__(self) -> None:
        super().__init__(NAME_ALPHABET)
        self.slashes = self.one_dot = self.two_dots = self.inside = 0

    def step(self, front: _NameFront, token: str) -> _NameFront:
        if token == "/":
            return self._slash(front)
        if token == "**":
            return self._double_star(front)
        if token[0] == "*":
            return _NameFront(free=front.free | self._segment(front.free))
        return _NameFront(free=self._literal(front.free | front.starry, token))

    def _slash(self, front: _NameFront) -> _NameFront:
        # A slash follows a legal segment or begins the name; bit 0 is the start state.
        sources = ((front.free | front.globbed) & self.inside) | (front.free & 1)
        slash = self.add(_SLASH, sources)
        self.slashes |= slash
        # A globstar that read no segment uses the slash before it.
        return _NameFront(free=slash | front.skipped)

    def _literal(self, sources: int, token: str) -> int:
        for character in token:
            sources = self._dot(sources) if character == "." else self._ordinary(sources, character)
        return sources

    def _ordinary(self, sources: int, character: str) -> int:
        # A name begins with a slash, so nothing else leaves state 0.
        state = self.add(_SINGLE[character], sources & ~1)
        self.inside |= state
        return state

    def _dot(self, sources: int) -> int:
        first, second = self._first_dots(sources)
        # After two dots, or after any other character, a dot is an ordinary character.
        third = self.add(_DOT, sources & (self.two_dots | self.inside))
        self.inside |= third
        return first | second | third

    def _first_dots(self, sources: int, *, loop: bool = False) -> tuple[int, int]:
        # "." and ".." may begin a segment but not be one, so they have their own states.
        first = self.add(_DOT, sources & self.slashes)
        second = self.add(_DOT, sources & self.one_dot | (first if loop else 0))
        self.one_dot |= first
        self.two_dots |= second
        return first, second

    def _double_star(self, front: _NameFront) -> _NameFront:
        # A `**` is a globstar only if it is a whole segment. Keep both readings until the next
        # token decides.
        at_start = front.free & self.slashes
        elsewhere = front.free & ~self.slashes
        return _NameFront(
            free=elsewhere | self._segment(elsewhere),
            starry=at_start | self._segment(at_start),
            globbed=self._segments(at_start),
            skipped=at_start,
        )

    def _segment(self, sources: int) -> int:
        """Add states that read one or more characters of a segment, from any part of it."""
        # Inside a segment that is already legal, one state with a loop is enough.
        if not sources & (self.slashes | self.one_dot | self.two_dots):
            state = self.add(_NAME, sources)
            self.enter_also(state, state)
            self.inside |= state
            return state
        first, second = self._first_dots(sources, loop=True)
        before = sources | first | second
        state = self.add(_NAME_BUT_DOT, before)
        dot = self.add(_DOT, (before & (self.two_dots | self.inside)) | state)
        for each in (state, dot):
            self.enter_also(each, state | dot)
        self.inside |= state | dot
        return first | second | state | dot

    def _segments(self, sources: int) -> int:
        """Add states that read one or more whole segments; return those at the end of one."""
        if not sources:
            return 0
        slash = self.add(_SLASH, sources)  # also entered from the end of the segment, below
        self.slashes |= slash
        within = self._segment(sources | slash)
        self.sources[slash.bit_length() - 1] = _shifted_down(within & self.inside)
        return within & self.inside


_SINGLE: Final = {character: frozenset(character) for character in NAME_ALPHABET | TYPE_ALPHABET}


def name_automaton(syntax: Syntax) -> Automaton:
    """Return the automaton of a name pattern: the legal names it matches."""
    builder = _NameBuilder()
    front = fold(syntax.tokens, _NameFront(free=1), builder.step)
    # A name ends inside a segment: not after a slash, "." or "..".
    return Automaton(builder, (front.free | front.globbed) & builder.inside)


# Content types


@attrs.frozen
class _TypeFront:
    """The states that some expansion can be in; a `**` at the start has two readings.

    Arguments:
        free: states that any token may follow.
        whole: states that only the end may follow: the pattern is `**`, which means `*/*`.
    """

    free: int = 0
    whole: int = 0

    def __or__(self, other: "_TypeFront") -> "_TypeFront":
        return _TypeFront(self.free | other.free, self.whole | other.whole)


class _TypeBuilder(_Builder):
    """Tells type from subtype, and segments without characters from others."""

    def __init__(self) -> None:
        super().__init__(TYPE_ALPHABET)
        self.empty = 1  # states at the start of a segment, before its first character
        self.subtypes = 0  # states after the slash

    def add(self, label: frozenset[str], sources: int) -> int:
        state = super().add(label, sources)
        if label is _SLASH or sources & self.subtypes:
            self.subtypes |= state
        return state

    def step(self, front: _TypeFront, token: str) -> _TypeFront:
        if token == "/":
            return _TypeFront(free=self._slash(front.free))
        if token[0] != "*":
            return _TypeFront(free=self._literal(front.free, token))
        starred = front.free | self._star(front.free)
        # Only `**` alone means `*/*`; beside anything else it acts as `*`.
        alone = token == "**" and front.free & 1
        return _TypeFront(free=starred, whole=self._anything() if alone else 0)

    def _slash(self, sources: int) -> int:
        slash = self.add(_SLASH, sources & ~self.empty)
        self.empty |= slash
        return slash

    def _literal(self, sources: int, token: str) -> int:
        for character in token:
            # RFC 6838: type and subtype begin with a letter or a digit.
            allowed = sources if character in _ALNUM else sources & ~self.empty
            sources = self.add(_SINGLE[character], allowed)
        return sources

    def _star(self, sources: int) -> int:
        first = self.add(_ALNUM, sources & self.empty)
        rest = self.add(_TYPE, sources & ~self.empty | first)
        self.enter_also(rest, rest)
        return first | rest

    def _anything(self) -> int:
        return self._star(self._slash(self._star(1)))


def content_type_automaton(syntax: Syntax) -> Automaton:
    """Return the automaton of a content-type pattern: the legal types it matches, lower-case."""
    builder = _TypeBuilder()
    front = fold(syntax.tokens, _TypeFront(free=1), builder.step)
    # A `**` that could have continued (`**/a`) is in `free`, and has read only one segment.
    ends = (front.free | front.whole) & builder.subtypes
    return Automaton(builder, ends & ~builder.empty)
