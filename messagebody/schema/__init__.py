"""Schemas: which parts a body may and must have, and what is wrong with one that breaks it."""

from messagebody.schema.body_schema import MessageBodySchema
from messagebody.schema.schema_part import SchemaPart
from messagebody.schema.violations import Violation

__all__ = ["MessageBodySchema", "SchemaPart", "Violation"]
