"""A plugin for A2A's conformance kit: it gives one of its rows the error that the row's text names.

The row says that a type which an agent does not support "MUST result in
ContentTypeNotSupportedError", but does not name the error where the kit looks for it. So the kit
takes a server that reads the type for a right one, and a server that refuses it for a wrong one.
"""

from tck.requirements.base import CONTENT_TYPE_NOT_SUPPORTED_ERROR
from tck.requirements.registry import get_requirement_by_id

get_requirement_by_id("CORE-SEND-003").expected_error = CONTENT_TYPE_NOT_SUPPORTED_ERROR
