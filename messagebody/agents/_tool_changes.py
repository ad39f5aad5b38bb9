"""Two lists of tools, before a change and after it: what breaks for those who call and read them.

Arguments are taken and results are sent, so the two are compared in opposite directions.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final, Literal

import attrs

from messagebody._core import DEFAULT_STEPS, answer_repr, quote, require_iterable, strict_json
from messagebody.agents._tools import Tool, flatten_tools, is_tool, read_whole_tool, tools_in
from messagebody.compatibility import Reason, Verdict, check
from messagebody.errors import InvalidSchema
from messagebody.schema import MessageBodySchema, SchemaPart

_Side = Literal["input", "output", "tool"]
_NOTHING: Final = object()
_CALLERS: Final = {
    "required": "a caller may no longer leave out {places}{kind}",
    "sent": "{place}a caller may no longer send {sent}; the tool takes {taken}",
}
_READERS: Final = {
    "required": "a reader may no longer get {places}{kind}, which the tool may leave out",
    "sent": "{place}a reader may now get {sent}; the tool promised {taken}",
}
_COMPOSED: Final = frozenset(
    {"allOf", "oneOf", "not", "if", "dependentSchemas", "dependentRequired", "dependencies",
     "minProperties", "maxContains", "$dynamicRef", "$recursiveRef"}
)  # fmt: skip
"""Words that look at the members of an object from another place."""
_NO_MEMBERS: Final = frozenset({"type", "$schema", "$id", "title", "description", "required"})
"""Words of a schema that declares no members."""
_SHOWN: Final = 400
"""Characters of a value in a text."""


@attrs.frozen
class ToolBreak:
    """Something that breaks for those who call a tool or read its results.

    Arguments:
        tool: the name of the tool.
        side: "input" for its arguments, "output" for its results, "tool" for the tool itself.
        reasons: what breaks, one clause each; of a question that is undecided, why.
        value: arguments that were taken and are refused, or a result that may come and did not; a
            JSON value. None if there is none to show.
        has_value: whether there is one: null is a value, too.
    """

    tool: str
    side: _Side
    reasons: tuple[str, ...]
    value: Any = None
    has_value: bool = False

    def __str__(self) -> str:
        why = "; ".join(self.reasons)
        if not self.has_value:
            return f"{quote(self.tool)}: {why}"
        return f"{quote(self.tool)}: {why}: such as {self.value_text}"

    @property
    def value_text(self) -> str:
        """The value as JSON, as far as a line of text shows it."""
        text = strict_json.dumps(self.value)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        said = {"tool": self.tool, "side": self.side, "reasons": [*self.reasons]}
        return {**said, "value": self.value} if self.has_value else said


@attrs.frozen(repr=False)
class ToolsDifference:
    """The effects of a change of tools; true only if it is certain that nothing breaks.

    Arguments:
        breaks: what breaks, in the order of the old tools.
        undecided: sides of tools for which the budget ended, or whose old schema can't be read.
        added: the names of new tools.
        removed: the names of tools that are gone; each is among the breaks.
    """

    breaks: tuple[ToolBreak, ...]
    undecided: tuple[ToolBreak, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.breaks and not self.undecided

    def __repr__(self) -> str:
        verdict = "breaks" if self.breaks else "undecided" if self.undecided else "nothing breaks"
        return answer_repr(type(self).__name__, verdict, [*map(str, self.breaks + self.undecided)])

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "breaks": [each.to_dict() for each in self.breaks],
            "undecided": [each.to_dict() for each in self.undecided],
            "added": [*self.added], "removed": [*self.removed],
        }  # fmt: skip


def diff_tools(old: Any, new: Any, *, max_steps: int = DEFAULT_STEPS) -> ToolsDifference:
    """Return what a change of tools breaks for their callers and for the readers of their results.

    Old calls have to be taken by the new tools, and new results have to be what the old tools
    promised. A result whose tool states no schema promises nothing. A new member that may be left
    out breaks nothing: callers and tools send the members that their schema declares. Where several
    places of a schema declare them (`oneOf`, `allOf`, `if`, …), all that it allows counts.

    Arguments:
        old: the tools before the change: a list of them, or what a server answers to `tools/list`.
        new: the tools after it.
        max_steps: the budget for each schema.

    Raises:
        InvalidSchema: a tool has no name or states no schema of its arguments, a new schema is not
            legal, two tools of a list have the same name, or a list is a page of several.
        InvalidArgument: there are no tools.

    Examples:
        >>> text, q = {"type": "string"}, {"q": {"type": "string"}}
        >>> old = {"name": "find", "inputSchema": {"type": "object", "properties": q}}
        >>> new = {"name": "find", "inputSchema": {**old["inputSchema"], "required": ["q"]}}
        >>> [broken] = diff_tools([old], [new]).breaks
        >>> print(broken)
        'find': a caller may no longer leave out '/q': such as {}
    """
    mine, theirs = _named(old, "old"), _named(new, "new")
    _require_legal(mine, theirs)
    breaks, undecided = list[ToolBreak](), list[ToolBreak]()
    for name, tool in mine.items():
        if name not in theirs:
            breaks.append(ToolBreak(name, "tool", ("a caller may no longer call it: it is gone",)))
            continue
        for found, is_sure in _compared(tool, theirs[name], max_steps=max_steps):
            (breaks if is_sure else undecided).append(found)
    added = tuple(name for name in theirs if name not in mine)
    removed = tuple(name for name in mine if name not in theirs)
    return ToolsDifference(tuple(breaks), tuple(undecided), added, removed)


def holds_tools(value: Any) -> bool:
    """Return whether a JSON value is a tool, a list of tools, or an answer that holds one."""
    if isinstance(value, list):
        return any(isinstance(each, Mapping) and holds_tools(each) for each in value)
    return tools_in(value) is not None or (isinstance(value, Mapping) and is_tool(value))


def _named(tools: Any, whose: str) -> dict[str, Tool]:
    """Return tools by their names."""
    if _next_page(tools) is not None:
        problem = "a list with nextCursor is a page of several; all are needed in one list"
        raise InvalidSchema(f"{whose} tools: {problem}")
    found: dict[str, Tool] = {}
    for where, each in _listed(getattr(tools, "tools", tools)):  # the answer of an SDK
        try:
            tool = read_whole_tool(each)
        except InvalidSchema as error:
            raise InvalidSchema(f"{whose} tools: {where}: {error}") from error
        if tool.name in found:
            raise InvalidSchema(f"{whose} tools: {where}: {quote(tool.name)} is there twice")
        found[tool.name] = tool
    return found


def _listed(held: Any) -> Iterator[tuple[str, Any]]:
    """Return tools, each with its place."""
    if isinstance(held, Mapping):
        listed = tools_in(held)
        if listed is not None:
            return listed
        if is_tool(held):
            return iter([("/", held)])
    hint = "an answer to tools/list has them as 'tools'"
    return flatten_tools(require_iterable(held, "tools in a list", hint=hint), "")


def _next_page(held: Any) -> Any:
    """Return the cursor of the next page of a list of tools; None if there is none."""
    if not isinstance(held, Mapping):
        return getattr(held, "nextCursor", getattr(held, "next_cursor", None))
    result = held.get("result")
    return held.get("nextCursor") if result is None else _next_page(result)


def _require_legal(old: Mapping[str, Tool], new: Mapping[str, Tool]) -> None:
    """Require that what is new of the new schemas can be read."""
    for name, tool in new.items():
        was = old.get(name)
        for content, before in ((tool.taken, was and was.taken), (tool.sent, was and was.sent)):
            if content is not None and content != before:
                try:
                    _schema_of(content)
                except InvalidSchema as error:
                    raise InvalidSchema(f"new tools: tool {quote(name)}: {error}") from error


def _compared(old: Tool, new: Tool, max_steps: int) -> Iterator[tuple[ToolBreak, bool]]:
    """Yield what breaks of a tool, and whether that is certain."""
    if old.taken != new.taken:
        sent = _declared(_arguments(old.taken))
        yield from _broken(old.name, "input", sent, new.taken, max_steps)
    if old.sent is None or old.sent == new.sent:
        return
    if new.sent is None:
        why = "a reader may no longer rely on its result: the tool states no schema of it"
        yield ToolBreak(old.name, "output", (why,)), True
    else:
        yield from _broken(old.name, "output", _declared(new.sent), old.sent, max_steps)


def _broken(
    tool: str, side: _Side, sent: Any, taken: Any, max_steps: int
) -> Iterator[tuple[ToolBreak, bool]]:
    """Yield what breaks if values of one schema are to be values of another one."""
    try:
        producer, consumer = map(_schema_of, (sent, taken))
    except InvalidSchema as error:
        yield ToolBreak(tool, side, (f"its schema can't be compared: {error}",)), False
        return
    answer = check(producer, consumer, max_steps=max_steps)
    if answer:
        return
    words = _CALLERS if side == "input" else _READERS
    told = [each for each in answer.reasons if each.difference is not None] or answer.reasons
    reasons = tuple(dict.fromkeys(map(partial(_clause, words), told)))
    if answer.verdict is Verdict.UNDECIDED:
        yield ToolBreak(tool, side, reasons), False
        return
    body = answer.counterexample
    value = _NOTHING if body is None else body[0].read_json()
    has_value = value is not _NOTHING
    yield ToolBreak(tool, side, reasons, value if has_value else None, has_value), True


def _arguments(schema: Any) -> Any:
    """Return a schema of arguments, which are always an object, also where it does not say so.

    Who states no members declares none.
    """
    made = {} if schema is True else schema
    if not isinstance(made, Mapping) or made.get("type", "object") != "object":
        return schema
    made = {**made, "type": "object"}
    return made if made.keys() - _NO_MEMBERS else {**made, "properties": {}}


class _Composed(Exception):
    """End the search for declared members: they are declared in several places."""


def _declared(schema: Any) -> Any:
    """Return a schema whose objects have declared members only, as far as one place declares them.

    Examples:
        >>> _declared({"properties": {"a": {}}})
        {'properties': {'a': {}}, 'additionalProperties': False}
    """
    try:
        return _closed(schema)
    except (_Composed, RecursionError):
        return schema


def _closed(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    members = schema.get("properties")
    if not _COMPOSED.isdisjoint(schema) or ("$ref" in schema and members is not None):
        raise _Composed
    made = dict(schema)
    for key in ("items", "additionalProperties", "contains"):
        if key in made:
            made[key] = _closed(made[key])
    for key in ("anyOf", "prefixItems"):
        if isinstance(made.get(key), list):
            made[key] = [*map(_closed, made[key])]
    for key in ("properties", "patternProperties", "$defs", "definitions"):
        if isinstance(made.get(key), Mapping):
            made[key] = {name: _closed(each) for name, each in made[key].items()}
    is_open = not {"additionalProperties", "unevaluatedProperties"} & made.keys()
    if isinstance(members, Mapping) and is_open:
        required = schema.get("required")
        names = required if isinstance(required, list) else []
        made["properties"] = {**dict.fromkeys(map(str, names), True), **made["properties"]}
        made["additionalProperties"] = False
    return made


def _schema_of(content: Any) -> MessageBodySchema:
    return MessageBodySchema([SchemaPart(required=True, content_schema=content)])


def _clause(words: Mapping[str, str], reason: Reason) -> str:
    """Return a reason in words for callers or readers."""
    return reason.summary if reason.difference is None else reason.difference.in_words(**words)
