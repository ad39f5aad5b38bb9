"""Step costs: how much work one step of a budget pays for, measured as about half a microsecond.

If a cost is wrong, the steps of a decision say less about its time, and the budget ends too early
or too late. No verdict changes but "undecided". `python -m benchmarks compatibility` shows what
steps take.
"""

from typing import Final

# Patterns and words
STATE_BUILT: Final = 4
"""Steps to build one state of an automaton."""
CHARACTERS_READ: Final = 16
"""Characters of a word that one pattern reads in a step."""
CHARACTERS_COMPARED: Final = 64
"""Characters of a pattern that are compared with a name in a step."""
TEXTS_COMPARED: Final = 4
"""Texts that are compared in a step."""
PATTERN_WRITTEN: Final = 64
"""Steps to write and read a pattern, in addition to those for its characters."""

# Sets of states
GROUPS_COMPARED: Final = 4
"""Comparisons of a set of states with a group in a step."""
SMALL_SETS_COMPARED: Final = 12
"""Comparisons of small sets in a step."""
COMPARED_STATES: Final = 2048
"""Comparing two sets costs one more comparison per this many states of all patterns together."""
HANDLED_STATES: Final = 8192
"""Handling a set costs one more step per this many states of all patterns together."""
TRANSITIONS: Final = 8
"""Transitions of one pattern in a step."""
FOLLOWED_STATES: Final = 16
"""States of one pattern that are followed in a step; each further state costs one more."""

# Parts of schemas
PART: Final = 4
"""Steps for each schema part of a new decision."""
PATTERN_TAKEN: Final = 2
"""Steps to take up a pattern for a search, before any word is tried."""
OPTIONS_TESTED: Final = 4
"""Patterns, or options at a name, that are tested in a step."""
NAMES_LOOKED_UP: Final = 16
"""Names that are looked up in a step."""

# Memory
SETS_HELD: Final = 5
"""Sets of states in memory for each word of a search: to continue, to compare, and to look up."""
BYTES_HELD: Final = 512
"""Further bytes in memory for each word, in lists and tables."""
