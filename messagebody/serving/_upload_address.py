"""Upload addresses: servers of messages that take a part before the message that refers to it.

A part is announced, put at the place that the server names, and referred to by the URL of that
place. So its URL does not follow from its digest, and is known only when the part was put.
"""

import json
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import attrs

from messagebody._core import (
    JSON,
    KEY_PREFIX,
    base64,
    from_hex_digits,
    is_digest,
    is_web_url,
    raw_digest,
    redact_url,
    require_resolver,
    require_token,
)
from messagebody.errors import (
    AccessDenied,
    InvalidArgument,
    ObjectNotFound,
    StoreError,
    UnsafeReference,
)
from messagebody.storage import Blob, FetchBudget, FetchLimits, Resolver, Stat, Store
from messagebody.storage._references.sources import WebSource
from messagebody.storage._references.url import Closed, Malformed, check_path, parse
from messagebody.storage._stores.objects import STAT_FIRST

_SUBJECT: Final = "the upload address"
_PIECE: Final = 64 * 1024
"""Bytes that are sent at a time."""
_PACE: Final = 1024
"""Bytes per second that a connection has to send."""
_PACE_STORING: Final = 16 * 1024 * 1024
"""Bytes per second that a server has to store of what it got."""
_ROOM: Final = 256
"""Characters that the URL of a place may have more than the address."""


@attrs.frozen
class _NamedPlace:
    """Where the server takes the content of one part."""

    url: str
    size: int
    source: WebSource


class UploadAddress(Store):
    """The address at which a server of messages takes parts, as a store for `offload`.

    A message that refers to such a part is for this server, which keeps the content when it gets
    the message; what no message refers to goes after a day. Nothing is listed or deleted there.

    Arguments:
        url: the address, such as "https://agent.example/uploads/".
        token: what writers show; it goes to this server only.
        resolver: decides whether the server may be asked; by default, all https servers with public
            addresses may.

    Raises:
        UnsafeReference: the resolver does not allow the server.
        InvalidArgument: the URL has a query, or the token is none.

    Examples:
        >>> address = UploadAddress("https://agent.example/uploads/", token="a secret")
        >>> address
        <store https://agent.example/uploads>
    """

    is_asked_first = False  # each message needs a place of its own, whose time begins now

    def __init__(
        self, url: str, *, token: str | None = None, resolver: Resolver | None = None
    ) -> None:
        require_resolver(resolver)
        if not is_web_url(url) or not {"?", "#"}.isdisjoint(url):
            got = redact_url(url) if isinstance(url, str) else None
            expected = "an upload address such as https://agent.example/uploads/"
            raise InvalidArgument(expected, url, got=got)
        self.url = url.rstrip("/")
        self._resolver = resolver or Resolver(public_https=True)
        self._headers = {} if token is None else {"Authorization": f"Bearer {require_token(token)}"}
        self._budget = FetchBudget(_limits_for(self._resolver))
        self._places: dict[str, _NamedPlace] = {}
        self._keys: dict[str, str] = {}  # by the URLs of their places
        try:
            self._source = self._source_of(self.url)
        except UnsafeReference as error:
            error.add_note("The resolver of an upload address: storage_options={'resolver': …}")
            raise

    def url_of(self, key: str) -> str:
        """Return the URL of the place of a part; before it is put, as long as it may become."""
        found = self._places.get(key)
        return f"{self.url}/".ljust(self._longest, "-") if found is None else found.url

    def stat(self, key: str) -> Stat | None:
        """Return what the server says of a part that was put, or announced again."""
        found = self._places.get(key)
        return None if found is None else self._stat(found, key)

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        """Announce a part and put it; a large one only if it is not there yet."""
        digest = from_hex_digits(key.removeprefix(KEY_PREFIX))
        if not is_digest(digest):
            raise StoreError("an upload address takes content by its digest only", self.url, key)
        with self._naming_the_address():
            place = self._announce(digest, blob.size, content_type)
            if place.url == self.url or self._keys.setdefault(place.url, key) != key:
                raise StoreError("the server named a place that is not for this part alone")
            is_new = not (if_absent and blob.size > STAT_FIRST and self._stat(place, key))
            if is_new:
                self._send(place, digest, blob, content_type)
        before = self._places.get(key, place)
        self._places[key] = place
        if before.url != place.url:
            self._keys.pop(before.url, None)
        return is_new

    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return a range of a part that was put."""
        place = self._place_of(key)
        with self._naming_the_address():
            until = self._deadline(place.size)
            return place.source.read_range(self._budget, until, start, end)

    def stream(self, key: str) -> Iterator[bytes]:
        """Yield the content of a part that was put."""
        place = self._place_of(key)
        with self._naming_the_address():
            yield from place.source.stream(self._budget, self._deadline(place.size))

    def iter_objects(self) -> Iterator[Stat]:
        """Raise an error, as no server lists what was put."""
        raise StoreError("an upload address does not list what was put there", self.url)

    def delete(self, key: str) -> None:
        """Raise an error, as the server deletes by itself what no message refers to."""
        raise StoreError("at an upload address, only the server deletes", self.url, key)

    # Requests

    def _announce(self, digest: str, size: int, content_type: str) -> _NamedPlace:
        told = json.dumps({"size": size, "digest": digest, "contentType": content_type}).encode()
        headers = {"Content-Type": JSON, "Content-Length": str(len(told))}
        until = self._deadline(len(told))
        with self._source.send(self._budget, until, "POST", headers, [told]) as answer:
            _require(answer, {201})
            return self._place(self._source.join(answer.location), size)

    def _place(self, url: str, size: int) -> _NamedPlace:
        """Return the place that the server named, which must be its own and hold no secret."""
        try:
            parsed = parse(url)
            check_path(parsed)
        except Malformed as error:
            raise StoreError(f"the URL of the place that the server named {error}") from error
        if parsed.origin != self._source.url.origin:
            raise StoreError(f"the server named a place on another server, {parsed.host}")
        if not {"?", "#"}.isdisjoint(url):
            problem = "has a query or fragment, which messages don't refer to, as it may be a key"
            raise StoreError(f"the URL of the place that the server named {problem}")
        if len(url) > self._longest:
            problem = f"has {len(url):,} characters, over {self._longest:,}"
            raise StoreError(f"the URL of the place that the server named {problem}")
        return _NamedPlace(url, size, self._source_of(url))

    def _send(self, place: _NamedPlace, digest: str, blob: Blob, content_type: str) -> None:
        headers = {
            "Content-Type": content_type,
            "Content-Length": str(blob.size),
            "Content-Digest": f"sha-256=:{base64.encode(raw_digest(digest))}:",
        }
        until = self._deadline(blob.size)
        patience = self._budget.limits.part_seconds + blob.size / _PACE_STORING
        with place.source.send(
            self._budget, until, "PUT", headers, _pieces(blob), patience
        ) as answer:
            _require(answer, {200, 201, 204})
            if answer.is_early:
                raise StoreError("the server hung up before it had all of the content")

    def _stat(self, place: _NamedPlace, key: str) -> Stat | None:
        try:
            return Stat(key, place.source.size(self._budget), None)
        except (StoreError, UnsafeReference):
            return None  # not every server says it, and none has to

    # Rules

    @property
    def _longest(self) -> int:
        return len(self.url) + _ROOM

    def _source_of(self, url: str) -> WebSource:
        source = self._resolver.source(url, subject=_SUBJECT)
        if not isinstance(source, WebSource):
            raise UnsafeReference(_SUBJECT, f"{redact_url(self.url)} is that of an allowed store")
        return attrs.evolve(source, headers=self._headers)

    def _place_of(self, key: str) -> _NamedPlace:
        found = self._places.get(key)
        if found is None:
            hint = "a resolver reads what was put at its URL: Resolver(allow=['https://host/'])"
            raise ObjectNotFound(f"nothing was put under this key; {hint}", self.url, key)
        return found

    def _deadline(self, size: int) -> float:
        return time.monotonic() + self._budget.limits.part_seconds + size / _PACE

    @contextmanager
    def _naming_the_address(self) -> Iterator[None]:
        """Name the address in every error, but no place: whoever knows it reads the part."""
        try:
            yield
        except Closed as error:
            problem = f"{self.url} leads to a host with {error.problem}"
            raise UnsafeReference(_SUBJECT, problem) from error
        except StoreError as error:
            if error.store:
                raise
            kind: Any = type(error)
            raise kind(error.problem, self.url) from error.__cause__


def _limits_for(resolver: Resolver) -> FetchLimits:
    """Return the limits of a resolver, without those on what strangers make a program read."""
    return attrs.evolve(
        resolver.limits,
        part_bytes=sys.maxsize,
        body_bytes=sys.maxsize,
        fetches=sys.maxsize,
        body_seconds=math.inf,
    )


def _pieces(blob: Blob) -> Iterator[bytes]:
    """Yield content, its last piece only when the blob is known to be whole.

    A server that does not get all that was announced stores nothing.
    """
    held, size = b"", 0
    for piece in blob.buffers(_PIECE):
        yield held
        held = piece
        size += len(piece)
        if size > blob.size:
            break
    if size != blob.size:
        raise StoreError("the content has another size than before")
    yield held


def _require(answer: Any, expected: set[int]) -> None:
    """Raise an error for an answer of another status."""
    status = answer.status
    if status in expected:
        return
    if answer.is_redirect:
        raise StoreError(f"the server redirects (status {status}), and uploads don't follow")
    if status in {401, 403}:
        hint = "writers show a token: storage_options={'token': …}"
        raise AccessDenied(f"the server refuses (status {status}); {hint}")
    if status in {404, 405}:
        hint = "a server of messages takes them at https://host/uploads/"
        raise StoreError(f"the server takes no uploads here (status {status}); {hint}")
    if status == 413:
        raise StoreError(f"the part is larger than the server takes (status {status})")
    raise StoreError(f"the server answered with status {status}")
