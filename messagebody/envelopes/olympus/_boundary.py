"""The boundary of an Olympus agent: who may send it what, and the files that it may receive."""

from collections.abc import Container, Iterator, Mapping
from typing import Any, NamedTuple, Self

import msgspec

from messagebody._core import count_of
from messagebody.envelopes._values import (
    Message,
    Problem,
    list_in,
    member,
    read_object,
    show,
    text_of,
)
from messagebody.envelopes.olympus._rules import contradictions, is_repository_path, lies_in
from messagebody.envelopes.olympus._signature import without_signature
from messagebody.errors import InvalidArgument
from messagebody.findings import Finding, Severity, pointer


class _Scope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The files of one attachment type that an agent may receive.

    `paths` and `withheld` name files, and directories, which end in "/"; no paths mean any. No
    `sections` mean any of a file; a whole file, without a section, passes.
    """

    paths: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    sections: tuple[str, ...] | None = None


class _Boundary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one agent may receive: types of messages, and of attachments, each with its scope."""

    persona: str
    messages: frozenset[str] = frozenset()
    attachments: dict[str, _Scope] = {}


class AccessPolicy(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, repr_omit_defaults=True
):
    """Say who may send what to whom, and what each agent may receive; see `from_dict`."""

    transitions: dict[str, dict[str, frozenset[str]]]
    boundaries: dict[str, _Boundary]

    def __repr__(self) -> str:
        senders, receivers = len(self.transitions), len(self.boundaries)
        return f"<AccessPolicy: {count_of(senders, 'sender')}, {count_of(receivers, 'receiver')}>"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make a policy of plain data, such as a parsed JSON or YAML file.

        Arguments:
            data: `transitions` has the message types by sender and receiver. `boundaries` has by
                receiver its `persona`, the `messages` that it takes, and its `attachments` by type:
                `paths` that it may have, those `withheld`, and `sections`. A directory ends in
                "/". A receiver without a boundary receives nothing.

        Raises:
            InvalidArgument: the data has another shape, or a member that is misspelt.

        Examples:
            >>> AccessPolicy.from_dict({
            ...     "transitions": {"coder": {"tech-lead": ["RESULT"]}},
            ...     "boundaries": {"tech-lead": {"persona": "lead.md", "messages": ["RESULT"]}},
            ... })
            <AccessPolicy: 1 sender, 1 receiver>
        """
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise InvalidArgument("the data of a policy", data, hint=str(error)) from error


class Stripped(NamedTuple):
    """Hold an envelope without the attachments that its receiver may not have."""

    envelope: dict[str, Any]
    removed: tuple[dict[str, Any], ...]
    """The attachments that were removed, in order."""

    @property
    def voided(self) -> bool:
        """Whether a signature of the original envelope is void, as a signed part was removed."""
        return bool(self.removed)


def iter_boundary_findings(
    envelope: Message,
    policy: AccessPolicy,
    *,
    known_messages: Container[str] = (),
) -> Iterator[Finding]:
    """Yield a finding for everything in an envelope that a policy doesn't allow.

    Arguments:
        envelope: parsed JSON, or JSON text; one that passed `validate`.
        policy: the rules.
        known_messages: ids of messages that may be a parent.

    Raises:
        EnvelopeError: the envelope is not a strict JSON object.
    """
    value = read_object(envelope, "an envelope")
    for check, path, problem in (
        *_route(value, policy),
        *_claims(value, known_messages),
        *_attachments(value, policy),
    ):
        yield Finding(check, path, problem, Severity.ERROR, rule="boundary")


def strip(envelope: Message, policy: AccessPolicy) -> Stripped:
    """Return a new envelope without the attachments its receiver may not have.

    If any attachment is removed, the signature is removed too.

    Raises:
        EnvelopeError: the envelope is not a strict JSON object.
    """
    value = read_object(envelope, "an envelope")
    boundary = policy.boundaries.get(text_of(value, "envelope", "target_agent"))
    kept: list[Any] = []
    removed: list[Any] = []
    for attachment in list_in(value, "context_attachments"):
        is_refused = any(True for _ in _attachment(attachment, boundary))
        (removed if is_refused else kept).append(attachment)
    if not removed:
        return Stripped(dict(value), ())
    # The signature would be over another content, so it would only look valid.
    return Stripped(without_signature({**value, "context_attachments": kept}), tuple(removed))


def _route(value: dict[str, Any], policy: AccessPolicy) -> Iterator[Problem]:
    source = text_of(value, "envelope", "source_agent")
    target = text_of(value, "envelope", "target_agent")
    kind = text_of(value, "protocol_message", "message_type")
    boundary = policy.boundaries.get(target)
    allowed = sorted(policy.transitions.get(source, {}).get(target, ()))
    between = f"from {show(source)} to {show(target)}"
    if not allowed:
        yield "transition", "/envelope/target_agent", f"there is no route {between}"
    elif kind not in allowed:
        problem = f"{show(kind)} doesn't go {between}; {', '.join(allowed)} do"
        yield "transition", "/protocol_message/message_type", problem
    elif boundary and kind not in boundary.messages:
        problem = f"{show(target)} doesn't take {show(kind)}"
        yield "message-type", "/protocol_message/message_type", problem
    if boundary is None:
        problem = f"{show(target)} is not listed, so it receives nothing"
        yield "target-unlisted", "/envelope/target_agent", problem
    elif value.get("persona") != boundary.persona:
        problem = f"{show(target)} has {show(boundary.persona)}, got {show(value.get('persona'))}"
        yield "persona-target", "/persona", problem


def _claims(value: dict[str, Any], known_messages: Container[str]) -> Iterator[Problem]:
    claims = value.get("authentication")
    if not isinstance(claims, dict) or not claims:
        yield "auth-missing", "/authentication", "nothing shows who sent this"
        return
    checks = {"sender_persona": "auth-persona", "session_id": "auth-session"}
    for claim, _, _, problem in contradictions(value):
        yield checks[claim], pointer("authentication", claim), problem
    parent = claims.get("parent_message_id", "")
    if parent != "" and (not isinstance(parent, str) or parent not in known_messages):
        problem = f"no known message has the id {show(parent)}"
        yield "auth-parent", "/authentication/parent_message_id", problem


def _attachments(value: dict[str, Any], policy: AccessPolicy) -> Iterator[Problem]:
    boundary = policy.boundaries.get(text_of(value, "envelope", "target_agent"))
    for index, attachment in enumerate(list_in(value, "context_attachments")):
        for check, step, problem in _attachment(attachment, boundary):
            yield check, pointer("context_attachments", index) + step, problem


def _attachment(attachment: Any, boundary: _Boundary | None) -> Iterator[Problem]:
    """Yield the reasons why an agent may not have an attachment: check, place in it, problem."""
    kind, path = member(attachment, "type"), member(attachment, "path")
    scope = boundary.attachments.get(kind) if boundary and isinstance(kind, str) else None
    # An agent that is not listed gets nothing, and no type passes unless its boundary names it.
    if scope is None:
        yield "attachment-type", "", f"the receiver may not have a {show(kind)}"
    elif not isinstance(path, str) or not is_repository_path(path):
        yield "attachment-path", "/path", f"{show(path)} may lead out of the repository"
    else:
        yield from _scope(scope, path, member(attachment, "section"))


def _scope(scope: _Scope, path: str, section: Any) -> Iterator[Problem]:
    if not lies_in(path, scope.paths) or (scope.withheld and lies_in(path, scope.withheld)):
        yield "attachment-scope", "/path", f"{show(path)} is not for this receiver"
    if section is not None and scope.sections is not None and section not in scope.sections:
        problem = f"section {show(section)} is not for this receiver"
        yield "attachment-scope", "/section", problem
