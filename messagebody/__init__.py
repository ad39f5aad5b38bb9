"""The body of an agent's message as a small filesystem.

A body is an ordered list of parts, some of them named by POSIX paths. Build it, pick parts by
glob, validate it against a schema, ask whether one agent's output fits another's input, move
large parts to a store and pass URLs around.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from messagebody.body import MessageBody
    from messagebody.compatibility import Compatibility, Verdict, check
    from messagebody.errors import MessageBodyError
    from messagebody.limits import Limits
    from messagebody.offloading import (
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
    from messagebody.part import Part
    from messagebody.references import Resolver
    from messagebody.schema import MessageBodySchema, SchemaPart, Violation

__version__ = "0.1.0"

__all__ = [
    "Compatibility",
    "Limits",
    "MessageBody",
    "MessageBodyError",
    "MessageBodySchema",
    "Part",
    "Resolver",
    "SchemaPart",
    "Verdict",
    "Violation",
    "ainline",
    "aoffload",
    "apresent",
    "check",
    "fetch",
    "inline",
    "migrate",
    "offload",
    "present",
    "put_content",
    "sweep",
    "verify",
]

# Loaded when first used: importing the package stays quick and loads no fsspec, no boto3. Nothing
# at all is loaded before the command line can catch a Ctrl-C.
_LAZY = {
    "MessageBody": "messagebody.body",
    **dict.fromkeys(("Compatibility", "Verdict", "check"), "messagebody.compatibility"),
    **dict.fromkeys(
        ("ainline", "aoffload", "apresent", "fetch", "inline", "migrate", "offload", "present",
         "put_content", "sweep", "verify"),
        "messagebody.offloading",
    ),
    "Limits": "messagebody.limits",
    "MessageBodyError": "messagebody.errors",
    "Part": "messagebody.part",
    "Resolver": "messagebody.references",
    **dict.fromkeys(("MessageBodySchema", "SchemaPart", "Violation"), "messagebody.schema"),
}  # fmt: skip
# What programs and annotations of the model reach as attributes, without an import of their own.
_MODULES = {"body", "errors", "filesystem", "limits", "part"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"messagebody.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'messagebody' has no attribute {name!r}")
    value = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # Not what was loaded meanwhile: the names a user needs are those of the package's face.
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
