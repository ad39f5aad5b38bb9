"""`check`: does one agent's output fit another's input?"""

import click

from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.reporting import answer, format_option, from_here
from messagebody.cli.streams import read_body, read_schema
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.compatibility import DEFAULT_STEPS, check, suggest
from messagebody.rendering.reports import Subject
from messagebody.schema import MessageBodySchema

__all__ = ["command"]

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
def command(
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
