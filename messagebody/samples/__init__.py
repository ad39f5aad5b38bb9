"""Sample files and example messages that ship with the toolkit.

The files are made by `docs/tooling/make_samples.py`; the examples are the four of the format's
proposal. `files` and `example` find them wherever the package is installed.
"""

import importlib.resources
from importlib.resources.abc import Traversable
from typing import Literal

from messagebody._model.body import MessageBody

__all__ = ["EXAMPLES", "example_body", "example_schema_json", "sample"]

EXAMPLES = ("chat", "multimodal", "software", "researcher")
"""The names of the examples."""

ExampleName = Literal["chat", "multimodal", "software", "researcher"]


def sample(name: str) -> bytes:
    """Return the bytes of a sample file, such as "chart.png".

    Examples:
        >>> sample("rides.csv")[:18]
        b'date,rain_mm,rides'
    """
    return _here().joinpath(name).read_bytes()


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
