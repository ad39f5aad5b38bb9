"""Commands for schemas: validation and comparison."""

import json
import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click

from messagebody._cli import inputs, options, outputs, terminal
from messagebody._cli.application import ExitCode
from messagebody._cli.kinds import FILE, PATTERN
from messagebody._cli.reports import answer, from_here, report_form
from messagebody._cli.verdicts import Subject, lines_of, pair_lines, report_findings, report_pair
from messagebody._core import count_of, escape, quote
from messagebody.compatibility import Compatibility, check, lint, suggest
from messagebody.findings import iter_findings
from messagebody.rendering import folded
from messagebody.schema import (
    ContentSchema,
    MessageBodySchema,
    SchemaPart,
    Violation,
    content_schema_of,
)
from messagebody.schema.json_schemas import body_json_schema, schema_json_schema
from messagebody.storage import Resolver

# The most violations for a person to read; programs get all of them.
_LISTED = 100


@click.command
@options.bodies
@options.schema
@options.references
@options.as_json
def validate_command(
    bodies: tuple[str, ...], schema: str, resolver: Resolver, *, as_json: bool
) -> ExitCode:
    """Exit code 0: all bodies are valid. 1: one is not.

    A reference is read only if what is inside it decides, and --allow opens it.

    \b
      messagebody validate message.json --schema researcher.schema.json
      messagebody validate messages/*.json --schema researcher.schema.json
    """
    # Read once, because its index of patterns is made once and used for all bodies.
    wanted = inputs.read_schema(schema)
    results = []
    for path in bodies:
        message = inputs.read_body(path)
        violations = list(wanted.iter_violations(message, resolver=resolver))
        results.append({"body": path, **_as_json(violations)})
        if not as_json:
            _say_violations("" if len(bodies) == 1 else path, violations, len(message))
    if as_json:
        # The JSON for a single body is an object, without a list around it.
        terminal.say_json(results[0] if len(bodies) == 1 else results)
    return ExitCode.YES if all(each["valid"] for each in results) else ExitCode.NO


def _say_violations(path: str, violations: list[Violation], parts: int) -> None:
    paint, title = terminal.palette(), f"{escape(path)}: " if path else ""
    if not violations:
        terminal.say(f"{title}{paint('valid', 'yes')}: {count_of(parts, 'part')}")
        return
    terminal.say(f"{title}{paint('invalid', 'no')}: {count_of(len(violations), 'violation')}")
    terminal.say_wrapped(f"  {violation}" for violation in violations[:_LISTED])
    if len(violations) > _LISTED:
        terminal.say(f"  and {count_of(len(violations) - _LISTED, 'more violation')} (--json)")


def _as_json(violations: list[Violation]) -> dict[str, Any]:
    found = [violation.to_dict() for violation in violations]
    return {"valid": not violations, "violations": found}


@click.group("schema")
def schema_command() -> None:
    """The text describes a valid body, so that a person or a model can write one.

    \b
      messagebody schema show researcher.schema.json
      messagebody schema add researcher.schema.json --name report.json --content model.json -i
    """


@schema_command.command("show")
@click.argument("schema", default="-", type=FILE)
@options.servers
def show_command(schema: str) -> None:
    """Describe a schema in words."""
    terminal.say_wrapped(inputs.read_schema(schema).describe().splitlines())


@schema_command.command("add")
@click.argument("schema", default="-", type=FILE)
@options.flag("--new", help="Start a new schema instead of SCHEMA.")
@click.option(
    "--name", type=PATTERN, help="Pattern of names; without it, the part is for unnamed parts."
)
@click.option("--type", "content_type", help="Pattern of content types; any if not given.")
@options.flag("--required", help="Bodies must have such a part.")
@click.option("--description", help="What the part is for.")
@click.option(
    "--content", metavar="FILE|MODULE:NAME",
    help="What is inside: a file of JSON Schema, or a model of Python, such as app.models:Report.",
)  # fmt: skip
@options.flag("--sends", help="With a pydantic model: what it sends, not takes.")
@options.outputs
def add_part_command(
    schema: str, name: str | None, content_type: str | None, description: str | None,
    content: str | None, output: str | None, *, new: bool, required: bool, sends: bool,
    in_place: bool,
) -> None:  # fmt: skip
    """Add a part to a schema, at the end.

    \b
      messagebody schema add --new --name report.json --content model.json --required
      messagebody schema add agent.schema.json --content app.models:Report -i
    """
    if in_place and new:
        raise click.UsageError("-i writes back to the file SCHEMA, and --new reads none")
    place = outputs.place_of(schema, output, in_place=in_place)
    parts = [] if new else [*inputs.read_schema(schema)]
    added = SchemaPart(
        name,
        **({} if content_type is None else {"content_type": content_type}),
        required=required, description=description,
        content_schema=None if content is None else _content(content, sends=sends),
    )  # fmt: skip
    whole = MessageBodySchema([*parts, added])
    outputs.write_text_document(whole.to_json(indent=2), place, None if new else schema)


def _content(place: str, *, sends: bool) -> ContentSchema:
    """Return the content schema in a file, or of a model that is named as `module:name`."""
    module, colon, name = place.partition(":")
    if not colon or not module.replace(".", "").isidentifier() or Path(place).exists():
        return content_schema_of(inputs.read_bytes(place), limits=terminal.limits())
    # The models of a project are usually where the command is called.
    sys.path.insert(0, "")
    try:
        model = resolve_name(f"{module}:{name}")
    except (ImportError, AttributeError, ValueError) as error:
        raise click.UsageError(f"there is no model {quote(place)}: {error}") from error
    finally:
        sys.path.remove("")
    return content_schema_of(model, sends=sends)


@click.command
@click.argument("kind", metavar="body|schema", type=click.Choice(["body", "schema"]))
@options.output
def json_schema_command(kind: str, output: str | None) -> None:
    """With it, an editor completes and checks files as you type.

    \b
      messagebody json-schema body -o .vscode/body.schema.json
      messagebody json-schema schema -o .vscode/bodyschema.schema.json
    """
    described = body_json_schema() if kind == "body" else schema_json_schema()
    outputs.write_text_document(json.dumps(described, indent=2), output)


@click.command
@options.bodies
@options.output
@options.servers
def infer_command(bodies: tuple[str, ...], output: str | None) -> None:
    """The schema accepts every BODY, and requires the parts that all of them have.

    \b
      messagebody infer message.json
      messagebody infer messages/*.json -o inferred.schema.json
    """
    schema = MessageBodySchema.infer(*(inputs.read_body(path) for path in bodies))
    outputs.write_text_document(schema.to_json(indent=2), output)


_SHOWN = 3
"""Suggestions that are printed: more are not read."""


@click.command
@click.argument("producer", type=FILE)
@click.argument("consumer", type=FILE)
@options.lenient
@options.max_steps
@options.flag("--suggest", "wants_help", help="Suggest changes that make it fit.")
@report_form
@options.servers
def check_command(
    producer: str, consumer: str, form: str, max_steps: int, *, lenient: bool, wants_help: bool
) -> ExitCode:
    """PRODUCER is the schema of the output, CONSUMER the schema of the input.

    The answer is exact: is every message that is valid for PRODUCER valid for CONSUMER? A no comes
    with a message that shows it. Exit code 0: always. 1: not always. 3: undecided within the
    budget.

    Either may be an agent, such as an A2A agent card: then its output or input is meant. Of two
    agents, the kinds of exchange are told, too; the exit code is that of output and input.

    \b
      messagebody check researcher.schema.json summariser.schema.json
      messagebody check researcher.card.json summariser.card.json
      messagebody infer message.json | messagebody check - summariser.schema.json
      messagebody check researcher.schema.json summariser.schema.json --suggest
      messagebody check out.json in.json --format sarif > check.sarif
      messagebody check https://agent.example/out.json in.json --allow https://agent.example/
    """
    if wants_help and form not in {"text", "json"}:
        raise click.UsageError(f"--suggest cannot be used with --format {form}")
    sent, taken = inputs.read_party(producer), inputs.read_party(consumer)
    # A schema is its own side.
    sides: Any = getattr(sent, "output", sent), getattr(taken, "input", taken)
    are_agents = not any(isinstance(each, MessageBodySchema) for each in (sent, taken))
    asked: Any = (sent, taken) if are_agents else sides
    result: Compatibility = check(*asked, lenient=lenient, max_steps=max_steps)
    changes = suggest(*sides, lenient=lenient, limit=_SHOWN) if wants_help else None
    # The parts of an agent are not those of its schema.
    lines = {
        from_here(path): lines_of(path)
        for path, side in ((producer, sent), (consumer, taken))
        if isinstance(side, MessageBodySchema)
    }
    subject = Subject(from_here(producer), from_here(consumer), lines=lines)
    report = report_pair(result, subject, changes)
    return answer(report, form, pair_lines(result, changes))


@click.command
@click.argument("paths", nargs=-1, default=("-",), metavar="[SCHEMA|BODY]...", type=FILE)
@report_form
@options.servers
def lint_command(paths: tuple[str, ...], form: str) -> ExitCode:
    """Report likely mistakes in schemas or bodies.

    Every reported mistake of a schema is proved. Exit code 1: there are some.

    In a body, it finds parts whose bytes or names have another type than the part states, JSON that
    is none, links to no part, and messages of chat APIs.

    \b
      messagebody lint researcher.schema.json
      messagebody lint agents/*.schema.json --format github
      messagebody lint message.json
    """
    if len(paths) > 1 and form not in ("text", "github"):
        raise click.UsageError(f"--format {form} is a report of one file, got {len(paths)} files")
    return max(_lint(path, form, several=len(paths) > 1) for path in paths)


def _lint(path: str, form: str, *, several: bool) -> ExitCode:
    """Print the likely mistakes in a schema or a body."""
    read = inputs.read_either(path)
    findings = lint(read) if isinstance(read, MessageBodySchema) else [*iter_findings(read)]
    place = f"{from_here(path)}: " if several else ""
    told = (f"{place}{terminal.in_shell_words(str(finding))}" for finding in findings)
    report = report_findings(findings, read, from_here(path), lines_of(path))
    return answer(report, form, folded(told, terminal.width()))
