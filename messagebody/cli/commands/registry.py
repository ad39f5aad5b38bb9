"""`registry`: questions about many agents at once."""

from pathlib import Path

import click

from messagebody import strict_json
from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.streams import read_bytes, read_schema
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.compatibility import Agent, Registry
from messagebody.errors import InvalidSchema
from messagebody.limits import DEFAULT_LIMITS
from messagebody.rendering.graphs import dot
from messagebody.text import count_of, escape, quote

__all__ = ["command"]

_directory = click.argument("directory", type=click.Path(exists=True, file_okay=False))
_lenient = click.option("--lenient", is_flag=True, help="Takers ignore parts they do not know.")


@click.group("registry")
def command() -> None:
    """Ask about many agents: who fits whom, how to get from here to there, what a change breaks.

    DIRECTORY holds a JSON file an agent: {"name", "input", "output"}, or an A2A agent card.

    \b
      messagebody registry pairs agents/
      messagebody registry chain agents/ have.schema.json want.schema.json
    """


@command.command("pairs")
@_directory
@_lenient
@click.option("--dot", "as_dot", is_flag=True, help="Print the graph in Graphviz's language.")
@pass_terminal
def pairs(terminal: Terminal, directory: str, *, lenient: bool, as_dot: bool) -> None:
    """List every pair of agents of which the one's output always fits the other's input."""
    registry = Registry.from_directory(directory, lenient=lenient)
    found = list(registry.pairs())
    if as_dot:
        terminal.say(dot(registry, found))
        return
    terminal.say(f"{escape(sender)} → {escape(taker)}" for sender, taker in found)
    terminal.remark(f"{count_of(len(found), 'pair')} of {count_of(len(registry), 'agent')}")


@command.command("who")
@_directory
@click.option("--feeds", metavar="AGENT", help="Whose output always fits AGENT's input?")
@click.option("--takes", metavar="AGENT", help="Who takes whatever AGENT sends?")
@_lenient
@pass_terminal
def who(
    terminal: Terminal, directory: str, feeds: str | None, takes: str | None, *, lenient: bool
) -> None:
    """List who can feed an agent, or who can take what it sends."""
    if (feeds is None) == (takes is None):
        raise click.UsageError("give one of --feeds AGENT and --takes AGENT")
    registry = Registry.from_directory(directory, lenient=lenient)
    name = str(feeds if takes is None else takes)
    if name not in registry:
        raise click.UsageError(f"no agent {quote(name)}")
    found = registry.feeders(name) if takes is None else registry.takers(name)
    terminal.say(escape(each) for each in found)


@command.command("chain")
@_directory
@click.argument("have", metavar="HAVE")
@click.argument("want", metavar="WANT")
@_lenient
@pass_terminal
def chain(terminal: Terminal, directory: str, have: str, want: str, *, lenient: bool) -> ExitCode:
    """Print the fewest agents that make WANT of HAVE, both schema files; exit with 1 if none do."""
    registry = Registry.from_directory(directory, lenient=lenient)
    found = registry.chain(read_schema(have), read_schema(want))
    if found is None:
        return ExitCode.NO
    terminal.say(escape(each) for each in found)
    return ExitCode.YES


@command.command("impact")
@_directory
@click.argument("agent", metavar="AGENT.json")
@_lenient
@pass_terminal
def impact(terminal: Terminal, directory: str, agent: str, *, lenient: bool) -> ExitCode:
    """Say which pairs a new version of an agent would lose and gain; exit with 1 if any is lost."""
    registry = Registry.from_directory(directory, lenient=lenient)
    result = registry.impact(_agent(agent))
    paint = terminal.palette
    for role, sign, found in (("no", "-", result.lost), ("yes", "+", result.gained)):
        terminal.say(paint(f"{sign} {escape(a)} → {escape(b)}", role) for a, b in found)
    return ExitCode.YES if result else ExitCode.NO


def _agent(path: str) -> Agent:
    try:
        value = strict_json.loads(read_bytes(path), depth=DEFAULT_LIMITS.depth)
        return Agent.from_dict(value, name=Path(path).stem)
    except (strict_json.InvalidJson, InvalidSchema) as error:
        raise click.UsageError(f"{quote(path)} is no agent: {error}") from error
