"""The resolver, through which all references are read."""

import contextlib
import functools
import os
import ssl
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from messagebody._base.digests import KEY_PREFIX
from messagebody._base.guards import require_iterable
from messagebody._base.hints import Guided, guided, missing_attribute
from messagebody._base.limits import parse_size
from messagebody._base.text import redact_url
from messagebody._model.content import Reference
from messagebody._wire.data_urls import is_data_url
from messagebody.errors import (
    DecodeError,
    DigestMismatch,
    LimitExceeded,
    StoreError,
    UnsafeReference,
)
from messagebody.storage._references.allow_list import AllowedPrefix, longest_match, make_entry
from messagebody.storage._references.cache import Cache
from messagebody.storage._references.limits import FetchBudget, FetchLimits
from messagebody.storage._references.sources import DataSource, Source, StoreSource, WebSource
from messagebody.storage._references.spool import Spool
from messagebody.storage._references.url import (
    Closed,
    Malformed,
    Url,
    check_host,
    is_metadata,
    parse,
)
from messagebody.storage._stores import Store

if TYPE_CHECKING:
    from messagebody.storage._references.http import Web

Allowed = str | os.PathLike[str] | Store


class Resolver(metaclass=Guided):
    """Decide which references may be read, and read them.

    By default, a resolver opens only `data:` URLs.

    Arguments:
        allow: URL prefixes or stores to open, or a single one. An entry reads through its store,
            with the credentials of the store; the longest matching prefix wins.
        public_https: whether to open all https URLs with public addresses and port 443.
        require_digest: whether references without a digest are refused.
        limits: the limits on the cost of reading.
        ssl_context: the TLS context to verify certificates; the system's authorities if None.
        cache: a directory to cache verified content, which processes may share; None for no cache.
            With a cache, content with a digest is read completely, and file objects over it are
            verified and seekable.
        cache_bytes: the maximum size of the cache, as a number or text such as "10 GiB"; the least
            recently used content is evicted.

    Raises:
        UnsafeReference: an entry of `allow` is not a legal URL prefix.
        StoreError: other users may write into the directory of the cache.

    Examples:
        >>> from messagebody import Resolver
        >>> resolver = Resolver(allow=["s3://acme-messages/agents/"])
        >>> resolver.allows("s3://acme-messages/agents/report.pdf")
        True
        >>> resolver.allows("s3://acme-messages/payroll.csv"), resolver.allows("file:///etc/passwd")
        (False, False)
    """

    @guided
    def __init__(
        self,
        allow: Allowed | Iterable[Allowed] = (),
        *,
        public_https: bool = False,
        require_digest: bool = False,
        limits: FetchLimits | None = None,
        ssl_context: ssl.SSLContext | None = None,
        cache: str | os.PathLike[str] | None = None,
        cache_bytes: int | str = "10 GiB",
    ) -> None:
        # A string is iterable, too, and would allow each of its letters.
        entries = [allow] if isinstance(allow, str | os.PathLike | Store) else allow
        self.entries: tuple[AllowedPrefix, ...] = tuple(
            make_entry(each)
            for each in require_iterable(entries, "URLs, paths or stores to allow", hint="")
        )
        self.public_https = public_https
        self.require_digest = require_digest
        self.limits = limits or FetchLimits()
        self._ssl_context = ssl_context
        self._cache = None if cache is None else Cache(cache, parse_size(cache_bytes))

    if not TYPE_CHECKING:  # a type checker would assume that a resolver has every attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    def __repr__(self) -> str:
        shown = [redact_url(_text(entry.prefix)) for entry in self.entries]
        return f"Resolver(allow={shown}, public_https={self.public_https})"

    @functools.cached_property
    def _web(self) -> "Web":
        # Imported on demand, because the HTTP library takes time to load.
        from messagebody.storage._references.http import Web

        return Web(self._ssl_context)

    @property
    def is_closed(self) -> bool:
        """Whether only `data:` URLs are allowed."""
        return not self.entries and not self.public_https

    def budget(self) -> FetchBudget:
        """Return a new budget, to share between all reads of one body."""
        return FetchBudget(self.limits)

    # Decisions

    def allows(self, url: str) -> bool:
        """Return whether a reference may be read, without opening a connection."""
        try:
            self.source(url)
        except UnsafeReference:
            return False
        return True

    def source(self, url: str, *, subject: str = "a reference") -> Source:
        """Return the source of a URL that may be read, without opening a connection.

        Arguments:
            url: the URL.
            subject: the owner of the reference, for errors.

        Raises:
            UnsafeReference: the URL is not allowed; the text has advice.
        """
        if is_data_url(url):
            return DataSource(url)
        try:
            return self._judge(parse(url), url, subject)
        except Malformed as error:
            problem = f"points to {redact_url(url)}, which {error}"
            raise UnsafeReference(subject, problem) from error

    def store_of(self, url: str, *, subject: str = "a reference") -> tuple[Store, str]:
        """Return the store and key of a URL below an explicit allow entry.

        Raises:
            UnsafeReference: no entry with a store matches; public https is not enough.
        """
        source = self.source(url, subject=subject)
        if not isinstance(source, StoreSource):
            problem = f"points to {redact_url(url)}, which is not below an allowed store"
            raise UnsafeReference(subject, problem)
        return source.store, source.key

    def _judge(self, url: Url, text: str, subject: str) -> Source:
        # Entries first, so that the application's own URLs are not fetched like a stranger's.
        match = longest_match(self.entries, url)
        if match is not None:
            entry, key = match
            if entry.store is not None:
                return StoreSource(entry.store, key)
            return self._web_source(url, subject, is_trusted=True)
        if _may_be_public(url):
            # Refuse private addresses and names here, so that `allows` needs no look-up, and the
            # error does not advise to open them.
            try:
                check_host(url)
            except Closed as error:
                problem = f"points to {redact_url(_text(url))}, whose host has {error.problem}"
                raise UnsafeReference(subject, problem) from error
            if self.public_https:
                return self._web_source(url, subject, is_trusted=False)
        raise UnsafeReference(subject, f"points to {_refusal(url, text)}", _advice(url))

    def _web_source(self, url: Url, subject: str, *, is_trusted: bool) -> WebSource:
        def follow(location: str) -> WebSource:
            # A redirect is a new untrusted URL, so all checks apply again.
            source = self.source(location, subject=f"{subject}, redirected from {url.host},")
            if not isinstance(source, WebSource):
                problem = f"is redirected to {redact_url(location)}, which is not a web server"
                raise UnsafeReference(subject, problem)
            # Never from https to http, even if an entry allows http.
            if url.scheme == "https" and source.url.scheme != "https":
                problem = f"is redirected from https to {redact_url(location)}"
                raise UnsafeReference(subject, problem)
            return source

        return WebSource(self._web, url, is_trusted, follow)

    # Reading

    def keeps(self, digest: str | None, size: int | None) -> bool:
        """Return whether a cache has content, or will have it after it is read."""
        return self._cache is not None and digest is not None and self._cache.holds(digest, size)

    def fetch(
        self,
        reference: Reference | str,
        *,
        subject: str = "a reference",
        budget: FetchBudget | None = None,
    ) -> Spool:
        """Read a whole reference and return a spool of its verified content.

        Arguments:
            reference: a reference, or its URL if neither size nor digest is known.
            subject: the owner of the reference, for errors.
            budget: the budget of the body; a new one if None.

        Raises:
            UnsafeReference: the reference is not allowed.
            DigestMismatch: the size or digest differs from the expected one.
            LimitExceeded: a limit is exceeded.
            StoreError: the store failed; see its subclasses ObjectNotFound and AccessDenied.
        """
        expected, budget = _as_reference(reference), budget or self.budget()
        source, digest = self.source(expected.url, subject=subject), expected.digest
        if digest is None and self.require_digest:
            raise UnsafeReference(subject, "has no digest, which this resolver requires")
        if self._cache is None or digest is None:
            return self._read(source, expected, subject, budget)
        spool = self._from_cache(self._cache, expected, digest, subject, budget)
        if spool is None:
            spool = self._read(source, expected, subject, budget)
            self._cache.keep(spool)
        return spool

    def _from_cache(
        self, cache: Cache, expected: Reference, digest: str, subject: str, budget: FetchBudget
    ) -> Spool | None:
        file = cache.open(digest)
        if file is None:
            return None
        spool = Spool.over(file, os.fstat(file.fileno()).st_size, digest)
        with spool.closed_on_error():
            budget.take_bytes(spool.size)
            _check_limit(spool.size, self.limits)
            # The cache guarantees the digest, but the size of the reference may be wrong.
            _verify(spool, expected.size, digest, subject)
        return spool

    def measure(
        self,
        reference: Reference | str,
        *,
        subject: str = "a reference",
        budget: FetchBudget | None = None,
    ) -> tuple[int, str]:
        """Read a whole reference and return its size and digest, but not its content.

        A reference without a digest is read even with `require_digest`, in order to compute its
        digest. The arguments and errors are those of `fetch`.
        """
        expected = _as_reference(reference)
        source = self.source(expected.url, subject=subject)
        spool = self._read(source, expected, subject, budget or self.budget())
        spool.close()
        return spool.size, spool.digest

    def _read(
        self, source: Source, expected: Reference, subject: str, budget: FetchBudget
    ) -> Spool:
        url, size, digest = expected.url, expected.size, expected.digest
        # Nothing is requested that would be refused at its end.
        budget.check_size(size or 0)
        spool = Spool()
        with spool.closed_on_error(), self._errors(url, subject), budget.part() as deadline:
            for chunk in source.stream(budget, deadline):
                budget.check_time(deadline)
                budget.take_bytes(len(chunk))
                spool.write(chunk)
                # Stop at the first extra byte, because a server may send without end.
                if size is not None and spool.size > size:
                    raise DigestMismatch(subject, f"{size:,} bytes", "more")
                _check_limit(spool.size, self.limits)
            _verify(spool, size, digest, subject)
            return spool

    def read_range(
        self,
        url: str,
        start: int,
        end: int,
        *,
        subject: str = "a reference",
        budget: FetchBudget | None = None,
        skips: bool = True,
    ) -> bytes:
        """Return a range of a reference, which can't be verified.

        Arguments:
            url: the URL of the reference.
            start: the first byte.
            end: the byte after the last; the result is shorter at the end of the content.
            subject: the owner of the reference, for errors.
            budget: the budget of the body; a new one if None.
            skips: whether to read what comes before `start` too, if the server sends no ranges;
                otherwise `NoRanges` is raised.
        """
        source = self.source(url, subject=subject)
        budget = budget or self.budget()
        # After the check of the URL, so that an empty range of a refused URL is an error, too.
        if end <= start:
            return b""
        # Some stores allocate a buffer of the requested length.
        _check_limit(end - start, self.limits)
        with self._errors(url, subject), budget.part() as deadline:
            return source.read_range(budget, deadline, start, end, skips=skips)

    def size(
        self, url: str, *, subject: str = "a reference", budget: FetchBudget | None = None
    ) -> int:
        """Return the size of the content of a reference, by one request."""
        source = self.source(url, subject=subject)
        with self._errors(url, subject):
            return source.size(budget or self.budget())

    def sign(
        self,
        url: str,
        *,
        expires: int = 3600,
        content_type: str = "application/octet-stream",
        disposition: str = "attachment",
        subject: str = "a reference",
    ) -> str:
        """Return a signed URL for a reference below an explicit allow entry.

        Arguments:
            url: the URL of the reference.
            expires: the lifetime of the signed URL in seconds, at most seven days.
            content_type: the `Content-Type` of the store's response.
            disposition: the `Content-Disposition` of the store's response.
            subject: the owner of the reference, for errors.
        """
        store, key = self.store_of(url, subject=subject)
        with self._errors(url, subject):
            return store.sign(
                key, expires=expires, content_type=content_type, disposition=disposition
            )

    @contextlib.contextmanager
    def _errors(self, url: str, subject: str) -> Iterator[None]:
        """Add the reference to every error, without secrets of its URL."""
        try:
            yield
        except Closed as error:
            problem = f"points to {redact_url(url)}, {_host_of(url, error)} has {error.problem}"
            raise UnsafeReference(subject, problem) from error
        except StoreError as error:
            # Keep the original cause, because `error` would only repeat the text.
            raise _about(error, url, subject) from error.__cause__
        except DecodeError as error:
            raise StoreError(f"{subject}: {error.problem}", redact_url(url)) from error


def _host_of(url: str, error: Closed) -> str:
    return "whose host" if error.host in url.lower() else f"which leads to {error.host}, which"


def _check_limit(size: int, limits: FetchLimits) -> None:
    if size > limits.part_bytes:
        raise LimitExceeded(f"over {limits.part_bytes:,} bytes (limit part_bytes)")


def _verify(spool: Spool, size: int | None, digest: str | None, subject: str) -> None:
    if size is not None and spool.size != size:
        raise DigestMismatch(subject, f"{size:,} bytes", f"{spool.size:,}")
    if digest is not None and spool.digest != digest:
        raise DigestMismatch(subject, digest, spool.digest)
    spool.verified = digest is not None


def _as_reference(reference: Reference | str) -> Reference:
    return Reference(reference) if isinstance(reference, str) else reference


def _about(error: StoreError, url: str, subject: str) -> StoreError:
    kind: Any = type(error)
    store, key = (error.store, error.key) if error.store else (redact_url(url), "")
    return kind(f"{error.problem}, asked for {subject}", store, key)  # type: ignore[no-any-return]


def _refusal(url: Url, text: str) -> str:
    if url.scheme == "https" and not url.has_default_port:
        return f"{redact_url(text)}, whose port is not the default port of https"
    if url.scheme == "http":
        return f"{redact_url(text)}, which is not encrypted"
    if url.scheme == "https":
        return f"{redact_url(text)}, which no resolver allows"
    return f"{url.scheme}://{url.host}/…, which no resolver allows"


def _advice(url: Url) -> str:
    # Machines get their credentials there, so an error must not advise to open it.
    if url.is_http and is_metadata(url.host):
        return ""
    if not url.is_http:
        return f"If the store is yours: {_allow(url)}"
    trusted = f"If you trust this server, use {_allow(url)}"
    if _may_be_public(url):
        trusted += ", or Resolver(public_https=True) for all public https servers"
    return trusted


def _may_be_public(url: Url) -> bool:
    return url.scheme == "https" and url.has_default_port


def _allow(url: Url) -> str:
    """Return the call that allows the store, or else the directory, of a URL."""
    # The prefix before content-addressed keys is that of the store.
    above, _, _ = url.path.rpartition(f"/{KEY_PREFIX}" if f"/{KEY_PREFIX}" in url.path else "/")
    return f'Resolver(allow=["{_text(url, above)}/"])'


def _text(url: Url, path: str | None = None) -> str:
    port = "" if url.port is None or url.has_default_port else f":{url.port}"
    return f"{url.scheme}://{url.host}{port}{url.path if path is None else path}"
