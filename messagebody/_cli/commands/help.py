"""Commands for the command line itself: help, completion."""

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from messagebody._cli.application import table
from messagebody._core import quote


@click.command
@click.argument("topic", nargs=-1)
def help_command(topic: tuple[str, ...]) -> None:
    """A topic is a command, or exit-codes.

    \b
      messagebody help check
      messagebody help workflow check
      messagebody help exit-codes
    """
    context = click.get_current_context().find_root()
    if topic == ("exit-codes",):
        click.echo("What the exit codes mean:\n\n" + table())
        return
    for name in topic:
        if not isinstance(context.command, click.Group):
            raise click.UsageError(f"{context.command_path} has no command {quote(name)}")
        _, found, _ = context.command.resolve_command(context, [name])
        context = click.Context(found, info_name=name, parent=context)  # type: ignore[arg-type]
    click.echo(context.get_help())


@click.command("completion", no_args_is_help=True)
@click.argument("shell", type=click.Choice(["bash", "fish", "zsh"]))
def completion_command(shell: str) -> None:
    """It completes commands, options and files.

    \b
      eval "$(messagebody completion bash)"      # in ~/.bashrc
    """
    application = click.get_current_context().find_root().command
    made = {"bash": BashComplete, "fish": FishComplete, "zsh": ZshComplete}[shell]
    click.echo(made(application, {}, "messagebody", "_MESSAGEBODY_COMPLETE").source())
