"""What people type for commands and options that have another name, and what they mean by it."""

import os
import re
from typing import Final

import click

from messagebody._cli.commands import TABLE
from messagebody._core import quote

_COMMANDS: Final = {
    "messagebody": {
        "messagebody --version": "version",
        "ls": "list stat",
        "ls, tree or view": "info",
        "ls with a PATTERN": "find grep",
        "ls --json": "json",
        "view": "show open page",
        "cat": "print read",
        "cat, or fetch, which writes a file": "get",
        "unpack": "extract",
        "convert, which reads zip, and unpack": "unzip",
        "convert --to zip": "zip",
        "convert --to tar": "tar",
        "convert": "import",
        "convert --to": "export to",
        "add --new, or pack for a directory": "create new init",
        "add": "append",
        "add, rm or mv": "edit",
        "rm": "remove delete",
        "mv": "rename move",
        "mcp, which serves a model; in Python, messagebody.prompts.to_prompt(body)": "prompt",
        "present, for links, or envelope sign, for envelopes": "sign",
        "migrate": "copy sync",
        "schema, for schemas, or ls, for bodies": "describe",
        "validate": "test",
        "offload": "upload",
        "inline": "download",
        "check, for schemas, or diff, for bodies": "compare",
        "check": "compatible",
        "digest": "hash",
        "serve": "http share",
        "serve, or mcp for models": "server",
        "registry": "agents",
        "sweep": "clean gc",
    },
    "workflow": {
        "workflow check --suggest": "suggest fix mend repair",
        "workflow check": "prove test validate verify run lint",
        "workflow show": "graph draw view page plot html mermaid dot",
        "workflow flows": "reach reaches leak leaks trace path",
        "workflow adapt": "convert bridge",
    },
    "registry": {
        "registry pairs": "list ls matrix fits all",
        "registry pairs --format html": "show view graph draw page",
        "registry who --takes AGENT, or --feeds AGENT": "takers senders takes feeds fit",
        "registry route": "path between",
        "registry unfed": "orphans unused",
        "registry diff": "check compare evolve impact changes",
    },
    "schema": {
        "schema show": "describe print cat view explain ls",
        "schema add --new": "new create init",
        "schema add": "append edit",
        "json-schema schema": "json-schema",
    },
    "bulk": {
        "bulk stats": "count summary report ls",
        "bulk table": "parquet tables export rows",
        "bulk validate": "check lint test",
        "bulk digest": "hash",
        "bulk inline": "download fetch",
        "bulk offload": "upload migrate",
        "bulk infer": "schema",
        "bulk map": "apply call run",
    },
    "envelope": {
        "envelope check": "validate lint test",
        "envelope log": "append audit",
        "envelope verify": "signature",
    },
}
"""What is meant by words that name no command, by the command that they follow."""

# Options that people type, and those that they may mean by it, of which a command has one.
_OPTIONS = {
    "--http": "--port", "--resolver": "--allow", "--out": "--output",
    "--file": "--output", "--html": "--output", "--store": "--to --allow",
    "--bucket": "--to --allow",
    "--dest": "--to", "--target": "--to", "--format": "--to --from", "--source": "--from",
    "--content-type": "--type", "--types": "--type", "--mime": "--type", "--filename": "--name",
    "--pattern": "--names", "--ttl": "--expires", "--min-size": "--threshold",
    "--max-bytes": "--threshold", "--force": "--overwrite", "--fetch": "--public-https --urls",
    "--resolve": "--urls --allow", "--browser": "--open", "--jsonl": "--lines",
    "--strict": "--lenient", "--field": "--member", "--shard-size": "--shard-bytes",
    "--jobs": "--workers", "--processes": "--workers",
}  # fmt: skip


def meant_by(word: str, context: click.Context) -> str:
    """Return the command that a word after another command stands for, or ""."""
    guesses = _COMMANDS.get(str(context.info_name), {})
    found = (meant for meant, words in guesses.items() if word in words.split())
    return next(found, word if context.parent is not None and word in TABLE else "")


def leading(error: click.ClickException, said: str, context: click.Context) -> str:
    """Return what is said of a wrong call, with the command or option that is probably meant."""
    if isinstance(error, click.exceptions.NoSuchCommand):
        return _for_command(error, said, context)
    taken = {name for each in context.command.params for name in each.opts}
    if isinstance(error, click.NoSuchOption):
        meant = [each for each in _OPTIONS.get(error.option_name, "").split() if each in taken]
        return (
            f"there is no option {error.option_name}; did you mean {meant[0]}?" if meant else said
        )
    missing = error.param if isinstance(error, click.MissingParameter) else None
    if isinstance(missing, click.Option) and missing.help:
        takes = f"{missing.opts[0]} {missing.make_metavar(context)}: {missing.help.rstrip('.')}"
        return f"{said.rstrip('.')}; write {takes}"
    extra = re.search(r"unexpected extra argument \((\S+)\)", said)
    return f"{said}; did you mean --to {extra[1]}?" if extra and "--to" in taken else said


def _for_command(error: click.exceptions.NoSuchCommand, said: str, context: click.Context) -> str:
    word, is_below = error.command_name, context.parent is not None
    if meant := meant_by(word, context):
        typed = f"{context.info_name} {word}" if is_below else word
        return f"there is no command {typed!r}; did you mean {meant}?"
    if not is_below and os.path.exists(word):  # noqa: PTH110 - it takes any word, also a long one
        return f"{quote(word)} is a file, and a command comes first, such as ls, cat or view"
    if error.possibilities or not is_below:
        return said
    listed = ", ".join(context.command.commands)  # type: ignore[attr-defined]
    return f"{said.rstrip('.')}; there are {listed}"
