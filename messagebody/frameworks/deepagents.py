"""A backend of deepagents in which the files of an agent are the named parts of a body.

An agent writes, edits, greps and lists files as usual, and the result is a message. By default,
deepagents also writes its own files, such as `/large_tool_results`. To keep these out of the
message, route only one directory to the message: `CompositeBackend(default=…, routes={"/message/":
BodyBackend()}, artifacts_root="/scratch")`.
"""

import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, TypeVar

from messagebody._core import (
    OCTET_STREAM,
    MessageBody,
    Part,
    base64,
    essence,
    human_size,
    parse_size,
    require_body,
    require_resolver,
)
from messagebody.adapters import is_withheld
from messagebody.errors import InvalidPart, MessageBodyError, MissingDependency
from messagebody.names import is_name, safe_name
from messagebody.storage import Resolver, Store, offload, open_store, owned

try:
    from deepagents.backends.protocol import (
        BackendProtocol,
        DeleteResult,
        EditResult,
        FileDownloadResponse,
        FileInfo,
        FileUploadResponse,
        GlobResult,
        GrepResult,
        LsResult,
        ReadResult,
        WriteResult,
    )
    from deepagents.backends.utils import (
        InvalidGlobPatternError,
        compile_grep_include_glob,
        create_file_data,
        grep_matches_from_files,
        perform_string_replacement,
        slice_read_response,
    )
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.deepagents", "deepagents") from error

_T = TypeVar("_T")
_READ_ONLY: Final = "the message is read-only"
# Parts with another name than their file, because not every path is a legal name.
_PATH: Final = "path"


class BodyBackend(BackendProtocol):  # type: ignore[misc]
    """The named parts of a body as the files of an agent of deepagents.

    If a path is not a legal part name, the part gets a legal name and keeps the path in
    `metadata.path`, by which it is found again. Errors are results, as deepagents requires.

    Arguments:
        body: the body to work on, which changes; a new one if None.
        store: the store for large parts when they are written: a store, its URL, or a directory's
            path. If None, they stay in the body.
        threshold: parts of more bytes go to the store.
        owner: the name of the owner of the parts there; `Bodies(bodies, name="agent-files")` is
            the owner for `sweep`, with the bodies of all backends.
        resolver: decides which references are read; the body's own if None. Parts that this backend
            stored itself are always read.
        read_only: refuse every change.
        max_read: the most bytes of a part to read; a larger part is an error.
    """

    def __init__(
        self,
        body: MessageBody | None = None,
        *,
        store: str | os.PathLike[str] | Store | None = None,
        threshold: int | str = "256 KiB",
        owner: str = "agent-files",
        resolver: Resolver | None = None,
        read_only: bool = False,
        max_read: int | str = "10 MiB",
    ) -> None:
        self._body = MessageBody() if body is None else require_body(body)
        self._resolver = require_resolver(resolver)
        ask = "storage.Bodies(bodies, name)"
        self._store = (
            None if store is None else owned(open_store(store), owner, kind="files", ask=ask)
        )
        self._own = None if self._store is None else Resolver(allow=self._store)
        self._threshold = parse_size(threshold)
        self._read_only = read_only
        self._most = parse_size(max_read)
        # Tools of an agent run in several threads, and an edit reads a file before it writes it.
        self._lock = threading.RLock()

    @property
    def body(self) -> MessageBody:
        """The present body."""
        return self._body

    # Reading

    def ls(self, path: str) -> LsResult:
        """List the files and directories directly below a directory."""
        place = path.rstrip("/") + "/"
        entries: dict[str, FileInfo] = {}
        for file, part in self._files():
            if not file.startswith(place):
                continue
            name, slash, _ = file[len(place) :].partition("/")
            if slash:
                entries[f"{place}{name}/"] = FileInfo(path=f"{place}{name}/", is_dir=True)
            else:
                entries[file] = _info(file, part)
        return LsResult(entries=[entries[each] for each in sorted(entries)])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """Return lines of a text, or the whole of another file in base64."""
        part = self._part(file_path)
        if part is None:
            return ReadResult(error=f"File '{file_path}' not found")
        data = _result(lambda: self._data(part))
        if isinstance(data, str):
            return ReadResult(error=data)
        if data["encoding"] == "base64":
            return ReadResult(file_data=data)
        return slice_read_response(data, offset, limit)

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        """Find a literal text in all files; unreadable files are left out, with a note."""
        files, is_whole = {}, True
        for file, part in self._files():
            # Reading pictures would fetch references that can't match.
            if not _is_textual(part):
                continue
            data = _result(partial(self._data, part))
            if isinstance(data, str):
                is_whole = False
            else:
                files[file] = data
        result = grep_matches_from_files(files, pattern, path, glob, max_count=max_count)
        # The model must not trust "no matches" if a file could not be read.
        result.truncated = result.truncated or not is_whole
        return result

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Find files by a pattern in the dialect of deepagents."""
        place = (path or "/").rstrip("/") + "/"
        try:
            matches = compile_grep_include_glob(pattern)
        except InvalidGlobPatternError as error:
            return GlobResult(error=str(error))
        found = [
            _info(file, part)
            for file, part in self._files()
            if file.startswith(place) and matches(file[len(place) :])
        ]
        return GlobResult(matches=found)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Return the bytes of files."""
        return [self._download(path) for path in paths]

    def _download(self, path: str) -> FileDownloadResponse:
        part = self._part(path)
        if part is None:
            return FileDownloadResponse(path=path, error=self._why_missing(path))
        data = _result(lambda: self._bytes(part))
        if isinstance(data, str):
            return FileDownloadResponse(path=path, error=data)
        return FileDownloadResponse(path=path, content=data)

    def _why_missing(self, path: str) -> str:
        if any(file.startswith(path.rstrip("/") + "/") for file, _ in self._files()):
            return "is_directory"
        return "file_not_found" if _is_path(path) else "invalid_path"

    # Writing

    def write(self, file_path: str, content: str) -> WriteResult:
        """Write a text, which replaces an existing file."""
        failure = self._write(file_path, content)
        return WriteResult(error=failure) if failure else WriteResult(path=file_path)

    def edit(
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,
    ) -> EditResult:
        """Replace a text in a file."""
        with self._lock:
            part = self._part(file_path)
            if part is None:
                return EditResult(error=f"Error: File '{file_path}' not found")
            data = _result(lambda: self._data(part))
            if isinstance(data, str):
                return EditResult(error=f"Error: {data}")
            if data["encoding"] == "base64":
                return EditResult(error="Error: a binary file can't be edited as text")
            changed = perform_string_replacement(
                data["content"], old_string, new_string, replace_all
            )
            # The helper of deepagents returns a text instead of a pair if nothing was replaced.
            if isinstance(changed, str):
                return EditResult(error=changed)
            failure = self._write(file_path, changed[0])
        if failure:
            return EditResult(error=f"Error: {failure}")
        return EditResult(path=file_path, occurrences=changed[1])

    def delete(self, file_path: str) -> DeleteResult:
        """Delete a file, or a directory with all its contents."""
        if self._read_only:
            return DeleteResult(error=_READ_ONLY)
        base = file_path.rstrip("/")
        with self._lock:
            gone = [
                part.name
                for file, part in self._files()
                if file == base or file.startswith(base + "/")
            ]
            for name in gone:
                del self._body[name]
        if not gone:
            return DeleteResult(error=f"Error: File '{file_path}' not found")
        return DeleteResult(path=file_path)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Write files of bytes one by one."""
        return [self._upload(path, content) for path, content in files]

    def _upload(self, path: str, content: bytes) -> FileUploadResponse:
        if self._read_only:
            return FileUploadResponse(path=path, error="permission_denied")
        if not _is_path(path):
            return FileUploadResponse(path=path, error="invalid_path")
        return FileUploadResponse(path=path, error=self._write(path, content) or None)

    def _write(self, path: str, content: str | bytes) -> str:
        """Write a file; return an error text, which is empty on success."""
        if self._read_only:
            return _READ_ONLY
        if not _is_path(path):
            return f"'{path}' is not an absolute path of a file without '..'"
        with self._lock:
            failure = _result(lambda: self._put(path, content))
        return failure if isinstance(failure, str) else ""

    def _put(self, path: str, content: str | bytes) -> None:
        old = self._part(path)
        if old is not None and old.name is not None:
            metadata = old.metadata
            name = old.name
        else:
            name = path if is_name(path) and path not in self._body else self._free_name(path)
            metadata = None if name == path else {_PATH: path}
        part = Part(content, name=name, metadata=metadata)
        # The path of a hidden part is not free, although `_part` does not find it.
        if is_withheld(part) or (is_name(path) and is_withheld(part.evolve(name=path))):
            raise InvalidPart(f"{path} is not for models")
        # An edit of a file must not change its type, whatever the new text looks like.
        if old is not None and old.is_text and part.is_text:
            part = part.evolve(content_type=old.content_type)
        if self._store is not None:
            [part] = offload(MessageBody([part]), self._store, threshold=self._threshold)
        self._body[name] = part

    def _free_name(self, path: str) -> str:
        directory = "/"
        # Each directory is renamed by itself, so that neighbouring files stay neighbours.
        for segment in path.split("/")[1:-1]:
            directory = safe_name(segment, directory=directory)
        return safe_name(path, directory=directory, taken=self._body)

    # Files and parts

    def _files(self) -> Iterator[tuple[str, Part]]:
        """Yield each named part with the path of its file.

        The sender may write any path into metadata. It is used only if it is not a legal name, or
        if the part with that name has itself another path. So it never hides a part.
        """
        with self._lock:
            # A copy under the lock, because other threads may write while the caller iterates.
            named = [part for part in self._body if part.name is not None]
        # The files are those of a model, which gets no ids and tokens of a message.
        parts = [part for part in named if not is_withheld(part)]
        paths = {part.name: (part.metadata or {}).get(_PATH) for part in parts}
        moved = {name for name, path in paths.items() if _is_odd(path)}
        taken: set[str] = set()
        for part in parts:
            path, name = paths[part.name], str(part.name)
            is_moved = (name in moved or path in moved) and path not in taken
            file = str(path) if is_moved else name
            taken.add(file)
            yield file, part

    def _part(self, path: str) -> Part | None:
        return next((part for file, part in self._files() if file == path), None)

    def _bytes(self, part: Part) -> bytes:
        if (part.size or 0) > self._most:
            size, most = human_size(part.size), human_size(self._most)
            raise InvalidPart(f"{part.label} has {size}, and at most {most} are read")
        # Parts that this backend stored must be readable with any resolver of the caller.
        is_own = self._own is not None and part.url is not None and self._own.allows(part.url)
        return part.read_bytes(self._own if is_own else self._resolver)

    def _data(self, part: Part) -> Any:
        """Return the data of a file in deepagents' format: its text, or base64."""
        data = self._bytes(part)
        if _is_textual(part):
            try:
                return create_file_data(data.decode())
            except UnicodeDecodeError:
                pass  # it is base64 then, as the format of deepagents has it
        return create_file_data(base64.encode(data), encoding="base64")


def _is_textual(part: Part) -> bool:
    # Files without a known ending have this type, source code among them.
    return part.is_text or essence(part.content_type) == OCTET_STREAM


def _is_path(path: str) -> bool:
    segments = path.split("/")
    return segments[0] == "" and len(segments) > 1 and not {"", ".", ".."} & {*segments[1:]}


def _is_odd(path: object) -> bool:
    """Return whether this is the path of a file but not a legal name."""
    return isinstance(path, str) and _is_path(path) and not is_name(path)


def _info(file: str, part: Part) -> FileInfo:
    info = FileInfo(path=file, is_dir=False)
    if part.size is not None:
        info["size"] = part.size
    return info


def _result(work: Callable[[], _T]) -> _T | str:
    """Return the result of a function, or the text of its error."""
    try:
        return work()
    except MessageBodyError as error:
        # Without the advice, which names permissions, because the model reads this.
        return error.statement
