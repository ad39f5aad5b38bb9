"""Tools of a reader or a draft as tools of LangChain, for agents of LangChain and LangGraph."""

from messagebody.errors import MissingDependency
from messagebody.prompts import Toolbox, description_of, parameters_of, require_toolbox

try:
    from langchain_core.tools import StructuredTool
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.langchain", "langchain") from error


def tools(toolbox: Toolbox) -> list[StructuredTool]:
    """Return the tools of a `Reader` or a `Draft` for `bind_tools` and agents.

    Arguments:
        toolbox: the reader or draft.

    Raises:
        InvalidArgument: it is something else.
    """
    return [
        StructuredTool.from_function(
            function,
            name=function.__name__,
            description=description_of(function),
            args_schema=parameters_of(function),
        )
        for function in require_toolbox(toolbox).functions
    ]
