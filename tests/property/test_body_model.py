"""A body behaves as the plain list and dict it stands for, whatever is done to it in any order."""

import copy
import pickle
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from messagebody import MessageBody, Part
from messagebody.errors import DuplicateName, PartNotFound
from tests.effort import examples

NAMES = ["/a", "/b", "/a/b", "/c.txt", "/d-1"]
names = st.sampled_from(NAMES)
contents = st.sampled_from(["", "x", "y", b"\xff"])
some_parts = st.builds(Part, contents, name=st.none() | names)
positions = st.integers(-7, 7)
bounds = st.none() | st.integers(-8, 8)
slices = st.builds(slice, bounds, bounds, st.sampled_from([None, 1, 2, -1, -2]))


def clashes(parts: list[Part]) -> bool:
    """Whether two of the parts have one name."""
    found = [part.name for part in parts if part.name is not None]
    return len(set(found)) != len(found)


class BodyAsList(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.body = MessageBody()
        self.parts: list[Part] = []

    def by_name(self) -> dict[str, Part]:
        return {part.name: part for part in self.parts if part.name is not None}

    def tried(self, do: Any, changed: list[Part]) -> None:
        """Do it to the body; it is refused exactly if the list would hold one name twice."""
        if clashes(changed):
            with pytest.raises(DuplicateName):
                do()
        else:
            do()
            self.parts = changed

    @rule(content=contents, name=st.none() | names)
    def add(self, content: Any, name: str | None) -> None:
        part = Part(content, name=name)
        self.tried(lambda: self.body.add(content, name=name), [*self.parts, part])

    @rule(part=some_parts, position=positions)
    def insert(self, part: Part, position: int) -> None:
        changed = self.parts.copy()
        changed.insert(position, part)
        self.tried(lambda: self.body.insert(position, part), changed)

    @rule(parts=st.lists(some_parts, max_size=3))
    def extend(self, parts: list[Part]) -> None:
        self.tried(lambda: self.body.extend(iter(parts)), [*self.parts, *parts])

    @rule(parts=st.lists(some_parts, max_size=2))
    def plus(self, parts: list[Part]) -> None:
        changed = [*self.parts, *parts]
        if clashes(changed):
            with pytest.raises(DuplicateName):
                self.body + parts
        else:
            assert [*(self.body + parts)] == changed
        assert [*self.body] == self.parts

    @rule(part=some_parts, position=positions)
    def replace(self, part: Part, position: int) -> None:
        if not -len(self.parts) <= position < len(self.parts):
            with pytest.raises(IndexError):
                self.body[position] = part
            return
        changed = self.parts.copy()
        changed[position] = part
        self.tried(lambda: self.body.__setitem__(position, part), changed)

    @rule(where=slices, parts=st.lists(some_parts, max_size=3))
    def replace_slice(self, where: slice, parts: list[Part]) -> None:
        changed = self.parts.copy()
        try:
            changed[where] = parts
        except ValueError:
            with pytest.raises(ValueError, match="extended slice"):
                self.body[where] = parts
            return
        self.tried(lambda: self.body.__setitem__(where, parts), changed)

    @rule(name=names, content=contents)
    def write(self, name: str, content: Any) -> None:
        old = self.by_name().get(name)
        self.body[name] = content
        new = self.body[name]
        assert new.read_bytes() == Part(content).read_bytes()
        if old is None:
            self.parts.append(new)
        else:
            self.parts[self.parts.index(old)] = new

    @rule(old=names, new=names)
    def move(self, old: str, new: str) -> None:
        names = [old] if old in self.by_name() else self.below(old)
        if not names:
            with pytest.raises(PartNotFound):
                self.body.move(old, new)
            return
        changed = [
            each.evolve(name=new + each.name[len(old) :]) if each.name in names else each
            for each in self.parts
        ]
        self.tried(lambda: self.body.move(old, new), changed)

    def below(self, directory: str) -> list[str]:
        return [name for name in self.by_name() if name.startswith(f"{directory}/")]

    @rule(position=positions)
    def pop(self, position: int) -> None:
        if not -len(self.parts) <= position < len(self.parts):
            with pytest.raises(IndexError):
                self.body.pop(position)
            return
        assert self.body.pop(position) == self.parts.pop(position)

    @rule(name=names)
    def delete_by_name(self, name: str) -> None:
        part = self.by_name().get(name)
        if part is None:
            with pytest.raises(PartNotFound):
                del self.body[name]
            return
        del self.body[name]
        self.parts.remove(part)

    @rule(where=slices)
    def delete_slice(self, where: slice) -> None:
        del self.body[where]
        del self.parts[where]

    @precondition(lambda self: self.parts)
    @rule(data=st.data())
    def remove_the_part(self, data: st.DataObject) -> None:
        part = data.draw(st.sampled_from(self.parts))
        self.body.remove(part)
        self.parts.remove(part)

    @rule()
    def reverse(self) -> None:
        self.body.reverse()
        self.parts.reverse()

    @rule()
    def clear(self) -> None:
        self.body.clear()
        self.parts.clear()

    @rule(way=st.sampled_from(["copy", "deepcopy", "pickle", "json", "resolver"]))
    def replace_by_a_copy(self, way: str) -> None:
        old = self.body
        self.body = {  # type: ignore[no-untyped-call]
            "copy": lambda: copy.copy(old),
            "deepcopy": lambda: copy.deepcopy(old),
            "pickle": lambda: pickle.loads(pickle.dumps(old)),
            "json": lambda: MessageBody.from_json(old.to_json()),
            "resolver": lambda: old.with_resolver(None),
        }[way]()
        assert self.body == old
        self.body.append(Part("only in the copy"))
        assert len(old) == len(self.parts)
        del self.body[-1]

    @rule(position=positions)
    def read_by_position(self, position: int) -> None:
        """Closes the holes that removals left."""
        if -len(self.parts) <= position < len(self.parts):
            assert self.body[position] == self.parts[position]

    @rule(where=slices)
    def read_slice(self, where: slice) -> None:
        assert self.body[where] == self.parts[where]

    @invariant()
    def equal_to_the_list(self) -> None:
        assert len(self.body) == len(self.parts)
        assert [*self.body] == self.parts
        assert self.body == MessageBody(self.parts)

    @invariant()
    def equal_to_the_dict(self) -> None:
        for name in NAMES:
            part = self.by_name().get(name)
            assert self.body.get(name) == part
            assert (name in self.body) == (part is not None)
            if part is not None:
                assert self.body[name] == part
                assert self.body.index(name) == self.parts.index(part)

    @rule(where=st.sampled_from(["/**", "/*", "/a/**", "/*.txt"]))
    def list_names(self, where: str) -> None:
        assert self.body.names() == list(self.by_name())
        matching = {
            "/**": lambda name: True,
            "/*": lambda name: name.count("/") == 1,
            "/a/**": lambda name: name.startswith("/a"),
            "/*.txt": lambda name: name.endswith(".txt"),
        }[where]
        expected = [part for name, part in self.by_name().items() if matching(name)]  # type: ignore[no-untyped-call]
        if where != "/a/**":  # whether it takes /a itself is the glob dialect's business
            assert self.body.list(where) == expected
        assert self.body.unnamed() == [part for part in self.parts if part.name is None]


BodyAsList.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=25)
TestBodyAsList = BodyAsList.TestCase
