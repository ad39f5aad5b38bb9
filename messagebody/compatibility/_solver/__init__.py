"""Decisions about languages of names and types: the base of compatibility, without schemas."""
