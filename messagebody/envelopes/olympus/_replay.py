"""A guard that lets each signed message through once, while it is fresh."""

import heapq
import time
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from threading import Lock

from messagebody.envelopes.olympus._signature import SignatureCheck

_NEEDED = {"/envelope/message_id", "/envelope/session_id", "/envelope/timestamp"}


class Admission(StrEnum):
    """The answer of a guard about a message; true only if the message should be handled."""

    FRESH = "fresh"
    REPLAYED = "replayed"
    STALE = "stale"
    """It is older than the window."""

    EARLY = "early"
    """It is dated later than the window allows."""

    FULL = "full"
    """The guard is full, and forgetting a message would let a replay through."""

    UNPROTECTED = "unprotected"
    """No valid signature covers message id, session and time, so nothing is known."""

    def __bool__(self) -> bool:
        return self is Admission.FRESH


class ReplayGuard:
    """Remember the messages of a time window; safe to share between threads.

    Arguments:
        past: seconds a message may be old.
        ahead: seconds a sender's clock may be ahead.
        capacity: messages to remember at most; those past the window are forgotten.
        clock: seconds since the epoch.

    Examples:
        >>> guard = ReplayGuard()
        >>> guard.admit(SignatureCheck(False, True, "jcs-full-hkdf"))
        <Admission.UNPROTECTED: 'unprotected'>
    """

    def __init__(
        self,
        *,
        past: float = 300,
        ahead: float = 60,
        capacity: int = 100_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._past = past
        self._ahead = ahead
        self._capacity = capacity
        self._clock = clock
        self._latest = float("-inf")
        self._seen: set[tuple[str, str]] = set()
        self._dated: list[tuple[float, tuple[str, str]]] = []
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._seen)

    def admit(self, verification: SignatureCheck) -> Admission:
        """Let a verified message through once.

        Arguments:
            verification: the result of `verify`, under a profile that covers message id, session
                and time; the five-field profile doesn't.
        """
        message_id, session_id = verification.message_id, verification.session_id
        dated = _seconds(verification.timestamp)
        if message_id is None or session_id is None or dated is None:
            return Admission.UNPROTECTED
        # Anyone who replays a message could change its unsigned members.
        if not {*verification.covered} >= _NEEDED:
            return Admission.UNPROTECTED
        with self._lock:
            return self._admit((session_id, message_id), dated)

    def _admit(self, key: tuple[str, str], dated: float) -> Admission:
        # A clock that is set back must not make forgotten messages fresh again.
        self._latest = now = max(self._latest, self._clock())
        # After the window a replay is stale anyway, so the message need not be remembered.
        while self._dated and self._dated[0][0] < now - self._past:
            self._seen.discard(heapq.heappop(self._dated)[1])
        # Checked first: a replay is reported as a replay even if it is stale too.
        if key in self._seen:
            return Admission.REPLAYED
        if dated < now - self._past:
            return Admission.STALE
        if dated > now + self._ahead:
            return Admission.EARLY
        # Forgetting a fresh one would let its replay in.
        if len(self._seen) >= self._capacity:
            return Admission.FULL
        self._seen.add(key)
        heapq.heappush(self._dated, (dated, key))
        return Admission.FRESH


def _seconds(timestamp: str | None) -> float | None:
    """Return an RFC 3339 date-time in seconds since the epoch, None if it is not one."""
    try:
        moment = datetime.fromisoformat((timestamp or "").upper())
        return moment.astimezone(UTC).timestamp() if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None
