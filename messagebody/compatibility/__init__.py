"""Compatibility of schemas: is every body of this one valid for that one? Exactly decided.

`check` answers; `relations` of other kinds, schemas made of schemas, suggestions for a pair that
does not fit and a `Registry` of many agents build on it.
"""

from messagebody.compatibility.agents import Agent, AgentFiles, read_agents
from messagebody.compatibility.algebra import join, meet, simplify
from messagebody.compatibility.inclusion import Compatibility, Verdict, check
from messagebody.compatibility.lint import lint
from messagebody.compatibility.questions import Impact, Neighbours, Questions
from messagebody.compatibility.reasons import Reason, Rejection
from messagebody.compatibility.registry import Registry
from messagebody.compatibility.relations import (
    Evolution,
    Relation,
    Upgrade,
    dead_parts,
    disjoint,
    equivalent,
    evolution,
    satisfiable,
    upgrade,
)
from messagebody.compatibility.stored import StoredRegistry
from messagebody.compatibility.suggestions import CONVERTERS, Edit, Suggestion, suggest
from messagebody.schema.stream import Status, Stream
from messagebody.solver.budget import DEFAULT_STEPS
from messagebody.solver.profile import PartType

__all__ = [
    "CONVERTERS",
    "DEFAULT_STEPS",
    "Agent",
    "AgentFiles",
    "Compatibility",
    "Edit",
    "Evolution",
    "Impact",
    "Neighbours",
    "PartType",
    "Questions",
    "Reason",
    "Registry",
    "Rejection",
    "Relation",
    "Status",
    "StoredRegistry",
    "Stream",
    "Suggestion",
    "Upgrade",
    "Verdict",
    "check",
    "dead_parts",
    "disjoint",
    "equivalent",
    "evolution",
    "join",
    "lint",
    "meet",
    "read_agents",
    "satisfiable",
    "simplify",
    "suggest",
    "upgrade",
]
