"""The contract of an adapter for a foreign format, as tests to inherit."""

import abc
import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given

from messagebody import MessageBody, MessageBodyError
from messagebody.adapters import Adapter, Converted, Loss
from messagebody.findings import Finding, Severity
from messagebody.testing.strategies import bodies, json_values


class AdapterContract(abc.ABC):
    """Inherit this and give it the class attribute `adapter`: a module or an object.

    Override `from_body` if the format needs more than a body, such as a sender and a recipient.

    Examples:
        >>> from messagebody.adapters.envelopes import agents_api
        >>> class TestAgentsApi(AdapterContract):
        ...     adapter = agents_api
    """

    # Each property is defined inside its test, because Hypothesis identifies a property by its
    # function, and each adapter that inherits the tests needs its own.
    adapter: Adapter

    def from_body(self, body: MessageBody) -> Converted[Any]:
        """Return the message of a body."""
        return self.adapter.from_body(body)

    def test_nothing_is_lost_in_silence(self) -> None:
        """Every part comes back unchanged and in order, or there is a loss.

        A format may add parts of its own, such as the sender and the recipient.
        """

        @given(bodies())
        def holds(body: MessageBody) -> None:
            there = self.from_body(body)
            back = self.adapter.to_body(there.value)
            assert isinstance(there, Converted)
            assert isinstance(back, Converted)
            losses = (*there.losses, *back.losses)
            assert all(isinstance(loss, Loss) for loss in losses)
            assert losses or _holds_in_order(back.value, body)

        holds()

    def test_a_body_is_left_alone(self) -> None:
        """Converting changes neither the body nor the message."""

        @given(bodies())
        def holds(body: MessageBody) -> None:
            before = body.to_json()
            message = self.from_body(body).value
            kept = copy.deepcopy(message)
            self.adapter.to_body(message)
            assert (body.to_json(), message) == (before, kept)

        holds()

    def test_it_knows_its_own(self) -> None:
        """A written message is JSON, and is detected as a message of the format."""

        @given(bodies())
        def holds(body: MessageBody) -> None:
            message = self.from_body(body).value
            text = message if isinstance(message, str | bytes) else json.dumps(message)
            assert self.adapter.detect(json.loads(text)) is True

        holds()

    def test_what_it_writes_is_valid(self) -> None:
        """A written message follows the rules of its format, or there is a loss."""

        @given(bodies())
        def holds(body: MessageBody) -> None:
            there = self.from_body(body)
            assert there.losses or [*self._errors(there.value)] == []

        holds()

    def _errors(self, message: Any) -> Iterator[Finding]:
        for finding in self.adapter.iter_findings(message):
            if finding.severity is Severity.ERROR:
                yield finding

    def test_anything_else_is_refused(self) -> None:
        """Any JSON value can be checked, and gives a body or an error of the toolkit."""

        @given(json_values())
        def holds(value: Any) -> None:
            assert self.adapter.detect(value) in (True, False)
            assert all(isinstance(found, Finding) for found in self.adapter.iter_findings(value))
            try:
                found = self.adapter.to_body(value)
            except MessageBodyError:
                return
            assert isinstance(found.value, MessageBody)

        holds()


def _holds_in_order(body: MessageBody, wanted: MessageBody) -> bool:
    rest = iter(body)
    return all(any(part == found for found in rest) for part in wanted)
