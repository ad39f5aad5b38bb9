"""Agent2Agent: its messages and its stream."""
