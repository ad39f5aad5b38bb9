"""Times as messages state them."""

from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

__all__ = ["moment", "zone_problem"]

_ANY_ZONE = "Etc/UTC"


def moment(text: object) -> datetime | None:
    """Return an ISO 8601 date and time as written, None if it is none.

    Examples:
        >>> moment("2026-01-27T14:30:52+08:00").hour, moment("yesterday")
        (14, None)
    """
    if not isinstance(text, str) or "T" not in text.upper():
        return None
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        return None


def zone_problem(when: datetime, name: str) -> str | None:
    """Return why a time zone's name doesn't go with a time, None if it does or nobody knows."""
    zone = _zone(name)
    if zone is None:  # a machine without the database can't tell
        return "no time zone has that name" if _zone(_ANY_ZONE) else None
    if when.tzinfo is None:
        return None
    try:
        there = when.astimezone(zone).utcoffset()
    except OverflowError:  # the first and last day of the calendar
        return None
    if there == when.utcoffset():
        return None
    return f"its offset then is {_offset(there)}, executed_at says {_offset(when.utcoffset())}"


@lru_cache(maxsize=256)  # names come from messages
def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _offset(offset: timedelta | None) -> str:
    minutes = round((offset or timedelta()).total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
