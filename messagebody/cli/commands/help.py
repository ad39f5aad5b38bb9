"""Commands about the command line itself: help, completion."""

import click
from click.shell_completion import get_completion_class

from messagebody.cli.application import table

_TOPICS = {
    "exit-codes": "What the exit codes mean:\n\n" + table(),
    "patterns": """A pattern matches names:

  *        any run within a segment              sources/*
  **       any segments                          **/*.png
  {a,b}    alternatives, nested if you like      charts/*.{png,svg}

The first slash may be left out. Quote patterns, or the shell expands them.""",
}


@click.command("help")
@click.argument("topic", required=False)
def help_command(topic: str | None) -> None:
    """Explain a command or a topic: exit-codes, patterns."""
    context = click.get_current_context()
    root = context.find_root()
    application = root.command
    assert isinstance(application, click.Group)  # noqa: S101 - so it was made
    if topic is None:
        click.echo(root.get_help())
    elif topic in _TOPICS:
        click.echo(_TOPICS[topic])
    else:
        _, found, _ = application.resolve_command(root, [topic])
        assert found is not None  # noqa: S101 - resolve_command raises for an unknown one
        click.echo(click.Context(found, info_name=topic, parent=root).get_help())


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "fish", "zsh"]))
def completion_command(shell: str) -> None:
    """Print a script that completes commands, options, files and part names.

    \b
      eval "$(messagebody completion bash)"      # in ~/.bashrc
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    application = click.get_current_context().find_root().command
    script = found(application, {}, "messagebody", "_MESSAGEBODY_COMPLETE")
    click.echo(script.source())
