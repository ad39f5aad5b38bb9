"""The one door to jsonschema-rs: it is loaded when the first schema of contents is used.

It never fetches: it is told to stay offline, and references that leave a document were refused
before. Its patterns are matched in linear time, so they can't look around or back.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from messagebody._base.text import escape
from messagebody.errors import InvalidSchema, MissingDependency
from messagebody.findings import pointer

if TYPE_CHECKING:
    from types import ModuleType

    from jsonschema_rs import Draft202012Validator


@cache
def library() -> "ModuleType":
    """Return jsonschema-rs.

    Raises:
        MissingDependency: it is not installed.
    """
    try:
        import jsonschema_rs
    except ImportError as error:
        raise MissingDependency("a schema of contents", "json") from error
    loaded: ModuleType = jsonschema_rs
    return loaded


def compiled(schema: dict[str, Any] | bool) -> "Draft202012Validator":
    """Return the validator of a schema.

    Raises:
        InvalidSchema: the metaschema refuses it, a reference leads nowhere, or a pattern looks
            around or back.
    """
    rs = library()
    try:
        made: Draft202012Validator = rs.Draft202012Validator(
            schema, validate_formats=False, offline=True, pattern_options=rs.RegexOptions()
        )
    except rs.ValidationError as error:
        raise InvalidSchema(_problem(error)) from error
    return made


def _problem(error: Any) -> str:
    place = pointer(*error.instance_path) or "as a whole"
    message = escape(error.message, limit=300)
    if error.message.endswith('is not a "regex"'):
        message += "; patterns are regular: they match in linear time, without looking around"
    return f"contentSchema {place}: {message}"
