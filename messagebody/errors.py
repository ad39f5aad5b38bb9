"""All errors that the toolkit raises, in one tree.

::

    MessageBodyError
    ├── DecodeError (ValueError)            bytes that are not a message body
    ├── InvalidName (ValueError)            a part name that breaks the rules
    ├── InvalidContentType (ValueError)     a content type that breaks the rules
    ├── InvalidPart (ValueError)            content, metadata or members that make no part
    ├── InvalidArgument (TypeError)         something that is not a body, schema or resolver
    ├── InvalidSize (ValueError)            a size that is not a number of bytes
    ├── DuplicateName (FileExistsError, ValueError)   a name that is taken
    ├── PartNotFound (KeyError, FileNotFoundError, ValueError)
    ├── AgentNotFound (KeyError)            a name that no agent of a registry has
    ├── InvalidPattern (ValueError)         a glob that breaks the rules
    ├── InvalidSchema (ValueError)          a schema that breaks the rules
    │   └── InvalidCard                     an agent card that can't be read; names the place
    ├── InvalidWorkflow (ValueError)        a workflow that breaks the rules
    ├── InvalidBody (ValueError)            a body that breaks a schema; holds the violations
    ├── StoreError                          a store failed; names store and key
    │   ├── ObjectNotFound (FileNotFoundError)
    │   ├── AccessDenied (PermissionError)
    │   ├── PartsFailed                     several parts failed for different reasons; holds them
    │   └── LimitExceeded (ValueError)      a limit of a reader or resolver ended the work
    ├── DigestMismatch (ValueError)         bytes that are not the ones promised
    ├── DigestUnknown (ValueError)          a digest is needed that is not stated
    ├── InvalidPatch (ValueError)           a patch that is none, or can't change the body
    ├── OtherBase (ValueError)              a patch for another state of the body
    ├── LocalFileNotSent (ValueError)       a local file on its way into JSON
    ├── LocalFileChanged (OSError)          a local file changed while it was read
    ├── UnsafeReference (PermissionError, ValueError)   a reference no resolver allows
    ├── RefusedPaths (ValueError)           what a directory can't give or take; holds it all
    ├── BadInput (ValueError)               a line of a log that ends a job; names file and line
    ├── EnvelopeError (ValueError)          a foreign envelope that breaks its own rules
    ├── LossyConversion (ValueError)        a conversion that lost something; holds the losses
    └── MissingDependency (ImportError)     names the extra to install

The text of an error consists of its `statement`, which describes the problem, and its `advice` for
the developer. Show a model only the statement, because the advice would tell it which permission to
ask the user for.

Errors carry data, and their text is made from the data. Two errors are equal if their type and data
are equal, and every error can be pickled and copied. An exception of another library appears only
as `__cause__`.

Every error about a message is a `ValueError`, so that a validator of pydantic may raise it: FastAPI
then answers 422. Errors about a store, a local file or an installation are not.
"""

import errno
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from messagebody._base.faces import face
from messagebody._base.leaves import FoundTuple
from messagebody._base.text import count_of, escape, quote

if not TYPE_CHECKING:  # a type checker would assume that the module has every name
    __getattr__, _ = face(__name__)

_SHOWN: Final = 20
"""The most findings in one text; the error holds all of them."""


def _sentences(heading: str, findings: Sequence[Any]) -> str:
    shown = [str(each) for each in findings[:_SHOWN]]
    if len(findings) > _SHOWN:
        shown.append(f"And {len(findings) - _SHOWN:,} more")
    return ". ".join([heading, *shown])


class MessageBodyError(Exception):
    """Catch every error of the toolkit.

    Subclasses name their data in `_fields`; text, equality, pickling and copying follow from it.
    """

    _fields: ClassVar[tuple[str, ...]] = ("problem",)

    problem: str
    """The problem in words, without the place."""

    advice: str = ""
    """Advice for the developer, if there is any; never shown to a model."""

    _before_advice: ClassVar[str] = ". "

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def _data(self) -> dict[str, Any]:
        return {field: getattr(self, field) for field in self._fields}

    @property
    def statement(self) -> str:
        """The text without the advice: the subject, what was expected and what came."""
        return self.problem

    def __str__(self) -> str:
        statement = self.statement
        return f"{statement}{self._before_advice}{self.advice}" if self.advice else statement

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._data() == other._data()

    def __hash__(self) -> int:
        return hash((type(self), str(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are pickled by `args`, which some of these bases use for other values.
        return functools.partial(type(self), **self._data()), ()


class _PlacedError(MessageBodyError):
    """An error at a part: `index` counts from 0, and `name` is the name of the part, if any."""

    _fields: ClassVar[tuple[str, ...]] = ("problem", "index", "name")

    def __init__(self, problem: str, index: int | None = None, name: str | None = None) -> None:
        super().__init__(problem)
        self.index = index
        self.name = name

    @property
    def place(self) -> str:
        """Where it happened, such as "part 3 '/charts/a.png'"; empty if unknown."""
        words = [] if self.index is None else [str(self.index)]
        if self.name is not None:
            words.append(quote(self.name))
        return " ".join(["part", *words]) if words else ""

    @property
    def statement(self) -> str:
        """The text without the advice, beginning with the place."""
        return f"{self.place}: {self.problem}" if self.place else self.problem


class DecodeError(_PlacedError, ValueError):
    """Report bytes that are not a message body: the place, what was expected and what came.

    If several parts have flaws, the error is the first and `others` holds more.
    """

    _fields = ("problem", "index", "name", "others")

    def __init__(
        self,
        problem: str,
        index: int | None = None,
        name: str | None = None,
        others: Iterable["DecodeError"] = (),
    ) -> None:
        super().__init__(problem, index, name)
        self.others = tuple(others)

    @property
    def statement(self) -> str:
        """The flaws, one after the other."""
        return ". ".join([super().statement, *(other.statement for other in self.others)])


class InvalidName(MessageBodyError, ValueError):
    """Report a part name that breaks the rules of `messagebody.names`."""

    _fields = ("name", "problem")

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(problem)
        self.name = name

    @property
    def statement(self) -> str:
        """The name and what is wrong with it."""
        return f"part name {quote(self.name)}: {self.problem}"


class InvalidContentType(MessageBodyError, ValueError):
    """Report a content type that is not `type/subtype` with optional parameters."""


class InvalidPart(_PlacedError, ValueError):
    """Report content, metadata or members that can't be a part."""


class InvalidArgument(MessageBodyError, TypeError):
    """Report an argument of a wrong type, with a hint about what was probably meant.

    Arguments:
        expected: what is expected, such as "a MessageBody".
        value: what came; only its type and a short text are kept.
        hint: what to write instead, if that is known.
    """

    _fields = ("expected", "got", "hint")
    _before_advice = "; "

    def __init__(
        self, expected: str, value: object = None, hint: str = "", *, got: str | None = None
    ) -> None:
        self.expected = expected
        self.got = _description(value) if got is None else got
        self.hint = self.advice = hint
        super().__init__(f"expected {expected}, got {self.got}")


def _description(value: object) -> str:
    # Text and bytes may be content, which must not get into a log.
    kind = type(value).__name__
    return f"a {kind}" if isinstance(value, str | bytes) else quote(value, limit=60)


class InvalidSize(MessageBodyError, ValueError):
    """Report a size that is not a number of bytes or text such as "256 KiB"."""


class DuplicateName(MessageBodyError, FileExistsError, ValueError):
    """Report a name that another part of the body has."""

    _fields = ("name",)

    def __init__(self, name: str) -> None:
        # By name, because the bases take different arguments: users of file systems read errno and
        # filename.
        OSError.__init__(self, errno.EEXIST, "a part of that name exists", name)
        self.name = name
        self.problem = f"a part {quote(name)} exists already; names are unique in a body"


class PartNotFound(MessageBodyError, KeyError, FileNotFoundError, ValueError):
    """Report a name that no part of the body has; both a `KeyError` and a `FileNotFoundError`."""

    _fields = ("name", "hint")

    def __init__(self, name: str, hint: str = "") -> None:
        # Both bases, because some callers use a body as a mapping and others as a file system.
        OSError.__init__(self, errno.ENOENT, "no such part", name)
        self.name = name
        self.hint = hint
        self.problem = f"no part {quote(name)}{hint}"


class AgentNotFound(MessageBodyError, KeyError):
    """Report a name that no agent of a registry has; also a `KeyError`."""

    _fields = ("name", "hint")

    def __init__(self, name: str, hint: str = "") -> None:
        self.name = name
        self.hint = hint
        super().__init__(f"no agent {quote(name)}{hint}")


class InvalidPattern(MessageBodyError, ValueError):
    """Report a glob that breaks the rules of `messagebody.globs`."""

    _fields = ("pattern", "problem")

    def __init__(self, pattern: str, problem: str) -> None:
        super().__init__(problem)
        self.pattern = pattern

    @property
    def statement(self) -> str:
        """The pattern and what is wrong with it."""
        return f"pattern {quote(self.pattern)}: {self.problem}"


class InvalidSchema(_PlacedError, ValueError):
    """Report a schema that breaks the rules, with the schema part concerned."""

    @property
    def place(self) -> str:
        """Where it happened, such as "schema part 2"."""
        return "" if self.index is None else f"schema part {self.index}"


class InvalidCard(InvalidSchema):
    """Report the card of an agent that can't be read; `where` is the place as a JSON Pointer."""

    _fields = ("problem", "where", "agent")

    def __init__(self, problem: str, where: str = "", agent: str = "") -> None:
        super().__init__(problem)
        self.where = where
        self.agent = agent

    @property
    def statement(self) -> str:
        """The agent, the place on its card, what was expected and what came."""
        place = f"{escape(self.where, limit=200)}: " if self.where else ""
        return f"agent {quote(self.agent)}: {place}{self.problem}"


class InvalidBody(MessageBodyError, ValueError):
    """Report a body that breaks a schema; `violations` holds every violation."""

    __slots__ = ("violations",)
    _fields = ("violations",)

    def __init__(self, violations: Iterable[Any]) -> None:
        self.violations = FoundTuple(violations)
        heading = count_of(len(self.violations), "violation")
        super().__init__(_sentences(heading, self.violations))


class StoreError(MessageBodyError):
    """Report a store that failed; `store` and `key` say where, without secrets."""

    _fields: ClassVar[tuple[str, ...]] = ("problem", "store", "key")

    def __init__(self, problem: str, store: str = "", key: str = "") -> None:
        super().__init__(problem)
        self.store = store
        self.key = key

    @property
    def statement(self) -> str:
        """The text without the advice, beginning with store and key."""
        place = f"{self.store.rstrip('/')}/{self.key}" if self.key else self.store
        return f"{escape(place)}: {self.problem}" if place else self.problem


class ObjectNotFound(StoreError, FileNotFoundError):
    """Report an object that is not in its store."""

    def __init__(self, problem: str = "no such object", store: str = "", key: str = "") -> None:
        OSError.__init__(self, errno.ENOENT, problem, f"{store}/{key}" if key else store)
        self.problem = problem
        self.store = store
        self.key = key


class AccessDenied(StoreError, PermissionError):
    """Report a store that refuses the given credentials."""

    def __init__(self, problem: str = "access denied", store: str = "", key: str = "") -> None:
        OSError.__init__(self, errno.EACCES, problem, f"{store}/{key}" if key else store)
        self.problem = problem
        self.store = store
        self.key = key


class LimitExceeded(StoreError, ValueError):
    """Report work that was ended by a limit; the text names the limit and how to raise it."""


class DigestMismatch(MessageBodyError, ValueError):
    """Report bytes that are not the promised ones, with both digests or both sizes."""

    _fields: ClassVar[tuple[str, ...]] = ("subject", "expected", "got")

    def __init__(self, subject: str, expected: str, got: str) -> None:
        super().__init__(f"{subject}: expected {expected}, got {got}")
        self.subject = subject
        self.expected = expected
        self.got = got


class DigestUnknown(MessageBodyError, ValueError):
    """Report parts without a stated size or digest; `parts` holds their descriptions."""

    _fields = ("parts",)
    _before_advice = "; "

    def __init__(self, parts: Sequence[str]) -> None:
        self.parts = tuple(parts)
        shown = ", ".join(self.parts[:_SHOWN])
        if len(self.parts) > _SHOWN:
            shown += f" and {count_of(len(self.parts) - _SHOWN, 'more part')}"
        super().__init__(f"no size or digest is stated for {shown}")
        self.advice = "read them once and fill them in: body.pin(resolver)"


class InvalidPatch(MessageBodyError, ValueError):
    """Report a patch that is none, or that can't change the body; the text says why."""


class InvalidWorkflow(MessageBodyError, ValueError):
    """Report a workflow that breaks the rules; the text says why."""


class OtherBase(MessageBodyError, ValueError):
    """Report a patch for another body, with the state digest that it is for and the one it met."""

    _fields: ClassVar[tuple[str, ...]] = ("expected", "got")

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"the patch is for the state {expected}, and the body has {got}")
        self.expected = expected
        self.got = got


class LocalFileNotSent(MessageBodyError, ValueError):
    """Report a part that is still a local file, which JSON cannot carry."""

    _fields = ("part", "path", "size")

    def __init__(self, part: str, path: str, size: str) -> None:
        self.part = part
        self.path = path
        self.size = size
        super().__init__(
            f"{part} is still the local file {escape(path)} ({size}), which JSON can't carry"
        )
        self.advice = 'Offload it: offload(body, "s3://…"), or read it in: inline(body)'


class LocalFileChanged(MessageBodyError, OSError):
    """Report a local file that changed between being added and being read."""

    _fields: ClassVar[tuple[str, ...]] = ("path", "problem")

    def __init__(self, path: str, problem: str) -> None:
        OSError.__init__(self, errno.ESTALE, problem, path)
        self.path = path
        self.problem = problem

    @property
    def statement(self) -> str:
        """The file and what is wrong with it."""
        return f"local file {escape(self.path)}: {self.problem}"


class UnsafeReference(MessageBodyError, PermissionError, ValueError):
    """Report a reference that no resolver allows, and how to allow it."""

    _fields: ClassVar[tuple[str, ...]] = ("subject", "problem", "advice")

    def __init__(self, subject: str, problem: str, advice: str = "") -> None:
        OSError.__init__(self, errno.EACCES, problem, subject)
        self.subject = subject
        self.problem = problem
        self.advice = advice

    @property
    def statement(self) -> str:
        """The part with the reference, and the reason why it is not read."""
        return f"{self.subject} {self.problem}"


class PartsFailed(StoreError):
    """Report several parts that failed; `failures` holds pairs of a part and its error.

    If all of them failed for one reason, the error is of that kind, too: two objects that are
    missing are caught by `except ObjectNotFound`.
    """

    _fields: ClassVar[tuple[str, ...]] = ("action", "failures")

    def __init__(self, action: str, failures: Iterable[tuple[str, Exception]]) -> None:
        # Not by `super`, because the constructors of the kinds take other arguments.
        Exception.__init__(self, action, tuple(failures))
        self.action = action
        self.problem = self._message(_statement_of)
        self.store = self.key = ""
        first = self.failures[0][1]
        # The attributes of the shared kind are those of the first error.
        vars(self).update({k: v for k, v in vars(first).items() if k not in vars(self)})
        if isinstance(self, OSError) and isinstance(first, OSError):
            for name in ("errno", "strerror"):
                setattr(self, name, getattr(first, name))

    @property
    def failures(self) -> tuple[tuple[str, Exception], ...]:
        """The parts that failed, and their errors."""
        found: tuple[tuple[str, Exception], ...] = self.args[1]
        return found

    @staticmethod
    def from_failures(action: str, failures: Iterable[tuple[str, Exception]]) -> "PartsFailed":
        """Make an error of the kind that all failures share."""
        failures = tuple(failures)
        for kind, shared in _ALL_OF.items():
            if all(isinstance(error, kind) for _, error in failures):
                return shared(action, failures)
        return PartsFailed(action, failures)

    @property
    def statement(self) -> str:
        """The parts and what is wrong with each."""
        return self.problem

    def __str__(self) -> str:
        return self._message(str)

    def _message(self, text_of: Callable[[Exception], str]) -> str:
        causes: dict[str, list[tuple[str, str]]] = {}
        for part, error in self.failures[:_SHOWN]:
            text = text_of(error)
            causes.setdefault(_cause_of(part, error, text), []).append((part, text))
        # A cause that several parts share, such as a missing bucket, is stated once.
        shown = [
            _with_part(*same[0])
            if len(same) == 1
            else f"{', '.join(part for part, _ in same)}: {cause}"
            for cause, same in causes.items()
        ]
        rest = max(len(self.failures) - _SHOWN, 0)
        more = f"; and {rest:,} more" if rest else ""
        return f"{len(self.failures):,} parts were not {self.action}. {'; '.join(shown)}{more}"

    def __reduce__(self) -> tuple[Any, ...]:
        return PartsFailed.from_failures, (self.action, self.failures)


class _PartsNotFound(PartsFailed, ObjectNotFound): ...


class _PartsDenied(PartsFailed, AccessDenied): ...


class _PartsRefused(PartsFailed, UnsafeReference): ...


class _PartsMismatched(PartsFailed, DigestMismatch): ...


class _PartsChanged(PartsFailed, LocalFileChanged): ...


class _PartsOverLimit(PartsFailed, LimitExceeded): ...


def _statement_of(error: Exception) -> str:
    return error.statement if isinstance(error, MessageBodyError) else str(error)


def _cause_of(part: str, error: Exception, text: str) -> str:
    """Return the text of an error without its part and key."""
    if isinstance(error, StoreError) and error.key:
        text = text.replace(f"/{error.key}", "")
    return text.replace(f", storing {part}", "").removeprefix(part).lstrip(": ")


def _with_part(part: str, text: str) -> str:
    return text if text.startswith(part) else f"{part}: {text}"


_ALL_OF: Final[dict[type[Exception], type[PartsFailed]]] = {
    ObjectNotFound: _PartsNotFound,
    AccessDenied: _PartsDenied,
    UnsafeReference: _PartsRefused,
    DigestMismatch: _PartsMismatched,
    LocalFileChanged: _PartsChanged,
    LimitExceeded: _PartsOverLimit,
}
for _kind in _ALL_OF.values():
    _kind.__name__ = _kind.__qualname__ = PartsFailed.__name__  # as tracebacks and users know it


class RefusedPaths(MessageBodyError, ValueError):
    """Report files that can't be parts, or parts that can't be files, all in `refusals`."""

    __slots__ = ("refusals",)
    _fields = ("subject", "refusals")

    def __init__(self, subject: str, refusals: Iterable[Any]) -> None:
        self.subject = subject
        self.refusals = tuple(refusals)
        self.heading = f"{subject}: {count_of(len(self.refusals), 'refusal')}"
        super().__init__(_sentences(self.heading, self.refusals))


class BadInput(MessageBodyError, ValueError):
    """Report a line of a log that ends a job; `file` and `line` say where it is."""

    _fields = ("problem", "file", "line")

    def __init__(self, problem: str, file: str, line: int) -> None:
        super().__init__(problem)
        self.file = file
        self.line = line

    def __str__(self) -> str:
        return f"{escape(self.file)}, line {self.line:,}: {self.problem}"


class EnvelopeError(MessageBodyError, ValueError):
    """Report a foreign envelope that breaks its own rules; `findings` lists them if known."""

    __slots__ = ("findings",)
    _fields = ("problem", "findings")

    def __init__(self, problem: str, findings: Iterable[Any] = ()) -> None:
        super().__init__(problem)
        self.findings = FoundTuple(findings)


class LossyConversion(MessageBodyError, ValueError):
    """Report a conversion with losses; `losses` holds what was lost, where and why."""

    __slots__ = ("losses",)
    _fields = ("losses",)

    def __init__(self, losses: Iterable[Any]) -> None:
        self.losses = FoundTuple(losses)
        super().__init__("; ".join(str(loss) for loss in self.losses))


class MissingDependency(MessageBodyError, ImportError):
    """Report an optional dependency that is not installed, with the command that installs it.

    Arguments:
        feature: the feature that the caller wanted to use.
        extra: the extra that contains the dependency.
        system: the missing part of the operating system, if it is not a package.
    """

    _fields = ("feature", "extra", "system")
    _before_advice = ": "

    def __init__(self, feature: str, extra: str, system: str = "") -> None:
        self.feature = feature
        self.extra = extra
        self.system = system
        super().__init__(f"{feature} needs {system or 'an extra'}")
        self.advice = "" if system else f"pip install 'messagebody[{extra}]'"
