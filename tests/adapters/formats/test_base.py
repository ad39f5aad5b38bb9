"""What all adapters share."""

import contextlib
import copy
import pickle
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import (
    Converted,
    Loss,
    LossKind,
    adapter,
    adapter_names,
    write,
)
from messagebody.adapters import _registry as base
from messagebody.errors import InvalidArgument, LossyConversion, MessageBodyError

LOSS = Loss("omitted", "a\nb", "no room")


class TestConverted:
    """A value and what was lost."""

    def test_is_a_named_tuple(self) -> None:
        """It unpacks, compares, copies and pickles."""
        converted = Converted(1, [LOSS], {"role": "user"})
        value, losses = converted
        assert (value, losses) == (1, (LOSS,)) == converted
        assert copy.deepcopy(converted) == pickle.loads(pickle.dumps(converted)) == converted
        again = pickle.loads(pickle.dumps(Converted(1, rest={"role": "user"})))
        assert again.rest == {"role": "user"}

    def test_rest_is_beside_value_and_losses(self) -> None:
        """Members that are no content are kept apart, and shown."""
        assert Converted(1).rest is None
        assert Converted(1, rest={"role": "user"}).rest == {"role": "user"}
        assert repr(Converted(1, rest=[2])) == "Converted(1, (), rest=[2])"

    def test_is_true_only_without_loss(self) -> None:
        """Whoever puts it behind `if` goes on only where nothing was lost."""
        assert Converted(None)
        assert not Converted("x", [LOSS])

    def test_or_raise(self) -> None:
        """The value, or all losses at once."""
        assert Converted("x").or_raise() == "x"
        with pytest.raises(LossyConversion) as caught:
            Converted("x", [LOSS]).or_raise()
        assert caught.value.losses == (LOSS,)
        assert str(caught.value) == r"omitted a\nb: no room"

    def test_or_raise_only_for_what_matters(self) -> None:
        name = Loss("omitted", "part 0", "there is no place for its name", affects="labels")
        form = Loss("converted", "part 1", "it goes out as text")
        done = Converted("x", [name, form])
        assert done.or_raise("content") == "x"
        for affected, losses in ((("labels",), [name]), (("form", "labels"), [name, form])):
            with pytest.raises(LossyConversion) as caught:
                done.or_raise(*affected)
            assert [*caught.value.losses] == losses
        with pytest.raises(InvalidArgument, match=r"'content', 'form' or 'labels'.*'omitted'"):
            Converted("x").or_raise("omitted")

    @pytest.mark.parametrize(
        ("kind", "affects"),
        [("omitted", "content"), ("downgraded", "content"), ("converted", "form")],
    )
    def test_a_loss_that_does_not_say_what_it_affects(self, kind: str, affects: str) -> None:
        """Whoever asks for losses of content gets those of other packages, too."""
        assert Loss(kind, "a", "b").affects == affects

    def test_a_loss_of_a_message_says_which(self) -> None:
        loss = Loss("omitted", "part 0", "no room", message=3)
        assert (loss.message, loss.where) == (3, "part 0")
        assert str(loss) == "omitted message 3: part 0: no room"

    def test_kinds(self) -> None:
        """Three, and no other."""
        assert LOSS.kind is LossKind.OMITTED
        assert str(LOSS.kind) == "omitted"
        with pytest.raises(ValueError, match="dropped"):
            Loss("dropped", "a", "b")


class TestRegistry:
    """Adapters by name."""

    @pytest.mark.parametrize("name", ["agents-api", "channel"])
    def test_modules_are_adapters(self, name: str) -> None:
        """A module with the three functions is one."""
        adapter = base.adapter(name)
        body = MessageBody()
        body.add("Hello!")
        message = adapter.from_body(body).or_raise()
        assert adapter.detect(message)
        assert adapter.to_body(message).or_raise() == body

    def test_unknown_names(self) -> None:
        """The error lists those there are, the nearest first."""
        listed = r"did you mean 'agents-api'.*channel, .*olympus"
        with pytest.raises(MessageBodyError, match=listed):
            base.adapter("agent-api")
        with pytest.raises(MessageBodyError, match="no adapter 'x'; there are"):
            base.adapter("x")


@pytest.mark.parametrize("provider", [{"provider": "openai"}, {}])
def test_a_file_of_a_provider_comes_back(provider: dict[str, str]) -> None:
    """From the part alone, too."""
    source = {"type": "file", "value": "f 1", **provider, "mimeType": "image/png"}
    message = {"id": "m", "role": "user", "content": [{"type": "image", "source": source}]}
    read = adapter("ag-ui").to_body(message)
    assert write("ag-ui", read).value == message
    alone = adapter("ag-ui").from_body(read.value).value
    assert alone["content"] == message["content"]


@pytest.mark.parametrize("name", adapter_names())
@pytest.mark.parametrize("call", ["from_body", "from_bodies", "to_body", "to_bodies"])
def test_what_is_no_message_and_no_body_is_told(name: str, call: str) -> None:
    act: Any = getattr(adapter(name), call, None)
    for value in (5, None, [5], object(), "x", MessageBody([Part("x")])) if act else ():
        # Some formats take any JSON for a message.
        with contextlib.suppress(MessageBodyError, FileNotFoundError):
            assert isinstance(act(value), Converted)


def test_a_body_is_no_conversation() -> None:
    there: Any = adapter("anthropic")
    body = MessageBody([Part("Hi!")])
    with pytest.raises(InvalidArgument, match=r"from_bodies\(\[body\]\)"):
        there.from_bodies(body)
    with pytest.raises(InvalidArgument, match="rests that to_bodies returned"):
        there.from_bodies([body], rest=5)
    assert there.from_bodies([body], rest=None) == there.from_bodies([body])
