"""Steps between agents: small changes of a body, and the condition under which they are right.

A step is called with a body and returns another one. `before` says what must come in, so that what
goes out is valid.
"""

from messagebody.workflows._steps import (
    Condition,
    Drop,
    Mount,
    Name,
    OwnStep,
    Rename,
    Retype,
    Select,
    Show,
    Through,
    Unmount,
    WorkflowStep,
    drop,
    merged,
    mount,
    name,
    read_step,
    rename,
    retype,
    select,
    show,
    step,
    through,
    unmount,
)

__all__ = [
    "Condition",
    "Drop",
    "Mount",
    "Name",
    "OwnStep",
    "Rename",
    "Retype",
    "Select",
    "Show",
    "Through",
    "Unmount",
    "WorkflowStep",
    "drop",
    "merged",
    "mount",
    "name",
    "read_step",
    "rename",
    "retype",
    "select",
    "show",
    "step",
    "through",
    "unmount",
]
