"""Errors that a filesystem must raise."""

from typing import Any

import pytest


def failing(number: int, path: str | None = None) -> Any:
    """Expect an `OSError` of a number, and about a path."""

    def check(error: OSError) -> bool:
        return error.errno == number and path in {None, error.filename}

    return pytest.raises(OSError, check=check)
