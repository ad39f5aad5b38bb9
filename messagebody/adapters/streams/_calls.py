"""Calls that arrive in pieces, which services tell apart in different ways."""

import re
from collections.abc import Callable
from typing import Any, Final

import attrs

from messagebody._core import quote
from messagebody.adapters.streams._accumulator import OutOfPlace, Pieces

_MARKS: Final = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
"""What tells where a JSON value ends."""


@attrs.define(eq=False)
class ArrivingCall:
    """A call so far.

    Arguments:
        id: its id, "" until one is stated.
        name: the tool.
        arguments: the text of its arguments.
        about: its other members.
    """

    id: str = ""
    name: str = ""
    arguments: Pieces = attrs.field(factory=Pieces)
    about: dict[str, Any] = attrs.field(factory=dict)
    unread: list[str] = attrs.field(factory=list, init=False)
    """Text of the arguments that `is_whole` has not looked at."""
    _depth: int = attrs.field(default=0, init=False)
    _is_inside: bool = attrs.field(default=False, init=False)

    def is_whole(self) -> bool:
        """Return whether the arguments are a value that has ended."""
        # Read on from where the last question stopped, so that many questions cost no more than
        # the text.
        text = "".join(self.unread)
        end = 0
        for mark in _MARKS.finditer(text):
            end = mark.end()
            if mark[0] == '"':
                self._is_inside = not self._is_inside
            elif mark[0][0] != "\\" and not self._is_inside:
                self._depth += 1 if mark[0] in "{[" else -1
        # The letter that a backslash escapes may be in the next piece.
        self.unread = ["\\"] if text[end:].endswith("\\") else []
        return bool(self.arguments) and self._depth == 0 and not self._is_inside


class ArrivingCalls:
    """The calls of a message, and which of them a piece belongs to.

    A piece states an index, an id, both or neither. Some services put all of their calls at one
    index, begin with another index than 0, and repeat id and name in each piece, or leave them
    empty.

    Arguments:
        begin: called with a call that begins; it may refuse it.
        grow: adds a piece to a text.
    """

    def __init__(
        self, begin: Callable[[ArrivingCall], None], grow: Callable[[Pieces, Any], None]
    ) -> None:
        self._calls: list[ArrivingCall] = []
        self._at: dict[Any, ArrivingCall] = {}
        self._named: dict[str, ArrivingCall] = {}
        self._begin = begin
        self._grow = grow

    def take(self, index: Any, id: Any, name: Any, text: Any) -> ArrivingCall:  # noqa: A002
        """Add a piece to its call, and return the call.

        Arguments:
            index: the index that the piece states, None for no index.
            id: the id, empty or None for none.
            name: the name of the tool, or a piece of it; empty or None for none.
            text: a piece of the arguments, None for none.

        Raises:
            OutOfPlace: its call has not begun, or a member is of another type.
        """
        if not (id or name) and type(index) is int and (known := self._at.get(index)):
            if text is not None:
                self._more(known, text)
            return known
        if type(index) not in (int, str, type(None)):
            raise OutOfPlace(f"its index is {quote(index, limit=40)}")
        for key, held in {"id": id, "name": name, "arguments": text}.items():
            if not isinstance(held, str | None):
                raise OutOfPlace(f"the {key} of its call is {quote(held, limit=40)}")
        call = self._call_of(index, id or "", name or "", text or "")
        if id and not call.id:
            call.id = id
            self._named[id] = call
        if name and name != call.name and not call.arguments:
            # Some send the name in pieces, and some again from its beginning.
            call.name = name if name.startswith(call.name) else call.name + name
        if text:
            self._more(call, text)
        return call

    def _more(self, call: ArrivingCall, text: str) -> None:
        self._grow(call.arguments, text)
        call.unread.append(text)

    def _call_of(self, index: Any, id: str, name: str, text: str) -> ArrivingCall:  # noqa: A002
        held = self._held(index, id)
        if held is not None and not _is_another(held, id, name, text):
            return held
        if held is None and not (id or name) and index not in (None, len(self._calls)):
            raise OutOfPlace(f"call {index} has not begun")
        if held is None and not (id or name) and self._calls:
            raise OutOfPlace("its call has not begun")
        call = ArrivingCall()
        self._begin(call)
        self._calls.append(call)
        if index is not None:
            self._at[index] = call
        return call

    def _held(self, index: Any, id: str) -> ArrivingCall | None:  # noqa: A002
        """Return the call that a piece may belong to: that of its index, its id, or the last."""
        if index is not None:
            return self._at.get(index)
        last = self._calls[-1] if self._calls else None
        if id and (last is None or last.id):
            return self._named.get(id)
        return last


def _is_another(held: ArrivingCall, id: str, name: str, text: str) -> bool:  # noqa: A002
    """Return whether a piece begins another call than the one at its index."""
    if not name or not held.name:
        return False
    if id and held.id:
        return id != held.id
    # Without ids, a call ends where its arguments do.
    return bool(held.arguments) and held.is_whole() and (name != held.name or bool(text))
