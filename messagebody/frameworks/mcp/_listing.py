"""The messages of a server by name: a list in pages, and the message that a model means."""

import bisect
import json
import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, NamedTuple

from messagebody._core import (
    JSON,
    MESSAGE_SUFFIX,
    FileStore,
    StoredMessages,
    count_of,
    escape,
    nearest,
    quote,
    redact_urls,
)
from messagebody.errors import ObjectNotFound, StoreError
from messagebody.frameworks.mcp._results import place_of
from messagebody.prompts import Toolbox, tool
from messagebody.storage import Stat, Store

_logger: Final = logging.getLogger(__name__)
PAGE: Final = 1_000
"""Resources in one page of a list."""
_COMPARED: Final = 1_000
"""Names that a mistyped one is compared with."""


class ListedMessage(NamedTuple):
    """A message in a list."""

    shown: str
    """Its name as text on one line, by which the list is sorted."""
    name: str
    stat: Stat | None


class Listing(Toolbox):
    """The names of all messages, and the tool that lists them.

    Arguments:
        messages: the messages.
        limit: characters of one answer, without its notes.
    """

    TOOLS: ClassVar = ("list_messages",)

    def __init__(self, messages: Mapping[str, Any], limit: int) -> None:
        self._messages = messages
        self._limit = limit
        self._entries: list[ListedMessage] = []
        self._lasts_until = 0.0

    @tool
    def list_messages(self, after: str | None = None) -> str:
        """List the names of the messages.

        Arguments:
            after: the name after which the list goes on, the last one of an earlier list; null to
                begin.
        """
        entries, rest = self.page(after)
        lines: list[str] = []
        left = self._limit
        for entry in entries:
            left -= len(entry.shown)
            if lines and left < 0:
                break
            lines.append(entry.shown)
        rest += len(entries) - len(lines)
        if rest:
            last = json.dumps(lines[-1], ensure_ascii=False)
            lines.append(f"[{count_of(rest, 'more message')}; list_messages(after={last})]")
        return "\n".join(lines) or "[no messages]"

    def page(self, after: str | None) -> tuple[list[ListedMessage], int]:
        """Return the messages that come next, and how many come after these.

        Raises:
            StoreError: they can't be listed.
        """
        entries = self.entries(is_new=after is None)
        start = 0
        if after is not None:
            start = bisect.bisect_right(entries, after, key=lambda entry: entry.shown)
        page = entries[start : start + PAGE]
        return page, len(entries) - start - len(page)

    def entries(self, *, is_new: bool) -> list[ListedMessage]:
        """Return all messages; those of an earlier list if it need not be new.

        Raises:
            StoreError: they can't be listed.
        """
        begun = time.monotonic()
        if is_new or begun > self._lasts_until:
            self._entries = self._list_messages()
            # The pages of a huge directory must not list it as many times.
            self._lasts_until = begun + 10 * (time.monotonic() - begun)
        return self._entries

    def _list_messages(self) -> list[ListedMessage]:
        messages = self._messages
        stats: Mapping[str, Stat | None]
        try:
            if isinstance(messages, StoredMessages):
                _require_directory(messages.store)
                stats = messages.stats()
            else:
                stats = dict.fromkeys(messages)
        except Exception as error:
            _logger.warning("messages can't be listed: %s", redact_urls(str(error)))
            raise StoreError("the messages can't be listed now") from error
        return sorted(ListedMessage(escape(name), name, stat) for name, stat in stats.items())

    def find(self, given: str) -> str:
        """Return the name of a message, which a model may give as that of its file, or as shown.

        Raises:
            ObjectNotFound: there is no such message; the text suggests one.
            StoreError: the store can't be asked.
        """
        bare = given.removesuffix(MESSAGE_SUFFIX)
        for name in (given, bare):
            if name in self._messages:
                return name
        entries = self.entries(is_new=False)
        at = bisect.bisect_left(entries, given, key=lambda entry: entry.shown)
        if at < len(entries) and entries[at].shown == given:
            return entries[at].name
        elsewhere = (entry.shown for entry in entries if entry.shown.endswith(f"/{bare}"))
        around = [entry.shown for entry in entries[max(at - _COMPARED // 2, 0) :][:_COMPARED]]
        near = next(elsewhere, "") or nearest(bare, around)
        meant = f" (did you mean {quote(near)}?)" if near else ""
        raise ObjectNotFound(f"no message {quote(given)}{meant}; list_messages lists them")


def _require_directory(store: Store) -> None:
    """Refuse a directory that is gone: as a store, it would be an empty one that is made later."""
    if isinstance(store, FileStore) and not store.root.is_dir():
        raise StoreError("the directory is not there", store.url)


def resource_of_message(entry: ListedMessage) -> dict[str, Any]:
    """Return what a client learns of a message."""
    facts: dict[str, Any] = {}
    if entry.stat is not None:
        facts["size"] = entry.stat.size
        if entry.stat.modified is not None:
            written = datetime.fromtimestamp(entry.stat.modified, UTC)
            facts["annotations"] = {"lastModified": written.isoformat(timespec="seconds")}
    about = {
        "uri": place_of(entry.name),
        "name": entry.shown,
        "title": entry.shown.rpartition("/")[2],
        "description": "A message: the list of its parts, each of which is a resource below it.",
        "mimeType": JSON,
    }
    return about | facts
