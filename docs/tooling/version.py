"""A hook of mkdocs: the version that the pages describe, at their foot."""

from importlib.metadata import version
from typing import Any


def on_config(config: Any) -> Any:
    """Put the name and the version of the package in the place of a copyright."""
    config.copyright = f"MessageBody {version('messagebody')}"
    return config
