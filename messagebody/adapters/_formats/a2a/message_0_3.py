"""The messages of Agent2Agent 0.3, which agents of that version still send and expect."""

from typing import Final

from messagebody._core import JSON
from messagebody.adapters._formats.a2a.message import AgentToAgent
from messagebody.adapters._vocabulary.capabilities import Kind


class AgentToAgent03(AgentToAgent):
    """A2A 0.3: text has no type, and only files have a name."""

    name = "a2a-0.3"
    title = "Agent2Agent 0.3 (a2a-sdk 1.3)"
    kinds = (
        Kind("data", (JSON,), is_value=True),
        Kind("file", ("*/*",), ("*",), ("*/*",), name_slot="path"),
    )
    roles = {"system": "user", "tool": "user", "assistant": "agent"}  # noqa: RUF012 - nobody changes it
    is_old = True


FORMAT: Final = AgentToAgent03()
