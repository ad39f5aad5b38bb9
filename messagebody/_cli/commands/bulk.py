"""Commands for the messages of many files: bulk validate, offload, table and others."""

import contextlib
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

import attrs
import click

from messagebody import bulk
from messagebody._cli.application import ExitCode
from messagebody._cli.executors import dask_client, dask_option
from messagebody._cli.inputs import BODY, read_schema
from messagebody._cli.options import (
    FormatName,
    complete_file,
    complete_store,
    reading_options,
    resolver_options,
    size,
    store_url,
    threshold_option,
    to_store_option,
    urls_option,
)
from messagebody._cli.terminal import Terminal, is_terminal, pass_terminal
from messagebody._core import escape, human_size
from messagebody.adapters import MessageFormat, adapter, adapter_names
from messagebody.bulk import Progress, Report
from messagebody.storage import Resolver

_F = TypeVar("_F", bound=Callable[..., Any])
_TASKS_A_THREAD: Final = 2
"""Tasks that a thread of a cluster is given at a time: one in work and one that waits."""


@click.group("bulk")
def bulk_command() -> None:
    """SOURCE is a file, a directory, a URL or a glob: .jsonl, .jsonl.gz, .jsonl.zst, .parquet, .json.

    OUT gets a result for each shard, errors.jsonl with every bad line, and report.json. If a
    command was stopped or killed, run it again, and it continues. Exit code 0: all messages are
    good. 1: some are not. 4: some shards could not be done.

    \b
      messagebody bulk validate 's3://logs/2026-11/*.jsonl' --schema out.json --out s3://logs/checked
      messagebody bulk table logs/ --out tables/
    """  # noqa: E501 - a line of the help


@attrs.frozen
class _How:
    """The options of all jobs."""

    terminal: Terminal
    sources: tuple[str, ...]
    out: str
    as_json: bool
    options: dict[str, Any]

    def run(self, job: Callable[..., Report], *arguments: Any, **options: Any) -> ExitCode:
        """Run a job, show its progress, and print its report."""
        with self._progress(job.__name__) as tell:
            options |= {**self.options, "out": _place(self.out), "progress": tell}
            try:
                report = job(self.sources, *arguments, **options)
            except KeyboardInterrupt:
                self.terminal.warn("stopped; the same command continues the job")
                raise
        self._say(report)
        if report.failed:
            return ExitCode.FAILED
        return ExitCode.YES if report else ExitCode.NO

    @contextlib.contextmanager
    def _progress(self, label: str) -> Iterator[Callable[[Progress], None]]:
        if self.as_json:
            yield lambda done: _say_line(self.terminal, "progress", attrs.asdict(done))
            return
        if self.terminal.quiet or not is_terminal(sys.stderr):
            yield lambda _: None
            return
        drawn: Any = click.progressbar(
            length=0, label=label, file=sys.stderr, item_show_func=_in_words
        )
        with drawn as bar:

            def tell(done: Progress) -> None:
                bar.length = done.bytes
                bar.update(done.read - bar.pos, done)

            yield tell

    def _say(self, report: Report) -> None:
        if self.as_json:
            _say_line(self.terminal, "report", {**report.to_dict(), "out": report.out})
            return
        paint = self.terminal.palette
        self.terminal.say(paint(escape(str(report), limit=1000), "yes" if report else "no"))
        if report.counts.get("bad lines"):
            self.terminal.say(f"  why lines are bad: errors.jsonl in {escape(self.out)}")
        for found in report.findings:
            place = f"{escape(found['file'])}, line {found['line']:,}"
            self.terminal.say_wrapped([f"  {place}: {found['text']}"])
        for failure in report.failed:
            text = f"{escape(failure.shard)} was left out: {failure.problem}"
            self.terminal.say_wrapped([text], "no")


def _in_words(done: Progress | None) -> str:
    if done is None:
        return ""
    bad = f", {done.bad:,} bad" if done.bad else ""
    return f"{human_size(done.read)}, {done.messages:,} messages{bad}"


def _say_line(terminal: Terminal, event: str, value: dict[str, Any]) -> None:
    terminal.say(json.dumps({"event": event, **value}))


def _place(text: str) -> str:
    """Return the place of a source or result; a mistyped URL is an error and not a directory."""
    return text if "://" in text else store_url(text)


def _job(function: _F) -> _F:
    """Add the arguments and options of all jobs, and pass them as one `_How`."""

    def command(terminal: Terminal, **said: Any) -> ExitCode:
        dask, workers = said.pop("dask"), said.pop("workers")
        shared = {name: said.pop(name) for name in ("sources", "out", "as_json")}
        options = {name: said.pop(name) for name in ("member", "fail_fast", "prune")}
        with contextlib.ExitStack() as stack:
            executor = None
            if dask is not None:
                client = stack.enter_context(dask_client(dask, workers))
                executor = client.get_executor()
                workers = _TASKS_A_THREAD * sum(client.nthreads().values()) or workers
            options |= {
                "workers": workers,
                "executor": executor,
                "shard_bytes": said.pop("shard_size"),
                "limits": terminal.limits,
            }
            result: ExitCode = function(_How(terminal, options=options, **shared), **said)
            return result

    command.__doc__ = function.__doc__
    made: Any = pass_terminal(command)
    for decorate in reversed(_SHARED):
        made = decorate(made)
    # The command's own options come first in its help.
    made.__click_params__ = [*getattr(function, "__click_params__", []), *made.__click_params__]
    return made  # type: ignore[no-any-return]


_SHARED: Final = (
    click.argument(
        "sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=complete_file
    ),
    click.option(
        "--out", required=True, metavar="OUT", shell_complete=complete_store,
        help="Directory or URL of the results: empty, or of the same job.",
    ),
    click.option("--field", "member", metavar="NAME",
                 help="Member that holds the body.  [default: body or parts]"),
    click.option("--workers", type=click.IntRange(min=0),
                 help="Processes; 0 runs the job in this one.  [default: all cores]"),
    dask_option,
    click.option("--shard-size", callback=size, default="64 MiB", show_default=True,
                 metavar="SIZE", help="Cut larger plain files."),
    click.option("--fail-fast", is_flag=True, help="Stop at the first bad line."),
    click.option("--prune", is_flag=True,
                 help="Delete the results of sources that are not given any more."),
    click.option("--json", "as_json", is_flag=True,
                 help="Print progress and report as lines of JSON (stable format)."),
)  # fmt: skip


@bulk_command.command("validate")
@_job
@click.option("--schema", required=True, metavar="FILE", help="The schema.")
@resolver_options
def validate(how: _How, schema: str, resolver: Resolver) -> ExitCode:
    """Write a row for each message that is not valid.

    References are read only if what is inside them decides, and --allow opens them.

    \b
      messagebody bulk validate logs/ --schema researcher.schema.json --out checked/
    """
    opened = None if resolver.is_closed else resolver
    return how.run(bulk.validate, read_schema(schema), resolver=opened)


@bulk_command.command("digest")
@_job
def digest(how: _How) -> ExitCode:
    """Write a row with the digest of each message."""
    return how.run(bulk.digest)


@bulk_command.command("offload")
@_job
@to_store_option
@threshold_option("Move larger parts.")
def offload(how: _How, store: str, threshold: int) -> ExitCode:
    """Write each message with its large parts in a store.

    \b
      messagebody bulk offload logs/ --to s3://bucket/parts --out s3://bucket/small
    """
    return how.run(bulk.offload, _place(store), offload_options={"threshold": threshold})


@bulk_command.command("inline")
@_job
@click.option("--all", "everything", is_flag=True, help="Also references without a digest.")
@resolver_options
def inline(how: _How, resolver: Resolver, *, everything: bool) -> ExitCode:
    """Write each message with the content of its references."""
    return how.run(bulk.inline, resolver=resolver, all=everything)


@bulk_command.command("verify")
@_job
@click.option("--size-only", is_flag=True, help="Compare sizes; read no content.")
@resolver_options
def verify(how: _How, resolver: Resolver, *, size_only: bool) -> ExitCode:
    """Write a row for each reference that is missing or wrong."""
    return how.run(bulk.verify, resolver=resolver, digest=not size_only)


_FORMATS: Final = FormatName()
_KNOWN: Final = f"One of {', '.join([BODY, *adapter_names()])}."


@bulk_command.command("convert")
@_job
@click.option("--from", "source", type=_FORMATS, default=BODY, show_default=True,
              metavar="FORMAT", help=_KNOWN)  # fmt: skip
@click.option("--to", "target", type=_FORMATS, default=BODY, show_default=True,
              metavar="FORMAT", help="The format to write; the same names.")  # fmt: skip
@click.option("--strict", is_flag=True, help="A message that would lose something is a bad line.")
@urls_option
@resolver_options
def convert(
    how: _How, source: str, target: str, urls: str | None, resolver: Resolver, *, strict: bool
) -> ExitCode:
    """Write each message in another format.

    \b
      messagebody bulk convert logs/ --to openai-chat --out chat/
    """
    options: dict[str, Any] = {} if urls is None else {"urls": urls}
    if options and (target == BODY or not isinstance(adapter(target), MessageFormat)):
        raise click.UsageError(f"--urls cannot be used with --to {target}")
    options |= reading_options(target, options, resolver)
    return how.run(
        bulk.convert, source=source, target=target, strict=strict, adapter_options=options
    )


@bulk_command.command("infer")
@_job
def infer(how: _How) -> ExitCode:
    """Write one schema that accepts all messages, schema.json."""
    return how.run(bulk.infer)


@bulk_command.command("stats")
@_job
def stats(how: _How) -> ExitCode:
    """Write the number and bytes of parts by content type, stats.json."""
    return how.run(bulk.stats)


@bulk_command.command("table")
@_job
def table(how: _How) -> ExitCode:
    """Write Parquet files with one row per part.

    DuckDB, Polars, pandas and Spark read them.

    \b
      messagebody bulk table logs/ --out tables/
      duckdb -c "SELECT content_type, sum(size) FROM 'tables/shards/*.parquet' GROUP BY ALL"
    """
    return how.run(bulk.table)


@bulk_command.command("map")
@_job
@click.option(
    "--call", "name", required=True, metavar="MODULE:FUNCTION",
    help="It takes a body, and returns a body, a dict or None.",
)  # fmt: skip
def map_(how: _How, name: str) -> ExitCode:
    """Write the result of your own Python function for each message.

    \b
      PYTHONPATH=. messagebody bulk map logs/ --call mine:titles --out titles/
    """
    module, _, attribute = name.partition(":")
    try:
        function = getattr(importlib.import_module(module), attribute)
    except (ImportError, ValueError, AttributeError) as error:
        raise click.BadParameter(f"no function {name!r}: {error}", param_hint="--call") from error
    return how.run(bulk.map, function)
