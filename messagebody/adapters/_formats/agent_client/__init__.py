"""The Agent Client Protocol: its messages and its stream."""
