"""The rules of an Olympus envelope: its JSON Schema, and the rules that its prose states."""

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from messagebody._core import strict_json
from messagebody.envelopes._json_schema import iter_violations
from messagebody.envelopes._values import Problem, list_in, member, read, show
from messagebody.envelopes.olympus._schema import SCHEMA
from messagebody.findings import Finding, pointer, validator_of, verdict_of

# A URL or drive, an absolute path, or a home directory.
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|~")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


def is_repository_path(path: str) -> bool:
    r"""Return whether a path stays inside the repository on every system.

    Such a path is not empty, not absolute and not a URL. It has no drive, backslash, control
    character or segment "..".

    Examples:
        >>> is_repository_path("docs/a.md"), is_repository_path("../a"), is_repository_path("C:\\a")
        (True, False, False)
    """
    return (
        path.strip() != ""
        and _ELSEWHERE.match(path) is None
        and _CONTROL.search(path) is None
        and ".." not in path.split("/")
    )


def lies_in(path: str, places: tuple[str, ...]) -> bool:
    """Return whether a path is one of `places`, or below one that ends in "/"; none means anywhere.

    Examples:
        >>> lies_in("docs/./a.md", ("docs/",)), lies_in("docs-old/a.md", ("docs/",))
        (True, False)
    """
    # `docs/./a` lies in `docs/` too; ".." was refused before.
    plain = posixpath.normpath(path)
    return not places or any(
        plain.startswith(place) if place.endswith("/") else plain == place for place in places
    )


# RFC 9562: version 4, variant 10.
_MESSAGE_ID = re.compile(r"msg-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_ANY_MESSAGE_ID = re.compile(r"msg-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SIGNATURE = re.compile(r"[0-9a-f]{64}")
_PARENT = "/authentication/parent_message_id"


def iter_prose_findings(envelope: Any) -> Iterator[Finding]:
    """Yield findings about the rules in prose; the schema checks for values of a wrong type."""
    for check, path, problem in (
        *_identity(envelope),
        *_authentication(envelope),
        *_paths(envelope),
        *_repetitions(envelope),
    ):
        yield _finding(check, path, problem, "prose")


def _finding(check: str, where: str, problem: str, rule: str) -> Finding:
    return Finding(check, where, problem, rule=rule, place=where or "the envelope")


def _identity(envelope: Any) -> Iterator[Problem]:
    message_id = member(envelope, "envelope", "message_id")
    if isinstance(message_id, str) and _MESSAGE_ID.fullmatch(message_id) is None:
        problem = f"msg- and a UUID v4 is expected, got {show(message_id)}"
        yield "message-id", "/envelope/message_id", problem
    if member(envelope, "envelope", "session_id") == "":
        yield "session-id", "/envelope/session_id", "a session has a name, got ''"


def contradictions(envelope: Any) -> Iterator[tuple[str, Any, Any, str]]:
    """Yield each claim that the header contradicts: its name, both values, and the problem."""
    for claim, stated in (("sender_persona", "source_agent"), ("session_id", "session_id")):
        mine, theirs = (
            member(envelope, "authentication", claim),
            member(envelope, "envelope", stated),
        )
        if mine != theirs:
            yield claim, mine, theirs, f"envelope.{stated} is {show(theirs)}, got {show(mine)}"


def _authentication(envelope: Any) -> Iterator[Problem]:
    claims = member(envelope, "authentication")
    for claim, mine, theirs, problem in contradictions(envelope):
        if isinstance(mine, str) and isinstance(theirs, str):
            yield claim.replace("_", "-"), pointer("authentication", claim), problem
    parent = member(claims, "parent_message_id")
    if isinstance(parent, str) and parent and _ANY_MESSAGE_ID.fullmatch(parent) is None:
        problem = f"a message id, or '' for a root, is expected, got {show(parent)}"
        yield "parent-message-id", _PARENT, problem
    elif isinstance(parent, str) and parent == member(envelope, "envelope", "message_id"):
        yield "parent-message-id", _PARENT, "a message is not its own parent"
    signature = member(claims, "signature")
    if isinstance(signature, str) and _SIGNATURE.fullmatch(signature) is None:
        problem = f"64 lower-case hex digits are expected, got {show(signature)}"
        yield "signature-form", "/authentication/signature", problem


def _paths(envelope: Any) -> Iterator[Problem]:
    places = [("persona-path", "/persona", member(envelope, "persona"))]
    for index, attachment in enumerate(list_in(envelope, "context_attachments")):
        path = pointer("context_attachments", index, "path")
        places.append(("attachment-path", path, member(attachment, "path")))
    for check, path, value in places:
        if isinstance(value, str) and not is_repository_path(value):
            problem = f"a path relative to the repository's root is expected, got {show(value)}"
            yield check, path, problem


def _repetitions(envelope: Any) -> Iterator[Problem]:
    seen: set[tuple[str, ...]] = set()
    for index, attachment in enumerate(list_in(envelope, "context_attachments")):
        # Values of a wrong type may be unhashable; the schema reports them.
        key = tuple(show(member(attachment, name)) for name in ("type", "path", "section"))
        if key in seen:
            problem = "the same type, path and section stand earlier in the list"
            yield "attachment-repeated", pointer("context_attachments", index), problem
        seen.add(key)


def iter_findings(envelope: Any, *, strict: bool = False) -> Iterator[Finding]:
    r"""Yield everything that is wrong with an envelope.

    Arguments:
        envelope: a parsed JSON value, or JSON text.
        strict: also apply what the format states in words only (persona matches source agent,
            paths relative to the repository, UUID v4, ...), and read patterns as ECMA-262 does.
            Otherwise the verdict is that of a JSON Schema validator in Python, with format
            checking on.

    Examples:
        >>> [str(finding) for finding in iter_findings('{"persona": 1, "persona": 2}')]
        ["the envelope: member 'persona' is repeated in one object (json)"]
    """
    try:
        value = read(envelope)
    except strict_json.InvalidJson as error:
        yield _finding("json", pointer(*error.path), error.problem, "json")
        return
    for broken in iter_violations(value, SCHEMA, strict=strict):
        yield _finding(broken.keyword, broken.where, broken.problem, broken.rule)
    if strict:
        yield from iter_prose_findings(value)


is_valid = verdict_of(iter_findings)
"""Return whether nothing is wrong with an envelope; see `iter_findings`."""

validate = validator_of(iter_findings)
"""Raise `EnvelopeError` with everything that is wrong with an envelope; see `iter_findings`."""
