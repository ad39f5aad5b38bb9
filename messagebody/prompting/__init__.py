"""Prompts: what a model is to see of a body, and tools with which it reads the rest."""

from messagebody.prompting.counting import estimate_tokens
from messagebody.prompting.prompt import Omission, Prompt, to_prompt
from messagebody.prompting.reader import Reader

__all__ = ["Omission", "Prompt", "Reader", "estimate_tokens", "to_prompt"]
