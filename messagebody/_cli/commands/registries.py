"""Commands for registries: the pairs of many agents that fit."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import click

from messagebody._cli import inputs, options, outputs, terminal
from messagebody._cli.application import ExitCode
from messagebody._cli.fleets import change_lines, report_change, report_tools, tool_lines
from messagebody._cli.reports import FORMATS, CommandReport, answer, from_here, report_form
from messagebody._core import count_of, quote
from messagebody.agents import Registry, diff_tools, holds_tools, pair_text
from messagebody.errors import InvalidSchema
from messagebody.findings import Severity
from messagebody.rendering import registry_page

_LEFT_OUT = f"{__name__}.left_out"
_PICTURES: Final[dict[str, Callable[[Registry], str]]] = {
    "mermaid": Registry.to_mermaid, "html": registry_page,
}  # fmt: skip


def _read(place: str, *, lenient: bool) -> Registry:
    """Return the agents in a place; tell what is wrong, and note whether some are left out."""
    registry = Registry.from_directory(place, lenient=lenient, limits=terminal.limits())
    for file in registry.places.values():
        outputs.note_input(Path(place) / file if Path(place).is_dir() else place)
    for finding in registry.findings:
        terminal.tell(str(finding))
        if finding.severity is Severity.ERROR:
            click.get_current_context().meta[_LEFT_OUT] = True
    return registry


@click.group
def registry_command() -> None:
    """Find the pairs that fit, and the pairs that a change would break.

    REGISTRY is a directory with a JSON file for each agent, {"name", "input", "output"} or an A2A
    agent card, or a file with the tools of an MCP server.

    An agent that can't be read is reported and left out. The exit code is then 2 instead of 0.

    \b
      messagebody registry pairs agents/
      messagebody registry pairs tools.json
      messagebody registry diff main/agents agents
    """


@registry_command.result_callback()
@click.pass_context
def _code(context: click.Context, code: ExitCode | None) -> ExitCode:
    """Return the exit code of a command; a yes about some of the agents is no yes about all."""
    left_out = context.meta.get(_LEFT_OUT, False)
    return code or (ExitCode.USAGE if left_out else ExitCode.YES)


@registry_command.command
@click.argument("place", type=click.Path(exists=True), metavar="REGISTRY")
@options.lenient
@options.form("json", *_PICTURES, help="Output format; mermaid is a graph, html a page.")
@options.output
def pairs(place: str, form: str, output: str | None, *, lenient: bool) -> ExitCode:
    """List the pairs that always fit, the sender first.

    \b
      messagebody registry pairs agents/ --format mermaid
      messagebody registry pairs agents/ --format html -o agents.html
    """
    registry = _read(place, lenient=lenient)
    found, undecided = list(registry.pairs()), list(registry.undecided())
    if form == "text":
        lines = [*map(pair_text, found)]
    elif form == "json":
        data = {"agents": [*registry], "pairs": found, "undecided": undecided}
        lines = [json.dumps(data, indent=2)]
    else:
        lines = [_PICTURES[form](registry).removesuffix("\n")]
    outputs.write_document("".join(f"{line}\n" for line in lines).encode(), output)
    terminal.remark(f"{count_of(len(found), 'pair')} of {count_of(len(registry), 'agent')}")
    for pair in undecided:
        click.echo(f"undecided within the budget: {pair_text(pair)}", err=True)
    return ExitCode.UNDECIDED if undecided else ExitCode.YES


@registry_command.command
@click.argument("old", type=click.Path(exists=True))
@click.argument("new", type=click.Path(exists=True))
@options.lenient
@report_form
@click.option(
    "--report", "reports", multiple=True, metavar="FORMAT FILE",
    type=(click.Choice(sorted(FORMATS)), str), help="Also write a report to a file.",
)  # fmt: skip
def diff(
    old: str, new: str, form: str, reports: tuple[tuple[str, str], ...], *, lenient: bool
) -> ExitCode:  # fmt: skip
    """Print which pairs a change breaks and mends, and why.

    OLD and NEW are all agents before and after the change, such as a pull request that changes
    several at once. If OLD is a directory and NEW a file, NEW has only the agents that change.

    Exchanges are compared, too, and likely mistakes in schemas of agents that change are told. Exit
    code 1: a pair or an exchange would be lost, or there are mistakes. 3: some are undecided. Pairs
    of agents that are removed are not lost.

    If OLD and NEW are files with the tools of an MCP server, or directories of them, callers and
    readers are asked about: what may no longer be sent to each tool, and what it may no longer
    return, with a value that shows it. A tool that is gone breaks its callers. Agents and tools
    can't be compared with each other.

    \b
      messagebody registry diff main/agents agents
      messagebody registry diff tools.json new-tools.json
      messagebody registry diff agents changed/writer.json
      messagebody registry diff main/agents agents --format github --report sarif agents.sarif
    """
    tools = _tools_in(old), _tools_in(new)
    if _are_tools(*tools):
        before, after = (each or {} for each in tools)
        title = f"{new} breaks no caller or reader"
        report, lines = _change_of_tools(new, before, after, title)
    else:
        report, lines = _change_of_agents(old, new, lenient=lenient)
    for name, file in reports:
        outputs.write_text_document(FORMATS[name](report), file)
    return answer(report, form, lines)


_Lists = dict[str, Any]
"""What files hold that are tools, by file."""


def _tools_in(place: str) -> _Lists | None:
    """Return the tools of a file or of a directory; None if it holds something else.

    Raises:
        UsageError: it holds tools beside something else.
    """
    is_directory = Path(place).is_dir()
    read = inputs.read_file_of_directory if is_directory else inputs.read_bytes
    lists, others = _Lists(), dict[str, str]()
    for file in [*map(str, sorted(Path(place).glob("*.json")))] if is_directory else [place]:
        try:
            held = inputs.decode_json(read(file), quote(file))
        except (click.UsageError, OSError) as error:
            if not is_directory:
                raise
            others[file] = str(error)
            continue
        if holds_tools(held):
            lists[file] = {"tools": held} if isinstance(held, list) else held
        elif held != []:
            others[file] = f"{quote(file)} has no tools"
    if lists and others:
        first, problem = next(iter(lists)), next(iter(others.values()))
        raise click.UsageError(f"{quote(first)} has tools, which are compared apart; {problem}")
    return None if others else lists


def _are_tools(old: _Lists | None, new: _Lists | None) -> bool:
    """Return whether two places hold tools; agents can't be compared with them."""
    if (old is None or new is None) and (old or new):
        raise click.UsageError("OLD and NEW are both agents or both tools; here is one of each")
    return bool(old or new)


def _change_of_tools(
    place: str, old: _Lists, new: _Lists, title: str
) -> tuple[CommandReport, Iterator[str]]:
    _files_of(old)
    files = _files_of(new)
    try:
        found = diff_tools([*old.values()], [*new.values()])
    except InvalidSchema as error:
        raise click.UsageError(f"{quote(place)}: {error}") from error
    report = report_tools(found, title, lambda name: from_here(files.get(name, place)))
    return report, tool_lines(found)


def _files_of(lists: _Lists) -> dict[str, str]:
    """Return the file of each tool, by its name."""
    found: dict[str, str] = {}
    for file, held in lists.items():
        try:
            names = diff_tools(held, []).removed
        except InvalidSchema as error:
            problem = str(error).removeprefix("old tools: ")
            raise click.UsageError(f"{quote(file)}: {problem}") from error
        for name in names:
            if name in found:
                both = f"{quote(found[name])} and {quote(file)}"
                raise click.UsageError(f"the tool {quote(name)} is in two files, {both}")
            found[name] = file
    return found


def _change_of_agents(old: str, new: str, *, lenient: bool) -> tuple[CommandReport, Iterator[str]]:
    before, after = (_read(place, lenient=lenient) for place in (old, new))
    places = after.places
    if Path(old).is_dir() and not Path(new).is_dir():
        impact = before.impact(after.values())
        after = Registry({**before, **after}.values(), lenient=lenient)
    else:
        impact = before.impact(after)
    directory = Path(new) if Path(new).is_dir() else Path(new).parent
    report = report_change(
        impact, after, f"{new} breaks no pair of agents",
        lambda name: from_here(str(directory / places[name])),
    )  # fmt: skip
    return report, change_lines(impact, report)
