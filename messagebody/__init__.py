"""The body of an agent's message as a small filesystem.

A body is an ordered list of parts, some of them named by POSIX paths. Build it, pick parts by
glob, validate it against a schema, ask whether one agent's output fits another's input, move
large parts to a store and pass URLs around.
"""

from typing import TYPE_CHECKING

from messagebody._base.faces import face

if TYPE_CHECKING:
    from messagebody._base.limits import Limits
    from messagebody._model.body import MessageBody
    from messagebody._model.part import Part
    from messagebody.agents import Agent, Exchange
    from messagebody.compatibility import Compatibility, Verdict, check
    from messagebody.errors import MessageBodyError, UnsafeReference
    from messagebody.patches import Patch, diff
    from messagebody.samples import sample
    from messagebody.schema import MessageBodySchema, SchemaPart, Violation
    from messagebody.storage import (
        Resolver,
        ainline,
        aoffload,
        apresent,
        fetch,
        inline,
        migrate,
        offload,
        present,
        put_content,
        sweep,
        verify,
    )  # fmt: skip

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Compatibility",
    "Exchange",
    "Limits",
    "MessageBody",
    "MessageBodyError",
    "MessageBodySchema",
    "Part",
    "Patch",
    "Resolver",
    "SchemaPart",
    "UnsafeReference",
    "Verdict",
    "Violation",
    "ainline",
    "aoffload",
    "apresent",
    "check",
    "diff",
    "fetch",
    "inline",
    "migrate",
    "offload",
    "present",
    "put_content",
    "sample",
    "sweep",
    "verify",
]

if not TYPE_CHECKING:  # for a type checker, a name is there only if it is listed above
    __getattr__, __dir__ = face(
        __name__,
        {
            # What annotations name, and programs reach without an import of their own.
            "": "compatibility errors filesystem patches storage views",
            "._base.limits": "Limits",
            "._model.body": "MessageBody",
            "._model.part": "Part",
            ".agents": "Agent Exchange",
            ".compatibility": "Compatibility Verdict check",
            ".errors": "MessageBodyError UnsafeReference",
            ".patches": "Patch diff",
            ".samples": "sample",
            ".schema": "MessageBodySchema SchemaPart Violation",
            ".storage": "Resolver ainline aoffload apresent fetch inline migrate offload present "
            "put_content sweep verify",
        },
    )
