"""The stream of Vercel's AI SDK: the chunks that its user interfaces turn into messages."""

from typing import Any, Final

from messagebody.adapters._vocabulary.dialect import in_camel_case
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    member,
    partial_json,
    plain,
)

_WHOLE: Final = {
    "file": ("mediaType", "url", "providerMetadata"),
    "reasoning-file": ("mediaType", "url", "providerMetadata"),
    "source-url": ("sourceId", "url", "title", "providerMetadata"),
    "source-document": ("sourceId", "mediaType", "title", "filename", "providerMetadata"),
    "custom": ("kind", "providerMetadata"),
    "steering-message": ("id", "parts"),
}
_ABOUT: Final = ("title", "toolMetadata", "providerExecuted")


class MessageChunks(Accumulator):
    """Texts and thoughts, which start, grow and end by id, and tools with input and output."""

    format = "vercel-ai"
    late = ("message-metadata", "finish-step")
    types = (
        "start", "text-start", "text-delta", "reasoning-start", "reasoning-delta", "finish-step",
        "tool-input-start", "tool-input-delta", "tool-input-available", "tool-output-available",
    )  # fmt: skip

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._message: dict[str, Any] = {"id": "", "role": "assistant"}
        self._parts: list[dict[str, Any]] = []
        self._texts: dict[tuple[str, str], dict[str, Any]] = {}
        self._tools: dict[str, dict[str, Any]] = {}
        self._inputs: dict[str, Pieces] = {}
        self._data: dict[tuple[str, str], dict[str, Any]] = {}

    def feed(self, event: dict[str, Any]) -> None:
        """Take a chunk."""
        event = in_camel_case(event)
        kind = member(event, "type")
        if kind.startswith(("text-", "reasoning-")) and kind != "reasoning-file":
            sort, _, step = kind.partition("-")
            self._text(sort, step, event)
        elif kind.startswith("tool-"):
            self._tool(kind, event)
        elif kind.startswith("data-"):
            self._value(kind, event)
        elif kind in _WHOLE:
            held = {key: event[key] for key in _WHOLE[kind] if event.get(key) is not None}
            self.begin(self._parts, {"type": kind, **held})
        else:
            self._control(kind, event)

    def _control(self, kind: str, event: dict[str, Any]) -> None:
        if isinstance(event.get("messageId"), str):
            self._message["id"] = event["messageId"]
        if isinstance(event.get("messageMetadata"), dict):
            said = self._message.get("metadata") or {}
            self._message["metadata"] = {**said, **event["messageMetadata"]}
        match kind:
            case "start-step":
                self.begin(self._parts, {"type": "step-start"})
            case "reset-step":
                self._reset()
            case "finish":
                self.note_end(event)
                self.end()
            # An aborted message ends too: the content so far stays, as in the user interface.
            case "abort":
                reason = event.get("reason")
                said = f"abort: {reason}" if isinstance(reason, str) and reason else "abort"
                self.note_end({"state": said})
                self.end()
            case "error":
                self.fail({"error": event.get("errorText")})
            case "start" | "finish-step" | "message-metadata":
                pass
            case _:
                raise UnknownEvent

    def _reset(self) -> None:
        """Remove the parts of this step."""
        starts = [index for index, part in enumerate(self._parts) if part["type"] == "step-start"]
        del self._parts[(starts[-1] + 1 if starts else 0) :]
        # A repeated step may use the same ids.
        self._texts, self._tools, self._inputs = {}, {}, {}
        self.shape += 1

    def _text(self, sort: str, step: str, event: dict[str, Any]) -> None:
        about = (sort, member(event, "id"))
        if step == "start":
            part: dict[str, Any] = {"type": sort, "text": Pieces(), "state": "streaming"}
            if sort == "reasoning":
                part["id"] = about[1]
            self._texts[about] = part
            self.begin(self._parts, part)
        held = self._texts.get(about)
        if held is None:
            raise OutOfPlace(f"{sort} {about[1]} has not started")
        if event.get("providerMetadata") is not None:
            held["providerMetadata"] = event["providerMetadata"]
        if step == "delta":
            self.grow(held["text"], event.get("delta"))
        elif step == "end":
            held["state"] = "done"
            if event.get("citations") is not None:
                held["citations"] = event["citations"]
            # A later text may have the same id, for example in the next step.
            del self._texts[about]

    def _value(self, kind: str, event: dict[str, Any]) -> None:
        """Take a value: one with an id replaces the earlier one, a transient one is left out."""
        if event.get("transient"):
            return
        name = event.get("id")
        before = self._data.get((kind, name)) if isinstance(name, str) else None
        if before is not None:
            before["data"] = event.get("data")
            return
        named = {"id": name} if isinstance(name, str) else {}
        part = {"type": kind, **named, "data": event.get("data")}
        if named:
            self._data[kind, str(name)] = part
        self.begin(self._parts, part)

    def _tool(self, kind: str, event: dict[str, Any]) -> None:
        if kind == "tool-approval-response":
            return self._approved(event)
        key = member(event, "toolCallId")
        if kind in {"tool-input-start", "tool-input-available", "tool-input-error"}:
            part = self._tool_of(key, event)
        elif key in self._tools:
            part = self._tools[key]
        else:
            raise OutOfPlace(f"tool call {key} has not started")
        part |= {name: event[name] for name in _ABOUT if event.get(name) is not None}
        if event.get("providerMetadata") is not None:
            place = "result" if kind.startswith("tool-output") else "call"
            part[f"{place}ProviderMetadata"] = event["providerMetadata"]
        # A piece of input does not change the kind of a part; other events change its state.
        self.shape += kind != "tool-input-delta"
        self._advance(kind.removeprefix("tool-"), key, part, event)
        return None

    def _tool_of(self, key: str, event: dict[str, Any]) -> dict[str, Any]:
        name = member(event, "toolName")
        part = self._tools.get(key)
        if part is None:
            part = self._tools[key] = {}
            self.begin(self._parts, part)
        # Tools that are only known at run time have no own type in a user interface.
        dynamic = {"type": "dynamic-tool", "toolName": name}
        part |= dynamic if event.get("dynamic") else {"type": f"tool-{name}"}
        part["toolCallId"] = key
        return part

    def _advance(self, step: str, key: str, part: dict[str, Any], event: dict[str, Any]) -> None:
        match step:
            case "input-start":
                self._inputs[key] = Pieces()
                part |= {"state": "input-streaming", "input": None}
            case "input-delta":
                if key not in self._inputs or part.get("state") != "input-streaming":
                    raise OutOfPlace(f"the input of tool call {key} is complete")
                self.grow(self._inputs[key], event.get("inputTextDelta"))
            case "input-available":
                part |= {"state": "input-available", "input": event.get("input")}
            case "input-error" | "output-error":
                text = member(event, "errorText")
                part |= {"state": "output-error", "errorText": text}
                self._keep_input(key, part, event.get("input"))
            case "output-available":
                part |= {"state": "output-available", "output": event.get("output")}
                if event.get("preliminary") is not None:
                    part["preliminary"] = event["preliminary"]
            case "output-denied":
                part["state"] = "output-denied"
            case "approval-request":
                part |= {"state": "approval-requested", "approval": {"id": event.get("approvalId")}}
            case _:
                raise UnknownEvent

    def _keep_input(self, key: str, part: dict[str, Any], stated: Any) -> None:
        """Keep what a call was to be made with, though it is wrong or incomplete."""
        text = str(self._inputs.get(key, ""))
        raw = stated if stated is not None else text or None
        part.setdefault("input", None)
        if part["input"] is None and raw is not None:
            part["rawInput"] = raw

    def _approved(self, event: dict[str, Any]) -> None:
        for part in self._tools.values():
            approval = part.get("approval")
            if approval is not None and approval["id"] == event.get("approvalId"):
                approval["approved"] = event.get("approved")
                part["state"] = "approval-responded"
                return
        raise OutOfPlace("this approval was not requested")

    def may_follow(self, event: dict[str, Any]) -> bool:
        """Return whether an event is about the message or the interface, and has no content."""
        return super().may_follow(event) or event.get("transient") is True

    def whole(self) -> Any:
        """Return the message; the input of a call that was cut is its text."""
        return self.message(is_last=True)

    def message(self, *, is_last: bool = False) -> Any:
        """Return the message so far, with inputs of tools as far as they are certain."""
        parts = plain(self._parts)
        for part in parts:
            if part.get("state") == "input-streaming" and part.get("toolCallId") in self._inputs:
                text = str(self._inputs[part["toolCallId"]])
                part["rawInput"] = text
                if not (is_last or self.is_over):
                    part["input"] = partial_json(text)
        return {**self._message, "parts": parts}
