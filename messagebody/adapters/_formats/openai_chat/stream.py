"""The stream of OpenAI's Chat Completions, and of the many services that speak it."""

from typing import Any, Final

from messagebody._core import quote, strict_json
from messagebody.adapters._formats.openai_chat.dialects import chunk_of
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    CommonId,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    joined_base64,
    member,
    objects,
    plain,
)
from messagebody.adapters.streams._calls import ArrivingCall, ArrivingCalls

_CHUNK: Final = "chat.completion.chunk"
_REPLACED: Final = frozenset(
    {"id", "type", "index", "format", "signature", "name", "channel", "phase", "status"}
)
"""Texts that are stated again; joined, they would have no meaning."""
_LISTS: Final = frozenset({"citations", "search_results"})
"""Members of chunks with what the answer stands on, which Perplexity has."""
_UNFINISHED: Final = (None, "", "null")
"""How services say that a choice goes on."""
_GROWING: Final = frozenset({"text", "thinking", "summary"})
"""Members of blocks that arrive in pieces."""


class ChatChunks(Accumulator):
    """Chunks with pieces of the one choice and of its calls."""

    format = "openai-chat"
    tag = "object"
    types = (_CHUNK,)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._message: dict[str, Any] = {"role": "assistant", "content": None}
        self._calls: list[ArrivingCall] = []
        self._arriving = ArrivingCalls(lambda call: self.begin(self._calls, call), self.grow)
        self._has_usage = False
        self._id = CommonId(may_vary=True)

    @classmethod
    def detect(cls, event: dict[str, Any]) -> bool:
        """Return whether an event can only be one of this stream."""
        choices = event.get("choices")
        if isinstance(choices, list):
            return any(isinstance(each, dict) and "delta" in each for each in choices)
        is_own = event.get("done") is not True and chunk_of(event) is not None
        return is_own or super().detect(event)

    def feed(self, event: dict[str, Any]) -> None:
        """Take a chunk, or an event of the own stream of a service that speaks the format."""
        event = event if "choices" in event else chunk_of(event) or event
        if event.get("error") or event.get("object") == "error":
            self._fail(event)
            return
        if isinstance(beside := event.get("x_groq"), dict) and beside.get("error"):
            self._fail(beside)
        if "choices" not in event and event.get("object") != _CHUNK:
            raise UnknownEvent
        choices = objects(event, "choices")
        begins = _begins(choices) or (self.is_finished and bool(choices))
        self._id.require(event.get("id"), is_beginning=begins)
        # Some services state no reason why the choice is finished; their usage comes last.
        if not choices and event.get("usage"):
            self._has_usage = True
        for name in () if _LISTS.isdisjoint(event) else _LISTS:
            if event.get(name):
                self.aside[f"the {name} beside the choices"] = 1
        for choice in choices:
            if choice.get("index") not in (0, None):
                raise OutOfPlace("it has another choice than the first: this makes one message")
            is_chunk = event.get("object") == _CHUNK
            # MiniMax sends the whole message once more at the end.
            is_again = _repeats(choice, self._message)
            delta = {} if is_again else _delta_of(choice, is_chunk=is_chunk)
            # Services go on after the finish, for example with the usage; only content is wrong.
            if self.is_finished and any(map(delta.get, delta.keys() - {"role"})):
                raise OutOfPlace("the choice has finished")
            self._delta(delta)
            if choice.get("finish_reason") not in _UNFINISHED:
                self.is_finished = True
                self.note_end(choice)

    def _fail(self, event: dict[str, Any]) -> None:
        for choice in objects(event, "choices"):
            self.note_end(choice)
        self.fail({"error": event.get("error") or event}, ends=False)

    def _delta(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            if value is None:
                continue
            held = self._message.get(key)
            if type(held) is Pieces and type(value) is str:  # most pieces are of one text
                self.grow(held, value)
            elif key == "tool_calls":
                for call in member(delta, key, list):
                    self._call(call)
            elif key == "role":
                if member(delta, key):
                    self.speak(value)
                    self._message[key] = value
            elif key == "content" and (isinstance(held, list) or isinstance(value, list)):
                self._content(value)
            else:
                self._grow(self._message, key, value)

    def _content(self, value: Any) -> None:
        """Add to content that has blocks, as some services stream thoughts before their text."""
        blocks = [{"type": "text", "text": value}] if isinstance(value, str) else value
        if not isinstance(blocks, list):
            raise OutOfPlace(f"its content is {quote(value, limit=40)}")
        held = self._message["content"]
        if not isinstance(held, list):
            held = [{"type": "text", "text": held}] if held else []
            self._message["content"] = held
        for block in blocks if value else ():
            self._add(held, block)

    def _add(self, held: list[Any], entry: Any) -> None:
        """Add an entry to a list, or to its last entry if it is the next piece of that."""
        last = held[-1] if held else None
        if isinstance(entry, dict) and isinstance(last, dict) and _goes_on(last, entry):
            for key, value in entry.items():
                self._grow(last, key, value)
        elif isinstance(entry, dict):
            self.begin(held, {})
            for key, value in entry.items():
                self._grow(held[-1], key, value)
        else:
            self.begin(held, entry)

    def _grow(self, holder: dict[str, Any], key: str, value: Any) -> None:
        """Add to a member: text and lists grow, objects are merged, other values are replaced."""
        if value is None:
            holder.setdefault(key, None)
        elif isinstance(value, str) and key not in _REPLACED:
            if not isinstance(holder.get(key), Pieces):
                self.shape += 1
                holder[key] = Pieces()
            self.grow(holder[key], value)
        elif isinstance(value, dict):
            inner = holder.setdefault(key, {})
            if not isinstance(inner, dict):
                raise OutOfPlace(f"its {quote(key, limit=40)} is an object, but was not before")
            for name, item in value.items():
                self._grow(inner, name, item)
        elif isinstance(value, list):
            inner = holder.get(key)
            if not isinstance(inner, list):
                inner = holder[key] = []
            for entry in value:
                self._add(inner, entry)
        elif value != "" or key not in holder:
            holder[key] = value

    def _call(self, call: Any) -> None:
        if not isinstance(call, dict):
            raise OutOfPlace(f"its call is {quote(call, limit=40)}")
        kind = "custom" if call.get("custom") is not None else "function"
        about = {} if call.get(kind) is None else member(call, kind, dict)
        text = about.get("input" if kind == "custom" else "arguments")
        if isinstance(text, dict):  # some services write the arguments as an object
            text = strict_json.dumps(text)
        index = call.get("index", about.get("index"))  # Ollama states it inside
        held = self._arriving.take(index, call.get("id"), about.get("name"), text)
        if about:
            held.about["kind"] = kind
        if call.keys() - _OF_CALL:
            held.about |= {key: call[key] for key in call.keys() - _OF_CALL if call[key]}

    def message(self) -> Any:
        """Return the message so far."""
        message = plain(self._message)
        sound = message.get("audio")
        if isinstance(sound, dict) and isinstance(sound.get("data"), str):
            sound["data"] = joined_base64(sound["data"])
        calls = [_call_block(call) for call in self._calls if "kind" in call.about]
        return {**message, "tool_calls": calls} if calls else message

    def is_cut(self) -> bool:
        """Return whether the stream ended before the choice."""
        return not (self.is_finished or self._has_usage)


def _begins(choices: list[dict[str, Any]]) -> bool:
    """Return whether choices have what only the first chunk of an answer has."""
    first = choices[0].get("delta") if choices else None
    return isinstance(first, dict) and bool(first.get("role"))


def _delta_of(choice: dict[str, Any], *, is_chunk: bool) -> dict[str, Any]:
    """Return what a choice adds; a service that can't stream sends the message as one chunk."""
    name = "message" if choice.get("delta") is None else "delta"
    if name == "message" and choice.get(name) is not None and not is_chunk:
        raise OutOfPlace("it is a whole answer: to_body(…) reads its choices[0].message")
    return {} if choice.get(name) is None else member(choice, name, dict)


def _repeats(choice: dict[str, Any], message: dict[str, Any]) -> bool:
    """Return whether a choice is the whole message whose text has come in pieces."""
    said, held = choice.get("message"), message.get("content")
    if choice.get("delta") is not None or not isinstance(said, dict) or type(held) is not Pieces:
        return False
    return bool(said.get("content") == str(held))


_OF_CALL: Final = frozenset({"index", "id", "function", "custom"})


def _goes_on(block: dict[str, Any], more: dict[str, Any]) -> bool:
    """Return whether an entry of a list is the next piece of the one before it."""
    if _GROWING.isdisjoint(block) or block.get("signature"):
        return False
    return all(block.get(key) == more.get(key) for key in ("type", "index"))


def _call_block(call: ArrivingCall) -> dict[str, Any]:
    about = {key: value for key, value in call.about.items() if key != "kind"}
    kind = call.about["kind"]
    key = "input" if kind == "custom" else "arguments"
    # The adapter refuses a call without these, and the body may be read at every event.
    said = {"name": call.name, key: str(call.arguments)}
    return {"id": call.id, "type": kind, **about, kind: said}
