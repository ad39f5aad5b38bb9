"""The table of commands: the first line of each command's help, and its module.

A new command needs a line here and a function `NAME_command` in its module.
"""

import importlib
import inspect
from collections import UserDict
from typing import Any, NamedTuple

import click


class Entry(NamedTuple):
    """A command: its module in this package, and the first line of its help."""

    module: str
    summary: str


SECTIONS = {
    "Inspect": {
        "ls": Entry("bodies", "List parts."),
        "tree": Entry("bodies", "Show a body as a tree."),
        "cat": Entry("bodies", "Print the content of parts, or write it to a file."),
        "digest": Entry("bodies", "Print the digest of bodies."),
        "diff": Entry("bodies", "Show the parts in which two bodies differ."),
        "links": Entry("bodies", "List what the parts of a body say of each other."),
        "view": Entry("viewing", "Show a body as a page in a browser."),
        "mount": Entry("bodies", "Show a body as a directory, or put it into another."),
    },
    "Build": {
        "add": Entry("building", "Add files, text or a URL to a body."),
        "rm": Entry("bodies", "Remove parts from a body."),
        "mv": Entry("bodies", "Give a part or a directory another name."),
        "pack": Entry("building", "Make a body from the files of a directory."),
        "unpack": Entry("building", "Write named parts as files into a directory."),
    },
    "Validate and compare": {
        "validate": Entry("schemas", "Validate bodies against a schema."),
        "schema": Entry("schemas", "Describe a schema in words, or add a part to it."),
        "json-schema": Entry("schemas", "Print the JSON Schema of bodies or schemas, for editors."),
        "infer": Entry("schemas", "Print a schema that bodies are valid for."),
        "check": Entry(
            "schemas", "Check that every output of one agent is valid input of another."
        ),
        "lint": Entry("schemas", "Report likely mistakes in a schema or a body."),
        "registry": Entry("registries", "Compare the schemas of many agents."),
        "workflow": Entry("workflows", "Prove that messages get through the steps between agents."),
    },
    "Use stores": {
        "offload": Entry("stores", "Move large parts to a store."),
        "inline": Entry("stores", "Bring referenced content back into the message."),
        "verify": Entry("stores", "Verify the size and digest of every reference."),
        "present": Entry("stores", "Make a copy with signed links."),
        "migrate": Entry("stores", "Copy referenced content to another store."),
        "sweep": Entry("sweeping", "Find and delete stored objects that nothing needs any more."),
    },
    "Use many messages": {"bulk": Entry("bulk", "Do one thing with the messages of many files.")},
    "Use other formats": {
        "detect": Entry("messages", "Print the format of a message."),
        "convert": Entry("converting", "Convert between a body and another system's message."),
        "formats": Entry("messages", "List the formats of messages, and what each can say."),
    },
    "Serve": {
        "serve": Entry("serving", "Serve messages over HTTP."),
        "mcp": Entry("serving", "Serve bodies to clients of the Model Context Protocol."),
    },
    "Get started": {
        "demo": Entry("demo", "Show the main job on sample files."),
        "help": Entry("help", "Explain a command or a topic."),
        "completion": Entry("help", "Print a script for tab completion."),
    },
}
"""Every command, by the section of the help that lists it."""

TABLE = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
"""Every command by its name."""


class Commands(UserDict[str, Any]):
    """The commands of the table; the module of a command is imported on first use.

    So `--version` and `--help` do not wait for an S3 client.

    Arguments:
        shared: options that every command has besides its own.
    """

    def __init__(self, shared: list[click.Option]) -> None:
        super().__init__(TABLE)
        self._shared = shared

    def __getitem__(self, name: str) -> click.Command:
        found = self.data[name]
        if isinstance(found, Entry):
            found = self.data[name] = self._load(name, found)
        return found  # type: ignore[no-any-return]

    def _load(self, name: str, entry: Entry) -> click.Command:
        module = importlib.import_module(f"{__name__}.{entry.module}")
        command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
        # The first line is in the table, where the list of commands needs it without this module.
        details = inspect.cleandoc(command.callback.__doc__ or "")
        command.help, command.short_help = f"{entry.summary}\n\n{details}", entry.summary
        self._share(command)
        return command

    def _share(self, command: click.Command) -> None:
        """Give a command, and the commands of a group, the shared options."""
        # A new list, because a decorator may have given the old one to several commands.
        command.params = [*command.params, *self._shared]
        if isinstance(command, click.Group):
            for below in command.commands.values():
                self._share(below)
