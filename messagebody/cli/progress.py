"""Progress of transfers, on standard error and only for people."""

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from messagebody.cli.terminal import Terminal

__all__ = ["progress"]


@contextlib.contextmanager
def progress(terminal: "Terminal", label: str) -> Iterator[Any]:
    """Give an fsspec callback that draws a bar of bytes; None where nobody looks."""
    if terminal.quiet or not sys.stderr.isatty():
        yield None
        return
    from fsspec.callbacks import Callback

    with click.progressbar(length=0, label=label, file=sys.stderr) as bar:

        class Bar(Callback):  # type: ignore[misc]
            """Pass on what fsspec reports."""

            def call(self, *_: Any, **__: Any) -> None:
                bar.length = self.size or 0
                bar.update(self.value - bar.pos)

        yield Bar()
