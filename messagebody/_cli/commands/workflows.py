"""Commands for workflows: what always gets through, a page about it, and steps that mend it."""

import json
from pathlib import Path

import click

from messagebody._cli import inputs, options, outputs, terminal
from messagebody._cli.application import ExitCode
from messagebody._cli.kinds import FILE
from messagebody._cli.reports import answer, from_here, report_form
from messagebody._cli.verdicts import report_workflow, workflow_lines
from messagebody._core import escape
from messagebody.workflows import (
    Adaptation,
    Workflow,
    WorkflowAnswer,
    adapt,
    lost_text,
    workflow_page,
)

_flow = click.argument("flow", type=FILE)


@click.group
def workflow_command() -> None:
    """Prove that what agents send gets through the steps between them.

    FLOW is a file of JSON or TOML: agents, edges with steps, and what must never flow where.

    \b
      messagebody workflow check flow.json
      messagebody workflow check flow.json --suggest
      messagebody workflow show flow.json -o flow.html
      messagebody workflow adapt researcher.schema.json writer.schema.json
    """


@workflow_command.command("check")
@_flow
@options.max_steps
@options.flag("--suggest", "wants_help", help="Suggest steps that mend it.")
@report_form
@options.servers
def check_workflow(flow: str, form: str, max_steps: int, *, wants_help: bool) -> ExitCode:
    """Say of each agent whether all that can reach it is valid for it.

    A no comes with messages that break it, step by step. Exit code 0: always, and nothing flows
    where it never should. 1: not always. 3: undecided within the budget.

    \b
      messagebody workflow check flow.json
      messagebody workflow check flow.toml --suggest
      messagebody workflow check flow.json --format sarif > flow.sarif
    """
    workflow = inputs.read_workflow(flow)
    answers = workflow.check(max_steps=max_steps)
    changes = _changes(workflow, answers, max_steps) if wants_help else None
    report = report_workflow(answers, from_here(flow), changes)
    return answer(report, form, workflow_lines(answers, changes))


def _changes(workflow: Workflow, answers: WorkflowAnswer, max_steps: int) -> list[Adaptation]:
    broken = [name for name, answer in answers.items() if not answer]
    found = [workflow.suggest(name, max_steps=max_steps) for name in broken]
    return [each for each in found if each is not None]


@workflow_command.command("show")
@_flow
@options.max_steps
@click.option(
    "--format", "form", type=click.Choice(["html", "mermaid"]), default="html",
    help="Output format; mermaid is the graph as text.",
)  # fmt: skip
@options.output
@options.servers
def show_workflow(flow: str, form: str, max_steps: int, output: str | None) -> None:
    """Write a page with the graph and what breaks, or the graph alone.

    Each edge has its verdict and its steps.

    \b
      messagebody workflow show flow.json -o flow.html
      messagebody workflow show flow.json --format mermaid
    """
    workflow = inputs.read_workflow(flow)
    answers = workflow.check(max_steps=max_steps)
    if form == "html":
        shown = workflow_page(workflow, answers, title=escape(Path(flow).name))
    else:
        shown = workflow.graph(answers).to_mermaid()
    outputs.write_text_document(shown.removesuffix("\n"), output)


@workflow_command.command("adapt")
@click.argument("producer", type=FILE)
@click.argument("consumer", type=FILE)
@options.max_steps
@options.as_json
@options.servers
def adapt_schemas(producer: str, consumer: str, max_steps: int, *, as_json: bool) -> ExitCode:
    """Print steps that make two schemas fit.

    Every output of PRODUCER is valid input of CONSUMER after them. They lose least of what CONSUMER
    could take, and what they lose is said on standard error. They are printed as an edge of a
    workflow has them. Exit code 1: no such steps were found.

    \b
      messagebody workflow adapt researcher.schema.json writer.schema.json
    """
    found = adapt(inputs.read_schema(producer), inputs.read_schema(consumer), max_steps=max_steps)
    if found is not None and found.lost:
        terminal.warn(f"the steps lose something:{lost_text(found.lost)}")
    if as_json:
        terminal.say_json(None if found is None else [step.to_dict() for step in found])
    elif found is None:
        terminal.remark("no steps were found that make it fit")
    else:
        terminal.say(json.dumps(step.to_dict()) for step in found)
        if not found:
            terminal.remark("it fits as it is")
    return ExitCode.NO if found is None else ExitCode.YES
