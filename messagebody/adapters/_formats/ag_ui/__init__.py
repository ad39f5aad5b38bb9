"""The Agent User Interaction protocol: its messages and its stream."""
