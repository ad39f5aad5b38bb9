"""A hook of mkdocs: the help of every command, written into the page of the command line."""

from collections.abc import Iterator
from typing import Any

import click

from messagebody._cli.application import application

MARK = "<!-- the help of all commands -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the help of all commands in the place of the mark."""
    if MARK not in markdown:
        return markdown
    settings: dict[str, Any] = {**application.context_settings, "max_content_width": 90}
    root = click.Context(application, info_name="messagebody", **settings)
    return markdown.replace(MARK, "\n\n".join(sections(application, root)))


def sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield a section for each command: its name and its help, then its subcommands."""
    level = "#" * (2 + context.command_path.count(" "))
    yield f"{level} {context.command_path}\n\n```text\n{command.get_help(context)}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None, name
            yield from sections(
                child, click.Context(child, parent=context, info_name=name, max_content_width=90)
            )
