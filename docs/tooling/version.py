"""A hook of mkdocs: the version that the pages describe, at their foot."""

from typing import Any

from messagebody import __version__


def on_config(config: Any) -> Any:
    """Put the name and the version of the package in the place of a copyright."""
    config.copyright = f"MessageBody {__version__}"
    return config
