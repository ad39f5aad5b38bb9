"""Stores on the command line, and the option `--allow`: which references may be read."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from messagebody.resolving import Resolver

__all__ = ["allow_option", "resolver_for", "store_url"]

_F = TypeVar("_F", bound=Callable[..., Any])


def allow_option(function: _F) -> _F:
    """Add the option `--allow URL`."""
    return click.option(
        "--allow",
        multiple=True,
        metavar="URL",
        help="Also read references below URL (s3://bucket/prefix) or a directory; may be repeated. "
        "Without it only public https and data URLs are read.",
    )(function)


def resolver_for(allow: Sequence[str]) -> Resolver:
    """Return the resolver that the user asked for."""
    return Resolver(allow=[store_url(each) for each in allow])


def store_url(text: str) -> str:
    """Return the URL of a store; what has no scheme is a directory."""
    return text if "://" in text else Path(text).absolute().as_uri()
