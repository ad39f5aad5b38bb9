"""Commands for the messages of many files: bulk validate, offload, table and others."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pkgutil import resolve_name
from typing import Any, Final, TypeVar

import attrs
import click

from messagebody import bulk
from messagebody._cli import inputs, options, outputs, terminal
from messagebody._cli.application import ExitCode
from messagebody._cli.kinds import FILE, PLACE, store_url
from messagebody._cli.options import FORMAT, KNOWN_FORMATS
from messagebody._core import escape, human_size
from messagebody.adapters import BODY, Format, adapter
from messagebody.bulk import Progress, Report
from messagebody.errors import MessageBodyError, MissingDependency
from messagebody.storage import Resolver

_F = TypeVar("_F", bound=Callable[..., Any])
_TASKS_A_THREAD: Final = 2
"""Tasks that a thread of a cluster is given at a time: one in work and one that waits."""


@click.group
def bulk_command() -> None:
    """SOURCE is a file, a directory, a URL or a glob: .jsonl, .jsonl.gz, .jsonl.zst, .parquet, .json.

    OUT gets a result for each shard, errors.jsonl with every bad line, and report.json. If a
    command was stopped or killed, run it again, and it continues. Exit code 0: all messages are
    good. 1: some are not. 4: some shards could not be done.

    \b
      messagebody bulk validate 's3://logs/2026-11/*.jsonl' --schema out.json --out s3://logs/checked
      messagebody bulk table logs/ --out tables/
    """  # noqa: E501 - a line of the help


_SHARED: Final = (
    click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=FILE),
    click.option("--out", required=True, metavar="OUT", type=PLACE,
                 help="Directory or URL of the results: empty, or of the same job."),
    click.option("--member", metavar="NAME",
                 help="Member that holds the body.  [default: body or parts]"),
    click.option("--workers", type=click.IntRange(min=0),
                 help="Processes; 0 runs the job in this one.  [default: all cores]"),
    click.option("--dask", metavar="ADDRESS",
                 help="Run on a Dask cluster: tcp://scheduler:8786, or local."),
    options.flag("--fail-fast", help="Stop at the first bad line."),
    options.flag("--prune", help="Delete the results of sources that are not given any more."),
    options.flag("--json", "as_json",
                 help="Print progress and report as lines of JSON (stable format)."),
)  # fmt: skip


def _job(function: _F) -> _F:
    """Add the arguments and options of all jobs, which `_run` takes."""
    for decorate in reversed(_SHARED):
        function = decorate(function)
    return function


def _run(
    job: Callable[..., Report], *given: Any, sources: tuple[str, ...], out: str, as_json: bool,
    dask: str | None, workers: int | None, **said: Any,
) -> ExitCode:  # fmt: skip
    """Run a job, show its progress, and print its report."""
    with contextlib.ExitStack() as stack:
        if dask is not None:
            client = stack.enter_context(_dask_client(dask, workers))
            workers = _TASKS_A_THREAD * sum(client.nthreads().values()) or workers
            said["executor"] = client.get_executor()
        tell = stack.enter_context(_progress(job.__name__, as_json=as_json))
        said |= {
            "out": store_url(out),
            "workers": workers,
            "limits": terminal.limits(),
            "progress": tell,
        }
        try:
            report = job(sources, *given, **said)
        except KeyboardInterrupt:
            terminal.warn("stopped; the same command continues the job")
            raise
    if as_json:
        _say_line("report", {**report.to_dict(), "out": report.out})
    else:
        _say(report, out)
    if report.failed:
        return ExitCode.FAILED
    return ExitCode.YES if report else ExitCode.NO


_LOCAL: Final = "local"
"""The address that starts a cluster on this machine."""
# Dask waits 30 seconds, which is long for a mistyped address.
_CONNECT: Final = "10s"
# Without an address, clusters compete for one port, and workers listen on all networks.
_HERE: Final = "127.0.0.1:0"


@contextlib.contextmanager
def _dask_client(address: str, workers: int | None) -> Iterator[Any]:
    """Give a client of the cluster at an address, or of a new one of this machine."""
    try:
        import distributed
    except ImportError as error:
        raise MissingDependency("--dask", "dask") from error
    if address == _LOCAL:
        with (
            distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=_HERE,
                worker_dashboard_address=_HERE,
                scheduler_kwargs={"dashboard": False},
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(address, timeout=_CONNECT)
    except (OSError, ValueError) as error:
        raise MessageBodyError(f"no scheduler answers at {escape(address)}") from error
    with client:
        yield client


@contextlib.contextmanager
def _progress(label: str, *, as_json: bool) -> Iterator[Callable[[Progress], None]]:
    if as_json:
        yield lambda done: _say_line("progress", attrs.asdict(done))
        return
    with outputs.progress_bar(label, item_show_func=_in_words) as bar:

        def tell(done: Progress) -> None:
            if bar is not None:
                bar.length = done.bytes
                bar.update(done.read - bar.pos, done)

        yield tell


def _in_words(done: Progress | None) -> str:
    if done is None:
        return ""
    bad = f", {done.bad:,} bad" if done.bad else ""
    return f"{human_size(done.read)}, {done.messages:,} messages{bad}"


def _say_line(event: str, value: dict[str, Any]) -> None:
    terminal.say(json.dumps({"event": event, **value}))


def _say(report: Report, out: str) -> None:
    terminal.say_wrapped([escape(str(report), limit=1000)], "yes" if report else "no")
    if report.counts.get("bad lines"):
        terminal.say(f"  why lines are bad: errors.jsonl in {escape(out)}")
    for found in report.findings:
        place = f"{escape(found['file'])}, line {found['line']:,}"
        terminal.say_wrapped([f"  {place}: {found['text']}"])
    for failure in report.failed:
        terminal.say_wrapped([f"{escape(failure.shard)} was left out: {failure.problem}"], "no")


@bulk_command.command
@options.schema
@options.references
@_job
def validate(schema: str, resolver: Resolver, **how: Any) -> ExitCode:
    """Write a row for each message that is not valid.

    References are read only if what is inside them decides, and --allow opens them.

    \b
      messagebody bulk validate logs/ --schema researcher.schema.json --out checked/
    """
    opened = None if resolver.is_closed else resolver
    return _run(bulk.validate, inputs.read_schema(schema), resolver=opened, **how)


@bulk_command.command
@_job
def digest(**how: Any) -> ExitCode:
    """Write a row with the digest of each message."""
    return _run(bulk.digest, **how)


@bulk_command.command
@options.to_store
@options.threshold("Move larger parts.")
@_job
def offload(store: str, threshold: int, **how: Any) -> ExitCode:
    """Write each message with its large parts in a store.

    \b
      messagebody bulk offload logs/ --to s3://bucket/parts --out s3://bucket/small
    """
    return _run(bulk.offload, store, offload_options={"threshold": threshold}, **how)


@bulk_command.command
@options.everything
@options.references
@_job
def inline(resolver: Resolver, *, everything: bool, **how: Any) -> ExitCode:
    """Write each message with the content of its references."""
    return _run(bulk.inline, resolver=resolver, all=everything, **how)


@bulk_command.command
@options.size_only
@options.references
@_job
def verify(resolver: Resolver, *, size_only: bool, **how: Any) -> ExitCode:
    """Write a row for each reference that is missing or wrong."""
    return _run(bulk.verify, resolver=resolver, digest=not size_only, **how)


@bulk_command.command
@click.option("--from", "source", type=FORMAT, default=BODY, help=KNOWN_FORMATS)
@options.target
@options.flag("--strict", help="A message that would lose something is a bad line.")
@options.urls
@options.references
@_job
def convert(
    source: str, target: str, urls: str | None, resolver: Resolver, *, strict: bool, **how: Any
) -> ExitCode:
    """Write each message in another format.

    \b
      messagebody bulk convert logs/ --to openai-chat --out chat/
    """
    writing: dict[str, Any] = {} if urls is None else {"urls": urls}
    if writing and (target == BODY or not isinstance(adapter(target), Format)):
        raise click.UsageError(f"--urls cannot be used with --to {target}")
    writing |= options.reading_options(target, writing, resolver)
    return _run(
        bulk.convert, source=source, target=target, strict=strict, adapter_options=writing, **how
    )


@bulk_command.command
@_job
def infer(**how: Any) -> ExitCode:
    """Write one schema that accepts all messages, schema.json."""
    return _run(bulk.infer, **how)


@bulk_command.command
@_job
def stats(**how: Any) -> ExitCode:
    """Write the number and bytes of parts by content type, stats.json."""
    return _run(bulk.stats, **how)


@bulk_command.command
@_job
def table(**how: Any) -> ExitCode:
    """Write Parquet files with one row per part.

    DuckDB, Polars, pandas and Spark read them.

    \b
      messagebody bulk table logs/ --out tables/
      duckdb -c "SELECT content_type, sum(size) FROM 'tables/shards/*.parquet' GROUP BY ALL"
    """
    return _run(bulk.table, **how)


@bulk_command.command("map")
@click.option(
    "--call", "name", required=True, metavar="MODULE:FUNCTION",
    help="It takes a body, and returns a body, a dict or None.",
)  # fmt: skip
@_job
def map_(name: str, **how: Any) -> ExitCode:
    """Write the result of your own Python function for each message.

    \b
      PYTHONPATH=. messagebody bulk map logs/ --call mine:titles --out titles/
    """
    try:
        function = resolve_name(name)
    except (ImportError, ValueError, AttributeError) as error:
        raise click.BadParameter(f"no function {name!r}: {error}", param_hint="--call") from error
    return _run(bulk.map, function, **how)
