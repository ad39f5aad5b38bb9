"""What whoever builds on the toolkit can test with: contracts, strategies and a reference.

Inherit `StoreContract` for a store, `FilesystemContract` for a filesystem over bodies and
`AdapterContract` for the adapter of a format, and give each what it asks for. `strategies` makes
any body for property tests. `wcmatch_matches` is the reference for patterns.

Raises:
    MissingDependency: pytest or hypothesis is not installed.

Examples:
    >>> from messagebody.testing import AdapterContract
    >>> from messagebody.adapters.envelopes import channel
    >>> class TestChannel(AdapterContract):
    ...     adapter = channel
"""

from messagebody.errors import MissingDependency
from messagebody.testing._patterns import wcmatch_matches

try:
    from messagebody.testing import strategies
    from messagebody.testing._adapters import AdapterContract
    from messagebody.testing._filesystems import FilesystemContract
    from messagebody.testing._stores import StoreContract
except ModuleNotFoundError as error:
    if error.name not in ("pytest", "hypothesis"):
        raise
    raise MissingDependency("messagebody.testing", "testing") from error

__all__ = [
    "AdapterContract",
    "FilesystemContract",
    "StoreContract",
    "strategies",
    "wcmatch_matches",
]
