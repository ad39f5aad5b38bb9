"""Packing: the files of a directory as the parts of a body."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

import attrs

from messagebody._core import (
    DIRECTORY,
    LocalFile,
    MessageBody,
    Part,
    quote,
    require_path,
    wide_pattern,
)
from messagebody.errors import LocalFileChanged, MessageBodyError, RefusedPaths
from messagebody.names import check_name, is_name, safe_name


@attrs.frozen
class RefusedFile:
    """One file or part that can't be taken.

    Arguments:
        path: the file, relative to the directory, or the part's name.
        problem: why, in words.
        suggestion: a legal name for it, if there is one.
        error: the error of the toolkit behind it, if there is one.

    Examples:
        >>> str(RefusedFile("Q3 report.pdf", "not a legal part name", "/Q3_report.pdf"))
        "'Q3 report.pdf': not a legal part name; '/Q3_report.pdf' would be one"
    """

    path: str
    problem: str
    suggestion: str | None = None
    error: MessageBodyError | None = None

    def __str__(self) -> str:
        text = f"{quote(self.path)}: {self.problem}"
        return f"{text}; {quote(self.suggestion)} would be one" if self.suggestion else text


# Each directory on the path needs an open descriptor and a level of recursion.
_DEEPEST = 256


def pack(
    directory: str | os.PathLike[str],
    *,
    prefix: str = "/",
    exclude: Iterable[str] = (),
    hidden: bool = False,
    rename: bool = False,
    follow: bool = False,
    on_left_out: Callable[[str], object] | None = None,
) -> MessageBody:
    """Return a body of all files below a directory, in order of their names.

    Files stay on disk until the body is offloaded or inlined. Even then, no link on the path is
    followed, so that nobody can put another file in their place. One error names everything that
    can't be a part: file names that are not part names, symbolic links, FIFOs, devices and sockets.

    Arguments:
        directory: the directory.
        prefix: the directory of the parts, a legal name or "/".
        exclude: patterns of files and directories to leave out, as in a `.gitignore`: one without
            "/" matches at any depth, one that ends with "/" matches directories only, others start
            at the directory. They have `*`, `**`, `?`, `[a-z]` and `{a,b}`.
        hidden: also take files and directories whose names start with ".".
        rename: take the suggested names, and keep the original in `metadata["filename"]`.
        follow: follow symbolic links whose targets are inside the directory.
        on_left_out: called with the path of each hidden file or directory that is left out.

    Raises:
        RefusedPaths: files can't be parts; it holds each with its reason.
        InvalidPattern: the braces of a pattern stand for too many patterns.
        NotADirectoryError, FileNotFoundError: there is no such directory.

    Examples:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     _ = pathlib.Path(directory, "notes.md").write_text("# Cats")
        ...     pack(directory).list()
        [Part('/notes.md', text/markdown, 6 B, local file 'notes.md')]
    """
    # The caller's own path may be a link, but nothing below it.
    root = Path(os.path.realpath(require_path(directory)))
    base = "" if prefix == "/" else check_name(prefix)
    rules = [_Rule.parse(pattern) for pattern in exclude]
    walk = _Walk(root, rules, rename, follow, hidden, on_left_out or str)
    descriptor = os.open(root, DIRECTORY)
    try:
        parts = list(walk.parts(descriptor, _Place(base, "", root, (str(root),))))
    finally:
        os.close(descriptor)
    if walk.refusals:
        raise RefusedPaths(f"can't pack {quote(str(directory))}", walk.refusals)
    return MessageBody(parts)


@attrs.frozen
class _Rule:
    """A pattern of files to leave out, with git's rules for a .gitignore."""

    matches: Callable[[str], bool]
    only_directories: bool

    @classmethod
    def parse(cls, pattern: str) -> Self:
        """Read a pattern; its slashes decide which paths it applies to."""
        # wcmatch would read "secrets/" as a path with a slash, and match no last segment by it.
        path = pattern.rstrip("/")
        matches = wide_pattern(path.removeprefix("/"), match_base="/" not in path)
        return cls(matches, only_directories=path != pattern)

    def leaves_out(self, path: str, *, is_directory: bool) -> bool:
        """Return whether a file or directory is left out; `path` starts at the directory."""
        return (is_directory or not self.only_directories) and self.matches(path)


@attrs.frozen
class _Place:
    """A directory on the path: its part name, its shown and its real path, and its parents."""

    name: str
    shown: str
    path: Path
    above: tuple[str, ...]
    renamed: str = ""
    """The original path from the first directory that got another name."""


@attrs.define
class _Walk:
    """A walk over a directory that records refusals and continues."""

    root: Path
    rules: Sequence[_Rule]
    rename: bool
    follow: bool
    hidden: bool
    on_left_out: Callable[[str], object]
    refusals: list[RefusedFile] = attrs.Factory(list)

    def parts(self, descriptor: int, place: _Place) -> Iterator[Part]:
        """Yield the parts of an open directory and of those below it."""
        segments = [name for name in sorted(os.listdir(descriptor)) if self._takes(name, place)]
        for segment, name in zip(segments, _part_names(segments, place.name), strict=True):
            yield from self._entry(descriptor, place, segment, name)

    def _takes(self, segment: str, place: _Place) -> bool:
        shown = os.path.join(place.shown, segment)  # noqa: PTH118 - bytes that are not UTF-8
        # Only for the rules: a packed file is looked up again below its open directory.
        is_directory = (place.path / segment).is_dir()
        if any(rule.leaves_out(shown, is_directory=is_directory) for rule in self.rules):
            return False
        if segment.startswith(".") and not self.hidden:
            self.on_left_out(shown + "/" if is_directory else shown)
            return False
        return True

    def _entry(self, descriptor: int, place: _Place, segment: str, name: str) -> Iterator[Part]:
        shown = os.path.join(place.shown, segment)  # noqa: PTH118 - bytes that are not UTF-8
        status = os.stat(segment, dir_fd=descriptor, follow_symlinks=False)
        path = place.path / segment
        if stat.S_ISLNK(status.st_mode):
            resolved = self._follow(path, shown, place)
            if resolved is None:
                return
            path, descriptor, status = resolved, -1, resolved.stat()
        is_legal = name == f"{place.name}/{segment}"
        original = os.path.join(place.renamed, segment) if place.renamed else segment  # noqa: PTH118
        renamed = original if place.renamed or not is_legal else ""
        if stat.S_ISDIR(status.st_mode):
            below = _Place(name, shown, path, (*place.above, str(path)), renamed)
            yield from self._directory(descriptor, segment, below)
        elif not stat.S_ISREG(status.st_mode):
            self.refusals.append(RefusedFile(shown, f"{_kind(status.st_mode)}, not a regular file"))
        elif renamed and not self.rename:
            self.refusals.append(RefusedFile(shown, "not a legal part name", name))
        else:
            yield from self._file(path, status, shown, name, renamed)

    def _directory(self, descriptor: int, segment: str, place: _Place) -> Iterator[Part]:
        if len(place.above) > _DEEPEST:
            self.refusals.append(RefusedFile(place.shown, f"more than {_DEEPEST} directories deep"))
            return
        if descriptor < 0:  # behind a link: its real path, looked up from the top
            opened = os.open(place.path, DIRECTORY)
        else:
            opened = os.open(segment, DIRECTORY, dir_fd=descriptor)
        try:
            yield from self.parts(opened, place)
        finally:
            os.close(opened)

    def _file(
        self, path: Path, status: os.stat_result, shown: str, name: str, renamed: str
    ) -> Iterator[Part]:
        # The status is read without following a link; a Path would be looked up again later.
        file = LocalFile.from_status(path, status, below=self.root)
        try:
            yield Part(file, name=name, metadata=_filename(renamed))
        except LocalFileChanged as error:
            self.refusals.append(RefusedFile(shown, f"can't be read: {error.problem}", error=error))

    def _follow(self, path: Path, shown: str, place: _Place) -> Path | None:
        """Return the target of a link, or record a refusal and return None."""
        target = Path(os.path.realpath(path))
        if not self.follow:
            problem = "a symbolic link; follow=True takes those that lead to files inside"
        elif not target.is_relative_to(self.root):
            problem = "a symbolic link that leads out of the directory"
        elif not target.exists():
            problem = "a symbolic link to nothing"
        elif str(target) in place.above:
            problem = "a symbolic link to a directory it lies in"
        else:
            return target
        self.refusals.append(RefusedFile(shown, problem))
        return None


def _part_names(segments: Sequence[str], directory: str) -> list[str]:
    """Return a part name for each entry of a directory: its own if legal, else a suggestion."""
    taken = {f"{directory}/{segment}" for segment in segments if is_name(f"/{segment}")}
    # All legal names are taken first, so that no suggestion takes the name of another file.
    names = []
    for segment in segments:
        name = f"{directory}/{segment}"
        if name not in taken or not is_name(f"/{segment}"):
            name = safe_name(_readable(segment), directory=directory or "/", taken=taken)
            taken.add(name)
        names.append(name)
    return names


def _filename(original: str) -> dict[str, str] | None:
    return {"filename": _readable(original)} if original else None


def _readable(text: str) -> str:
    """Return a file name as text for JSON; bytes that are not UTF-8 become escapes."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def _kind(mode: int) -> str:
    kinds = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")
