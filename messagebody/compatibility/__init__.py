"""Compatibility: questions about all bodies of schemas, answered exactly and with bodies as proof.

This is all that others may ask. They ask about schemas; patterns, automata and budgets of a search
stay inside.

`check` decides whether every body of one schema is valid for another, and answers with a
`Compatibility`: its `Verdict`, a counterexample, an example that is valid for both, and each
`Reason`. `suggest` changes one side of a pair that does not fit, and `evolution` compares two
versions of a schema.

`satisfiable`, `disjoint` and `equivalent` answer yes, no, or None if the budget ended first, with a
body that shows it. So `satisfiable(schema).witness` is a body that is valid for a schema.

`meet` is what two schemas both accept, and `join` what either of them accepts; `simplify` says the
same in fewer parts. What becomes of a schema on a way, such as the names that a step changes, is a
schema again: ask `check` about it.

`lint` finds what was hardly meant, such as a part that no valid body has. A `SchemaStream` tells
of a message that still arrives whether it can become valid.

Whoever asks several questions gives each its `max_steps`; the answer is *undecided*, or None, if
they are used up, and the same on every machine.
"""

from typing import TYPE_CHECKING

from messagebody._base.faces import face

if TYPE_CHECKING:
    from messagebody.compatibility._algebra import join, meet, simplify
    from messagebody.compatibility._inclusion import Compatibility, Verdict, check
    from messagebody.compatibility._lint import lint
    from messagebody.compatibility._reasons import Reason
    from messagebody.compatibility._relations import disjoint, equivalent, evolution, satisfiable
    from messagebody.compatibility._stream import SchemaStream
    from messagebody.compatibility._suggestions import suggest

__all__ = [
    "Compatibility",
    "Reason",
    "SchemaStream",
    "Verdict",
    "check",
    "disjoint",
    "equivalent",
    "evolution",
    "join",
    "lint",
    "meet",
    "satisfiable",
    "simplify",
    "suggest",
]

if not TYPE_CHECKING:  # so that type checkers accept only the names above
    __getattr__, __dir__ = face(
        __name__,
        {
            "._algebra": "join meet simplify",
            "._inclusion": "Compatibility Verdict check",
            "._lint": "lint",
            "._reasons": "Reason",
            "._relations": "disjoint equivalent evolution satisfiable",
            "._stream": "SchemaStream",
            "._suggestions": "suggest",
        },
    )
