"""Conversations, from every format to every service: no rule broken, no fact gone in silence."""

import json
import random
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody import adapters as registry
from messagebody.adapters import Converted
from tests.adapters.formats.services import RULES, broken
from tests.adapters.formats.test_silence import MESSAGES

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def adapter(name: str) -> Any:
    return registry.adapter(name)


def call(number: int, name: str, chance: random.Random, identity: str | None) -> Part:
    about = {"id": identity, "name": name, "arguments": {"n": chance.randrange(100)}}
    return Part(json.dumps(about), name=f"/tool/calls/{number}.json",
                content_type="application/json")  # fmt: skip


def result(number: int, identity: str | None, text: str, name: str | None) -> Part:
    about = {"id": identity, "name": name}
    said = {key: value for key, value in about.items() if value is not None}
    return Part(text, name=f"/tool/results/{number}/1", metadata={"tool_result": said})


class Talk:
    """Write a random conversation: users, assistants, tools, and what goes wrong between them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.facts = 0
        self.called = 0
        self.said: list[tuple[str, MessageBody]] = []
        self.waiting: list[tuple[str | None, str]] = []
        self.has_ids = self.chance.random() < 0.8
        for _ in range(self.chance.randrange(1, 9)):
            self.step()

    def fact(self) -> str:
        self.facts += 1
        return f"fact{self.facts:03}x"

    def held(self) -> list[str]:
        texts = [part.text or "" for _, body in self.said for part in body]
        return [text for text in texts if text.startswith("fact")]

    def step(self) -> None:
        kind = self.chance.choice(["user", "assistant", "calls", "results", "results", "whole"])
        getattr(self, kind)()

    def user(self) -> None:
        parts = [Part(self.fact()) for _ in range(self.chance.randrange(1, 3))]
        if self.chance.random() < 0.3:
            parts.append(Part(PNG, content_type="image/png"))
        if self.chance.random() < 0.1:
            parts.append(Part(self.chance.choice([" ", "\n\t", ""])))
        if self.chance.random() < 0.1:
            parts = [Part(b"%PDF-1.7", name="/q3.pdf", content_type="application/pdf")]
        self.said.append(("user", MessageBody(parts)))

    def assistant(self) -> None:
        parts = [Part(self.fact() + self.chance.choice(["", "", " ", "\n"]))]
        if self.chance.random() < 0.3:
            parts.insert(0, Part(self.fact(), name="/reasoning/1"))
        if self.chance.random() < 0.1:
            parts = [Part(self.fact(), name="/reasoning/1")]
        self.said.append(("assistant", MessageBody(parts)))

    def _calls(self, count: int) -> list[Part]:
        made = []
        for number in range(1, count + 1):
            self.called += 1
            form = self.chance.choice(["c{}", "c{}", "functions.pay:{}", f"{'x' * 70}{{}}"])
            identity = form.format(self.called) if self.has_ids else None
            name = self.chance.choice(["weather", "clock", "pay", "mcp.server/pay", "naïve_tool"])
            made.append(call(number, name, self.chance, identity))
            self.waiting.append((identity, name))
        return made

    def calls(self) -> None:
        parts = self._calls(self.chance.randrange(1, 4))
        if self.chance.random() < 0.5:
            parts.insert(0, Part(self.fact()))
        self.said.append(("assistant", MessageBody(parts)))

    def _results(self, waiting: list[tuple[str | None, str]]) -> list[Part]:
        return [
            result(number, identity, self.fact(),
                   None if identity and self.chance.random() < 0.5 else name)
            for number, (identity, name) in enumerate(waiting, 1)
        ]  # fmt: skip

    def results(self) -> None:
        take = [pair for pair in self.waiting if self.chance.random() < 0.85]
        if self.chance.random() < 0.2:
            take.append((f"lost{self.chance.randrange(99)}", "weather"))
        if self.chance.random() < 0.3:
            self.chance.shuffle(take)
        self.waiting = [pair for pair in self.waiting if pair not in take]
        if not take:
            return
        if self.chance.random() < 0.5:
            for pair in take:
                self.said.append(("tool", MessageBody(self._results([pair]))))
            return
        parts = self._results(take)
        if self.chance.random() < 0.3:
            parts.insert(self.chance.randrange(len(parts) + 1), Part(self.fact()))
        self.said.append(("tool", MessageBody(parts)))

    def whole(self) -> None:
        """Say calls and results in one body, as frameworks for user interfaces do."""
        start = len(self.waiting)
        calls = self._calls(self.chance.randrange(1, 4))
        mine, self.waiting = self.waiting[start:], self.waiting[:start]
        parts = [*calls, *self._results(mine), Part(self.fact())]
        self.said.append(("assistant", MessageBody(parts)))


def crossed(talk: Talk, source: str | None, target: str) -> tuple[Converted[Any], list[str]]:
    """Convert a talk to a target, by way of a source's messages if there is one."""
    bodies, rests = [body for _, body in talk.said], [{"role": role} for role, _ in talk.said]
    first: list[str] = []
    if source is not None:
        written = adapter(source).from_bodies(bodies, rest=rests)
        there = adapter(source).to_bodies(written.value)
        first = [*map(str, (*written.losses, *there.losses))]
        bodies, rests = there.value, there.rest
    done = adapter(target).from_bodies(bodies, rest=rests)
    return done, [*first, *map(str, done.losses)]


def readable(name: str, messages: list[Any]) -> str:
    """Return the texts of a conversation, those in base64 too."""
    bodies = adapter(name).to_bodies(messages).value
    return " ".join(part.text or "" for body in bodies for part in body)


SOURCES = [None, *sorted(MESSAGES)]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("target", RULES)
@pytest.mark.dear
def test_services_take_every_talk(source: str | None, target: str) -> None:
    if source == target:
        return  # messages of a service's own stay as they are
    for seed in range(60):
        talk = Talk(seed)
        done, losses = crossed(talk, source, target)
        assert broken(target, done.value) == [], (seed, talk.said, done.value)
        text = readable(target, done.value)
        gone = [fact for fact in talk.held() if fact.strip() not in text]
        omitted = [loss for loss in losses if "omitted" in loss]
        assert len(omitted) >= len(gone), (seed, gone, losses)


NAMES = [None, None, "/a.txt", "/tool/calls/1.json", "/tool/calls/2.json", "/tool/results/1/1",
         "/tool/results/1/a/b", "/tool/results/2/1", "/reasoning/1", "/refusals/1", "/code/1",
         "/images/1", "/sources/1", "/meta/agents-api.json", "/x/meta/gemini.json"]  # fmt: skip
ABOUT: list[Any] = [
    None, None, {"tool_result": {"id": "a", "name": "f"}}, {"tool_result": {"id": 5}},
    {"tool_result": "x"}, {"tool_result": {"id": "b", "error": True, "empty": True}},
    {"role": "user"}, {"citations": [{"url": "https://e.com/1"}, {"source": "/sources/1"}]},
]  # fmt: skip
TEXTS = ["hi", "", '{"id":"a","name":"f","arguments":{}}', '{"id":null,"name":"g","arguments":"x"}',
         '{"id":"b","name":"f","arguments":{},"type":"server_tool_use"}', '{"name":5}']  # fmt: skip
URLS = ["https://e.com/a.png", "s3://b/k", "openai-file:x", "data:text/plain,hi", "gs://b/v"]


def odd_body(chance: random.Random) -> MessageBody:
    """Return a body of parts at places of items that are none, or not those of this message."""
    body = MessageBody()
    for name in chance.sample(NAMES, chance.randrange(5)):
        if name is not None and name in body:
            continue
        about: Any = {"name": name, "metadata": chance.choice(ABOUT)}
        kind = chance.choice(["text/plain", "application/json", "text/markdown", "image/png"])
        if chance.random() < 0.7:
            about["content_type"] = kind
            body.append(Part(chance.choice(TEXTS).encode(), **about))
        else:
            body.append(Part(url=chance.choice(URLS), content_type="image/png", **about))
    return body


@pytest.mark.parametrize("target", MESSAGES)
@pytest.mark.dear
def test_odd_bodies_are_written_and_read_again(target: str) -> None:
    roles = [None, "user", "assistant", "tool", "system", "developer", "odd"]
    for seed in range(150):
        chance = random.Random(seed)
        bodies = [odd_body(chance) for _ in range(chance.randrange(1, 5))]
        rests = [{"role": role} if role else None for role in chance.choices(roles, k=len(bodies))]
        for carry in (False, True):
            done = adapter(target).from_bodies(bodies, rest=rests, carry=carry)
            adapter(target).to_bodies(json.loads(json.dumps(done.value)))
            if target in RULES and target != "openai-responses":
                assert broken(target, done.value) == [], (seed, bodies, done.value)


def called(identity: str, name: str, arguments: Any) -> Any:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": identity, "type": "function", "function": function}


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


def said(content: Any, **others: Any) -> Any:
    return {"role": "assistant", "content": content, **others}


def answer(identity: str, content: str) -> Any:
    return {"role": "tool", "tool_call_id": identity, "content": content}


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
ORDINARY: list[list[Any]] = [
    [user("Hello"), said("Hi!")],
    [user("Hello"), said("Hi!"), user("Bye"), said("Bye!")],
    [user("Weather in Brno?"), said(None, tool_calls=[called("c1", "weather", {"city": "Brno"})]),
     answer("c1", "12 degrees"), said("It is 12.")],
    [user("Weather and time?"),
     said("Let me look.", tool_calls=[called("c1", "weather", {}), called("c2", "clock", {})]),
     answer("c1", "12"), answer("c2", "noon"), said("12 at noon.")],
    [user([{"type": "text", "text": "What is this?"}, PICTURE]), said("A cat.")],
    [user([{"type": "text", "text": "Two"}, {"type": "text", "text": "in one"}]), said("Yes")],
    [user("one"), said("1", refusal=None, annotations=[], audio=None)],
    [user("x"), said(None, tool_calls=[called("c1", "find", {"n": [1, 2, {"x": None}]})]),
     answer("c1", '{"hits": 3}'), said(None, tool_calls=[called("c2", "open", {"i": 1})]),
     answer("c2", "the page"), said("Done"), user("Thanks")],
    [user("# Title\n\n- a list\n"), said("```python\nprint(1)\n```")],
    [user([PICTURE, {"type": "text", "text": "And this?"}, PICTURE]), said("Two cats."),
     user("Which?"), said("Both.")],
]  # fmt: skip
MOST_USED = ["openai-chat", "openai-responses", "anthropic", "bedrock", "gemini", "langchain",
             "pydantic-ai", "vercel-ai"]  # fmt: skip


@pytest.mark.parametrize("source", MOST_USED)
@pytest.mark.parametrize("target", MOST_USED)
def test_an_ordinary_talk_loses_nothing(source: str, target: str) -> None:
    for talk in ORDINARY:
        first = adapter("openai-chat").to_bodies(talk)
        written = adapter(source).from_bodies(first.or_raise(), rest=first.rest).or_raise()
        there = adapter(source).to_bodies(written)
        done = adapter(target).from_bodies(there.or_raise(), rest=there.rest)
        assert done.losses == ()
        assert target not in RULES or broken(target, done.value) == []


@pytest.mark.parametrize("name", ["openai-chat", "langchain", "ag-ui", "haystack", "llamaindex"])
@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("place", [0, 1])
def test_what_is_added_to_the_message_of_a_tool_follows_the_results(
    name: str, number: int, place: int
) -> None:
    """The text that was added to a message with room for a result alone was in no message."""
    calls = [called("a", "sun", {}), called("b", "moon", {})]
    talk = [user("go"), said(None, tool_calls=calls), answer("a", "A."), answer("b", "B.")]
    chat = adapter("openai-chat").to_bodies([*talk, said("done")])
    own = adapter(name).from_bodies(chat.value, rest=chat.rest).value
    there = adapter(name).to_bodies(own)
    there.value[number].insert(place, Part("New."))
    made = adapter(name).from_bodies(there.value, rest=there.rest).value
    assert len(made) == len(own) + 1
    assert made[:4] + made[5:] == own
    new = adapter(name).to_body(made[4])
    assert (new.rest["role"], [part.text for part in new.value]) == ("user", ["New."])


def test_what_the_message_of_a_tool_has_no_room_for_is_a_loss_of_content() -> None:
    there = adapter("openai-chat").to_body(answer("a", "A."))
    there.value.insert(0, Part("New."))
    done = adapter("openai-chat").from_body(there.value, rest=there.rest)
    [loss] = done.losses
    assert (done.value["content"], loss.kind, loss.affects) == ("A.", "omitted", "content")
