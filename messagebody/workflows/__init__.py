"""Workflows: agents with steps between them, proved before the first message is sent.

A step is called with a body and returns another one. `before` says what must come in, so that what
goes out is valid. `Workflow.check` says of each agent whether what reaches it is always valid.
"""

from typing import TYPE_CHECKING

from messagebody._core import face
from messagebody.workflows._adaptation import Adaptation, FoundSteps, adapt, lost_text
from messagebody.workflows._answers import (
    AgentAnswer,
    Breach,
    BreachKind,
    Edge,
    Flow,
    Passage,
    WorkflowAnswer,
)
from messagebody.workflows._report import report_lines, workflow_page
from messagebody.workflows._steps import (
    Condition,
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
from messagebody.workflows._workflow import Workflow

__all__ = [
    "Adaptation",
    "AgentAnswer",
    "Breach",
    "BreachKind",
    "Condition",
    "Edge",
    "Flow",
    "FoundSteps",
    "Passage",
    "Workflow",
    "WorkflowAnswer",
    "WorkflowStep",
    "adapt",
    "drop",
    "lost_text",
    "merged",
    "mount",
    "name",
    "read_step",
    "rename",
    "report_lines",
    "retype",
    "select",
    "show",
    "step",
    "through",
    "unmount",
    "workflow_page",
]

if not TYPE_CHECKING:  # a type checker would assume that the module has every name
    __getattr__, _ = face(__name__)
