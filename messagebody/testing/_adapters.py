"""The contract of an adapter for a foreign format, as tests to inherit."""

import abc
import contextlib
import copy
import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from messagebody import MessageBody, MessageBodyError, Part
from messagebody._core import Limits
from messagebody.adapters import (
    Adapter,
    Archive,
    Converted,
    Format,
    Loss,
    LossKind,
    each_adapter,
    evidence_of,
)
from messagebody.errors import DecodeError, EnvelopeError
from messagebody.findings import Finding, Severity
from messagebody.testing._damage import (
    AWKWARD,
    damaged,
    first_change,
    nameless,
    other_ids,
    wider,
)
from messagebody.testing.strategies import (
    bodies,
    conversations,
    json_values,
    plain_bodies,
)

_BROKEN: Final = ("", "{", '{"a": ', "[" * 100_000, '{"a": NaN}', b"\xff\xfe{", b"\x00")
"""Texts that are no JSON, or too deep to read."""
_PNG: Final = b"\x89PNG\r\n\x1a\n" + bytes(8)
_NUMBER: Final = re.compile(r"/\d+(?=[./]|\Z)")


class AdapterContract(abc.ABC):
    """Inherit this and give it the class attributes `adapter` and `messages`.

    Override `from_body` if the format needs more than a body, such as a sender and a recipient.

    Examples:
        >>> from messagebody.envelopes import agents_api
        >>> class TestAgentsApi(AdapterContract):
        ...     adapter = agents_api
        ...     messages = [{"role": "user", "content": "Hello!", "metadata": {"a": 1}}]
        ...     carries, roles = (), ()
    """

    # Each property is defined inside its test, because Hypothesis identifies a property by its
    # function, and each adapter that inherits the tests needs its own.
    adapter: Adapter
    """The adapter: a module or an object."""
    messages: ClassVar[Sequence[Any]] = ()
    """Messages of the format, as its service sends them: one with each kind of block, with ids,
    signatures and all that is beside the content."""
    carries: ClassVar[Collection[str]] = ("calls", "results")
    """Which of "calls" and "results" the format has blocks for."""
    roles: ClassVar[Collection[str]] = ("user", "assistant")
    """The roles that its messages state, in our words."""
    texts: ClassVar[int] = 3
    """How many texts one message may hold."""
    ids: ClassVar[bool] = True
    """Whether calls and results state their ids; without them, a loss names each id."""
    invents: ClassVar[Collection[str]] = ()
    """Members of its messages that are new each time one is written, such as a message's id."""
    akin: ClassVar[Collection[str]] = ()
    """Registered formats whose messages look like those of this one."""

    def from_body(self, body: MessageBody, **options: Any) -> Converted[Any]:
        """Return the message of a body."""
        return self.adapter.from_body(body, **options)

    # One body

    def test_nothing_is_lost_in_silence(self) -> None:
        """Every part comes back unchanged and in order, or there is a loss.

        A format may add parts of its own, such as the sender and the recipient.
        """

        def holds(body: MessageBody) -> None:
            there = self.from_body(body)
            back = self.adapter.to_body(there.value)
            assert isinstance(there, Converted)
            assert isinstance(back, Converted)
            losses = (*there.losses, *back.losses)
            assert all(isinstance(loss, Loss) for loss in losses)
            assert losses or _holds_in_order(back.value, body), _lost(back.value, body)

        # Most random bodies have a loss, and most plain ones have none.
        _try(holds, bodies())
        _try(holds, plain_bodies() | self._own_bodies())

    def test_no_loss_is_invented(self) -> None:
        """Nothing is omitted of a body that comes back as it was; a plain text has no loss."""

        def holds(body: MessageBody) -> None:
            there = self.from_body(body)
            back = self.adapter.to_body(there.value)
            losses = (*there.losses, *back.losses)
            if back.value == body:
                assert not any(loss.kind is LossKind.OMITTED for loss in losses)
            said = body[0].text if len(body) == 1 else None
            if said is not None and said.strip() and body[0] == Part(said):
                assert losses == ()

        _try(holds, bodies(max_size=2) | plain_bodies(max_size=1))

    def test_texts_are_kept(self) -> None:
        """Each text comes back letter by letter, wherever it stands, or there is a loss."""
        for text in AWKWARD:
            for body in _bodies_of(text):
                there = self.from_body(body)
                back = self.adapter.to_body(there.value)
                found, wanted = [*map(_text_in, back.value)], [*map(_text_in, body)]
                assert (*there.losses, *back.losses) or _holds_in_order(found, wanted), text[:40]

    def test_it_is_always_the_same(self) -> None:
        """Converting changes neither body nor message, and gives the same again."""

        def holds(body: MessageBody) -> None:
            before = body.to_json()
            there = self.from_body(body)
            kept = copy.deepcopy(there.value)
            back = self.adapter.to_body(there.value)
            assert (body.to_json(), there.value) == (before, kept)
            assert self.adapter.to_body(kept) == back
            again = self.from_body(MessageBody.from_json(before))
            assert self._without_invented(again) == self._without_invented(there)

        _try(holds, bodies(max_size=3) | plain_bodies())

    def test_messages_are_apart(self) -> None:
        """What is read and written of a message does not depend on the one before it."""
        changes = (copy.deepcopy, nameless, other_ids)
        found = [change(message) for message in self._messages() for change in changes]
        made = [(message, self._round_trip(message)) for message in found]
        # Each comes after each other one, and before it.
        for one, another in itertools.combinations_with_replacement(made, 2):
            for message, first in (another, one):
                assert self._round_trip(message) == first

    def _round_trip(self, message: Any) -> Any:
        """Return what is read of a message and written again."""
        try:
            read = self.adapter.to_body(copy.deepcopy(message))
            there = (self._write(read.value, read.rest), self.from_body(read.value))
        except MessageBodyError as error:
            return str(error)
        return read, read.rest, [self._without_invented(each) for each in there]

    def _without_invented(self, made: Converted[Any]) -> tuple[Any, ...]:
        return _without(made.value, self.invents), made.losses

    def test_it_knows_its_own(self) -> None:
        """A written message is JSON, and is detected as a message of the format."""

        def holds(body: MessageBody) -> None:
            message = self.from_body(body).value
            text = message if isinstance(message, str | bytes) else json.dumps(message)
            is_known = self.adapter.detect(json.loads(text)) is True
            assert is_known, f"detect does not know {message!r:.300}"

        _try(holds, bodies(max_size=3) | plain_bodies())

    def test_what_it_writes_is_valid(self) -> None:
        """A written message follows the rules of its format, or there is a loss."""

        def holds(body: MessageBody) -> None:
            there = self.from_body(body)
            assert there.losses or [*self._errors(there.value)] == []

        _try(holds, bodies(max_size=3) | plain_bodies())

    def _own_bodies(self) -> st.SearchStrategy[MessageBody]:
        """Return bodies of texts and files that the format has blocks for, in any order."""
        read = [self.adapter.to_body(message).value for message in self._messages()]
        shuffled = [st.permutations(body.unnamed()) for body in read]
        return st.one_of(shuffled).map(MessageBody)

    def _errors(self, message: Any) -> Iterator[Finding]:
        for finding in self.adapter.iter_findings(message):
            if finding.severity is Severity.ERROR:
                yield finding

    # Its own messages

    def test_its_messages_come_back(self) -> None:
        """With `rest`, each of `messages` comes back as it was: ids, signatures and all."""
        for message in self._messages():
            before = copy.deepcopy(message)
            assert self.adapter.detect(message) is True, f"detect does not know {message!r:.300}"
            assert [*self._errors(message)] == []
            read = self.adapter.to_body(message)
            rest = copy.deepcopy(read.rest)
            there = self._write(read.value, read.rest)
            why = f"{first_change(before, there.value)}; its losses are {there.losses}"
            assert there.value == before, why
            assert (message, read.rest) == (before, rest)

    def test_what_is_new_comes_back(self) -> None:
        """A member that nobody knows yet comes back with `rest`, is a loss, or is refused."""
        for message in self._messages():
            for more in wider(message):
                try:
                    read = self.adapter.to_body(copy.deepcopy(more))
                except MessageBodyError:
                    continue
                there = self._write(read.value, read.rest)
                assert there.value == more or (*read.losses, *there.losses)
                assert self.adapter.detect(more) is True, f"detect does not know {more!r:.300}"

    def test_what_is_edited_stays_edited(self) -> None:
        """`rest` neither brings back a part that was deleted, nor hides one that is new."""
        for message in self._messages():
            read = self.adapter.to_body(message)
            for index in range(len(read.value)):
                edited = MessageBody(part for at, part in enumerate(read.value) if at != index)
                edited.append(Part("A new text."))
                try:
                    there = self._write(edited, read.rest)
                except MessageBodyError:
                    continue  # such as a payload that has to be JSON
                back = self.adapter.to_body(there.value)
                found, wanted, known = (
                    [*map(_without_number, each)] for each in (back.value, edited, read.value)
                )
                # In some formats, items such as calls come after all content.
                for is_named in (False, True):
                    kept = [part for part in wanted if (part.name is not None) is is_named]
                    is_kept = (*there.losses, *back.losses) or _holds_in_order(found, kept)
                    assert is_kept, f"{_lost(found, kept)}: {there.value!r:.300}"
                is_gone = known[index] in wanted or known[index] not in found
                assert is_gone, f"{known[index]} was deleted: {there.value!r:.300}"

    def _messages(self) -> Sequence[Any]:
        if not self.messages:
            pytest.fail("give messages: some of the format, as its service sends them")
        return self.messages

    def _write(self, body: MessageBody, rest: Any) -> Converted[Any]:
        return self.from_body(body) if rest is None else self.from_body(body, rest=rest)

    # Conversations

    def test_no_role_is_changed(self) -> None:
        """A message of a role is not read as one of another role, unless there is a loss.

        A format may refuse a role that its messages do not have.
        """
        if isinstance(self.adapter, Archive):
            return  # a file has no speaker
        for role in ("user", "assistant", "system", "tool"):
            try:
                there = self.from_body(MessageBody(["Hello!"]), role=role)
            except EnvelopeError:
                assert role not in self.roles
                continue
            read = self.adapter.to_body(there.value)
            said = _role_in(read.rest)
            assert (*there.losses, *read.losses) or said in (role, None)

    def test_a_conversation_comes_back(self) -> None:
        """Texts, calls and results come back in order, with their ids and speakers."""
        adapter = self.adapter
        wanted = {kind: kind in self.carries for kind in ("calls", "results")}

        def holds(talk: list[tuple[str, MessageBody]]) -> None:
            if not isinstance(adapter, Format):  # envelopes write each for itself
                made = [self.from_body(body) for _, body in talk]
                back = [self.adapter.to_body(each.value) for each in made]
                found: list[tuple[str | None, MessageBody]]
                found = [(None, each.value) for each in back]
                losses = [loss for each in (*made, *back) for loss in each.losses]
            else:
                there = adapter.from_bodies(
                    [body for _, body in talk], rest=[{"role": who} for who, _ in talk]
                )
                read = adapter.to_bodies(json.loads(json.dumps(there.value)))
                found = [*zip(map(_role_in, read.rest), read.value, strict=True)]
                losses = [*there.losses, *read.losses]
            facts, given_facts = [*self._facts(found)], [*self._facts(talk)]
            # The result of a call is in its message in some formats, and after all calls in others.
            for kind in ("text", "call", "result"):
                found_of, given = (
                    [each for each in some if each[0] == kind] for some in (facts, given_facts)
                )
                assert found_of == given, f"a {kind} of the conversation has changed"
            assert _are_answered_in_order(facts)
            called = [] if self.ids else [fact for fact in given_facts if fact[0] == "call"]
            assert len(losses) == len(called)

        _try(holds, conversations(**wanted, texts=self.texts))

    def _facts(self, talk: Iterable[tuple[str | None, MessageBody]]) -> Iterator[tuple[Any, ...]]:
        """Yield what is said, called and answered, and by whom."""
        for role, body in talk:
            for part in body:
                name = part.name or ""
                if name.startswith("/tool/calls/"):
                    call = part.read_json()
                    stated = call.get("id") if self.ids else None
                    yield "call", stated, call["name"], call["arguments"]
                elif name.startswith("/tool/results/"):
                    about: Any = (part.metadata or {}).get("tool_result", {})
                    yield "result", about.get("id") if self.ids else None, part.text
                elif not name:
                    yield "text", role if role in self.roles else None, part.text

    # Anything else

    def test_anything_else_is_refused(self) -> None:
        """Any value can be checked, and gives a body or an error of the toolkit."""

        def holds(value: Any) -> None:
            assert self.adapter.detect(value) in (True, False)
            assert all(isinstance(found, Finding) for found in self.adapter.iter_findings(value))
            self._reads(value)

        strangers: list[Any] = [None, 5, "", {}, [], {"later": {"a": 1}}]
        for nothing in strangers:
            assert self.adapter.detect(nothing) is False, f"detect takes {nothing!r} for its own"
        _try(holds, json_values())
        for message in self._messages():
            for strange in damaged(message):
                with _named(strange):
                    holds(strange)
        for text in _BROKEN:
            self._reads(text)

    def test_a_wrong_rest_is_refused(self) -> None:
        """Any value as `rest` gives a message or an error of the toolkit."""
        for message in self._messages():
            read = self.adapter.to_body(message)
            for rest in (1, "x", [], {}, *damaged(read.rest)):
                with contextlib.suppress(MessageBodyError):
                    self.from_body(read.value, rest=rest)

    def _reads(self, value: Any) -> None:
        try:
            found = self.adapter.to_body(value)
        except MessageBodyError:
            return
        assert isinstance(found.value, MessageBody)

    def test_limits_hold(self) -> None:
        """A message of more parts, or of more text, than the limits allow is refused."""
        to_body: Any = self.adapter.to_body
        for message in self._messages():
            parts = len(to_body(message).value)
            if parts > 1:
                with pytest.raises(DecodeError):
                    to_body(message, limits=Limits(parts=parts // 2))
            if not isinstance(message, str | bytes):
                with pytest.raises(DecodeError):
                    to_body(json.dumps(message), limits=Limits(json_bytes=2))

    # Other formats

    def test_it_is_told_from_other_formats(self) -> None:
        """It knows its messages better than any other format does, and those of others worse."""
        others = {name: each for name, each in each_adapter()
                  if name not in self.akin and each is not self.adapter}  # fmt: skip
        for message in self._messages():
            mine = evidence_of(self.adapter, message)
            better = [name for name, each in others.items() if evidence_of(each, message) > mine]
            assert better == [], f"formats that know {message!r:.200} better"
        for theirs, messages in _messages_of_others():
            if theirs in others.values():
                mine, all_of_it = (
                    sum(evidence_of(each, message) for message in messages)
                    for each in (self.adapter, theirs)
                )
                name = getattr(theirs, "name", theirs)
                why = (f"detect takes the messages of {name} for its own, with evidence of {mine} "
                       f"to {all_of_it}: ask for more, or name it in akin")  # fmt: skip
                assert mine < all_of_it, why


@contextlib.contextmanager
def _named(message: Any) -> Iterator[None]:
    """Name the message in an error."""
    try:
        yield
    except Exception as error:
        error.add_note(f"The message is {message!r:.500}")
        raise


def _lost(found: Iterable[Any], wanted: Iterable[Any]) -> str:
    """Return what is wrong with parts that do not come back, or in another order."""
    found, wanted = [*found], [*wanted]
    gone = [part for part in wanted if part not in found]
    if not gone:
        return f"the order has changed, and no loss says so: {found}"
    about = [f"{part!r} with metadata {part.metadata}" for part in gone]
    return f"lost or changed, and no loss says so: {', '.join(about)}; there is {found}"


def _try(holds: Callable[[Any], None], values: st.SearchStrategy[Any]) -> None:
    """Try a property with random values; a machine that is busy is no failure."""
    patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    patient(given(values)(holds))()


def _messages_of_others() -> Iterator[tuple[Adapter, list[Any]]]:
    """Yield a question and a call in each format of messages that is registered, with the format.

    Some formats have the same blocks for calls.
    """
    asked = MessageBody([Part("Look."), Part(_PNG, content_type="image/png")])
    called = MessageBody([Part("Look.")])
    called.add(json={"id": "c1", "name": "f", "arguments": {"a": 1}}, name="/tool/calls/1.json")
    for _, found in each_adapter():
        if isinstance(found, Format):
            said = {"user": asked, "assistant": called}
            yield found, [found.from_body(said[role], role=role).value for role in said]


def _are_answered_in_order(facts: list[tuple[Any, ...]]) -> bool:
    """Return whether each result comes after its call."""
    called = {fact[1]: place for place, fact in enumerate(facts) if fact[0] == "call"}
    return all(called.get(fact[1], place) < place for place, fact in enumerate(facts)
               if fact[0] == "result")  # fmt: skip


def _without(value: Any, names: Collection[str]) -> Any:
    """Return a JSON value without the members of some names."""
    if isinstance(value, dict):
        return {key: _without(inner, names) for key, inner in value.items() if key not in names}
    return [_without(each, names) for each in value] if isinstance(value, list) else value


def _bodies_of(text: str) -> Iterator[MessageBody]:
    """Yield bodies that hold a text in each of the places for texts."""
    call = {"id": "c1", "name": "find", "arguments": {"for": text, text[:99]: [text]}}
    yield MessageBody([Part(text)])
    yield MessageBody([Part("First."), Part(text), Part("Third.")])
    yield MessageBody([Part(text, name="/notes/a.md", content_type="text/markdown")])
    yield MessageBody([Part("a"), Part(json.dumps(call), name="/tool/calls/1.json",
                                       content_type="application/json")])  # fmt: skip
    about = {"tool_result": {"id": "c1", "name": "find"}}
    yield MessageBody([Part(text, name="/tool/results/1/1", metadata=about)])
    yield MessageBody([Part(text, name="/reasoning/1"), Part("b")])


def _role_in(rest: Any) -> str | None:
    said = rest.get("role") if isinstance(rest, dict) else None
    return said if isinstance(said, str) else None


def _without_number(part: Part) -> Part:
    """Return a part without the number in its name: items are counted anew in each body."""
    return part if part.name is None else part.evolve(name=_NUMBER.sub("/0", part.name))


def _text_in(part: Part) -> tuple[str | None, Any]:
    """Return the place of a part, and its text or the value of its call."""
    is_call = part.name is not None and part.name.startswith("/tool/calls/")
    return _without_number(part).name, part.read_json() if is_call else part.text


def _holds_in_order(body: Iterable[Any], wanted: Iterable[Any]) -> bool:
    rest = iter(body)
    return all(any(part == found for found in rest) for part in wanted)
