"""LlamaIndex: its messages."""
