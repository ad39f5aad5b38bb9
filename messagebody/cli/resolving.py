"""The option `--allow`: which references a command may read."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from messagebody.resolving import Resolver

__all__ = ["allow_option", "resolver_for"]

_F = TypeVar("_F", bound=Callable[..., Any])


def allow_option(function: _F) -> _F:
    """Add the option `--allow URL`."""
    return click.option(
        "--allow",
        multiple=True,
        metavar="URL",
        help="Also read references below URL, such as s3://bucket/prefix; may be repeated. "
        "Without it only public https and data URLs are read.",
    )(function)


def resolver_for(allow: Sequence[str]) -> Resolver:
    """Return the resolver that the user asked for."""
    return Resolver(allow=list(allow))
