"""Commands for the command line itself: help, completion."""

import click
from click.shell_completion import get_completion_class

from messagebody._cli.application import table
from messagebody._cli.commands import TABLE
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
@click.argument("topic", required=False, shell_complete=_complete_topic)
def help_command(topic: str | None) -> None:
    """Topics are exit-codes and patterns.

    \b
      messagebody help check
      messagebody help exit-codes
    """
    context = click.get_current_context()
    root = context.find_root()
    application = root.command
    assert isinstance(application, click.Group)  # noqa: S101 - so it was made
    if topic is None:
        click.echo(root.get_help())
    elif topic in _TOPICS:
        click.echo(_TOPICS[topic])
    elif topic in application.commands:
        found = application.commands[topic]
        click.echo(click.Context(found, info_name=topic, parent=root).get_help())
    else:
        meant = did_you_mean(topic, [*_TOPICS, *TABLE])
        topics = ", ".join(_TOPICS)
        raise click.UsageError(
            f"no command or topic {quote(topic)}{meant}; besides the commands there are {topics}"
        )


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
