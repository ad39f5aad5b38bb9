"""`registry`: questions about many agents at once."""

from itertools import chain
from pathlib import Path

import click

from messagebody import strict_json
from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.streams import read_bytes, read_schema, write_out
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.compatibility import Agent, Registry
from messagebody.errors import InvalidSchema
from messagebody.limits import DEFAULT_LIMITS
from messagebody.rendering import graphs
from messagebody.rendering.pictures import svg as svg_of
from messagebody.text import count_of, escape, quote
from messagebody.whole_file import replace_file

__all__ = ["command"]

_AS_JSON = "Print JSON; its members stay as they are."

_directory = click.argument("directory", type=click.Path(exists=True, file_okay=False))
_json = click.option("--json", "as_json", is_flag=True, help=_AS_JSON)
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
@click.option("--graph", "form", flag_value="graph", help="Draw a small registry with letters.")
@click.option("--dot", "form", flag_value="dot", help="Print the graph in Graphviz's language.")
@click.option("--json", "form", flag_value="json", help=_AS_JSON)
@click.option("--svg", metavar="FILE", help="Draw a picture into FILE, '-' for standard output.")
@pass_terminal
def pairs(
    terminal: Terminal, directory: str, form: str | None, svg: str | None, *, lenient: bool
) -> None:
    """List every pair of agents of which the one's output always fits the other's input.

    \b
      messagebody registry pairs agents/ --graph
      messagebody registry pairs agents/ --svg agents.svg
    """
    registry = Registry.from_directory(directory, lenient=lenient)
    found = list(registry.pairs())
    if form == "graph":
        _draw(terminal, registry, found)
    elif form == "dot":
        terminal.say(graphs.dot(registry, found))
    elif form == "json":
        terminal.say_json({"agents": [*registry], "pairs": found})
    elif svg is None:
        terminal.say(f"{escape(sender)} → {escape(taker)}" for sender, taker in found)
    if svg is not None:
        _picture(registry, found, svg)
    terminal.remark(f"{count_of(len(found), 'pair')} of {count_of(len(registry), 'agent')}")


def _draw(terminal: Terminal, registry: Registry, found: list[tuple[str, str]]) -> None:
    if len(registry) > graphs.MOST_DRAWN:
        raise click.UsageError(
            f"--graph draws up to {graphs.MOST_DRAWN} agents, here are {len(registry):,}; "
            "--svg FILE and --dot draw any number"
        )
    order = list(chain.from_iterable(registry.ranks()))
    terminal.say(graphs.draw(order, found, palette=terminal.palette))
    terminal.remark("in each column, ◀ takes whatever ● sends")


def _picture(registry: Registry, found: list[tuple[str, str]], path: str) -> None:
    data = "\n".join(svg_of(registry.ranks(), found)).encode() + b"\n"
    if path == "-":
        write_out(data)
    else:
        replace_file(path, data)


@command.command("who")
@_directory
@click.option("--feeds", metavar="AGENT", help="Whose output always fits AGENT's input?")
@click.option("--takes", metavar="AGENT", help="Who takes whatever AGENT sends?")
@_lenient
@_json
@pass_terminal
def who(
    terminal: Terminal, directory: str, feeds: str | None, takes: str | None, *, lenient: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """List who can feed an agent, or who can take what it sends."""
    if (feeds is None) == (takes is None):
        raise click.UsageError("give one of --feeds AGENT and --takes AGENT")
    registry = Registry.from_directory(directory, lenient=lenient)
    name = str(feeds if takes is None else takes)
    if name not in registry:
        raise click.UsageError(f"no agent {quote(name)}")
    found = registry.feeders(name) if takes is None else registry.takers(name)
    _say_names(terminal, found, as_json=as_json)


@command.command("chain")
@_directory
@click.argument("have", metavar="HAVE")
@click.argument("want", metavar="WANT")
@_lenient
@_json
@pass_terminal
def shortest_chain(
    terminal: Terminal, directory: str, have: str, want: str, *, lenient: bool, as_json: bool
) -> ExitCode:
    """Print the fewest agents that make WANT of HAVE, both schema files; exit with 1 if none do."""
    registry = Registry.from_directory(directory, lenient=lenient)
    found = registry.chain(read_schema(have), read_schema(want))
    _say_names(terminal, found, as_json=as_json)
    return ExitCode.NO if found is None else ExitCode.YES


def _say_names(terminal: Terminal, names: list[str] | None, *, as_json: bool) -> None:
    if as_json:
        terminal.say_json(names)
    else:
        terminal.say(escape(each) for each in names or ())


@command.command("impact")
@_directory
@click.argument("agent", metavar="AGENT.json")
@_lenient
@_json
@pass_terminal
def impact(
    terminal: Terminal, directory: str, agent: str, *, lenient: bool, as_json: bool
) -> ExitCode:
    """Say which pairs a new version of an agent would lose and gain; exit with 1 if any is lost."""
    registry = Registry.from_directory(directory, lenient=lenient)
    result = registry.impact(_agent(agent))
    if as_json:
        terminal.say_json({"lost": result.lost, "gained": result.gained})
        return ExitCode.YES if result else ExitCode.NO
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
