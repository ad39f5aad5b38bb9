"""Entries of archives: the rules for becoming a part, and the place of their content."""

import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    Limits,
    LocalFile,
    MessageBody,
    Part,
    extension_of,
    quote,
    require_body,
    require_path,
    sniffing,
)
from messagebody.adapters import Affected, Converted, Loss, LossKind, left_behind
from messagebody.errors import DecodeError, InvalidArgument, MessageBodyError, RefusedPaths
from messagebody.findings import Finding
from messagebody.names import is_name, safe_name
from messagebody.storage import Resolver

CHUNK: Final = 64 * 1024
_GIB: Final = 1024**3

Source = bytes | bytearray | memoryview | str | os.PathLike[str] | BinaryIO
"""Bytes, the path of a file, or a binary file that can seek."""


@attrs.frozen
class ArchiveEntry:
    """One file in an archive.

    Arguments:
        path: its path there, unchanged.
        size: its bytes, as the archive states.
        problem: why it can't be a part; None if it can.
        open: opens its content.
    """

    path: str
    size: int
    problem: str | None
    open: Callable[[], BinaryIO]


@contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """Open a source to read from."""
    if isinstance(source, bytes | bytearray | memoryview):
        yield io.BytesIO(bytes(source))
    elif isinstance(source, str | os.PathLike):
        with Path(require_path(source)).open("rb") as file:
            yield file
    elif hasattr(source, "read"):
        yield source
    else:
        raise InvalidArgument("bytes, the path of a file, or a binary file", source)


@contextmanager
def damage_told(kinds: tuple[type[Exception], ...], subject: str = "the archive") -> Iterator[None]:
    """Report damage, for which the library of a format raises many kinds of errors.

    Arguments:
        kinds: the errors that it raises for damaged and malicious archives.
        subject: the name of the source in errors.

    Raises:
        DecodeError: the block raised one of them.
    """
    try:
        yield
    except MessageBodyError:
        raise
    except kinds as error:
        # The disk failed, not the archive: the library's own OSErrors have no number.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DecodeError(f"{subject} can't be read: {error}") from error


@attrs.define
class ArchiveParts:
    """The parts of an archive while it is read.

    Arguments:
        into: a directory for the content; None keeps it in memory.
        rename: whether a path that is not a part name is replaced by a legal name.
        limits: what to take before refusing.
        max_bytes: bytes of all entries together.
    """

    into: Path | None
    rename: bool
    limits: Limits
    max_bytes: int
    body: MessageBody = attrs.field(factory=MessageBody)

    def all_of(self, entries: Iterable[ArchiveEntry]) -> MessageBody:
        """Return the body of some entries; one error names all entries that can't be taken.

        Raises:
            RefusedPaths: entries can't be taken; it holds each with its reason.
            DecodeError: there are too many, or they are too large.
        """
        # All are checked before the first is read: a refused archive leaves no files in `into`.
        held = [*self._within_limits(entries)]
        refused = [f"{quote(entry.path)}: {problem}" for entry in held
                   if (problem := self._problem(entry)) is not None]  # fmt: skip
        # Every program unpacks "a" and "./a" to one file, and the later entry would win.
        counts = Counter(entry.path.removeprefix("./") for entry in held)
        twice = (path for path, count in counts.items() if count > 1)
        refused += [f"{quote(path)}: two entries have this path" for path in twice]
        if refused:
            raise RefusedPaths("can't read the archive", refused)
        with ExitStack() as undo:
            for entry, name in zip(held, self._names(held), strict=True):
                self._add(entry, name, undo)
            undo.pop_all()
        return self.body

    def _within_limits(self, entries: Iterable[ArchiveEntry]) -> Iterator[ArchiveEntry]:
        total = 0
        for count, entry in enumerate(entries, 1):
            total += entry.size
            if count > self.limits.parts:
                raise DecodeError(f"the archive has more than {self.limits.parts:,} entries")
            if total > self.max_bytes:
                raise DecodeError(f"its entries have more than {self.max_bytes:,} bytes together")
            if self.into is None and entry.size > self.limits.part_bytes:
                most = self.limits.part_bytes
                raise DecodeError(f"{quote(entry.path)} has more than {most:,} bytes; give into=…")
            yield entry

    def _problem(self, entry: ArchiveEntry) -> str | None:
        if entry.problem is not None:
            return entry.problem
        path = entry.path
        # Archives are read in the same way on every system, so a Windows drive is absolute on
        # Linux.
        if path.startswith(("/", "\\")) or path[1:2] == ":":
            return "an absolute path"
        if ".." in path.replace("\\", "/").split("/"):
            return "a path that leads out of the archive"
        if not self.rename and not fits(self._path(path), self.limits):
            return "not a legal part name; rename=True gives it one"
        return None

    def _names(self, entries: Sequence[ArchiveEntry]) -> Iterator[str]:
        """Yield a name for each entry: its path, or a legal name that no entry has."""
        paths = (self._path(entry.path) for entry in entries)
        taken = {path for path in paths if fits(path, self.limits)}
        for entry in entries:
            name = self._path(entry.path)
            if name not in taken:
                name = safe_name(entry.path, directory="/", taken=taken)
                taken.add(name)
            yield name

    def _path(self, path: str) -> str:
        return "/" + path.removeprefix("./")

    def _add(self, entry: ArchiveEntry, name: str, undo: ExitStack) -> None:
        metadata = None if name == self._path(entry.path) else {"filename": entry.path}
        with entry.open() as stream:
            # Never more than its stated size.
            content: Any = kept(_measured(stream, entry), self.into, len(self.body), undo)
        self.body.append(Part(content, name=name, metadata=metadata))


def fits(name: str, limits: Limits) -> bool:
    """Return whether a path can be the name of a part: it is legal, and readers take its length."""
    return is_name(name) and len(name) <= min(limits.name_length, DEFAULT_LIMITS.name_length)


def kept(
    chunks: Iterable[bytes], into: Path | None, number: int, undo: ExitStack
) -> bytes | LocalFile:
    """Return content in memory, or as a new file of a directory.

    Arguments:
        chunks: the content.
        into: the directory; None for memory.
        number: the number of the part, because a sender's file name must never decide where bytes
            go.
        undo: takes the removal of the file; closed if the archive is refused.
    """
    if into is None:
        memory = io.BytesIO()
        memory.writelines(chunks)
        return memory.getvalue()
    path = into / f"{number:08}"
    # Never over an existing file, and never through a link.
    with path.open("xb") as file:
        undo.callback(path.unlink, missing_ok=True)
        file.writelines(chunks)
    return LocalFile.at(path)


def _measured(stream: BinaryIO, entry: ArchiveEntry) -> Iterator[bytes]:
    seen = 0
    while chunk := stream.read(CHUNK):
        seen += len(chunk)
        # The limits were checked against the sizes that the archive states.
        if seen > entry.size:
            break
        yield chunk
    if seen != entry.size:
        raise DecodeError(
            f"{quote(entry.path)} does not have the {entry.size:,} bytes that it states"
        )


def take(
    entries: Iterable[ArchiveEntry],
    *,
    into: str | os.PathLike[str] | None,
    rename: bool,
    limits: Limits,
    max_bytes: int | None,
) -> Converted[MessageBody]:
    """Return the body of the entries of an archive; see `zip.to_body`."""
    directory = None if into is None else Path(require_path(into))
    most = max_bytes or most_bytes(directory, limits)
    return Converted(ArchiveParts(directory, rename, limits, most).all_of(entries))


def most_bytes(into: Path | None, limits: Limits) -> int:
    """Return the default limit of bytes to read; in memory it is the limit of a message."""
    return limits.json_bytes if into is None else 4 * _GIB


# Writing


def packed(write: Callable[[BinaryIO], list[Loss]], rest: Any = None) -> Converted[bytes]:
    """Return the bytes that a function writes to a file, and the losses that it returns.

    Arguments:
        write: the function.
        rest: what was read beside the body, for which an archive has no place.
    """
    file = io.BytesIO()
    losses = write(file)
    why = "an archive has no place for this member of a message"
    behind = () if rest is None else left_behind(rest, why)
    return Converted(file.getvalue(), (*behind, *losses))


@attrs.frozen
class Leaving:
    """One part to be written into an archive: its place here and there, and that of its content."""

    where: str
    path: str
    part: Part
    open: Callable[[], BinaryIO]


def leaving(
    body: MessageBody,
    losses: list[Loss],
    resolver: Resolver | None,
    *,
    keeps: frozenset[str] | None = None,
) -> Iterator[Leaving]:
    """Yield the parts that go into an archive, and note the losses.

    Arguments:
        body: the body.
        losses: takes the losses.
        resolver: reads references; without one they are left out.
        keeps: the metadata that the archive can hold besides the type; None if it can't hold
            either.
    """
    require_body(body)
    for index, part in enumerate(body):
        where = f"part {index}" + (f" {part.name}" if part.name else "")
        if part.is_reference and resolver is None:
            why = "it is a reference, and no resolver is given"
            losses.append(Loss(LossKind.OMITTED, where, why))
            continue
        if part.is_reference:
            losses.append(Loss(LossKind.CONVERTED, where, "its reference goes out as content"))
        name = part.name or _free_name(index, part, body)
        if part.name is None and keeps is None:
            why = f"it gets the name {quote(name)}"
            losses.append(Loss(LossKind.CONVERTED, where, why, affects=Affected.LABELS))
        kept = {key for key in keeps or () if key != "filename" or states_filename(part)}
        lost = sorted({*(part.metadata or {}), *part.extra} - kept)
        if lost:
            why = f"there is no place for its metadata {', '.join(map(quote, lost))}"
            losses.append(Loss(LossKind.OMITTED, where, why, affects=Affected.LABELS))
        elif part.metadata == {}:
            why = "its empty metadata goes out as none"
            losses.append(Loss(LossKind.CONVERTED, where, why, affects=Affected.LABELS))
        if keeps is None and sniffing.from_name(name) != part.content_type:
            why = f"its extension does not stand for {part.content_type}"
            losses.append(Loss(LossKind.DOWNGRADED, where, why, affects=Affected.LABELS))
        yield Leaving(where, name[1:], part, lambda part=part: part.open(resolver))  # type: ignore[misc]


def states_filename(part: Part) -> bool:
    """Return whether the original file name of a part makes its name when it is read again."""
    filename = (part.metadata or {}).get("filename")
    if not isinstance(filename, str) or part.name is None or not filename.isprintable():
        return False
    return safe_name(filename, directory="/") == part.name


def _free_name(index: int, part: Part, body: MessageBody) -> str:
    name = f"/parts/{index + 1}{extension_of(part.content_type)}"
    return name if name not in body else safe_name(name[1:], directory="/", taken=body)


def findings(read: Callable[[], object]) -> Iterator[Finding]:
    """Yield why an archive can't be read."""
    try:
        read()
    except RefusedPaths as error:
        yield from (Finding("entry", "", str(refusal)) for refusal in error.refusals)
    except MessageBodyError as error:
        yield Finding("content", "", str(error))
