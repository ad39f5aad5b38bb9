"""Prompts of bodies within a budget of tokens: the whole body if it fits, or the best of it."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Literal, overload

import attrs

from messagebody._core import MessageBody, escape, guided, require_body, require_resolver
from messagebody.errors import InvalidArgument
from messagebody.prompts._counting import Counter, estimate_tokens
from messagebody.prompts._material import Material
from messagebody.prompts._plan import Layout, Planner
from messagebody.storage import Resolver

_Kind = Literal["cut", "listed", "unlisted", "withheld"]


@attrs.frozen
class Omission:
    """The content of one part that a prompt leaves out.

    Arguments:
        index: the position of the part.
        name: its name.
        kind: "cut": head and tail are shown; "listed": only name, type and size are shown;
            "unlisted": the part is only counted; "withheld": it is not for models.
        shown: characters of it that are in the prompt.
        total: characters of it, or bytes if it is not text or was not read; None if not known.
        why: the reason.
    """

    index: int
    name: str | None
    kind: _Kind
    shown: int
    total: int | None
    why: str

    def __str__(self) -> str:
        called = f"part {self.index}" + (f" {escape(self.name)}" if self.name else "")
        size = f", {self.shown:,} of {self.total or 0:,} characters" if self.kind == "cut" else ""
        return f"{called}: {self.kind}{size}: {self.why}"


@attrs.frozen
class Prompt:
    """A body for a model, and the content that it leaves out.

    Arguments:
        body: the parts to send, in order: text and pictures. Every format sends it.
        omitted: the parts that are not shown whole, in order, those that are withheld last; empty
            if all are. The sequence makes its items as you take them.
        used: tokens by the caller's counter: those of `body.read_text()` and of the pictures.
    """

    body: MessageBody
    omitted: Sequence[Omission]
    used: int


@guided
def to_prompt(
    body: MessageBody,
    budget: int = 8000,
    *,
    count: Callable[[str], int] = estimate_tokens,
    media: str = "image/*",
    resolver: Resolver | None = None,
) -> Prompt:
    r"""Return the part of a body that a model should see, within a budget of tokens.

    A body that fits stays whole. Otherwise the prompt fills the budget, at any number of parts.
    Pictures take up to half of it, and more only if text leaves room. Unnamed text comes before
    named text. If there is room for a piece of each text, all get the same, and none gets more than
    it has; if not, the first ones are shown, and a short last one, which is often the question. A
    question that fits is shown even if nothing else is. A long text is cut to its head and tail,
    with a note that tells how to read the rest. The next parts are listed, and those without room
    in the list are counted. Each named part is enclosed in a tag that occurs in no content that is
    shown, so that no content can close its own tag. Unnamed text is enclosed too if any content
    looks like such a tag.

    Parts that unnamed texts link to or cite are numbered in that order, as `source="1"` in their
    tags. They come before other named parts, and no source is shown in place of one that is cited.

    The work depends on the budget: a text that can't be shown is not read. A token is taken to have
    eight characters at most, and `count` never gets a text of more than sixteen times the budget.

    Parts that keep members of a message, such as `/meta/agents-api.json`, are left out and not
    counted: they hold ids and tokens of systems.

    Arguments:
        body: the body.
        budget: tokens, counted by `count`, and 1,600 for a picture; the prompt never has more.
        count: the tokens of a text.
        media: a glob over content types; such parts are sent as they are, unless they are text, or
            lie at a place on this machine that the resolver does not allow.
        resolver: decides which references to texts are read, several at a time, until the budget is
            full; the body's own if None. Without one none is read. What is not read is listed.

    Raises:
        InvalidArgument: the body is not a body, the budget is not a whole number, or `count`
            does not return one.

    Examples:
        >>> body = MessageBody()
        >>> _ = body.add("Summarize the log.")
        >>> _ = body.add("line\n" * 5000, name="/log.txt")
        >>> prompt = to_prompt(body, 200)
        >>> prompt.used <= 200, [(each.name, each.kind) for each in prompt.omitted]
        (True, [('/log.txt', 'cut')])
        >>> str(prompt.omitted[0])[:21]
        'part 1 /log.txt: cut,'
    """
    require_body(body)
    require_resolver(resolver)
    if not isinstance(budget, int):
        raise InvalidArgument("a whole number of tokens as budget", budget)
    material = Material(body, resolver, media)
    planner = Planner(material, max(budget, 0), Counter(count))
    shown = planner.best()
    return Prompt(planner.body(shown), _Omissions(material, shown), shown.used)


class _Omissions(Sequence[Omission]):
    """The omissions of a prompt, made as they are asked for: there may be a million.

    Arguments:
        material: the parts of the body.
        shown: what is shown of them.
    """

    def __init__(self, material: Material, shown: Layout) -> None:
        self._material = material
        self._shares = shown.plan.shares
        self._pictures = shown.pictures
        self._listed = frozenset(shown.plan.listed)

    @cached_property
    def _before(self) -> list[int]:
        """How many parts that are omitted lie before each part that is not."""
        total = self._material.total
        whole = {each for each, share in self._shares.items() if share == total(each)}
        skipped = sorted({*whole, *self._pictures, *self._material.withheld})
        return [position - place for place, position in enumerate(skipped)]

    @property
    def _seen(self) -> int:
        """How many parts are omitted that a model may see."""
        return len(self._material.names) - len(self._before)

    def __len__(self) -> int:
        return self._seen + len(self._material.withheld)

    @overload
    def __getitem__(self, index: int) -> Omission: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Omission, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        found = range(len(self))[index]
        return self._at(found) if isinstance(found, int) else tuple(map(self._at, found))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(
            mine == theirs for mine, theirs in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, islice(self, 3)))
        return f"<{len(self):,} omissions: {shown}{', …' if len(self) > 3 else ''}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, ([*self],)

    def _at(self, index: int) -> Omission:
        # Parts that are withheld come last.
        if index >= self._seen:
            return self._omission(self._material.withheld[index - self._seen], "withheld")
        position = index + bisect_right(self._before, index)
        if position in self._shares:
            return self._omission(position, "cut")
        return self._omission(position, "listed" if position in self._listed else "unlisted")

    def _omission(self, position: int, kind: _Kind) -> Omission:
        material = self._material
        shown, total = self._shares.get(position, 0), material.total(position)
        return Omission(
            position, material.names[position], kind, shown, total, material.why(position)
        )
