"""What all adapters share."""

import copy
import pickle
from typing import Any

import pytest

from messagebody import MessageBody
from messagebody.envelopes import base
from messagebody.envelopes.base import Converted, Loss, LossKind
from messagebody.errors import LossyConversion, MessageBodyError

LOSS = Loss("omitted", "a\nb", "no room")


class TestConverted:
    """A value and what was lost."""

    def test_is_a_named_tuple(self) -> None:
        """It unpacks, compares, copies and pickles."""
        converted = Converted.of(1, [LOSS])
        value, losses = converted
        assert (value, losses) == (1, (LOSS,)) == converted
        assert copy.deepcopy(converted) == pickle.loads(pickle.dumps(converted)) == converted

    def test_is_true_only_without_loss(self) -> None:
        """Whoever puts it behind `if` goes on only where nothing was lost."""
        assert Converted(None)
        assert not Converted.of("x", [LOSS])

    def test_or_raise(self) -> None:
        """The value, or all losses at once."""
        assert Converted("x").or_raise() == "x"
        with pytest.raises(LossyConversion) as caught:
            Converted.of("x", [LOSS]).or_raise()
        assert caught.value.losses == (LOSS,)
        assert str(caught.value) == r"omitted a\nb: no room"

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
        with pytest.raises(MessageBodyError, match=r"did you mean 'agents-api'.*channel, olympus"):
            base.adapter("agent-api")
        with pytest.raises(MessageBodyError, match="no adapter 'x'; there are"):
            base.adapter("x")

    def test_register(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """An object or a module's name; twice the same is fine, another is not."""
        monkeypatch.setattr(base, "_adapters", dict(base._adapters))

        class Mine:
            def to_body(self, message: Any, /) -> Converted[MessageBody]:
                return Converted(MessageBody())

            def from_body(self, body: MessageBody, /) -> Converted[Any]:
                return Converted({})

            def detect(self, value: Any, /) -> bool:
                return False

        mine = Mine()
        base.register("mine", mine)
        base.register("mine", mine)
        assert base.adapter("mine") is mine
        assert "mine" in base.adapter_names()
        with pytest.raises(MessageBodyError, match="'mine' is registered already"):
            base.register("mine", Mine())
