"""Patterns of part names and content types: one small dialect with exact decisions.

A pattern matches the union of its brace expansions. They are never written out, so there may be
any number of them.

========================  ======================================================================
`*`                       any run of characters within a segment, the empty run and a leading dot
                          included; a segment is never empty
`**` alone in a segment   at the start or inside: zero or more segments; at the end: one or more
`**` beside others        acts as `*` (lint); so does `***`
`{a,b}`                   alternatives, which may be nested, be empty or contain `/`
========================  ======================================================================

A name pattern, and every expansion of it, begins with `/` and does not contain `//`. A content-type
pattern has two segments, or is `**`, which means `*/*`; it is compared in lower case with
`type/subtype`, without parameters. Any other pattern raises `InvalidPattern`.

**Guarantees for decision procedures**

- `name_pattern` and `content_type_pattern` return interned values: equal texts give equal patterns
  and, up to 256 characters, usually the same object. Patterns are immutable, hashable and
  picklable.
- `automaton` of a pattern is exact for the *legal* names or types (`messagebody.names`, RFC 6838)
  of any length. No pattern matches an illegal word, so inclusion needs no further rule. The
  alphabet is `NAME_ALPHABET` (65 characters and `/`) or `TYPE_ALPHABET` (lower case).
- A set of states is an int with bit `q` for state `q`; 0 is the empty set. `start` is 1 (state 0),
  or 0 if the language is empty; `accepting` never contains state 0. `step(states, character)` is
  the set after one character, memoised. States that can't reach acceptance never occur, so from
  any set except 0 some word can still be accepted. `successors(state)` is the set of states after
  one move, and `labels[state]` the characters that every move into a state reads. Together they
  are the graph, without epsilon moves.
- All characters outside the `literals` of an automaton lead to the same states;
  `representatives(automata)` returns one character for every class that several automata
  distinguish. It is enough to explore these.
- `literal` of a pattern is the only word matched, if it is written without stars and braces;
  `is_universal` is true of `/**`, `/**/*`, `*/*`, `**` and the like (false proves nothing);
  `is_empty` is exact; every match begins with its `prefix`.
- `PatternIndex(patterns).find(word)` is the set of patterns that match a word, as an int, at a
  cost that hardly grows with the number of patterns.
"""

from typing import TYPE_CHECKING

from messagebody._base.faces import face
from messagebody.globs._automaton import (
    NAME_ALPHABET,
    TYPE_ALPHABET,
    Automaton,
    representatives,
)
from messagebody.globs._index import PatternIndex
from messagebody.globs._patterns import (
    ContentTypePattern,
    NamePattern,
    content_type_pattern,
    name_pattern,
)
from messagebody.globs._syntax import Lint

__all__ = [
    "NAME_ALPHABET",
    "TYPE_ALPHABET",
    "Automaton",
    "ContentTypePattern",
    "Lint",
    "NamePattern",
    "PatternIndex",
    "content_type_pattern",
    "name_pattern",
    "representatives",
]

if not TYPE_CHECKING:  # a type checker would assume that the module has every name
    __getattr__, _ = face(__name__)
