"""`completion`: a script for the shell."""

import click
from click.shell_completion import get_completion_class

__all__ = ["command"]


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "fish", "zsh"]))
def command(shell: str) -> None:
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
