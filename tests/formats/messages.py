"""Messages of each format that hold one of every kind of block."""

# ruff: noqa: E501 - a block a line shows what a message is

from typing import Any

from tests.formats import framework_messages
from tests.formats.payloads import BINARY, PDF, PNG, URL, WAV

MESSAGES: dict[str, list[Any]] = {
    **framework_messages.MESSAGES,
    "openai-chat": [
        "Hello!",
        {"role": "user", "content": "Hello!", "name": "ann"},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": None, "refusal": "No, I will not."},
        {"role": "tool", "tool_call_id": "call_1", "content": "It is sunny today."},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "Sun."}]},
        {"role": "tool", "tool_call_id": "call_1", "content": ""},
        {"role": "assistant", "content": None, "audio": {"id": "a", "data": WAV, "expires_at": 1}},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{ "a":1.50, "b" : [\n] }'}},
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": '}},
            {"id": "d", "type": "function", "function": {"name": "f", "arguments": ""}}]},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "user", "content": [
            {"type": "text", "text": "Look at these."},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
            {"type": "image_url", "image_url": {"url": URL}},
            {"type": "image_url", "image_url": {"url": "https://example.com/picture?id=1"}},
            {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}},
            {"type": "file", "file": {"filename": "Q3 report.pdf",
                                      "file_data": f"data:application/pdf;base64,{PDF}"}},
            {"type": "file", "file": {"file_id": "file-abc"}},
            {"type": "later", "x": 1}]},
        [{"type": "text", "text": "Only content."}],
    ],
    "anthropic": [
        "Hello!",
        {"role": "user", "content": "Hello!"},
        {"role": "assistant", "content": []},
        {"role": "user", "content": [
            {"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            {"type": "image", "source": {"type": "url", "url": URL}},
            {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
            {"type": "document", "title": "Doc.pdf", "context": "c", "citations": {"enabled": True},
             "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Cats purr."}},
            {"type": "document", "source": {"type": "content", "content": "Cats sleep."}},
            {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
            {"type": "search_result", "source": "https://example.com/kb", "title": "KB",
             "content": [{"type": "text", "text": "Cats eat."}]},
            {"type": "container_upload", "file_id": "file_2"},
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Sunny."},
            {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": True, "content": [
                {"type": "text", "text": "Broken."},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                {"type": "tool_reference", "tool_name": "x"}]},
            {"type": "tool_result", "tool_use_id": "toolu_3"},
            {"type": "tool_result", "tool_use_id": "toolu_4", "content": ""}]},
        {"role": "assistant", "id": "msg_1", "type": "message", "model": "m", "content": [
            {"type": "thinking", "thinking": "Hm, cats.", "signature": "Eu"},
            {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "cats"}},
            {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [
                {"type": "web_search_result", "url": "https://example.com/c", "title": "Cats",
                 "encrypted_content": "Eo", "page_age": None}]},
            {"type": "web_search_tool_result", "tool_use_id": "srv_2", "content":
                {"type": "web_search_tool_result_error", "error_code": "unavailable"}},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
    ],
    "mcp": [
        {"content": [{"type": "text", "text": '{"temp": 21}'}], "structuredContent": {"temp": 21}},
        {"content": [], "structuredContent": {"temp": 21}, "isError": False},
        {"role": "user", "content": {"type": "text", "text": "Hello!"}},
        {"contents": [{"uri": "memo://insights", "mimeType": "text/plain", "text": "Cats purr."},
                      {"uri": "file:///a/b.bin", "blob": BINARY}]},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        {"isError": True, "_meta": {"k": 1}, "content": [
            {"type": "text", "text": "Look.", "annotations": {"priority": 0.5}, "_meta": {"k": 1}},
            {"type": "image", "data": PNG, "mimeType": "image/png"},
            {"type": "audio", "data": WAV, "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///src/hello.py", "mimeType": "text/x-python",
                                              "text": "print(1)"}},
            {"type": "resource", "resource": {"uri": "messagebody:/doc.pdf",
                                              "mimeType": "application/pdf", "blob": PDF}},
            {"type": "resource_link", "uri": "https://example.com/a.png", "name": "a.png",
             "mimeType": "image/png", "size": 75, "title": "A cat", "description": "d"},
            {"type": "resource_link", "uri": "memo://x", "name": "x y"}]},
        {"role": "user", "content": [{"type": "tool_result", "toolUseId": "t", "content": [
            {"type": "text", "text": "Sunny."}], "structuredContent": {"a": 1}}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "Hello!"}]},
        {"parts": []},
        {"role": "model", "parts": [
            {"text": "Thinking hard.", "thought": True, "thoughtSignature": "AA=="},
            {"executableCode": {"code": "print(1)", "language": "PYTHON"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
            {"functionCall": {"name": "f"}},
            {"inlineData": {"data": BINARY, "mimeType": "application/octet-stream"}},
            {"inlineData": {"data": PNG, "mimeType": "image/png", "displayName": "images/cat.png"},
             "mediaResolution": {"level": "LOW"}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "f", "response": {"output": "Sunny."}}},
            {"functionResponse": {"name": "f", "id": "1", "response": {"error": "Broken."}}},
            {"functionResponse": {"name": "f", "response": {"temp": [1, 2]}, "parts": [
                {"inlineData": {"data": PNG, "mimeType": "image/png"}}]}},
            {"fileData": {"fileUri": "https://example.com/v1/files/x", "mimeType": "video/mp4"}}]},
    ],
    "bedrock": [
        {"role": "user", "content": [
            {"text": "Look."},
            {"image": {"format": "png", "source": {"bytes": PNG}}},
            {"document": {"format": "md", "name": "Notes", "source": {"text": "Cats purr."}}},
            {"document": {"format": "docx", "name": "Q3 report", "source": {"bytes": PDF}}},
            {"audio": {"format": "wav", "source": {"bytes": WAV}}},
            {"video": {"format": "three_gp", "source": {"s3Location": {"uri": "s3://b/v.3gp"}}}},
            {"toolResult": {"toolUseId": "t1", "status": "error", "content": [
                {"text": "Broken."}, {"json": {"a": [1.5]}},
                {"image": {"format": "jpeg", "source": {"bytes": PNG}}}]}},
            {"toolResult": {"toolUseId": "t2", "content": []}},
            {"cachePoint": {"type": "default"}}]},
        {"role": "assistant", "content": [
            {"reasoningContent": {"redactedContent": "AAAA"}},
            {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}]},
    ],
    "openai-responses": [
        "Hello!",
        {"role": "user", "content": "Hello!", "type": "message"},
        [{"role": "user", "content": [
            {"type": "input_text", "text": "Look at these."},
            {"type": "input_image", "image_url": URL, "detail": "high"},
            {"type": "input_image", "file_id": "file-abc"},
            {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
            {"type": "input_file", "filename": "Q3 report.pdf",
             "file_data": f"data:application/pdf;base64,{PDF}"},
            {"type": "input_file", "file_url": "https://example.com/a.pdf"},
            {"type": "input_file", "file_id": "file-abc"}]}],
        [{"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "First thought."},
                                                      {"type": "summary_text", "text": "Second."}]},
         {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "gAAA"},
         {"type": "message", "role": "assistant", "id": "m", "status": "completed", "content": [
             {"type": "output_text", "text": "Here it is.", "annotations": [], "logprobs": []},
             {"type": "refusal", "refusal": "No, I will not."}]},
         {"type": "code_interpreter_call", "id": "ci", "code": "print(1)", "outputs": None,
          "container_id": "c", "status": "completed"},
         {"type": "web_search_call", "id": "ws", "status": "completed"},
         {"type": "mcp_call", "id": "mcp_1", "name": "f", "arguments": "{}", "server_label": "s"},
         {"type": "function_call_output", "call_id": "c", "output": "Sunny."},
         {"type": "function_call_output", "call_id": "c", "output": [
             {"type": "input_text", "text": "Sunny again."},
             {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}]},
         {"type": "custom_tool_call_output", "call_id": "c", "output": ""}],
        [{"type": "input_text", "text": "Only content."}],
    ],
}  # fmt: skip
