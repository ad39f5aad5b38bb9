"""S3 as an fsspec filesystem, through boto3."""

import contextlib
import errno
import io
import os
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError
from fsspec import AbstractFileSystem

from messagebody.errors import LimitExceeded, ObjectNotFound, StoreError
from messagebody.s3 import _uploads as uploads
from messagebody.s3._client import Clients, S3Client, Session, Settings, sends_checksums
from messagebody.s3._faults import NativeFailure, code_of, status_of, translated
from messagebody.s3._files import S3File
from messagebody.s3._uploads import Target, split_path
from messagebody.storage._stores.base import CHUNK, Blob, Bytes, Upload

if TYPE_CHECKING:
    from messagebody.s3._obstore import Native


def directory_info(path: str) -> dict[str, Any]:
    """Return how fsspec describes a directory."""
    return {"name": path, "size": 0, "type": "directory"}


def file_info(bucket: str, item: Any) -> dict[str, Any]:
    """Return how fsspec describes an object that a listing holds."""
    return {
        "name": f"{bucket}/{item['Key']}",
        "size": item["Size"],
        "type": "file",
        "LastModified": item["LastModified"],
        "ETag": item.get("ETag"),
    }


def checksum_of(answer: Any) -> str | None:
    """Return the checksum of a whole object that a HEAD states, as `algorithm:hex`."""
    for name, value in answer.items():
        # That of an upload in parts is one of its parts' checksums: no ETag of a whole has a "-".
        if name in _CHECKSUMS and "-" not in value and "-" not in answer.get("ETag", ""):
            return f"{name.removeprefix('Checksum').lower()}:{b64decode(value).hex()}"
    return None


_CHECKSUMS = frozenset(
    f"Checksum{name}" for name in ("SHA256", "SHA1", "CRC32", "CRC32C", "CRC64NVME")
)
_NOT_OFFERED = frozenset({"NotImplemented", "MethodNotAllowed"})
_EMPTY_PAGES = 100
"""Pages with nothing in them, one after another, that are taken for a listing without end."""
_MOST_PAGES = 100_000
"""Pages of one listing: a hundred million objects, as services cut them."""


def listed(pages: Iterable[Any], members: tuple[str, ...], store: str, key: str) -> Iterator[Any]:
    """Yield the pages of a listing; one that repeats or never ends is an error, not a loop.

    Arguments:
        pages: the pages.
        members: what holds entries in a page.
        store: where, for the error.
        key: the prefix that was listed.
    """
    seen, empty = set[str](), 0
    for number, page in enumerate(pages):
        first = next((str(entry) for name in members for entry in page.get(name, [])), None)
        empty = empty + 1 if first is None else 0
        if first in seen or empty > _EMPTY_PAGES or number >= _MOST_PAGES:
            problem = "repeats" if first in seen else "has no end"
            raise StoreError(f"the server's listing {problem}", store, key)
        if first is not None:
            seen.add(first)
        yield page


def first_byte(answer: Any, start: int, store: str, key: str) -> int:
    """Return where an answer begins: servers that ignore ranges, or their status, say so here."""
    stated = answer.get("ContentRange")
    if stated is None:
        return 0
    match = re.match(r"bytes (\d+)-", stated)
    if match is None or int(match[1]) not in {0, start}:
        raise StoreError(f"the server answered another range than asked ({stated})", store, key)
    return int(match[1])


def cut(body: Any, skip: int, length: int | None) -> bytes:
    """Read a range; a server that ignores ranges sends everything, which is cut here."""
    while skip:
        skipped = len(body.read(min(skip, CHUNK)))
        if not skipped:
            return b""
        skip -= skipped
    if length is None:
        return bytes(body.read())
    found = io.BytesIO()
    while found.tell() < length and (chunk := body.read(min(length - found.tell(), CHUNK))):
        found.write(chunk)
    return found.getvalue()


LONGEST_LINK = 7 * 24 * 3600
"""Seconds: what signature version 4 allows a presigned URL to live."""


class S3FileSystem(AbstractFileSystem):  # type: ignore[misc]
    """Objects of S3 and compatible services as files; buckets are the top-level directories.

    Arguments:
        session: a boto3 session to take credentials from; without one a session is made from
            `profile` and the environment. A filesystem over a session object can't be pickled.
        **settings: the arguments of `Settings`.
    """

    protocol = ("s3",)
    root_marker = ""
    # Two sessions print alike, so an instance found in a cache could sign with foreign keys.
    cachable = False

    def __init__(self, *, session: Session | None = None, **settings: Any) -> None:
        super().__init__()
        known = {name: settings.pop(name) for name in _SETTINGS & settings.keys()}
        if settings:
            raise StoreError(
                f"s3:// stores take no option {', '.join(sorted(settings))}; they take "
                f"{', '.join(sorted(_SETTINGS | {'session'}))}. Keys and secrets come from the "
                "environment or a profile"
            )
        self.clients = Clients(Settings(**known), session)
        self.is_conditional = True
        self._native = _native(self.clients)

    @property
    def client(self) -> S3Client:
        """The boto3 client of this process."""
        return self.clients.get()

    @property
    def sends_digests(self) -> bool:
        """Whether whole objects are sent with their SHA-256, so that the service keeps it."""
        return self._native is None and sends_checksums(self.client)

    def __reduce__(self) -> Any:
        self._check_portable()
        return super().__reduce__()

    def to_json(self, *, include_password: bool = True) -> str:
        """Return the filesystem's settings as JSON; there is no password among them."""
        self._check_portable()
        return str(super().to_json(include_password=include_password))

    def _check_portable(self) -> None:
        if not self.clients.is_portable:
            raise TypeError("a filesystem over a boto3 session can't travel; give a profile's name")

    # Writing

    def put_blob(
        self, path: str, blob: Blob, *, content_type: str | None = None, if_absent: bool = False,
        by_content: bool = False,
    ) -> bool:  # fmt: skip
        """Write an object whole; return whether it was written.

        Arguments:
            path: bucket and key.
            blob: what.
            content_type: kept by the service.
            if_absent: leave an object that is there alone, and return False.
            by_content: the key is the content's digest.
        """
        target = Target(*split_path(path), content_type, by_content)
        settings = self.clients.settings
        native = self._usable_native()
        if native is not None and blob.size < settings.multipart_threshold:
            condition = if_absent and self.is_conditional
            with contextlib.suppress(NativeFailure):  # boto3 tries, and explains
                return native.put(
                    target.bucket, target.key, blob.read(), content_type, if_absent=condition
                )
        sizes = {"threshold": settings.multipart_threshold, "part_size": settings.part_size}
        with self._translated(path):
            try:
                condition = if_absent and self.is_conditional
                return uploads.put(self.client, target, blob, if_absent=condition, **sizes)
            except ClientError as error:
                if not if_absent or status_of(error) != 501:
                    raise
            # 501: the server knows no If-None-Match and stored nothing.
            self.is_conditional = False
            return uploads.put(self.client, target, blob, if_absent=False, **sizes)

    def _usable_native(self) -> "Native | None":
        return self._native if self._native is not None and self._native.is_usable else None

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        """Write bytes as one object; `mode="create"` refuses one that exists."""
        content_type = kwargs.get("content_type")
        absent = mode == "create"
        if not self.put_blob(path, Bytes(value), content_type=content_type, if_absent=absent):
            raise FileExistsError(path)

    def _open(
        self, path: str, mode: str = "rb", block_size: int | None = None, autocommit: bool = True,
        cache_options: dict[str, Any] | None = None, **kwargs: Any,
    ) -> S3File:  # fmt: skip
        # Early, for the error's sake; the condition of the request decides.
        if mode == "xb" and self.exists(path):
            raise FileExistsError(path)
        return S3File(
            self, path, mode, block_size or self.clients.settings.part_size, autocommit,
            cache_options=cache_options, **kwargs,
        )  # fmt: skip

    def touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        """Write an empty object."""
        if not truncate and self.exists(path):
            raise NotImplementedError("S3 can't change the time of an object alone")
        self.pipe_file(path, b"", **kwargs)

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """Copy an object on the server; a directory is left out."""
        (source, key), (bucket, name) = split_path(path1), split_path(path2)
        if self.isdir(path1):
            return
        with self._translated(path1):
            self.client.copy(
                {"Bucket": source, "Key": key}, bucket, name, Config=_plain_transfers()
            )

    def rm_file(self, path: str) -> None:
        """Delete an object."""
        bucket, key = split_path(path)
        with self._translated(path):
            self.client.delete_object(Bucket=bucket, Key=key)

    def _rm(self, path: str) -> None:
        self.rm_file(path)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Delete objects; a missing one is a FileNotFoundError."""
        found = self.expand_path(path, recursive=recursive, maxdepth=maxdepth)
        files = [each for each in found if self.isfile(each)]
        # Consoles make an empty object for a directory, whose key ends in "/".
        marks = [f"{each}/" for each in found if recursive and "/" in each and each not in files]
        if not files and not any(map(self._is_object, marks)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        for each in [*files, *filter(self._is_object, marks)]:
            self.rm_file(each)

    def _is_object(self, path: str) -> bool:
        return self._head(*split_path(path)) is not None

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        """Do nothing: directories are implied by keys, and buckets are made elsewhere."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Do nothing: directories are implied by keys."""

    def rmdir(self, path: str) -> None:
        """Do nothing: a directory is gone with its last object."""

    # Reading

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """Return size, content type and age of an object, or that it is a directory."""
        path = self._strip_protocol(path)
        bucket, _, key = path.partition("/")
        if not key:
            return self._bucket_info(bucket)
        found = self._head(bucket, key)
        if found is not None:
            return found
        # A directory is there if one key lies below it.
        if next(self._list(bucket, f"{key}/", limit=1), None) is None:
            raise ObjectNotFound(store=f"s3://{bucket}", key=key)
        return directory_info(path)

    def _bucket_info(self, bucket: str) -> dict[str, Any]:
        if bucket:
            with self._translated(bucket):
                self.client.head_bucket(Bucket=bucket)
        return directory_info(bucket)

    def _stat(self, bucket: str, key: str) -> dict[str, Any] | None:
        """Return size, age and checksum of an object, whatever transport tells it."""
        native = self._usable_native()
        if native is not None:
            with contextlib.suppress(NativeFailure):  # boto3 tries, and explains
                return native.head(bucket, key)
        return self._head(bucket, key, with_checksum=True)

    def _head(self, bucket: str, key: str, *, with_checksum: bool = False) -> dict[str, Any] | None:
        mode: Any = {"ChecksumMode": "ENABLED"} if with_checksum else {}
        try:
            with self._translated(f"{bucket}/{key}"):
                answer = self.client.head_object(Bucket=bucket, Key=key, **mode)
                return {
                    "name": f"{bucket}/{key}",
                    "size": answer["ContentLength"],
                    "type": "file",
                    "ContentType": answer.get("ContentType"),
                    "LastModified": answer["LastModified"],
                    "ETag": answer.get("ETag"),
                    "checksum": checksum_of(answer),
                }
        except ObjectNotFound:
            return None

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        """List a directory."""
        path = self._strip_protocol(path).rstrip("/")
        bucket, _, key = path.partition("/")
        if not bucket:
            entries = self._buckets()
        else:
            prefix = f"{key}/" if key else ""
            # Consoles make an empty object for a directory; it is not in itself.
            entries = [e for e in self._list(bucket, prefix, "/") if e["name"] != f"{path}/"]
            if not entries and key:
                entries = [self.info(path)]
        return entries if detail else sorted(entry["name"] for entry in entries)

    def _buckets(self) -> list[dict[str, Any]]:
        with self._translated(""):
            return [directory_info(each["Name"]) for each in self.client.list_buckets()["Buckets"]]

    def find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False,
        prefix: str = "", **kwargs: Any,
    ) -> Any:  # fmt: skip
        """Return every object below a path, by one listing where that suffices.

        Arguments:
            path: a directory, or an object, which is all that is found.
            maxdepth: levels to go down; all if None.
            withdirs: whether directories are returned too.
            detail: whether to describe what is found, by path.
            prefix: what the rest of a path, below `path`, begins with.
            **kwargs: passed on to `ls`.
        """
        path = self._strip_protocol(path).rstrip("/")
        bucket, _, key = path.partition("/")
        if not bucket or maxdepth is not None or withdirs:
            found = super().find(path, maxdepth, withdirs, detail=True, **kwargs)
            begin = f"{path}/{prefix}" if prefix else ""
            found = {name: each for name, each in found.items() if name.startswith(begin)}
            return found if detail else sorted(found)
        found = {e["name"]: e for e in self._list(bucket, (f"{key}/" if key else "") + prefix)}
        if not found and not prefix and key and self.isfile(path):
            found = {path: self.info(path)}
        return found if detail else sorted(found)

    def _list(
        self, bucket: str, prefix: str, delimiter: str = "", limit: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield what a listing holds."""
        request: dict[str, Any] = {"Bucket": bucket, "Prefix": prefix, "Delimiter": delimiter}
        with self._translated(f"{bucket}/{prefix}"):
            pages = self.client.get_paginator("list_objects_v2").paginate(
                **request, PaginationConfig={"MaxItems": limit} if limit else {}
            )
            for page in listed(pages, ("Contents", "CommonPrefixes"), f"s3://{bucket}", prefix):
                for each in page.get("CommonPrefixes", []):
                    yield directory_info(f"{bucket}/{each['Prefix'].rstrip('/')}")
                for item in page.get("Contents", []):
                    yield file_info(bucket, item)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any
    ) -> bytes:
        """Return an object's bytes, or some of them."""
        bucket, key = split_path(self._strip_protocol(path))
        # Counted from the end, as slices are: the size has to be asked.
        if (start or 0) < 0 or (end is not None and end < 0):
            size = self.info(path)["size"]
            start, end = slice(start, end).indices(size)[:2]
        if end is not None and end <= (start or 0):
            return b""
        return self._read(bucket, key, start or 0, end)

    def _read(self, bucket: str, key: str, start: int, end: int | None) -> bytes:
        request: dict[str, Any] = {"Bucket": bucket, "Key": key}
        if start or end is not None:
            request["Range"] = f"bytes={start}-{'' if end is None else end - 1}"
        with self._translated(f"{bucket}/{key}"):
            try:
                answer = self.client.get_object(**request)
            except ClientError as error:
                if status_of(error) == 416 or code_of(error) == "InvalidRange":
                    return b""  # the range begins where the object ends
                raise
            with contextlib.closing(answer["Body"]) as body:
                skip = start - first_byte(answer, start, f"s3://{bucket}", key)
                return cut(body, skip, None if end is None else end - start)

    def iter_chunks(self, path: str, length: int = CHUNK) -> Iterator[bytes]:
        """Yield an object from its first byte to its last, in one request."""
        bucket, key = split_path(path)
        native = self._usable_native()
        if native is not None:
            chunks = native.stream(bucket, key)
            try:
                # The first chunk shows whether the fast way works, while boto3 still can begin
                # anew.
                first = next(chunks, b"")
            except NativeFailure:
                pass  # boto3 tries, and explains
            else:
                yield first
                yield from _rest(chunks, f"s3://{bucket}", key)
                return
        with self._translated(path):
            answer = self.client.get_object(Bucket=bucket, Key=key)
            with contextlib.closing(answer["Body"]) as body:
                if answer["ContentLength"] <= _WHOLE:
                    yield body.read()
                else:
                    yield from body.iter_chunks(length)

    def get_file(
        self, rpath: str, lpath: Any, callback: Any = None, outfile: Any = None, **kwargs: Any
    ) -> None:
        """Copy an object to a local file, from `iter_chunks`."""
        from fsspec.callbacks import NoOpCallback

        super().get_file(rpath, lpath, callback=callback or NoOpCallback(), outfile=outfile)

    def sign(
        self, path: str, expiration: int = 3600, *, content_type: str | None = None,
        disposition: str | None = None, **kwargs: Any,
    ) -> str:  # fmt: skip
        """Return a URL that lets everybody who has it read the object.

        Arguments:
            path: bucket and key.
            expiration: seconds the URL works, at most seven days.
            content_type: what the service is to answer as the type.
            disposition: what the service is to answer as `Content-Disposition`.
            **kwargs: ignored, for fsspec's callers.
        """
        bucket, key = split_path(self._strip_protocol(path))
        if not 0 < expiration <= LONGEST_LINK:
            raise LimitExceeded(
                f"a signed link lives from 1 second to 7 days, got {expiration:,} seconds",
                f"s3://{bucket}", key,
            )  # fmt: skip
        asked = {"ResponseContentType": content_type, "ResponseContentDisposition": disposition}
        request = {"Bucket": bucket, "Key": key} | {k: v for k, v in asked.items() if v}
        with self._translated(path):
            return self.client.generate_presigned_url(
                "get_object", Params=request, ExpiresIn=expiration
            )

    def created(self, path: str) -> datetime:
        """Return when an object was written: objects are never changed."""
        return self.modified(path)

    def modified(self, path: str) -> datetime:
        """Return when an object was written."""
        moment = self.info(path).get("LastModified")
        if not isinstance(moment, datetime):
            raise IsADirectoryError(path)
        return moment

    def ukey(self, path: str) -> Any:
        """Return the object's ETag: it changes with the content."""
        return self.info(path).get("ETag")

    # Unfinished uploads

    def iter_uploads(self, path: str) -> Iterator[Upload]:
        """Yield the multipart uploads below a path that were not finished.

        Servers that cannot list them yield none; they may keep some all the same.
        """
        bucket, _, prefix = path.partition("/")
        with self._translated(path):
            pages = self.client.get_paginator("list_multipart_uploads").paginate(
                Bucket=bucket, Prefix=prefix
            )
            try:
                for page in listed(pages, ("Uploads",), f"s3://{bucket}", prefix):
                    for each in page.get("Uploads", []):
                        yield Upload(each["Key"], each["UploadId"], each["Initiated"].timestamp())
            except ClientError as error:
                if status_of(error) not in {405, 501} and code_of(error) not in _NOT_OFFERED:
                    raise

    def abort_upload(self, bucket: str, upload: Upload) -> None:
        """Delete the parts of an unfinished upload; a missing one is not an error."""
        with self._translated(f"{bucket}/{upload.key}"):
            try:
                self.client.abort_multipart_upload(
                    Bucket=bucket, Key=upload.key, UploadId=upload.id
                )
            except ClientError as error:
                if code_of(error) != "NoSuchUpload":
                    raise

    @contextlib.contextmanager
    def _translated(self, path: str) -> Iterator[None]:
        bucket, _, key = path.partition("/")
        with translated(f"s3://{bucket}", key):
            yield


_WHOLE = 8 * 1024 * 1024
"""Bytes up to which an object is read in one piece: every piece costs copies."""

_SETTINGS = frozenset(name for name in Settings.__annotations__ if not name.startswith("_"))


def _native(clients: Clients) -> "Native | None":
    if clients.settings.transport != "obstore":
        return None
    from messagebody.s3._obstore import Native

    return Native(clients)


def _rest(chunks: Iterator[bytes], store: str, key: str) -> Iterator[bytes]:
    try:
        yield from chunks
    except NativeFailure as error:
        raise StoreError("the server was lost in the middle of the object", store, key) from error


def _plain_transfers() -> Any:
    from boto3.s3.transfer import TransferConfig

    # The CRT client ignores endpoint_url and would send data to AWS.
    return TransferConfig(preferred_transfer_client="classic")
