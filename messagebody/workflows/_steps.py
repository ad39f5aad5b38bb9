"""Steps: what each does to a body, its form in a file, and the condition that it sets."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Final, Protocol

import attrs

from messagebody import links
from messagebody._core import MessageBody, Part, essence, quote, require_body, require_schema
from messagebody.adapters import adapter
from messagebody.errors import DuplicateName, InvalidArgument, InvalidBody
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.names import check_name
from messagebody.schema import MessageBodySchema

Glob = str | None | tuple[str | None, str]
"""A pattern of names, None for parts without a name, or such a pattern and one of types."""


class Valid(Protocol):
    """What says whether a body is valid: a schema, or a condition before it."""

    def is_valid(self, body: MessageBody) -> bool:
        """Return whether a body is valid."""


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
            MissingDependency: links follow their parts, there is Markdown or HTML, and the extra
                `links` is not installed.
        """

    @abstractmethod
    def argument(self) -> Any:
        """Return what stands beside the word in a file: text, or a list."""

    def before(self, after: Valid) -> "Condition":
        """Return what a body has to be, so that it is valid after the step.

        Arguments:
            after: a schema, or the condition of the next step.

        Examples:
            >>> from messagebody import MessageBodySchema
            >>> taken = MessageBodySchema([("/research/*", "text/*", True)])
            >>> condition = mount("/research").before(taken)
            >>> condition.is_valid(MessageBody([Part("found")]))
            True
        """
        return Condition(self, after)

    def to_dict(self) -> dict[str, Any]:
        """Return the step as it stands in a file."""
        return {self.word: self.argument()}


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

        It does not if two parts would have one name, or if the step does not take it.
        """
        try:
            changed = self.step(body)
        except (DuplicateName, InvalidBody):
            return False
        return self.after.is_valid(changed)


def _directory(prefix: Any) -> str:
    return check_name(prefix.rstrip("/") if isinstance(prefix, str) else prefix)


@attrs.frozen
class Mount(WorkflowStep):
    """All parts go below a directory; those without a name are numbered."""

    word: ClassVar[str] = "mount"
    prefix: str = attrs.field(converter=_directory)

    def __call__(self, body: MessageBody) -> MessageBody:
        return MessageBody().mount(self.prefix, require_body(body))

    def argument(self) -> str:
        return self.prefix


@attrs.frozen
class Unmount(WorkflowStep):
    """The parts below a directory lose its name; all others go."""

    word: ClassVar[str] = "unmount"
    prefix: str = attrs.field(converter=_directory)

    def __call__(self, body: MessageBody) -> MessageBody:
        return links.unmount(require_body(body), self.prefix)

    def argument(self) -> str:
        return self.prefix


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


def _matches(globs: Sequence[Glob], part: Part) -> bool:
    for glob in globs:
        name, kind = glob if isinstance(glob, tuple) else (glob, "**")
        is_named = part.name is not None and name is not None
        fits = name_pattern(name or "").matches(part.name or "") if is_named else part.name is name
        if fits and content_type_pattern(kind).matches_essence(essence(part.content_type)):
            return True
    return False


def _listed(globs: Sequence[Glob]) -> list[Any]:
    return [list(glob) if isinstance(glob, tuple) else glob for glob in globs]


@attrs.frozen
class Select(WorkflowStep):
    """Only the parts stay that some pattern matches."""

    word: ClassVar[str] = "select"
    globs: tuple[Glob, ...] = attrs.field(converter=_globs)

    def __call__(self, body: MessageBody) -> MessageBody:
        return MessageBody(part for part in require_body(body) if _matches(self.globs, part))

    def argument(self) -> list[Any]:
        return _listed(self.globs)


@attrs.frozen
class Drop(WorkflowStep):
    """The parts go that some pattern matches."""

    word: ClassVar[str] = "drop"
    globs: tuple[Glob, ...] = attrs.field(converter=_globs)

    def __call__(self, body: MessageBody) -> MessageBody:
        return MessageBody(part for part in require_body(body) if not _matches(self.globs, part))

    def argument(self) -> list[Any]:
        return _listed(self.globs)


_BELOW: Final = "/**"


@attrs.frozen
class Rename(WorkflowStep):
    """A part has another name, or all parts below a directory do: `/a/**` becomes `/b/**`."""

    word: ClassVar[str] = "rename"
    old: str
    new: str

    def __attrs_post_init__(self) -> None:
        for each in (self.old, self.new):
            check_name(each.removesuffix(_BELOW) if isinstance(each, str) else each)
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

    def argument(self) -> list[str]:
        return [self.old, self.new]


@attrs.frozen
class Show(WorkflowStep):
    """A named part loses its name: it is content to show."""

    word: ClassVar[str] = "show"
    name: str = attrs.field(converter=check_name)

    def __call__(self, body: MessageBody) -> MessageBody:
        return MessageBody(
            part.evolve(name=None) if part.name == self.name else part
            for part in require_body(body)
        )

    def argument(self) -> str:
        return self.name


@attrs.frozen
class Name(WorkflowStep):
    """The part without a name whose type a pattern matches has one."""

    word: ClassVar[str] = "name"
    name: str = attrs.field(converter=check_name)
    types: str = "*/*"

    def __attrs_post_init__(self) -> None:
        content_type_pattern(self.types).require_matches()

    def __call__(self, body: MessageBody) -> MessageBody:
        chosen = ((None, self.types),)
        return MessageBody(
            part.evolve(name=self.name) if _matches(chosen, part) else part
            for part in require_body(body)
        )

    def argument(self) -> list[str]:
        return [self.name, self.types]


@attrs.frozen
class Retype(WorkflowStep):
    """Texts of one type are texts of another type."""

    word: ClassVar[str] = "retype"
    old: str
    new: str

    def __attrs_post_init__(self) -> None:
        for each in (self.old, self.new):
            if not isinstance(each, str) or not essence(each).startswith("text/"):
                raise InvalidArgument("a type of text, which another type of text can say", each)

    def __call__(self, body: MessageBody) -> MessageBody:
        return MessageBody(
            part.evolve(content_type=self.new) if part.content_type == self.old else part
            for part in require_body(body)
        )

    def argument(self) -> list[str]:
        return [self.old, self.new]


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

    def argument(self) -> str:
        return self.format


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
        require_schema(self.takes)
        require_schema(self.gives)

    def __call__(self, body: MessageBody) -> MessageBody:
        self.takes.validate(require_body(body))
        made = require_body(self.function(body.copy()))
        self.gives.validate(made)
        return made

    def argument(self) -> Any:
        raise InvalidArgument("a step that a file can hold", self.function)


def merged(bodies: Iterable[MessageBody]) -> MessageBody:
    """Return the parts of several bodies as one body, in order.

    Raises:
        DuplicateName: two of them have a part of the same name.

    Examples:
        >>> merged([MessageBody([Part("a")]), MessageBody([Part("b", name="/b")])]).names()
        ['/b']
    """
    return MessageBody(part for body in bodies for part in require_body(body))


_STEPS: Final[dict[str, Callable[..., WorkflowStep]]] = {
    each.word: each for each in (Mount, Unmount, Select, Drop, Rename, Show, Name, Retype, Through)
}
_SPREAD: Final = frozenset({"rename", "name", "retype"})
"""Steps whose argument is a list of several."""

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
    match value:
        case {**members} if len(members) == 1:
            [(word, argument)] = members.items()
            if word in _SPREAD and isinstance(argument, list) and len(argument) == 2:
                return _STEPS[word](*argument)
            if word in _STEPS and word not in _SPREAD:
                return _STEPS[word](argument)
    known = ", ".join(_STEPS)
    raise InvalidArgument(f"a step, an object with one of {known}", value)
