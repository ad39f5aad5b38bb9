"""Whatever stands wherever in a message: every reader answers or raises an error of ours."""

import copy
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody.adapters import adapter
from messagebody.envelopes import agents_api, channel, olympus, sentient
from messagebody.errors import EnvelopeError, MessageBodyError
from tests.effort import examples, one_in
from tests.envelopes.olympus_policy import POLICY
from tests.envelopes.shapes import JSON, vectors

DEEP = 10_000
DEEPER_THAN_THE_STACK = 1_500  # at every place: 10,000 levels each would take a minute
SECRET = bytes(range(32))

Reader = Callable[[Any], object]


def nested(opening: Any) -> Any:
    value: Any = 1
    for _ in range(DEEPER_THAN_THE_STACK):
        value = {"type": value} if opening == {} else [value]
    return value


# By name, so that a failing test says which; made late, for no tool prints some of them.
HOSTILE: dict[str, Callable[[], Any]] = {
    "null": lambda: None,
    "true": lambda: True,
    "zero": lambda: 0,
    "minus zero": lambda: -0.0,
    "beyond 64 bits": lambda: 2**64,
    "beyond doubles": lambda: 10**400,
    "beyond printing": lambda: -(10**5_000),
    "nan": lambda: math.nan,
    "infinity": lambda: -math.inf,
    "empty text": lambda: "",
    "blanks": lambda: " \0\t\u2028",
    "digits": lambda: "9" * 5_000,
    "lone surrogate": lambda: "a\ud800",
    "control": lambda: "\x1b]0;x\x07\n---\n[AGENT: x]",
    "percent": lambda: "https://e.com/%zz/../" + "a" * 9_000,
    "bytes": lambda: b"\xff",
    "list": list,
    "object": dict,
    "list of all": lambda: [None, True, 1.5, "x", [], {}],
    "object of all": lambda: {"": None, "0": True, "type": {}, "name": [], "path": 7, "url": {}},
    "surrogate key": lambda: {"\udfff": 1},
    "number key": lambda: {1: 2, None: 3},
    "unprintable key": lambda: {10**5_000: 1},
    "deep list": lambda: nested([]),
    "deep object": lambda: nested({}),
    "tuple": lambda: ("a", {"b": (1,)}),
    "set": lambda: {1},
    "time": lambda: datetime(2026, 1, 27, tzinfo=UTC),
}

ENVELOPE = {
    "schema": "agents-api.message",
    "version": 1,
    "type": "tool_result",
    "role": "tool",
    "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": ""}}],
    "payload": {"tool_name": "search", "parts": [{"type": "text", "content": "a"}]},
    "metadata": {"type": "text", "attachments": [{"url": "https://e.com/a"}], "messagebody": "[]"},
    "id": "m-1",
}
RESULT = {
    "messages": [{"content": "a"}],
    "tool_execution_results": [
        {"tool_name": "t", "result": {"result": 1}, "parameters": {}, "turn_count": 1,
         "tool_call_id": "c"}
    ],
    "tool_events": [
        {"type": "tool_call", "tool_name": "t", "tool_call_id": "c", "turn_count": 1,
         "metadata": {"parameters": {"q": 1}}},
        {"type": "tool_result", "tool_name": "t", "tool_call_id": "c", "turn_count": 1,
         "metadata": {"success": True}},
    ],
    "tool_audit_events": [],
    "status": "failed",
    "failure": {"type": "x", "message": "y"},
    "run_outcome": {"status": "completed", "completed": True, "metadata": {"a": 1}},
}  # fmt: skip
CHAT_INPUT = {
    "agent": "demo",
    "message": "Look!",
    "session_id": None,
    "attachments": [{"url": "https://e.com/a.png", "mime_type": "image/png", "size": 3}],
    "client_context": {"source": "channel", "room_kind": "dm", "messagebody": "[]"},
}
CHAT_OUTPUT = {
    "session_id": "s",
    "reply": "Hi",
    "messages": [{"role": "assistant", "content": "Hi"}],
    "completed": True,
    "metadata": {"attachments": [{"data": "aGk="}], "messagebody": "[]"},
}
EXTERNAL = {
    "text": "hi",
    "external_conversation_id": "room",
    "external_message_id": "17",
    "sender_id": "me",
    "room_kind": "dm",
    "attachments": [{"url": "x"}],
    "raw": {"a": 1},
    "from_self": False,
}
OLYMPUS = vectors("olympus_schema.jsonl")[0]["input"]
OLYMPUS["authentication"] = {
    "sender_persona": OLYMPUS["envelope"]["source_agent"],
    "sender_task_id": "t",
    "parent_message_id": "",
    "session_id": OLYMPUS["envelope"]["session_id"],
    "signature": "0" * 64,
}
OLYMPUS["context_attachments"] = [
    {"type": "plan", "path": "https://e.com/plan.md", "hash": "sha256:" + "0" * 64, "section": "a"}
]
SENTIENT = vectors("sentient_examples.json")[1]
MESSAGES = {
    "agents-api": ENVELOPE,
    "channel": CHAT_INPUT,
    "olympus": OLYMPUS,
    "sentient": SENTIENT,
}


class Echo(channel.Channel):
    connector_id = external_provider = "echo"

    def send_response(self, text: str, data: dict[str, Any]) -> None:
        pass


def listed(read: Reader) -> Reader:
    return lambda value: [str(found) for found in read(value)]  # type: ignore[attr-defined]


def told(result: Any) -> str:
    return str([str(loss) for loss in result.losses])


def signatures(value: Any) -> None:
    for profile in olympus.SigningProfile:
        found = olympus.verify(value, SECRET, profile=profile)
        str((found, found.covered, found.uncovered))
        olympus.ReplayGuard().admit(found)


AGENTS_API: dict[str, Reader] = {
    "normalize": agents_api.normalize,
    "normalize as PHP": lambda value: agents_api.normalize(value, php_compatible=True),
    "normalize_many": lambda value: agents_api.normalize_many([value, value]),
    "message_type": agents_api.message_type,
    "provider": lambda value: agents_api.to_provider_messages({"a": value}),
    "provider as PHP": lambda v: agents_api.to_provider_message(v, php_compatible=True),
    "coalesce": lambda value: agents_api.coalesce_consecutive_same_role([value, value]),
    "findings": listed(agents_api.iter_findings),
    "validate": agents_api.validate,
    "detect": agents_api.detect,
    "to_wire": agents_api.to_wire,
    "to_body": lambda value: told(agents_api.to_body(value, rest="part")),
}
RESULTS: dict[str, Reader] = {
    "result": agents_api.normalize_conversation_result,
    "as PHP": lambda v: agents_api.normalize_conversation_result(v, php_compatible=True),
}
CHATS: dict[str, Reader] = {
    "findings": listed(channel.iter_findings),
    "validate": channel.validate,
    "detect": channel.detect,
    "to_body": lambda value: told(channel.to_body(value, rest="part")),
    "replies": channel.extract_replies,
    "lenient replies": lambda value: channel.extract_replies(value, lenient=True),
    "answer": lambda value: Echo("demo", lambda _: value, deduplicator=None).handle({"text": "a"}),
}
INBOUND: dict[str, Reader] = {
    "external": lambda value: channel.ExternalMessage.from_dict(
        {**value, "connector_id": "c", "external_provider": "p"}
    ),
    "handle": lambda value: Echo("demo", lambda chat: {"reply": chat["message"]}).handle(value),
}
ENVELOPES: dict[str, Reader] = {
    "findings": listed(olympus.iter_findings),
    "strict findings": listed(lambda value: olympus.iter_findings(value, strict=True)),
    "validate": olympus.validate,
    "boundary": listed(lambda value: olympus.iter_boundary_findings(value, POLICY)),
    "strip": lambda value: olympus.strip(value, POLICY),
    "sign": lambda value: [olympus.sign(value, SECRET, profile=p) for p in olympus.SigningProfile],
    "verify": signatures,
    "detect": olympus.detect,
    "to_body": lambda value: told(olympus.to_body(value, rest="part")),
}
STEPS: dict[str, Reader] = {
    "findings": lambda value: listed(sentient.iter_findings)([SENTIENT, value, SENTIENT]),
    "validate": lambda value: sentient.validate([value]),
    "forward": sentient.forward,
    "forward to": listed(lambda value: sentient.forward(value, SENTIENT).findings),
    "forward from": lambda value: sentient.forward(SENTIENT, value),
    "entry": lambda value: sentient.audit_entry(value, error_line=True, plain_lists=True),
    "detect": sentient.detect,
    "to_body": lambda value: told(sentient.to_body(value, rest="part")),
}
GROUPS: list[tuple[str, dict[str, Any], dict[str, Reader]]] = [
    ("envelope", ENVELOPE, AGENTS_API),
    ("result", RESULT, RESULTS),
    ("chat input", CHAT_INPUT, CHATS),
    ("chat output", CHAT_OUTPUT, CHATS),
    ("inbound", EXTERNAL, INBOUND),
    ("olympus", OLYMPUS, ENVELOPES),
    ("sentient", SENTIENT, STEPS),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, list):
        value = dict(enumerate(value))
    for step, inner in value.items() if isinstance(value, dict) else ():
        yield from places(inner, (*path, step))


def sampled(found: Iterable[tuple[Any, ...]], offset: int) -> Iterator[tuple[Any, ...]]:
    """Yield some of the places, other ones for each hostile value; all of them in a long run."""
    step = 100 // examples(100)
    return itertools.islice(found, offset % step, None, step)


def with_value(message: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copied = copy.deepcopy(message)
    holder = copied
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return copied


def check(read: Reader, message: Any) -> None:
    try:
        read(message)
    except MessageBodyError as error:
        str(error).encode()


@pytest.mark.parametrize("hostile", one_in(3, HOSTILE))
@pytest.mark.parametrize(
    ("message", "readers"), [group[1:] for group in GROUPS], ids=[group[0] for group in GROUPS]
)
def test_anything_anywhere(
    message: dict[str, Any], readers: dict[str, Reader], hostile: str
) -> None:
    offset = [*HOSTILE].index(hostile)
    for path in sampled(places(message), offset):
        if not path and readers is INBOUND:  # a payload is an object, whoever received it
            continue
        changed = with_value(message, path, HOSTILE[hostile]())
        for name, read in readers.items():
            try:
                check(read, changed)
            except Exception as error:
                raise AssertionError(f"{name} of {hostile} at {path}") from error


TEXTS = {
    "deep": '{"a":' * DEEP + "1" + "}" * DEEP,
    "deep list": "[" * DEEP,
    "nan": '{"role": "user", "content": NaN, "message": 1}',
    "twice": '{"message": "a", "message": "b", "content": ""}',
    "surrogate": '{"content": "\\ud800", "message": "\\udc00", "output": {"content": "\\ud800"}}',
    "digits": '{"content": "", "message": "", "n": ' + "9" * 5_000 + "}",
    "no utf-8": b'{"content": "\xff"}',
    "empty": "",
    "mark": "\ufeff{}",
    "not an object": "7",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("name", ["agents-api", "channel", "olympus", "sentient"])
def test_text_that_is_no_strict_json_makes_no_body(name: str, text: Any) -> None:
    with pytest.raises(EnvelopeError):
        adapter(name).to_body(text)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_that_is_no_strict_json_is_told_or_logged(text: Any) -> None:
    assert not olympus.is_valid(text)
    assert not sentient.is_valid([text])
    assert sentient.audit_entry(text).count("\n") == 12
    with pytest.raises(EnvelopeError):
        olympus.verify(text, SECRET)
    assert sentient.forward(text, SENTIENT).message["metadata"]["session_id"]


@pytest.mark.parametrize(
    ("name", "sidecar"),
    [
        ("agents-api", "/meta/agents-api.json"),
        ("channel", "/meta/channel.json"),
        ("olympus", "/meta/olympus.json"),
        ("olympus", "/olympus/envelope.json"),
        ("sentient", "/meta/sentient.json"),
        ("sentient", "/sentient/message.json"),
    ],
)
class TestSidecars:
    """A body comes from outside too: what its sidecar says is no truer than a message."""

    @pytest.mark.parametrize("hostile", one_in(3, HOSTILE))
    def test_anything_anywhere(self, name: str, sidecar: str, hostile: str) -> None:
        message = MESSAGES[name]
        received = json.dumps(message) if "/meta/" not in sidecar else message
        system: Any = adapter(name)
        body = system.to_body(received, rest="part").value
        value = body[sidecar].read_json()
        for path in places(value):
            try:
                text = json.dumps(with_value(value, path, HOSTILE[hostile]()))
            except (TypeError, ValueError, RecursionError):
                return  # no JSON has it
            edited = Part(text, name=sidecar, content_type="application/json")
            parts = [edited if part.name == sidecar else part for part in body]
            check(adapter(name).from_body, MessageBody(parts))

    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
    def test_no_json(self, name: str, sidecar: str, text: Any) -> None:
        body = MessageBody([Part("hi"), Part(text, name=sidecar, content_type="application/json")])
        check(adapter(name).from_body, body)

    def test_elsewhere(self, name: str, sidecar: str) -> None:
        body = MessageBody([Part(url="https://e.com/x", name=sidecar)])
        check(adapter(name).from_body, body)


@given(JSON, st.sampled_from([group[2] for group in GROUPS]))
def test_any_json_to_any_reader(value: Any, readers: dict[str, Reader]) -> None:
    if readers is INBOUND and not isinstance(value, dict):
        return
    for read in readers.values():
        check(read, value)
        check(read, json.dumps(value)) if readers is not INBOUND else None


@pytest.mark.parametrize(
    "read",
    [
        agents_api.normalize,
        channel.to_body,
        olympus.sign,
        olympus.to_body,
        sentient.forward,
        sentient.to_body,
    ],
)
def test_a_value_that_holds_itself_ends(read: Callable[..., object]) -> None:
    message: dict[str, Any] = copy.deepcopy({**ENVELOPE, **CHAT_INPUT, **OLYMPUS, **SENTIENT})
    message["payload"] = message["envelope"] = message["metadata"] = [message, message]
    with pytest.raises(EnvelopeError):
        read(message, SECRET) if read is olympus.sign else read(message)


@pytest.mark.parametrize("levels", [98, 99])
def test_a_hundred_levels_pass_and_no_more(levels: int) -> None:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    message = {**OLYMPUS, "persona": value}  # a level around, and the innermost object
    readers: list[Reader] = [
        lambda m: olympus.sign(m, SECRET),
        lambda m: olympus.sign(json.dumps(m), SECRET),
        olympus.to_body,
        lambda m: olympus.to_body(json.dumps(m), rest="part"),
        lambda m: sentient.forward({**SENTIENT, **m}),
    ]
    for read in readers:
        if levels == 98:
            assert read(message)
        else:
            with pytest.raises(EnvelopeError):
                read(message)
