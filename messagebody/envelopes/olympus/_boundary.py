"""The boundary of an Olympus agent: the messages and files that may enter and leave."""

from collections.abc import Container, Iterator
from typing import Any, NamedTuple

from messagebody.envelopes._values import Message, list_in, member, read_object, shown, text_of
from messagebody.envelopes.olympus._policy import AccessPolicy, Boundary, Scope
from messagebody.envelopes.olympus._rules import is_repository_path, lies_in
from messagebody.findings import Finding, Severity, pointer


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
        # One reason is enough to leave an attachment out.
        refused = next(_attachment(attachment, boundary), None)
        (removed if refused else kept).append(attachment)
    if not removed:
        return Stripped(dict(value), ())
    claims = value.get("authentication")
    rest = {**value, "context_attachments": kept}
    if not isinstance(claims, dict) or "signature" not in claims:
        return Stripped(rest, tuple(removed))
    # The signature would be over another content, so it would only look valid.
    rest["authentication"] = {k: v for k, v in claims.items() if k != "signature"}
    return Stripped(rest, tuple(removed))


def _route(value: dict[str, Any], policy: AccessPolicy) -> Iterator[tuple[str, str, str]]:
    source = text_of(value, "envelope", "source_agent")
    target = text_of(value, "envelope", "target_agent")
    kind = text_of(value, "protocol_message", "message_type")
    boundary = policy.boundaries.get(target)
    allowed = sorted(policy.types_between(source, target))
    between = f"from {shown(source)} to {shown(target)}"
    if not allowed:
        yield "transition", "/envelope/target_agent", f"there is no route {between}"
    elif kind not in allowed:
        problem = f"{shown(kind)} doesn't go {between}; {', '.join(allowed)} do"
        yield "transition", "/protocol_message/message_type", problem
    elif boundary and kind not in boundary.messages:
        problem = f"{shown(target)} doesn't take {shown(kind)}"
        yield "message-type", "/protocol_message/message_type", problem
    if boundary is None:
        problem = f"{shown(target)} is not listed, so it receives nothing"
        yield "target-unlisted", "/envelope/target_agent", problem
    elif value.get("persona") != boundary.persona:
        problem = (
            f"{shown(target)} has {shown(boundary.persona)}, got {shown(value.get('persona'))}"
        )
        yield "persona-target", "/persona", problem


def _claims(
    value: dict[str, Any], known_messages: Container[str]
) -> Iterator[tuple[str, str, str]]:
    claims = value.get("authentication")
    if not isinstance(claims, dict) or not claims:
        yield "auth-missing", "/authentication", "nothing shows who sent this"
        return
    for check, claim, stated in (
        ("auth-persona", "sender_persona", "source_agent"),
        ("auth-session", "session_id", "session_id"),
    ):
        theirs = member(value, "envelope", stated)
        if claims.get(claim) != theirs:
            problem = f"envelope.{stated} is {shown(theirs)}, got {shown(claims.get(claim))}"
            yield check, pointer("authentication", claim), problem
    parent = claims.get("parent_message_id", "")
    if parent != "" and (not isinstance(parent, str) or parent not in known_messages):
        problem = f"no known message has the id {shown(parent)}"
        yield "auth-parent", "/authentication/parent_message_id", problem


def _attachments(value: dict[str, Any], policy: AccessPolicy) -> Iterator[tuple[str, str, str]]:
    boundary = policy.boundaries.get(text_of(value, "envelope", "target_agent"))
    for index, attachment in enumerate(list_in(value, "context_attachments")):
        for check, step, problem in _attachment(attachment, boundary):
            yield check, pointer("context_attachments", index) + step, problem


def _attachment(attachment: Any, boundary: Boundary | None) -> Iterator[tuple[str, str, str]]:
    """Yield the reasons why an agent may not have an attachment: check, place in it, problem."""
    kind, path = member(attachment, "type"), member(attachment, "path")
    scope = boundary.attachments.get(kind) if boundary and isinstance(kind, str) else None
    # An agent that is not listed gets nothing, and no type passes unless its boundary names it.
    if scope is None:
        yield "attachment-type", "", f"the receiver may not have a {shown(kind)}"
    elif not isinstance(path, str) or not is_repository_path(path):
        yield "attachment-path", "/path", f"{shown(path)} may lead out of the repository"
    else:
        yield from _scope(scope, path, member(attachment, "section"))


def _scope(scope: Scope, path: str, section: Any) -> Iterator[tuple[str, str, str]]:
    if not lies_in(path, scope.paths) or (scope.withheld and lies_in(path, scope.withheld)):
        yield "attachment-scope", "/path", f"{shown(path)} is not for this receiver"
    if section is not None and scope.sections is not None and section not in scope.sections:
        problem = f"section {shown(section)} is not for this receiver"
        yield "attachment-scope", "/section", problem
