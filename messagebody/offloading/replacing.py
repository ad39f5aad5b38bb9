"""A body with some of its parts replaced: all of those, or none and one error."""

from collections.abc import Callable, Mapping

from messagebody.body import MessageBody
from messagebody.offloading.failures import raise_for
from messagebody.offloading.working import Stop, run_all
from messagebody.part import Part

__all__ = ["replace_parts", "subject_of"]


def subject_of(position: int, part: Part) -> str:
    """Return what errors call a part of a body."""
    return part.label if part.name else f"part {position} (unnamed, {part.content_type})"


def replace_parts(
    body: MessageBody,
    work: Mapping[int, Callable[[], Part]],
    action: str,
    stop: Stop,
    *,
    fail_fast: bool = False,
) -> MessageBody:
    """Return a copy of a body with parts replaced by what is made of them.

    Arguments:
        body: the body, which is not changed.
        work: by position, what makes the new part.
        action: what is done to the parts, such as "offloaded"; for the error.
        stop: cancels the work.
        fail_fast: begin nothing new once a part has failed.

    Raises:
        PartsFailed: several parts failed, for different reasons; one error is raised as it is.
    """
    result = body.copy()  # as it is now: who gave the body may go on with it
    outcomes = dict(zip(work, run_all([*work.values()], stop, fail_fast=fail_fast), strict=True))
    raise_for(
        [
            (subject_of(position, result[position]), outcome.error)
            for position, outcome in outcomes.items()
            if outcome.error is not None
        ],
        action,
    )
    for position, outcome in outcomes.items():
        result[position] = outcome.value
    return result
