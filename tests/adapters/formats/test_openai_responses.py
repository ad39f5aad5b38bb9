"""Items of OpenAI Responses that hold what a tool of OpenAI's gave."""

from typing import Any

from messagebody.adapters import adapter

openai_responses: Any = adapter("openai-responses")


CODE: dict[str, Any] = {
    "type": "code_interpreter_call", "id": "ci", "code": "print(1)", "container_id": "c",
    "status": "completed",
    "outputs": [{"type": "logs", "logs": "1\n"}, {"type": "image", "url": "https://e.com/a.png"}],
}  # fmt: skip
CALL: dict[str, Any] = {
    "type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "server_label": "s",
    "output": "Sunny.",
}  # fmt: skip


def test_output_of_code_is_parts() -> None:
    there = openai_responses.to_body([CODE])
    assert there.value.names() == ["/code/1", "/code/2", "/images/1"]
    assert there.value["/code/2"].text == "1\n"
    assert openai_responses.from_body(there.value, rest=there.rest).value == [CODE]


def test_output_without_its_code_is_said() -> None:
    there = openai_responses.to_body([CODE])
    del there.value["/code/1"]
    (said, _) = openai_responses.from_body(there.value, rest=there.rest).value
    assert said == {"type": "message", "role": "assistant", "content": "1\n"}


def test_an_mcp_call_and_its_output() -> None:
    there = openai_responses.to_body([CALL])
    assert there.value.names() == ["/tool/calls/1.json", "/tool/results/1/1"]
    there.value["/tool/results/1/1"] = there.value["/tool/results/1/1"].evolve(content="Rain.")
    assert openai_responses.from_body(there.value, rest=there.rest).value == [
        {**CALL, "output": "Rain."}
    ]
    del there.value["/tool/calls/1.json"]
    (answer,) = openai_responses.from_body(there.value, rest=there.rest).value
    assert (answer["type"], answer["call_id"]) == ("function_call_output", "m")
