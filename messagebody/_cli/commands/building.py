"""Commands between files and bodies: add, pack, unpack."""

import contextlib
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from messagebody._cli import inputs, options, outputs, terminal
from messagebody._cli.kinds import FILE, PATH, STORE
from messagebody._cli.options import STORE_HELP
from messagebody._core import MessageBody, count_of, escape, is_text, is_url, quote, redact_url
from messagebody.archives.directory import pack, unpack
from messagebody.errors import InvalidPart
from messagebody.names import safe_name
from messagebody.storage import inline, offload

_to = click.option("--to", "store", type=STORE, help=f"Move large files to it. {STORE_HELP}")
_threshold = options.threshold("With --to: move larger files.")


@click.command
@click.argument("paths", nargs=-1, metavar="[BODY] [FILE]...", type=FILE)
@options.flag("--new", help="Start a new body; all arguments are FILEs.")
@click.option("--text", help="Add this text instead of a file.")
@click.option("--url", help="Add a reference instead of a file.")
@click.option(
    "--name", type=PATH, help="Name of the part; by default the name of the file, made legal."
)
@options.flag("--unnamed", help="Add files without a name: content to show.")
@click.option("--type", "content_type", help="Content type; detected if not given.")
@_to
@_threshold
@options.outputs
def add_command(
    paths: tuple[str, ...], text: str | None, url: str | None, name: str | None,
    content_type: str | None, store: str | None, threshold: int, output: str | None, *, new: bool,
    unnamed: bool, in_place: bool,
) -> None:  # fmt: skip
    """Parts are added at the end. A FILE of "-" is standard input.

    With --to, a large file goes to a store without passing through memory, so it may have any
    size.

    \b
      messagebody add message.json chart.png --name charts/sales.png -i
      messagebody add --new report.md --unnamed -o message.json
      messagebody add message.json talk.mp4 --to s3://bucket/prefix -i
      messagebody add message.json --text 'More soon.' -i
      curl https://example.com/a.csv | messagebody add message.json - --name a.csv -i
    """
    body, files = ("-", paths) if new else (paths[0] if paths else "-", paths[1:])
    # Checked before anything is read, because reading may take long or wait for a pipe.
    _check_usage(body, files, text, url, name, unnamed=unnamed, new=new)
    _check_text(text, content_type)
    message = MessageBody() if new else inputs.read_body(body)
    # A separate body, so that only the new parts go to the store.
    added = MessageBody()
    with contextlib.ExitStack() as stack:
        if not files:
            added.add(text, url=url, name=name, content_type=content_type)
        for file in files:
            path = stack.enter_context(_on_disk(file))
            chosen = None if unnamed else _name(message + added, file, name)
            _add_file(added, path, file, chosen, content_type)
        outputs.note_contents(added)
        # Before anything is stored.
        outputs.check_output(body if in_place else output, body)
        # All or nothing: the body only changes after everything is read and stored.
        message += _stored(added, store, threshold)
    outputs.write_body(message, body, output, in_place=in_place)


def _check_usage(
    body: str, files: tuple[str, ...], text: str | None, url: str | None, name: str | None, *,
    unnamed: bool, new: bool,
) -> None:  # fmt: skip
    # `--text ''` is a text.
    given = [bool(files), text is not None, url is not None]
    if sum(given) == 0:
        hint = "" if new or body == "-" else f"; --new starts a body with {quote(body)}"
        raise click.UsageError(f"give a FILE, --text or --url to add{hint}")
    for file in files:
        if is_url(file):
            shown = quote(redact_url(file))
            advice = "--url adds a reference to it, and nothing is fetched"
            raise click.UsageError(f"{shown} is a URL, and a FILE is on this machine; {advice}")
    if sum(given) > 1:
        raise click.UsageError("a FILE, --text and --url cannot be used together")
    if name is not None and unnamed:
        raise click.UsageError("--name and --unnamed cannot be used together")
    if name is not None and len(files) > 1:
        raise click.UsageError(f"--name names one part, and there are {len(files)} files")
    if "-" in files and name is None and not unnamed:
        raise click.UsageError("standard input has no name: give --name or --unnamed")


def _check_text(text: str | None, content_type: str | None) -> None:
    if text is not None and content_type is not None and not is_text(content_type):
        raise click.UsageError(f"--text cannot have the content type {quote(content_type)}")


@contextlib.contextmanager
def _on_disk(file: str) -> Iterator[Path]:
    """Yield the path of a file; standard input of any size becomes a temporary one."""
    if file != "-":
        yield Path(file)
        return
    if sys.stdin is None or terminal.is_terminal(sys.stdin):
        inputs.read_bytes("-")  # raises the error for an unreadable standard input
    # A large file is read twice, for its digest and for sending; a pipe can only be read once.
    with tempfile.NamedTemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield Path(copy.name)


def _name(body: MessageBody, file: str, name: str | None) -> str:
    if name is not None:
        return name
    own, free = safe_name(file), safe_name(file, taken=body)
    # Usually the same file, which was added twice by mistake.
    if own != free:
        terminal.warn(
            f"{quote(own)} is taken; {inputs.source_name(file)} is added as {quote(free)}"
        )
    return free


def _add_file(
    body: MessageBody, path: Path, file: str, name: str | None, content_type: str | None
) -> None:
    try:
        body.add(path, name=name, content_type=content_type)
    except InvalidPart as error:
        # The library's advice on directories is for Python.
        if not path.is_dir():
            problem = error.problem.removeprefix("can't add local file ")
            hint = "" if path.exists() else "; --text adds a text"
            raise click.UsageError(f"can't add {problem}{hint}") from error
        hint = f"pack {file} makes a body of its files"
        raise click.UsageError(f"{quote(file)} is a directory; {hint}") from error


def _stored(body: MessageBody, store: str | None, threshold: int) -> MessageBody:
    """Return a body whose local files are in a store if they are large, else inline."""
    if store is None:
        return inline(body)
    if inputs.is_on_server(store):
        raise click.UsageError(f"{quote(store)} is not a store; offload puts parts on servers")
    with outputs.progress("storing") as callback:
        return offload(body, store, threshold=threshold, callback=callback)


@click.command
@click.argument("directory", type=click.Path(exists=True))
@click.option(
    "--prefix", metavar="PREFIX", type=PATH, default="/", help="Directory the parts go into."
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Files to leave out; repeatable.")
@options.flag("--hidden", help="Also take files that start with a dot.")
@options.flag("--rename", help="Take suggested names; keep the original in metadata.")
@options.flag("--follow", help="Follow links to files inside the directory.")
@_to
@_threshold
@options.output
def pack_command(
    directory: str, store: str | None, threshold: int, output: str | None, **how: Any
) -> None:
    """Every file below DIRECTORY becomes a part with its path as the name.

    A PATTERN of --exclude has the meaning of a .gitignore. Without a slash, it matches at any
    depth; with a slash at its end, it matches only directories; with a slash elsewhere, it starts
    at DIRECTORY. Files that start with a dot are left out, and their names are printed.

    With --to, large files go to a store without passing through memory.

    \b
      messagebody pack report/ -o message.json
      messagebody pack site/ --exclude 'node_modules/' --exclude '*.{pyc,tmp}' | messagebody tree
      messagebody pack videos/ --to s3://bucket/prefix -o message.json
    """
    if not Path(directory).is_dir():
        made = f"messagebody add --new {shlex.quote(directory)} makes a body of it"
        raise click.UsageError(f"{quote(directory)} is a file, not a directory; {made}")
    left_out: list[str] = []
    body = pack(directory, on_left_out=left_out.append, **how)
    if left_out:
        hidden_files = count_of(len(left_out), "hidden file or directory", "hidden files")
        shown = ", ".join(escape(path, limit=60) for path in left_out[:5])
        more = ", …" if len(left_out) > 5 else ""
        terminal.warn(f"left out {hidden_files}: {shown}{more} (--hidden takes them)")
    for part in body:
        if part.metadata is not None:
            terminal.remark(f"renamed {quote(str(part.metadata['filename']))} to {part.name}")
    outputs.note_contents(body)
    try:
        outputs.check_output(output)
    except click.UsageError as error:
        raise click.UsageError(f"{error.message}, or leave it out with --exclude") from error
    outputs.write_body(_stored(body, store, threshold), "-", output)


@click.command
@options.body
@click.argument("directory", type=click.Path(file_okay=False))
@options.flag("--merge", help="Write into a directory that is not empty.")
@options.flag("--overwrite", help="With --merge, replace files that exist.")
@options.flag("--hidden", help="With --merge, also write names that start with '.'.")
@options.flag("--portable", help="Refuse names that any common system refuses.")
@options.references
def unpack_command(body: str, directory: str, *, overwrite: bool, **how: Any) -> None:
    """Files are written below DIRECTORY and never outside of it. Their paths are printed.

    Files that are in the way are listed before the first byte is written.

    \b
      messagebody unpack message.json out/
      messagebody unpack small.json out/ --allow s3://acme/agents/
    """
    opened = inputs.read_body(body)
    for name in opened.names() if overwrite else ():
        outputs.check_output(f"{directory}{name}")
    paths = unpack(opened, directory, overwrite=overwrite, **how)
    terminal.say(escape(str(path)) for path in paths)
    terminal.remark(f"{count_of(len(paths), 'file')} written")
    unnamed = sum(part.name is None for part in opened)
    if unnamed:
        missed = count_of(unnamed, "part")
        terminal.warn(f"left out {missed} without a name, which can't be files")
