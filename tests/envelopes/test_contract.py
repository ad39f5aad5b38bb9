"""The protocol of envelopes: the four of the package keep it."""

import inspect
import json
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from messagebody import Limits, MessageBody, Part
from messagebody.adapters import Envelope, adapter
from messagebody.errors import EnvelopeError, InvalidArgument, MessageBodyError
from tests.envelopes.shapes import BASES, OLYMPUS

FILES = [{"url": f"https://example.com/{number}.png"} for number in range(3)]


# Each has several parts.
MESSAGES: dict[str, Any] = {
    "agents-api": {
        "schema": "agents-api.message", "version": 1, "type": "text", "role": "user",
        "content": "Look!", "payload": {}, "metadata": {"attachments": FILES},
    },
    "channel": {"agent": "demo", "message": "Look!", "attachments": FILES},
    "olympus": {
        **OLYMPUS,
        "context_attachments": [{"type": "plan", "path": each["url"]} for each in FILES],
    },
    "sentient": BASES["ex1"][0],
}  # fmt: skip
every = pytest.mark.parametrize("name", MESSAGES)
FORMS: dict[str, Callable[[Any], Any]] = {
    "text": json.dumps,
    "bytes": lambda value: json.dumps(value).encode(),
    "parsed": dict,
}
each_form = pytest.mark.parametrize("form", FORMS)


def envelope(name: str) -> Any:
    found = adapter(name)
    assert isinstance(found, Envelope)
    return found


@every
@pytest.mark.parametrize("function", [n for n in vars(Envelope) if not n.startswith("_")])
def test_signatures(name: str, function: str) -> None:
    """Each call that the protocol allows is a call of the envelope, with the same defaults."""
    promised = [*inspect.signature(getattr(Envelope, function)).parameters.values()][1:]
    taken = [*inspect.signature(getattr(envelope(name), function)).parameters.values()]
    assert taken[0].kind in (taken[0].POSITIONAL_ONLY, taken[0].POSITIONAL_OR_KEYWORD)
    by_name = {each.name: each for each in taken[1:]}
    for each in promised[1:]:
        mine = by_name.pop(each.name)
        assert (mine.kind, mine.default) == (each.kind, each.default), each.name
    assert all(each.default is not each.empty for each in by_name.values())


@every
@each_form
def test_a_message_comes_back(name: str, form: str) -> None:
    format_, message = envelope(name), MESSAGES[name]
    read = format_.to_body(FORMS[form](message))
    assert _json(format_.from_body(read.value, rest=read.rest).value) == message
    assert format_.is_valid(message)
    format_.validate(message)


SIZES = {"json_bytes": 20, "depth": 1, "values": 3, "parts": 1}


@every
@each_form
@pytest.mark.parametrize("limit", SIZES)
def test_limits_hold(name: str, form: str, limit: str) -> None:
    """In whatever form a message comes; the error says which limit."""
    given = FORMS[form](MESSAGES[name])
    with pytest.raises(MessageBodyError, match=r"limit|more than") as caught:
        envelope(name).to_body(given, limits=Limits(**{limit: SIZES[limit]}))
    words = {"json_bytes": "bytes", "depth": "deep|depth"}
    caught.match(words.get(limit, limit))
    assert envelope(name).to_body(given, limits=Limits(**{limit: 100_000})).value


@every
@pytest.mark.parametrize("limit", SIZES)
def test_a_list_names_the_message_that_fails(name: str, limit: str) -> None:
    format_, message = envelope(name), MESSAGES[name]
    assert len(format_.to_bodies([message, json.dumps(message)]).value) == 2
    with pytest.raises(EnvelopeError, match=r"^message 1: ") as caught:
        format_.to_bodies([message, "{", message])
    assert isinstance(caught.value.__cause__, EnvelopeError)
    with pytest.raises(MessageBodyError, match=r"^message 0: "):
        format_.to_bodies(iter([message]), limits=Limits(**{limit: SIZES[limit]}))


@every
def test_another_process_can_load_its_functions(name: str) -> None:
    for function in ("to_body", "to_bodies", "from_body", "from_bodies"):
        made = getattr(envelope(name), function)
        assert pickle.loads(pickle.dumps(made)) == made


@every
def test_one_message_is_no_list(name: str) -> None:
    for one in (MESSAGES[name], json.dumps(MESSAGES[name])):
        with pytest.raises(InvalidArgument, match=r"to_body\(…\) reads one message"):
            envelope(name).to_bodies(one)


def _json(message: Any) -> Any:
    return json.loads(message) if isinstance(message, str) else message


@every
def test_many_messages_come_back(name: str) -> None:
    format_, message = envelope(name), MESSAGES[name]
    read = format_.to_bodies([message, message])
    back = format_.from_bodies(read.value, rest=read.rest)
    assert [_json(each) for each in back.value] == [message, message]
    assert len(back.losses) == 2 * len(format_.from_body(read.value[0], rest=read.rest[0]).losses)


@pytest.mark.parametrize("name", ["agents-api", "channel"])
def test_bodies_of_another_format_are_written_one_by_one(name: str) -> None:
    """Losses and errors name the message, and each body needs its rest."""
    talk = [{"role": "user", "content": "Hi."}, {"role": "user", "content": "Hi.", "name": "Bo"}]
    read = adapter("openai-chat").to_bodies(talk)  # type: ignore[attr-defined]
    made = envelope(name).from_bodies(read.value, rest=read.rest)
    assert [loss.message for loss in made.losses if loss.where == "name"] == [1]
    assert [len(made.value), len(envelope(name).from_bodies([]).value)] == [2, 0]
    with pytest.raises(EnvelopeError, match="got 1 rests for 2 bodies"):
        envelope(name).from_bodies(read.value, rest=[None])
    with pytest.raises(EnvelopeError, match=r"^message 0: .*nope"):
        envelope(name).from_bodies(read.value, header={"nope": 1})
    with pytest.raises(InvalidArgument, match=r"from_body\(…\) writes one body"):
        envelope(name).from_bodies(read.value[0])
    with pytest.raises(InvalidArgument, match="a MessageBody"):
        envelope(name).from_bodies(["Hi."])


@every
@pytest.mark.parametrize("role", [5, "", ["user"], "nobody\x1b"])
def test_a_wrong_role_is_refused(name: str, role: Any) -> None:
    if name == "agents-api" and role == "nobody\x1b":
        role = b"user"  # any text is a role there
    header = MESSAGES[name] if name in ("olympus", "sentient") else None
    with pytest.raises(MessageBodyError, match="role") as caught:
        envelope(name).from_body(MessageBody(["Hello"]), role=role, header=header)
    assert "\x1b" not in str(caught.value)


@every
@pytest.mark.parametrize("header", [5, "x", [["a", 1]], {"a"}])
def test_a_header_is_an_object(name: str, header: Any) -> None:
    with pytest.raises(MessageBodyError, match="header"):
        envelope(name).from_body(MessageBody(["Hello"]), header=header)


@every
@pytest.mark.parametrize("unknown", ["agnet", "\x1b]", "x" * 500, 7])
def test_an_unknown_member_of_a_header_is_refused(name: str, unknown: Any) -> None:
    """A typing mistake must not become a message without the member."""
    body = MessageBody(["Hello"])
    with pytest.raises(MessageBodyError, match="header") as caught:
        envelope(name).from_body(body, header={unknown: "demo"})
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 500


@every
def test_an_unknown_member_names_the_one_that_is_meant(name: str) -> None:
    for meant in ("metadata", "agent", "persona", "input", "session_id", "id"):
        wrong = {f"{meant}s": 1}
        with pytest.raises(MessageBodyError) as caught:
            envelope(name).from_body(MessageBody(["Hello"]), header=wrong)
        if meant in MESSAGES[name]:
            caught.match(f"did you mean '{meant}'")


@every
def test_limits_and_bodies_of_a_wrong_type(name: str) -> None:
    wrong: Any = {"parts": 1}
    with pytest.raises(InvalidArgument, match="expected Limits"):
        envelope(name).to_body(MESSAGES[name], limits=wrong)
    with pytest.raises(InvalidArgument, match="expected a MessageBody"):
        envelope(name).from_body([Part("x")])


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("agents-api", {"id": 5}),
        ("agents-api", {"metadata": 5}),
        ("agents-api", {"payload": "x"}),
        ("channel", {"client_context": 5}),
        ("channel", {"attachments": "x"}),
    ],
)
def test_a_member_that_cannot_be_kept_is_a_loss(name: str, header: dict[str, Any]) -> None:
    losses = envelope(name).from_body(MessageBody(["Hello"]), header=header).losses
    assert [(loss.kind, loss.where) for loss in losses] == [("omitted", *header)]


def test_a_header_is_that_of_what_the_role_writes() -> None:
    body = MessageBody(["Hello"])
    assert envelope("channel").from_body(body, header={"agent": "demo"}).value["agent"] == "demo"
    with pytest.raises(EnvelopeError, match="the header of chat output has no member agent"):
        envelope("channel").from_body(body, role="assistant", header={"agent": "demo"})


@pytest.mark.parametrize("name", ["olympus", "sentient"])
def test_builders_take_the_same_headers(name: str) -> None:
    said: dict[str, Any] = {"agent": "a", "reasoning": "rule"}
    if name == "olympus":
        said = {"source_agent": "coder", "target_agent": "tech-lead", "message_type": "RESULT",
                "correlation_id": "issue-1", "task_id": "t"}  # fmt: skip
    format_, body = envelope(name), MessageBody(["Hello"])
    parent = MESSAGES[name]
    answer = {key: said[key] for key in said.keys() & {"agent", "reasoning", "message_type",
                                                       "task_id"}}  # fmt: skip
    builders: list[Callable[..., Any]] = [
        partial(format_.build, body, **said), partial(format_.reply, parent, body, **answer),
    ]  # fmt: skip
    for build in builders:
        assert build(header=None).value
        with pytest.raises(EnvelopeError, match="a header has no member 'nobody'"):
            build(header={"nobody": 1})
        with pytest.raises(InvalidArgument, match="expected a header"):
            build(header=5)
        for member in parent:
            assert member in str(build(header={member: 5}).losses)


@every
def test_what_a_reader_of_another_format_misses_is_a_loss(name: str) -> None:
    read: Any = adapter("openai-chat").to_body({"role": "user", "content": "Hello", "name": "Ann"})
    header = MESSAGES[name] if name in ("olympus", "sentient") else None
    made = envelope(name).from_body(read.value, rest=read.rest, header=header)
    assert ("omitted", "name") in [(loss.kind, loss.where) for loss in made.losses]
    wrong = {**read.rest, "missed": 5}
    with pytest.raises(EnvelopeError, match="rest is not what to_body returned"):
        envelope(name).from_body(read.value, rest=wrong, header=header)
