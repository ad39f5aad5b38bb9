"""Haystack: its messages."""
