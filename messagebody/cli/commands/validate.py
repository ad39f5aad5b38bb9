"""`validate`: a body against a schema."""

import click

from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.streams import body_argument, read_body, read_schema
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.schema import Violation
from messagebody.text import count_of

__all__ = ["command"]


@click.command("validate")
@body_argument
@click.option("--schema", required=True, metavar="FILE", help="The schema.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its members stay as they are.")
@pass_terminal
def command(terminal: Terminal, body: str, schema: str, *, as_json: bool) -> int:
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
