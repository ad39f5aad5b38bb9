"""Sample files and example messages that ship with the toolkit.

The files are made by `docs/tooling/make_samples.py`; the examples are the four of the format's
proposal. `files` and `example` find them wherever the package is installed.
"""

import importlib.resources
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Literal

from messagebody._core import MessageBody, face, nearest, quote

__all__ = ["EXAMPLES", "example_body", "example_schema_json", "sample"]

if not TYPE_CHECKING:  # a type checker would assume that the module has every name
    __getattr__, _ = face(__name__)

EXAMPLES = ("chat", "multimodal", "software", "researcher")
"""The names of the examples."""

ExampleName = Literal["chat", "multimodal", "software", "researcher"]


def sample(name: str) -> bytes:
    """Return the bytes of a sample file, such as "chart.png".

    Raises:
        FileNotFoundError: there is no such file; the text lists the files.

    Examples:
        >>> sample("rides.csv")[:18]
        b'date,rain_mm,rides'
    """
    files = {each.name: each for each in _here().iterdir() if each.is_file()}
    names = sorted(each for each in files if not each.startswith("_"))
    if name not in names:
        near = nearest(name, names)
        meant = f" (did you mean {near!r}?)" if near else ""
        raise FileNotFoundError(f"no sample {quote(name)}{meant}; there are {', '.join(names)}")
    return files[name].read_bytes()


def example_body(name: ExampleName) -> MessageBody:
    """Return the body of an example.

    Examples:
        >>> example_body("chat").read_text()
        'Hello, world!'
    """
    return MessageBody.from_json(_example(name, "body.json"))


def example_schema_json(name: ExampleName) -> bytes:
    """Return the schema of an example, as JSON."""
    return _example(name, "schema.json")


def _example(name: str, file: str) -> bytes:
    return _here().joinpath("examples", name, file).read_bytes()


def _here() -> Traversable:
    return importlib.resources.files(__name__)
