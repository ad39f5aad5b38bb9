"""Drafts: bodies that a model writes for a schema, as structured output or with tools."""

from messagebody.drafting.draft import Draft
from messagebody.drafting.output import OutputSchema, output_schema

__all__ = ["Draft", "OutputSchema", "output_schema"]
