"""Many agents: a registry of their inputs and outputs, and of the pairs that fit.

A `Registry` holds agents by name, checks each pair of schemas once, and answers which agents
accept the output of an agent, by which route a message reaches one, and what a change would break.
"""

from typing import TYPE_CHECKING

from messagebody._core import face
from messagebody.agents._agents import Agent
from messagebody.agents._agreement import AgentCompatibility
from messagebody.agents._exchanges import Direction, Exchange, KindAnswer
from messagebody.agents._graphs import AgentGraph, GraphEdge
from messagebody.agents._impact import Impact, pair_text
from messagebody.agents._negotiation import Agreement, Conflict, negotiate
from messagebody.agents._registry import Neighbours, Registry
from messagebody.agents._tool_changes import ToolBreak, ToolsDifference, diff_tools, holds_tools

__all__ = [
    "Agent",
    "AgentCompatibility",
    "AgentGraph",
    "Agreement",
    "Conflict",
    "Direction",
    "Exchange",
    "GraphEdge",
    "Impact",
    "KindAnswer",
    "Neighbours",
    "Registry",
    "ToolBreak",
    "ToolsDifference",
    "diff_tools",
    "holds_tools",
    "negotiate",
    "pair_text",
]

if not TYPE_CHECKING:  # a type checker would assume that the module has every name
    __getattr__, _ = face(__name__)
