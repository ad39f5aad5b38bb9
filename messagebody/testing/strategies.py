"""Hypothesis strategies for property tests: legal names, JSON values, parts and bodies.

The values are small and awkward on purpose: empty contents, texts that are not ASCII, types with
parameters, references with and without size and digest, unknown members. Needs Hypothesis.
"""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody._core import NO_DIGEST, UNLISTED, check_extra, sha256_of
from messagebody.errors import InvalidPart
from messagebody.schema import content_schema_of
from messagebody.testing._contents import strategy_for

# The strategies are cached, because Hypothesis takes longer to build one than to draw from it.

_NAME_CHARACTERS = "ab.1_-Z"


@cache
def texts() -> st.SearchStrategy[str]:
    """Return texts that can be encoded in UTF-8: no lone surrogates."""
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@cache
def names() -> st.SearchStrategy[str]:
    """Return legal part names of one to three segments, of few characters so that names collide.

    Examples:
        >>> from hypothesis import find
        >>> find(names(), lambda name: True).startswith("/")
        True
    """
    segments = st.text(_NAME_CHARACTERS, min_size=1, max_size=4)
    legal = segments.filter(lambda segment: segment not in (".", ".."))
    return st.lists(legal, min_size=1, max_size=3).map(lambda found: "/" + "/".join(found))


@cache
def content_types() -> st.SearchStrategy[str]:
    """Return content types: common ones, in odd case, and with charsets and other parameters."""
    return st.sampled_from(
        [
            "text/plain",
            "Text/Markdown",
            "text/plain; charset=utf-8",
            'text/html;charset="UTF-8"',
            "text/plain; charset=us-ascii",
            "text/csv; charset=iso-8859-1",
            "application/json",
            "application/ld+json",
            "application/octet-stream",
            "image/png",
            "image/svg+xml;x=y",
        ]
    )


@cache
def json_values() -> st.SearchStrategy[Any]:
    """Return JSON values: no NaN, no lone surrogates, integers of any size."""
    numbers = st.one_of(
        st.integers(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
    )
    return st.recursive(
        st.none() | st.booleans() | numbers | texts(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3),
        max_leaves=8,
    )


def contents(schema: Any) -> st.SearchStrategy[Any]:
    """Return JSON values that satisfy a schema of contents.

    Keywords that clash are left to a filter, so a schema that few values satisfy may take long.

    Arguments:
        schema: what `content_schema_of` takes.

    Examples:
        >>> from hypothesis import find
        >>> report = {"type": "object", "properties": {"pages": {"type": "integer", "minimum": 1}}}
        >>> find(contents(report), lambda value: "pages" in value)
        {'pages': 1}
    """
    return strategy_for(content_schema_of(schema), json_values(), texts())


@cache
def digests() -> st.SearchStrategy[str]:
    """Return digests: `"sha256:"` and 64 random hex digits."""
    return st.text("0123456789abcdef", min_size=64, max_size=64).map(NO_DIGEST.rstrip("0").__add__)


@st.composite
def parts(draw: st.DrawFn, *, named: bool | None = None) -> Part:
    """Return parts of any kind except local files.

    Arguments:
        draw: passed by Hypothesis.
        named: whether the parts have names; None for both.

    Examples:
        >>> from hypothesis import find
        >>> find(parts(named=False), lambda part: part.is_reference).name is None
        True
    """
    is_named = draw(st.booleans()) if named is None else named
    part = draw(st.one_of(_texts(), _binaries(), _references()))
    changes: dict[str, Any] = {"name": draw(names()) if is_named else None}
    for member in UNLISTED:
        if draw(st.booleans()):
            changes[member.argument] = draw(_objects() if member.kind is dict else texts())
    if draw(st.integers(0, 4)) == 0:
        changes["extra"] = draw(_unknown_members())
    return part.evolve(**changes)


def bodies(*, max_size: int = 6) -> st.SearchStrategy[MessageBody]:
    """Return bodies of up to `max_size` parts of any kind except local files.

    Examples:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=10)
        ... @given(bodies(max_size=3))
        ... def test_names_are_unique(body):
        ...     assert len(set(body.names())) == len(body.names()) <= 3
        >>> test_names_are_unique()
    """
    return st.lists(parts(), max_size=max_size).map(_without_clashes)


@cache
def plain_bodies(*, min_size: int = 1, max_size: int = 3) -> st.SearchStrategy[MessageBody]:
    """Return bodies of unnamed plain texts, which every format of messages can hold.

    The texts neither are empty nor begin or end in a space: some services refuse that.

    Examples:
        >>> from hypothesis import find
        >>> [part.name for part in find(plain_bodies(min_size=2), lambda body: True)]
        [None, None]
    """
    said = _sayings().map(Part)
    return st.lists(said, min_size=min_size, max_size=max_size).map(MessageBody)


@cache
def conversations(
    *, calls: bool = True, results: bool = True, texts: int = 3
) -> st.SearchStrategy[list[tuple[str, MessageBody]]]:
    """Return conversations: the role and the body of each message.

    A user asks, an assistant says something and calls tools, the tools answer in the order of the
    calls, and the assistant answers. Ids and names of tools are such as every service takes.

    Arguments:
        calls: whether tools are called.
        results: whether calls are answered.
        texts: how many texts a message has at most.

    Examples:
        >>> from hypothesis import given
        >>> @given(conversations())
        ... def test_a_user_asks_first(talk):
        ...     assert [role for role, body in talk] == ["user", "assistant", "tool", "assistant"]
        >>> test_a_user_asks_first()
    """
    said = plain_bodies(max_size=texts)
    asked = said.map(lambda body: ("user", body))
    answered = said.map(lambda body: ("assistant", body))
    made = st.lists(_calls(), min_size=1, max_size=3) if calls else st.just([])
    steps = st.tuples(said, made).map(lambda drawn: _steps(*drawn, results=results))
    talks = st.tuples(asked, steps, answered)
    return talks.map(lambda drawn: [drawn[0], *drawn[1], drawn[2]])


def _steps(
    said: MessageBody, calls: list[tuple[str, dict[str, Any], str]], *, results: bool
) -> list[tuple[str, MessageBody]]:
    """Return a message of the assistant that calls tools, and the message with their answers."""
    said, answers = said.copy(), MessageBody()
    for number, (tool, arguments, answer) in enumerate(calls, 1):
        # No id says the place of its call.
        key = f"call_{97 * number % 31}"
        call = {"id": key, "name": tool, "arguments": arguments}
        said.add(json=call, name=f"/tool/calls/{number}.json")
        about = {"tool_result": {"id": key, "name": tool}}
        answers.add(answer, name=f"/tool/results/{number}/1", metadata=about)
    steps = [("assistant", said)]
    return [*steps, ("tool", answers)] if results and calls else steps


@cache
def _calls() -> st.SearchStrategy[tuple[str, dict[str, Any], str]]:
    tools = st.sampled_from(["weather", "get_news", "pay2"])
    return st.tuples(tools, st.dictionaries(_sayings(), json_values(), max_size=2), _sayings())


@cache
def _sayings() -> st.SearchStrategy[str]:
    inner = st.text('ab1 .{}"<>\n\u00e9\u6f22\U0001f600', max_size=8)
    drawn = st.tuples(st.sampled_from("abcDEF"), inner, st.sampled_from("xyz.")).map("".join)
    return drawn | st.sampled_from(_AWKWARD)


_AWKWARD = ("two  spaces", "a line\n\nand one", '{"a": [1]}', "<b>bold</b>", "data:,a", "null")
"""Texts that a careless writer or reader changes."""


@cache
def _objects() -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(texts(), json_values(), max_size=3)


@cache
def _unknown_members() -> st.SearchStrategy[dict[str, Any]]:
    keys = texts().filter(_is_unknown)
    return st.dictionaries(keys, json_values(), min_size=1, max_size=2)


def _is_unknown(key: str) -> bool:
    try:
        check_extra({key: None})
    except InvalidPart:
        return False
    return True


@st.composite
def _texts(draw: st.DrawFn) -> Part:
    kind = draw(content_types().filter(lambda kind: "8859" not in kind))
    content = draw(st.text("ab \n") if "ascii" in kind else texts())
    return Part(content, content_type=kind)


@st.composite
def _binaries(draw: st.DrawFn) -> Part:
    content = draw(st.binary(max_size=20) | texts().map(str.encode))
    return Part(content, content_type=draw(content_types()))


@st.composite
def _references(draw: st.DrawFn) -> Part:
    url = draw(st.sampled_from([*_URLS, *_DATA_URLS]))
    # The size and digest of a data: URL are checked, so they must be right.
    is_data = url in _DATA_URLS
    sizes = st.just(len(_DATA)) if is_data else st.integers(0, 2**53 - 1)
    hashes = st.just(sha256_of(_DATA)) if is_data else digests()
    return Part(
        url=url,
        content_type=draw(content_types()),
        size=draw(st.none() | sizes),
        digest=draw(st.none() | hashes),
    )


_URLS = ("https://example.com/a?b=c#d", "s3://bucket/key", "urn:x", "HTTP://é/")
_DATA = b"a b"
_DATA_URLS = ("data:,a%20b", "data:text/plain;base64,YSBi")


def _without_clashes(found: list[Part]) -> MessageBody:
    """Return a body without the parts whose names are already taken."""
    body = MessageBody()
    for part in found:
        if part.name is None or part.name not in body:
            body.append(part)
    return body
