"""Tools for models: methods that answer with text, even for errors, and their JSON Schemas.

A model can't use an exception, and most frameworks end the run. So a tool never raises because of a
model's mistake. It answers with the error's statement, without the advice, which would tell the
model which permission to ask for.
"""

import functools
import inspect
import json
import re
import types
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, TypeVar, get_args, get_origin

from messagebody._core import MessageBody, escape, quote, redact_places, redact_url
from messagebody.errors import InvalidArgument, LocalFileChanged, MessageBodyError

_F = TypeVar("_F", bound=Callable[..., str])

_TYPES: Final = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
_ARGUMENT: Final = re.compile(r"^    (\w+): (.+(?:\n        .+)*)", re.MULTILINE)


class ToolError(str):
    """The answer of a tool that could not do what a model asked for: a text that says why."""

    __slots__ = ()


def tool(method: _F) -> _F:
    """Make a method a tool: wrong arguments and errors become answers, each a `ToolError`.

    Examples:
        >>> class Clock(Toolbox):
        ...     TOOLS = ("hour",)
        ...
        ...     @tool
        ...     def hour(self, zone: str) -> str:
        ...         '''Tell the hour.
        ...
        ...         Arguments:
        ...             zone: the time zone.
        ...         '''
        ...         return f"noon in {zone}"
        >>> Clock().call("hour", {"zone": "Oslo"}), Clock().call("hour", {"zone": 3})
        ('noon in Oslo', 'Error: hour: zone is string, got 3 (int)')
    """

    @functools.wraps(method)
    def answer(*given: Any, **named: Any) -> str:
        try:
            # Arguments are bound before the call, because a TypeError in the tool is not the
            # model's mistake.
            bound = inspect.signature(method).bind(*given, **named)
        except TypeError as error:
            return ToolError(f"Error: {method.__name__}: {error}")
        bound.arguments.update(_whole(bound.arguments))
        wrong = _wrong(method, bound.arguments)
        if wrong:
            return ToolError(f"Error: {method.__name__}: {wrong}")
        try:
            return method(*bound.args, **bound.kwargs)
        except MessageBodyError as error:
            return ToolError(f"Error: {told_to_model(error)}")

    return answer  # type: ignore[return-value]


def told_to_model(error: MessageBodyError) -> str:
    """Return what a model learns of an error: no place on this machine, and no advice.

    The advice names permissions, and a model would ask for them.
    """
    said = error.statement
    if isinstance(error, LocalFileChanged):
        said = said.replace(escape(error.path), "…")
    return redact_places(said)


def shown_url(url: str) -> str:
    """Return what a model reads of a URL: no signature, and no place on this machine.

    Examples:
        >>> shown_url("file:///home/me/a.png"), shown_url("https://e.com/a.png?sig=x")
        ('file:…', 'https://e.com/a.png?…')
    """
    return redact_places(redact_url(url, limit=100))


class Toolbox:
    """A set of tools for one object.

    Subclasses list the names of their tools in `TOOLS`; each is a method with annotations and a
    docstring, from which its description and its JSON Schema are made.
    """

    TOOLS: ClassVar[tuple[str, ...]] = ()

    @property
    def functions(self) -> tuple[Callable[..., str], ...]:
        """The tools as functions that return text and raise nothing."""
        return tuple(getattr(self, name) for name in self.TOOLS)

    def openai_tools(self) -> list[dict[str, Any]]:
        """Return the tools as the `tools` of OpenAI's Chat Completions, in strict mode.

        The Responses API takes the inner objects, with `type` beside their name.
        """
        return [
            {
                "type": "function",
                "function": {
                    "name": function.__name__,
                    "description": description_of(function),
                    "parameters": parameters_of(function),
                    "strict": True,
                },
            }
            for function in self.functions
        ]

    def call(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """Return a tool's answer to a model's call; mistakes in the call raise no error.

        Arguments:
            name: the name of the tool.
            arguments: its arguments, or their JSON.
        """
        if name not in self.TOOLS:
            return ToolError(f"Error: no tool {quote(name)}; there are {', '.join(self.TOOLS)}")
        if isinstance(arguments, str):
            try:
                # Providers send an empty string for a call without arguments.
                arguments = json.loads(arguments or "{}", parse_int=_integer)
            except (ValueError, RecursionError):
                return ToolError(f"Error: the arguments of {name} are not JSON")
        if not isinstance(arguments, Mapping):
            return ToolError(f"Error: the arguments of {name} are not an object")
        # Keys become text, because a caller's mapping may have other keys, which `**` refuses.
        return getattr(self, name)(**{str(key): value for key, value in arguments.items()})  # type: ignore[no-any-return]


def require_toolbox(value: Toolbox) -> Toolbox:
    """Return the tools of a reader or a draft.

    Raises:
        InvalidArgument: it is something else.
    """
    if isinstance(value, Toolbox):
        return value
    raise InvalidArgument("a Reader or a Draft", value)


def description_of(function: Callable[..., str]) -> str:
    """Return the description of a tool for a model: its docstring up to the arguments."""
    return inspect.getdoc(function).partition("\n\nArguments:")[0]  # type: ignore[union-attr]


def parameters_of(function: Callable[..., str], *, strict: bool = True) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments.

    Arguments:
        function: the tool.
        strict: require every argument, as strict modes of providers do; an argument with a default
            may be null. Otherwise it may also be left out.
    """
    about = dict(_ARGUMENT.findall(inspect.getdoc(function) or ""))
    properties = {}
    parameters = inspect.signature(function).parameters
    for name, parameter in parameters.items():
        if name == "self":
            continue
        kinds = [{"type": _TYPES[kind]} for kind in _kinds(parameter.annotation)]
        # Not a list of types, which Google's SDK and others refuse.
        stated = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        properties[name] = {**stated, "description": " ".join(about[name].split())}
    return {
        "type": "object",
        "properties": properties,
        "required": [
            name
            for name in properties
            # OpenAI's strict mode refuses a schema that leaves a property out of `required`.
            if strict or parameters[name].default is inspect.Parameter.empty
        ],
        "additionalProperties": False,
    }


def _kinds(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is types.UnionType else (annotation,)


def _integer(digits: str) -> int | float:
    # Python refuses to read thousands of digits, and the tool then says what it expects.
    return int(digits) if len(digits) < 1000 else float(digits)


def _whole(arguments: Mapping[str, Any]) -> dict[str, int]:
    """Return the whole numbers that came as floats: JSON has one kind of number."""
    return {
        name: int(value)
        for name, value in arguments.items()
        if isinstance(value, float) and value.is_integer()
    }


def _wrong(method: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    for name, parameter in inspect.signature(method).parameters.items():
        if name == "self" or name not in arguments:
            continue
        kinds, value = _kinds(parameter.annotation), arguments[name]
        # In JSON, a boolean is not an integer.
        if isinstance(value, bool) != (bool in kinds) or not isinstance(value, kinds):
            if value is None and type(None) in kinds:
                continue
            expected = " or ".join(_TYPES[kind] for kind in kinds)
            got = "null" if value is None else quote(value, limit=40)
            return f"{name} is {expected}, got {got}"
    return ""


def find_part(body: MessageBody, part: str) -> int:
    """Return the position of a part, which a model gives as a name or a number.

    Raises:
        PartNotFound: there is no such part; the text suggests a name.
    """
    # Python refuses to read thousands of digits, and no body has a billion parts.
    is_number = part.isascii() and part.isdigit() and len(part) < 10
    return int(part) if is_number and int(part) < len(body) else body.index(part)
