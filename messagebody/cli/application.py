"""The command-line application: its table of commands, its exit codes, its border for errors."""

import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NoReturn

import click

from messagebody import __version__
from messagebody._text import escape, redact_urls
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.errors import (
    DigestMismatch,
    DigestUnknown,
    LocalFileChanged,
    MessageBodyError,
    MissingDependency,
    StoreError,
    UnsafeReference,
)


class ExitCode(IntEnum):
    """An exit code; `MEANINGS` says what each means."""

    YES = 0
    NO = 1
    USAGE = 2
    UNDECIDED = 3
    FAILED = 4
    UNFORESEEN = 70
    INTERRUPTED = 130
    CLOSED_PIPE = 141


MEANINGS = {
    ExitCode.YES: "yes, or done",
    ExitCode.NO: "no: invalid, incompatible, different",
    ExitCode.USAGE: "wrong usage or bad input",
    ExitCode.UNDECIDED: "undecided: the budget ended before the answer was known",
    ExitCode.FAILED: "it failed: store, network, digest, refused reference, missing extra",
    ExitCode.UNFORESEEN: "an error of messagebody itself",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.CLOSED_PIPE: "whoever read the output stopped reading",
}

# The world failed, not the input.
_FAILURES = (
    StoreError,
    DigestMismatch,
    DigestUnknown,
    LocalFileChanged,
    MissingDependency,
    UnsafeReference,
)


def code_of(error: Exception) -> ExitCode:
    """Return the exit code of an error."""
    if isinstance(error, _FAILURES):
        return ExitCode.FAILED
    if isinstance(error, MessageBodyError):
        return ExitCode.USAGE
    return ExitCode.FAILED if isinstance(error, OSError) else ExitCode.UNFORESEEN


def table() -> str:
    """Return the table as text."""
    return "\n".join(f"{code.value:>4}  {meaning}" for code, meaning in MEANINGS.items())


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


# A command's module is imported when it is asked for: `--version` waits for no S3 client.
_COMMANDS = {
    "add": ("bodies", "Add a file, text or URL to a body"),
    "cat": ("bodies", "Print the content of parts"),
    "check": ("schemas", "Is every output of one agent valid input of another?"),
    "completion": ("help", "Print a script for tab completion"),
    "convert": ("messages", "Convert between a body and another system's message"),
    "demo": ("demo", "See the main job on sample files"),
    "detect": ("messages", "Tell which format a message is in"),
    "digest": ("bodies", "Print the digest of a body, or its manifest"),
    "envelope": ("messages", "Check, sign, verify and log other systems' envelopes"),
    "evolve": ("schemas", "Is a new version of a schema safe?"),
    "fetch": ("stores", "Write one part to a file"),
    "help": ("help", "Explain a command or a topic"),
    "inline": ("stores", "Bring referenced content back into the message"),
    "lint": ("schemas", "Say what a schema probably does not mean"),
    "ls": ("bodies", "List parts"),
    "migrate": ("stores", "Move referenced content to another store"),
    "mount": ("bodies", "Show a body as a directory"),
    "offload": ("stores", "Move large parts to a store"),
    "pack": ("bodies", "Make a body of a directory"),
    "present": ("stores", "Make a copy with signed links, for a browser or a model provider"),
    "registry": ("schemas", "Ask about many agents at once"),
    "sweep": ("stores", "Find and delete stored objects that no body refers to"),
    "tree": ("bodies", "Show a body as a tree"),
    "unpack": ("bodies", "Write named parts into a directory"),
    "validate": ("schemas", "Validate a body against a schema"),
    "verify": ("stores", "Check that all references can be read and are what they say"),
}


class _Application(click.Group):
    """A group whose commands load when they run."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            # Nobody reads on: leave without the interpreter's own complaint.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(ExitCode.CLOSED_PIPE) from error
        return code

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"messagebody.cli.commands.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"no command {args[0]!r}{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted((name, text) for name, (_, text) in _COMMANDS.items()))


@click.command(
    cls=_Application,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="A body is read from a file or, as '-', from standard input. "
    "Exit codes: messagebody help exit-codes.",
)
@click.option("-q", "--quiet", is_flag=True, help="Leave out remarks and progress.")
@click.option("--debug", is_flag=True, help="Show a traceback with an error.")
@click.version_option(__version__, message="messagebody %(version)s")
@pass_terminal
def application(terminal: Terminal, quiet: bool, debug: bool) -> None:
    """Work with the bodies of agents' messages: named parts in order, as a small filesystem.

    \b
      messagebody demo
      messagebody ls message.json 'sources/*'
      messagebody check researcher.json summariser.json
      messagebody offload message.json --to s3://bucket/prefix -o small.json
    """
    terminal.quiet = quiet
    terminal.debug = debug
