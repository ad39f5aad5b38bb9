"""Hooks of cattrs for bodies, parts and schemas."""

from typing import Any

from messagebody.errors import MissingDependency
from messagebody.frameworks import values

try:
    from cattrs import BaseConverter
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.cattrs", "cattrs") from error


def register_hooks(converter: BaseConverter) -> None:
    """Teach a converter of cattrs to write and read bodies, parts and schemas.

    Arguments:
        converter: any converter, including the preconfigured ones of `cattrs.preconf`.
    """

    def structure(value: Any, kind: type) -> Any:
        return values.from_values(kind, value)

    # By predicate and not by type, because cattrs would treat them as sequences and attrs classes.
    converter.register_structure_hook_func(values.is_known, structure)
    converter.register_unstructure_hook_func(values.is_known, values.to_values)
