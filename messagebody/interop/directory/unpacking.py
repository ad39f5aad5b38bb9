"""Writing to a real directory: named parts become files, nothing outside of it is touched.

The body is untrusted, and so is what may lie in the directory already. Everything that can be
refused is, before the first byte; after that an error leaves the directory as it was.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from messagebody.body import MessageBody
from messagebody.errors import RefusedPaths, UnsafeReference
from messagebody.interop.directory.destination import Destination, folds_case
from messagebody.interop.directory.refusals import Refusal
from messagebody.names import ancestors
from messagebody.part import Part
from messagebody.text import quote

if TYPE_CHECKING:
    from messagebody.resolving import Budget, Resolver

__all__ = ["unpack"]

# Names Windows gives to devices, whatever follows a dot ("Naming Files, Paths, and Namespaces").
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_LONGEST_SEGMENT = 255
_COPY_BYTES = 1 << 20


def unpack(
    body: MessageBody,
    directory: str | os.PathLike[str],
    *,
    into: bool = False,
    overwrite: bool = False,
    hidden: bool = False,
    portable: bool = False,
    resolver: "Resolver | None" = None,
) -> list[Path]:
    """Write the named parts of a body as files below a directory, and return their paths.

    The directory is new or empty unless `into`. Refused before the first byte, all together: a
    name and a name below it; names equal after case folding, where the file system folds;
    Windows device names, there; what lies in the way; references the resolver doesn't allow.
    Every segment is opened below its parent without following links, every file exclusively.

    Arguments:
        body: the body; its unnamed parts are not written.
        directory: the directory, made if it isn't there.
        into: write into a directory that isn't empty.
        overwrite: replace files that exist, each at once; links and directories never.
        hidden: with `into`, also write names with a segment that starts with ".".
        portable: refuse what any common file system would, wherever this one is.
        resolver: decides how references are read; the body's own, else the closed default.

    Raises:
        RefusedPaths: with every part that can't be written, and why. Nothing was written.
        OSError: writing failed. What had been written was taken back.

    Examples:
        >>> import tempfile
        >>> body = MessageBody([Part("meow", name="/sources/1.txt")])
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     [path] = unpack(body, directory)
        ...     path.relative_to(directory).as_posix(), path.read_text()
        ('sources/1.txt', 'meow')
    """
    root = Path(directory)
    parts = body.list()
    names = [str(part.name) for part in parts]
    resolver = resolver or body._resolver
    refusals = list(_check_names(names, root, hidden=hidden or not into, portable=portable))
    refusals += _check_references(parts, resolver)
    refusals += _check_directory(root, names, into=into, overwrite=overwrite)
    if refusals:
        raise RefusedPaths(f"can't unpack into {quote(str(directory))}", refusals)
    with Destination.made(root) as destination:
        _write(parts, destination, resolver, overwrite=overwrite)
    return [root / name[1:] for name in names]


def _check_names(
    names: list[str], root: Path, *, hidden: bool, portable: bool
) -> Iterator[Refusal]:
    fold: Callable[[str], str] = str.lower if portable or folds_case(root) else str
    yield from _check_clashes(names, fold)
    windows = portable or os.name == "nt"
    for name in names:
        for segment in name[1:].split("/"):
            if len(segment) > _LONGEST_SEGMENT:
                problem = f"a segment is longer than {_LONGEST_SEGMENT} characters"
                yield Refusal(name, problem)
            if windows and _DEVICE.fullmatch(segment):
                yield Refusal(name, f"{quote(segment)} is a device on Windows")
            elif windows and segment.endswith("."):
                yield Refusal(name, f"Windows drops the last dot of {quote(segment)}")
            if not hidden and segment.startswith("."):
                yield Refusal(name, f"{quote(segment)} is hidden; unpack with hidden to write it")


def _check_clashes(names: list[str], fold: Callable[[str], str]) -> Iterator[Refusal]:
    folded: dict[str, str] = {}
    for name in names:
        first = folded.setdefault(fold(name), name)
        if first != name:
            yield Refusal(name, f"{quote(first)} is the same file where case is folded")
    for name in names:
        for above in ancestors(name):
            if fold(above) in folded:
                file = folded[fold(above)]
                yield Refusal(name, f"{quote(file)} is a file, so nothing can lie below it")


def _check_references(parts: list[Part], resolver: "Resolver | None") -> Iterator[Refusal]:
    if not any(part.is_reference for part in parts):
        return
    judge = _resolver(resolver)
    for part in parts:
        if part.url is not None:
            try:
                judge.source(part.url, subject=part.label)
            except UnsafeReference as error:
                yield Refusal(str(part.name), error.problem)


def _check_directory(
    root: Path, names: Iterable[str], *, into: bool, overwrite: bool
) -> Iterator[Refusal]:
    if not os.path.lexists(root):
        return
    if not root.is_dir():
        yield Refusal(str(root), "it is no directory")
        return
    with Destination.at(root) as destination:
        if not into and not destination.is_empty():
            yield Refusal(
                str(root), "it is not empty; unpack with into to write beside what is there"
            )
            return
        for name in names:
            obstacle = destination.obstacle(name, overwrite=overwrite)
            if obstacle is not None:
                yield Refusal(name, obstacle)


def _write(
    parts: list[Part], destination: Destination, resolver: "Resolver | None", *, overwrite: bool
) -> None:
    budget: Budget | None = None
    if any(part.is_reference for part in parts):
        resolver = _resolver(resolver)
        budget = resolver.budget()
    for part in parts:
        with (
            _content(part, resolver, budget) as source,
            destination.create(str(part.name), replace=overwrite) as file,
        ):
            shutil.copyfileobj(source, file, _COPY_BYTES)
    destination.publish()


def _content(part: Part, resolver: "Resolver | None", budget: "Budget | None") -> BinaryIO:
    """Return a part's content, verified if it is a reference."""
    if part.reference is None:
        return part.open()
    url, size, digest = part.reference.url, part.reference.size, part.reference.digest
    spool = _resolver(resolver).fetch(
        url, size=size, digest=digest, subject=part.label, budget=budget
    )
    return spool.stream()


def _resolver(resolver: "Resolver | None") -> "Resolver":
    if resolver is not None:
        return resolver
    from messagebody.resolving import Resolver

    return Resolver()
