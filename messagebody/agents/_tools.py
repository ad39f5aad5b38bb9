"""Tools as agents: they take arguments and send a result, both described by JSON Schema.

The tools of MCP servers, the functions of OpenAI, Anthropic and Gemini, and the tools of LangChain
and pydantic-ai, as JSON or as objects; no library is imported.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from messagebody._core import nearest, quote
from messagebody.errors import InvalidSchema
from messagebody.findings import pointer
from messagebody.schema import MessageBodySchema, SchemaPart

_UNSTRUCTURED: Final = (
    SchemaPart(None, "{text,image,audio}/*"), SchemaPart(None, "application/json"),
    SchemaPart("/**"),
)  # fmt: skip
"""What a result may hold beside structured content: texts, pictures, sounds, and resources."""
BLOCKS: Final = (SchemaPart(None, "{text,image,audio}/*"), SchemaPart("/**"))
"""What a result of MCP without structured content may hold."""
_ANYTHING: Final = (SchemaPart(), SchemaPart("/**"))
_LISTS: Final = ("tools", "functionDeclarations", "function_declarations")
"""Members of objects that hold tools: a list of MCP or a request, and a tool of Gemini."""
_INPUT_MEMBERS: Final = (
    "inputSchema", "input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema",
)  # fmt: skip
"""Members with the schema of arguments: of MCP, Anthropic, OpenAI and Gemini."""
_OUTPUT_MEMBERS: Final = (
    "outputSchema",
    "output_schema",
    "response",
    "responseJsonSchema",
    "return_schema",
)
"""Members with the schema of results."""
_OPENAPI_MEMBERS: Final = ("parameters", "response")
"""Members that Gemini writes in words of OpenAPI: types in capitals, and `nullable`."""

_LIKE: Final = 0.75
"""How much a misspelt member is like one of these."""
_LONGEST: Final = 40
"""Characters of a member that may be a misspelt one."""


@attrs.frozen
class Tool:
    """A tool: its name, and the schemas of its arguments and results.

    Arguments:
        name: how models call it.
        taken: the JSON Schema of its arguments.
        sent: the JSON Schema of its structured result; None if it states none.
        members: all that it states.
    """

    name: str
    taken: Any
    sent: Any = None
    members: Mapping[str, Any] = attrs.field(factory=dict, hash=False)

    @property
    def input(self) -> MessageBodySchema:
        """The arguments: an unnamed part of JSON."""
        return MessageBodySchema([SchemaPart(required=True, content_schema=self.taken)])

    @property
    def output(self) -> MessageBodySchema:
        """The result: structured content if its schema is stated, and what may stand beside it."""
        if self.sent is None:
            return MessageBodySchema(_ANYTHING)
        structured = SchemaPart(required=True, content_schema=self.sent)
        return MessageBodySchema([structured, *_UNSTRUCTURED])


def tools_in(data: Any) -> Iterator[tuple[str, Any]] | None:
    """Return the tools of an object that lists them, each with its place; None for any other."""
    if not isinstance(data, Mapping):
        return None
    if isinstance(data.get("result"), Mapping):  # an answer of JSON-RPC
        found = tools_in(data["result"])
        return found and ((f"/result{where}", each) for where, each in found)
    for member in _LISTS:
        if isinstance(data.get(member), list):
            return flatten_tools(data[member], pointer(member))
    return None


def flatten_tools(tools: Iterable[Any], place: str) -> Iterator[tuple[str, Any]]:
    """Yield the tools of a list, and of the lists in it, each with its place."""
    for at, each in enumerate(tools):
        where = f"{place}/{at}"
        inner = tools_in(each)
        if inner is None:
            yield where, each
        else:
            yield from ((where + below, tool) for below, tool in inner)


def is_tool(data: Mapping[str, Any]) -> bool:
    """Return whether an object looks like a tool."""
    function = data.get("function")
    return data.get("type") == "function" or isinstance(function, Mapping) or (
        "name" in data and any(member in data for member in _INPUT_MEMBERS)
    )  # fmt: skip


def read_whole_tool(tool: Any) -> Tool:
    """Read a tool, and require the schema of its arguments where its form has to state it.

    Raises:
        InvalidSchema: it is none, has no name, or a schema is missing or its member misspelt.
    """
    found = read_tool(tool)
    data = found.members
    for members in (_INPUT_MEMBERS, _OUTPUT_MEMBERS):
        if all(data.get(member) is None for member in members):
            for key in (key for key in data if key not in _INPUT_MEMBERS + _OUTPUT_MEMBERS):
                if near := _nearest_member(key, members):
                    raise InvalidSchema(f"tool {quote(found.name)} has {quote(key)}; "
                                        f"did you mean {quote(near)}?")  # fmt: skip
    # Functions may have no arguments, and those that a service runs have none to state.
    is_typed = isinstance(tool, Mapping) and tool.get("type", "custom") != "custom"
    if not is_typed and all(data.get(member) is None for member in _INPUT_MEMBERS):
        raise InvalidSchema(f"tool {quote(found.name)} states no inputSchema")
    return found


def _nearest_member(key: Any, members: tuple[str, ...]) -> str:
    """Return the member that a key is a misspelling of, or ""."""
    if not isinstance(key, str) or len(key) > _LONGEST:
        return ""
    plain = {each.replace("_", "").lower(): each for each in reversed(members)}
    near = nearest(key.replace("_", "").replace("-", "").lower(), plain, _LIKE)
    return plain.get(near, "")


def read_tool(tool: Any) -> Tool:
    """Read a tool from JSON or from an object of a library.

    Raises:
        InvalidSchema: it is none, or has no name.
    """
    data = tool if isinstance(tool, Mapping) else _tool_data(tool)
    if isinstance(data.get("function"), Mapping):  # of OpenAI's Chat Completions
        data = data["function"]
    name = data.get("name")
    if not isinstance(name, str) or not name:
        raise InvalidSchema(f"a tool's name is text, got {quote(name)}")
    taken, sent = (
        _first_member(data, _INPUT_MEMBERS, {"type": "object"}),
        _first_member(data, _OUTPUT_MEMBERS, None),
    )
    return Tool(name, taken, sent, data)


def _first_member(data: Mapping[str, Any], members: tuple[str, ...], default: Any) -> Any:
    for member in members:
        if data.get(member) is not None:
            value = data[member]
            return _without_openapi(value) if member in _OPENAPI_MEMBERS else value
    return default


def _tool_data(tool: Any) -> Mapping[str, Any]:
    """Return the members of an object of a library that describes a tool."""
    for reads in (_pydantic_ai_tool, _langchain_tool, _model_tool):
        found = reads(tool)
        if found is not None:
            return found
    raise InvalidSchema(f"a tool is an object with a name and a schema, got {quote(tool)}")


def _pydantic_ai_tool(tool: Any) -> Mapping[str, Any] | None:
    definition = getattr(tool, "tool_def", tool)
    if not hasattr(definition, "parameters_json_schema"):
        return None
    sent = getattr(definition, "return_schema", None)
    # A text is sent as it is, which is no JSON.
    is_object = isinstance(sent, Mapping) and sent.get("type") == "object"
    return {
        "name": definition.name,
        "parametersJsonSchema": definition.parameters_json_schema,
        "return_schema": sent if is_object else None,
    }


def _langchain_tool(tool: Any) -> Mapping[str, Any] | None:
    taken = getattr(tool, "tool_call_schema", None)  # without what the program injects
    if taken is None:
        return None
    if not isinstance(taken, Mapping):
        taken = taken.model_json_schema()
    return {"name": tool.name, "inputSchema": taken}


def _model_tool(tool: Any) -> Mapping[str, Any] | None:
    dump: Callable[..., Any] | None = getattr(tool, "model_dump", None)
    if dump is None:
        return None
    found = dump(by_alias=True, exclude_none=True)
    return found if isinstance(found, Mapping) else None


def _without_openapi(schema: Any) -> Any:
    """Return a schema whose types may be words of OpenAPI in the words of JSON Schema."""
    if isinstance(schema, list):
        return [_without_openapi(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: _without_openapi(value) for key, value in schema.items()}
    kind = made.get("type")
    if isinstance(kind, str) and kind.isupper():
        made["type"] = kind.lower()
    # Members may have these names too, but then their values are schemas.
    is_nullable = isinstance(made.get("nullable"), bool) and made.pop("nullable")
    if is_nullable and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    return made
