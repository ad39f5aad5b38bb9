"""Times as messages state them."""

from datetime import datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

__all__ = ["moment", "zone_problem"]


def moment(text: object) -> datetime | None:
    """Return an ISO 8601 date and time as written, None if it is none.

    Example:
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
    zones = _zones()
    if not zones:  # a machine without the database can't tell
        return None
    if name not in zones:
        return "no time zone has that name"
    if when.tzinfo is None:
        return None
    try:
        there = when.astimezone(ZoneInfo(name)).utcoffset()
    except OverflowError:  # the first and last day of the calendar
        return None
    if there == when.utcoffset():
        return None
    return f"its offset then is {_offset(there)}, executed_at says {_offset(when.utcoffset())}"


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _offset(offset: timedelta | None) -> str:
    minutes = round((offset or timedelta()).total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
