"""The memory of a channel: sessions of conversations, and messages that it has seen.

The keys are those of the reference, so that both can share a store.
"""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, MutableMapping
from functools import partial

import attrs

from messagebody.envelopes import _php as php
from messagebody.envelopes.channel._external import normal_slug

_DAY = 86_400.0


def idempotency_key(provider: str, message_id: str) -> str | None:
    """Return the key under which the reference notes a message, None without provider or id.

    It does not contain the conversation: if a network numbers messages per chat, the second chat
    would lose its message 17. `Channel` deduplicates by a `Deduplicator` instead.

    Examples:
        >>> idempotency_key(" Whats_App ", "m-1")
        'wp_agent_message_seen_c97d8d432ff62d8f15edc404656b1d6c'
    """
    provider, message_id = normal_slug(provider), php.trim(message_id)
    known = provider and message_id
    return f"wp_agent_message_seen_{_md5(f'{provider}:{message_id}')}" if known else None


def session_key(connector_id: str, conversation_id: str, agent: str = "") -> str:
    """Return the key under which the reference keeps the session of a conversation.

    Examples:
        >>> session_key("wacli", "room-1", "demo")
        'wp_agent_channel_session_5a4541f73a71790c5aab73f3003eebfb'
    """
    pieces = (normal_slug(connector_id), conversation_id, normal_slug(agent))
    return f"wp_agent_channel_session_{_md5(':'.join(pieces))}"


def _md5(text: str) -> str:
    # The reference's keys: they are not secret, and both programs must find each other's notes.
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


@attrs.frozen
class Sessions:
    """Keep the session of every conversation.

    Arguments:
        storage: any mutable mapping of text to text; in memory if not given.

    Examples:
        >>> sessions = Sessions()
        >>> sessions.set("wacli", "room-1", "s-1", "demo")
        >>> sessions.get("wacli", "room-1", "demo"), sessions.get("wacli", "room-1")
        ('s-1', None)
    """

    storage: MutableMapping[str, str] = attrs.field(factory=dict)

    def get(self, connector_id: str, conversation_id: str, agent: str = "") -> str | None:
        """Return the session of a conversation, None if there is none."""
        return self.storage.get(session_key(connector_id, conversation_id, agent)) or None

    def set(
        self, connector_id: str, conversation_id: str, session_id: str, agent: str = ""
    ) -> None:
        """Keep the session of a conversation."""
        self.storage[session_key(connector_id, conversation_id, agent)] = session_id

    def delete(self, connector_id: str, conversation_id: str, agent: str = "") -> None:
        """Forget the session of a conversation, if there is one."""
        self.storage.pop(session_key(connector_id, conversation_id, agent), None)


@attrs.frozen
class SeenMessages:
    """Remember messages by `idempotency_key` for a time, as the reference does.

    Arguments:
        storage: any mutable mapping of keys to times of expiry; in memory if not given.
        clock: the time in seconds.
    """

    storage: MutableMapping[str, float] = attrs.field(factory=dict)
    clock: Callable[[], float] = time.time

    def mark_seen(self, provider: str, message_id: str, ttl: int) -> None:
        """Remember a message for `ttl` seconds; for less than one second, do nothing."""
        key = idempotency_key(provider, message_id)
        if key is not None and ttl >= 1:
            self.storage[key] = self.clock() + ttl

    def seen(self, provider: str, message_id: str) -> bool:
        """Return whether a message is remembered."""
        return self.storage.get(idempotency_key(provider, message_id) or "", 0.0) > self.clock()

    def forget(self, provider: str, message_id: str) -> None:
        """Forget a message, if it is remembered."""
        self.storage.pop(idempotency_key(provider, message_id) or "", None)


@attrs.frozen(eq=False)
class Reservation:
    """The right to handle a message, until it is committed or released."""

    _settle: Callable[["Reservation", bool], None]

    def commit(self) -> None:
        """Keep the record of the message, because it was handled."""
        self._settle(self, True)

    def release(self) -> None:
        """Forget the message, because handling it failed and it may come again."""
        self._settle(self, False)


class Deduplicator:
    """Let every message be handled once: reserved before, committed after, released on failure.

    The records are limited by age and number; the oldest are dropped first. Several threads of one
    process may use it.

    Arguments:
        max_age: seconds to keep a record.
        max_count: records to keep.
        clock: the time in seconds.

    Examples:
        >>> seen = Deduplicator()
        >>> reservation = seen.reserve(("demo", "room-1", "17"))
        >>> seen.reserve(("demo", "room-1", "17")) is None
        True
        >>> reservation.release()
        >>> seen.reserve(("demo", "room-1", "17")) is None
        False
    """

    def __init__(
        self,
        *,
        max_age: float = _DAY,
        max_count: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_age = max_age
        self._max_count = max_count
        self._clock = clock
        self._notes: OrderedDict[Hashable, tuple[float, Reservation]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._notes)

    def reserve(self, key: Hashable) -> Reservation | None:
        """Return a reservation for the message `key`, None if it is already reserved."""
        with self._lock:
            # Records are in order of time, so only the first ones are checked.
            oldest = self._clock() - self._max_age
            while self._notes and next(iter(self._notes.values()))[0] <= oldest:
                self._notes.popitem(last=False)
            if key in self._notes:
                return None
            reservation = Reservation(partial(self._settle, key))
            self._note(key, reservation)
            return reservation

    def _settle(self, key: Hashable, reservation: Reservation, keep: bool) -> None:
        with self._lock:
            if self._notes.get(key, (0.0, None))[1] is not reservation:
                return  # it expired meanwhile, and the key may have a new reservation
            del self._notes[key]
            if keep:
                self._note(key, reservation)

    def _note(self, key: Hashable, reservation: Reservation) -> None:
        self._notes[key] = (self._clock(), reservation)
        # The oldest are dropped first: they are the least likely to be sent again.
        while len(self._notes) > self._max_count:
            self._notes.popitem(last=False)
