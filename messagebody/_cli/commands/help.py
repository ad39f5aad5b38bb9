"""Commands for the command line itself: help, completion."""

import click
from click.shell_completion import get_completion_class

from messagebody._cli.application import table
from messagebody._cli.commands import TABLE
from messagebody._cli.guesses import meant_by
from messagebody._core import did_you_mean, quote

_TOPICS = {
    "exit-codes": "What the exit codes mean:\n\n" + table(),
    "patterns": """A pattern matches names:

  *        any run within a segment              sources/*
  **       any number of segments                **/*.png
  {a,b}    alternatives, also nested             charts/*.{png,svg}

You may leave out the first slash. Quote patterns, or the shell expands them.
The patterns of pack --exclude are those of a .gitignore.""",
}


def _complete_topic(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    return [name for name in (*_TOPICS, *TABLE) if name.startswith(incomplete)]


@click.command
@click.argument("topic", nargs=-1, shell_complete=_complete_topic)
def help_command(topic: tuple[str, ...]) -> None:
    """Topics are exit-codes and patterns.

    \b
      messagebody help check
      messagebody help workflow check
      messagebody help exit-codes
    """
    called = " ".join(topic)
    context = click.get_current_context().find_root()
    if called in _TOPICS:
        click.echo(_TOPICS[called])
        return
    for name in topic:
        found = getattr(context.command, "commands", {}).get(name)
        if found is None:
            raise click.UsageError(_no_topic(name, called, context))
        context = click.Context(found, info_name=name, parent=context)
    click.echo(context.get_help())


def _no_topic(name: str, called: str, above: click.Context) -> str:
    """Return what is said of a topic that is not there, and what may be meant."""
    if meant := meant_by(name, above):
        return f"there is no command {called!r}; did you mean {meant}?"
    near, topics = did_you_mean(called, [*_TOPICS, *TABLE]), ", ".join(_TOPICS)
    return f"no command or topic {quote(called)}{near}; besides the commands there are {topics}"


@click.command("completion", no_args_is_help=True)
@click.argument("shell", type=click.Choice(["bash", "fish", "zsh"]))
def completion_command(shell: str) -> None:
    """It completes commands, options, files and part names.

    \b
      eval "$(messagebody completion bash)"      # in ~/.bashrc
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    application = click.get_current_context().find_root().command
    script = found(application, {}, "messagebody", "_MESSAGEBODY_COMPLETE")
    click.echo(script.source())
