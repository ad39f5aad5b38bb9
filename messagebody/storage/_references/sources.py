"""Sources of content: a data URL, an object of a store, or a file of a web server."""

import contextlib
from collections.abc import Callable, Iterator
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


class Source(Protocol):
    """Something that can be read: whole, in part, or asked for its size."""

    def size(self, budget: FetchBudget) -> int:
        """Return the size in bytes, by asking once."""

    def stream(self, budget: FetchBudget, deadline: float) -> Iterator[bytes]:
        """Yield the content from its first byte to its last."""

    def read_range(self, budget: FetchBudget, deadline: float, start: int, end: int) -> bytes:
        """Return the bytes from `start` up to, not including, `end`."""


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

    def read_range(self, budget: FetchBudget, deadline: float, start: int, end: int) -> bytes:  # noqa: ARG002
        """Return some bytes of the content."""
        return self._content(budget)[start:end]


@attrs.frozen
class StoreSource:
    """An object of a store that an allow entry brings along."""

    store: Store
    key: str

    def size(self, budget: FetchBudget) -> int:  # noqa: ARG002
        """Ask the store (HEAD)."""
        found = self.store.stat(self.key)
        if found is None:
            raise ObjectNotFound(store=self.store.url, key=self.key)
        return found.size

    def stream(self, budget: FetchBudget, deadline: float) -> Iterator[bytes]:
        """Yield the object."""
        for chunk in self.store.stream(self.key):
            budget.check_time(deadline)
            yield chunk

    def read_range(self, budget: FetchBudget, deadline: float, start: int, end: int) -> bytes:
        """Return some bytes of the object."""
        budget.check_time(deadline)
        found = self.store.read_range(self.key, start, end)
        budget.take_bytes(len(found))
        return found


@attrs.frozen
class WebSource:
    """A file behind an http or https URL.

    Arguments:
        web: sends the requests.
        url: the checked URL.
        is_trusted: whether an allow entry names it, so that its host may be private.
        follow: gives the verdict on where a redirect leads.
    """

    web: "Web"
    url: Url
    is_trusted: bool
    follow: Callable[[str], "WebSource"]

    def size(self, budget: FetchBudget) -> int:
        """Ask the server (HEAD)."""
        with budget.part() as deadline, self._request(budget, deadline, "HEAD", {}) as answer:
            answer.raise_for_status()
            if answer.length is None:
                raise StoreError("the server does not say how large the file is")
            return answer.length

    def stream(self, budget: FetchBudget, deadline: float) -> Iterator[bytes]:
        """Yield the body of the answer."""
        with self._request(budget, deadline, "GET", {}) as answer:
            # A part taken for the whole would be verified only where a digest is stated.
            if answer.status == 206:
                raise StoreError(
                    "the server sent a part of the file, where the whole was asked for"
                )
            answer.raise_for_status()
            answer.check_framing()
            yield from answer.body()

    def read_range(self, budget: FetchBudget, deadline: float, start: int, end: int) -> bytes:
        """Ask for some bytes; of a server that sends everything, the rest is not read."""
        headers = {"Range": f"bytes={start}-{end - 1}"}
        with self._request(budget, deadline, "GET", headers) as answer:
            # The range begins past the end, which is an empty read in Python.
            if answer.status == 416:
                return b""
            answer.raise_for_status()
            answer.check_framing()
            first, stop = answer.content_range()
            # Some servers answer a range with everything (200), and that is cut; anything else is
            # wrong bytes.
            if first not in {0, start}:
                raise StoreError("the server answered another range than asked")
            promised = end if stop is None else min(end, stop)
            found = _cut(answer.body(), start - first, end - first, budget)
            if answer.status == 206 and start + len(found) < promised:
                raise StoreError("the server sent less than the range that it promised")
            return found

    @contextlib.contextmanager
    def _request(
        self, budget: FetchBudget, deadline: float, method: str, headers: dict[str, str]
    ) -> "Iterator[ServerAnswer]":
        """Send a request and follow its redirects, each to be judged like a new reference."""
        source = self
        with contextlib.ExitStack() as stack:
            for _ in range(budget.limits.redirects + 1):
                # The connection of the redirect ends before the next one begins.
                stack.close()
                answer = stack.enter_context(
                    source.web.request(
                        source.url,
                        budget=budget,
                        deadline=deadline,
                        is_trusted=source.is_trusted,
                        method=method,
                        headers=headers,
                    )
                )
                if not answer.is_redirect:
                    yield answer
                    return
                source = source.follow(source.join(answer.location))
        raise LimitExceeded(f"over {budget.limits.redirects} redirects (limit redirects)")

    def join(self, location: str) -> str:
        """Return where a redirect leads, for relative ones too."""
        url = self.url
        port = "" if url.has_default_port else f":{url.port}"
        try:
            # Relative to the checked parts, never to the text of the reference.
            return urljoin(f"{url.scheme}://{url.host}{port}{url.target}", location)
        except ValueError as error:
            raise StoreError("a redirect to an invalid URL") from error


def _cut(body: Iterator[bytes], start: int, end: int, budget: FetchBudget) -> bytes:
    """Return a slice of a body, which is read up to its end only."""
    found, position = bytearray(), 0
    for chunk in body:
        budget.take_bytes(len(chunk))
        found += chunk[max(0, start - position) : max(0, end - position)]
        position += len(chunk)
        if position >= end:
            break
    return bytes(found)
