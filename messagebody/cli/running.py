"""The way in and out of the command line: arguments in, an exit code out, errors on one line."""

import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

from messagebody.cli.application import application
from messagebody.cli.exit_codes import ExitCode, code_of
from messagebody.cli.terminal import Terminal
from messagebody.errors import MessageBodyError, UnsafeReference
from messagebody.text import escape, redact_urls

__all__ = ["main", "run"]


def main() -> NoReturn:
    """Run the command line with the arguments of the process, and exit."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; nothing is raised."""
    terminal = Terminal()
    try:
        code = application.main(
            list(arguments), prog_name="messagebody", standalone_mode=False, obj=terminal
        )
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        return _report(error, _usage(error), ExitCode.USAGE, terminal)
    except Exception as error:  # noqa: BLE001 - the border: whatever happens becomes a code
        return _report(error, _in_words(error), code_of(error), terminal)
    return int(code or 0)


def _usage(error: click.ClickException) -> str:
    text = escape(error.format_message(), limit=1000)
    context = getattr(error, "ctx", None)
    return text if context is None else f"{text} (see: {context.command_path} --help)"


def _in_words(error: Exception) -> str:
    text = redact_urls(str(error)) or type(error).__name__
    if isinstance(error, UnsafeReference):
        text += "; on the command line: --allow URL"
    if isinstance(error, MessageBodyError | OSError):
        return escape(text, limit=4000)
    return f"unforeseen {type(error).__name__}: {escape(text, limit=1000)} (--debug shows where)"


def _report(error: Exception, text: str, code: ExitCode, terminal: Terminal) -> int:
    if terminal.debug:
        traceback.print_exception(error)
    click.echo(f"messagebody: {text}", err=True)
    return code
