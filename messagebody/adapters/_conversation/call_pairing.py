"""Calls and results of a conversation, where its messages say less than what they are.

A client shows a call while it runs. Its updates repeat the arguments, and replace what the call has
shown before. A service wants one call and one result.
"""

from collections.abc import Iterator
from itertools import count

import attrs

from messagebody._core import Part, strict_json
from messagebody.adapters._contract import Affected, Loss, LossKind
from messagebody.adapters._conversation.turn import Turn, left_of
from messagebody.adapters._conversion.rest import entries_of, matched
from messagebody.adapters._vocabulary.dialect import usual_role
from messagebody.adapters._vocabulary.items import Call, Result
from messagebody.adapters._vocabulary.part_names import RESULT, is_withheld


def with_unnamed_results(turns: list[Turn]) -> Iterator[Turn]:
    """Yield turns in which what a tool says without naming a call is the result of some call."""
    for turn in turns:
        is_tools = usual_role(str(turn.role)) == "tool" and not turn.is_own
        yield _as_result(turn) if is_tools and len(turn.body) else turn


def _as_result(turn: Turn) -> Turn:
    """Return a turn whose plain parts are the result of a call, unless it has results."""
    items = turn.items()
    if any(item is not None and not is_withheld(parts[0]) for item, parts in items):
        return turn
    items = [(item, parts) for item, parts in items if not is_withheld(parts[0])]
    if not items:
        return turn
    entries = entries_of(turn.rest, "blocks")
    made, inner, numbers = [], [*entries], count(1)
    for (_, [part]), index in zip(items, matched(items, entries), strict=True):
        name = f"{_PLACE}{part.name or f'/{next(numbers)}'}"
        made.append(part.evolve(name=name, metadata={**(part.metadata or {}), RESULT: {}}))
        if index is not None:
            inner[index] = {**inner[index], "name": name}
    told = turn.evolve([*made, *filter(is_withheld, turn.body)])
    if entries:
        told.rest = {**turn.rest, "blocks": [{"name": _PLACE, "inner": inner}]}
    return told


_PLACE = "/tool/results/1"

_Shown = tuple[Turn, Result, list[Part]]


def is_unsettled(item: Call | Result) -> bool:
    """Return whether another item says more of a call, or has its result."""
    return item.is_update if isinstance(item, Call) else item.is_pending


def paired(turns: list[Turn], losses: list[Loss]) -> list[Turn]:
    """Return turns in which each call is told once, and a result is what the call has come to.

    A result without content takes over what its call has shown. Turns that came in the format that
    is written stay as they are.
    """
    found = _CallPairing(losses)
    for turn in turns:
        for item, parts in [] if turn.is_own else turn.items():
            if isinstance(item, Call) and item.id:
                found.call(turn, item, parts)
            elif isinstance(item, Result) and item.id:
                found.result(turn, item, parts)
    for each in found.shown.values():
        found.lose(each)
    losses += [loss for turn in turns if turn.is_emptied for loss in left_of(turn)]
    return [turn for turn in turns if not turn.is_emptied]


@attrs.define
class _CallPairing:
    """Hold the calls of a conversation so far, and what those have shown that still run."""

    losses: list[Loss]
    calls: dict[str, tuple[Turn, Part]] = attrs.field(factory=dict)
    shown: dict[str, _Shown] = attrs.field(factory=dict)

    def call(self, turn: Turn, item: Call, parts: list[Part]) -> None:
        """Take a call, or what an update says of one before it."""
        before = self.calls.get(str(item.id)) if item.is_update else None
        if before is None:
            self.calls[str(item.id)] = (turn, parts[0])
            return
        _restate(*before, item)
        _drop(turn, parts)

    def result(self, turn: Turn, item: Result, parts: list[Part]) -> None:
        """Take what a call has shown, or its result."""
        before = self.shown.pop(str(item.id), None)
        if item.is_pending:
            self.shown[str(item.id)] = (turn, item, parts)
            _drop(turn, parts)
        elif before is not None and _is_empty(parts) and not _is_empty(before[2]):
            _take_over(turn, item, parts, before)
            return
        self.lose(before)

    def lose(self, shown: _Shown | None) -> None:
        """Note what a call has shown, which goes nowhere."""
        if shown is None or _is_empty(shown[2]):
            return
        turn, item, _ = shown
        why = "it was shown while the call ran, and is not its result"
        self.losses.append(turn.loss(LossKind.OMITTED, item.key, why, Affected.CONTENT))


def _restate(turn: Turn, part: Part, update: Call) -> None:
    """Give a call the arguments that an update states."""
    said = {**turn.body[str(part.name)].read_json(), "arguments": update.arguments}
    turn.body = turn.body.copy()
    turn.body[str(part.name)] = part.evolve(content=strict_json.dumps(said))


def _drop(turn: Turn, parts: list[Part]) -> None:
    names = {part.name for part in parts}
    left = turn.evolve(part for part in turn.body if part.name not in names)
    turn.body, turn.is_emptied = left.body, not len(left.body)


def _take_over(turn: Turn, item: Result, parts: list[Part], shown: _Shown) -> None:
    """Give a result without content what its call has shown."""
    _, before, held = shown
    about = {key: value for key, value in _result_facts(parts[0]).items() if key != "empty"}
    names = {part.name for part in parts}
    made = []
    for part in turn.body:
        if part.name not in names:
            made.append(part)
            continue
        for each in held:
            name = f"{item.key}{str(each.name).removeprefix(str(before.key))}"
            metadata = {**(each.metadata or {}), RESULT: about}
            made.append(each.evolve(name=name, metadata=metadata))
    turn.body = turn.evolve(made).body


def _is_empty(parts: list[Part]) -> bool:
    return all(_result_facts(part).get("empty") is True for part in parts)


def _result_facts(part: Part) -> dict[str, object]:
    about: dict[str, object] = (part.metadata or {})[RESULT]
    return about
