"""Steps: what each does to a body, its form in a file, and the condition that it sets."""

import itertools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Protocol

import attrs

from messagebody import links
from messagebody._core import (
    FilledType,
    MessageBody,
    check_part_name,
    essence,
    example_body,
    extension_of,
    nearest,
    quote,
    require_body,
    require_iterable,
    require_schema,
)
from messagebody.adapters import adapter
from messagebody.errors import DuplicateName, InvalidArgument, InvalidBody, InvalidName
from messagebody.globs import ContentTypePattern, NamePattern, content_type_pattern, name_pattern
from messagebody.schema import MessageBodySchema, PartType

Glob = str | None | tuple[str | None, str]
"""A pattern of names, None for parts without a name, or such a pattern and one of types."""


class Valid(Protocol):
    """What says whether a body is valid: a schema, or a condition before it."""

    def is_valid(self, body: MessageBody) -> bool:
        """Return whether a body is valid."""


class Rewrite(NamedTuple):
    """How a step changes names.

    Arguments:
        old: a name, or with a slash at its end what names begin with.
        new: what stands there instead; None if the part has no name any more.
        others_go: whether parts with other names go.
    """

    old: str
    new: str | None
    others_go: bool = False


class WorkflowStep:
    """A change of a body between two agents. The body that comes in stays as it is."""

    word: ClassVar[str]
    """What the step is called in a file."""

    @abstractmethod
    def __call__(self, body: MessageBody) -> MessageBody:
        """Return the body afterwards.

        Raises:
            DuplicateName: two parts would have the same name.
            InvalidBody: a step of your own does not take the body, or breaks its promise.
            InvalidName: a name would be longer than readers take.
            MissingDependency: links follow their parts, there is Markdown or HTML, and the extra
                `links` is not installed.
        """

    @property
    def tested_names(self) -> Sequence[NamePattern]:
        """The patterns of names that decide what happens to a part."""
        return ()

    @property
    def tested_types(self) -> Sequence[ContentTypePattern]:
        """The patterns of types that decide what happens to a part."""
        return ()

    @property
    def rewrite(self) -> Rewrite | None:
        """How names change; None if they stay."""
        return None

    def follow(self, part: PartType) -> PartType | None:
        """Return what a part is after the step; None if it goes."""
        return part

    def types(self, parts: Sequence[PartType]) -> list[PartType]:
        """Return what the parts of a body are after the step.

        Raises:
            DuplicateName: two parts would have the same name.
        """
        moved = [after for after in map(self.follow, parts) if after is not None]
        return distinct(moved)

    def before(self, after: Valid) -> "Condition":
        """Return what a body has to be, so that it is valid after the step.

        Arguments:
            after: a schema, or the condition of the next step.

        Examples:
            >>> from messagebody import MessageBodySchema, Part
            >>> taken = MessageBodySchema([("/research/*", "text/*", True)])
            >>> condition = mount("/research").before(taken)
            >>> condition.is_valid(MessageBody([Part("found")]))
            True
        """
        if not isinstance(after, Condition):
            require_schema(after)
        return Condition(self, after)

    def to_dict(self) -> dict[str, Any]:
        """Return the step as it stands in a file."""
        return {self.word: self._argument()}

    def _argument(self) -> Any:
        """Return what stands beside the word in a file: a text, or a list."""
        values = attrs.astuple(self, recurse=False)  # type: ignore[arg-type]
        return values[0] if len(values) == 1 else list(values)


Chain = tuple[WorkflowStep, ...]
"""The steps of an edge."""


def distinct(parts: list[PartType]) -> list[PartType]:
    """Return parts, all of which have different names.

    Raises:
        DuplicateName: two parts have the same name.
    """
    taken: set[str] = set()
    for part in parts:
        if part.name is not None:
            if part.name in taken:
                raise DuplicateName(part.name)
            taken.add(part.name)
    return parts


@attrs.frozen
class Condition:
    """What a body has to be before a step, so that it is valid afterwards.

    `WorkflowStep.before` makes it.

    Arguments:
        step: the step.
        after: what the body has to be afterwards: a schema, or the condition of the next step.
    """

    step: WorkflowStep
    after: Valid

    def is_valid(self, body: MessageBody) -> bool:
        """Return whether a body gets through the step, and is valid afterwards.

        It does not if two parts would have one name, if a name would be longer than readers take,
        or if the step does not take it.
        """
        try:
            changed = self.step(body)
        except (DuplicateName, InvalidBody, InvalidName):
            return False
        return self.after.is_valid(changed)


def _directory(prefix: Any) -> str:
    return check_part_name(prefix.rstrip("/") if isinstance(prefix, str) else prefix)


@attrs.frozen
class Mount(WorkflowStep):
    """All parts go below a directory; those without a name are numbered."""

    word: ClassVar[str] = "mount"
    prefix: str = attrs.field(converter=_directory)

    def __call__(self, body: MessageBody) -> MessageBody:
        return MessageBody().mount(self.prefix, require_body(body))

    @property
    def rewrite(self) -> Rewrite:
        return Rewrite("/", f"{self.prefix}/", others_go=True)

    def follow(self, part: PartType) -> PartType:
        return self.numbered(part, 1)

    def numbered(self, part: PartType, number: int | str) -> PartType:
        """Return what a part is after the step; a number names one without a name."""
        extension = extension_of(part.content_type, default="")
        below = part.name or f"/{number}{extension}"
        return part._replace(name=self.prefix + below)

    def types(self, parts: Sequence[PartType]) -> list[PartType]:
        unnamed = itertools.count(1)
        return distinct([self.numbered(each, 0 if each.name else next(unnamed)) for each in parts])


@attrs.frozen
class Unmount(WorkflowStep):
    """The parts below a directory lose its name; all others go."""

    word: ClassVar[str] = "unmount"
    prefix: str = attrs.field(converter=_directory)

    def __call__(self, body: MessageBody) -> MessageBody:
        return links.unmount(require_body(body), self.prefix)

    @property
    def rewrite(self) -> Rewrite:
        return Rewrite(f"{self.prefix}/", "/", others_go=True)

    def follow(self, part: PartType) -> PartType | None:
        below = f"{self.prefix}/"
        if part.name is None or not part.name.startswith(below):
            return None
        return part._replace(name=part.name[len(self.prefix) :])


def _globs(value: Any) -> tuple[Glob, ...]:
    listed = [value] if value is None or isinstance(value, str) else value
    if not isinstance(listed, Iterable):
        raise InvalidArgument("patterns of names", value)
    return tuple(map(_glob, listed))


def _glob(value: Any) -> Glob:
    """Return a pattern, as a tuple if it states a type."""
    name, kind = (value, None) if value is None or isinstance(value, str) else _pair(value)
    if name is not None:
        name_pattern(name).require_matches()
    if kind is None:
        return name
    content_type_pattern(kind).require_matches()
    return name, kind


def _pair(value: Any) -> tuple[str | None, str]:
    match value:
        case [None | str() as name, str(kind)]:
            return name, kind
    raise InvalidArgument("a pattern of names, or a list of that and a pattern of types", value)


class _ByPattern(WorkflowStep):
    """Parts are chosen by patterns of names and types."""

    globs: tuple[Glob, ...]

    @property
    def tested_names(self) -> Sequence[NamePattern]:
        names = [glob[0] if isinstance(glob, tuple) else glob for glob in self.globs]
        return [name_pattern(name) for name in names if name is not None]

    @property
    def tested_types(self) -> Sequence[ContentTypePattern]:
        return [content_type_pattern(glob[1]) for glob in self.globs if isinstance(glob, tuple)]

    def _is_chosen(self, name: str | None, content_type: str) -> bool:
        for glob in self.globs:
            names, kinds = glob if isinstance(glob, tuple) else (glob, "*/*")
            if _fits(names, name) and _is_of(kinds, content_type):
                return True
        return False

    def _argument(self) -> list[Any]:
        return [list(glob) if isinstance(glob, tuple) else glob for glob in self.globs]


def _fits(pattern: str | None, name: str | None) -> bool:
    if pattern is None or name is None:
        return pattern is name
    return name_pattern(pattern).matches(name)


def _is_of(pattern: str, content_type: str) -> bool:
    return content_type_pattern(pattern).matches_essence(essence(content_type))


@attrs.frozen
class Select(_ByPattern):
    """Only the parts stay that some pattern matches."""

    word: ClassVar[str] = "select"
    globs: tuple[Glob, ...] = attrs.field(converter=_globs)

    def __call__(self, body: MessageBody) -> MessageBody:
        return MessageBody(
            part for part in require_body(body) if self._is_chosen(part.name, part.content_type)
        )

    def follow(self, part: PartType) -> PartType | None:
        return part if self._is_chosen(*part) else None


@attrs.frozen
class Drop(_ByPattern):
    """The parts go that some pattern matches."""

    word: ClassVar[str] = "drop"
    globs: tuple[Glob, ...] = attrs.field(converter=_globs)

    def __call__(self, body: MessageBody) -> MessageBody:
        return MessageBody(
            part for part in require_body(body) if not self._is_chosen(part.name, part.content_type)
        )

    def follow(self, part: PartType) -> PartType | None:
        return None if self._is_chosen(*part) else part


_BELOW: Final = "/**"


@attrs.frozen
class Rename(WorkflowStep):
    """A part has another name, or all parts below a directory do: `/a/**` becomes `/b/**`."""

    word: ClassVar[str] = "rename"
    old: str
    new: str

    def __attrs_post_init__(self) -> None:
        for each in (self.old, self.new):
            check_part_name(each.removesuffix(_BELOW) if isinstance(each, str) else each)
        if self.old.endswith(_BELOW) is not self.new.endswith(_BELOW):
            raise InvalidArgument(f"{quote(self.old)} and {quote(self.new)} to end alike", self.new)

    def __call__(self, body: MessageBody) -> MessageBody:
        changed = require_body(body).copy()
        if not self.old.endswith(_BELOW):
            if self.old in changed:
                changed.move(self.old, self.new, relink=True)
        elif changed.select(self.old):
            changed.move(self.old.removesuffix("**"), self.new.removesuffix("**"), relink=True)
        return changed

    @property
    def rewrite(self) -> Rewrite:
        if not self.old.endswith(_BELOW):
            return Rewrite(self.old, self.new)
        return Rewrite(self.old.removesuffix("**"), self.new.removesuffix("**"))

    def follow(self, part: PartType) -> PartType:
        old, new, _ = self.rewrite
        if old.endswith("/"):
            is_moved = part.name is not None and part.name.startswith(old)
        else:
            is_moved = part.name == old
        return part._replace(name=f"{new}{(part.name or '')[len(old) :]}") if is_moved else part


@attrs.frozen
class Show(WorkflowStep):
    """A named part loses its name: it is content to show."""

    word: ClassVar[str] = "show"
    name: str = attrs.field(converter=check_part_name)

    def __call__(self, body: MessageBody) -> MessageBody:
        return MessageBody(
            part.evolve(name=None) if part.name == self.name else part
            for part in require_body(body)
        )

    @property
    def rewrite(self) -> Rewrite:
        return Rewrite(self.name, None)

    def follow(self, part: PartType) -> PartType:
        return part._replace(name=None) if part.name == self.name else part


@attrs.frozen
class Name(WorkflowStep):
    """The part without a name whose type a pattern matches has one."""

    word: ClassVar[str] = "name"
    name: str = attrs.field(converter=check_part_name)
    kinds: str = "*/*"

    def __attrs_post_init__(self) -> None:
        content_type_pattern(self.kinds).require_matches()

    def __call__(self, body: MessageBody) -> MessageBody:
        return MessageBody(
            part.evolve(name=self.name) if self._is_meant(part.name, part.content_type) else part
            for part in require_body(body)
        )

    @property
    def tested_types(self) -> Sequence[ContentTypePattern]:
        return [content_type_pattern(self.kinds)]

    def follow(self, part: PartType) -> PartType:
        return part._replace(name=self.name) if self._is_meant(*part) else part

    def _is_meant(self, name: str | None, content_type: str) -> bool:
        return name is None and _is_of(self.kinds, content_type)


@attrs.frozen
class Retype(WorkflowStep):
    """Texts of one type are texts of another type."""

    word: ClassVar[str] = "retype"
    old: str
    new: str

    def __attrs_post_init__(self) -> None:
        for each in (self.old, self.new):
            if not isinstance(each, str) or essence(each) != each or not each.startswith("text/"):
                raise InvalidArgument("a type of text, which another type of text can say", each)

    def __call__(self, body: MessageBody) -> MessageBody:
        return MessageBody(
            part.evolve(content_type=self.new + part.content_type[len(self.old) :])
            if essence(part.content_type) == self.old
            else part
            for part in require_body(body)
        )

    @property
    def tested_types(self) -> Sequence[ContentTypePattern]:
        return [content_type_pattern(self.old)]

    def follow(self, part: PartType) -> PartType:
        kind = part.content_type
        if kind != self.old:
            return part
        # The content stays, and may count again under the new type.
        new = FilledType(self.new, kind.value) if isinstance(kind, FilledType) else self.new
        return part._replace(content_type=new)


@attrs.frozen
class Through(WorkflowStep):
    """The body becomes a message of another format and comes back, with what that loses."""

    word: ClassVar[str] = "through"
    format: str

    def __attrs_post_init__(self) -> None:
        adapter(self.format)

    def __call__(self, body: MessageBody) -> MessageBody:
        target = adapter(self.format)
        return target.to_body(target.from_body(require_body(body)).value).value

    def types(self, parts: Sequence[PartType]) -> list[PartType]:
        body = example_body(parts, in_order=True)
        # No message has a type that is longer than the limit.
        if body is None:
            return list(parts)
        body = self(body)
        return [PartType(part.name, essence(part.content_type)) for part in body]


@attrs.frozen
class OwnStep(WorkflowStep):
    """A function of yours, with the schemas that it takes and gives. No file can hold it.

    Arguments:
        function: is called with a copy of the body, and returns another one.
        takes: what the body has to be.
        gives: what the function promises to return. It is held to that whenever it runs.
    """

    word: ClassVar[str] = "own"
    function: Callable[[MessageBody], MessageBody]
    takes: MessageBodySchema
    gives: MessageBodySchema

    def __attrs_post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidArgument("a function of a body", self.function)
        require_schema(self.takes)
        require_schema(self.gives)

    def __call__(self, body: MessageBody) -> MessageBody:
        self.takes.validate(require_body(body))
        made = require_body(self.function(body.copy()))
        self.gives.validate(made)
        return made

    def _argument(self) -> Any:
        raise InvalidArgument("a step that a file can hold", self.function)


def merged(bodies: Iterable[MessageBody]) -> MessageBody:
    """Return the parts of several bodies as one body, in order.

    Raises:
        DuplicateName: two of them have a part of the same name.

    Examples:
        >>> from messagebody import Part
        >>> merged([MessageBody([Part("a")]), MessageBody([Part("b", name="/b")])]).names()
        ['/b']
    """
    listed = require_iterable(bodies, "bodies in a list")
    return MessageBody(part for body in listed for part in require_body(body))


_STEPS: Final[dict[str, Any]] = {
    each.word: each for each in (Mount, Unmount, Select, Drop, Rename, Show, Name, Retype, Through)
}

mount, unmount, select, drop = Mount, Unmount, Select, Drop
rename, show, name, retype = Rename, Show, Name, Retype
through, step = Through, OwnStep


def read_step(value: Any) -> WorkflowStep:
    """Return the step that stands in a file.

    Arguments:
        value: an object with the word of a step and its argument.

    Raises:
        InvalidArgument: it is no step.
        InvalidName, InvalidPattern: a name or a pattern in it breaks the rules.

    Examples:
        >>> read_step({"rename": ["/report.md", "/input/brief.md"]})
        Rename(old='/report.md', new='/input/brief.md')
    """
    hint = ""
    match value:
        case {**members} if len(members) == 1:
            [(word, argument)] = members.items()
            made = _STEPS.get(word) if isinstance(word, str) else None
            if made is not None and len(attrs.fields(made)) == 1:
                return made(argument)  # type: ignore[no-any-return]
            if made is not None and isinstance(argument, list) and len(argument) == 2:
                return made(*argument)  # type: ignore[no-any-return]
            if made is not None:
                wanted = " and ".join(each.name for each in attrs.fields(made))
                raise InvalidArgument(f"a list of two beside {quote(word)}, {wanted}", value)
            near = nearest(f"{word}"[:50], _STEPS)
            hint = f"did you mean {quote(near)}?" if near else ""
        case {**members} if members.keys() & _STEPS:
            hint = "each step is an object of its own"
    known = ", ".join(_STEPS)
    raise InvalidArgument(f"a step, an object with one of {known}", value, hint)
