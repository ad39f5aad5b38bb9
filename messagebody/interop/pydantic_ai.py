"""Tools of a reader or a draft as a toolset of pydantic-ai."""

from typing import Any

from messagebody.errors import InvalidArgument, MissingDependency
from messagebody.toolbox import Toolbox, description_of, parameters_of

try:
    from pydantic_ai import FunctionToolset, Tool
except ImportError as error:
    raise MissingDependency("messagebody.interop.pydantic_ai", "pydantic-ai") from error


def toolset(toolbox: Toolbox) -> "FunctionToolset[Any]":
    """Return the tools of a `Reader` or a `Draft`, for `Agent(toolsets=[…])`.

    Arguments:
        toolbox: the reader or draft.

    Raises:
        InvalidArgument: it is something else.
    """
    if not isinstance(toolbox, Toolbox):
        raise InvalidArgument("a Reader or a Draft", toolbox)
    return FunctionToolset(
        [
            Tool.from_schema(
                function,
                name=function.__name__,
                description=description_of(function),
                json_schema=parameters_of(function),
            )
            for function in toolbox.functions
        ]
    )
