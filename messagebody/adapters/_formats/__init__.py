"""Formats, a package for each: how its messages are read and written, and its stream."""
