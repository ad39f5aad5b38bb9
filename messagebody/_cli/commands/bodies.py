"""Commands that show or rearrange a body: ls, tree, cat, digest, diff, links, rm, mv, mount."""

import itertools
import sys
from collections.abc import Iterable
from typing import Any, Final

import click

from messagebody._cli import inputs, options, outputs, terminal
from messagebody._cli.application import ExitCode
from messagebody._cli.kinds import FILE, NAME, PATH, slashed
from messagebody._cli.options import ANY_TYPE
from messagebody._core import (
    MessageBody,
    Part,
    count_of,
    escape,
    nearest,
    quote,
    redact_url,
)
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.links import Link
from messagebody.rendering import (
    Palette,
    compared,
    cut,
    listing,
    paired,
    told_changes,
    tree,
)
from messagebody.storage import Resolver, fetch


@click.command
@options.body
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...", type=NAME)
@options.content_type
@options.as_json
def ls_command(
    body: str, patterns: tuple[str, ...], content_type: str, *, as_json: bool
) -> ExitCode:
    """Without PATTERN, all parts are listed; otherwise the named parts that match a PATTERN.

    Exit code 1: no part matches one of the PATTERNs or the --type.

    \b
      messagebody ls message.json
      messagebody ls message.json 'sources/*' 'charts/**'
      messagebody ls message.json --type 'image/*'
    """
    message = inputs.read_body(body)
    found = _selected(message, patterns, content_type)
    if as_json:
        # Printed before notes about patterns without a match, so that a program always gets the
        # JSON.
        terminal.say_json([described(index, part) for index, part in found])
    else:
        shown = [part for _, part in found]
        terminal.say(listing(shown, palette=terminal.palette(), width=terminal.width()))
    of_type = "" if content_type == ANY_TYPE else f" of type {quote(content_type)}"
    missed = [each for each in patterns if not _selected(message, [each], content_type)]
    for pattern in missed:
        terminal.warn(f"no part{of_type} matches {quote(pattern)}{_meant(message, pattern)}")
    if of_type and not found and not patterns:
        terminal.warn(f"there is no part{of_type}")
        return ExitCode.NO
    return ExitCode.NO if missed else ExitCode.YES


def _selected(
    body: MessageBody, patterns: Iterable[str], content_type: str
) -> list[tuple[int, Part]]:
    of_type = content_type_pattern(content_type).matches
    # Part by part and not pattern by pattern, to keep message order and list no part twice.
    of_name = [name_pattern(slashed(each)).matches for each in patterns]
    return [
        (index, part)
        for index, part in enumerate(body)
        if of_type(part.content_type)
        and (not of_name or (part.name is not None and any(each(part.name) for each in of_name)))
    ]


def _matches(body: MessageBody, pattern: str) -> bool:
    matches = name_pattern(slashed(pattern)).matches
    return any(matches(name) for name in body.names())


def _meant(body: MessageBody, pattern: str) -> str:
    """Return the advice for a pattern that is the name of a directory, or is like a name."""
    names = body.names()
    directory = slashed(pattern).rstrip("/") + "/"
    if any(name.startswith(directory) for name in names):
        return f"; it is a directory, whose parts are {quote(directory[1:] + '**')}"
    near = nearest(slashed(pattern), names)
    return f"; did you mean {quote(near[1:])}?" if near else ""


def described(index: int, part: Part) -> dict[str, Any]:
    """Return a part in the form of JSON output, with its URL without secrets."""
    return {
        "index": index,
        "name": part.name,
        "contentType": part.content_type,
        "size": part.size,
        "url": None if part.url is None else redact_url(part.url),
        "digest": part.digest,
        "metadata": part.metadata,
    }


@click.command
@options.body
def tree_command(body: str) -> None:
    """Every part is shown with its size and content type.

    \b
      messagebody tree message.json
    """
    # Standard input has no useful name.
    title = "" if body == "-" else escape(body, limit=200)
    lines = tree(
        inputs.read_body(body), title=title, palette=terminal.palette(), width=terminal.width()
    )
    terminal.say(lines)


@click.command
@options.body
@click.argument("names", nargs=-1, metavar="[NAME]...", type=NAME)
@options.indexes
@options.flag("--force", help="Write binary to a terminal too.")
@options.references
@options.output
def cat_command(
    body: str, names: tuple[str, ...], indexes: tuple[int, ...], resolver: Resolver,
    output: str | None, *, force: bool,
) -> None:  # fmt: skip
    """Content is printed byte for byte. Without NAME, the unnamed text parts are printed.

    With -o, one part is written to a file, in pieces, so it may have any size.

    \b
      messagebody cat message.json
      messagebody cat message.json charts/sales.png > sales.png
      messagebody cat small.json video/talk.mp4 --allow s3://acme/agents/ -o talk.mp4
    """
    message = inputs.read_body(body)
    parts = [inputs.part_named(message, name) for name in names]
    parts += [inputs.part_at(message, index) for index in indexes]
    if output not in (None, "-"):
        _write_file(parts, str(output), resolver)
        return
    if not parts:
        _print_text(message, resolver)
    for part in parts:
        _write(part, part.read_bytes(resolver), force=force)


def _write_file(parts: list[Part], output: str, resolver: Resolver) -> None:
    if len(parts) != 1:
        raise click.UsageError("-o writes one part: give its NAME or --index")
    outputs.check_local(output)
    outputs.check_output(output)
    with outputs.progress("reading") as callback:
        fetch(parts[0], output, resolver=resolver, callback=callback)


def _print_text(body: MessageBody, resolver: Resolver) -> None:
    text = body.with_resolver(resolver).read_text()
    outputs.write_out(_escaped_bytes(text) if terminal.is_terminal(sys.stdout) else text.encode())
    if terminal.is_terminal(sys.stdout) and text:
        click.echo()


def _write(part: Part, content: bytes, *, force: bool) -> None:
    # A pipe or file gets the exact bytes; a terminal would act on some of them.
    if not terminal.is_terminal(sys.stdout) or force:
        outputs.write_out(content)
        return
    text = _decoded(part, content)
    if text is None:
        raise click.UsageError(
            f"{part.label} is binary ({part.content_type}); write it to a file with >, "
            "or use --force"
        )
    outputs.write_out(_escaped_bytes(text))


def _decoded(part: Part, content: bytes) -> str | None:
    try:
        return content.decode() if part.is_text else None
    except UnicodeDecodeError:
        return None


def _escaped_bytes(text: str) -> bytes:
    """Return text for a terminal, with escapes for all characters that it would act on."""
    return escape(text, keep="\n\t").encode()


@click.command
@options.bodies
@options.as_json
@options.servers
def digest_command(bodies: tuple[str, ...], *, as_json: bool) -> None:
    """A body has the same digest inline and offloaded.

    The digest covers order, names, content types, sizes and digests of the parts. It does not
    cover metadata, unknown members and URLs. With several bodies, each line also has the file.

    \b
      messagebody digest message.json
      messagebody digest messages/*.json
    """
    # All are read before one is printed, so that an error leaves no half answer.
    found = {path: inputs.read_body(path).digest for path in bodies}
    if as_json:
        terminal.say_json([{"body": path, "digest": digest} for path, digest in found.items()])
    elif len(bodies) == 1:
        terminal.say(found.values())
    else:
        terminal.say(f"{digest}  {escape(path)}" for path, digest in found.items())


@click.command
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@options.as_json
@options.servers
def diff_command(old: str, new: str, *, as_json: bool) -> ExitCode:
    """Parts only in OLD are marked "-", parts only in NEW "+". Exit code 1: they differ.

    Of texts that changed, the lines that differ are shown, a few of each.

    Parts are equal if their names, content types, metadata and contents are equal. For a reference,
    the digest of the content is compared. So a message and its offloaded copy are the same.

    \b
      messagebody diff message.json edited.json
    """
    before, after = list(enumerate(inputs.read_body(old))), list(enumerate(inputs.read_body(new)))
    removed, added, is_same = compared(before, after)
    if as_json:
        sides = {"removed": removed, "added": added}
        shown = {side: [described(*each) for each in found] for side, found in sides.items()}
        terminal.say_json({"same": is_same, **shown})
    else:
        _say_changes("- ", "no", removed)
        _say_changes("+ ", "yes", added)
        _say_texts(removed, added)
        if not is_same and not removed and not added:
            terminal.say("the same parts in another order")
    return ExitCode.YES if is_same else ExitCode.NO


def _say_changes(sign: str, role: str, found: list[tuple[int, Part]]) -> None:
    width, paint = terminal.width(), terminal.palette()
    lines = listing([part for _, part in found], width=width and width - len(sign))
    terminal.say(paint(sign + line, role) for line in lines)


def _say_texts(removed: list[tuple[int, Part]], added: list[tuple[int, Part]]) -> None:
    """Say the lines in which the texts of changed parts differ."""
    new, paint, width = dict(added), terminal.palette(), terminal.width()
    for index, old in itertools.islice(paired(removed, added), _MOST_TEXTS):
        if lines := told_changes(old, new[index]):
            name = new[index].name or f"part {index}"
            terminal.say(["", paint(f"{escape(name, limit=200)}:", "title")])
            shown = [f"  {line}" if width is None else cut(f"  {line}", width) for line in lines]
            terminal.say(paint(line, _SIGNS.get(line[2:3], "")) for line in shown)


_MOST_TEXTS: Final = 20
_SIGNS: Final = {"-": "no", "+": "yes", "@": "dim"}
_MOST_UNREAD: Final = 20


@click.command
@options.body
@click.option("--to", type=PATH, help="Only links that lead to this part.")
@options.flag("--dangling", help="Only links that lead to no part.")
@options.as_json
def links_command(body: str, to: str | None, *, dangling: bool, as_json: bool) -> ExitCode:
    """Links are found in Markdown, in HTML and in the citations of texts.

    In a text, source:1 means the part /sources/1, and a path means the part of that name. Nothing
    is fetched. Needs pip install 'messagebody[links]' for Markdown and HTML. Plain text has no
    links; what would be some in Markdown is told on standard error.

    Exit code 1: with --dangling, there are links that lead to no part, or there would be.

    \b
      messagebody links message.json
      messagebody links message.json --to sources/1
      messagebody links message.json --dangling
    """
    message = inputs.read_body(body)
    found = message.links(to=to, dangling=dangling)
    if as_json:
        terminal.say_json([_as_json(message, link) for link in found])
    else:
        terminal.say(_link_line(message, link, terminal.palette()) for link in found)
    for link in found.unread[:_MOST_UNREAD]:
        line = _link_line(message, link, terminal.palette())
        terminal.warn(f"not read, because it is text/plain: {line}")
    if len(found.unread) > _MOST_UNREAD:
        terminal.warn(f"not read, because they are text/plain: {len(found.unread):,} in all")
    return ExitCode.NO if dangling and (found or found.unread) else ExitCode.YES


def _as_json(body: MessageBody, link: Link) -> dict[str, Any]:
    where = {"citation": link.where} if isinstance(link.where, int) else link.where._asdict()
    return {
        "part": link.part,
        "name": body[link.part].name,
        "target": link.target,
        "text": link.text,
        "kind": link.kind,
        "exists": link.exists,
        **where,
    }


def _link_line(body: MessageBody, link: Link, paint: Palette) -> str:
    holder = escape(body[link.part].name or f"part {link.part}", limit=60)
    verb = "cites" if link.kind == "citation" else "links to"
    target = escape(link.target, limit=200)
    missing = "" if link.exists else paint("  no such part", "no")
    words = f"  {quote(link.text, limit=60)}" if link.text else ""
    return f"{holder} {verb} {target}{words}{missing}"


@click.command
@click.argument("body", type=FILE)
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...", type=NAME)
@options.indexes
@options.outputs
def rm_command(
    body: str, patterns: tuple[str, ...], indexes: tuple[int, ...], output: str | None, *,
    in_place: bool,
) -> None:  # fmt: skip
    """Named parts are given by name or PATTERN, all parts by --index.

    Stored objects stay: see sweep.

    \b
      messagebody rm message.json 'drafts/**' -i
      messagebody rm message.json --index 0 -o shorter.json
    """
    if not patterns and not indexes:
        raise click.UsageError("give the PATTERN or --index of the parts to remove")
    message = inputs.read_body(body)
    # All are checked before a part is removed, so that a mistyped pattern removes nothing.
    for pattern in patterns:
        if not _matches(message, pattern):
            raise click.UsageError(
                f"no part of {inputs.source_name(body)} matches {quote(pattern)}"
                f"{_meant(message, pattern)}"
            )
    for index in indexes:
        inputs.part_at(message, index)
    # -1 is the last part, as in Python, so two numbers for one position count once.
    gone = {index % len(message) for index in indexes}
    if patterns:
        gone |= {index for index, _ in _selected(message, patterns, ANY_TYPE)}
    rest = MessageBody(part for index, part in enumerate(message) if index not in gone)
    outputs.write_body(rest, body, output, in_place=in_place)
    terminal.remark(f"{count_of(len(gone), 'part')} removed")


@click.command
@click.argument("body", type=FILE)
@click.argument("old", metavar="OLD", type=PATH)
@click.argument("new", type=PATH)
@options.flag("--relink", help="Links and citations in all parts follow.")
@options.outputs
def mv_command(
    body: str, old: str, new: str, output: str | None, *, relink: bool, in_place: bool
) -> None:
    """The part keeps its position and content; OLD and NEW are names of parts or directories.

    A directory moves with all that is below it. With --relink, only the targets of links change,
    and every other character stays.

    \b
      messagebody mv message.json charts/a.png charts/sales.png -i
      messagebody mv message.json charts pictures/2026 --relink -i
    """
    message = inputs.read_body(body)
    message.move(old, new, relink=relink)
    outputs.write_body(message, body, output, in_place=in_place)


@click.command
@options.body
@click.argument(
    "directory",
    metavar="[DIRECTORY]",
    required=False,
    type=click.Path(exists=True, file_okay=False),
)
@click.option("--into", metavar="OTHER", type=FILE, help="The body to put the parts into.")
@click.option("--at", metavar="PREFIX", type=PATH, help="With --into: the directory in it.")
@options.references
@options.outputs
def mount_command(
    body: str, directory: str | None, into: str | None, at: str | None, resolver: Resolver,
    output: str | None, *, in_place: bool,
) -> None:  # fmt: skip
    """The named parts are files in DIRECTORY, which must be empty, until you press Ctrl-C.

    Any program can read the files, and nothing can write to them. umount DIRECTORY (fusermount -u
    DIRECTORY) unmounts too. A reference is read when its file is read. This needs FUSE and pip
    install 'messagebody[mount]'. To copy the files instead, use unpack.

    With --into and --at, the parts are put below a directory of another body, and links between
    them still lead to the same parts. Parts without a name are numbered. -i writes back to OTHER.

    \b
      mkdir files && messagebody mount message.json files
      messagebody mount small.json files --allow s3://acme/agents/
      messagebody mount found.json --at research --into message.json -i
    """
    if (into is None) != (at is None):
        given, missing = ("--at", "--into") if into is None else ("--into", "--at")
        raise click.UsageError(f"{given} needs {missing}: mount A --at /research --into B")
    if into is not None and at is not None:
        if directory is not None:
            raise click.UsageError("give either DIRECTORY, or --into and --at")
        host, guest = inputs.read_body(into), inputs.read_body(body)
        host.mount(at, guest)
        outputs.write_body(host, into, output, in_place=in_place)
    elif directory is None:
        hint = "--into OTHER --at PREFIX puts the parts into another body"
        raise click.UsageError(f"give the DIRECTORY to show the parts in; {hint}")
    elif output is not None or in_place:
        raise click.UsageError("-o and -i go with --into and --at")
    else:
        _show_as_files(inputs.read_body(body), directory, resolver)


def _show_as_files(message: MessageBody, directory: str, resolver: Resolver) -> None:
    from messagebody.views import mount

    filesystem = message.filesystem(resolver=resolver)
    shown = count_of(len(message.names()), "named part")
    terminal.remark(f"{shown} in {quote(directory)}; Ctrl-C unmounts")
    mount(filesystem, directory)
