"""Decisions about languages of names and types: the part of compatibility that knows no schemas."""
