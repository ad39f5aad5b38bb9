"""Steps: what each does to a body, its form in a file, and the condition that it sets."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple, Protocol

import attrs

from messagebody import links
from messagebody._core import (
    MessageBody,
    Part,
    check_part_name,
    essence,
    extension_of,
    nearest,
    quote,
    require_body,
    require_iterable,
    require_schema,
)
from messagebody.adapters import adapter
from messagebody.errors import DuplicateName, InvalidArgument, InvalidBody, InvalidName
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.schema import MessageBodySchema, SchemaPart

Glob = str | None | tuple[str | None, str]
"""A pattern of names, None for parts without a name, or such a pattern and one of types."""


class Valid(Protocol):
    """What says whether a body is valid: a schema, or a condition before it."""

    def is_valid(self, body: MessageBody) -> bool:
        """Return whether a body is valid."""


class WitnessPart(NamedTuple):
    """A part that may be sent, or what has become of it.

    Arguments:
        name: its name; None for content to show.
        content_type: its content type, without parameters.
        content: a part with its content.
    """

    name: str | None
    content_type: str
    content: Part

    def part(self) -> Part:
        """Return it as a part, with the parameters that the type of its content has.

        Raises:
            InvalidName: its name is longer than readers take.
        """
        shown = self.content.content_type
        if essence(shown) != self.content_type:
            shown = self.content_type + shown[len(essence(shown)) :]
        return self.content.evolve(name=self.name, content_type=shown)


def sample_of(part: Part) -> WitnessPart:
    """Return a part as a sample."""
    return WitnessPart(part.name, essence(part.content_type), part)


class Move(NamedTuple):
    """What a step does to some parts. Without arguments they stay as they are.

    Arguments:
        names: a name, or with a slash at its end what names begin with, or None for parts without
            a name; and what stands there instead. A star at the end of the second is a number.
        kinds: a content type, and the type that it becomes.
    """

    names: tuple[str | None, str | None] | None = None
    kinds: tuple[str, str] | None = None

    @property
    def is_numbering(self) -> bool:
        """Whether parts get numbers as their names."""
        return self.names is not None and (self.names[1] or "").endswith("*")

    def name(self, name: str | None) -> str | None:
        """Return what a name becomes, or the text of a pattern that begins as all of them do."""
        if self.names is None:
            return name
        old, new = self.names
        if old is None or not old.endswith("/"):
            return new
        return f"{new}{(name or '')[len(old) :]}"

    def back(self, sample: WitnessPart) -> WitnessPart:
        """Return what a part was before."""
        name = sample.name if self.names is None else Move(self.names[::-1]).name(sample.name)
        kind = sample.content_type if self.kinds is None else self.kinds[0]
        return WitnessPart(name, kind, sample.content)

    def follow(self, sample: WitnessPart, number: int) -> WitnessPart:
        """Return what becomes of a part, the number of those like it counted from 1."""
        name, kind = self.name(sample.name), sample.content_type
        if self.is_numbering:
            name = f"{(name or '')[:-1]}{number}{extension_of(kind, default='')}"
        return WitnessPart(name, kind if self.kinds is None else self.kinds[1], sample.content)


STAYS: Final = Move()


class StepRule(NamedTuple):
    """What a step does to the parts that a schema part accepts; they go if there is no move."""

    glob: SchemaPart
    move: Move | None


class WorkflowStep:
    """A change of a body between two agents. The body that comes in stays as it is."""

    word: ClassVar[str]
    """What the step is called in a file."""

    def __call__(self, body: MessageBody) -> MessageBody:
        """Return the body afterwards.

        Raises:
            DuplicateName: two parts would have the same name.
            InvalidBody: a step of your own does not take the body, or breaks its promise.
            InvalidName: a name would be longer than readers take.
            MissingDependency: links follow their parts, there is Markdown or HTML, and the extra
                `links` is not installed.
        """
        samples = [sample_of(part) for part in require_body(body)]
        return MessageBody(sample.part() for sample in self.follow(samples))

    rest: ClassVar[Move | None] = STAYS
    """What happens to parts that no rule accepts."""

    @property
    def rules(self) -> Sequence[StepRule] | None:
        """What happens to parts, the first rule that accepts a part; None if nobody knows."""
        return ()

    def follow(self, parts: Sequence[WitnessPart]) -> list[WitnessPart]:
        """Return what the parts of a body are after the step.

        Raises:
            DuplicateName: two parts would have the same name.
        """
        found, number = list[WitnessPart](), 1
        for part in parts:
            move = self._move(part)
            if move is not None:
                found.append(move.follow(part, number))
                number += move.is_numbering
        return distinct(found)

    def _move(self, part: WitnessPart) -> Move | None:
        """Return what happens to a part; None if it goes."""
        moves = (rule.move for rule in self.rules or () if accepts(rule.glob, part))
        return next(moves, self.rest)

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


def accepts(wanted: SchemaPart, part: WitnessPart) -> bool:
    """Return whether a schema part accepts a part."""
    if part.name is None or wanted.name_pattern is None:
        if part.name is not wanted.name:
            return False
    elif not wanted.name_pattern.matches(part.name):
        return False
    if wanted.content_schema is not None:
        # A name may be longer than readers take, and does not matter for what is inside.
        inside = attrs.evolve(wanted, name=None, required=False)
        return MessageBodySchema([inside]).is_valid(MessageBody([part._replace(name=None).part()]))
    return wanted.content_type_pattern.matches_word(part.content_type)


def distinct(parts: list[WitnessPart]) -> list[WitnessPart]:
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

    @cached_property
    def rules(self) -> Sequence[StepRule]:
        named = StepRule(SchemaPart("/**"), Move(("/", f"{self.prefix}/")))
        return [named, StepRule(SchemaPart(), Move((None, f"{self.prefix}/*")))]


@attrs.frozen
class Unmount(WorkflowStep):
    """The parts below a directory lose its name; all others go."""

    word: ClassVar[str] = "unmount"
    prefix: str = attrs.field(converter=_directory)

    def __call__(self, body: MessageBody) -> MessageBody:
        return links.unmount(require_body(body), self.prefix)

    @cached_property
    def rules(self) -> Sequence[StepRule]:
        below = f"{self.prefix}/"
        return [StepRule(SchemaPart(f"{below}**"), Move((below, "/")))]

    rest: ClassVar[Move | None] = None


def _globs(value: Any) -> tuple[Glob, ...]:
    listed = [value] if value is None or isinstance(value, str) else value
    if not isinstance(listed, Iterable):
        raise InvalidArgument("patterns of names", value)
    return tuple(map(_glob, listed))


def _glob(value: Any) -> Glob:
    """Return a pattern, as a tuple if it states a type."""
    match value:
        case None | str():
            name, kind = value, None
        case [None | str() as name, str(kind)]:
            content_type_pattern(kind).require_matches()
        case _:
            expected = "a pattern of names, or a list of that and a pattern of types"
            raise InvalidArgument(expected, value)
    if name is not None:
        name_pattern(name).require_matches()
    return name if kind is None else (name, kind)


class _ByPattern(WorkflowStep):
    """Parts are chosen by patterns of names and types."""

    globs: tuple[Glob, ...]

    @cached_property
    def _patterns(self) -> list[SchemaPart]:
        globs = (each if isinstance(each, tuple) else (each, "*/*") for each in self.globs)
        return [SchemaPart(*each) for each in globs]

    def _argument(self) -> list[Any]:
        return [list(glob) if isinstance(glob, tuple) else glob for glob in self.globs]


@attrs.frozen
class Select(_ByPattern):
    """Only the parts stay that some pattern matches."""

    word: ClassVar[str] = "select"
    globs: tuple[Glob, ...] = attrs.field(converter=_globs)

    @cached_property
    def rules(self) -> Sequence[StepRule]:
        return [StepRule(glob, STAYS) for glob in self._patterns]

    rest: ClassVar[Move | None] = None


@attrs.frozen
class Drop(_ByPattern):
    """The parts go that some pattern matches."""

    word: ClassVar[str] = "drop"
    globs: tuple[Glob, ...] = attrs.field(converter=_globs)

    @cached_property
    def rules(self) -> Sequence[StepRule]:
        return [StepRule(glob, None) for glob in self._patterns]


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

    @cached_property
    def rules(self) -> Sequence[StepRule]:
        move = Move((self.old.removesuffix("**"), self.new.removesuffix("**")))
        return [StepRule(SchemaPart(self.old), move)]


@attrs.frozen
class Show(WorkflowStep):
    """A named part loses its name: it is content to show."""

    word: ClassVar[str] = "show"
    name: str = attrs.field(converter=check_part_name)

    @cached_property
    def rules(self) -> Sequence[StepRule]:
        return [StepRule(SchemaPart(self.name), Move((self.name, None)))]


@attrs.frozen
class Name(WorkflowStep):
    """The part without a name whose type a pattern matches has one."""

    word: ClassVar[str] = "name"
    name: str = attrs.field(converter=check_part_name)
    kinds: str = "*/*"

    def __attrs_post_init__(self) -> None:
        content_type_pattern(self.kinds).require_matches()

    @cached_property
    def rules(self) -> Sequence[StepRule]:
        return [StepRule(SchemaPart(None, self.kinds), Move((None, self.name)))]


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

    @cached_property
    def rules(self) -> Sequence[StepRule]:
        move = Move(kinds=(self.old, self.new))
        return [StepRule(SchemaPart(name, self.old), move) for name in ("/**", None)]


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

    @property
    def rules(self) -> None:
        return None

    def follow(self, parts: Sequence[WitnessPart]) -> list[WitnessPart]:
        return [*map(sample_of, self(MessageBody(part.part() for part in parts)))]


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

    @property
    def rules(self) -> None:
        return None

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
