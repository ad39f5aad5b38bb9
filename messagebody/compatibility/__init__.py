"""Compatibility of schemas: decide exactly whether every body of one is valid for another.

`check` makes the decision. Other relations, the algebra of schemas, and suggestions for pairs that
do not fit build on it.
"""

from typing import TYPE_CHECKING

from messagebody._base.faces import face

if TYPE_CHECKING:
    from messagebody.compatibility._algebra import join, meet, simplify
    from messagebody.compatibility._inclusion import Compatibility, Verdict, check
    from messagebody.compatibility._lint import lint
    from messagebody.compatibility._reasons import Reason, Rejection
    from messagebody.compatibility._relations import (
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
    from messagebody.compatibility._solver.budget import DEFAULT_STEPS
    from messagebody.compatibility._solver.profile import PartType
    from messagebody.compatibility._stream import Status, Stream
    from messagebody.compatibility._suggestions import CONVERTERS, Edit, Suggestion, suggest

__all__ = [
    "CONVERTERS",
    "DEFAULT_STEPS",
    "Compatibility",
    "Edit",
    "Evolution",
    "PartType",
    "Reason",
    "Rejection",
    "Relation",
    "Status",
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
    "satisfiable",
    "simplify",
    "suggest",
    "upgrade",
]

if not TYPE_CHECKING:  # so that type checkers accept only the names above
    __getattr__, __dir__ = face(
        __name__,
        {
            "._algebra": "join meet simplify",
            "._inclusion": "Compatibility Verdict check",
            "._lint": "lint",
            "._reasons": "Reason Rejection",
            "._relations": "Evolution Relation Upgrade dead_parts disjoint equivalent evolution "
            "satisfiable upgrade",
            "._solver.budget": "DEFAULT_STEPS",
            "._solver.profile": "PartType",
            "._stream": "Status Stream",
            "._suggestions": "CONVERTERS Edit Suggestion suggest",
        },
    )
