"""Functions for `bulk.map`, in a module, where worker processes find them."""

import os
import signal
from pathlib import Path
from typing import Any

from messagebody import MessageBody

MARK = "die, worker"
"""What a message says that kills whoever reads it."""


def deadly(body: MessageBody) -> dict[str, Any]:
    if MARK in body.read_text():
        os.kill(os.getpid(), signal.SIGKILL)
    return {"parts": len(body)}


def deadly_once(body: MessageBody) -> dict[str, Any]:
    """Kill the worker unless the file that the message names is there."""
    text = body.read_text()
    if MARK in text:
        path = Path(text.rpartition(" ")[2])
        if not path.exists():
            path.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return {"parts": len(body)}


def first_part(body: MessageBody) -> MessageBody | None:
    return MessageBody(body[:1]) if body else None


def picky(body: MessageBody) -> Any:
    text = body.read_text()
    if "ä" not in text:
        raise ValueError("no ä")
    return {"text": text} if len(body) < 3 else [text]


def waiting(body: MessageBody) -> dict[str, Any]:
    """Wait for a file that the message names, after making another one."""
    text = body.read_text()
    if text.startswith("wait"):
        _, begun, go_on = text.split(" ")
        Path(begun).touch()
        while not Path(go_on).exists():
            pass
    return {"parts": len(body)}


def process(body: MessageBody) -> dict[str, Any]:
    return {"process": os.getpid()}
