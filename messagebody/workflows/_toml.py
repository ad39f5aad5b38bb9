"""TOML of strangers, whose keys are measured before they are read."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from messagebody.errors import InvalidWorkflow

_KEY: Final = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?)"""
_KEYS: Final = re.compile(_KEY)
_TOKEN: Final = re.compile(
    # Texts and comments may look like keys. If one does not end, nothing comes behind it.
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)'
    r"|'''(?:[^']|'(?!''))*+(?:'''|\Z)"
    r"|#[^\n]*+"
    rf"|(?P<keys>{_KEY}(?:[ \t]*+\.[ \t]*+{_KEY})*+)",
    re.DOTALL,
)


def read_toml(data: bytes | str, depth: int) -> Any:
    """Return what TOML says.

    Arguments:
        data: the document.
        depth: the most keys with dots between them. The parser takes the square of their number.

    Raises:
        InvalidWorkflow: it is not TOML, or has longer keys.
    """
    try:
        text = data if isinstance(data, str) else data.decode()
        if any(length > depth for length in _lengths(text, depth)):
            raise InvalidWorkflow(f"more than {depth:,} keys with dots between them (limit depth)")
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidWorkflow(f"it is not TOML: {error}") from error


def _lengths(text: str, depth: int) -> Iterator[int]:
    """Yield how many keys have dots between them, wherever there may be many."""
    for found in _TOKEN.finditer(text):
        keys = found["keys"]
        if keys is not None and keys.count(".") >= depth:
            yield len(_KEYS.findall(keys))
