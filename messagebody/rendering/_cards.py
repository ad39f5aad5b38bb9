"""Cards of a page: each part with its heading, remarks, content and what may be kept of it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import count_of
from messagebody.errors import MissingDependency
from messagebody.links import each_link
from messagebody.rendering._changes import Changes
from messagebody.rendering._contents import Contents, Shown
from messagebody.rendering._directories import Directory, gathered
from messagebody.rendering._elements import Html, element
from messagebody.rendering._limits import LINKED_FROM, OPEN_PARTS, PROBLEMS, more_with
from messagebody.rendering._pieces import badge, card, dot, facts, figure, fold, link, pair_of
from messagebody.rendering._tables import preview, size_of, total_size, type_of

Place = tuple[int, "messagebody.Part", Shown]
"""A part with its position and its content."""


@attrs.define(slots=False)
class Cards:
    """Makes the list and the cards of the parts of one body.

    Arguments:
        body: the body.
        contents: makes contents.
        changes: between an older body and this one.
        problems: violations by position; None for missing parts.
    """

    body: "messagebody.MessageBody"
    contents: Contents
    changes: Changes = attrs.field(factory=Changes)
    problems: "dict[int | None, list[messagebody.schema.Violation]]" = attrs.field(factory=dict)

    @cached_property
    def _parts(self) -> "Sequence[messagebody.Part]":
        return self.body[: self.contents.limits.parts]

    @cached_property
    def _root(self) -> Directory:
        return gathered(part.name for part in self._parts)

    @cached_property
    def _news(self) -> frozenset[int]:
        """The positions of parts that are new, changed or not accepted."""
        wrong = {index for index in self.problems if index is not None}
        return frozenset(self.changes.added | self.changes.changed.keys() | wrong)

    def _is_opened(self, *positions: int) -> bool:
        """Return whether something in a folded part or directory opens it."""
        return len(self._news) <= OPEN_PARTS and not self._news.isdisjoint(positions)

    @cached_property
    def _open_directories(self) -> frozenset[int]:
        """The identities of directories that begin open: as many as have few parts together."""
        left = OPEN_PARTS
        opened = []
        for directory in self._root.directories():
            positions = list(directory.positions())
            if len(positions) <= left or self._is_opened(*positions):
                left -= len(positions)
                opened.append(id(directory))
        return frozenset(opened)

    # The list

    def listed(self) -> Html:
        """Return the list of all parts, in which directories fold; nothing for a few parts."""
        if len(self._parts) < 3:
            return Html()
        return element("nav", self._list(self._root, ""), aria_label="Parts")

    def _list(self, directory: Directory, said: str) -> Html:
        said = said if directory.is_run else directory.prefix
        items = (
            self._listed_directory(entry, said)
            if isinstance(entry, Directory)
            else self._link(entry, said)
            for entry in directory.entries
        )
        return element("ol", *(element("li", item) for item in items))

    def _listed_directory(self, directory: Directory, said: str) -> Html:
        positions = list(directory.positions())
        label = self._label(directory, said)
        summary = element(
            "summary", element("bdi", label), element("small", f"{len(positions):,}"),
            *self._marks(*positions), title=label,
        )  # fmt: skip
        return element("details", summary, self._list(directory, said),
                       open=id(directory) in self._open_directories)  # fmt: skip

    def _link(self, index: int, said: str) -> Html:
        part = self._parts[index]
        name = preview(part, 40) or part.content_type if part.name is None else part.name
        shown = name if part.name is None else name.removeprefix(said)
        return element("a", dot(part), element("bdi", shown), *self._marks(index),
                       href=f"#{self.contents.anchor(index)}", title=name)  # fmt: skip

    def _marks(self, *positions: int) -> Iterator[Html]:
        if any(index in self.problems for index in positions):
            yield element("span", "✗", class_="wrong", title="not accepted")
        if any(index in self.changes.added for index in positions):
            yield element("span", "+", class_="mark", title="new")
        if any(index in self.changes.changed for index in positions):
            yield element("span", "≠", class_="mark", title="changed")

    def _label(self, directory: Directory, said: str) -> str:
        """Return the name of a directory without what is said already, or the ends of a run."""
        if not directory.is_run:
            return directory.prefix.removeprefix(said)
        ends = (self._end(directory.entries[place], said) for place in (0, -1))
        return " … ".join(ends)

    def _end(self, entry: "int | Directory", said: str) -> str:
        if isinstance(entry, Directory):
            return self._label(entry, said)
        return _name(self._parts[entry], entry).removeprefix(said)

    # The cards

    def sections(self) -> Iterator[Html]:
        """Yield the missing parts, the removed parts, and the parts in order."""
        yield from _missing(self.problems.get(None, []))
        yield from self._removed()
        yield from self._entries(self._root, "")
        left = len(self.body) - len(self._parts)
        if left:
            words = f"{count_of(left, 'more part')} ({more_with('parts')})"
            yield element("p", words, class_="note")
        if not len(self.body):
            yield element("p", "This body has no parts.", class_="note")

    @cached_property
    def _part_contents(self) -> list[Shown]:
        return self.contents.show_all(
            [(self.contents.anchor(i), p) for i, p in enumerate(self._parts)]
        )

    def _entries(self, directory: Directory, said: str) -> Iterator[Html]:
        said = said if directory.is_run else directory.prefix
        is_open = len(directory.entries) <= OPEN_PARTS
        for kind, group in groupby(directory.entries, self._kind):
            run = list(group)
            places = [
                (i, self._parts[i], self._part_contents[i]) for i in run if isinstance(i, int)
            ]
            if kind == "directory":
                yield from (
                    self._directory(each, said) for each in run if not isinstance(each, int)
                )
            elif kind == "picture" and len(run) > 1:
                yield self._sheet(places, said, is_open=is_open)
            else:
                yield from (self._card(*place, said=said, is_open=is_open) for place in places)

    def _kind(self, entry: "int | Directory") -> str:
        if isinstance(entry, Directory):
            return "directory"
        return "picture" if self._part_contents[entry].picture else "part"

    def _directory(self, directory: Directory, said: str) -> Html:
        positions = list(directory.positions())
        size = total_size(self._parts[index] for index in positions)
        summary = element(
            "summary",
            element("bdi", self._label(directory, said), class_="name"),
            *self._counts(positions),
            element("small", f"{count_of(len(positions), 'part')}  {size}"),
        )
        inside = element("div", *self._entries(directory, said), class_="inside")
        return element("details", summary, inside, class_="part directory",
                       open=id(directory) in self._open_directories)  # fmt: skip

    def _counts(self, positions: Sequence[int]) -> Iterator[Html]:
        """Yield how many parts of a directory are new, changed and not accepted."""
        for word, look, found in (
            ("new", "good", self.changes.added),
            ("changed", "", self.changes.changed),
            ("not accepted", "bad", self.problems),
        ):
            count = sum(index in found for index in positions)
            if count:
                yield badge(f"{count:,} {word}", look)

    def _removed(self) -> Iterator[Html]:
        if self.changes.removed:
            rows = [
                element("li", element("bdi", part.name or preview(part) or "unnamed"), " ",
                        element("small", f"{type_of(part)}, {size_of(part)}"))
                for part in self.changes.removed[:PROBLEMS]
            ]  # fmt: skip
            heading = f"{count_of(len(self.changes.removed), 'part')} removed"
            yield element("section", element("h2", heading), element("ul", *rows), class_="gone")

    def _sheet(self, run: Sequence[Place], said: str, *, is_open: bool) -> Html:
        """Return neighbouring pictures side by side; a chosen picture grows."""
        figures = [self._figure(*each, said=said) for each in run]
        sheet = element("div", *figures, class_="sheet")
        summary = element("summary", f"{len(run):,} pictures")
        is_open = is_open or self._is_opened(*(index for index, _, _ in run))
        return element("details", summary, sheet, class_="part", open=is_open)

    def _figure(self, index: int, part: "messagebody.Part", shown: Shown, *, said: str) -> Html:
        was = self._picture_before(index, shown)
        return figure(
            shown.html, self._heading(index, part, said), *self._remarks(index, part, shown),
            *filter(None, [was]), self.contents.keeping(index, part, shown),
            anchor=self.contents.anchor(index), back="",
        )  # fmt: skip

    def _card(
        self, index: int, part: "messagebody.Part", shown: Shown, *, said: str, is_open: bool
    ) -> Html:
        was = self._picture_before(index, shown)
        html = shown.html if was is None else pair_of(was, "before", shown.html)
        return card(
            self._heading(index, part, said), *self._remarks(index, part, shown), html,
            self.contents.keeping(index, part, shown),
            anchor=self.contents.anchor(index), is_open=is_open or self._is_opened(index),
        )  # fmt: skip

    def _heading(self, index: int, part: "messagebody.Part", said: str) -> Iterator[Html]:
        yield dot(part)
        name = _name(part, index)
        yield element("bdi", name.removeprefix(said),
                      class_="name" if part.name is not None else "name unnamed",
                      title=name if said else None)  # fmt: skip
        if index in self.changes.added:
            yield badge("new", "good")
        if index in self.changes.changed:
            yield badge("changed")
        if index in self.problems:
            yield badge("✗ not accepted", "bad")
        yield facts(part)

    def _remarks(self, index: int, part: "messagebody.Part", shown: Shown) -> Iterator[Html]:
        """Yield the remarks about a part besides its content."""
        if part.name is not None and part.name in self._linked_from:
            yield self._holders(part.name)
        for violation in self.problems.get(index, [])[:PROBLEMS]:
            yield element("p", str(violation), class_="problem")
        if index in self.changes.changed:
            yield self._difference(self.changes.changed[index], shown)
        about = {**(part.metadata or {}), **part.extra}
        if about:
            yield fold("Metadata", self.contents.json(about))

    @cached_property
    def _linked_from(self) -> dict[str, list[int]]:
        """The positions of the parts that link to a name, in order."""
        most = self.contents.limits.most
        read = [
            index
            for index, part in enumerate(self._parts)
            if not part.is_reference and (part.size or 0) <= most
        ]
        found: dict[str, dict[int, None]] = defaultdict(dict)
        try:
            for link in each_link(self._parts[index] for index in read):
                found[link.target][read[link.part]] = None
        except MissingDependency:  # without it all else is shown as well
            return {}
        return {name: [*holders] for name, holders in found.items()}

    def _holders(self, name: str) -> Html:
        """Return links to the parts that link to a part."""
        holders = self._linked_from[name]
        words: list[str] = []
        for index in holders[:LINKED_FROM]:
            name = element("bdi", _name(self._parts[index], index))
            words += [", ", link(f"#{self.contents.anchor(index)}", name)]
        left = len(holders[LINKED_FROM:])
        more = f" and {count_of(left, 'other part')}" if left else ""
        return element("p", "linked from ", *words[1:], more, class_="note from")

    def _picture_before(self, index: int, new: Shown) -> Html | None:
        old = self.changes.changed.get(index)
        return None if old is None else self.contents.picture_before(old, new)

    def _difference(self, old: "messagebody.Part", new: Shown) -> Html:
        """Return the lines that differ, or a note that everything is different."""
        lines = self.contents.changed_lines(old, new)
        if lines is not None:
            return fold("Changes", lines, is_open=True)
        return element("p", f"before: {type_of(old)}, {size_of(old)}", class_="note")


def _name(part: "messagebody.Part", index: int) -> str:
    return f"part {index}" if part.name is None else part.name


def _missing(violations: Sequence[Any]) -> Iterator[Html]:
    if violations:
        rows = [element("li", str(each)) for each in violations[:PROBLEMS]]
        heading = element("h2", f"{count_of(len(violations), 'part')} missing")
        yield element("section", heading, element("ul", *rows), class_="missing")
