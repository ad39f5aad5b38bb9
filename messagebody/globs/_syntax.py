"""The syntax of patterns: tokens, errors and lint.

A pattern matches the union of its brace expansions. Every rule applies to all expansions, but none
is ever written out. Instead, `fold` passes a set of states from token to token: the states that
some expansion can be in. All alternatives start from the set before the brace, and their results
are joined after it. This takes linear time and no recursion, at any depth of nesting.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final, Protocol, Self, TypeVar

import attrs

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import REGISTERED, is_registered
from messagebody._base.text import nearest, quote
from messagebody.errors import InvalidPattern

MAX_LENGTH: Final = DEFAULT_LIMITS.pattern_length
_SHOWN_PROBLEMS: Final = 5
"""Problems of a pattern in the text of its error."""

# Rough figures: dots and globstars take extra states, and anything else one per character.
_STATES: Final = {"*": 3, "**": 7, "{": 0, ",": 0, "}": 0}
_TOKEN = re.compile(r"\*+|[/{},]|[^*/{},]+")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._/*{},-]")
_NOT_IN_TYPES = re.compile(r"[^A-Za-z0-9!#$&^_.+/*{},-]")
# Shells expand it and this dialect does not, so the error suggests another form.
_RANGE = re.compile(r"[^.]+\.\.[^.]+(?:\.\..+)?")
_LONE_SUFFIX = re.compile(r"([^/*{},]+)/\*\+([^/*{},]+)")
_TOP_LEVEL = re.compile(r"([^/*{},]+)/")


@attrs.frozen
class Lint:
    """A likely mistake in a legal pattern.

    Arguments:
        code: `matches-nothing`, `double-star`, `lone-suffix` or `unregistered-type`.
        text: the finding in words, with what to write instead.
    """

    code: str
    text: str

    def __str__(self) -> str:
        return self.text


@attrs.frozen
class Syntax:
    """A pattern that follows all rules.

    Arguments:
        tokens: runs of literal characters, runs of stars, `/`, `{`, `,` and `}`.
        lint: likely mistakes.
    """

    tokens: tuple[str, ...]
    lint: tuple[Lint, ...]

    @cached_property
    def states(self) -> int:
        """An estimate of the number of states in the automaton of the pattern."""
        return sum(_STATES.get(token, len(token)) for token in self.tokens)


class Joinable(Protocol):
    """A set of states, joined by `|`."""

    def __or__(self, other: Self, /) -> Self:
        """Return the states of both sets."""


_F = TypeVar("_F", bound=Joinable)


def fold(tokens: Iterable[str], start: _F, step: Callable[[_F, str], _F]) -> _F:
    """Run `step` over all brace expansions at once and return the states at their ends.

    Arguments:
        tokens: the tokens of a `Syntax`, whose braces are balanced.
        start: the states before the first token.
        step: a function that returns the states after a token, given the states before it; it is
            never called with a brace or a comma.
    """
    here = start
    open_braces: list[tuple[_F, _F | None]] = []
    for token in tokens:
        if token == "{":
            open_braces.append((here, None))
        elif token in {",", "}"}:
            before, ends = open_braces.pop()
            ends = here if ends is None else ends | here
            here = ends if token == "}" else before
            if token == ",":
                open_braces.append((before, ends))
        else:
            here = step(here, token)
    return here


def parse_name_pattern(text: str, *, max_length: int = MAX_LENGTH) -> Syntax:
    """Parse a name pattern.

    Arguments:
        text: the pattern, which may be untrusted.
        max_length: the maximum number of characters.

    Raises:
        InvalidPattern: the pattern breaks the rules of `messagebody.globs`; the text lists the
            mistakes.

    Examples:
        >>> parse_name_pattern("/a/{b,*}").tokens
        ('/', 'a', '/', '{', 'b', ',', '*', '}')
    """
    tokens = _tokens(text, max_length, _illegal_in_name)
    judge = _NameJudge(text)
    judge.end(fold(tokens, _In.START, judge.step))
    return judge.verdict(_without_repeated_globstars(tokens))


def _without_repeated_globstars(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tokens with `**` in place of `**/**`, which matches the same names.

    A long run of globstars would take quadratic memory and time.
    """
    kept: list[str] = []
    for place, token in enumerate(tokens):
        kept.append(token)
        ends = place + 1 == len(tokens) or tokens[place + 1] == "/"
        # Only whole segments: in `**/**a` the second is part of a segment.
        if ends and kept[-4:] == ["/", "**", "/", "**"]:
            del kept[-2:]
    return tuple(kept)


def parse_content_type_pattern(text: str, *, max_length: int = MAX_LENGTH) -> Syntax:
    """Parse a content-type pattern; its letters become lower-case.

    Arguments:
        text: the pattern, which may be untrusted.
        max_length: the maximum number of characters.

    Raises:
        InvalidPattern: the pattern breaks the rules of `messagebody.globs`; the text lists the
            mistakes.

    Examples:
        >>> parse_content_type_pattern("Text/*").tokens
        ('text', '/', '*')
    """
    tokens = tuple(token.lower() for token in _tokens(text, max_length, _illegal_in_type))
    judge = _TypeJudge(text)
    judge.end(fold(tokens, _Type.START, judge.step))
    return judge.verdict(tokens)


# Characters and braces


def _tokens(text: str, max_length: int, illegal: Callable[[str], Iterator[str]]) -> tuple[str, ...]:
    if not isinstance(text, str):
        raise InvalidPattern(text, "a pattern is a string")
    if len(text) > max_length:
        problem = f"{len(text):,} characters are more than {max_length:,} (limit pattern_length)"
        raise InvalidPattern(text, problem)
    tokens = tuple(_TOKEN.findall(text))
    _refuse(text, [*illegal(text), *_brace_problems(tokens)])
    return tokens


def _refuse(text: str, problems: list[str]) -> None:
    if problems:
        more = len(problems) - _SHOWN_PROBLEMS
        shown = problems[:_SHOWN_PROBLEMS] + ([f"and {more:,} more"] if more > 0 else [])
        raise InvalidPattern(text, "; ".join(shown))


_INSTEAD: Final = {
    "?": "there is no pattern for one character, write * or name the alternatives: {a,b}",
    "[": "there are no character classes, name the alternatives: {a,b}",
    "]": "there are no character classes, name the alternatives: {a,b}",
    "\\": "nothing needs escaping",
    ";": "parameters are ignored in matching; leave them out",
}


def _illegal_in_name(text: str) -> Iterator[str]:
    for found in _NOT_IN_NAMES.finditer(text):
        takes = "a name pattern takes A-Z a-z 0-9 . _ - / * and {a,b}"
        # Names have no parameters, so advice about them would mislead.
        yield _illegal(found, _INSTEAD.get(found[0], takes) if found[0] != ";" else takes)


def _illegal_in_type(text: str) -> Iterator[str]:
    for found in _NOT_IN_TYPES.finditer(text):
        takes = "a content-type pattern takes letters, digits, ! # $ & ^ _ . + - / * and {a,b}"
        yield _illegal(found, _INSTEAD.get(found[0], takes))
        # The rest is parameters, and one finding is enough.
        if found[0] == ";":
            return
    # Shells read this as a variable and wcmatch as text, so it is refused.
    if "${" in text:
        yield f"character {text.index('${')} is '$' before a brace, which means nothing here"


def _illegal(found: re.Match[str], instead: str) -> str:
    return f"character {found.start()} is {quote(found[0])}; {instead}"


def _brace_problems(tokens: tuple[str, ...]) -> Iterator[str]:
    open_braces: list[tuple[int, int, int]] = []  # token, character, commas
    offset = 0
    for index, token in enumerate(tokens):
        if token == "{":
            open_braces.append((index, offset, 0))
        elif token == "," and not open_braces:
            yield f"character {offset} is a comma outside braces"
        elif token == ",":
            first, start, commas = open_braces.pop()
            open_braces.append((first, start, commas + 1))
        elif token == "}" and not open_braces:
            yield f"character {offset} is '}}' without a '{{'"
        elif token == "}":
            first, start, commas = open_braces.pop()
            if not commas:
                yield _no_choice(start, "".join(tokens[first + 1 : index]))
        offset += len(token)
    for _, start, _ in open_braces:
        yield f"character {start} is '{{' without a '}}'"


def _no_choice(start: int, content: str) -> str:
    if not content:
        return f"the braces at character {start} are empty; name the alternatives: {{a,b}}"
    if _RANGE.fullmatch(content):
        return (
            f"the braces at character {start} hold the range {quote(content)}, which means "
            "nothing here; name the alternatives: {1,2,3}"
        )
    return (
        f"the braces at character {start} hold one alternative; "
        f"write {quote(content)} without braces, or name more: {{a,b}}"
    )


# Rules on expansions


class _Judge:
    """Collects the mistakes of all expansions, each finding once and in order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: dict[str, None] = {}
        self.lints: dict[Lint, None] = {}

    def problem(self, text: str) -> None:
        self.problems[text] = None

    def lint(self, code: str, text: str) -> None:
        self.lints[Lint(code, text)] = None

    def verdict(self, tokens: tuple[str, ...]) -> Syntax:
        _refuse(self.text, list(self.problems))
        return Syntax(tokens, tuple(self.lints))


_ADJACENT = "two stars meet across the edge of a brace; write * or ** in one piece"
_BESIDE = "** acts as * unless it is a whole segment; write *"
_ACTS_AS_STAR = "three or more stars act as *; write *"


# Sets of places are plain ints, because flags of `enum` would take most of the reading time.
_Places = int


class _In:
    """The places in a name pattern that an expansion can be at, a bit for each."""

    START: Final = 1
    SLASH: Final = 2
    DOT: Final = 4  # the segment so far is "."
    DOTS: Final = 8  # the segment so far is ".."
    INSIDE: Final = 16
    STAR: Final = 32
    GLOBSTAR: Final = 64  # and the star is a ** that began the segment


class _NameJudge(_Judge):
    """The rules of name patterns."""

    def step(self, here: _Places, token: str) -> _Places:
        if token == "/":
            return self._slash(here)
        if here & _In.START:
            self._no_slash()
        return self._stars(here, token) if token[0] == "*" else self._literal(here, token)

    def _no_slash(self) -> None:
        if "{" in self.text:
            problem = "and so does every expansion of its braces"
        else:
            problem = f"for example {quote('/' + self.text)}"
            top_level, slash, _ = self.text.partition("/")
            if slash and is_registered(top_level):
                problem += f"; for a content type, content_type={quote(self.text)}"
        self.problem(f"a name pattern begins with '/', {problem}")

    def _slash(self, here: _Places) -> _Places:
        if here & _In.SLASH:
            self.problem("it has an empty segment '//', or an expansion of its braces has one")
        self._dots(here)
        return _In.SLASH

    def _stars(self, here: _Places, token: str) -> _Places:
        if here & _In.STAR:
            self.problem(_ADJACENT)
        if len(token) > 2:
            self.lint("double-star", _ACTS_AS_STAR)
        if len(token) != 2:
            return _In.STAR
        # Not after a slash: some expansion has other characters before the stars. After a slash,
        # the next token decides.
        if here & ~_In.SLASH:
            self.lint("double-star", _BESIDE)
        return _In.STAR | (_In.GLOBSTAR if here & _In.SLASH else 0)

    def _literal(self, here: _Places, token: str) -> _Places:
        if here & _In.GLOBSTAR:
            self.lint("double-star", _BESIDE)
        after = 0
        if here & _In.SLASH:
            after |= {".": _In.DOT, "..": _In.DOTS}.get(token, _In.INSIDE)
        # Two dots can come from two tokens: `.{.,a}`.
        if here & _In.DOT:
            after |= _In.DOTS if token == "." else _In.INSIDE
        if here & ~(_In.SLASH | _In.DOT):
            after |= _In.INSIDE
        return after

    def _dots(self, here: _Places) -> None:
        if here & (_In.DOT | _In.DOTS):
            self.lint("matches-nothing", "no name has a segment '.' or '..'; it matches nothing")

    def end(self, here: _Places) -> None:
        if here & _In.START:
            self.problem("it is empty, or an expansion of its braces is; all names match '/**'")
        if here & _In.SLASH:
            self.lint("matches-nothing", "no name ends in '/'; '/a/**' matches everything below")
        self._dots(here)


class _Type:
    """The places in a content-type pattern that an expansion can be at, a bit for each."""

    START: Final = 1
    ALONE: Final = 2  # after a ** that began the pattern
    TYPE: Final = 4
    TYPE_STAR: Final = 8
    SLASH: Final = 16
    SUBTYPE: Final = 32
    SUBTYPE_STAR: Final = 64
    TOO_MANY: Final = 128


_IN_TYPE = _Type.TYPE | _Type.TYPE_STAR | _Type.ALONE
_IN_SUBTYPE = _Type.SUBTYPE | _Type.SUBTYPE_STAR
_AFTER_STAR = _Type.ALONE | _Type.TYPE_STAR | _Type.SUBTYPE_STAR


class _TypeJudge(_Judge):
    """The rules of content-type patterns."""

    def step(self, here: _Places, token: str) -> _Places:
        if token == "/":
            return self._slash(here)
        if token[0] == "*":
            return self._stars(here, token)
        if here & _Type.ALONE:
            self.lint("double-star", _BESIDE)
        return self._moved(here, _Type.TYPE, _Type.SUBTYPE)

    def _moved(self, here: _Places, in_type: _Places, in_subtype: _Places) -> _Places:
        after = here & _Type.TOO_MANY
        if here & (_Type.START | _IN_TYPE):
            after |= in_type
        if here & (_Type.SLASH | _IN_SUBTYPE):
            after |= in_subtype
        return after

    def _slash(self, here: _Places) -> _Places:
        if here & _Type.START:
            self._empty_segment()
        after = here & _Type.TOO_MANY
        if here & (_Type.START | _IN_TYPE):
            after |= _Type.SLASH
        if here & (_Type.SLASH | _IN_SUBTYPE):
            after |= _Type.TOO_MANY
        return after

    def _stars(self, here: _Places, token: str) -> _Places:
        if here & _AFTER_STAR:
            self.problem(_ADJACENT)
        if len(token) > 2:
            self.lint("double-star", _ACTS_AS_STAR)
        if len(token) != 2:
            return self._moved(here, _Type.TYPE_STAR, _Type.SUBTYPE_STAR)
        if here & ~_Type.START:
            self.lint("double-star", "** acts as * in a content type; write *")
        rest = self._moved(here & ~_Type.START, _Type.TYPE_STAR, _Type.SUBTYPE_STAR)
        return rest | (_Type.ALONE if here & _Type.START else 0)

    def end(self, here: _Places) -> None:
        if here & _Type.START:
            self.problem("it is empty, or an expansion of its braces is; all types match '*/*'")
        if here & _Type.SLASH:
            self._empty_segment()
        if here & (_Type.TYPE | _Type.TYPE_STAR):
            self.problem(self._one_segment())
        if here & _Type.TOO_MANY:
            self.problem(
                "more than two segments, in it or in an expansion of its braces; "
                "a content type is type/subtype"
            )
        # Often meant to match both: `*+json` does not match `json`.
        found = _LONE_SUFFIX.fullmatch(self.text)
        if found:
            self.lint(
                "lone-suffix",
                f"it does not match {quote(f'{found[1]}/{found[2]}')}; "
                f"say {quote(f'{found[1]}/{{{found[2]},*+{found[2]}}}')} to match both",
            )

        top = _TOP_LEVEL.match(self.text)
        if top and not is_registered(top[1]):
            near = nearest(top[1].lower(), REGISTERED)
            meant = f"; did you mean {quote(near)}?" if near else ""
            self.lint("unregistered-type", f"{quote(top[1])} is not a registered type{meant}")

    def _empty_segment(self) -> None:
        self.lint("matches-nothing", "no content type has an empty type or subtype; say 'text/*'")

    def _one_segment(self) -> str:
        if self.text == "*":
            return "a content type has two segments; all types match '*/*'"
        if not set(self.text) & set("*{},"):
            example = f"{self.text}/*"
            return f"a content type is type/subtype, for example {quote(example)}"
        return "one segment, in it or in an expansion of its braces; a content type is type/subtype"
