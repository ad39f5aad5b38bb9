"""Which formats there are, by name: those of the package and of others, and which a value has."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import EntryPoint
from itertools import compress
from pkgutil import resolve_name
from types import ModuleType
from typing import Any, Final, Union, cast

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import Limits, face, nearest, plugins, quote, require_body
from messagebody.adapters._contract import Adapter, Converted
from messagebody.adapters._conversation.messages import are_most, messages_of
from messagebody.errors import InvalidArgument, MessageBodyError

# A new format needs one module and one line here; another package adds one by an entry point.
# Modules are imported on first use: most programs speak one format.
_adapters: dict[str, str | Adapter] = {
    "a2a": "messagebody.adapters._formats.a2a.message:FORMAT",
    "a2a-0.3": "messagebody.adapters._formats.a2a.message:FORMAT_0_3",
    "acp": "messagebody.adapters._formats.acp.message:FORMAT",
    "ag-ui": "messagebody.adapters._formats.ag_ui.message:FORMAT",
    "agent-client": "messagebody.adapters._formats.agent_client.message:FORMAT",
    "agents-api": "messagebody.envelopes.agents_api",
    "anthropic": "messagebody.adapters._formats.anthropic.message:FORMAT",
    "bedrock": "messagebody.adapters._formats.bedrock.message:FORMAT",
    "channel": "messagebody.envelopes.channel",
    "gemini": "messagebody.adapters._formats.gemini.message:FORMAT",
    "haystack": "messagebody.adapters._formats.haystack.message:FORMAT",
    "langchain": "messagebody.adapters._formats.langchain.message:FORMAT",
    "llamaindex": "messagebody.adapters._formats.llamaindex.message:FORMAT",
    "mcp": "messagebody.adapters._formats.mcp.message:FORMAT",
    "mime": "messagebody.archives.mime",
    "olympus": "messagebody.envelopes.olympus",
    "openai-chat": "messagebody.adapters._formats.openai_chat.message:FORMAT",
    "openai-responses": "messagebody.adapters._formats.openai_responses.message:FORMAT",
    "pydantic-ai": "messagebody.adapters._formats.pydantic_ai.message:FORMAT",
    "sentient": "messagebody.envelopes.sentient",
    "tar": "messagebody.archives.tar",
    "vercel-ai": "messagebody.adapters._formats.vercel_ai.message:FORMAT",
    "zip": "messagebody.archives.zip",
}

_OWN: Final = frozenset({*_adapters, "body", "messagebody"})
"""Names that no other package may take: those above, and what the shell calls a body."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")

_PLACE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[^\W\d]\w*)?")

_FUNCTIONS: Final = ("to_body", "from_body", "detect", "iter_findings")

_SURE: Final = 100.0
"""The evidence of a format that says only yes or no: more than members and blocks add up to."""

GROUP: Final = "messagebody.adapters"
"""The group of entry points that other packages register their formats in."""


@cache
def _installed() -> dict[str, EntryPoint]:
    """Return the formats of other installed packages; they can't replace a name of this one."""
    return plugins.installed(GROUP, _OWN)


def register(name: str, adapter: str | Adapter) -> None:
    """Make an adapter known by name, for this program.

    A package makes its adapter known to each program by an entry point of the group
    `messagebody.adapters`, whose name is the format's.

    Arguments:
        name: what users type, such as "agents-api": letters, digits and ". _ + -".
        adapter: the adapter, or where it is, imported on first use: the dotted name of a module
            that is one, or "module:name".

    Raises:
        InvalidArgument: the name has other characters, or the adapter is none.
        MessageBodyError: the name is taken by another adapter, or by the package itself.
    """
    require_format_name(name)
    if not isinstance(adapter, str):
        _require_adapter(adapter)
    elif not _PLACE.fullmatch(adapter):
        raise InvalidArgument('an adapter, or where it is, such as "package.module:name"', adapter)
    if _known(name, adapter) != adapter:
        raise MessageBodyError(f"adapter {quote(name)} is registered already")
    _adapters[name] = adapter


def _known(name: str, new: str | Adapter) -> object:
    """Return what has a name already, the new adapter if nothing has it."""
    if name in _installed():
        return plugins.load(_installed()[name])
    return _adapters.get(name, None if name in _OWN else new)


def require_format_name(value: str) -> str:
    """Return a name that a format may have.

    Raises:
        InvalidArgument: it is none.
    """
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    shown = quote(value, limit=60)
    raise InvalidArgument('the name of a format, such as "my-notes"', got=shown)


def _require_adapter(value: Any) -> Adapter:
    if isinstance(value, type):
        raise InvalidArgument(f"an adapter, such as {value.__name__}()", value)
    missing = [each for each in _FUNCTIONS if not callable(getattr(value, each, None))]
    if missing:
        raise InvalidArgument(
            f"an adapter with the functions {', '.join(_FUNCTIONS)}",
            value,
            f"it has no {' and no '.join(missing)}",
        )
    return cast("Adapter", value)


def adapter_names() -> tuple[str, ...]:
    """Return the names of all registered adapters, sorted.

    Examples:
        >>> "agents-api" in adapter_names()
        True
    """
    return tuple(sorted({*_adapters, *_installed()}))


def adapter(name: str) -> Adapter:
    """Return the adapter registered under `name`.

    Raises:
        MessageBodyError: no adapter has that name; the text lists the names. Or the adapter of
            another package can't be loaded; the text names the package.

    Examples:
        >>> adapter("agents-api").detect({"role": "user", "content": "Hello"})
        True
    """
    if not isinstance(name, str):
        raise InvalidArgument(
            "the name of a format", name, "write('openai-chat', body) has it first"
        )
    found = _adapters.get(name)
    if found is None and name in _installed():
        found = _adapters[name] = _loaded(_installed()[name])
    if found is None:
        raise MessageBodyError(_unknown(name))
    if isinstance(found, str):
        found = _adapters[name] = cast("Adapter", resolve_name(found))
        if isinstance(found, ModuleType):
            vars(found).setdefault("__getattr__", face(found.__name__, hints="adapter")[0])
    return found


def _loaded(entry: EntryPoint) -> Adapter:
    found = plugins.load(entry)
    try:
        return _require_adapter(found)
    except InvalidArgument as error:
        raise MessageBodyError(f"{plugins.described(entry)} is no adapter: {error}") from error


def each_adapter() -> Iterator[tuple[str, Adapter]]:
    """Yield all adapters with their names, sorted.

    It warns of an adapter of another package that can't be loaded, and goes on with the others.
    """
    for name in adapter_names():
        try:
            found = adapter(name)
        except Exception as error:
            if name in _OWN:
                raise
            plugins.warn_of(f"the format {quote(name)}", plugins.said_by(error))
        else:
            yield name, found


def read_within(
    limits: Limits, name: str, message: Any, **options: Any
) -> Converted["messagebody.MessageBody"]:
    """Return the body of a message in a format, read within limits."""
    to_body: Callable[..., Converted[Any]] = adapter(name).to_body
    return to_body(message, limits=limits, **options)


def write(
    name: str,
    converted: Union["messagebody.MessageBody", Converted["messagebody.MessageBody"]],
    **options: Any,
) -> Converted[Any]:
    """Return the message in a format for a body, and for its rest if it has any.

    Arguments:
        name: the format.
        converted: a body, or what `to_body` of any format returned.
        **options: those of the format's `from_body`.

    Raises:
        InvalidArgument: it is neither.

    Examples:
        >>> from messagebody import MessageBody
        >>> write("openai-chat", MessageBody(["Hello!"])).value
        {'role': 'user', 'content': 'Hello!'}
    """
    from_body: Callable[..., Converted[Any]] = adapter(name).from_body
    if not isinstance(converted, Converted):
        return from_body(require_body(converted), **options)
    if converted.rest is not None:
        options["rest"] = converted.rest
    return from_body(converted.value, **options)


def detect(value: Any) -> tuple[str, ...]:
    """Return the names of all formats that a parsed JSON value looks like, sorted.

    Arguments:
        value: parsed JSON.

    A value that fits several formats has several names. The format agents-api takes any object with
    a role and content, so it is named beside others only for an object of just a role and a text. A
    list that is not a message itself may be a conversation, for `to_bodies`, and so may an object
    that holds one, such as `{"messages": […]}`: it has the formats that all its messages have in
    common, or all but those of the system and single items of a kind that no format knows.

    Examples:
        >>> hello = {"role": "user", "content": "Hello"}
        >>> no = {"role": "assistant", "content": None, "refusal": "No."}
        >>> detect(hello), detect([1, 2])
        (('agents-api', 'anthropic', 'openai-chat'), ())
        >>> detect(no), detect([hello, no])
        (('openai-chat',), ('openai-chat',))
    """
    found = _detected(value)
    messages = value if isinstance(value, list) else messages_of(value, _is_told, most=True)
    if not found and messages is not value and messages:
        found = _detected(messages)  # some formats have lists of items
    if found or not messages:
        return found
    common = _common(messages)
    if not common:
        known = [bool(set(_detected(each)) - _OF_ANY) for each in messages]
        common = _common([*compress(messages, known)]) if are_most(known, messages) else common
    return tuple(sorted(common))


_OF_ANY: Final = {"agents-api"}
"""The formats that know a message by a role and a text alone, so that they know any role."""


def _common(messages: list[Any]) -> set[str]:
    """Return the formats that messages have in common, or all but those of the system."""
    # Instructions stand in a list of several services whose types have another place for them.
    spoken = [each for each in messages if not _instructs(each)]
    for some in (messages, spoken or messages):
        every = [set(_detected(each)) if isinstance(each, dict) else set() for each in some]
        if common := set.intersection(*every):
            return common | _speaking_for_all(messages, some)
    return set()


def _speaking_for_all(messages: list[Any], some: list[Any]) -> set[str]:
    """Return "openai-chat" if it has all messages, where others leave the system's out."""
    if len(some) == len(messages):
        return set()
    chat: Any = adapter("openai-chat")
    held = [each.get("content") for each in messages if chat.detect(each)]
    are_known = all(all(map(chat.knows, each)) for each in held if isinstance(each, list))
    return {"openai-chat"} if are_known and len(held) == len(messages) else set()


def _instructs(value: Any) -> bool:
    """Return whether a message is that of the system."""
    return isinstance(value, dict) and value.get("role") in ("system", "developer")


def _is_told(value: Any) -> bool:
    """Return whether a value looks like a message, and not like a block, which states its type."""
    return isinstance(value, dict) and "type" not in value and bool(_detected(value))


def _detected(value: Any) -> tuple[str, ...]:
    found = {name: _evidence_of(name, each, value) for name, each in each_adapter()}
    most = max(found.values())
    return tuple(name for name, much in found.items() if much == most > 0)


def _evidence_of(name: str, found: Adapter, value: Any) -> float:
    """Return the evidence of an adapter; none if it is of another package and fails."""
    try:
        evidence = evidence_of(found, value)
    except Exception as error:
        if name in _OWN:
            raise
        plugins.warn_of(f"the format {quote(name)}", f"its detect failed: {plugins.said_by(error)}")
        return 0
    return max(0, evidence)  # nor is NaN evidence


def evidence_of(found: Adapter, value: Any) -> float:
    """Return how much of a value is of an adapter's format, 0 if it does not look like it.

    Of several formats, `detect` names those with the most.

    Arguments:
        found: the adapter.
        value: parsed JSON.

    Examples:
        >>> call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
        >>> answer = {"role": "assistant", "content": [call]}
        >>> evidence_of(adapter("anthropic"), answer) > evidence_of(adapter("gemini"), answer)
        True
    """
    evidence = getattr(found, "evidence", None)
    if evidence is not None:
        return float(evidence(value))
    # The adapters of envelopes and of other packages only say yes or no.
    if not found.detect(value):
        return 0
    # A role and a text is what a message of many formats has.
    is_plain = isinstance(value, dict) and "role" in value and "schema" not in value
    return (1 if len(value) == 2 else 0.5) if is_plain else _SURE


def _unknown(name: str) -> str:
    near = meant_by(name)
    hint = f" (did you mean {quote(near)}?)" if near else ""
    return f"no adapter {quote(name)}{hint}; there are {', '.join(adapter_names())}"


_KNOWN_AS: Final = {
    "claude": "anthropic", "messages": "anthropic", "chat": "openai-chat", "gpt": "openai-chat",
    "chatgpt": "openai-chat", "openai": "openai-chat", "completions": "openai-chat",
    "responses": "openai-responses", "google": "gemini", "vertex": "gemini", "aws": "bedrock",
    "converse": "bedrock", "vercel": "vercel-ai", "ai-sdk": "vercel-ai", "langgraph": "langchain",
    "pydantic": "pydantic-ai", "agent2agent": "a2a", "email": "mime", "multipart": "mime",
}  # fmt: skip
"""Formats by the names of their makers, and by others that they go by."""


def meant_by(name: str) -> str:
    """Return the format that is probably meant by a name that none has, or "".

    Examples:
        >>> meant_by("claude"), meant_by("antropic"), meant_by("soap")
        ('anthropic', 'anthropic', '')
    """
    name = name.lower().replace("_", "-").replace(" ", "-")
    return _KNOWN_AS.get(name) or nearest(name, adapter_names())
