"""Tests for extensions of the toolkit: contracts and strategies.

Inherit `StoreContract` to test a store, `AdapterContract` for the adapter of a format, and
`StreamContract` for its stream.
`strategies` has Hypothesis strategies for bodies.

Raises:
    MissingDependency: pytest or hypothesis is not installed.

Examples:
    >>> from messagebody.testing import AdapterContract
    >>> from messagebody.envelopes import channel
    >>> class TestChannel(AdapterContract):
    ...     adapter = channel
    ...     messages = [{"agent": "demo", "message": "Look!", "session_id": None}]
"""

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from messagebody._core import face
from messagebody.errors import MissingDependency

if TYPE_CHECKING:
    from messagebody.testing import strategies
    from messagebody.testing._adapters import AdapterContract
    from messagebody.testing._stores import StoreContract
    from messagebody.testing._streams import StreamContract

__all__ = [
    "AdapterContract",
    "StoreContract",
    "StreamContract",
    "strategies",
]

if not TYPE_CHECKING:  # a type checker must only see the names above
    _CONTRACTS = [f"{__name__}.{module}" for module in ("_adapters", "_stores", "_streams")]
    _load, __dir__ = face(
        __name__,
        {
            "": "strategies",
            "._adapters": "AdapterContract",
            "._stores": "StoreContract",
            "._streams": "StreamContract",
        },
        optional="._adapters ._stores ._streams",
    )

    def __getattr__(name: str) -> Any:
        with suppress(ModuleNotFoundError):
            # A test of a contract that fails then shows the values that it compared.
            import_module("pytest").register_assert_rewrite(*_CONTRACTS)
        try:
            return _load(name)
        except ModuleNotFoundError as error:
            if error.name not in ("pytest", "hypothesis"):
                raise
            raise MissingDependency("messagebody.testing", "testing") from error
