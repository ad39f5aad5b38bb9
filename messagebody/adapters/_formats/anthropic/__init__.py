"""Anthropic's Messages API: its messages and its stream."""
