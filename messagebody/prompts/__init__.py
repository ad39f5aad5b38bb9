"""Prompts: what a model sees of a body, tools to read the rest, and drafts that a model writes."""

from messagebody.prompts._counting import estimate_tokens
from messagebody.prompts._draft import Draft
from messagebody.prompts._output import OutputSchema, output_schema
from messagebody.prompts._prompt import Omission, Prompt, to_prompt
from messagebody.prompts._reader import Reader, line_of
from messagebody.prompts._toolbox import (
    Toolbox,
    ToolError,
    description_of,
    parameters_of,
    require_toolbox,
    told_to_model,
    tool,
)

__all__ = [
    "Draft",
    "Omission",
    "OutputSchema",
    "Prompt",
    "Reader",
    "ToolError",
    "Toolbox",
    "description_of",
    "estimate_tokens",
    "line_of",
    "output_schema",
    "parameters_of",
    "require_toolbox",
    "to_prompt",
    "told_to_model",
    "tool",
]
