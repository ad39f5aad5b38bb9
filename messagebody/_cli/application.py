"""The command-line application: its exit codes, its handling of errors, and its help."""

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from enum import IntEnum
from functools import partial
from types import FrameType
from typing import Self

import attrs
import click

from messagebody import __version__
from messagebody._cli.commands import SECTIONS, Commands
from messagebody._cli.kinds import SIZE
from messagebody._cli.terminal import Invocation, in_shell_words
from messagebody._core import escape, quote, redact_urls
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
    """An exit code, with what it means."""

    YES = 0, "yes, or done"
    NO = 1, "no: invalid, incompatible, different, with losses, without a match"
    USAGE = 2, "wrong usage, bad input, or a part, file or agent that does not exist"
    UNDECIDED = 3, "undecided within the budget"
    FAILED = 4, "failed: store, network, digest, refused reference, missing extra"
    INTERNAL = 70, "an internal error of messagebody"
    INTERRUPTED = 130, "interrupted"
    CLOSED_PIPE = 141, "the reader closed the pipe"
    TERMINATED = 143, "terminated"

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        """Make a member, which is its number."""
        made = int.__new__(cls, value)
        made._value_, made.meaning = value, meaning
        return made


# The input is right, but something else failed.
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
    refusals = getattr(error, "refusals", ())
    if isinstance(error, _FAILURES) or any(_is_failure(refusal) for refusal in refusals):
        return ExitCode.FAILED
    if isinstance(error, MessageBodyError):
        return ExitCode.USAGE
    # An unreadable file is a failure outside; any other unexpected error is a bug of ours.
    return ExitCode.FAILED if isinstance(error, OSError) else ExitCode.INTERNAL


def _is_failure(refusal: object) -> bool:
    return isinstance(getattr(refusal, "error", None), _FAILURES)


def table() -> str:
    """Return the exit codes and their meanings as text."""
    return "\n".join(f"{code.value:>4}  {code.meaning}" for code in ExitCode)


class Terminated(KeyboardInterrupt):
    """The signal SIGTERM, which undoes work like Ctrl-C."""


def terminate_on_signal() -> None:
    """Let SIGTERM end a command like Ctrl-C, so that it removes unfinished work."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, stop)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; never raise an error."""
    call = Invocation()
    if sys.stdout is None:
        # Otherwise the next opened file would get its number, and the answer would go into that
        # file.
        return _report(None, "standard output is closed", ExitCode.FAILED, call)
    warnings.formatwarning = lambda message, *_, **__: f"Warning: {escape(str(message))}\n"
    # Commands say it themselves, in the words of the shell.
    warnings.filterwarnings("ignore", "a part has the member ", UserWarning)
    try:
        code = _invoke(arguments, call)
        # Flushed here, where a closed pipe or a full disk can still become an exit code.
        sys.stdout.flush()
    except BrokenPipeError:
        return _closed_pipe()
    except click.exceptions.NoArgsIsHelpError as error:
        # A pager shows the list of commands. The output of a command may go to another program.
        is_list = error.ctx is not None and isinstance(error.ctx.command, click.Group)
        click.echo(error.format_message(), err=not is_list)
        return ExitCode.USAGE
    except KeyboardInterrupt as stop:
        return ExitCode.TERMINATED if isinstance(stop, Terminated) else ExitCode.INTERRUPTED
    except click.ClickException as error:
        return _report(error, _usage(error), ExitCode.USAGE, call)
    except Exception as error:  # noqa: BLE001 - the border: every error becomes a code
        return _report(error, _in_words(error), code_of(error), call)
    return code


def _invoke(arguments: Sequence[str], call: Invocation) -> int:
    """Run a command; not by click's `main`, which would exit with 1 for a closed pipe."""
    # The script for tab completion calls the command with this variable, and click answers it.
    if "_MESSAGEBODY_COMPLETE" in os.environ:
        application.main(prog_name="messagebody")
    try:
        with application.make_context("messagebody", list(arguments), obj=call) as context:
            return int(application.invoke(context) or 0)
    except click.exceptions.Exit as stop:  # --help and --version
        return stop.exit_code


def _closed_pipe() -> ExitCode:
    # Otherwise the interpreter reports an error when it flushes standard output at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.CLOSED_PIPE


def _usage(error: click.ClickException) -> str:
    # Click lists choices on lines of their own.
    text = error.format_message().replace("\n\t", " ")
    context = getattr(error, "ctx", None)
    if context is None:
        return escape(in_shell_words(text), limit=1000)
    text = escape(in_shell_words(text + _lead(error, context)), limit=1000)
    return f"{text} (see: {context.command_path} --help)"


def _lead(error: click.ClickException, context: click.Context) -> str:
    """Return what helps beside the words of click, which name the nearest command or option."""
    missing = error.param if isinstance(error, click.MissingParameter) else None
    if isinstance(missing, click.Option) and missing.help:
        takes = f"{missing.opts[0]} {missing.make_metavar(context)}"
        return f" Write {takes}: {missing.help.rstrip('.')}."
    word = error.command_name if isinstance(error, click.exceptions.NoSuchCommand) else ""
    if context.parent is None and os.path.exists(word):  # noqa: PTH110 - any word, also a long one
        return " It is a file, and a command comes first, such as ls, cat or view."
    return ""


def _in_words(error: Exception) -> str:
    if isinstance(error, MessageBodyError):
        return escape(in_shell_words(redact_urls(str(error))), limit=4000)
    if isinstance(error, OSError):
        # Its own text begins with "[Errno 2]", which does not help a user.
        place = "" if error.filename is None else f"{quote(os.fsdecode(error.filename))}: "
        return place + escape(error.strerror or str(error) or type(error).__name__, limit=1000)
    text = escape(str(error), limit=1000)
    return (
        f"internal error ({type(error).__name__}): {text}; please report it "
        "(--debug shows where it happened)"
    )


def _report(error: Exception | None, text: str, code: ExitCode, call: Invocation) -> int:
    if call.debug and error is not None:
        traceback.print_exception(error)
    click.echo(f"messagebody: {text}", err=True)
    return code


def _set(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    # An option before the command still counts if it is missing after the command.
    if value:
        setattr(context.ensure_object(Invocation), str(parameter.name), value)


def _set_limit(context: click.Context, parameter: click.Parameter, limit: int | None) -> None:
    if limit is not None:
        call = context.ensure_object(Invocation)
        call.limits = attrs.evolve(call.limits, json_bytes=limit, part_bytes=limit)


def _shared_options(*, hidden: bool) -> list[click.Option]:
    """Return the options of every command, which may come before or after its name."""
    option = partial(click.Option, expose_value=False, hidden=hidden)
    return [
        option(
            ["-q", "--quiet"], is_flag=True, callback=_set,
            help="Suppress progress and informational messages.",
        ),
        option(["--debug"], is_flag=True, callback=_set, help="Show a traceback with an error."),
        option(
            ["--limit"], type=SIZE, callback=_set_limit,
            help="Largest message to read or write.  [default: 256 MiB]",
        ),
    ]  # fmt: skip


class _Application(click.Group):
    """A group that lists its commands by section, without loading them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # One width for all sections, so that the summaries are one column.
        longest = max(len(name) for name in self.commands)
        for title, entries in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(longest), entry.summary) for name, entry in entries.items()]
                )


@click.command(
    cls=_Application,
    commands=Commands(_shared_options(hidden=True)),
    params=_shared_options(hidden=False),
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    epilog="A body is read from a file or, as '-', from standard input. The options -q, --debug "
    "and --limit may also follow the command. Exit codes: messagebody help exit-codes.",
)
@click.version_option(__version__, "-V", "--version", message="messagebody %(version)s")
def application() -> None:
    """Work with the bodies of agents' messages: named parts in order, as a small filesystem.

    \b
      messagebody demo
      messagebody ls message.json 'sources/*'
      messagebody check researcher.json summariser.json
      messagebody offload message.json --to s3://bucket/prefix -o small.json
    """
