"""The content of a body's files, including the content behind references."""

import contextlib
import errno
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from fsspec import AbstractFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK

from messagebody._model.access import parts_of
from messagebody._model.part import Part
from messagebody.filesystem._files import PartReader, described_stream
from messagebody.filesystem._listing import BodyListing
from messagebody.filesystem._paths import concerning, fail
from messagebody.filesystem._transfers import FilesOnly, Pairs, results_of_threads
from messagebody.filesystem._wholes import Wholes
from messagebody.storage._references.sources import NoRanges


class BodyReader(BodyListing):
    """A body as files to list and read."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._wholes = Wholes()
        super().__init__(*arguments, **options)

    def _inline(self, path: str) -> bytes | None:
        """Return content that is in the message; None if it is elsewhere or the part is missing."""
        record = parts_of(self.body).find(self._name(path))
        content = None if record is None else record.content
        return content.encode() if isinstance(content, str) else content

    def _reader(self, path: str, *, whole: bool = False) -> Any:
        """Open a file for reading. With `whole`, a reference is fetched and verified first."""
        path = self._strip_protocol(path)
        name = self._url_of(path)
        if (content := self._inline(path)) is not None:
            return PartReader(path, name, content)
        part = self._file(path)
        with concerning(path):
            if not (whole and part.is_reference):
                return described_stream(part.open(), path, name, self._known_size(part))
            resolver, budget = self._access(part)
            spool = resolver.fetch(
                str(part.url), size=part.size, digest=part.digest, subject=part.label, budget=budget
            )
        return described_stream(spool.stream(), path, name, spool.size)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """Return the content of a file, or a range; of a reference only the range is requested."""
        path = self._strip_protocol(path)
        is_whole = start is None and end is None
        if is_whole and (content := self._inline(path)) is not None:
            return content
        part = self._file(path)
        with concerning(path):
            return part.read_bytes() if is_whole else self._range(path, part, start, end)

    def _range(self, path: str, part: Part, start: int | None, end: int | None) -> bytes:
        size = self._known_size(part)
        if size is None and (end is None or end < 0 or (start or 0) < 0):
            size = self._requested_size(path, part)
        if size is not None:
            # Some servers refuse a range that goes beyond the end.
            start, end, _ = slice(start, end).indices(size)
        start, end = start or 0, end or 0
        # Complete content can be verified, so it is.
        is_whole = size is not None and (start, end) == (0, size)
        if is_whole:
            return part.read_bytes()
        if part.is_reference:
            return self._range_of_reference(part, start, end)
        with part.open() as stream:
            stream.seek(start)
            return stream.read(max(end - start, 0))

    def _range_of_reference(self, part: Part, start: int, end: int) -> bytes:
        resolver, budget = self._access(part)
        url, size, digest = str(part.url), part.size, part.digest
        key = resolver, url, size, digest
        if not (resolver.require_digest or self._wholes.has(key)):
            # Some servers send everything, whatever range is asked for.
            with contextlib.suppress(NoRanges):
                return resolver.read_range(
                    url, start, end, subject=part.label, budget=budget, skips=False
                )
        fetch = partial(resolver.fetch, url, size=size, digest=digest, subject=part.label)
        return self._wholes.cut(key, start, end, partial(fetch, budget=budget))

    def cat(
        self, path: Any, recursive: bool = False, on_error: str = "raise", **options: Any
    ) -> Any:
        """Return the content of a file, or a dict of several; references are read in parallel."""
        paths = self.expand_path(path, recursive=recursive)
        if [path] == paths or (isinstance(path, str) and paths == [self._strip_protocol(path)]):
            return self.cat_file(paths[0], **options)
        files = [each for each in paths if self._has(each) or not recursive]
        read = partial(_outcome, partial(self.cat_file, **options), raises=on_error == "raise")
        found = zip(files, self._map_of(files)(read, files), strict=True)
        if on_error == "omit":
            return {each: data for each, data in found if not isinstance(data, Exception)}
        return dict(found)

    def cat_ranges(
        self, paths: list[str], starts: Any, ends: Any, max_gap: int | None = None,
        on_error: str = "return", **options: Any,
    ) -> list[Any]:  # fmt: skip
        """Return ranges of files; see fsspec. References are read in parallel."""
        if max_gap is not None:
            raise NotImplementedError("max_gap must be None; ranges are requested one by one")
        count = len(paths)
        starts = starts if isinstance(starts, list) else [starts] * count
        ends = ends if isinstance(ends, list) else [ends] * count
        ranges = [*zip(paths, starts, ends, strict=True)]

        def read(position: int) -> Any:
            return _outcome(self.cat_file, *ranges[position], raises=on_error != "return")

        return [*results_of_threads(read, range(count))] if self._any_remote(paths) else [
            read(position) for position in range(count)
        ]  # fmt: skip

    def _any_remote(self, paths: Iterable[str]) -> bool:
        parts = (self._part(self._strip_protocol(each)) for each in paths)
        return any(part is not None and part.is_reference for part in parts)

    def _map_of(self, paths: Iterable[str]) -> Callable[[Any, Iterable[Any]], Iterator[Any]]:
        """Return `map`, or a `map` with threads if there are references, which are slow to read."""
        return results_of_threads if self._any_remote(paths) else map

    def read_text(self, path: str, *args: Any, **options: Any) -> Any:
        """Return the content of a file as text, verified; see fsspec."""
        return super().read_text(path, *args, whole=True, **options)

    def get_file(self, rpath: str, lpath: Any = None, **options: Any) -> None:
        """Copy a file to a local one, after its content is verified; see fsspec."""
        rpath = self._strip_protocol(rpath)
        if not self._is_directory(rpath):
            self._check_there(rpath)  # before a local directory is made for it
        source = FilesOnly(self) if self._has(rpath) else self
        AbstractFileSystem.get_file(source, rpath, lpath, whole=True, **options)

    def get(
        self, rpath: Any, lpath: Any, recursive: bool = False, callback: Any = DEFAULT_CALLBACK,
        maxdepth: int | None = None, **options: Any,
    ) -> None:  # fmt: skip
        """Copy to local files; references are fetched in parallel.

        Raises:
            OSError: `EINVAL`: no local file can have a name; nothing is written.
            NotADirectoryError: a name is both a file and a directory; nothing is written.
            FileExistsError: two files would be the same local file; nothing is written.
        """
        plan = Pairs(self).note_get(rpath, lpath, recursive=recursive, maxdepth=maxdepth)
        for source, target in plan:
            if "\0" in target:  # a quoted name may hold any byte, and a local one may not
                fail(errno.EINVAL, source, "Invalid argument: no local file can have this name")
        callback.set_size(len(plan))

        def fetch(pair: tuple[str, str]) -> None:
            with callback.branched(*pair) as child:
                self.get_file(*pair, callback=child, **options)

        for _ in self._map_of(source for source, _ in plan)(fetch, plan):
            callback.relative_update()

    def sign(self, path: str, expiration: int = 100, **_: Any) -> str:
        """Return a signed URL of a reference that an explicit allow entry covers.

        Raises:
            NotImplementedError: the content is in the message.
            UnsafeReference: no entry of the resolver names the store that signs.
        """
        path = self._strip_protocol(path)
        part = self._file(path)
        if part.url is None:
            raise NotImplementedError(f"{part.label} is in the message; nothing to sign")
        with concerning(path):
            return self._access(part)[0].sign(
                part.url, expires=expiration, content_type=part.content_type, subject=part.label
            )


def _outcome(act: Any, *args: Any, raises: bool) -> Any:
    """Return what a call returns, or its exception if `raises` is false."""
    try:
        return act(*args)
    except Exception as error:
        if raises:
            raise
        return error
