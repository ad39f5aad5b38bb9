"""Quantities as people write them on the command line: sizes and spans of time."""

import re

import click

from messagebody.errors import StoreError
from messagebody.offloading import parse_size
from messagebody.text import quote

__all__ = ["seconds", "size"]

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z]*)", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SECONDS |= {
    name + plural: _SECONDS[name[0]]
    for name in ("second", "minute", "hour", "day", "week")
    for plural in ("", "s")
}


def seconds(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Read an option such as "15m" or "7 days"; a number alone is seconds."""
    match = _DURATION.fullmatch(value.strip())
    if match is None or match[2].lower() not in _SECONDS:
        raise click.BadParameter(f"{quote(value)} is no time; write 90s, 15m, 12h or '7 days'")
    return float(match[1]) * _SECONDS[match[2].lower()]


def size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Read an option such as "256 KiB"; a number alone is bytes."""
    try:
        return None if value is None else parse_size(int(value) if value.isdecimal() else value)
    except StoreError as error:
        raise click.BadParameter(error.problem) from error
