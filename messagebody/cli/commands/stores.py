"""Commands on stored content: offload, inline, fetch, verify, sweep, migrate, present."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from messagebody._text import count_of, escape, human_size, quote
from messagebody.body import MessageBody
from messagebody.cli.application import ExitCode
from messagebody.cli.options import (
    allow_option,
    body_argument,
    output_options,
    progress,
    read_body,
    resolver_for,
    seconds,
    size,
    slashed,
    store_url,
    write_body,
)
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.offloading import (
    ReferenceFinding,
    Swept,
    fetch,
    inline,
    migrate,
    offload,
    present,
    sweep,
    verify,
)
from messagebody.part import Part


@click.command("offload")
@body_argument
@click.option("--to", "store", required=True, metavar="STORE", help="A URL or a directory.")
@click.option(
    "--threshold", callback=size, default="256 KiB", show_default=True, metavar="SIZE",
    help="Move larger parts.",
)  # fmt: skip
@click.option(
    "--fit", callback=size, metavar="SIZE",
    help="Move more until the whole JSON has at most this size.",
)  # fmt: skip
@click.option("--names", help="Only matching names; all parts, the unnamed too, without it.")
@click.option("--types", default="*/*", show_default=True, help="Only matching content types.")
@output_options
@pass_terminal
def offload_command(
    terminal: Terminal, body: str, store: str, threshold: int, fit: int | None,
    names: str | None, types: str, output: str | None, *, in_place: bool,
) -> None:  # fmt: skip
    """Move large parts to a store; the message keeps their URL, size and digest.

    STORE is a directory or a URL: s3://bucket/prefix, file:///srv/objects, gs://… or abfs://…
    with their extras. Credentials and endpoints come from the environment and the profile, as
    for every tool of AWS: AWS_PROFILE, AWS_ENDPOINT_URL, AWS_REGION.

    All or nothing: after an error the message is as it was, and the same command again sends
    what is missing.

    \b
      messagebody offload message.json --to ./store -o small.json
      messagebody offload message.json --to s3://bucket/prefix --threshold '64 KiB' -i
      messagebody offload message.json --to s3://bucket/prefix --fit '240 KiB' -o small.json
    """
    message = read_body(body)
    with progress(terminal, "offloading") as callback:
        result = offload(
            message, store_url(store), threshold=threshold, fit=fit,
            names=slashed(names or "**"), unnamed=names is None, content_types=types,
            callback=callback,
        )  # fmt: skip
    write_body(result, body, output, in_place=in_place)
    moved = sum(part.is_reference for part in result) - sum(part.is_reference for part in message)
    terminal.remark(f"{count_of(moved, 'part')} moved" + ("" if moved else "; see --threshold"))


@click.command("inline")
@body_argument
@click.option("--names", default="/**", show_default=True, help="Only matching names.")
@click.option("--all", "everything", is_flag=True, help="References without a digest too.")
@allow_option
@output_options
@pass_terminal
def inline_command(
    terminal: Terminal, body: str, names: str, allow: tuple[str, ...], output: str | None, *,
    everything: bool, in_place: bool,
) -> None:  # fmt: skip
    """Bring the content of references back into the message, verified.

    References that state a digest are read, which are those that `offload` wrote; --names
    chooses others by name. One that is refused, missing or wrong leaves everything as it was,
    and the error names every such part.

    \b
      messagebody inline small.json --allow s3://bucket/prefix -o message.json
      messagebody inline small.json --allow ./store --names 'charts/*' -i
    """
    message = read_body(body)
    with progress(terminal, "reading") as callback:
        result = inline(
            message, resolver=resolver_for(allow), names=slashed(names), all=everything,
            callback=callback,
        )  # fmt: skip
    write_body(result, body, output, in_place=in_place)


@click.command("fetch")
@click.argument("body", metavar="BODY")
@click.argument("name", required=False)
@click.option("--index", type=int, help="The part by its place, from 0, instead of a NAME.")
@click.option("-o", "--output", metavar="FILE", help="Where to; else the last segment of NAME.")
@allow_option
@pass_terminal
def fetch_command(
    terminal: Terminal, body: str, name: str | None, index: int | None, output: str | None,
    allow: tuple[str, ...],
) -> None:  # fmt: skip
    """Write one part to a file, verified, whole or not at all.

    A large part passes through in pieces; nothing of it stays if its digest is wrong. Without
    -o no file is replaced.

    \b
      messagebody fetch small.json video/talk.mp4 --allow s3://bucket/prefix
      messagebody fetch small.json --index 3 -o talk.mp4 --allow ./store
    """
    part = _part(read_body(body), name, index)
    path = Path(output) if output is not None else _unused(part)
    with progress(terminal, "reading") as callback:
        fetch(part, path, resolver=resolver_for(allow), callback=callback)
    terminal.remark(f"{path}: {human_size(path.stat().st_size)}")


def _part(body: MessageBody, name: str | None, index: int | None) -> Part:
    if (name is None) is (index is None):
        raise click.UsageError("give either the NAME of a part or its --index")
    if name is not None:
        return body[slashed(name)]
    if index is None or not -len(body) <= index < len(body):
        raise click.UsageError(f"no part {index}: the body has {count_of(len(body), 'part')}")
    return body[index]


def _unused(part: Part) -> Path:
    if part.path is None:
        raise click.UsageError("the part has no name: say where to write it with -o FILE")
    path = Path(part.path.name)
    if path.exists():
        raise click.UsageError(f"{quote(str(path))} exists; say where to write with -o FILE")
    return path


@click.command("verify")
@body_argument
@click.option("--size-only", is_flag=True, help="Ask for sizes; read nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its members stay as they are.")
@allow_option
@pass_terminal
def verify_command(
    terminal: Terminal, body: str, allow: tuple[str, ...], *, size_only: bool, as_json: bool
) -> int:
    """Check that every reference exists and has the size and digest it states.

    Exit code 0: all do. 1: some do not, or could not be read; each is named.

    \b
      messagebody verify small.json --allow s3://bucket/prefix
      messagebody verify small.json --allow ./store --size-only --json
    """
    result = verify(read_body(body), resolver=resolver_for(allow), digest=not size_only)
    if as_json:
        findings = [_described(finding) for finding in result.findings]
        terminal.say_json({"checked": result.checked, "findings": findings})
    elif result:
        terminal.say(terminal.palette("all references hold what they state", "yes"))
    else:
        terminal.say(escape(str(finding), limit=4000) for finding in result.findings)
    return ExitCode.YES if result else ExitCode.NO


def _described(finding: ReferenceFinding) -> dict[str, Any]:
    return {
        "index": finding.index,
        "name": finding.name,
        "error": type(finding.error).__name__,
        "problem": str(finding.error),
    }


_SAFE = 7 * 86_400


@click.command("sweep")
@click.argument("store")
@click.argument("bodies", nargs=-1, metavar="BODY...")
@click.option("--delete", is_flag=True, help="Delete them; without it they are only listed.")
@click.option(
    "--grace", callback=seconds, default="7 days", show_default=True, metavar="TIME",
    help="Leave younger objects alone: 12h, '7 days'.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its members stay as they are.")
@pass_terminal
def sweep_command(
    terminal: Terminal, store: str, bodies: tuple[str, ...], grace: float, *, delete: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """List the objects of STORE that no BODY refers to, and delete them with --delete.

    Give every message that is still in use: files, directories of messages, or - for standard
    input. Whatever they do not mention counts as garbage, so that a file which is no message
    stops the sweep before anything is listed, and so does giving none. Objects that offloading did
    not make are never touched.

    Messages that are being offloaded now are nowhere yet: the grace time protects their objects.
    With less than 7 days, make sure that nobody offloads to STORE meanwhile.

    Exit code 0: nothing is left to delete. 1: a dry run found something. 2: a BODY is no message.

    \b
      messagebody sweep s3://bucket/prefix messages/
      messagebody sweep s3://bucket/prefix messages/ archive.json --delete
    """
    files = [*_files(bodies)]
    if not files:
        raise click.UsageError("give every BODY that is in use: with none, all would be deleted")
    if delete and grace < _SAFE and not terminal.quiet:
        click.echo("messagebody: a grace under 7 days is safe only while nobody offloads", err=True)
    swept = sweep(store_url(store), _read(files), delete=delete, grace=grace, unsafe=True)
    if as_json:
        terminal.say_json(_described_sweep(swept))
    else:
        terminal.say(_lines(swept))
    is_clean = delete or not (swept.objects or swept.uploads)
    return ExitCode.YES if is_clean else ExitCode.NO


def _files(paths: Iterable[str]) -> Iterator[str]:
    """Yield files; all below a directory, for one that is passed over costs its objects."""
    for path in paths:
        if path == "-" or not Path(path).is_dir():
            yield path
            continue
        for each in sorted(Path(path).rglob("*")):
            if not each.is_dir():
                yield str(each)


def _read(paths: Iterable[str]) -> Iterator[MessageBody]:
    for path in paths:
        yield read_body(path)


def _lines(swept: Swept) -> Iterator[str]:
    for each in swept.objects:
        yield f"{human_size(each.size):>10}  {escape(each.key)}"
    for upload in swept.uploads:
        yield f"{'upload':>10}  {escape(upload.key)}"
    yield str(swept)


def _described_sweep(swept: Swept) -> dict[str, Any]:
    return {
        "deleted": swept.deleted,
        "size": swept.size,
        "objects": [
            {"key": each.key, "size": each.size, "modified": each.modified}
            for each in swept.objects
        ],
        "uploads": [{"key": each.key, "started": each.started} for each in swept.uploads],
    }


@click.command("migrate")
@body_argument
@click.option("--from", "source", required=True, metavar="STORE", help="A URL or a directory.")
@click.option("--to", "store", required=True, metavar="STORE", help="A URL or a directory.")
@click.option("--all", "everything", is_flag=True, help="References without a digest too.")
@output_options
@pass_terminal
def migrate_command(
    terminal: Terminal, body: str, source: str, store: str, output: str | None, *,
    everything: bool, in_place: bool,
) -> None:  # fmt: skip
    """Copy what the references below one store hold to another; the message points there.

    Every object is read, verified and stored before the message is written; its digest stays the
    same. Nothing is deleted: other messages may refer to it (see sweep). References elsewhere
    stay as they are.

    \b
      messagebody migrate small.json --from ./store --to s3://bucket/prefix -i
      messagebody migrate small.json --from s3://old/agents --to s3://new/agents -o moved.json
    """
    message = read_body(body)
    with progress(terminal, "migrating") as callback:
        result = migrate(
            message, store_url(store), source=store_url(source), all=everything,
            callback=callback,
        )  # fmt: skip
    write_body(result, body, output, in_place=in_place)
    moved = sum(new.url != old.url for new, old in zip(result, message, strict=True))
    terminal.remark(f"{count_of(moved, 'part')} copied")


@click.command("present")
@body_argument
@click.option(
    "--expires", callback=seconds, default="1h", show_default=True, metavar="TIME",
    help="How long the links work: 90s, 15m, 1h, at most 7 days.",
)  # fmt: skip
@allow_option
@click.option("-o", "--output", metavar="FILE", help="Write to FILE, whole or not at all.")
@pass_terminal
def present_command(
    terminal: Terminal, body: str, expires: float, allow: tuple[str, ...], output: str | None
) -> None:
    """Make a copy whose references to your stores are signed https links.

    For a browser or a model provider that reads links and has no credentials. Only references
    below an --allow are signed: the others may have been chosen by somebody who wants your
    private objects. A signed link is a credential, and it expires: keep the message itself.

    \b
      messagebody present small.json --allow s3://bucket/prefix --expires 15m
    """
    message = read_body(body)
    result = present(message, expires=round(expires), resolver=resolver_for(allow))
    write_body(result, body, output, in_place=False)
    signed = sum(new.url != old.url for new, old in zip(result, message, strict=True))
    terminal.remark(f"{count_of(signed, 'link')} signed")
