"""The command line: one file a command, one table of exit codes, one way in and out."""

from messagebody.cli.application import main

__all__ = ["main"]
