"""Composition: bodies whose parts are renamed or put together, with the links that follow."""

from collections.abc import Callable, Mapping

from messagebody._core import (
    MessageBody,
    Part,
    edit,
    extension_of,
    record_of,
    require_body,
)
from messagebody.links._relinking import relinked
from messagebody.names import check_name


def renamed(
    body: MessageBody, names: Mapping[str, str], rename: Callable[[str], str]
) -> dict[int, Part]:
    """Return the parts that change if some parts get other names, by position.

    Arguments:
        body: the body.
        names: the new names of its parts by their old ones.
        rename: returns the new name of a part, also of one that does not exist.

    Raises:
        MissingDependency: there is Markdown or HTML, and the extra `links` is not installed.
    """
    changed = {}
    for index, part in enumerate(body):
        new = relinked(part, names.get(part.name or "", part.name), rename)
        if new is not part:
            changed[index] = new
    return changed


def mount(
    body: MessageBody, prefix: str, other: MessageBody, *, keep_unnamed: bool = False
) -> MessageBody:
    """Put the parts of another body below a prefix; see `MessageBody.mount`."""
    base = check_name(prefix.rstrip("/") if isinstance(prefix, str) else prefix)
    guests = []
    unnamed = 0
    for part in require_body(other):
        name = None if part.name is None else base + part.name
        if name is None and not keep_unnamed:
            unnamed += 1
            # A type that no extension stands for needs none: it is stated anyway.
            name = f"{base}/{unnamed}{extension_of(part.content_type, default='')}"
        guests.append(relinked(part, name, lambda target: base + target))
    with edit(body) as parts:
        parts.extend([record_of(part) for part in guests])
    return body


def unmount(body: MessageBody, prefix: str) -> MessageBody:
    """Return the parts below a directory, without its name; the inverse of `MessageBody.mount`.

    Links between them still lead to the same parts.

    Arguments:
        body: the body, which does not change.
        prefix: the directory, such as "/research".

    Raises:
        InvalidName: `prefix` is no legal name.
        MissingDependency: there is Markdown or HTML, and the extra `links` is not installed.

    Examples:
        >>> body = MessageBody([Part("a", name="/research/a.txt"), Part("b", name="/b.txt")])
        >>> unmount(body, "/research").names()
        ['/a.txt']
    """
    base = f"{check_name(prefix.rstrip('/') if isinstance(prefix, str) else prefix)}/"

    def rename(target: str) -> str:
        return target[len(base) - 1 :] if target.startswith(base) else target

    below = [part for part in require_body(body) if part.name and part.name.startswith(base)]
    return MessageBody(relinked(part, rename(part.name or ""), rename) for part in below)
