"""Unpacking: the named parts of a body as files below a directory."""

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import (
    CHUNK,
    CREATE,
    DIRECTORY,
    NO_LINKS,
    MessageBody,
    Part,
    access_of,
    open_parent,
    quote,
    require_body,
    require_path,
    require_resolver,
    resolver_of,
    temporary_name,
)
from messagebody.archives.directory._pack import RefusedFile
from messagebody.errors import RefusedPaths, UnsafeReference
from messagebody.names import ancestors


class Destination:
    """An open directory; if its block raises an error, everything that was made is removed."""

    def __init__(self, descriptor: int, new: Path | None = None) -> None:
        self._root = descriptor
        self._new = new
        self._made: list[tuple[str, ...]] = []
        self._replacing: list[tuple[tuple[str, ...], str]] = []

    @classmethod
    def at(cls, directory: Path) -> Self:
        """Open an existing directory."""
        return cls(_open_directory(directory))

    @classmethod
    def made(cls, directory: Path) -> Self:
        """Open a directory, and create it first if it is missing."""
        is_new = not os.path.lexists(directory)
        directory.mkdir(parents=True, exist_ok=True)
        return cls(_open_directory(directory), directory if is_new else None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._take_back()
        os.close(self._root)

    def is_empty(self) -> bool:
        """Return whether the directory is empty."""
        with os.scandir(self._root) as scan:
            return next(scan, None) is None

    def obstacle(self, name: str, *, overwrite: bool) -> str | None:
        """Return why a file can't be written, None if it can."""
        *directories, leaf = name[1:].split("/")
        with contextlib.ExitStack() as stack:
            parent = self._root
            for directory in directories:
                mode = _mode(directory, parent)
                if mode is None:
                    return None
                if not stat.S_ISDIR(mode):
                    return (
                        f"'{directory}' there is {_kind(mode)}, so nothing can be written below it"
                    )
                parent = os.open(directory, DIRECTORY, dir_fd=parent)
                stack.callback(os.close, parent)
            mode = _mode(leaf, parent)
        # A link is never replaced, because the user may have made it to another place.
        if mode is None or (overwrite and stat.S_ISREG(mode)):
            return None
        if stat.S_ISREG(mode):
            return "the file exists; overwrite=True replaces it"
        return f"it is {_kind(mode)} there, which is never replaced"

    @contextlib.contextmanager
    def create(self, name: str, *, replace: bool = False) -> Iterator[BinaryIO]:
        """Open a file for writing; the complete file gets its name when its block ends.

        Until then it has a temporary name, so that a killed process leaves no half file under the
        name of a part.

        Arguments:
            name: the part name it goes by.
            replace: where a file exists, wait with the name until `publish`.
        """
        segments = tuple(name[1:].split("/"))
        with open_parent(self._root, segments, create=True, made=self._made) as parent:
            temporary = temporary_name()
            # Recorded first, because a signal may come between the two.
            self._made.append((*segments[:-1], temporary))
            descriptor = os.open(temporary, CREATE, 0o666, dir_fd=parent)
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                yield file
            # All are renamed together at the end, so that an earlier error leaves the old files.
            if replace and _mode(segments[-1], parent) is not None:
                self._replacing.append((segments, temporary))
                return
            _give_name(temporary, segments[-1], parent)
            self._made[-1] = segments

    def publish(self) -> None:
        """Rename the files that replace others, each in one step."""
        for segments, temporary in self._replacing:
            with open_parent(self._root, segments) as parent:
                os.rename(temporary, segments[-1], src_dir_fd=parent, dst_dir_fd=parent)

    def _take_back(self) -> None:
        for segments in reversed(self._made):
            # If it can't be removed, another program has changed it.
            with contextlib.suppress(OSError), open_parent(self._root, segments) as parent:
                mode = _mode(segments[-1], parent)
                remove = os.rmdir if mode is not None and stat.S_ISDIR(mode) else os.unlink
                remove(segments[-1], dir_fd=parent)
        if self._new is not None:
            with contextlib.suppress(OSError):
                self._new.rmdir()


def _open_directory(directory: Path) -> int:
    return os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def folds_case(directory: Path) -> bool:
    """Return whether a file system ignores case in names, without writing anything."""
    path = Path(os.path.abspath(directory))  # noqa: PTH100 - Path.absolute keeps ".."
    for existing in (path, *path.parents):
        other = existing.with_name(existing.name.swapcase()) if existing.name else existing
        if existing.exists() and other.name != existing.name:
            return other.exists() and other.samefile(existing)
    return False


def _give_name(temporary: str, name: str, parent: int) -> None:
    """Rename a file, unless the name has been taken."""
    # Not `give_name`, which could replace a file for a moment; here an empty file may be visible.
    try:
        os.link(temporary, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # A file system without hard links: the name is taken first, and then replaced in one step.
        os.close(os.open(name, CREATE, 0o666, dir_fd=parent))
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    else:
        os.unlink(temporary, dir_fd=parent)


def _mode(name: str, parent: int) -> int | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFDIR: "a directory",
        stat.S_IFREG: "a file",
    }
    return kinds.get(stat.S_IFMT(mode), "a special file")


# Names of devices in Windows, with any extension ("Naming Files, Paths, and Namespaces").
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_LONGEST_SEGMENT = 255


def unpack(
    body: MessageBody,
    directory: str | os.PathLike[str],
    *,
    merge: bool = False,
    overwrite: bool = False,
    hidden: bool = False,
    portable: bool = False,
    resolver: "messagebody.Resolver | None" = None,
) -> list[Path]:
    """Write the named parts of a body as files below a directory, and return their paths.

    The directory must be new or empty, except with `merge`. One error before the first byte names
    everything that is refused: a name together with a name below it; names that differ only in
    case, if the file system ignores case; names of devices, on Windows; names that are blocked by
    other files; and references that the resolver doesn't allow. Every segment is opened below its
    parent without following links, and every file is created exclusively.

    Arguments:
        body: the body; its unnamed parts are not written.
        directory: the directory, which is created if it does not exist.
        merge: write into a directory that isn't empty, beside what is there.
        overwrite: replace existing files, each in one step, but never links and directories.
        hidden: with `merge`, also write names with a segment that starts with ".".
        portable: refuse names that any common file system refuses, even if this one does not.
        resolver: decides how references are read; the body's own, else the closed default.

    Raises:
        RefusedPaths: parts can't be written; it holds each with its reason. Nothing was written.
        OSError: writing failed. The written files were removed again.

    Examples:
        >>> import tempfile
        >>> body = MessageBody([Part("meow", name="/sources/1.txt")])
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     [path] = unpack(body, directory)
        ...     path.relative_to(directory).as_posix(), path.read_text()
        ('sources/1.txt', 'meow')
    """
    root = Path(require_path(directory))
    parts = require_body(body).list()
    names = [str(part.name) for part in parts]
    resolver = require_resolver(resolver) or resolver_of(body)
    refusals = list(_check_names(names, root, hidden=hidden or not merge, portable=portable))
    refusals += _check_references(parts, resolver)
    refusals += _check_directory(root, names, merge=merge, overwrite=overwrite)
    if refusals:
        raise RefusedPaths(f"can't unpack into {quote(str(directory))}", refusals)
    with Destination.made(root) as destination:
        _write(parts, destination, resolver, overwrite=overwrite)
    return [root / name[1:] for name in names]


def _check_names(
    names: list[str], root: Path, *, hidden: bool, portable: bool
) -> Iterator[RefusedFile]:
    # Names are ASCII, so case folding is the same as lower case.
    fold: Callable[[str], str] = str.lower if portable or folds_case(root) else str
    yield from _check_clashes(names, fold)
    windows = portable or os.name == "nt"
    for name in names:
        for segment in name[1:].split("/"):
            if len(segment) > _LONGEST_SEGMENT:
                problem = f"a segment is longer than {_LONGEST_SEGMENT} characters"
                yield RefusedFile(name, problem)
            if windows and _DEVICE.fullmatch(segment):
                yield RefusedFile(name, f"{quote(segment)} is a device on Windows")
            elif windows and segment.endswith("."):
                yield RefusedFile(name, f"Windows drops the last dot of {quote(segment)}")
            if not hidden and segment.startswith("."):
                yield RefusedFile(name, f"{quote(segment)} is hidden; hidden=True writes it")


def _check_clashes(names: list[str], fold: Callable[[str], str]) -> Iterator[RefusedFile]:
    folded: dict[str, str] = {}
    for name in names:
        first = folded.setdefault(fold(name), name)
        if first != name:
            yield RefusedFile(name, f"{quote(first)} is the same file if case is ignored")
    for name in names:
        for above in ancestors(name):
            if fold(above) in folded:
                file = folded[fold(above)]
                yield RefusedFile(name, f"{quote(file)} is a file, so nothing can lie below it")


def _check_references(
    parts: list[Part], resolver: "messagebody.Resolver | None"
) -> Iterator[RefusedFile]:
    # Only then a resolver is needed, with the libraries of stores and of the network.
    if not any(part.is_reference for part in parts):
        return
    judge = _resolver(resolver)
    for part in parts:
        if part.url is not None:
            try:
                judge.source(part.url, subject=part.label)
            except UnsafeReference as error:
                yield RefusedFile(str(part.name), error.problem, error=error)


def _check_directory(
    root: Path, names: Iterable[str], *, merge: bool, overwrite: bool
) -> Iterator[RefusedFile]:
    if not os.path.lexists(root):
        return
    if not root.is_dir():
        yield RefusedFile(str(root), "it is not a directory")
        return
    with Destination.at(root) as destination:
        if not merge and not destination.is_empty():
            yield RefusedFile(str(root), "it is not empty; merge=True writes beside what is there")
            return
        for name in names:
            obstacle = destination.obstacle(name, overwrite=overwrite)
            if obstacle is not None:
                yield RefusedFile(name, obstacle)


def _write(
    parts: list[Part],
    destination: Destination,
    resolver: "messagebody.Resolver | None",
    *,
    overwrite: bool,
) -> None:
    for part in parts:
        with (
            _content(part, resolver) as source,
            destination.create(str(part.name), replace=overwrite) as file,
        ):
            shutil.copyfileobj(source, file, CHUNK)
    destination.publish()


def _content(part: Part, resolver: "messagebody.Resolver | None") -> BinaryIO:
    """Return a part's content, verified if it is a reference."""
    if part.reference is None:
        return part.open()
    budget = access_of(part, resolver)["budget"]
    spool = _resolver(resolver).fetch(part.reference, subject=part.label, budget=budget)
    return spool.stream()


def _resolver(resolver: "messagebody.Resolver | None") -> "messagebody.Resolver":
    if resolver is not None:
        return resolver
    from messagebody.storage import Resolver

    return Resolver()
