"""Commands for stored content: offload, inline, verify, migrate, present."""

from typing import Any

import click

from messagebody._cli import inputs, options, outputs, terminal
from messagebody._cli.application import ExitCode
from messagebody._cli.kinds import EXISTING_STORE, SIZE, TIME, TOKEN
from messagebody._cli.options import ANY_TYPE, STORE_HELP
from messagebody._core import MessageBody, count_of, escape, human_size, quote
from messagebody.storage import (
    ReferenceFinding,
    Resolver,
    inline,
    migrate,
    offload,
    present,
    verify,
)


@click.command
@options.body
@options.to_store
@options.threshold("Move larger parts.")
@click.option("--fit", type=SIZE, help="Move more until the whole JSON has at most this size.")
@options.names
@options.content_type
@options.uploads
@click.option(
    "--token-file", "token", type=TOKEN,
    help="File with the token that writers show to the server of an upload address.",
)  # fmt: skip
@options.outputs
def offload_command(
    body: str, store: str, threshold: int, fit: int | None, names: str | None, content_type: str,
    resolver: Resolver, token: str | None, output: str | None, *, in_place: bool,
) -> None:  # fmt: skip
    """The message keeps the URL, size and digest of each part that is moved.

    STORE is a directory or a URL: s3://bucket/prefix, file:///srv/objects, or gs://… and abfs://…
    with their extras. Credentials and endpoints come from the environment and the profile, as
    for every AWS tool: AWS_PROFILE, AWS_ENDPOINT_URL, AWS_REGION.

    STORE may be the upload address of a server of messages, to which the message is put next:
    https://host/uploads/.

    After an error, the message is unchanged, and the same command only sends the missing parts.

    \b
      messagebody offload message.json --to ./store -o small.json
      messagebody offload message.json --to s3://bucket/prefix --threshold '64 KiB' -i
      messagebody offload message.json --to s3://bucket/prefix --fit '240 KiB' -o small.json
      messagebody offload message.json --to https://host/uploads/ --token-file token -i
    """
    is_upload = inputs.is_on_server(store)
    if token is not None and not is_upload:
        raise click.UsageError("--token-file is for https://host/uploads/, not for a store")
    message = inputs.read_body(body)
    with outputs.progress("offloading") as callback:
        result = offload(
            message, store, threshold=threshold, fit=fit,
            storage_options={"resolver": resolver, "token": token} if is_upload else None,
            # A pattern never matches unnamed parts; without a pattern, all parts are selected.
            names=names or "/**", unnamed=names is None, content_type=content_type,
            callback=callback,
        )  # fmt: skip
    outputs.write_body(result, body, output, in_place=in_place)
    # Counted by the difference, because there may have been references before.
    moved = sum(part.is_reference for part in result) - sum(part.is_reference for part in message)
    if moved:
        terminal.remark(f"{count_of(moved, 'part')} moved")
    else:
        chosen = (
            "" if (names, content_type) == (None, ANY_TYPE) else " that --names and --type choose"
        )
        terminal.warn(
            f"no part was moved: none{chosen} is larger than {human_size(threshold)} (--threshold)"
        )


@click.command
@options.body
@options.names
@options.everything
@options.references
@options.outputs
def inline_command(
    body: str, names: str | None, resolver: Resolver, output: str | None, *, everything: bool,
    in_place: bool,
) -> None:  # fmt: skip
    """The content of each reference is verified.

    Only references with a digest are read, as `offload` writes them; --names or --all selects
    others. If a reference is refused, missing or wrong, nothing changes, and the error names every
    such part.

    \b
      messagebody inline small.json --allow s3://bucket/prefix -o message.json
      messagebody inline small.json --allow ./store --names 'charts/*' -i
    """
    message = inputs.read_body(body)
    with outputs.progress("reading") as callback:
        result = inline(
            message, resolver=resolver, names=names or "/**", all=everything,
            callback=callback,
        )  # fmt: skip
    outputs.write_body(result, body, output, in_place=in_place)


@click.command
@options.body
@options.size_only
@options.as_json
@options.references
def verify_command(body: str, resolver: Resolver, *, size_only: bool, as_json: bool) -> int:
    """Every reference is read and compared with the size and digest that it states.

    Exit code 0: all are right. 1: some are wrong or cannot be read; each is named.

    \b
      messagebody verify small.json --allow s3://bucket/prefix
      messagebody verify small.json --allow ./store --size-only --json
    """
    result = verify(inputs.read_body(body), resolver=resolver, digest=not size_only)
    if as_json:
        findings = [_described(finding) for finding in result.findings]
        terminal.say_json({"checked": result.checked, "findings": findings})
    elif result:
        verified = f"{count_of(result.checked, 'reference')} verified"
        terminal.say(terminal.palette()(verified, "yes"))
    else:
        told = (terminal.in_shell_words(str(each)) for each in result.findings)
        terminal.say_wrapped(escape(each, limit=4000) for each in told)
    return ExitCode.YES if result else ExitCode.NO


def _described(finding: ReferenceFinding) -> dict[str, Any]:
    return {
        "index": finding.index,
        "name": finding.name,
        "error": type(finding.error).__name__,
        "problem": str(finding.error),
    }


@click.command
@options.body
@click.option("--from", "source", required=True, type=EXISTING_STORE, help=STORE_HELP)
@options.to_store
@options.everything
@options.outputs
def migrate_command(
    body: str, source: str, store: str, output: str | None, *, everything: bool, in_place: bool
) -> None:
    """References below one store then point to the other; other references stay unchanged.

    Every object is read, verified and stored before the message is written. The digest of the
    message stays the same. Nothing is deleted: other messages may refer to it (see sweep).

    \b
      messagebody migrate small.json --from ./store --to s3://bucket/prefix -i
      messagebody migrate small.json --from s3://old/agents --to s3://new/agents -o moved.json
    """
    message = inputs.read_body(body)
    with outputs.progress("migrating") as callback:
        result = migrate(message, store, source=source, all=everything, callback=callback)
    outputs.write_body(result, body, output, in_place=in_place)
    if moved := _readdressed(message, result):
        terminal.remark(f"{count_of(moved, 'part')} copied")
    else:
        terminal.warn(f"nothing was copied: no reference is below {quote(source)}")


@click.command
@options.body
@click.option(
    "--expires", type=TIME, default="1h",
    help="How long the links work: 90s, 15m, 1h, at most 7 days.",
)  # fmt: skip
@options.allow
@options.output
def present_command(body: str, expires: float, resolver: Resolver, output: str | None) -> None:
    """The references to your stores become signed https links.

    They are for a browser or a model provider, which have no credentials. Only references below an
    --allow are signed: the sender may have chosen the others to get your private objects. A signed
    link is a credential and expires: keep the message itself.

    \b
      messagebody present small.json --allow s3://bucket/prefix --expires 15m
    """
    message = inputs.read_body(body)
    result = present(message, expires=round(expires), resolver=resolver)
    # Not back to its own file: the links expire, and the message is to stay.
    outputs.write_body(result, "-", output)
    terminal.remark(f"{count_of(_readdressed(message, result), 'link')} signed")


def _readdressed(old: MessageBody, new: MessageBody) -> int:
    return sum(each.url != before.url for each, before in zip(new, old, strict=True))
