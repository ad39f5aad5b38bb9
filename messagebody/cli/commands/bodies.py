"""Commands on one body: add, cat, ls, tree, digest, pack, unpack, mount."""

import sys
from pathlib import Path
from typing import Any

import click

from messagebody._text import count_of, escape, quote, redact_url
from messagebody.body import MessageBody
from messagebody.cli.options import (
    allow_option,
    body_argument,
    output_options,
    read_body,
    resolver_for,
    slashed,
    write_body,
    write_out,
)
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.globs import content_type_pattern
from messagebody.interop.directory import pack, unpack
from messagebody.media_types import is_text
from messagebody.names import safe_name
from messagebody.offloading import inline
from messagebody.part import Part
from messagebody.references import Resolver
from messagebody.rendering import listing, tree


@click.command("add")
@body_argument
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--new", is_flag=True, help="Start a new body; BODY is not read.")
@click.option("--text", help="Add this text instead of a file.")
@click.option("--url", help="Add a reference instead of a file.")
@click.option("--name", help="Name of the part; of a file, its own name made legal if not given.")
@click.option("--unnamed", is_flag=True, help="Add a file without a name: content to show.")
@click.option("--type", "content_type", help="Content type; found if not given.")
@output_options
def add_command(
    body: str, file: str | None, text: str | None, url: str | None, name: str | None,
    content_type: str | None, output: str | None, *, new: bool, unnamed: bool, in_place: bool,
) -> None:  # fmt: skip
    """Add a file, text or URL at the end of a body.

    \b
      messagebody add message.json chart.png --name charts/sales.png -i
      messagebody add - report.md --unnamed --new -o message.json
      messagebody add message.json --text 'More soon.' -i
    """
    message = MessageBody() if new else read_body(body)
    content = text if file is None else Path(file).read_bytes()
    message.add(
        content, url=url, name=_name(message, file, name, unnamed=unnamed),
        content_type=content_type,
    )  # fmt: skip
    write_body(message, body, output, in_place=in_place)


def _name(body: MessageBody, file: str | None, name: str | None, *, unnamed: bool) -> str | None:
    if unnamed or (name is None and file is None):
        return None
    return slashed(name) if name is not None else safe_name(str(file), taken=body)


def _complete_name(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    path = context.params.get("body")
    if not path or path == "-":
        return []
    names = read_body(path).names()
    without = "" if incomplete.startswith("/") else "/"
    return [name.removeprefix(without) for name in names if name.startswith(without + incomplete)]


@click.command("cat")
@body_argument
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_complete_name)
@click.option("--index", "indexes", type=int, multiple=True, help="A part by its place, from 0.")
@click.option("--force", is_flag=True, help="Write binary to a terminal too.")
@allow_option
def cat_command(
    body: str, names: tuple[str, ...], indexes: tuple[int, ...], allow: tuple[str, ...], *,
    force: bool,
) -> None:  # fmt: skip
    """Print the content of parts, byte for byte; of the unnamed text parts if none is named.

    \b
      messagebody cat message.json
      messagebody cat message.json charts/sales.png > sales.png
      messagebody cat small.json video/talk.mp4 --allow s3://acme/agents/ | mpv -
    """
    message = read_body(body)
    parts = [message[slashed(name)] for name in names] + [message[index] for index in indexes]
    resolver = resolver_for(allow)
    if not parts:
        _print_text(message, resolver)
    for part in parts:
        _write(part, part.read_bytes(resolver), force=force)


def _print_text(body: MessageBody, resolver: Resolver) -> None:
    text = body.with_resolver(resolver).read_text()
    write_out(_shown(text) if sys.stdout.isatty() else text.encode())
    if sys.stdout.isatty() and text:
        click.echo()


def _write(part: Part, content: bytes, *, force: bool) -> None:
    if not sys.stdout.isatty() or force:
        write_out(content)
        return
    text = _decoded(part, content)
    if text is None:
        raise click.UsageError(
            f"{part.label} is binary ({part.content_type}); write it to a file with >, or --force"
        )
    write_out(_shown(text))


def _decoded(part: Part, content: bytes) -> str | None:
    try:
        return content.decode() if is_text(part.content_type) else None
    except UnicodeDecodeError:
        return None


def _shown(text: str) -> bytes:
    """Return text for a terminal: nothing in it acts on one."""
    return escape(text, keep="\n\t").encode()


@click.command("ls")
@body_argument
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option("--type", "content_type", default="*/*", help="Only parts of matching content type.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its members stay as they are.")
@pass_terminal
def ls_command(
    terminal: Terminal, body: str, patterns: tuple[str, ...], content_type: str, *, as_json: bool
) -> None:
    """List parts: all of them, or the named ones that match a PATTERN.

    \b
      messagebody ls message.json
      messagebody ls message.json 'sources/*' 'charts/**'
      messagebody ls message.json --type 'image/*'
    """
    found = _selected(read_body(body), patterns, content_type)
    if as_json:
        terminal.say_json([described(part) for part in found])
    else:
        terminal.say(listing(found, palette=terminal.palette, width=terminal.width))


def _selected(body: MessageBody, patterns: tuple[str, ...], content_type: str) -> list[Part]:
    if not patterns:
        matches = content_type_pattern(content_type).matches
        return [part for part in body if matches(part.content_type)]
    names = {
        part.name
        for pattern in patterns
        for part in body.list(slashed(pattern), content_type=content_type)
    }
    return [part for part in body if part.name in names]


def described(part: Part) -> dict[str, Any]:
    """Return what JSON output says of a part; a URL without its secrets."""
    return {
        "name": part.name,
        "contentType": part.content_type,
        "size": part.size,
        "url": None if part.url is None else redact_url(part.url),
    }


@click.command("tree")
@body_argument
@pass_terminal
def tree_command(terminal: Terminal, body: str) -> None:
    """Show a body as a tree with the size and type of every part.

    \b
      messagebody tree message.json
    """
    title = "" if body == "-" else escape(body, limit=200)
    lines = tree(read_body(body), title=title, palette=terminal.palette, width=terminal.width)
    terminal.say(lines)


@click.command("digest")
@body_argument
@click.option("--manifest", is_flag=True, help="Print what the digest is taken of, as JSON.")
@pass_terminal
def digest_command(terminal: Terminal, body: str, *, manifest: bool) -> None:
    """Print the digest of a body: the same inline and offloaded.

    It covers order, names, content types, sizes and digests; not metadata, unknown members, URLs.

    \b
      messagebody digest message.json
    """
    message = read_body(body)
    if manifest:
        terminal.say_json(message.manifest())
    else:
        terminal.say(message.digest)


@click.command("pack")
@click.argument("directory", type=click.Path(exists=True, file_okay=False))
@click.option("--prefix", default="/", help="Directory the parts go into.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Names to leave out.")
@click.option("--rename", is_flag=True, help="Take suggested names; keep the original in metadata.")
@click.option("--follow", is_flag=True, help="Take links to what lies inside the directory.")
@output_options
def pack_command(
    directory: str, prefix: str, exclude: tuple[str, ...], output: str | None, *,
    rename: bool, follow: bool, in_place: bool,
) -> None:  # fmt: skip
    """Make a body of all files below a directory.

    \b
      messagebody pack report/ -o message.json
      messagebody pack site/ --exclude '**/.git' --rename | messagebody tree
    """
    if in_place:
        raise click.UsageError("pack has no BODY to write back to; use -o")
    body = pack(
        directory,
        prefix=slashed(prefix),
        exclude=[slashed(pattern) for pattern in exclude],
        rename=rename,
        follow=follow,
    )
    write_body(inline(body), "-", output, in_place=False)


@click.command("unpack")
@body_argument
@click.argument("directory", type=click.Path(file_okay=False))
@click.option("--into", is_flag=True, help="Write into a directory that isn't empty.")
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
@click.option("--hidden", is_flag=True, help="With --into, also write names that begin with '.'.")
@click.option("--portable", is_flag=True, help="Refuse what any common file system would.")
@allow_option
@pass_terminal
def unpack_command(
    terminal: Terminal, body: str, directory: str, allow: tuple[str, ...], *,
    into: bool, overwrite: bool, hidden: bool, portable: bool,
) -> None:  # fmt: skip
    """Write the named parts of a body as files below a directory, never outside of it.

    All that stands in the way is listed before the first byte is written.

    \b
      messagebody unpack message.json out/
      messagebody unpack small.json out/ --allow s3://acme/agents/
    """
    paths = unpack(
        read_body(body), directory, into=into, overwrite=overwrite, hidden=hidden,
        portable=portable, resolver=resolver_for(allow),
    )  # fmt: skip
    terminal.say(str(path) for path in paths)
    terminal.remark(f"{count_of(len(paths), 'file')} written")


@click.command("mount")
@body_argument
@click.argument("directory", metavar="DIRECTORY", type=click.Path(exists=True, file_okay=False))
@allow_option
@pass_terminal
def mount_command(terminal: Terminal, body: str, directory: str, allow: tuple[str, ...]) -> None:
    """Show the named parts of a body as files in DIRECTORY, which is empty, until interrupted.

    Any program can read them there; nothing can write. Ctrl-C unmounts, and so does
    umount DIRECTORY (fusermount -u DIRECTORY). A reference is read when its file is.

    Needs FUSE and pip install 'messagebody[mount]'. To copy the files instead: unpack.

    \b
      mkdir files && messagebody mount message.json files
      messagebody mount small.json files --allow s3://acme/agents/
    """
    from messagebody.filesystem.mount import mount

    message = read_body(body)
    filesystem = message.filesystem(resolver=resolver_for(allow))
    shown = count_of(len(message.names()), "named part")
    terminal.remark(f"{shown} in {quote(directory)}; Ctrl-C unmounts")
    mount(filesystem, directory)
