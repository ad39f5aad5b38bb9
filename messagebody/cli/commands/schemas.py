"""Commands on schemas: validate, check, evolve, lint, registry."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import click

from messagebody._text import count_of, escape, quote
from messagebody.cli.application import ExitCode
from messagebody.cli.options import body_argument, read_body, read_bytes, read_schema
from messagebody.cli.reports import Subject, answer, format_option, from_here, report_findings, show
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.compatibility import (
    DEFAULT_STEPS,
    Agent,
    Evolution,
    Impact,
    Registry,
    check,
    evolution,
    lint,
    suggest,
)
from messagebody.errors import InvalidSchema
from messagebody.limits import DEFAULT_LIMITS
from messagebody.rendering import graphs
from messagebody.schema import MessageBodySchema, Violation
from messagebody.wire import strict_json


@click.command("validate")
@body_argument
@click.option("--schema", required=True, metavar="FILE", help="The schema.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its members stay as they are.")
@pass_terminal
def validate_command(terminal: Terminal, body: str, schema: str, *, as_json: bool) -> int:
    """Validate a body against a schema; exit with 0 if it is valid, 1 if not.

    \b
      messagebody validate message.json --schema researcher.schema.json
    """
    if body == schema == "-":
        raise click.UsageError("body and schema can't both come from standard input")
    message = read_body(body)
    violations = list(read_schema(schema).iter_violations(message))
    if as_json:
        terminal.say_json({"valid": not violations, "violations": [*map(_as_json, violations)]})
    else:
        _explain(terminal, violations, len(message))
    return ExitCode.NO if violations else ExitCode.YES


def _explain(terminal: Terminal, violations: list[Violation], parts: int) -> None:
    paint = terminal.palette
    if not violations:
        terminal.say(f"{paint('valid', 'yes')}: {count_of(parts, 'part')}")
        return
    terminal.say(f"{paint('invalid', 'no')}: {count_of(len(violations), 'violation')}")
    terminal.say(f"  {violation}" for violation in violations)


def _as_json(violation: Violation) -> dict[str, object]:
    return {
        "code": str(violation.code),
        "partIndex": violation.part_index,
        "partName": violation.part_name,
        "schemaIndex": violation.schema_index,
        "text": str(violation),
    }


_SHOWN = 3


@click.command("check")
@click.argument("producer", metavar="PRODUCER")
@click.argument("consumer", metavar="CONSUMER")
@click.option("--lenient", is_flag=True, help="The consumer ignores parts it does not know.")
@click.option("--infer", is_flag=True, help="PRODUCER is a body; infer its schema.")
@click.option("--steps", default=DEFAULT_STEPS, show_default=True, help="Budget before giving up.")
@click.option("--suggest", "wants_help", is_flag=True, help="Say what change would make it fit.")
@format_option
@pass_terminal
def check_command(
    terminal: Terminal, producer: str, consumer: str, form: str, steps: int, *,
    lenient: bool, infer: bool, wants_help: bool,
) -> ExitCode:  # fmt: skip
    """Is every message that is valid for PRODUCER valid for CONSUMER? Both are schema files.

    The answer is exact; a no comes with a message that shows it. Exit codes: 0 always, 1 not
    always, 3 undecided within the budget.

    \b
      messagebody check researcher.schema.json summariser.schema.json
      messagebody check message.json summariser.schema.json --infer
      messagebody check researcher.schema.json summariser.schema.json --suggest
      messagebody check out.json in.json --format sarif > check.sarif
    """
    if producer == consumer == "-":
        raise click.UsageError("producer and consumer can't both come from standard input")
    if wants_help and form not in {"text", "json"}:
        raise click.UsageError("--suggest goes with the formats text and json")
    sent = MessageBodySchema.infer(read_body(producer)) if infer else read_schema(producer)
    taken = read_schema(consumer)
    result = check(sent, taken, lenient=lenient, steps=steps)
    changes = suggest(sent, taken, lenient=lenient, limit=_SHOWN) if wants_help else None
    subject = Subject(from_here(producer), from_here(consumer))
    return answer(terminal, "check", result, form, subject, changes)


@click.command("evolve")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Evolution], case_sensitive=False),
    default=Evolution.BACKWARD.value,
    show_default=True,
    help="backward: NEW accepts what OLD did; forward: OLD accepts what NEW does; full: both.",
)
@click.option("--lenient", is_flag=True, help="Readers ignore parts they do not know.")
@click.option("--steps", default=DEFAULT_STEPS, show_default=True, help="Budget before giving up.")
@format_option
@pass_terminal
def evolve_command(
    terminal: Terminal, old: str, new: str, mode: str, form: str, steps: int, *, lenient: bool
) -> ExitCode:
    """May a schema change from OLD to NEW?

    \b
      messagebody evolve v1.schema.json v2.schema.json --mode full
    """
    if old == new == "-":
        raise click.UsageError("old and new can't both come from standard input")
    before, after = read_schema(old), read_schema(new)
    result = evolution(before, after, mode, lenient=lenient, steps=steps)
    was, now = from_here(old), from_here(new)
    sent, taken = (was, now) if result.producer is before else (now, was)
    return answer(terminal, "evolve", result, form, Subject(sent, taken, changed=now))


@click.command("lint")
@click.argument("schema", default="-", metavar="[SCHEMA]")
@format_option
@pass_terminal
def lint_command(terminal: Terminal, schema: str, form: str) -> int:
    """Say what a schema probably does not mean; exit with 1 if there is anything to say.

    \b
      messagebody lint researcher.schema.json
      messagebody lint researcher.schema.json --format github
    """
    read = read_schema(schema)
    findings = lint(read)
    if form == "text":
        terminal.say(str(finding) for finding in findings)
    else:
        show(report_findings(findings, read, from_here(schema)), form)
    return ExitCode.NO if findings else ExitCode.YES


_AS_JSON = "Print JSON; its members stay as they are."

_directory = click.argument("directory", type=click.Path(exists=True, file_okay=False))
_json = click.option("--json", "as_json", is_flag=True, help=_AS_JSON)
_lenient = click.option("--lenient", is_flag=True, help="Takers ignore parts they do not know.")


@click.group("registry")
def registry_command() -> None:
    """Ask about many agents: who fits whom, how to get from here to there, what a change breaks.

    DIRECTORY holds a JSON file an agent: {"name", "input", "output"}, or an A2A agent card.

    \b
      messagebody registry pairs agents/
      messagebody registry chain agents/ have.schema.json want.schema.json
    """


@registry_command.command("pairs")
@_directory
@_lenient
@click.option("--graph", "form", flag_value="graph", help="Draw a small registry with letters.")
@click.option("--dot", "form", flag_value="dot", help="Print the graph in Graphviz's language.")
@click.option("--json", "form", flag_value="json", help=_AS_JSON)
@pass_terminal
def pairs(terminal: Terminal, directory: str, form: str | None, *, lenient: bool) -> ExitCode:
    """List every pair of agents of which the one's output always fits the other's input.

    \b
      messagebody registry pairs agents/ --graph
      messagebody registry pairs agents/ --dot | dot -Tsvg > agents.svg
    """
    registry = Registry.from_directory(directory, lenient=lenient)
    found, undecided = list(registry.pairs()), list(registry.undecided())
    if form == "graph":
        _draw(terminal, registry, found)
    elif form == "dot":
        terminal.say(graphs.dot(registry, found))
    elif form == "json":
        terminal.say_json({"agents": [*registry], "pairs": found, "undecided": undecided})
    else:
        terminal.say(f"{escape(sender)} → {escape(taker)}" for sender, taker in found)
    terminal.remark(f"{count_of(len(found), 'pair')} of {count_of(len(registry), 'agent')}")
    return _tell_undecided(undecided)


def _tell_undecided(pairs: Sequence[tuple[str, str]]) -> ExitCode:
    """Name the pairs for which the budget ended: neither fitting nor not."""
    for sender, taker in pairs:
        text = f"undecided within the budget: {escape(sender)} → {escape(taker)}"
        click.echo(text, err=True)
    return ExitCode.UNDECIDED if pairs else ExitCode.YES


def _draw(terminal: Terminal, registry: Registry, found: list[tuple[str, str]]) -> None:
    if len(registry) > graphs.MOST_DRAWN:
        raise click.UsageError(
            f"--graph draws up to {graphs.MOST_DRAWN} agents, here are {len(registry):,}; "
            "--dot takes any number"
        )
    order = list(chain.from_iterable(registry.ranks()))
    terminal.say(graphs.draw(order, found, palette=terminal.palette))
    terminal.remark("in each column, ◀ takes whatever ● sends")


@registry_command.command("who")
@_directory
@click.option("--feeds", metavar="AGENT", help="Whose output always fits AGENT's input?")
@click.option("--takes", metavar="AGENT", help="Who takes whatever AGENT sends?")
@_lenient
@_json
@pass_terminal
def who(
    terminal: Terminal, directory: str, feeds: str | None, takes: str | None, *, lenient: bool,
    as_json: bool,
) -> ExitCode:  # fmt: skip
    """List who can feed an agent, or who can take what it sends."""
    if (feeds is None) == (takes is None):
        raise click.UsageError("give one of --feeds AGENT and --takes AGENT")
    registry = Registry.from_directory(directory, lenient=lenient)
    name = str(feeds if takes is None else takes)
    if name not in registry:
        raise click.UsageError(f"no agent {quote(name)}")
    found = registry.feeders(name) if takes is None else registry.takers(name)
    _say_names(terminal, found, as_json=as_json)
    pairs = [(name, other) if feeds is None else (other, name) for other in found.undecided]
    return _tell_undecided(pairs)


@registry_command.command("chain")
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
    if found is None:
        # No chain of pairs that surely fit; one over an undecided pair could still lead there.
        return _tell_undecided(list(registry.undecided())) or ExitCode.NO
    return ExitCode.YES


def _say_names(terminal: Terminal, names: list[str] | None, *, as_json: bool) -> None:
    if as_json:
        terminal.say_json(names)
    else:
        terminal.say(escape(each) for each in names or ())


@registry_command.command("impact")
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
        terminal.say_json({
            "lost": result.lost, "gained": result.gained, "undecided": result.undecided,
        })  # fmt: skip
        return _of_impact(result)
    paint = terminal.palette
    for role, sign, found in _signs(result):
        terminal.say(paint(f"{sign} {escape(a)} → {escape(b)}", role) for a, b in found)
    return _of_impact(result)


def _signs(impact: Impact) -> Iterator[tuple[str, str, tuple[tuple[str, str], ...]]]:
    yield "no", "-", impact.lost
    yield "yes", "+", impact.gained
    yield "maybe", "?", impact.undecided


def _of_impact(impact: Impact) -> ExitCode:
    if impact.lost:
        return ExitCode.NO
    return ExitCode.UNDECIDED if impact.undecided else ExitCode.YES


def _agent(path: str) -> Agent:
    try:
        value = strict_json.loads(read_bytes(path), depth=DEFAULT_LIMITS.depth)
        return Agent.from_dict(value, name=Path(path).stem)
    except (strict_json.InvalidJson, InvalidSchema) as error:
        raise click.UsageError(f"{quote(path)} is no agent: {error}") from error
