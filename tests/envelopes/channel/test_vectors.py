"""The reference implementation's chat contract, row by row."""

import json
from functools import partial
from typing import Any

import pytest

from messagebody.envelopes import channel
from messagebody.errors import EnvelopeError
from tests.envelopes.shapes import vectors

ROWS: list[dict[str, Any]] = vectors("agentsapi_channel.json")


class Demo(channel.Channel):
    """The channel the rows were made with: room room-1 of whatsapp, client wacli."""

    connector_id = "wacli"
    external_provider = "whatsapp"
    client_name = "wacli"
    lenient = False

    def __init__(self, chat: Any, options: dict[str, Any], log: dict[str, list[Any]]) -> None:
        super().__init__("demo", chat)
        self.options, self.log = options, log
        self.source = options.get("source", "channel")

    def validate(self, data: dict[str, Any]) -> channel.Unanswered | None:
        return channel.Unanswered(*self.options["validate"]) if "validate" in self.options else None

    def external_message(self, data: dict[str, Any]) -> channel.ExternalMessage:
        seen = {"external_conversation_id": "room-1", "external_message_id": data.get("msg_id")}
        return super().external_message({**data, **seen})

    def send_response(self, text: str, data: dict[str, Any]) -> None:
        self.log["sent"].append(text)
        self.log["lifecycle"].append("send")

    def send_error(self, text: str, data: dict[str, Any]) -> None:
        self.log["errors"].append(text)
        self.log["lifecycle"].append("error")

    def on_processing_start(self, data: dict[str, Any]) -> None:
        self.log["lifecycle"].append("start")

    def on_processing_end(self, data: dict[str, Any]) -> None:
        self.log["lifecycle"].append("end")

    def on_complete(self, status: str | None, data: dict[str, Any]) -> None:
        self.log["lifecycle"].append(f"complete:'{status}'")


def handled(given: dict[str, Any]) -> dict[str, Any]:
    """Run one payload through the channel and tell what happened, as a row does."""
    log: dict[str, list[Any]] = {"dispatched": [], "sent": [], "errors": [], "lifecycle": []}
    answer = given["ability_result"]
    if isinstance(answer, dict) and "$wp_error" in answer:
        answer = channel.Unanswered(*answer["$wp_error"])

    def chat(payload: dict[str, Any]) -> Any:
        log["dispatched"].append(payload)
        return answer

    demo = Demo(chat, given["channel"], log)
    if "stored_session" in given:
        demo.sessions.set("wacli", "room-1", given["stored_session"], "demo")
    result = demo.handle(given["data"])
    if isinstance(result, channel.Unanswered):
        returned: Any = {"wp_error": {"code": result.code, "message": result.message}}
    else:
        returned = result
    return {
        "returned": returned,
        "dispatched": log["dispatched"][0] if log["dispatched"] else None,
        "sent": log["sent"],
        "errors": log["errors"],
        "lifecycle": log["lifecycle"],
        "stored_session": demo.sessions.get("wacli", "room-1", "demo"),
    }


def payload_of(given: dict[str, Any]) -> dict[str, Any]:
    demo = Demo(None, given["channel"], {})
    message = demo.external_message({**given["data"], "text": given["message"]})
    return channel.chat_payload(message, agent="demo", source=demo.source, client_name="wacli")


def sequence(store: Any, calls: list[list[Any]]) -> list[Any]:
    return [getattr(store, name)(*arguments) for name, *arguments in calls]


def idempotency(calls: list[list[Any]]) -> dict[str, Any]:
    seen = channel.SeenMessages()
    return {"returned": sequence(seen, calls), "ttls": list(seen.storage.values())}


OPERATIONS: dict[str, Any] = {
    "external_message": lambda given: channel.ExternalMessage.from_dict(given["data"]).to_dict(),
    "client_context": lambda given: channel.client_context(
        channel.ExternalMessage.from_dict(given["data"]), source=given["source"]
    ),
    "chat_payload": payload_of,
    "extract_replies": partial(channel.extract_replies, lenient=False),
    "handle": handled,
    "idempotency_key": lambda given: channel.idempotency_key(*given),
    "idempotency_seq": idempotency,
    "session_key": lambda given: channel.session_key(*given),
    "session_seq": lambda calls: sequence(channel.Sessions(), calls),
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["case"])
def test_row(row: dict[str, Any]) -> None:
    """Output or error is what the reference gave, members in the same order."""
    operation = OPERATIONS[row["op"]]
    if "error" in row:
        with pytest.raises(EnvelopeError) as caught:
            operation(row["input"])
        assert str(caught.value) == row["error"]["message"]
        return
    output = operation(row["input"])
    assert output == row["output"]
    assert json.dumps(output) == json.dumps(row["output"])
