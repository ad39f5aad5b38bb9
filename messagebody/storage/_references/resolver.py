"""The resolver: the one door through which references are read."""

import contextlib
import functools
import os
import ssl
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from messagebody._base.digests import KEY_PREFIX
from messagebody._base.guards import require_iterable
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
from messagebody.storage._references.allow_list import Entry, longest_match, make_entries
from messagebody.storage._references.cache import Cache
from messagebody.storage._references.limits import Budget, FetchLimits
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


class Resolver:
    """Decide which references are read, and read them.

    A resolver opens `data:` URLs, and nothing else that is not asked for.

    Arguments:
        allow: what else is open: URL prefixes or stores, or one of them. An entry brings the
            store that serves it, with its credentials; the longest prefix wins.
        public_https: whether everybody's https URLs of public addresses are open, on port 443.
        require_digest: whether a reference without a digest is refused.
        limits: what reading may cost.
        ssl_context: what certificates are checked against; the system's authorities if None.
        cache: a directory for verified content, which processes may share; none if None. Content
            with a digest is then read once, whole, and file objects over it are verified and
            seekable.
        cache_bytes: bytes that the directory holds, as a number or text such as "10 GiB"; the
            content that was not used for longest makes room.

    Raises:
        UnsafeReference: an entry of `allow` is not a prefix of URLs that can be allowed.
        StoreError: others may write into the directory of the cache.

    Examples:
        >>> from messagebody import Resolver
        >>> resolver = Resolver(allow=["s3://acme-messages/agents/"])
        >>> resolver.allows("s3://acme-messages/agents/report.pdf")
        True
        >>> resolver.allows("s3://acme-messages/payroll.csv"), resolver.allows("file:///etc/passwd")
        (False, False)
    """

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
        # A string is iterable too, and would allow every letter of itself.
        entries = [allow] if isinstance(allow, str | os.PathLike | Store) else allow
        self.entries: tuple[Entry, ...] = tuple(
            entry
            for each in require_iterable(entries, "URLs, paths or stores to allow", hint="")
            for entry in make_entries(each)
        )
        self.public_https = public_https
        self.require_digest = require_digest
        self.limits = limits or FetchLimits()
        self._ssl_context = ssl_context
        self._cache = None if cache is None else Cache(cache, parse_size(cache_bytes))

    def __repr__(self) -> str:
        shown = [redact_url(_text(entry.prefix)) for entry in self.entries]
        return f"Resolver(allow={shown}, public_https={self.public_https})"

    @functools.cached_property
    def _web(self) -> "Web":
        # Stores and data: URLs need no HTTP library, and this one takes time to load.
        from messagebody.storage._references.http import Web

        return Web(self._ssl_context)

    @property
    def is_closed(self) -> bool:
        """Whether nothing is open but `data:` URLs."""
        return not self.entries and not self.public_https

    def budget(self) -> Budget:
        """Return a fresh budget; share it between the reads that belong to one body."""
        return Budget(self.limits)

    # The verdict

    def allows(self, url: str) -> bool:
        """Return whether a reference may be read; opens no connection."""
        try:
            self.source(url)
        except UnsafeReference:
            return False
        return True

    def source(self, url: str, *, subject: str = "a reference") -> Source:
        """Return the source that a URL leads to, if it may be read; opens no connection.

        Arguments:
            url: the URL.
            subject: who has the reference, for the error.

        Raises:
            UnsafeReference: nothing allows it; the text says how to.
        """
        if is_data_url(url):
            return DataSource(url)
        try:
            return self._judge(parse(url), url, subject)
        except Malformed as error:
            problem = f"points to {redact_url(url)}, which {error}"
            raise UnsafeReference(subject, problem) from error

    def store_of(self, url: str, *, subject: str = "a reference") -> tuple[Store, str]:
        """Return the store and key that an explicit allow entry gives for a URL.

        Raises:
            UnsafeReference: no entry with a store allows it; public https is not enough.
        """
        source = self.source(url, subject=subject)
        if not isinstance(source, StoreSource):
            problem = f"points to {redact_url(url)}, which is not below an allowed store"
            raise UnsafeReference(subject, problem)
        return source.store, source.key

    def _judge(self, url: Url, text: str, subject: str) -> Source:
        # Entries first: what the application owns is never fetched as a stranger's.
        match = longest_match(self.entries, url)
        if match is not None:
            entry, key = match
            if entry.store is not None:
                return StoreSource(entry.store, key)
            return self._web_source(url, subject, is_trusted=True)
        if _may_be_public(url):
            # Literal addresses and closed names are refused here, so that `allows` says no without
            # a look-up, and so that nobody is advised to open them.
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
            # A redirect is a new URL from a stranger: the whole verdict again.
            source = self.source(location, subject=f"{subject}, redirected from {url.host},")
            if not isinstance(source, WebSource):
                problem = f"is redirected to {redact_url(location)}, which is not a web server"
                raise UnsafeReference(subject, problem)
            # Never down to plain text, not even where an entry allows http.
            if url.scheme == "https" and source.url.scheme != "https":
                problem = f"is redirected from https to {redact_url(location)}"
                raise UnsafeReference(subject, problem)
            return source

        return WebSource(self._web, url, is_trusted, follow)

    # Reading

    def keeps(self, digest: str | None, size: int | None) -> bool:
        """Return whether there is a cache that has content, or will have it once it is read."""
        return self._cache is not None and digest is not None and self._cache.holds(digest, size)

    def fetch(
        self,
        url: str,
        *,
        size: int | None = None,
        digest: str | None = None,
        subject: str = "a reference",
        budget: Budget | None = None,
    ) -> Spool:
        """Read a reference to its end and return its content, verified, to be read from the start.

        Arguments:
            url: the reference's URL.
            size: the bytes it promises, if it does.
            digest: the digest it promises, if it does.
            subject: who has the reference, for errors.
            budget: shared between the reads of one body; a fresh one if None.

        Raises:
            UnsafeReference: nothing allows the reference.
            DigestMismatch: size or digest are not the ones promised.
            LimitExceeded: a limit ended the read.
            StoreError: the store failed; ObjectNotFound and AccessDenied are its subclasses.
        """
        source = self.source(url, subject=subject)
        if digest is None and self.require_digest:
            raise UnsafeReference(subject, "carries no digest, which this resolver requires")
        promised, budget = Reference(url, size, digest), budget or self.budget()
        if self._cache is None or digest is None:
            return self._read(source, promised, subject, budget)
        spool = self._from_cache(self._cache, promised, digest, subject, budget)
        if spool is None:
            spool = self._read(source, promised, subject, budget)
            self._cache.keep(spool)
        return spool

    def _from_cache(
        self, cache: Cache, promised: Reference, digest: str, subject: str, budget: Budget
    ) -> Spool | None:
        file = cache.open(digest)
        if file is None:
            return None
        spool = Spool.over(file, os.fstat(file.fileno()).st_size, digest)
        with spool.closed_on_error():
            budget.take_bytes(spool.size)
            _check_limit(spool.size, self.limits)
            # The cache vouches for the digest; a wrong size in the reference is still one.
            _verify(spool, promised.size, digest, subject)
        return spool

    def measure(
        self,
        url: str,
        *,
        size: int | None = None,
        digest: str | None = None,
        subject: str = "a reference",
        budget: Budget | None = None,
    ) -> tuple[int, str]:
        """Read a reference to its end and return its size and digest; hand out nothing of it.

        A reference without a digest is read under `require_digest` too: this is how it gets one.
        Arguments and errors are those of `fetch`.
        """
        source = self.source(url, subject=subject)
        promised = Reference(url, size, digest)
        spool = self._read(source, promised, subject, budget or self.budget())
        spool.close()
        return spool.size, spool.digest

    def _read(self, source: Source, promised: Reference, subject: str, budget: Budget) -> Spool:
        url, size, digest = promised.url, promised.size, promised.digest
        spool = Spool()
        with spool.closed_on_error(), self._errors(url, subject), budget.part() as deadline:
            for chunk in source.stream(budget, deadline):
                budget.check_time(deadline)
                budget.take_bytes(len(chunk))
                spool.write(chunk)
                # At the first byte too many: a server may send without end.
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
        budget: Budget | None = None,
    ) -> bytes:
        """Return some bytes of a reference; they can't be verified.

        Arguments:
            url: the reference's URL.
            start: the first byte.
            end: the byte after the last; fewer come back where the content ends.
            subject: who has the reference, for errors.
            budget: shared between the reads of one body; a fresh one if None.
        """
        source = self.source(url, subject=subject)
        budget = budget or self.budget()
        # After the verdict: a range of nothing must not tell an allowed URL from a refused one.
        if end <= start:
            return b""
        # Some stores make a buffer of the asked length at once.
        _check_limit(end - start, self.limits)
        with self._errors(url, subject), budget.part() as deadline:
            return source.read_range(budget, deadline, start, end)

    def size(self, url: str, *, subject: str = "a reference", budget: Budget | None = None) -> int:
        """Ask the size of a reference, once."""
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
            url: the reference's URL.
            expires: seconds the URL works, at most seven days.
            content_type: what the store is to answer as the type.
            disposition: what the store is to answer as `Content-Disposition`.
            subject: who has the reference, for errors.
        """
        store, key = self.store_of(url, subject=subject)
        with self._errors(url, subject):
            return store.sign(
                key, expires=expires, content_type=content_type, disposition=disposition
            )

    @contextlib.contextmanager
    def _errors(self, url: str, subject: str) -> Iterator[None]:
        """Name the reference in every error, and show no secret of its URL."""
        try:
            yield
        except Closed as error:
            problem = f"points to {redact_url(url)}, {_led(url, error)} has {error.problem}"
            raise UnsafeReference(subject, problem) from error
        except StoreError as error:
            # The cause moves along: our own error below would only repeat the text.
            raise _about(error, url, subject) from error.__cause__
        except DecodeError as error:
            raise StoreError(f"{subject}: {error.problem}", redact_url(url)) from error


def _led(url: str, error: Closed) -> str:
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


def _about(error: StoreError, url: str, subject: str) -> StoreError:
    kind: Any = type(error)
    store, key = (error.store, error.key) if error.store else (redact_url(url), "")
    return kind(f"{error.problem}, asked for {subject}", store, key)  # type: ignore[no-any-return]


def _refusal(url: Url, text: str) -> str:
    if url.scheme == "https" and not url.has_default_port:
        return f"{redact_url(text)}, on a port that is not https's own"
    if url.scheme == "http":
        return f"{redact_url(text)}, which is not encrypted"
    if url.scheme == "https":
        return f"{redact_url(text)}, which no resolver allows"
    return f"{url.scheme}://{url.host}/…, which no resolver allows"


def _advice(url: Url) -> str:
    # Machines get their credentials there: nobody is to open it because an error said so.
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
    """Return the call that would allow a URL and its neighbours: the prefix above the keys."""
    # The prefix above content-addressed keys is the store's; else the directory has to do.
    above, _, _ = url.path.rpartition(f"/{KEY_PREFIX}" if f"/{KEY_PREFIX}" in url.path else "/")
    return f'Resolver(allow=["{_text(url, above)}/"])'


def _text(url: Url, path: str | None = None) -> str:
    port = "" if url.port is None or url.has_default_port else f":{url.port}"
    return f"{url.scheme}://{url.host}{port}{url.path if path is None else path}"
