"""What whoever builds on the toolkit can test with: contracts and references.

Inherit `StoreContract` for a store and `FilesystemContract` for a filesystem over bodies, and
give each the fixture it asks for. `wcmatch_matches` is the reference for patterns. Needs pytest.
"""

from messagebody.testing.filesystems import FilesystemContract
from messagebody.testing.patterns import wcmatch_matches
from messagebody.testing.stores import StoreContract

__all__ = ["FilesystemContract", "StoreContract", "wcmatch_matches"]
