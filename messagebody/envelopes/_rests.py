"""Rests: the members of an envelope beside its content, in a part of the body or beside it."""

from collections.abc import Callable
from typing import Any

import attrs

from messagebody._base.limits import Limits
from messagebody._base.text import quote
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._wire import strict_json
from messagebody.adapters import Converted, Loss, LossKind, is_withheld
from messagebody.adapters.dialects import one_of
from messagebody.envelopes._php import JSON_DEPTH
from messagebody.errors import DecodeError, EnvelopeError

_JSON = "application/json"
# In a sidecar, the members of a message are one level deeper.
_DEPTH = JSON_DEPTH + 1


def sendable(body: MessageBody, own: str = "") -> tuple[MessageBody, tuple[Loss, ...]]:
    """Return a body without the members of other messages that it keeps, and their losses.

    The receiver of a message may be a model.

    Arguments:
        body: the body.
        own: the sidecar of the format itself, which goes along even if it can't be read here.
    """
    why = "it keeps members of a message that are not content"
    stays = [is_withheld(part) and part.name != own for part in body]
    if not any(stays):
        return body, ()
    losses = tuple(
        Loss(LossKind.OMITTED, f"part {index} {body[index].name}", why)
        for index, each in enumerate(stays)
        if each
    )
    return MessageBody(part for part, each in zip(body, stays, strict=True) if not each), losses


@attrs.frozen
class Rests:
    """Move the members of an envelope that are not content out of a body, and back into it.

    Arguments:
        format: the name of the format.
        sidecar: the name of the part with the members that are not content.
        missed: returns the members that a reader of another format misses, given the sidecar or
            the received message; ids and times are not among them.
        exact: the name of the part with the exact text of a message, if the format has one.
    """

    format: str
    sidecar: str
    missed: Callable[[dict[str, Any]], list[str]]
    exact: str | None = None

    def converted(
        self, body: MessageBody, rest: str | None, limits: Limits, losses: tuple[Loss, ...] = ()
    ) -> Converted[MessageBody]:
        """Return a converted body, with the rest in the place that the caller wants.

        Arguments:
            body: the body, with the rest as a part, if it needs one.
            rest: "part", or "beside" the body; if None, only the exact text of a message is a part.
            limits: what to take before refusing.
            losses: what the conversion lost.

        Raises:
            EnvelopeError: `rest` is something else.
            DecodeError: the body has more parts than the limits allow.
        """
        if len(body) > limits.parts:
            raise DecodeError(f"the message has more than {limits.parts:,} parts")
        if rest is None:
            # The signature of a message covers its text, so the text stays in a stored body.
            rest = "part" if self.exact is not None and self.exact in body else "beside"
        one_of("rest", rest, ("part", "beside"))
        if rest == "part":
            return Converted(body, losses)
        for name in filter(None, (self.exact, self.sidecar)):
            if name in body:
                text = body.pop(name).read_text()
                return Converted(body, losses, self._said(name, text))
        return Converted(body, losses)

    def _said(self, name: str, text: str) -> dict[str, Any]:
        value = strict_json.loads(text, depth=_DEPTH)
        # Another format takes nothing but these two: the role, and the losses.
        role = {"role": value["role"]} if isinstance(value.get("role"), str) else {}
        missed = {"missed": names} if (names := self.missed(value)) else {}
        kept = {"text": text} if name == self.exact else {"sidecar": value}
        return {"format": self.format, **role, **missed, **kept}

    def put_back(self, body: MessageBody, rest: Any) -> MessageBody:
        """Return a body with its rest as a part; the rest of another format is left out.

        Raises:
            EnvelopeError: `rest` is not what `to_body` returned, or the body has such a part.
        """
        if rest is None:
            return body
        if not isinstance(rest, dict):
            raise EnvelopeError(f"rest is an object that to_body returned, got {quote(rest)}")
        if rest.get("format") != self.format:
            return body
        part = self._part(rest)
        if part.name in body:
            raise EnvelopeError(f"the body has a part {part.name} already: give no rest beside it")
        body = body.copy()
        body.append(part)
        return body

    def role(self, rest: Any) -> str | None:
        """Return the role that the rest of a message of any format states."""
        role = rest.get("role") if isinstance(rest, dict) else None
        return role if isinstance(role, str) else None

    def _part(self, rest: dict[str, Any]) -> Part:
        if self.exact is not None and isinstance(rest.get("text"), str):
            return Part(rest["text"], name=self.exact, content_type=_JSON)
        if not isinstance(rest.get("sidecar"), dict):
            raise EnvelopeError("rest is not what to_body returned: 'sidecar' is not an object")
        try:
            strict_json.check_value(rest["sidecar"], depth=_DEPTH)
        except strict_json.InvalidJson as error:
            raise EnvelopeError(f"rest is not what to_body returned: {error}") from error
        text = strict_json.dumps(rest["sidecar"])
        return Part(text, name=self.sidecar, content_type=_JSON)
