"""Sources of content: a `data:` URL, an object of a store, or a file of a web server."""

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin

import attrs

from messagebody._wire import data_urls
from messagebody.errors import LimitExceeded, ObjectNotFound, StoreError
from messagebody.storage._references.limits import FetchBudget
from messagebody.storage._references.url import Url
from messagebody.storage._stores.base import Store

if TYPE_CHECKING:
    from messagebody.storage._references.http import ServerAnswer, Web


class NoRanges(Exception):
    """Report a server that sends the whole file where a range of it was asked for."""


class Source(Protocol):
    """A source of content, which can be read completely or by ranges."""

    def size(self, budget: FetchBudget) -> int:
        """Return the size in bytes, by one request."""

    def stream(self, budget: FetchBudget, deadline: float) -> Iterator[bytes]:
        """Yield the content in order."""

    def read_range(
        self, budget: FetchBudget, deadline: float, start: int, end: int, *, skips: bool = True
    ) -> bytes:
        """Return the bytes from `start` up to, not including, `end`.

        Arguments:
            budget: what may be read.
            deadline: when to stop.
            start: the first byte.
            end: the byte after the last.
            skips: whether to read all bytes before `start`, if the server sends no ranges.

        Raises:
            NoRanges: bytes would have to be skipped, and are not to be.
        """


@attrs.frozen
class DataSource:
    """The content of a `data:` URL."""

    url: str = attrs.field(repr=False)

    def _content(self, budget: FetchBudget) -> bytes:
        return data_urls.decode(self.url, max_bytes=budget.limits.part_bytes)[1]

    def size(self, budget: FetchBudget) -> int:
        """Return the number of bytes in the URL."""
        return len(self._content(budget))

    def stream(self, budget: FetchBudget, deadline: float) -> Iterator[bytes]:  # noqa: ARG002
        """Yield the content."""
        yield self._content(budget)

    def read_range(
        self, budget: FetchBudget, deadline: float, start: int, end: int, *, skips: bool = True  # noqa: ARG002
    ) -> bytes:  # fmt: skip
        """Return a range of the content."""
        return self._content(budget)[start:end]


@attrs.frozen
class StoreSource:
    """An object of the store of an allow entry."""

    store: Store
    key: str

    def size(self, budget: FetchBudget) -> int:  # noqa: ARG002
        """Return the size that the store has."""
        found = self.store.stat(self.key)
        if found is None:
            raise ObjectNotFound(store=self.store.url, key=self.key)
        return found.size

    def stream(self, budget: FetchBudget, deadline: float) -> Iterator[bytes]:
        """Yield the content of the object."""
        for chunk in self.store.stream(self.key):
            budget.check_time(deadline)
            yield chunk

    def read_range(
        self, budget: FetchBudget, deadline: float, start: int, end: int, *, skips: bool = True  # noqa: ARG002
    ) -> bytes:  # fmt: skip
        """Return a range of the object."""
        budget.check_time(deadline)
        found = self.store.read_range(self.key, start, end)
        budget.take_bytes(len(found))
        return found


@attrs.frozen
class WebSource:
    """A file at an http or https URL.

    Arguments:
        web: the HTTP client.
        url: the checked URL.
        is_trusted: whether an allow entry matches, so that the host may be private.
        follow: a function that checks the URL of a redirect and returns its source.
        headers: headers of every request; a redirect does not get them.
    """

    web: "Web"
    url: Url
    is_trusted: bool
    follow: Callable[[str], "WebSource"]
    headers: dict[str, str] = attrs.field(factory=dict, repr=False)

    def size(self, budget: FetchBudget) -> int:
        """Return the size from a HEAD request."""
        with budget.part() as deadline, self._request(budget, deadline, "HEAD", {}) as answer:
            answer.raise_for_status()
            if answer.length is None:
                raise StoreError("the server does not say how large the file is")
            return answer.length

    def stream(self, budget: FetchBudget, deadline: float) -> Iterator[bytes]:
        """Yield the body of the response."""
        with self._request(budget, deadline, "GET", {}) as answer:
            # Without a digest, a part of the file could be mistaken for the whole.
            if answer.status == 206:
                raise StoreError("the server sent only a part of the file")
            answer.raise_for_status()
            answer.check_framing()
            if answer.length is not None:
                budget.check_size(answer.length)
            yield from answer.body()

    def read_range(
        self, budget: FetchBudget, deadline: float, start: int, end: int, *, skips: bool = True
    ) -> bytes:
        """Return a range; if the server sends the whole file, the rest is not read."""
        headers = {"Range": f"bytes={start}-{end - 1}"}
        with self._request(budget, deadline, "GET", headers) as answer:
            # The range begins past the end of the file, where reads return nothing.
            if answer.status == 416:
                return b""
            answer.raise_for_status()
            answer.check_framing()
            first, stop = answer.content_range()
            if first < start and not skips:
                raise NoRanges
            # Some servers send the whole file (200), which is cut; other ranges are wrong bytes.
            if first not in {0, start}:
                raise StoreError("the server sent another range than the requested one")
            promised = end if stop is None else min(end, stop)
            found = _cut(answer.body(), start - first, end - first, budget)
            if answer.status == 206 and start + len(found) < promised:
                raise StoreError("the server sent less than the range that it promised")
            return found

    def send(
        self,
        budget: FetchBudget,
        deadline: float,
        method: str,
        headers: dict[str, str],
        content: Iterable[bytes] | None = None,
        patience: float = math.inf,
    ) -> "contextlib.AbstractContextManager[ServerAnswer]":
        """Send one request, whose answer a block gets; a redirect is not followed.

        Arguments:
            budget: what may be requested.
            deadline: when to stop.
            method: such as "PUT".
            headers: what is asked for, and the length and type of content.
            content: the content, in pieces.
            patience: the seconds in which it is answered, once it was sent.
        """
        return self.web.request(
            self.url,
            budget=budget,
            deadline=deadline,
            is_trusted=self.is_trusted,
            method=method,
            headers=self.headers | headers,
            content=content,
            patience=patience,
        )

    @contextlib.contextmanager
    def _request(
        self, budget: FetchBudget, deadline: float, method: str, headers: dict[str, str]
    ) -> "Iterator[ServerAnswer]":
        """Send a request and follow its redirects, each checked like a new reference."""
        source = self
        with contextlib.ExitStack() as stack:
            for _ in range(budget.limits.redirects + 1):
                # Close the connection of the redirect before opening the next one.
                stack.close()
                answer = stack.enter_context(source.send(budget, deadline, method, headers))
                if not answer.is_redirect:
                    yield answer
                    return
                source = source.follow(source.join(answer.location))
        raise LimitExceeded(f"over {budget.limits.redirects} redirects (limit redirects)")

    def join(self, location: str) -> str:
        """Return the absolute URL of a redirect."""
        url = self.url
        port = "" if url.has_default_port else f":{url.port}"
        try:
            # Relative to the checked components, never to the text of the reference.
            return urljoin(f"{url.scheme}://{url.host}{port}{url.target}", location)
        except ValueError as error:
            raise StoreError("a redirect to an invalid URL") from error


def _cut(body: Iterator[bytes], start: int, end: int, budget: FetchBudget) -> bytes:
    """Return a slice of a response body, which is read only up to the end of the slice."""
    found, position = bytearray(), 0
    for chunk in body:
        budget.take_bytes(len(chunk))
        found += chunk[max(0, start - position) : max(0, end - position)]
        position += len(chunk)
        if position >= end:
            break
    return bytes(found)
