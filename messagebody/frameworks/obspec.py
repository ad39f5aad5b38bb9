"""Bodies as object stores, for libraries that take any object with the protocols of obspec."""

import asyncio
import contextlib
import errno
import functools
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, Final, NoReturn, ParamSpec, TypeVar

from messagebody._base.limits import CHUNK
from messagebody._model.body import MessageBody
from messagebody.errors import MissingDependency

try:
    from obspec import exceptions
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.obspec", "obspec") from error

if TYPE_CHECKING:
    from obspec import (
        Attributes,
        GetOptions,
        ListResult,
        ObjectMeta,
        PutMode,
        PutResult,
        UpdateVersion,
    )

# As many as in a page of S3's listing.
_BATCH: Final = 1000
_P = ParamSpec("_P")
_T = TypeVar("_T")
_ERRORS: Final[dict[int | None, type[exceptions.BaseError]]] = {
    errno.ENOENT: exceptions.NotFoundError,
    # Object stores have no directories: there is no object at a directory or below a file.
    errno.EISDIR: exceptions.NotFoundError,
    errno.ENOTDIR: exceptions.NotFoundError,
    errno.EEXIST: exceptions.AlreadyExistsError,
    errno.EINVAL: exceptions.InvalidPathError,
    errno.EROFS: exceptions.PermissionDeniedError,
}

Contents = list[bytes]
"""The class has a method `list`, which annotations in it would mean."""


def _threaded(method: Callable[_P, _T]) -> Callable[_P, Coroutine[Any, Any, _T]]:
    """Return the asynchronous twin of a method, which runs it in a thread.

    Reading a reference takes time.
    """

    async def twin(*args: _P.args, **options: _P.kwargs) -> _T:
        return await asyncio.to_thread(method, *args, **options)

    functools.update_wrapper(twin, method)
    twin.__name__ = f"{method.__name__}_async"
    twin.__qualname__ = f"{method.__qualname__}_async"
    twin.__doc__ = f"Do what `{method.__name__}` does, in a thread."
    return twin


class BodyStore:
    """A body as an object store: its named parts are objects, without the first "/" of their names.

    It has all protocols of obspec and raises its errors. The resolver reads the content of
    references, and a whole object is verified before the first byte is returned.

    Arguments:
        body: the body; changes go both ways.
        **options: those of `body.filesystem`, such as `resolver`, `read_only` or `offload_to`.

    Examples:
        >>> from messagebody import MessageBody
        >>> from messagebody.frameworks.obspec import BodyStore
        >>> body = MessageBody()
        >>> store = BodyStore(body)
        >>> _ = store.put("data/a.txt", b"meow")
        >>> store.get_range("data/a.txt", start=1, end=3), body.names()
        (b'eo', ['/data/a.txt'])
        >>> store.list_with_delimiter()["common_prefixes"]
        ['data']
    """

    def __init__(self, body: MessageBody, **options: Any) -> None:
        self.filesystem: Any = body.filesystem(**options)
        # Nobody else may write here between checking for an object and writing it.
        self._lock = threading.RLock()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BodyStore):
            return NotImplemented
        return self.filesystem is other.filesystem

    def __hash__(self) -> int:
        # By identity, like `__eq__`, because bodies change and have no hash.
        return id(self.filesystem)

    def __repr__(self) -> str:
        return f"BodyStore({self.filesystem.body!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.filesystem,)

    # Reading

    def head(self, path: str) -> "ObjectMeta":
        """Describe an object; its `e_tag` is the digest of the content."""
        with _translated(path):
            info = self.filesystem.info(_name(path))
            if info["type"] != "file":
                raise exceptions.NotFoundError(_no_object(path))
            return self._meta(info, self._e_tag(path))

    def get(self, path: str, *, options: "GetOptions | None" = None) -> "GetResult":
        """Return an object, or a range of it, for reading.

        Raises:
            NotSupportedError: a condition by time or version: parts have neither.
            PreconditionError, NotModifiedError: the condition is not met.
        """
        asked: dict[str, Any] = {k: v for k, v in (options or {}).items() if v is not None}
        # Refused, because an ignored condition would look like a condition that was met.
        for each in asked.keys() - {"if_match", "if_none_match", "range", "head"}:
            _not_supported(each, "parts have no times and no versions")
        with _translated(path):
            info = self.filesystem.info(_name(path))
        if info["type"] != "file":
            raise exceptions.NotFoundError(_no_object(path))
        self._check_conditions(path, asked)
        start, end = _range_of(asked.get("range"), info["size"], path)
        if asked.get("head"):
            end = start
        return GetResult(self, path, info["ContentType"], (start, end), info["size"])

    def _check_conditions(self, path: str, asked: dict[str, Any]) -> None:
        if "if_match" in asked and not self._matches(path, asked["if_match"]):
            raise exceptions.PreconditionError(f"{path}: its e_tag is not {asked['if_match']}")
        if "if_none_match" in asked and self._matches(path, asked["if_none_match"]):
            raise exceptions.NotModifiedError(f"{path}: its e_tag is {asked['if_none_match']}")

    def _matches(self, path: str, wanted: str) -> bool:
        tags = [tag.strip() for tag in wanted.split(",")]
        return "*" in tags or self._e_tag(path) in tags

    def get_range(
        self, path: str, *, start: int, end: int | None = None, length: int | None = None
    ) -> bytes:
        """Return a range of an object; for a reference, only that range is requested.

        Raises:
            BaseError: the range is empty, or begins after the end.
        """
        return self.get_ranges(
            path,
            starts=[start],
            ends=None if end is None else [end],
            lengths=None if length is None else [length],
        )[0]

    def get_ranges(
        self,
        path: str,
        *,
        starts: Sequence[int],
        ends: Sequence[int] | None = None,
        lengths: Sequence[int] | None = None,
    ) -> Contents:
        """Return ranges of an object; for a reference, they are requested together."""
        if ends is None:
            if lengths is None:
                raise TypeError("a range has an end or a length, got neither")
            ends = [start + length for start, length in zip(starts, lengths, strict=True)]
        for start, end in zip(starts, ends, strict=True):
            if not 0 <= start < end:
                raise exceptions.BaseError(f"{path}: {start} to {end} is not a range of bytes")
        name = _name(path)
        with _translated(path):
            found = self.filesystem.cat_ranges(
                [name] * len(starts), [*starts], [*ends], on_error="raise"
            )
        for start, data in zip(starts, found, strict=True):
            if not data:
                raise exceptions.BaseError(f"{path}: a range begins at {start}, behind the end")
        return list(found)

    def list(
        self, prefix: str | None = None, *, offset: str | None = None
    ) -> Iterator[Sequence["ObjectMeta"]]:
        """Yield descriptions of all objects below a prefix, sorted by path.

        Sizes that are not stated are requested, several at a time. Content is not hashed: `e_tag`
        is the digest that a reference states, or None.
        """
        with _translated(prefix or ""):
            root = _name(prefix or "")
            sizes: dict[str, int] = self.filesystem.du(root, total=False)
            infos = self.filesystem.find(root, detail=True)
        listed = [
            self._meta(infos[path] | {"size": sizes[path]})
            for path in sorted(infos)
            # In object stores, a prefix means the objects below it, not an object with exactly that
            # path.
            if path in sizes and path != root and (offset is None or path[1:] > offset)
        ]
        for start in range(0, len(listed), _BATCH):
            yield listed[start : start + _BATCH]

    def list_with_delimiter(self, prefix: str | None = None) -> "ListResult[Sequence[ObjectMeta]]":
        """Return the objects directly below a prefix, and the prefixes directly below it."""
        root = _name(prefix or "")
        with _translated(prefix or ""):
            found = self.filesystem.ls(root) if self.filesystem.isdir(root) else []
            sized = [
                each if each["size"] is not None else self.filesystem.info(each["name"])
                for each in found
            ]
        return {
            "common_prefixes": [e["name"].strip("/") for e in sized if e["type"] != "file"],
            "objects": [self._meta(each) for each in sized if each["type"] == "file"],
        }

    # Writing

    def put(
        self,
        path: str,
        file: Any,
        *,
        attributes: "Attributes | None" = None,
        tags: dict[str, str] | None = None,
        mode: "PutMode | None" = None,
        use_multipart: bool | None = None,  # noqa: ARG002 - the protocol's; a body has no uploads
        chunk_size: int = CHUNK,
        max_concurrency: int = 1,  # noqa: ARG002
    ) -> "PutResult":
        """Write an object, completely or not at all.

        Arguments:
            path: its path.
            file: bytes, a buffer, a binary file object, the `Path` of a file, or an iterable of
                buffers.
            attributes: its "Content-Type"; if missing, it is found from content and path.
            tags: not supported, because parts have no tags.
            mode: "create", "overwrite", or the `e_tag` that an existing object must have.
            use_multipart: ignored, because a part is written in one step.
            chunk_size: bytes to read from a file object at a time.
            max_concurrency: ignored.

        Raises:
            AlreadyExistsError, PreconditionError: the existing object does not fit `mode`.
            InvalidPathError: the path is not the name of a part, or below another object.
        """
        content_type = _content_type(attributes, tags)
        if isinstance(file, Path):
            file.stat()  # a missing local file must not look like a missing object
        with self._lock, _translated(path, writes=True):
            is_new = self._check_mode(path, mode)
            self._write(_name(path), file, is_new, content_type, chunk_size)
        return {"e_tag": self._e_tag(path), "version": None}

    def _check_mode(self, path: str, mode: "PutMode | None") -> bool:
        """Refuse to write if `mode` forbids it; return whether the object must be new."""
        if mode is None or isinstance(mode, str):
            return mode == "create"
        wanted: UpdateVersion = mode
        if wanted.get("version") is not None:
            _not_supported("version", "parts have no versions")
        is_there = self.filesystem.isfile(_name(path))
        if not is_there or self._e_tag(path) != wanted.get("e_tag"):
            raise exceptions.PreconditionError(f"{path}: its e_tag is not {wanted.get('e_tag')}")
        return False

    def _write(
        self, name: str, file: Any, is_new: bool, content_type: str | None, chunk_size: int
    ) -> None:
        mode = "create" if is_new else "overwrite"
        if isinstance(file, Path):
            self.filesystem.put_file(file, name, mode=mode, content_type=content_type)
        elif _is_buffer(file):
            self.filesystem.pipe_file(name, file, mode=mode, content_type=content_type)
        else:
            with self._writer(name, is_new, content_type) as target:
                if callable(getattr(file, "read", None)):
                    shutil.copyfileobj(file, target, chunk_size)
                else:
                    target.writelines(file)

    def _writer(self, name: str, is_new: bool, content_type: str | None) -> Any:
        return self.filesystem.open(name, "xb" if is_new else "wb", content_type=content_type)

    def delete(self, paths: str | Sequence[str]) -> None:
        """Delete objects, all or none; the content behind a reference stays.

        Raises:
            NotFoundError: one of them does not exist.
        """
        each_path = [paths] if isinstance(paths, str) else [*paths]
        with self._lock:
            for path in each_path:
                self._require(path)
            with _translated(", ".join(each_path), writes=True):
                for path in each_path:
                    self.filesystem.rm_file(_name(path))

    def copy(self, from_: str, to: str, *, overwrite: bool = True) -> None:
        """Copy an object; a reference stays a reference."""
        self._transfer(self.filesystem.cp_file, from_, to, overwrite)

    def rename(self, from_: str, to: str, *, overwrite: bool = True) -> None:
        """Give an object another path."""
        self._transfer(self.filesystem.mv_file, from_, to, overwrite)

    def _transfer(self, act: Callable[..., None], from_: str, to: str, overwrite: bool) -> None:
        with self._lock:
            self._require(from_)
            if not overwrite and self.filesystem.isfile(_name(to)):
                raise exceptions.AlreadyExistsError(f"there is an object at {to!r}")
            with _translated(to, writes=True):
                act(_name(from_), _name(to))

    def _require(self, path: str) -> None:
        if not self.filesystem.isfile(_name(path)):
            raise exceptions.NotFoundError(_no_object(path))

    # The same for asynchronous programs

    head_async = _threaded(head)
    get_async = _threaded(get)
    get_range_async = _threaded(get_range)
    get_ranges_async = _threaded(get_ranges)
    list_with_delimiter_async = _threaded(list_with_delimiter)
    delete_async = _threaded(delete)
    copy_async = _threaded(copy)
    rename_async = _threaded(rename)

    async def list_async(
        self, prefix: str | None = None, *, offset: str | None = None
    ) -> AsyncIterator[Sequence["ObjectMeta"]]:
        """Do what `list` does."""
        # All at once, because a sorted listing is made as a whole, and each step would need a
        # thread.
        for batch in await asyncio.to_thread(lambda: [*self.list(prefix, offset=offset)]):
            yield batch

    async def put_async(
        self,
        path: str,
        file: Any,
        *,
        attributes: "Attributes | None" = None,
        tags: dict[str, str] | None = None,
        mode: "PutMode | None" = None,
        use_multipart: bool | None = None,  # noqa: ARG002
        chunk_size: int = CHUNK,
        max_concurrency: int = 1,  # noqa: ARG002
    ) -> "PutResult":
        """Do what `put` does; `file` may also be an asynchronous iterable of buffers."""
        put = partial(
            self.put, path, attributes=attributes, tags=tags, mode=mode, chunk_size=chunk_size
        )
        if not hasattr(file, "__aiter__"):
            return await asyncio.to_thread(put, file)
        # A thread can't wait for an asynchronous iterable, so all of it is read first.
        with SpooledTemporaryFile(max_size=chunk_size) as spool:
            async for buffer in file:
                spool.write(buffer)
            spool.seek(0)
            return await asyncio.to_thread(put, spool)

    # Inside

    def _meta(self, info: dict[str, Any], e_tag: str | None = None) -> "ObjectMeta":
        stated = info.get("digest")
        return {
            "path": info["name"].lstrip("/"),
            "last_modified": self.filesystem.modified("/"),
            "size": info["size"],
            "e_tag": e_tag or (f'"{stated}"' if stated else None),
            "version": None,
        }

    def _e_tag(self, path: str) -> str:
        with _translated(path):
            return f'"{self.filesystem.ukey(_name(path))}"'


class GetResult:
    """An object, or a range of it, which can be read at once or piece by piece.

    Arguments:
        store: where the object is.
        path: its path there.
        content_type: the type of the whole object.
        span: the first byte, and the one after the last.
        size: bytes of the whole object.
    """

    def __init__(
        self, store: BodyStore, path: str, content_type: str, span: tuple[int, int], size: int
    ) -> None:
        self._store, self._path, self._size = store, path, size
        self.attributes: Attributes = {"Content-Type": content_type}
        self.range = span
        """The first byte, and the one after the last."""

    @property
    def meta(self) -> "ObjectMeta":
        """The description of the whole object."""
        return self._store.head(self._path)

    def buffer(self) -> bytes:
        """Return all of it; a whole object is verified first."""
        start, end = self.range
        # An empty range, which `head` requests: no content is fetched for it.
        if start == end:
            return b""
        span = () if (start, end) == (0, self._size) else (start, end)
        with _translated(self._path):
            return bytes(self._store.filesystem.cat_file(_name(self._path), *span))

    def __iter__(self) -> Iterator[bytes]:
        """Yield all of it; a whole object is verified at the end."""
        start, end = self.range
        with _translated(self._path), self._store.filesystem.open(_name(self._path)) as file:
            file.seek(start)
            while start < end and (data := file.read(min(CHUNK, end - start))):
                start += len(data)
                yield data

    buffer_async = _threaded(buffer)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield all of it, read in a thread."""
        pieces = iter(self)
        # With a default, because `StopIteration` can't leave a thread through a future.
        while data := await asyncio.to_thread(next, pieces, b""):
            yield data


def _restored(filesystem: Any) -> BodyStore:
    store = BodyStore.__new__(BodyStore)
    store.filesystem, store._lock = filesystem, threading.RLock()
    return store


@contextlib.contextmanager
def _translated(path: str, *, writes: bool = False) -> Iterator[None]:
    """Raise obspec's errors for problems that it knows; others, such as a bad digest, stay ours."""
    try:
        yield
    except PermissionError as error:
        raise exceptions.PermissionDeniedError(str(error)) from error
    except FileNotFoundError as error:
        # Obspec's own `NotFoundError` is a `FileNotFoundError`, and is already translated.
        if isinstance(error, exceptions.BaseError):
            raise
        raise exceptions.NotFoundError(_no_object(path)) from error
    except OSError as error:
        kind = _ERRORS.get(error.errno)
        if kind is None:
            raise
        # When writing, nothing is missing: the path is a directory, or is below a file.
        if writes and kind is exceptions.NotFoundError:
            kind = exceptions.InvalidPathError
        raise kind(f"{path}: {error.strerror}") from error


def _name(path: str) -> str:
    return "/" + path.strip("/")


def _no_object(path: str) -> str:
    return f"there is no object at {path!r}"


def _not_supported(what: str, why: str) -> NoReturn:
    raise exceptions.NotSupportedError(f"{what} is not supported: {why}")


def _range_of(asked: Any, size: int, path: str) -> tuple[int, int]:
    """Return a range in obspec's form, cut at the size.

    Raises:
        BaseError: it is empty, or begins after the end.
    """
    if asked is None:
        return 0, size
    if isinstance(asked, dict):
        suffix = asked.get("suffix")
        start, end = (asked["offset"], size) if suffix is None else (max(size - suffix, 0), size)
    else:
        start, end = asked
    if not 0 <= start < min(end, size):
        raise exceptions.BaseError(f"{path}: {asked} is not a range of its {size:,} bytes")
    return start, min(end, size)


def _content_type(attributes: "Attributes | None", tags: dict[str, str] | None) -> str | None:
    if tags:
        _not_supported("tags", "parts have none")
    others = sorted((attributes or {}).keys() - {"Content-Type"})
    if others:
        _not_supported(others[0], "a part only has the attribute Content-Type")
    return (attributes or {}).get("Content-Type")


def _is_buffer(value: Any) -> bool:
    try:
        memoryview(value).release()
    except TypeError:
        return False
    return True
