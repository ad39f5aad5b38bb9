"""Registration of bodies, parts and schemas with Celery's JSON serializer."""

from functools import partial

from messagebody.errors import MissingDependency
from messagebody.frameworks import values

try:
    from kombu.utils.json import register_type
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.celery", "celery") from error


def register_types() -> None:
    """Let tasks take and return bodies, parts and schemas.

    Call it where the tasks are defined: the sender and the worker both need it.
    """
    for kind in values.KINDS:
        read = partial(values.from_values, kind)
        register_type(kind, f"messagebody.{kind.__name__}", values.to_values, read)
