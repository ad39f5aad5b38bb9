"""The published policy of an Olympus boundary: which roles may write where."""

from collections.abc import Mapping
from typing import Any, Self

import attrs

from messagebody._base.text import count_of


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

    # Signatures in `help` show the published policy as a default.
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


_DIRECTORY = "governance/personas/agentic/"
_DIRECTORS = ("project-manager", "devops-engineer", "tech-lead")
_DOWN = ["ASSIGN", "CANCEL"]
_DOWN_AND_BACK = ["ASSIGN", "CANCEL", "FEEDBACK"]
_WORK = ["STATUS", "RESULT", "ESCALATE"]
_JUDGEMENT = ["FEEDBACK", "APPROVE", "BLOCK", "ESCALATE"]

_TRANSITIONS = {
    "project-manager": {"devops-engineer": _DOWN, "tech-lead": _DOWN},
    "devops-engineer": {"project-manager": [*_WORK, "WATCH"], "tech-lead": _DOWN},
    "tech-lead": {
        "project-manager": _WORK,
        "devops-engineer": _WORK,
        "coder": _DOWN_AND_BACK,
        "iac-engineer": _DOWN_AND_BACK,
        "tdd-tester": _DOWN_AND_BACK,
        "document-writer": _DOWN_AND_BACK,
        "validation-tester": _DOWN,
        "documentation-reviewer": _DOWN,
    },
    "coder": {"tech-lead": _WORK},
    "iac-engineer": {"tech-lead": _WORK},
    "tdd-tester": {"tech-lead": _WORK},
    "document-writer": {"tech-lead": _WORK},
    "validation-tester": {"tech-lead": _JUDGEMENT},
    "documentation-reviewer": {"tech-lead": _JUDGEMENT},
}

_ANY: dict[str, Any] = {}
_PLANS = {"paths": [".artifacts/plans/"]}
_CHECKPOINTS = {"paths": [".artifacts/checkpoints/", ".artifacts/state/"]}
_CONVENTIONS = {"paths": ["project.yaml"], "sections": ["conventions"]}


def _published_boundary(
    persona: str, messages: list[str], **attachments: dict[str, Any]
) -> dict[str, Any]:
    directors = () if persona in _DIRECTORS else _DIRECTORS
    definitions = {
        "paths": [_DIRECTORY],
        "withheld": [f"{_DIRECTORY}{director}.md" for director in directors],
    }
    return {
        "persona": f"{_DIRECTORY}{persona}.md",
        "messages": messages,
        "attachments": {"persona_definition": definitions, **attachments},
    }


_BOUNDARIES = {
    "project-manager": _published_boundary(
        "project-manager",
        [*_WORK, "WATCH"],
        config={"paths": ["project.yaml"], "sections": ["governance"]},
        checkpoint=_CHECKPOINTS,
    ),
    "devops-engineer": _published_boundary(
        "devops-engineer", [*_DOWN, *_WORK], config=_ANY, checkpoint=_CHECKPOINTS
    ),
    "tech-lead": _published_boundary(
        "tech-lead", [*_DOWN, *_WORK, *_JUDGEMENT], plan=_PLANS, config=_ANY
    ),
    "coder": _published_boundary(
        "coder", _DOWN_AND_BACK, plan=_PLANS, source_file=_ANY, config=_CONVENTIONS
    ),
    "iac-engineer": _published_boundary(
        "iac-engineer", _DOWN_AND_BACK, plan=_PLANS, source_file=_ANY, config=_CONVENTIONS
    ),
    "validation-tester": _published_boundary(
        "validation-tester", _DOWN, coder_result=_ANY, source_file=_ANY, config=_CONVENTIONS
    ),
    "tdd-tester": _published_boundary(
        "tdd-tester", _DOWN_AND_BACK, coder_result=_ANY, source_file=_ANY, config=_CONVENTIONS
    ),
    "document-writer": _published_boundary(
        "document-writer",
        _DOWN_AND_BACK,
        source_file=_ANY,
        documentation=_ANY,
        config=_CONVENTIONS,
    ),
    "documentation-reviewer": _published_boundary(
        "documentation-reviewer", _DOWN, documentation=_ANY, config=_CONVENTIONS
    ),
}

PUBLISHED = AccessPolicy.from_dict({"transitions": _TRANSITIONS, "boundaries": _BOUNDARIES})
"""The published table, as a starting point; `AccessPolicy.from_dict` takes your own."""
