"""The Model Context Protocol: its messages."""
