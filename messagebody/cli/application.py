"""The command group: what all commands share, and which there are."""

import difflib
import importlib
import os
import sys
from typing import Any

import click

from messagebody import __version__
from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.terminal import Terminal, pass_terminal

__all__ = ["application"]

# A command's module is imported when it is asked for: `--version` waits for no S3 client.
_COMMANDS = {
    "add": "Add a file, text or URL to a body",
    "cat": "Print the content of parts",
    "check": "Is every output of one agent valid input of another?",
    "completion": "Print a script for tab completion",
    "convert": "Convert between a body and another system's message",
    "demo": "See the main job on sample files",
    "detect": "Tell which format a message is in",
    "digest": "Print the digest of a body, or its manifest",
    "envelope": "Check, sign, verify and log other systems' envelopes",
    "evolve": "Is a new version of a schema safe?",
    "fetch": "Write one part to a file",
    "help": "Explain a command or a topic",
    "inline": "Bring referenced content back into the message",
    "lint": "Say what a schema probably does not mean",
    "ls": "List parts",
    "migrate": "Move referenced content to another store",
    "mount": "Show a body as a directory",
    "offload": "Move large parts to a store",
    "pack": "Make a body of a directory",
    "present": "Make a copy with signed links, for a browser or a model provider",
    "registry": "Ask about many agents at once",
    "sweep": "Find and delete stored objects that no body refers to",
    "tree": "Show a body as a tree",
    "unpack": "Write named parts into a directory",
    "validate": "Validate a body against a schema",
    "verify": "Check that all references can be read and are what they say",
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
        module = importlib.import_module(f"messagebody.cli.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"no command {args[0]!r}{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))


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
