"""What commands write: bodies and documents, to files that are not the ones they read."""

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click

from messagebody._cli.terminal import current, is_terminal, limits
from messagebody._core import (
    MessageBody,
    human_size,
    is_url,
    quote,
    redact_url,
    replace_file,
    replace_unchanged,
)


def check_local(path: str) -> None:
    """Refuse a URL where a file is read or written."""
    if is_url(path):
        raise click.UsageError(
            f"{quote(redact_url(path))} is a URL, and this command takes files, and URLs of stores "
            "such as s3:// to read: copy the file here, or use a pipe and '-'"
        )


def write_body(
    body: MessageBody, source: str, output: str | None, *, in_place: bool = False
) -> None:
    """Write a body to standard output, to a file, or back to its source.

    Arguments:
        body: the body.
        source: the file that may be written back; "-" if there is none.
        output: the file to write.
        in_place: write to `source`.
    """
    output = place_of(source, output, in_place=in_place)
    data = body.to_json_bytes() + b"\n"
    # Otherwise no command could read the message again.
    if len(data) > limits().json_bytes:
        raise click.UsageError(
            f"the message would have {human_size(len(data))}, and commands read at most "
            f"{human_size(limits().json_bytes)}; --to STORE moves files to a store, "
            "--limit SIZE allows more"
        )
    write_document(data, output, rewrites=source)


def place_of(source: str, output: str | None, *, in_place: bool) -> str | None:
    """Return the file that `-o` and `-i` choose, which write back to another file or its source."""
    if not in_place:
        return output
    if output is not None or source == "-":
        raise click.UsageError(
            "-i writes back to the file that is read; it cannot be used with -o or standard input"
        )
    return source


def write_document(data: bytes, output: str | None, rewrites: str | None = None) -> None:
    """Write a document to standard output, or to a file, unless it changed since it was read.

    Arguments:
        data: the document.
        output: the file; None or "-" for standard output.
        rewrites: the input that the document is a new version of.
    """
    if output is None or output == "-":
        write_out(data)
        return
    check_local(output)
    check_output(output, rewrites)
    before = current().files.get(os.path.realpath(output))
    if before is None:
        replace_file(output, data)
    else:
        replace_unchanged(output, data, before)


def write_text_document(text: str, output: str | None, rewrites: str | None = None) -> None:
    """Write a document of text and a line end; see `write_document`."""
    write_document(f"{text}\n".encode(), output, rewrites)


def note_input(path: str | os.PathLike[str]) -> None:
    """Remember a file that the command reads, so that no result replaces it; see `check_output`."""
    if identity := _identity(path):
        current().inputs.add(identity)


def note_contents(body: MessageBody) -> None:
    """Remember the local files that the content of a body is in."""
    for part in body:
        if part.local_file is not None:
            note_input(part.local_file.path)
        elif part.url is not None:
            note_url(part.url)


def note_url(url: str) -> None:
    """Remember the file of a URL, if it is a file on this machine."""
    if url[:5].lower() == "file:":
        note_input(unquote(urlsplit(url).path))


def _identity(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Return the device and inode of a regular file, "-" for standard input; None if it is none."""
    try:
        # The name of a file in a message may be no path at all.
        state = os.fstat(sys.stdin.fileno()) if path == "-" else Path(path).stat()
    except (OSError, ValueError, AttributeError):
        return None
    return (state.st_dev, state.st_ino) if stat.S_ISREG(state.st_mode) else None


def check_output(output: str | None, rewrites: str | None = None) -> None:
    """Refuse to replace a file that the command reads.

    Arguments:
        output: the file to write; None or "-" for standard output.
        rewrites: the input that it may replace, because the result is a new version of it.
    """
    if output is None or output == "-":
        return
    at, identity = os.path.realpath(output), _identity(output)
    if at not in current().files and identity not in current().inputs:
        return
    if rewrites is None or (at != os.path.realpath(rewrites) and identity != _identity(rewrites)):
        raise click.UsageError(
            f"the command reads {quote(output)}, and the result would replace it: write to another "
            "place"
        )


def write_out(data: bytes) -> None:
    """Write all bytes to standard output; unbuffered streams may accept only some at a time."""
    rest = memoryview(data)
    while rest:
        # A pipe may accept fewer bytes than it gets.
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()


@contextlib.contextmanager
def progress_bar(label: str, **shown: Any) -> Iterator[Any]:
    """Yield a progress bar on standard error; None if nobody can see it."""
    # Progress is for people who watch, and not for logs.
    if current().quiet or not is_terminal(sys.stderr):
        yield None
        return
    with click.progressbar(length=0, label=label, file=sys.stderr, **shown) as bar:
        yield bar


@contextlib.contextmanager
def progress(label: str) -> Iterator[Any]:
    """Yield an fsspec callback that draws a progress bar; None if nobody can see it."""
    with progress_bar(label) as bar:
        if bar is None:
            yield None
            return
        from fsspec.callbacks import Callback

        class Bar(Callback):  # type: ignore[misc]
            """A progress bar for the bytes that fsspec reports."""

            def call(self, *_: Any, **__: Any) -> None:
                bar.length = self.size or 0
                bar.update(self.value - bar.pos)

        yield Bar()
