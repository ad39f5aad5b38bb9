"""Certificates of workflows: proofs that others can check without the decision."""

from collections.abc import Iterator
from typing import Any, Final

from messagebody.compatibility import certificates, check
from messagebody.workflows._images import joint_image
from messagebody.workflows._inspection import Leg, groups, legs
from messagebody.workflows._workflow import Workflow, require_workflow

_VERSION: Final = 1


def certify(workflow: Workflow) -> dict[str, Any] | None:
    """Return the proof that all that reaches each agent is always valid for it, as JSON.

    None if that is not so, or if no proof was found: proofs read what steps do off the texts of
    patterns, and not every *always* can be shown like that. Rules about flows are no part of it.

    Arguments:
        workflow: the workflow.

    Examples:
        >>> from messagebody import Agent, MessageBodySchema
        >>> from messagebody.workflows import mount
        >>> sent = MessageBodySchema([("/a.txt", "text/plain", True)])
        >>> taken = MessageBodySchema([("/in/*", "text/*")])
        >>> agents = [Agent("scout", sent, sent), Agent("writer", taken, sent)]
        >>> workflow = Workflow(agents, [("scout", "writer", [mount("/in")])])
        >>> verify(workflow, certify(workflow))
        True
    """
    require_workflow(workflow)
    agents = {}
    for name in workflow.agents:
        proofs = []
        for leg in _legs_of(workflow, name):
            image = joint_image(leg.chains)
            proof = None if image is None else check(image, leg.takes).certificate
            if proof is None:
                return None
            proofs.append(proof)
        if proofs:
            agents[name] = proofs
    return {"version": _VERSION, "agents": agents}


def verify(workflow: Workflow, certificate: Any) -> bool:
    """Return whether a certificate proves that all that reaches each agent is valid for it.

    What steps do to schemas is worked out anew, and nothing of the decision is used; the proof of
    each agent is checked as that of a pair is.

    Arguments:
        workflow: the workflow.
        certificate: the certificate, which may be untrusted.
    """
    require_workflow(workflow)
    match certificate:
        case {"version": version, "agents": {**agents}} if version == _VERSION:
            return all(
                _is_proved(list(_legs_of(workflow, name)), agents.get(name))
                for name in workflow.agents
            )
    return False


def _is_proved(asked: list[Leg], proofs: Any) -> bool:
    if not asked:
        return True
    if not isinstance(proofs, list) or len(proofs) != len(asked):
        return False
    return all(_proves(leg, proof) for leg, proof in zip(asked, proofs, strict=True))


def _proves(leg: Leg, proof: Any) -> bool:
    image = joint_image(leg.chains)
    return image is not None and certificates.verify(image, leg.takes, proof)


def _legs_of(workflow: Workflow, name: str) -> Iterator[Leg]:
    for group in groups(workflow.incoming(name)):
        yield from legs(workflow.agents[name], group)
