"""Findings: broken rules and likely mistakes, as values.

All checks of the toolkit return them: `iter_findings` here for a body, `lint` for a schema,
`iter_findings` of an envelope for a message.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, ParamSpec

import attrs

from messagebody._base import sniffing
from messagebody._base.faces import face
from messagebody._base.guards import require_parts
from messagebody._base.leaves import leaf
from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import JSON, KNOWN, LINES, essence
from messagebody._base.text import count_of, escape, quote
from messagebody._model.part import Part
from messagebody._wire import strict_json
from messagebody._wire.members import foreign_members
from messagebody.errors import EnvelopeError

if not TYPE_CHECKING:  # a type checker would assume that the module has every name
    __getattr__, _ = face(__name__)

_SHOWN: Final = 20
"""Findings in the text of an error; the error holds all of them."""
# The roles in the messages of chat APIs; a part of a body has no such member.
_ROLES: Final = ("user", "assistant", "system", "developer", "tool", "model")


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "ERROR"
    """It breaks a rule."""

    WARNING = "WARNING"
    """It is allowed, but probably a mistake."""


@attrs.frozen
class Finding:
    """State what is wrong, where, and by which rule.

    Arguments:
        check: the id of the rule, such as "M001", "required" or "type-disagrees".
        where: the place in the checked value, as a JSON Pointer (RFC 6901). It is empty for the
            whole value; in a list it begins with the position, from 0.
        problem: one clause, for a person.
        severity: an error or a warning.
        place: the place in words, if people use other words than `where`.
        rule: where the rule is stated: a JSON Pointer into a schema, or the name of a set of rules,
            such as "prose". It is empty if `check` is enough.

    Examples:
        >>> print(Finding("required", "/envelope", "the member 'version' is missing"))
        /envelope: the member 'version' is missing (required)
        >>> Finding("M001", "/1/metadata/request_id", "'a' is expected, got 'b'").index
        1
    """

    check: str
    where: str
    problem: str
    severity: Severity = attrs.field(default=Severity.ERROR, converter=Severity)
    place: str = attrs.field(default="", kw_only=True, eq=False)
    rule: str = attrs.field(default="", kw_only=True)

    @property
    def index(self) -> int | None:
        """The position in the list that was checked, None in anything else."""
        first = self.where[1:].partition("/")[0]
        return int(first) if first.isascii() and first.isdigit() else None

    def __str__(self) -> str:
        place = escape(self.place or self.where, limit=200)
        rule = f"warning {self.check}" if self.severity is Severity.WARNING else self.check
        return f"{place}{place and ': '}{self.problem} ({rule})"


def pointer(*steps: str | int) -> str:
    """Return the JSON Pointer (RFC 6901) of a place.

    Examples:
        >>> pointer("context_attachments", 0, "a/b")
        '/context_attachments/0/a~1b'
    """
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def is_error(finding: Finding) -> bool:
    """Return whether a finding makes the checked value invalid; a warning does not."""
    return finding.severity is Severity.ERROR


P = ParamSpec("P")


def verdict_of(iter_findings: Callable[P, Iterable[Finding]]) -> Callable[P, bool]:
    """Return `is_valid` for a function that yields findings; it stops at the first error.

    Arguments:
        iter_findings: yields what is wrong with its arguments.
    """

    def is_valid(*args: P.args, **kwargs: P.kwargs) -> bool:
        """Return whether there is no error; see `iter_findings` for the arguments."""
        return not any(map(is_error, iter_findings(*args, **kwargs)))

    _named_after(iter_findings, is_valid, bool)
    return is_valid


def validator_of(iter_findings: Callable[P, Iterable[Finding]]) -> Callable[P, None]:
    """Return `validate` for a function that yields findings: it raises once if one is an error.

    Arguments:
        iter_findings: yields what is wrong with its arguments.
    """

    def validate(*args: P.args, **kwargs: P.kwargs) -> None:
        """Raise once if there is an error; see `iter_findings` for the arguments.

        Raises:
            EnvelopeError: there is an error; `findings` holds all findings, warnings too.
        """
        found = tuple(iter_findings(*args, **kwargs))
        if any(map(is_error, found)):
            told = ". ".join(map(str, found[:_SHOWN]))
            raise EnvelopeError(f"{count_of(len(found), 'finding')}. {told}", found)

    _named_after(iter_findings, validate, None)
    return validate


def _named_after(
    iter_findings: Callable[..., Any], made: Callable[..., Any], returned: type | None
) -> None:
    """Give a function that is made of another its module and arguments, for help and pickling."""
    made.__module__ = iter_findings.__module__
    signature = inspect.signature(iter_findings).replace(return_annotation=returned)
    made.__signature__ = signature  # type: ignore[attr-defined]


def iter_findings(parts: Iterable[Part]) -> Iterator[Finding]:
    """Yield likely mistakes in a legal body, part by part.

    The checks are `type-disagrees` (the bytes have another type than the part states),
    `name-disagrees` (the name ends as those of another type), `not-json` (the type is one of JSON,
    the content is not), `chat-message` (the member `role` belongs to a message of a chat API),
    `foreign-member` (another format's name for a member of a part), and those about links, such as
    `link-dangles`. Of local files, the first bytes are read.

    Examples:
        >>> from messagebody import MessageBody, Part
        >>> body = MessageBody([Part(b"%PDF-1.7 ...", name="/a.png", content_type="image/png")])
        >>> print(*iter_findings(body))
        part 0 '/a.png': it states image/png, its bytes are application/pdf (warning type-disagrees)
    """
    listed = [*require_parts(parts)]
    for index, part in enumerate(listed):
        yield from _warnings(index, part, _strangers(part))
        yield from _warnings(index, part, _misnamed(part))
        yield from _warnings(index, part, () if part.is_reference else _problems(part))
    yield from leaf("link_findings")(listed)


def iter_strangers(parts: Iterable[Part]) -> Iterator[Finding]:
    """Yield what shows that a body was meant as a message of another format; nothing is read.

    These are the findings `chat-message` and `foreign-member` of `iter_findings`.
    """
    for index, part in enumerate(parts):
        yield from _warnings(index, part, _strangers(part))


def _warnings(index: int, part: Part, problems: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    for check, problem in problems:
        place = f"part {index}" + (f" {quote(part.name)}" if part.name else "")
        yield Finding(check, pointer(index), problem, Severity.WARNING, place=place)


def _strangers(part: Part) -> Iterator[tuple[str, str]]:
    if not part.extra:
        return
    if part.name is None and part.extra.get("role") in _ROLES:
        role = quote(part.extra["role"])
        yield "chat-message", f"role {role} makes it look like a message of a chat API, not a part"
    for key, meant in foreign_members(part.extra):
        yield "foreign-member", f"its member {quote(key)} means nothing in a body: it is {meant}"


def _misnamed(part: Part) -> Iterator[tuple[str, str]]:
    named, stated = sniffing.from_name(part.name or ""), part.content_type
    if essence(stated) not in KNOWN:  # it may be another word for the same, such as application/csv
        return
    # A format that holds others may be named for one of them, and the other way round.
    if named and not (sniffing.agree(stated, named) or sniffing.agree(named, stated)):
        yield "name-disagrees", f"its name is one of {named}, it states {stated}"


def _problems(part: Part) -> Iterator[tuple[str, str]]:
    found = sniffing.content_type(_head(part))
    if not sniffing.agree(part.content_type, found):
        yield "type-disagrees", f"it states {part.content_type}, its bytes are {found}"
    elif part.local_file is None and (flaw := _flaw_of_json(part)):
        yield "not-json", f"it states {part.content_type}, but it is {flaw}"


def _flaw_of_json(part: Part) -> str | None:
    """Return why content whose type is one of JSON is none, None if it is or need not be."""
    kind = essence(part.content_type)
    if kind not in {JSON, *LINES} and not kind.endswith("+json"):
        return None
    data = part.read_bytes()
    documents = [line for line in data.splitlines() if line.strip()] if kind in LINES else [data]
    try:
        for document in documents:
            strict_json.loads(document, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as error:
        return str(error)
    return None


def _head(part: Part) -> bytes:
    with part.open() as stream:
        return stream.read(sniffing.HEAD)
