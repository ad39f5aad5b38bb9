"""The network of the tests of storage, for clients of servers of messages."""

from tests.storage.conftest import authority, context, network, web

__all__ = ["authority", "context", "network", "web"]
