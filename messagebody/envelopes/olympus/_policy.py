"""The policy of an Olympus boundary: who may send what to whom, and what each may receive."""

from collections.abc import Mapping
from typing import Any, Self

import attrs

from messagebody._core import count_of


@attrs.frozen
class Scope:
    """Say which files of one attachment type an agent may receive.

    Arguments:
        paths: the allowed files, and directories, which end in "/"; none means any.
        withheld: files that are not allowed, although `paths` contains them.
        sections: sections of a file; None means any. A whole file, without a section, passes.
    """

    paths: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    withheld: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    sections: tuple[str, ...] | None = attrs.field(
        default=None, converter=attrs.converters.optional(tuple)
    )


@attrs.frozen
class Boundary:
    """Say what one agent may receive.

    Arguments:
        persona: the path of its persona definition.
        messages: message types it takes.
        attachments: attachment types it takes, each with its scope.
    """

    persona: str
    messages: frozenset[str] = attrs.field(default=frozenset(), converter=frozenset)
    attachments: Mapping[str, Scope] = attrs.field(factory=dict)


@attrs.frozen
class AccessPolicy:
    """Say who may send what to whom, and what each agent may receive.

    Arguments:
        transitions: by sender and receiver, the message types between them.
        boundaries: by receiver; a receiver without one receives nothing.

    Examples:
        >>> policy = AccessPolicy.from_dict({
        ...     "transitions": {"coder": {"tech-lead": ["RESULT"]}},
        ...     "boundaries": {"tech-lead": {"persona": "lead.md", "messages": ["RESULT"]}},
        ... })
        >>> policy.allows("coder", "tech-lead", "RESULT")
        True
        >>> AccessPolicy.from_dict(policy.to_dict()) == policy
        True
    """

    transitions: Mapping[str, Mapping[str, frozenset[str]]] = attrs.field(
        repr=lambda senders: f"<{count_of(len(senders), 'sender')}>"
    )
    boundaries: Mapping[str, Boundary] = attrs.field(
        repr=lambda receivers: f"<{count_of(len(receivers), 'receiver')}>"
    )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make a policy of plain data, such as a parsed JSON or YAML file."""
        return cls(
            {
                sender: {receiver: frozenset(types) for receiver, types in receivers.items()}
                for sender, receivers in data["transitions"].items()
            },
            {name: _boundary(boundary) for name, boundary in data["boundaries"].items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain data, for JSON or YAML."""
        return {
            "transitions": {
                sender: {receiver: sorted(types) for receiver, types in receivers.items()}
                for sender, receivers in self.transitions.items()
            },
            "boundaries": {
                name: {
                    "persona": boundary.persona,
                    "messages": sorted(boundary.messages),
                    "attachments": {
                        kind: _plain_scope(scope) for kind, scope in boundary.attachments.items()
                    },
                }
                for name, boundary in self.boundaries.items()
            },
        }

    def allows(self, sender: str, receiver: str, message_type: str) -> bool:
        """Return whether a message type may go from one agent to another."""
        return message_type in self.types_between(sender, receiver)

    def types_between(self, sender: str, receiver: str) -> frozenset[str]:
        """Return the message types that may go from one agent to another; none without a route."""
        return self.transitions.get(sender, {}).get(receiver, frozenset())


def _boundary(data: Mapping[str, Any]) -> Boundary:
    attachments = data.get("attachments", {})
    scopes = {kind: Scope(**scope) for kind, scope in attachments.items()}
    return Boundary(data["persona"], data.get("messages", ()), scopes)


def _plain_scope(scope: Scope) -> dict[str, list[str]]:
    plain = {
        name: list(values) for name in ("paths", "withheld") if (values := getattr(scope, name))
    }
    # An empty list means no section; None means any section.
    return plain if scope.sections is None else {**plain, "sections": list(scope.sections)}
