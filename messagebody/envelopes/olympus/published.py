"""The published boundary table, as a policy.

Personas have their names of today (`tdd-tester` was `test-writer`, `validation-tester` was
`test-evaluator`). Two entries of the table are one attachment type in an envelope, so their
places are joined: state of the orchestrator travels as a checkpoint, issue metadata and panel
prompts as config. Persona definitions may be shown to others, but those who direct the work are
not described to those who do it: workers and evaluators never receive the context of the
project manager, the devops engineer or the tech lead.
"""

from typing import Any

from messagebody.envelopes.olympus.policy import Policy

__all__ = ["PUBLISHED"]

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


def _boundary(persona: str, messages: list[str], **attachments: dict[str, Any]) -> dict[str, Any]:
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
    "project-manager": _boundary(
        "project-manager",
        [*_WORK, "WATCH"],
        config={"paths": ["project.yaml"], "sections": ["governance"]},
        checkpoint=_CHECKPOINTS,
    ),
    "devops-engineer": _boundary(
        "devops-engineer", [*_DOWN, *_WORK], config=_ANY, checkpoint=_CHECKPOINTS
    ),
    "tech-lead": _boundary("tech-lead", [*_DOWN, *_WORK, *_JUDGEMENT], plan=_PLANS, config=_ANY),
    "coder": _boundary("coder", _DOWN_AND_BACK, plan=_PLANS, source_file=_ANY, config=_CONVENTIONS),
    "iac-engineer": _boundary(
        "iac-engineer", _DOWN_AND_BACK, plan=_PLANS, source_file=_ANY, config=_CONVENTIONS
    ),
    "validation-tester": _boundary(
        "validation-tester", _DOWN, coder_result=_ANY, source_file=_ANY, config=_CONVENTIONS
    ),
    "tdd-tester": _boundary(
        "tdd-tester", _DOWN_AND_BACK, coder_result=_ANY, source_file=_ANY, config=_CONVENTIONS
    ),
    "document-writer": _boundary(
        "document-writer",
        _DOWN_AND_BACK,
        source_file=_ANY,
        documentation=_ANY,
        config=_CONVENTIONS,
    ),
    "documentation-reviewer": _boundary(
        "documentation-reviewer", _DOWN, documentation=_ANY, config=_CONVENTIONS
    ),
}

PUBLISHED = Policy.from_dict({"transitions": _TRANSITIONS, "boundaries": _BOUNDARIES})
"""The published table; a starting point, `Policy.from_dict` takes your own."""
