"""A body, its filesystem and a plain list never disagree, in content and in order."""

import errno
from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from messagebody import MessageBody, Part
from tests.effort import examples

NAMES = st.sampled_from([f"/{a}{b}" for a in "ab" for b in ("", "/c", "/d", "/d/e", "/d/f/g")])
# Few, so that the steps of a transaction get in each other's way.
FEW_NAMES = st.sampled_from(["/a", "/a/c", "/b"])
SHOWN = st.none() | NAMES
CONTENTS = st.binary(max_size=3)
POSITIONS = st.integers(-4, 12)

Model = list[tuple[str | None, bytes]]


class Filesystem:
    """What a filesystem over a list of names and contents is, as plainly as can be said."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def names(self) -> list[str]:
        return [name for name, _ in self.model if name is not None]

    def at(self, name: str) -> int:
        if name in self.names():
            return [each for each, _ in self.model].index(name)
        raise OSError(self._missing(name), "")

    def _missing(self, name: str) -> int:
        if self.is_directory(name):
            return errno.EISDIR
        return errno.ENOTDIR if self._is_below_file(name) else errno.ENOENT

    def _is_below_file(self, name: str) -> bool:
        return any(name.startswith(other + "/") for other in self.names())

    def is_directory(self, path: str) -> bool:
        return any(name.startswith(path + "/") for name in self.names())

    def check_writable(self, name: str, *, is_new: bool = False) -> None:
        if name in self.names():
            if is_new:
                raise OSError(errno.EEXIST, "")
        elif self.is_directory(name) or self._is_below_file(name):
            raise OSError(self._missing(name), "")

    def write(self, name: str, content: bytes, *, is_new: bool = False) -> None:
        self.check_writable(name, is_new=is_new)
        if name in self.names():
            self.model[self.at(name)] = (name, content)
        else:
            self.model.append((name, content))

    def append(self, name: str, content: bytes) -> None:
        old = self.model[self.at(name)][1] if name in self.names() else b""
        self.write(name, old + content)

    def copy(self, source: str, target: str) -> None:
        if self.is_directory(source) and source not in self.names():
            return
        self.write(target, self.model[self.at(source)][1])

    def move(self, source: str, target: str) -> None:
        content = self.model[self.at(source)][1]
        self.check_writable(target)
        if target != source:
            self.model[:] = [part for part in self.model if part[0] != target]
            self.model[self.at(source)] = (target, content)

    def remove(self, name: str) -> None:
        del self.model[self.at(name)]

    def entries(self, directory: str) -> list[tuple[str, bool]]:
        found: dict[tuple[str, bool], None] = {}
        for name in self.names():
            if name.startswith(directory + "/"):
                first, slash, _ = name.removeprefix(directory + "/").partition("/")
                found[f"{directory}/{first}", bool(slash)] = None
        return list(found)


def outcome(action: Callable[[], Any]) -> int | None:
    try:
        action()
    except OSError as error:
        return error.errno
    return None


class BodyMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.body = MessageBody()
        self.fs = self.body.fs
        self.model: Model = []
        self.plain = Filesystem(self.model)

    @initialize(parts=st.lists(st.tuples(NAMES, CONTENTS), unique_by=lambda part: part[0]))
    def start(self, parts: list[tuple[str, bytes]]) -> None:
        self.body.extend(Part(content, name=name) for name, content in parts)
        self.model.extend(parts)

    def both(self, real: Callable[[], Any], plain: Callable[[], Any]) -> None:
        before = list(self.model)
        expected = outcome(plain)
        if expected is not None:
            self.model[:] = before
        assert outcome(real) == expected

    # Through the filesystem

    @rule(name=NAMES, content=CONTENTS, mode=st.sampled_from(["overwrite", "create"]))
    def pipe(self, name: str, content: bytes, mode: str) -> None:
        self.both(
            lambda: self.fs.pipe_file(name, content, mode=mode),
            lambda: self.plain.write(name, content, is_new=mode == "create"),
        )

    @rule(name=NAMES, content=CONTENTS, mode=st.sampled_from(["wb", "xb", "ab"]))
    def open(self, name: str, content: bytes, mode: str) -> None:
        def real() -> None:
            with self.fs.open(name, mode) as file:
                file.write(content)

        def plain() -> None:
            if mode == "ab":
                self.plain.append(name, content)
            else:
                self.plain.write(name, content, is_new=mode == "xb")

        self.both(real, plain)

    @rule(name=NAMES, mode=st.sampled_from(["wb", "xb", "ab"]))
    def fail_to_write(self, name: str, mode: str) -> None:
        def real() -> None:
            with self.fs.open(name, mode) as file:
                file.write(b"half")
                raise OSError(errno.EIO, "")

        assert outcome(real) is not None

    @rule(source=NAMES, other=NAMES)
    def copy(self, source: str, other: str) -> None:
        self.both(lambda: self.fs.cp_file(source, other), lambda: self.plain.copy(source, other))

    @rule(source=NAMES, other=NAMES)
    def move(self, source: str, other: str) -> None:
        self.both(lambda: self.fs.mv_file(source, other), lambda: self.plain.move(source, other))

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        self.both(lambda: self.fs.rm(name), lambda: self.plain.remove(name))

    @rule(directory=NAMES)
    def remove_all_below(self, directory: str) -> None:
        if self.fs.exists(directory):
            self.fs.rm(directory, recursive=True)
        below = directory + "/"
        self.model[:] = [part for part in self.model if not f"{part[0] or ''}/".startswith(below)]

    @rule(
        steps=st.lists(
            st.tuples(
                st.sampled_from(["write", "create", "append", "mv", "rm"]), FEW_NAMES, FEW_NAMES
            ),
            max_size=5,
        ),
        fails=st.booleans(),
    )
    def transaction(self, steps: list[tuple[str, str, str]], fails: bool) -> None:
        """Checked when it is asked for, and once more when all of it is done at the end."""
        before, done = list(self.model), []

        def real() -> None:
            with self.fs.transaction:
                for step, name, other in steps:
                    self._real_step(step, name, other)
                    assert self._parts() == before
                if fails:
                    raise OSError(errno.EIO, "")

        def plain() -> None:
            for step, name, other in steps:
                self._plain_step(step, name, other)
                self.model[:] = before
                done.append((step, name, other))
            if fails:
                raise OSError(errno.EIO, "")
            for each in done:
                self._plain_step(*each)

        self.both(real, plain)

    def _real_step(self, step: str, name: str, other: str) -> None:
        if step in {"write", "create", "append"}:
            mode = {"write": "wb", "create": "xb", "append": "ab"}[step]
            with self.fs.open(name, mode) as file:
                file.write(other.encode())
        elif step == "mv":
            self.fs.mv_file(name, other)
        else:
            self.fs.rm_file(name)

    def _plain_step(self, step: str, name: str, other: str) -> None:
        if step == "append":
            self.plain.append(name, other.encode())
        elif step in {"write", "create"}:
            self.plain.write(name, other.encode(), is_new=step == "create")
        elif step == "mv":
            self.plain.move(name, other)
        else:
            self.plain.remove(name)

    # Through the body

    @rule(name=SHOWN, content=CONTENTS)
    def append_part(self, name: str | None, content: bytes) -> None:
        if name not in self.plain.names():
            self.body.append(Part(content, name=name))
            self.model.append((name, content))

    @rule(position=POSITIONS, name=SHOWN, content=CONTENTS)
    def insert(self, position: int, name: str | None, content: bytes) -> None:
        if name not in self.plain.names():
            self.body.insert(position, Part(content, name=name))
            self.model.insert(position, (name, content))

    @precondition(lambda self: self.model)
    @rule(position=st.integers(0, 100), name=SHOWN, content=CONTENTS)
    def replace(self, position: int, name: str | None, content: bytes) -> None:
        position %= len(self.model)
        if name == self.model[position][0] or name not in self.plain.names():
            self.body[position] = Part(content, name=name)
            self.model[position] = (name, content)

    @precondition(lambda self: self.model)
    @rule(position=st.integers(0, 100))
    def delete(self, position: int) -> None:
        del self.body[position % len(self.model)]
        del self.model[position % len(self.model)]

    @rule(old=NAMES, new=NAMES)
    def rename(self, old: str, new: str) -> None:
        names = self.plain.names()
        if old in names and (new == old or new not in names):
            self.body.move(old, new)
            self.model[self.plain.at(old)] = (new, self.model[self.plain.at(old)][1])

    @rule(start=POSITIONS, stop=POSITIONS)
    def delete_slice(self, start: int, stop: int) -> None:
        del self.body[start:stop]
        del self.model[start:stop]

    @rule()
    def reverse(self) -> None:
        self.body.reverse()
        self.model.reverse()

    # Never do they disagree

    def _parts(self) -> Model:
        return [(part.name, part.read_bytes()) for part in self.body]

    @invariant()
    def the_body_is_the_list(self) -> None:
        assert self._parts() == self.model
        assert len(self.body) == len(self.model)
        assert self.body.names() == self.plain.names()

    @invariant()
    def the_files_are_the_named_parts(self) -> None:
        assert self.fs.find("/") == self.plain.names()
        for position, (name, content) in enumerate(self.model):
            if name is not None:
                assert self.fs.cat_file(name) == content
                info = self.fs.info(name)
                assert (info["size"], info["index"]) == (len(content), position)

    @invariant()
    def every_directory_lists_its_entries_in_order(self) -> None:
        directories = [""]
        for directory in directories:
            expected = self.plain.entries(directory)
            found = self.fs.ls(directory or "/")
            assert [(each["name"], each["type"] == "directory") for each in found] == expected
            sizes = dict(self.model)
            for each in found:
                if each["type"] == "file":
                    assert each["size"] == len(sizes[each["name"]])
            directories += [path for path, is_directory in expected if is_directory]
        assert list(self.body.fs.ls("/")) == self.fs.ls("/")


BodyMachine.TestCase.settings = settings(
    max_examples=examples(150), stateful_step_count=25, deadline=None
)
TestBody = BodyMachine.TestCase
