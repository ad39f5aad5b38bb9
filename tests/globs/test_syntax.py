"""What the parser refuses, in full, and what it remarks on."""

import attrs
import pytest

from messagebody import Limits
from messagebody.errors import InvalidPattern
from messagebody.globs import content_type_pattern, name_pattern

TAKES = "a name pattern takes A-Z a-z 0-9 . _ - / * and {a,b}"
ADJACENT = "two stars meet across the edge of a brace; write * or ** in one piece"
BRACED_START = "a name pattern begins with '/', and so does every expansion of its braces"
EMPTY = "it is empty, or an expansion of its braces is; all names match '/**'"
DOUBLE_SLASH = "it has an empty segment '//', or an expansion of its braces has one"
RANGE = "which means nothing here; name the alternatives: {1,2,3}"
CLASSES = "there are no character classes, name the alternatives: {a,b}"

NAME_ERRORS = {
    "": EMPTY,
    "{,/a}": EMPTY,
    "a": "a name pattern begins with '/', for example '/a'",
    "**": "a name pattern begins with '/', for example '/**'",
    "{/a,b}": BRACED_START,
    "{,x}/a": BRACED_START,
    "//": DOUBLE_SLASH,
    "/a//b": DOUBLE_SLASH,
    "/a/{/b,c}": DOUBLE_SLASH,
    "/a/{b,}/c": DOUBLE_SLASH,
    "/{*,a}*": ADJACENT,
    "/*{*,a}": ADJACENT,
    "/*{a,}*": ADJACENT,
    "/{**,a}*": ADJACENT,
    "/{a,{b,*}}{,c}*": ADJACENT,
    "/a?": "character 2 is '?'; there is no pattern for one character, "
    "write * or name the alternatives: {a,b}",
    "/[ab]": f"character 1 is '['; {CLASSES}; character 4 is ']'; {CLASSES}",
    "/a\\*": "character 2 is '\\'; nothing needs escaping",
    "/a b": f"character 2 is ' '; {TAKES}",
    "/\u202e": f"character 1 is '\\u202e'; {TAKES}",
    "/a;b": f"character 2 is ';'; {TAKES}",
    "/a,b": "character 2 is a comma outside braces",
    "/{}": "the braces at character 1 are empty; name the alternatives: {a,b}",
    "/{a}": "the braces at character 1 hold one alternative; "
    "write 'a' without braces, or name more: {a,b}",
    "/{x,{a}}": "the braces at character 4 hold one alternative; "
    "write 'a' without braces, or name more: {a,b}",
    "/{1..3}": f"the braces at character 1 hold the range '1..3', {RANGE}",
    "/{a..e..2}": f"the braces at character 1 hold the range 'a..e..2', {RANGE}",
    "/{a,b": "character 1 is '{' without a '}'",
    "/a}": "character 2 is '}' without a '{'",
    "/{a,b}}{": "character 6 is '}' without a '{'; character 7 is '{' without a '}'",
    "/???????": "; ".join(
        f"character {index} is '?'; there is no pattern for one character, "
        "write * or name the alternatives: {a,b}"
        for index in range(1, 6)
    )
    + "; and 2 more",
}  # fmt: skip

ONE_SEGMENT = "one segment, in it or in an expansion of its braces; a content type is type/subtype"
THREE = (
    "more than two segments, in it or in an expansion of its braces; a content type is type/subtype"
)
NO_TYPE = "it is empty, or an expansion of its braces is; all types match '*/*'"
TYPE_TAKES = "a content-type pattern takes letters, digits, ! # $ & ^ _ . + - / * and {a,b}"

TYPE_ERRORS = {
    "": NO_TYPE,
    "{,text/*}": NO_TYPE,
    "*": "a content type has two segments; all types match '*/*'",
    "text": "a content type is type/subtype, for example 'text/*'",
    "{text,image/*}": ONE_SEGMENT,
    "text*": ONE_SEGMENT,
    "a/b/c": THREE,
    "a/{b,c/d}": THREE,
    "**/**/**": THREE,
    "*/*{*,a}": ADJACENT,
    "{**,a/b}*": f"{ADJACENT}; {ONE_SEGMENT}",
    "a${b,c}/d": "character 1 is '$' before a brace, which means nothing here",
    "text/plain; charset=utf-8": "character 10 is ';'; "
    "parameters are ignored in matching; leave them out",
    "text/pla?n": "character 8 is '?'; there is no pattern for one character, "
    "write * or name the alternatives: {a,b}",
    "text/~": f"character 5 is '~'; {TYPE_TAKES}",
    "text/{a}": "the braces at character 5 hold one alternative; "
    "write 'a' without braces, or name more: {a,b}",
    "text/a,b": "character 6 is a comma outside braces",
}  # fmt: skip


@pytest.mark.parametrize("pattern", NAME_ERRORS)
def test_name_pattern_errors(pattern: str) -> None:
    with pytest.raises(InvalidPattern) as caught:
        name_pattern(pattern)
    assert caught.value == InvalidPattern(pattern, NAME_ERRORS[pattern])
    assert caught.value.problem == NAME_ERRORS[pattern]


@pytest.mark.parametrize("pattern", TYPE_ERRORS)
def test_content_type_pattern_errors(pattern: str) -> None:
    with pytest.raises(InvalidPattern) as caught:
        content_type_pattern(pattern)
    assert caught.value.problem == TYPE_ERRORS[pattern]


def test_the_text_of_an_error_names_the_pattern() -> None:
    with pytest.raises(InvalidPattern) as caught:
        name_pattern("sources/*")
    assert str(caught.value) == (
        "pattern 'sources/*': a name pattern begins with '/', for example '/sources/*'"
    )


def test_a_pattern_is_a_string() -> None:
    with pytest.raises(InvalidPattern, match=r"pattern 3 \(int\): a pattern is a string"):
        name_pattern(3)  # type: ignore[arg-type]


def test_the_length_is_limited() -> None:
    limits = Limits(pattern_length=5)
    name_pattern("/abcd", limits=limits)
    with pytest.raises(InvalidPattern) as caught:
        name_pattern("/abcde", limits=limits)
    assert caught.value.problem == "6 characters are more than 5 (limit pattern_length)"
    with pytest.raises(InvalidPattern, match="16,385 characters are more than 16,384"):
        content_type_pattern("a" * 16_385)
    longer = attrs.evolve(limits, pattern_length=20_000)
    assert name_pattern("/" + "a" * 19_000, limits=longer).literal is not None


BESIDE = "** acts as * unless it is a whole segment; write *"
MANY = "three or more stars act as *; write *"
DOTS = "no name has a segment '.' or '..'; it matches nothing"
SLASH_END = "no name ends in '/'; '/a/**' matches everything below"

NAME_LINT = {
    "/a**": [("double-star", BESIDE)],
    "/**a": [("double-star", BESIDE)],
    "/{**,b}a": [("double-star", BESIDE)],
    "/***": [("double-star", MANY)],
    "/": [("matches-nothing", SLASH_END)],
    "/a/": [("matches-nothing", SLASH_END)],
    "/a{/,}": [("matches-nothing", SLASH_END)],
    "/./a": [("matches-nothing", DOTS)],
    "/..": [("matches-nothing", DOTS)],
    "/.{.,a}/b": [("matches-nothing", DOTS)],
    "/{.,a}{.,}": [("matches-nothing", DOTS)],
    "/a/**/b": [],
    "/**": [],
    "/{a,**/b}/c": [],
    "/...": [],
    "/*.": [],
}


@pytest.mark.parametrize("pattern", NAME_LINT)
def test_name_pattern_lint(pattern: str) -> None:
    found = [(lint.code, str(lint)) for lint in name_pattern(pattern).lint()]
    assert found == NAME_LINT[pattern]


TYPE_LINT = {
    "application/*+json": [
        (
            "lone-suffix",
            "it does not match 'application/json'; say 'application/{json,*+json}' to match both",
        )
    ],
    "text/": [("matches-nothing", "no content type has an empty type or subtype; say 'text/*'")],
    "/text": [("matches-nothing", "no content type has an empty type or subtype; say 'text/*'")],
    "text/+x": [("matches-nothing", "no legal text matches it")],
    "text/**": [("double-star", "** acts as * in a content type; write *")],
    "te**t/a": [("double-star", "** acts as * in a content type; write *")],
    "**x/a": [("double-star", BESIDE)],
    "txt/*": [("unregistered-type", "'txt' is not a registered type; did you mean 'text'?")],
    "Aplication/json": [
        ("unregistered-type", "'Aplication' is not a registered type; did you mean 'application'?")
    ],
    "acme/report": [("unregistered-type", "'acme' is not a registered type")],
    "x-world/x-vrml": [],
    "IMAGE/png": [],
    "t*/plain": [],
    "text/***": [("double-star", MANY)],
    "**": [],
    "{text/*,image/png}": [],
    "application/{json,*+json}": [],
}


@pytest.mark.parametrize("pattern", TYPE_LINT)
def test_content_type_pattern_lint(pattern: str) -> None:
    found = [(lint.code, str(lint)) for lint in content_type_pattern(pattern).lint()]
    assert found == TYPE_LINT[pattern]


@pytest.mark.parametrize("accepted", ["/{a..b,c}", "/{a,}b", "/{a/b,{c,d/**}/e}/*", "{/a,/b/c}"])
def test_accepted(accepted: str) -> None:
    assert name_pattern(accepted).text == accepted
