"""Bodies for clients of the Model Context Protocol: a server of resources and tools, tool results.

The server only reads. If a model makes a mistake, the answer is an error result that it can
correct. Nothing ends in a traceback, and no answer says which permission to ask for.
"""

from messagebody.errors import MissingDependency

try:
    import mcp.server  # noqa: F401 - what all modules here need
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.mcp", "mcp") from error

from messagebody.frameworks.mcp._hosts import host_check
from messagebody.frameworks.mcp._results import tool_result
from messagebody.frameworks.mcp._server import server

__all__ = ["host_check", "server", "tool_result"]
