"""What a running call prints, answers on standard output and notes on standard error."""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import attrs
import click

from messagebody._core import DEFAULT_LIMITS, Limits
from messagebody.rendering import Palette, folded

if TYPE_CHECKING:
    from messagebody.storage import Resolver


@attrs.define
class Invocation:
    """One call of the shell: the options of every command, and what the command read so far.

    Arguments:
        quiet: suppress progress and informational messages.
        debug: show tracebacks.
        limits: the limits for messages and schemas.
        files: the digest of each file that was read, by its real path: a file that is written back
            must still have it.
        inputs: the device and inode of each file that is read: no other result may replace one.
        resolver: reads files from web servers; None for a command that reads none there.
    """

    quiet: bool = False
    debug: bool = False
    limits: Limits = DEFAULT_LIMITS
    files: dict[str, str] = attrs.field(factory=dict)
    inputs: set[tuple[int, int]] = attrs.field(factory=set)
    resolver: "Resolver | None" = None


def current() -> Invocation:
    """Return the running call."""
    context = click.get_current_context(silent=True)
    found = None if context is None else context.find_object(Invocation)
    return found or Invocation()


def limits() -> Limits:
    """Return the limits of the running command, which `--limit` raises."""
    return current().limits


def palette() -> Palette:
    """Return the colours for standard output: only on a terminal, and not with NO_COLOR."""
    return Palette(enabled=_takes_colour(sys.stdout))


def width() -> int | None:
    """Return the width of lines: that of the terminal, or COLUMNS; None for any width."""
    if is_terminal(sys.stdout) or os.environ.get("COLUMNS", "").isdecimal():
        return shutil.get_terminal_size().columns
    return None


def say(lines: str | Iterable[str]) -> None:
    """Print an answer."""
    for line in [lines] if isinstance(lines, str) else lines:
        click.echo(line, color=True)


def say_wrapped(lines: Iterable[str], role: str = "") -> None:
    """Print an answer in sentences, folded to the width of the terminal."""
    paint = palette()
    say(paint(each, role) for each in folded(lines, width()))


def say_json(value: Any) -> None:
    """Print an answer for programs, in ASCII, so that nothing in it can act on a terminal."""
    click.echo(json.dumps(value, indent=2))


def remark(text: str) -> None:
    """Print progress for a person, if standard error is a terminal."""
    if not current().quiet and is_terminal(sys.stderr):
        click.echo(text, err=True)


def warn(text: str) -> None:
    """Print an important note on standard error, even when a script runs."""
    if not current().quiet:
        tell(text)


def tell(text: str) -> None:
    """Print what must be known on standard error, even with --quiet."""
    click.echo(f"messagebody: {text}", err=True)


def is_terminal(stream: Any) -> bool:
    """Return whether a stream is a terminal; a stream that was closed is None."""
    return stream is not None and bool(stream.isatty())


def _takes_colour(stream: Any) -> bool:
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return is_terminal(stream) and not is_plain


# Advice of the library, and the same advice for a shell.
_ADVICE = (
    (re.compile(r"Resolver\(public_https=True\)"), "--public-https"),
    (re.compile(r"Resolver\(allow=\[[\"']([^\"']*)[\"']\]\)"), r"--allow \1"),
    (re.compile(r"storage_options=\{'token': …\}"), "--token-file FILE"),
    (re.compile(r"read them once and fill them in: body\.pin\(resolver\)"), "inline --all first"),
    (
        re.compile(r"give a header, (.+?), or use (\w+)\.build or \2\.reply"),
        r"give \1 with --header FILE",
    ),
    (
        re.compile(r"list\(['\"]/([^'\"]*)['\"]\) (?:gives|lists) (its parts|the parts below it)"),
        r"the pattern '\1' gives \2",
    ),
    (re.compile(r"\b([a-z]+)=True\b"), r"--\1"),
    (re.compile(r"\btext= cannot"), "--markdown cannot"),
    *(
        (re.compile(rf"\b{argument}={value}"), f"{option}{said}")
        for argument, option in (("source", "--from"), ("target", "--to"), ("rest", "--rest"))
        for value, said in ((r"'([\w.-]+)'", r" \1"), (r"(?![\w'\"])", ""))
    ),
)


def in_shell_words(text: str) -> str:
    """Return the text of an error, with its advice in the words of the command line.

    Examples:
        >>> in_shell_words('If the store is yours: Resolver(allow=["s3://acme/agents/"])')
        'If the store is yours: --allow s3://acme/agents/'
        >>> in_shell_words("the file exists; overwrite=True replaces it")
        'the file exists; --overwrite replaces it'
    """
    for pattern, words in _ADVICE:
        text = pattern.sub(words, text)
    return text
