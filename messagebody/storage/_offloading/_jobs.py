"""Parallel work on many parts: its progress, and one error for all parts."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from messagebody._base.threads import Stop, run_all
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.errors import PartsFailed, StoreError

_T = TypeVar("_T")


def reporter(callback: Any, size: int) -> Callable[[int], None] | None:
    """Return a function that reports bytes to an fsspec `Callback`, from any thread.

    Arguments:
        callback: the callback; None if there is nobody to report to.
        size: the total number of bytes.
    """
    if callback is None:
        return None
    callback.set_size(size)
    lock = threading.Lock()

    def report(count: int) -> None:
        # Callbacks of fsspec are not thread-safe.
        with lock:
            callback.relative_update(count)

    return report


def about(error: StoreError, subject: str) -> StoreError:
    """Return an error of a store with the part that was being stored in its text."""
    kind: Any = type(error)
    named: StoreError = kind(f"{error.problem}, storing {subject}", error.store, error.key)
    for note in getattr(error, "__notes__", ()):
        named.add_note(note)
    return named


def raise_for(failures: Sequence[tuple[str, Exception]], action: str) -> None:
    """Raise one error for all parts that failed, if any did.

    Arguments:
        failures: the descriptions of the parts, and their errors.
        action: a past participle, such as "offloaded".

    Raises:
        PartsFailed: several parts failed; it is also of the errors' class, if they share one.
    """
    if not failures:
        return
    if len(failures) == 1:
        # A single error is raised unchanged, so that `except ObjectNotFound` works.
        raise failures[0][1]
    raise PartsFailed.from_failures(action, failures) from failures[0][1]


def subject_of(position: int, part: Part) -> str:
    """Return the name of a part in errors."""
    return part.label if part.name else f"part {position} (unnamed, {part.content_type})"


def run_each(
    work: Mapping[int, Callable[[], _T]],
    subject: Callable[[int], str],
    action: str,
    stop: Stop,
    *,
    fail_fast: bool = False,
) -> dict[int, _T]:
    """Run a piece of work for each of some parts, and return the results, by position.

    Arguments:
        work: the pieces, by the position of their part.
        subject: the name of a part in errors, by its position.
        action: a past participle for the error, such as "offloaded".
        stop: cancels the work.
        fail_fast: start nothing new after a piece has failed.

    Raises:
        PartsFailed: several parts failed; a single error is raised unchanged.
    """
    values, errors = run_all([*work.values()], stop, fail_fast=fail_fast)
    places = [*work]
    raise_for([(subject(places[at]), error) for at, error in errors.items()], action)
    return dict(zip(places, values, strict=True))


def replace_parts(
    body: MessageBody,
    work: Mapping[int, Callable[[], Part]],
    action: str,
    stop: Stop,
    *,
    fail_fast: bool = False,
) -> MessageBody:
    """Replace parts of a body, which no other thread may edit, by new ones; see `run_each`."""
    made = run_each(work, lambda at: subject_of(at, body[at]), action, stop, fail_fast=fail_fast)
    for position, part in made.items():
        body[position] = part
    return body
