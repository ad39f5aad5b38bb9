"""Prompts: the part of a body that a model should see, and tools to read the rest."""

from messagebody.prompting.counting import estimate_tokens
from messagebody.prompting.prompt import Omission, Prompt, to_prompt
from messagebody.prompting.reader import Reader

__all__ = ["Omission", "Prompt", "Reader", "estimate_tokens", "to_prompt"]
