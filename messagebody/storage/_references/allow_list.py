"""Allow list of an application: prefixes of URLs, each with the store that serves it."""

import os
from urllib.parse import unquote_to_bytes

import attrs

from messagebody._base.text import quote, redact_url
from messagebody.errors import StoreError, UnsafeReference
from messagebody.storage._references.url import Malformed, Url, check_path, parse
from messagebody.storage._stores import Store, open_store
from messagebody.storage._stores.directory import FileStore


@attrs.frozen
class AllowedPrefix:
    """A prefix of URLs and what serves them.

    Arguments:
        prefix: the prefix, taken apart.
        store: reads and signs for it; None for http and https.
    """

    prefix: Url
    store: Store | None

    @property
    def length(self) -> int:
        """How much of a URL the entry fixes; the longest matching entry wins."""
        return len(self.prefix.path)

    def key_of(self, url: Url) -> str | None:
        """Return what follows the prefix in a URL, None if the URL is not below it.

        Whole segments are compared, byte by byte; the place without case where the scheme says so.
        """
        if url.origin != self.prefix.origin:
            return None
        # The file system decides what is below a directory, links resolved: see `FileStore.key_of`.
        if isinstance(self.store, FileStore) and not url.is_http:
            return self.store.key_of(os.fsdecode(unquote_to_bytes(url.path)))
        # Whole segments: `/a` does not allow `/abc`.
        wanted = [segment for segment in self.prefix.segments if segment]
        if url.segments[: len(wanted)] != wanted:
            return None
        rest = "/".join(url.segments[len(wanted) :])
        # A store has no object at its own root; a web server may.
        return rest if rest or self.store is None else None


def make_entries(allowed: "str | os.PathLike[str] | Store") -> list[AllowedPrefix]:
    """Return the entries for something an application allows: two for a store with two URLs.

    Raises:
        UnsafeReference: it is not a prefix of URLs that can be allowed.
    """
    if isinstance(allowed, str) and allowed.lower().startswith(("http://", "https://")):
        return [AllowedPrefix(_prefix(allowed), None)]
    try:
        store = open_store(allowed)
    except StoreError as error:
        place = redact_url(allowed) if isinstance(allowed, str) else allowed
        # The error begins with the place; it is named once.
        problem = str(error).removeprefix(str(place))
        colon = ":" if problem.startswith(":") else ""
        problem = problem.removeprefix(":").strip()
        raise UnsafeReference(f"allow entry {quote(place)}{colon}", problem) from error
    # `memory://` and the like have no path: the slash makes it a URL of the grammar.
    place = store.url if store.url.rpartition("://")[2] else f"{store.url}/"
    urls = [place] if store.public_base is None else [place, store.public_base]
    return [AllowedPrefix(_prefix(url), store) for url in urls]


def _prefix(text: str) -> Url:
    try:
        prefix = parse(text)
        check_path(attrs.evolve(prefix, path=prefix.path.rstrip("/")))
    except Malformed as error:
        raise UnsafeReference(f"allow entry {quote(redact_url(text))}", str(error)) from error
    # Compared by path only, so a query would promise what is not checked.
    if prefix.query:
        raise UnsafeReference(f"allow entry {quote(redact_url(text))}", "has a query")
    return prefix


def longest_match(entries: tuple[AllowedPrefix, ...], url: Url) -> tuple[AllowedPrefix, str] | None:
    """Return the longest entry a URL is below, with what follows the prefix.

    Raises:
        Malformed: an entry speaks for the URL's host, and the path could be read in two ways.
    """
    # Only where an entry could speak: elsewhere the path's spelling is nobody's concern.
    near = [entry for entry in entries if entry.prefix.origin == url.origin]
    if not near:
        return None
    check_path(url)
    found = [(entry, key) for entry in near if (key := entry.key_of(url)) is not None]
    return max(found, key=lambda pair: pair[0].length, default=None)
