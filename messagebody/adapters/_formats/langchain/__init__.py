"""LangChain: its messages and its stream."""
