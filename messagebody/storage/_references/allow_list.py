"""The allow list of an application: URL prefixes, each with the store that serves it."""

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
    """A URL prefix and its store.

    Arguments:
        prefix: the parsed prefix.
        store: the store that reads and signs; None for http and https.
    """

    prefix: Url
    store: Store | None

    @property
    def length(self) -> int:
        """The length of the prefix; the longest matching entry wins."""
        return len(self.prefix.path)

    def key_of(self, url: Url) -> str | None:
        """Return the rest of a URL after the prefix; None if the URL is not below it.

        Whole segments are compared, byte by byte; http and https hosts are case-insensitive.
        """
        if url.origin != self.prefix.origin:
            return None
        # Links are resolved to decide whether a file is below a directory: see `FileStore.key_of`.
        if isinstance(self.store, FileStore) and not url.is_http:
            return self.store.key_of(os.fsdecode(unquote_to_bytes(url.path)))
        # Whole segments: `/a` does not allow `/abc`.
        wanted = [segment for segment in self.prefix.segments if segment]
        if url.segments[: len(wanted)] != wanted:
            return None
        rest = "/".join(url.segments[len(wanted) :])
        # A store has no object at its root, but a web server may have one.
        return rest if rest or self.store is None else None


def make_entry(allowed: "str | os.PathLike[str] | Store") -> AllowedPrefix:
    """Return the entry for a URL prefix or a store.

    Raises:
        UnsafeReference: it is not a legal URL prefix.
    """
    if isinstance(allowed, str) and allowed.lower().startswith(("http://", "https://")):
        return AllowedPrefix(_prefix(allowed), None)
    try:
        store = open_store(allowed)
    except StoreError as error:
        place = redact_url(allowed) if isinstance(allowed, str) else allowed
        # The error already begins with the place, so don't repeat it.
        problem = str(error).removeprefix(str(place))
        colon = ":" if problem.startswith(":") else ""
        problem = problem.removeprefix(":").strip()
        raise UnsafeReference(f"allow entry {quote(place)}{colon}", problem) from error
    # URLs such as `memory://` have no path; the slash makes them legal in the grammar.
    place = store.url if store.url.rpartition("://")[2] else f"{store.url}/"
    return AllowedPrefix(_prefix(place), store)


def _prefix(text: str) -> Url:
    try:
        prefix = parse(text)
        check_path(attrs.evolve(prefix, path=prefix.path.rstrip("/")))
    except Malformed as error:
        raise UnsafeReference(f"allow entry {quote(redact_url(text))}", str(error)) from error
    # A query would be ignored, because only paths are compared.
    if prefix.query:
        raise UnsafeReference(f"allow entry {quote(redact_url(text))}", "has a query")
    return prefix


def longest_match(entries: tuple[AllowedPrefix, ...], url: Url) -> tuple[AllowedPrefix, str] | None:
    """Return the entry with the longest prefix of a URL, and the rest of the URL after it.

    Raises:
        Malformed: an entry has the host of the URL, and the path is ambiguous.
    """
    # An ambiguous path only matters if an entry has the same origin.
    candidates = [entry for entry in entries if entry.prefix.origin == url.origin]
    if not candidates:
        return None
    check_path(url)
    found = [(entry, key) for entry in candidates if (key := entry.key_of(url)) is not None]
    return max(found, key=lambda pair: pair[0].length, default=None)
