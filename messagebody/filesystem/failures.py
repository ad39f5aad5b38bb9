"""Errors as the local filesystem raises them: with errno, and the path as filename."""

import contextlib
import os
from collections.abc import Iterator
from typing import NoReturn

from messagebody.errors import UnsafeReference

__all__ = ["concerning", "fail"]


def fail(number: int, path: str, text: str | None = None) -> NoReturn:
    """Raise the error of a number, in the words of the system unless told.

    Raises:
        OSError: always; the subclass that belongs to the number.
    """
    raise OSError(number, text or os.strerror(number), path)


@contextlib.contextmanager
def concerning(path: str) -> Iterator[None]:
    """Say of a refused reference which path it is, as errors about files do."""
    try:
        yield
    except UnsafeReference as error:
        error.filename = path
        raise
