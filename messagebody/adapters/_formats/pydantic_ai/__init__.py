"""Pydantic AI: its messages and its stream."""
