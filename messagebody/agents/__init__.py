"""Many agents: a registry of what each takes and sends, and what fits what.

A `Registry` holds the schemas of agents, decides each pair once, and answers who takes what an
agent sends, by which route, and what a change would break.
"""

from messagebody.agents._agents import Agent, AgentFiles, read_agents
from messagebody.agents._questions import Impact, Neighbours
from messagebody.agents._registry import Registry

__all__ = [
    "Agent",
    "AgentFiles",
    "Impact",
    "Neighbours",
    "Registry",
    "read_agents",
]
