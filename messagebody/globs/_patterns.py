"""Patterns of part names and of content types, matched exactly and quickly.

The automaton of a pattern defines its language. Most patterns have a *shape*, a directory and a
form of the last segment, which string methods compare. Most others become a regular expression that
cannot backtrack far. Both give the same answers as the automaton, but faster.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, product, repeat, takewhile
from math import prod
from typing import Any, Final, Literal, Self, cast

import attrs

from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._base.media_types import essence
from messagebody.errors import InvalidPattern
from messagebody.globs._automaton import Automaton, content_type_automaton, name_automaton
from messagebody.globs._syntax import (
    Lint,
    Syntax,
    parse_content_type_pattern,
    parse_name_pattern,
)
from messagebody.names import is_name

Names = Sequence[str | None]

# With more alternatives, one automaton is faster than many shapes.
_BRANCHES: Final = 64
# Building very many shapes would cost too much for a pattern that is matched only once.
_LONGEST: Final = 32_768
_BRACE = re.compile("[{}]")
# The numbers of alternatives in nested braces multiply.
_NESTED = re.compile(r"{[^}]*{")
_SHAPE = re.compile(r"(/(?:[^*]*/)?)(\*\*/)?([^*/]*)(\*)?([^*/]*)")


@attrs.frozen
class Shape:
    """A directory and a form of the last segment.

    Arguments:
        directory: the beginning of the name; it ends in "/".
        deep: whether more segments may be between the directory and the last segment.
        first: the beginning of the last segment, or all of it if `lasts` is None.
        lasts: its possible ends, which may not overlap with the beginning.
    """

    directory: str
    deep: bool
    first: str
    lasts: tuple[str, ...] | None

    def select(self, names: Names) -> list[int]:
        """Return the positions of the names that have the shape."""
        if self.lasts is None:
            return self._select_exact(names)
        if self.first or self.lasts != ("",):
            return self._select_deep(names) if self.deep else self._select_flat(names)
        return self._select_below(names) if self.deep else _select_inside(names, self.directory)

    def _select_exact(self, names: Names) -> list[int]:
        directory = self.directory
        if not self.deep:
            wanted = directory + self.first
            return [index for index, name in enumerate(names) if name == wanted]
        end = "/" + self.first
        return [
            index
            for index, name in enumerate(names)
            if name and name.endswith(end) and name.startswith(directory)
        ]

    def _select_below(self, names: Names) -> list[int]:
        directory = self.directory
        if directory == "/":
            return [index for index, name in enumerate(names) if name]
        return [index for index, name in enumerate(names) if name and name.startswith(directory)]

    def _select_flat(self, names: Names) -> list[int]:
        begin, ends = self.directory + self.first, self.lasts or ()
        last, tail = len(self.directory) - 1, len(begin)
        return [
            index
            for index, name in enumerate(names)
            if name
            and name.rfind("/") == last
            and name.startswith(begin)
            # Search after the beginning: in `a*a`, beginning and end don't overlap.
            and name.endswith(ends, tail)
        ]

    def _select_deep(self, names: Names) -> list[int]:
        directory, first, ends = self.directory, self.first, self.lasts or ()
        skip = len(first) + 1
        if directory == "/" and not first:
            return [index for index, name in enumerate(names) if name and name.endswith(ends)]
        return [
            index
            for index, name in enumerate(names)
            if name
            and name.startswith(directory)
            and name.endswith(ends)
            and name.startswith(first, (slash := name.rfind("/")) + 1)
            and name.endswith(ends, slash + skip)
        ]


_FEW_NAMES: Final = 32


def _select_inside(names: Names, directory: str) -> list[int]:
    """Return the positions of the names directly in a directory."""
    last = len(directory) - 1
    if len(names) <= _FEW_NAMES:
        return [
            index
            for index, name in enumerate(names)
            if name and name.startswith(directory) and name.rfind("/") == last
        ]
    try:
        # Unnamed parts are few, and checking each name for None is expensive. `map` over
        # `str.rfind` makes no Python call for a name.
        all_named = cast("Sequence[str]", names)
        slashes = enumerate(map(str.rfind, all_named, repeat("/")))
        return [
            index
            for index, slash in slashes
            if slash == last and all_named[index].startswith(directory)
        ]
    except TypeError:
        return _select_inside([name or "" for name in names], directory)


def shapes_of(syntax: Syntax) -> tuple[Shape, ...]:
    """Return shapes whose union is equal to a name pattern, or none if it is more complex."""
    shapes: dict[tuple[str, bool, str, bool], tuple[str, ...]] = {}
    for text in branches(syntax):
        # A last `**` reads one or more segments, like `/**/*`: any depth, then any segment.
        found = _SHAPE.fullmatch(text + "/*" if text.endswith("/**") else text)
        if found is None:
            return ()
        directory, deep, first, star, last = found.groups()
        key = directory, deep is not None, first, star is not None
        shapes[key] = (*shapes.get(key, ()), last)
    return tuple(
        Shape(directory, deep, first, lasts if star else None)
        for (directory, deep, first, star), lasts in shapes.items()
    )


def branches(syntax: Syntax) -> list[str]:
    """Return the brace expansions of a name pattern, if they are few.

    The list is empty if braces are nested, or if there would be more than 64 expansions, or very
    long ones. This only affects speed, not the answer: a few shapes are faster than an automaton.
    """
    text = "".join(syntax.tokens)
    if _NESTED.search(text):
        return []
    pieces = _BRACE.split(text)
    choices = [piece.split(",") if index % 2 else [piece] for index, piece in enumerate(pieces)]
    count = prod(map(len, choices))
    if count > _BRANCHES or count * len(text) > _LONGEST:
        return []
    return ["".join(chosen) for chosen in product(*choices)]


# Compiling more would take longer than building the automaton and running it over many names.
_ALTERNATIVES: Final = 4
_SEGMENT: Final = "/[^/]+"


def regex_of(syntax: Syntax) -> re.Pattern[str] | None:
    """Return a regex that matches the same legal names as a name pattern.

    Return None if the pattern has many alternatives or is too long for a fast regex.
    """
    found = branches(syntax)
    if not 0 < len(found) <= _ALTERNATIVES:
        return None
    return re.compile("|".join("".join(_branch(branch)) for branch in found))


def longest_run(syntax: Syntax) -> str:
    """Return the longest literal text that every match of a name pattern contains."""
    runs, depth = [""], 0
    for token in syntax.tokens:
        depth += (token == "{") - (token == "}")
        if depth or token[0] in "*}":
            runs.append("")
        else:
            runs[-1] += token
    return max(runs, key=len)


def _branch(text: str) -> Iterator[str]:
    """Yield the regex of a pattern without braces, block by block between its globstars."""
    segments = text.split("/")[1:]
    blocks = [
        (is_globstar, [*block])
        for is_globstar, block in groupby(segments, key=lambda segment: segment == "**")
    ]
    for index, (is_globstar, block) in enumerate(blocks):
        is_last = index == len(blocks) - 1
        if is_globstar:
            yield f"(?:{_SEGMENT})+" if is_last else ""
        elif index == 0:
            yield "".join(map(_segment, block))
        else:
            # Between two globstars, the first match of a block is as good as any later one. So
            # `(?>…)` prevents backtracking, which keeps the matching linear.
            found = f"(?:{_SEGMENT})*?" + "".join(map(_segment, block))
            yield found if is_last else f"(?>{found})"


def _segment(glob: str) -> str:
    first, *rest = (re.escape(piece) for piece in re.split(r"\*+", glob))
    if not rest:
        # The end of the segment is a look-ahead, because the next block begins with that slash.
        return f"/{first}(?=/|\\Z)"
    if not first and not any(rest):
        return _SEGMENT
    *middles, last = rest
    # Between two stars, the first match of a piece is as good as any later one, too.
    steps = "".join(f"(?>[^/]*?{middle})" for middle in middles)
    return f"(?>/{first}{steps}[^/]*{last}(?=/|\\Z))"


# Patterns come from schemas and repeat; long patterns hardly ever do, and would fill the memory.
_INTERNED: Final = 4096
_INTERNED_LENGTH: Final = 256


class _Pattern:
    """The common base of both kinds of pattern."""

    __slots__ = (
        "__weakref__", "_automaton", "is_open", "is_universal", "literal", "prefix", "syntax",
        "text",
    )  # fmt: skip

    text: str
    """The text of the pattern, as written."""
    syntax: Syntax
    """The tokens of the pattern, and its lint."""
    literal: str | None
    """The one word that the pattern matches, if it is written without stars and braces."""
    prefix: str
    """The common beginning of all matches: the text before the first star or brace."""
    is_open: bool
    """True if it is written as its prefix and a star: it matches every word with that prefix."""
    is_universal: bool
    """True if it is written as a pattern that matches every legal word."""

    def __init__(self, text: str, syntax: Syntax) -> None:
        self.text = text
        self.syntax = syntax
        # Most names that don't match are recognised by their beginning alone.
        self.prefix = "".join(takewhile(lambda token: token[0] not in "*{", syntax.tokens))
        self.literal = self._find_literal()
        self.is_universal = self._find_universal()
        self.is_open = self._find_open()
        self._automaton: Automaton | None = None

    @property
    def automaton(self) -> Automaton:
        """The exact automaton of the legal words that the pattern matches, made on first use."""
        if self._automaton is None:
            self._automaton = self._build()
        return self._automaton

    @property
    def is_empty(self) -> bool:
        """Return whether the pattern matches nothing."""
        return self.literal is None and self.automaton.is_empty

    def require_matches(self) -> None:
        """Raise an error if the pattern matches no legal word.

        Raises:
            InvalidPattern: the pattern matches nothing; the text has the reason from `lint`.
        """
        if not self.is_universal and self.is_empty:
            why = [lint.text for lint in self.lint() if lint.code == "matches-nothing"]
            raise InvalidPattern(self.text, why[0])

    def lint(self) -> tuple[Lint, ...]:
        """Return likely mistakes in the pattern."""
        found = self.syntax.lint
        if self.is_empty and all(lint.code != "matches-nothing" for lint in found):
            found += (Lint("matches-nothing", "no legal text matches it"),)
        return found

    def matches_word(self, word: str) -> bool:
        """Return whether the pattern matches a legal name, or a lower-case `type/subtype`."""
        raise NotImplementedError

    def _build(self) -> Automaton:
        raise NotImplementedError

    def _find_literal(self) -> str | None:
        raise NotImplementedError

    def _find_universal(self) -> bool:
        raise NotImplementedError

    def _find_open(self) -> bool:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    # A pattern never changes except for remembered results, so a copy is the pattern itself.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class NamePattern(_Pattern):
    """A pattern of part names; made by `name_pattern`."""

    __slots__ = ("_regex", "_text_within", "shapes")

    shapes: tuple[Shape, ...]
    """Shapes whose union is equal to the pattern; empty if the pattern is more complex."""

    def __init__(self, text: str, syntax: Syntax) -> None:
        super().__init__(text, syntax)
        self.shapes = shapes_of(syntax)
        self._regex: re.Pattern[str] | Literal[False] | None = None
        self._text_within = ""

    def matches(self, name: str) -> bool:
        """Return whether the pattern matches a name; never true for text that is not a legal name.

        The time is linear in the length of the name.

        Examples:
            >>> name_pattern("/**/*.{png,jpg}").matches("/charts/sales.png")
            True
        """
        # Shapes and regexes are only right for legal names.
        return is_name(name) and bool(self.select([name]))

    def matches_word(self, word: str) -> bool:
        return bool(self.select([word]))

    def select(self, names: Sequence[str | None]) -> list[int]:
        """Return the positions of the names that match, in order; None is not a name.

        Arguments:
            names: legal names, not checked again; None for an unnamed part.

        Examples:
            >>> name_pattern("/sources/*").select(["/sources/1", None, "/a", "/sources/2"])
            [0, 3]
        """
        if len(self.shapes) == 1:
            return self.shapes[0].select(names)
        if not self.shapes:
            return self._run(names)
        # One name can have several of these shapes.
        return sorted(set().union(*(shape.select(names) for shape in self.shapes)))

    def _run(self, names: Sequence[str | None]) -> list[int]:
        regex, prefix = self._regex, self.prefix
        if regex is None:
            self._text_within = longest_run(self.syntax)
            # None means "not computed yet"; False means that the automaton is used instead.
            regex = self._regex = regex_of(self.syntax) or False
        accepts = regex.fullmatch if regex else self.automaton.accepts
        text = self._text_within
        return [
            index
            for index, name in enumerate(names)
            if name and text in name and name.startswith(prefix) and accepts(name)
        ]

    def _build(self) -> Automaton:
        return name_automaton(self.syntax)

    def _find_literal(self) -> str | None:
        # Text without stars can still be illegal, such as `/.`; then it matches nothing.
        return self.text if is_name(self.text) else None

    def _find_universal(self) -> bool:
        """Return whether all segments are stars, one is a globstar, and one segment is enough."""
        segments = "".join(self.syntax.tokens).split("/")[1:]
        if not set(segments) <= {"*", "**"} or "**" not in segments:
            return False
        return segments.count("*") + (segments[-1] == "**") == 1

    def _find_open(self) -> bool:
        """Return whether the pattern matches everything below a directory."""
        tokens = self.syntax.tokens
        return tokens[-2:] == ("/", "**") and len("".join(tokens)) == len(self.prefix) + 2

    def __reduce__(self) -> tuple[Any, ...]:
        return name_pattern, (self.text,)


class ContentTypePattern(_Pattern):
    """A pattern of content types; made by `content_type_pattern`."""

    __slots__ = ()

    def matches(self, content_type: str) -> bool:
        """Return whether the pattern matches a content type, ignoring case and parameters.

        Raises:
            InvalidContentType: the text is not a content type.

        Examples:
            >>> content_type_pattern("text/*").matches("Text/HTML; charset=utf-8")
            True
        """
        return self.matches_word(essence(content_type))

    def matches_word(self, word: str) -> bool:
        if self.is_universal:
            return True
        if self.literal is not None:
            return self.literal == word
        return self.automaton.accepts(word)

    def _build(self) -> Automaton:
        return content_type_automaton(self.syntax)

    def _find_literal(self) -> str | None:
        text = self.text.lower()
        # A pattern that begins with another character, such as `+a/b`, is legal but empty.
        if set("*{") & set(text) or not text[0].isalnum():
            return None
        subtype = text.partition("/")[2]
        return text if subtype[:1].isalnum() else None

    def _find_universal(self) -> bool:
        text = self.text
        return text == "**" or all(set(segment) == {"*"} for segment in text.split("/"))

    def _find_open(self) -> bool:
        """Return whether the pattern matches all subtypes of a type."""
        prefix = self.prefix
        return prefix.endswith("/") and len(prefix) > 1 and set(self.text[len(prefix) :]) == {"*"}

    def __reduce__(self) -> tuple[Any, ...]:
        return content_type_pattern, (self.text,)


def name_pattern(text: str, *, limits: Limits = DEFAULT_LIMITS) -> NamePattern:
    """Return the name pattern of a text; the same object for the same short text.

    Arguments:
        text: the pattern, which may be untrusted.
        limits: the limits, such as `pattern_length`.

    Raises:
        InvalidPattern: the pattern breaks the rules of `messagebody.globs`.

    Examples:
        >>> name_pattern("/sources/*").matches("/sources/1")
        True
    """
    if isinstance(text, str) and len(text) <= min(_INTERNED_LENGTH, limits.pattern_length):
        return _interned_name(text)
    return NamePattern(text, parse_name_pattern(text, max_length=limits.pattern_length))


@lru_cache(_INTERNED)
def _interned_name(text: str) -> NamePattern:
    return NamePattern(text, parse_name_pattern(text))


def content_type_pattern(text: str, *, limits: Limits = DEFAULT_LIMITS) -> ContentTypePattern:
    """Return the content-type pattern of a text; see `name_pattern`.

    Arguments:
        text: the pattern, which may be untrusted.
        limits: the limits, such as `pattern_length`.

    Raises:
        InvalidPattern: the pattern breaks the rules of `messagebody.globs`.

    Examples:
        >>> content_type_pattern("application/{json,*+json}").matches("application/ld+json")
        True
    """
    if isinstance(text, str) and len(text) <= min(_INTERNED_LENGTH, limits.pattern_length):
        return _interned_content_type(text)
    syntax = parse_content_type_pattern(text, max_length=limits.pattern_length)
    return ContentTypePattern(text, syntax)


@lru_cache(_INTERNED)
def _interned_content_type(text: str) -> ContentTypePattern:
    return ContentTypePattern(text, parse_content_type_pattern(text))
