"""Commands on schemas: validation, comparison, certificates, registries of agents."""

import difflib
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click

from messagebody import certificates
from messagebody._text import count_of, escape, quote
from messagebody.cli.application import ExitCode
from messagebody.cli.options import (
    JSON_HELP,
    complete_file,
    limits,
    output_option,
    read_body,
    read_either,
    read_json,
    read_schema,
    write_document,
)
from messagebody.cli.reports import (
    Subject,
    answer,
    format_option,
    from_here,
    lines_of,
    report_findings,
    show,
)
from messagebody.cli.terminal import Terminal, in_shell_words, pass_terminal
from messagebody.compatibility import (
    DEFAULT_STEPS,
    Agent,
    Compatibility,
    Evolution,
    Impact,
    Questions,
    Registry,
    check,
    evolution,
    lint,
    read_agents,
    suggest,
)
from messagebody.errors import InvalidSchema
from messagebody.findings import iter_findings
from messagebody.rendering import graphs
from messagebody.rendering.graph_page import graph_page
from messagebody.schema import MessageBodySchema, Violation
from messagebody.schema.json_schemas import body_json_schema, schema_json_schema

# Violations that a person reads; programs get all of them.
_LISTED = 100

_lenient = click.option("--lenient", is_flag=True, help="Consumers ignore parts they do not know.")
_json = click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
_steps = click.option(
    "--steps", type=click.IntRange(min=1), default=DEFAULT_STEPS, show_default=True,
    help="Budget before giving up.",
)  # fmt: skip


@click.command("validate")
@click.argument("bodies", nargs=-1, metavar="[BODY]...", shell_complete=complete_file)
@click.option("--schema", required=True, metavar="FILE", help="The schema.")
@_json
@pass_terminal
def validate_command(
    terminal: Terminal, bodies: tuple[str, ...], schema: str, *, as_json: bool
) -> ExitCode:
    """Exit code 0: all bodies are valid. 1: one is not.

    \b
      messagebody validate message.json --schema researcher.schema.json
      messagebody validate messages/*.json --schema researcher.schema.json
    """
    paths = bodies or ("-",)
    # It can be read once.
    if [*paths, schema].count("-") > 1:
        raise click.UsageError("only one of BODY and schema can come from standard input")
    # Read once, for its index of patterns is made once and used for all bodies.
    wanted = read_schema(schema)
    results = []
    for path in paths:
        message = read_body(path)
        violations = list(wanted.iter_violations(message))
        results.append({"body": path, **_as_json(violations)})
        if not as_json:
            _say_violations(terminal, "" if len(paths) == 1 else path, violations, len(message))
    if as_json:
        # One body has always had an object of its own, without a list around it.
        terminal.say_json(results[0] if len(paths) == 1 else results)
    return ExitCode.YES if all(each["valid"] for each in results) else ExitCode.NO


def _say_violations(terminal: Terminal, path: str, violations: list[Violation], parts: int) -> None:
    paint, title = terminal.palette, f"{escape(path)}: " if path else ""
    if not violations:
        terminal.say(f"{title}{paint('valid', 'yes')}: {count_of(parts, 'part')}")
        return
    terminal.say(f"{title}{paint('invalid', 'no')}: {count_of(len(violations), 'violation')}")
    terminal.say_wrapped(f"  {violation}" for violation in violations[:_LISTED])
    if len(violations) > _LISTED:
        terminal.say(f"  and {count_of(len(violations) - _LISTED, 'more violation')} (--json)")


def _as_json(violations: list[Violation]) -> dict[str, Any]:
    found = [
        {
            "code": str(violation.code),
            "partIndex": violation.part_index,
            "partName": violation.part_name,
            "schemaIndex": violation.schema_index,
            "text": str(violation),
        }
        for violation in violations
    ]
    return {"valid": not violations, "violations": found}


@click.command("schema")
@click.argument("schema", default="-", metavar="[SCHEMA]", shell_complete=complete_file)
@click.option("--json", "as_json", is_flag=True, help="Print the schema as JSON, formatted.")
@pass_terminal
def schema_command(terminal: Terminal, schema: str, *, as_json: bool) -> None:
    """The text says what a valid body has; a person or a model can write a body from it.

    \b
      messagebody schema researcher.schema.json
    """
    read = read_schema(schema)
    if as_json:
        terminal.say(read.to_json(indent=2))
    else:
        terminal.say_wrapped(read.describe().splitlines())


@click.command("json-schema")
@click.argument("kind", metavar="body|schema", type=click.Choice(["body", "schema"]))
@output_option
def json_schema_command(kind: str, output: str | None) -> None:
    """An editor that has it completes and checks files as you type.

    \b
      messagebody json-schema body -o .vscode/body.schema.json
      messagebody json-schema schema -o .vscode/bodyschema.schema.json
    """
    described = body_json_schema() if kind == "body" else schema_json_schema()
    write_document(json.dumps(described, indent=2).encode() + b"\n", output)


@click.command("infer")
@click.argument("bodies", nargs=-1, metavar="[BODY]...", shell_complete=complete_file)
@output_option
def infer_command(bodies: tuple[str, ...], output: str | None) -> None:
    """The schema accepts every BODY, and requires the parts that all of them have.

    \b
      messagebody infer message.json
      messagebody infer messages/*.json -o inferred.schema.json
    """
    schema = MessageBodySchema.infer(*(read_body(path) for path in bodies or ("-",)))
    write_document(schema.to_json(indent=2).encode() + b"\n", output)


_SHOWN = 3


@click.command("check")
@click.argument("producer", metavar="PRODUCER")
@click.argument("consumer", metavar="CONSUMER")
@_lenient
@click.option("--infer", is_flag=True, help="PRODUCER is a body; infer its schema.")
@_steps
@click.option("--suggest", "wants_help", is_flag=True, help="Suggest changes that make it fit.")
@click.option("--certificate", metavar="FILE", help="Write the proof of an always to FILE.")
@format_option
@pass_terminal
def check_command(
    terminal: Terminal, producer: str, consumer: str, form: str, steps: int, *,
    lenient: bool, infer: bool, wants_help: bool, certificate: str | None,
) -> ExitCode:  # fmt: skip
    """PRODUCER is the schema of the output, CONSUMER the schema of the input.

    The answer is exact: is every message that is valid for PRODUCER valid for CONSUMER? A no comes
    with a message that shows it. Exit code 0: always. 1: not always. 3: undecided within the
    budget.

    \b
      messagebody check researcher.schema.json summariser.schema.json
      messagebody check message.json summariser.schema.json --infer
      messagebody check researcher.schema.json summariser.schema.json --suggest
      messagebody check out.json in.json --format sarif > check.sarif
      messagebody check out.json in.json --certificate proof.json
    """
    if producer == consumer == "-":
        raise click.UsageError("PRODUCER and CONSUMER cannot both come from standard input")
    if wants_help and form not in {"text", "json"}:
        raise click.UsageError(f"--suggest cannot be used with --format {form}")
    sent = MessageBodySchema.infer(read_body(producer)) if infer else read_schema(producer)
    taken = read_schema(consumer)
    result = check(sent, taken, lenient=lenient, steps=steps)
    if certificate is not None:
        _write_certificate(terminal, result, certificate)
    changes = suggest(sent, taken, lenient=lenient, limit=_SHOWN) if wants_help else None
    lines = {from_here(consumer): lines_of(consumer)}
    if not infer:  # a body has parts, too, but not those of its schema
        lines[from_here(producer)] = lines_of(producer)
    subject = Subject(from_here(producer), from_here(consumer), lines=lines)
    return answer(terminal, "check", result, form, subject, changes)


def _write_certificate(terminal: Terminal, result: Compatibility, path: str) -> None:
    if result.certificate is None:
        terminal.warn(f"no certificate is written: the verdict is {result.verdict}, not proved")
    else:
        write_document(json.dumps(result.certificate).encode() + b"\n", path)


@click.command("verify-certificate")
@click.argument("producer", metavar="PRODUCER")
@click.argument("consumer", metavar="CONSUMER")
@click.argument("certificate", metavar="CERTIFICATE")
@pass_terminal
def verify_certificate_command(
    terminal: Terminal, producer: str, consumer: str, certificate: str
) -> ExitCode:
    """PRODUCER and CONSUMER are schemas, CERTIFICATE is a file from `check --certificate`.

    The check shares no code with the decision. Exit code 0: each output of PRODUCER is proved to be
    valid input of CONSUMER. 1: the certificate does not prove it.

    \b
      messagebody check out.json in.json --certificate proof.json
      messagebody verify-certificate out.json in.json proof.json
    """
    sent, taken = read_schema(producer), read_schema(consumer)
    proof = read_json(certificate, f"certificate {quote(certificate)}")
    proved = certificates.verify(sent, taken, proof)
    paint = terminal.palette
    if proved:
        terminal.say(paint("proved", "yes") + ": every output is valid input")
    else:
        terminal.say(paint("not proved", "no") + ": the certificate is not a proof for this pair")
    return ExitCode.YES if proved else ExitCode.NO


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
@_lenient
@_steps
@format_option
@pass_terminal
def evolve_command(
    terminal: Terminal, old: str, new: str, mode: str, form: str, steps: int, *, lenient: bool
) -> ExitCode:
    """Both are versions of one schema. Exit code 0: the change is safe. 1: it is not.

    \b
      messagebody evolve v1.schema.json v2.schema.json --mode full
    """
    if old == new == "-":
        raise click.UsageError("OLD and NEW cannot both come from standard input")
    before, after = read_schema(old), read_schema(new)
    result = evolution(before, after, mode, lenient=lenient, steps=steps)
    was, now = from_here(old), from_here(new)
    # Of FULL, the direction that failed is shown: who sends then depends on the answer.
    sent, taken = (was, now) if result.producer is before else (now, was)
    return answer(
        terminal,
        "evolve",
        result,
        form,
        Subject(sent, taken, changed=now, lines={now: lines_of(new)}),
    )


@click.command("lint")
@click.argument("path", default="-", metavar="[SCHEMA|BODY]", shell_complete=complete_file)
@format_option
@pass_terminal
def lint_command(terminal: Terminal, path: str, form: str) -> int:
    """Every mistake of a schema that is reported is proved. Exit code 1 if there are any.

    In a body, it finds parts whose bytes are of another type than they state, texts that are the
    path of a file, and messages of chat APIs.

    \b
      messagebody lint researcher.schema.json
      messagebody lint researcher.schema.json --format github
      messagebody lint message.json
    """
    read = read_either(path)
    findings = lint(read) if isinstance(read, MessageBodySchema) else [*iter_findings(read)]
    if form == "text":
        terminal.say_wrapped(in_shell_words(str(finding)) for finding in findings)
    else:
        show(report_findings(findings, read, from_here(path), lines_of(path)), form)
    return ExitCode.NO if findings else ExitCode.YES


_directory = click.argument("directory", type=click.Path(exists=True), metavar="REGISTRY")
_file = click.argument("file", type=click.Path(dir_okay=False), metavar="FILE")


def _registry(place: str, *, lenient: bool) -> Questions:
    """Return the registry of a directory of JSON files, or the one that a file keeps."""
    if Path(place).is_dir():
        return Registry.from_directory(place, lenient=lenient, limits=limits())
    return Registry.open(place, lenient=lenient)


@click.group("registry")
def registry_command() -> None:
    """Find the pairs that fit, chains of agents, and the pairs that a change would break.

    REGISTRY is a directory with a JSON file for each agent, {"name", "input", "output"} or an A2A
    agent card, or a file that `add` has made, which keeps the verdict of each pair.

    \b
      messagebody registry pairs agents/
      messagebody registry chain agents/ have.schema.json want.schema.json
      messagebody registry add agents.db agents/
    """


@registry_command.command("add")
@_file
@click.argument("agents", nargs=-1, required=True, metavar="AGENT.json|DIRECTORY...")
@_lenient
@pass_terminal
def add_agents(terminal: Terminal, file: str, agents: tuple[str, ...], *, lenient: bool) -> None:
    """Add or replace agents in a file.

    The file is made if it is not there. All agents are added, or none.

    \b
      messagebody registry add agents.db agents/
      messagebody registry add agents.db researcher.json
    """
    # All are read before the file is made: a mistake in one leaves no file behind.
    found = [agent for place in agents for agent in _agents(place)]
    with Registry.open(file, lenient=lenient) as registry:
        registry.put_all(found)
        terminal.remark(f"{count_of(len(registry), 'agent')} in {escape(file)}")


def _agents(place: str) -> Iterator[Agent]:
    if Path(place).is_dir():
        yield from read_agents(place, limits=limits())
    else:
        yield _agent(place)


@registry_command.command("remove")
@click.argument("file", type=click.Path(exists=True, dir_okay=False), metavar="FILE")
@click.argument("name", metavar="AGENT")
@_lenient
def remove_agent(file: str, name: str, *, lenient: bool) -> None:
    """Remove an agent from a file."""
    with Registry.open(file, lenient=lenient) as registry:
        _known(registry, name)
        registry.remove(name)


@registry_command.command("route")
@_directory
@click.argument("sender", metavar="FROM")
@click.argument("taker", metavar="TO")
@_lenient
@_json
@pass_terminal
def route(
    terminal: Terminal, directory: str, sender: str, taker: str, *, lenient: bool, as_json: bool
) -> ExitCode:
    """Print the shortest route between two agents.

    What FROM sends reaches TO by way of these agents.

    Exit code 1: there is no route.
    """
    registry = _registry(directory, lenient=lenient)
    found = registry.route(_known(registry, sender), _known(registry, taker))
    _say_names(terminal, found, as_json=as_json)
    return ExitCode.NO if found is None else ExitCode.YES


@registry_command.command("unfed")
@_directory
@_lenient
@_json
@pass_terminal
def unfed(terminal: Terminal, directory: str, *, lenient: bool, as_json: bool) -> ExitCode:
    """List the agents without a feeder.

    No other agent surely fits them. Exit code 1: there are some.
    """
    found = _registry(directory, lenient=lenient).unfed()
    _say_names(terminal, found, as_json=as_json)
    return ExitCode.NO if found else ExitCode.YES


def _known(registry: Questions, name: str) -> str:
    """Return the name of an agent that is there."""
    if name not in registry:
        near = difflib.get_close_matches(name, [*registry], n=1)
        meant = f" (did you mean {quote(near[0])}?)" if near else ""
        raise click.UsageError(f"no agent {quote(name)}{meant}")
    return name


@registry_command.command("pairs")
@_directory
@_lenient
@click.option("--graph", "form", flag_value="graph", help="Draw a small registry with letters.")
@click.option("--dot", "form", flag_value="dot", help="Print the graph for Graphviz.")
@click.option("--mermaid", "form", flag_value="mermaid", help="Print the graph for Mermaid.")
@click.option("--html", "form", flag_value="html", help="Print the graph as a page for a browser.")
@click.option("--json", "form", flag_value="json", help=JSON_HELP)
@pass_terminal
def pairs(terminal: Terminal, directory: str, form: str | None, *, lenient: bool) -> ExitCode:
    """List every pair whose sender's output the receiver always accepts.

    \b
      messagebody registry pairs agents/ --graph
      messagebody registry pairs agents/ --dot | dot -Tsvg > agents.svg
      messagebody registry pairs agents/ --html > agents.html
    """
    registry = _registry(directory, lenient=lenient)
    found, undecided = list(registry.pairs()), list(registry.undecided())
    if form == "graph":
        _draw(terminal, registry, found)
    elif form == "dot":
        terminal.say(graphs.dot(registry, found))
    elif form == "mermaid":
        terminal.say(graphs.mermaid(registry, found))
    elif form == "html":
        click.echo(graph_page(registry, found), nl=False)
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


def _draw(terminal: Terminal, registry: Questions, found: list[tuple[str, str]]) -> None:
    if len(registry) > graphs.MOST_DRAWN:
        raise click.UsageError(
            f"--graph draws up to {graphs.MOST_DRAWN} agents, and there are {len(registry):,}; "
            "use --dot or --mermaid"
        )
    # By ranks, most arrows of the drawing point one way.
    order = list(chain.from_iterable(registry.ranks()))
    terminal.say(graphs.draw(order, found, palette=terminal.palette))
    terminal.remark("in each column, ◀ accepts everything that ● sends")


@registry_command.command("who")
@_directory
@click.option("--feeds", metavar="AGENT", help="List the agents whose output AGENT always accepts.")
@click.option(
    "--takes", metavar="AGENT", help="List the agents that accept everything AGENT sends."
)
@_lenient
@_json
@pass_terminal
def who(
    terminal: Terminal, directory: str, feeds: str | None, takes: str | None, *, lenient: bool,
    as_json: bool,
) -> ExitCode:  # fmt: skip
    """List the agents that fit before or after an agent."""
    if (feeds is None) == (takes is None):
        raise click.UsageError("give either --feeds AGENT or --takes AGENT")
    registry = _registry(directory, lenient=lenient)
    name = _known(registry, str(feeds if takes is None else takes))
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
    """Print the shortest chain of agents between two schemas.

    HAVE is the schema of the first input, WANT of the last output. Exit code 1: there is no chain.
    """
    registry = _registry(directory, lenient=lenient)
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
    """Print the pairs that a change would lose and gain.

    AGENT.json is the new version of an agent. Exit code 1: a pair would be lost.
    """
    registry = _registry(directory, lenient=lenient)
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
        return Agent.from_dict(read_json(path), name=Path(path).stem, limits=limits())
    except InvalidSchema as error:
        raise click.UsageError(f"{quote(path)} is not a valid agent: {error}") from error
