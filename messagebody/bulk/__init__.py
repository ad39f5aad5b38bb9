"""Bulk jobs: one operation on the messages of many files, on one machine or a cluster.

Each job reads JSON Lines, Parquet files of parts or directories of messages, writes a result for
each shard, and returns a report. It can be killed at any moment and run again: finished shards are
not repeated, and the results are the same bytes.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from messagebody._core import face, require_resolver, require_schema
from messagebody.adapters import BODY, adapter
from messagebody.bulk import _jobs as jobs
from messagebody.bulk._jobs import Mapped, store_of
from messagebody.bulk._report import Failure, Progress, Report
from messagebody.bulk._run import Options, run
from messagebody.schema import MessageBodySchema
from messagebody.storage import Resolver

__all__ = [
    "Failure",
    "Options",
    "Progress",
    "Report",
    "convert",
    "digest",
    "infer",
    "inline",
    "map",
    "offload",
    "stats",
    "table",
    "validate",
    "verify",
]

if not TYPE_CHECKING:  # a type checker would assume that the module has every name
    __getattr__, _ = face(__name__)

Sources = str | PurePath | Iterable[str | PurePath]
"""A URL, a path or a glob of messages, or several of them."""


def validate(
    sources: Sources,
    schema: MessageBodySchema,
    *,
    out: Any,
    resolver: Resolver | None = None,
    **how: Any,
) -> Report:
    r"""Validate messages against a schema; the results have a row for each invalid message.

    Arguments:
        sources: a URL, path or glob of messages, or several.
        schema: the schema.
        out: the directory or URL of the results.
        resolver: reads the references whose content decides, with a content schema.
        **how: the arguments of `Options`.

    Raises:
        InvalidArgument: `out` has the results of another job.
        StoreError: a source or the results can't be reached.

    Examples:
        >>> import pathlib
        >>> _ = pathlib.Path("log.jsonl").write_text('[{"content":"Hello!"}]\n[]\n')
        >>> schema = MessageBodySchema([(None, "text/*", True)])
        >>> report = validate("log.jsonl", schema, out="checked", workers=0)
        >>> report.counts["valid"], report.counts["invalid"], bool(report)
        (1, 1, False)
    """
    job = jobs.Validate(require_schema(schema), require_resolver(resolver))
    return run(job, sources, out, Options(**how))


def digest(sources: Sources, *, out: Any, **how: Any) -> Report:
    r"""Write the digest of each message; see `validate` for the arguments.

    A message with a reference of unknown digest has none. Its row has null, the fingerprint, and
    the parts because of which it is so.

    Examples:
        >>> import pathlib
        >>> line = '[{"content":"Hello!"},{"contentUrl":"https://example.com/cats"}]\n'
        >>> _ = pathlib.Path("urls.jsonl").write_text(line)
        >>> report = digest("urls.jsonl", out="digests", workers=0)
        >>> report.counts["without a digest"], bool(report)
        (1, True)
        >>> [rows] = pathlib.Path("digests/shards").iterdir()
        >>> rows.read_text().partition('"unknown"')[2]
        ':["part 1"]}\n'
    """
    return run(jobs.Digest(), sources, out, Options(**how))


def offload(
    sources: Sources,
    store: Any,
    *,
    out: Any,
    offload_options: dict[str, Any] | None = None,
    **how: Any,
) -> Report:
    """Move the large parts of messages to a store; the results are the messages with references.

    Arguments:
        sources: a URL, path or glob of messages, or several.
        store: the store's URL, or a directory.
        out: the directory or URL of the results.
        offload_options: arguments of `storage.offload`, such as `{"threshold": "64 KiB"}`.
        **how: the arguments of `Options`.
    """
    options = Options(**how)
    opened = store_of(store, options.storage_options)
    job = jobs.Offload(opened, dict(offload_options or {}))
    return run(job, sources, out, options)


def inline(
    sources: Sources,
    *,
    resolver: Resolver,
    out: Any,
    all: bool = False,  # noqa: A002 - as in `storage.inline`
    **how: Any,
) -> Report:
    """Inline and verify the references of messages; the results are the messages with contents.

    Arguments:
        sources: a URL, path or glob of messages, or several.
        resolver: decides which references are read.
        out: the directory or URL of the results.
        all: also inline references without a digest.
        **how: the arguments of `Options`.
    """
    job = jobs.Inline(require_resolver(resolver, optional=False), {"all": all})
    return run(job, sources, out, Options(**how))


def verify(
    sources: Sources,
    *,
    resolver: Resolver,
    out: Any,
    digest: bool = True,
    **how: Any,
) -> Report:
    """Verify the references of messages; the results have a row for each invalid reference.

    Arguments:
        sources: a URL, path or glob of messages, or several.
        resolver: decides which references are read.
        out: the directory or URL of the results.
        digest: read the contents and compare their digests, and not only their sizes.
        **how: the arguments of `Options`.
    """
    job = jobs.Verify(require_resolver(resolver, optional=False), {"digest": digest})
    return run(job, sources, out, Options(**how))


def convert(
    sources: Sources,
    *,
    out: Any,
    source: str = BODY,
    target: str = BODY,
    strict: bool = False,
    adapter_options: dict[str, Any] | None = None,
    **how: Any,
) -> Report:
    """Convert messages between formats; the results are the messages of the other format.

    Arguments:
        sources: a URL, path or glob of messages, or several.
        out: the directory or URL of the results.
        source: the format of the messages: "body" or the name of an adapter.
        target: the format to write.
        strict: report a message that would lose something as a bad line.
        adapter_options: arguments of the adapter that writes.
        **how: the arguments of `Options`.

    Raises:
        MessageBodyError: a format is unknown.
    """
    for name in {source, target} - {BODY}:
        adapter(name)
    options = dict(adapter_options or {})
    return run(jobs.Convert(source, target, strict, options), sources, out, Options(**how))


def infer(sources: Sources, *, out: Any, **how: Any) -> Report:
    """Infer one schema for all messages, in `schema.json`; see `validate` for the arguments."""
    return run(jobs.Infer(), sources, out, Options(**how))


def stats(sources: Sources, *, out: Any, **how: Any) -> Report:
    """Count parts and bytes by content type, in `stats.json`; see `validate` for the arguments."""
    return run(jobs.Stats(), sources, out, Options(**how))


def table(sources: Sources, *, out: Any, **how: Any) -> Report:
    """Write Parquet files with one row per part; see `validate` for the arguments.

    Raises:
        MissingDependency: pyarrow is not installed (extra `tables`).
    """
    return run(jobs.Table(), sources, out, Options(**how))


def map(  # noqa: A001 - the usual name of this operation
    sources: Sources, function: Mapped, *, out: Any, **how: Any
) -> Report:
    """Call a function with each body; the results are the bodies or rows that it returns.

    Arguments:
        sources: a URL, path or glob of messages, or several.
        function: a module-level function. A body that it returns replaces the message's body, a
            dict is written as a row, and None is left out. An error it raises makes a bad line.
        out: the directory or URL of the results.
        **how: the arguments of `Options`.

    Raises:
        InvalidArgument: other processes can't find the function.
    """
    return run(jobs.Map(function), sources, out, Options(**how))
