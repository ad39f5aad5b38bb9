"""The tree of errors: what they are, what they say, what survives a copy."""

import copy
import errno
import inspect
import pickle
from typing import Any, ClassVar

import pytest

from messagebody import errors
from messagebody.errors import (
    AccessDenied,
    AgentNotFound,
    BadInput,
    DecodeError,
    DigestMismatch,
    DigestUnknown,
    DuplicateName,
    EnvelopeError,
    InvalidArgument,
    InvalidBody,
    InvalidCard,
    InvalidContentType,
    InvalidName,
    InvalidPart,
    InvalidPatch,
    InvalidPattern,
    InvalidSchema,
    InvalidSize,
    InvalidWorkflow,
    LimitExceeded,
    LocalFileChanged,
    LocalFileNotSent,
    LossyConversion,
    MessageBodyError,
    MissingDependency,
    ObjectNotFound,
    OtherBase,
    PartNotFound,
    PartsFailed,
    RefusedPaths,
    StoreError,
    UnsafeReference,
)

EXAMPLES: list[tuple[MessageBodyError, tuple[type, ...], str]] = [
    (MessageBodyError("it broke"), (Exception,), "it broke"),
    (DecodeError("no body"), (ValueError,), "no body"),
    (DecodeError("is odd", 3, "/charts/a.png"), (ValueError,), "part 3 '/charts/a.png': is odd"),
    (
        DecodeError("one", 0, None, [DecodeError("two", 4, "/x\n")]),
        (ValueError,),
        "part 0: one. part 4 '/x\\n': two",
    ),
    (
        InvalidName("report.pdf", "a name begins with '/'"),
        (ValueError,),
        "part name 'report.pdf': a name begins with '/'",
    ),
    (InvalidContentType("content type 'x' is none"), (ValueError,), "content type 'x' is none"),
    (InvalidPart("it is odd", 1, "/a"), (ValueError,), "part 1 '/a': it is odd"),
    (
        DuplicateName("/a\x1b"),
        (FileExistsError,),
        "a part '/a\\x1b' exists already; names are unique in a body",
    ),
    (PartNotFound("/a\n", "; look"), (KeyError, FileNotFoundError), "no part '/a\\n'; look"),
    (AgentNotFound("a\n", "; look"), (KeyError,), "no agent 'a\\n'; look"),
    (InvalidPattern("/[", "a class"), (ValueError,), "pattern '/[': a class"),
    (InvalidSchema("no array"), (ValueError,), "no array"),
    (InvalidCard("a mode is text", "/a/0", "x"), (ValueError,), "agent 'x': /a/0: a mode is text"),
    (InvalidSchema("no pattern", 2, "x"), (ValueError,), "schema part 2: no pattern"),
    (
        InvalidArgument("a MessageBody", 3, "MessageBody([…]) takes parts"),
        (TypeError,),
        "expected a MessageBody, got 3 (int); MessageBody([…]) takes parts",
    ),
    (InvalidArgument("a Part", "secret"), (TypeError,), "expected a Part, got a str"),
    (InvalidSize("a size is 3"), (ValueError,), "a size is 3"),
    (InvalidBody(["one", "two"]), (ValueError,), "2 violations. one. two"),
    (InvalidBody(["one"]), (ValueError,), "1 violation. one"),
    (StoreError("it failed"), (Exception,), "it failed"),
    (StoreError("it failed", "s3://b/"), (Exception,), "s3://b/: it failed"),
    (StoreError("it failed", "s3://b/", "k\n"), (Exception,), "s3://b/k\\n: it failed"),
    (ObjectNotFound(store="s3://b", key="k"), (FileNotFoundError,), "s3://b/k: no such object"),
    (AccessDenied(store="s3://b"), (PermissionError,), "s3://b: access denied"),
    (LimitExceeded("more than 3"), (StoreError,), "more than 3"),
    (
        PartsFailed(
            "offloaded", [("part 1", StoreError("it failed")), ("part 2", StoreError("no"))]
        ),
        (StoreError,),
        "2 parts were not offloaded. part 1: it failed; part 2: no",
    ),
    (DigestMismatch("part 1", "a", "b"), (Exception,), "part 1: expected a, got b"),
    (InvalidPatch("it is no JSON"), (ValueError,), "it is no JSON"),
    (InvalidWorkflow("it is no JSON"), (ValueError,), "it is no JSON"),
    (OtherBase("a", "b"), (ValueError,), "the patch is for the state a, and the body has b"),
    (
        DigestUnknown(["part 1", "part 3 '/a'"]),
        (Exception,),
        "no size or digest is stated for part 1, part 3 '/a'; "
        "read them once and fill them in: body.pin(resolver)",
    ),
    (
        LocalFileNotSent("part '/video/talk.mp4'", "talk\x1b.mp4", "812 MiB"),
        (Exception,),
        "part '/video/talk.mp4' is still the local file talk\\x1b.mp4 (812 MiB), which JSON can't "
        'carry. Offload it: offload(body, "s3://…"), or read it in: inline(body)',
    ),
    (LocalFileChanged("/tmp/a\n", "it is gone"), (OSError,), "local file /tmp/a\\n: it is gone"),
    (
        UnsafeReference("part '/a'", "points to s3://b/…, which no resolver allows"),
        (PermissionError,),
        "part '/a' points to s3://b/…, which no resolver allows",
    ),
    (
        UnsafeReference("part '/a'", "points to s3://b/…", "Resolver(allow=…)"),
        (PermissionError,),
        "part '/a' points to s3://b/…. Resolver(allow=…)",
    ),
    (
        RefusedPaths("can't pack 'a'", ["one", "two"]),
        (ValueError,),
        "can't pack 'a': 2 refusals. one. two",
    ),
    (BadInput("not JSON", "a\n.jsonl", 1_200), (ValueError,), "a\\n.jsonl, line 1,200: not JSON"),
    (EnvelopeError("no envelope", ["finding"]), (ValueError,), "no envelope"),
    (LossyConversion(["one", "two"]), (Exception,), "one; two"),
    (
        MissingDependency("the path view", "pathlib"),
        (ImportError,),
        "the path view needs an extra: pip install 'messagebody[pathlib]'",
    ),
]

CLASSES = [
    value
    for name, value in vars(errors).items()
    if inspect.isclass(value) and value.__module__ == errors.__name__ and not name.startswith("_")
]
each_error = pytest.mark.parametrize(
    ("error", "parents", "text"), EXAMPLES, ids=[type(error).__name__ for error, _, _ in EXAMPLES]
)


@each_error
class TestEveryError:
    def test_is_what_python_callers_expect(
        self, error: MessageBodyError, parents: tuple[type, ...], text: str
    ) -> None:
        assert all(isinstance(error, parent) for parent in (MessageBodyError, *parents))

    def test_says_it(self, error: MessageBodyError, parents: Any, text: str) -> None:
        assert str(error) == text

    @pytest.mark.parametrize(
        "again",
        [copy.copy, copy.deepcopy, *(
            lambda error, protocol=protocol: pickle.loads(pickle.dumps(error, protocol))
            for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
        )],
    )  # fmt: skip
    def test_survives_copying_and_pickling(
        self, error: MessageBodyError, parents: Any, text: str, again: Any
    ) -> None:
        twin = again(error)
        assert type(twin) is type(error)
        assert twin == error
        assert hash(twin) == hash(error)
        assert str(twin) == text
        for attribute in ("errno", "filename", "strerror"):
            assert getattr(twin, attribute, None) == getattr(error, attribute, None)

    def test_has_a_traceback_that_ends_in_its_text(
        self, error: MessageBodyError, parents: Any, text: str
    ) -> None:
        import traceback

        last = traceback.format_exception_only(error)[-1].rstrip("\n")
        assert last == f"messagebody.errors.{type(error).__name__}: {text}"


class TestAdvice:
    """A model is shown the statement; only the developer is told what could be allowed."""

    ADVISED: ClassVar[list[tuple[MessageBodyError, str, str]]] = [
        (UnsafeReference("part 1", "is refused", "Allow it"), "part 1 is refused", ". Allow it"),
        (InvalidArgument("a Part", 3, "use this"), "expected a Part, got 3 (int)", "; use this"),
        (MissingDependency("a view", "pathlib"), "a view needs an extra",
         ": pip install 'messagebody[pathlib]'"),
        (DigestUnknown(["part 1"]), "no size or digest is stated for part 1",
         "; read them once and fill them in: body.pin(resolver)"),
        (LocalFileNotSent("part 1", "/a", "3 B"),
         "part 1 is still the local file /a (3 B), which JSON can't carry",
         '. Offload it: offload(body, "s3://…"), or read it in: inline(body)'),
    ]  # fmt: skip

    @pytest.mark.parametrize(
        ("error", "statement", "rest"), ADVISED, ids=lambda each: type(each).__name__
    )
    def test_is_apart_from_the_statement(
        self, error: MessageBodyError, statement: str, rest: str
    ) -> None:
        assert error.statement == statement
        assert str(error) == statement + rest
        assert rest.endswith(error.advice)
        assert error.advice not in error.problem

    def test_of_many_parts_is_apart_too(self) -> None:
        refused = UnsafeReference("part 1", "is refused", "Allow it")
        failed = PartsFailed.from_failures(
            "read in", [("part 1", refused), ("part 2", OSError("gone"))]
        )
        assert failed.statement == "2 parts were not read in. part 1 is refused; part 2: gone"
        assert "Allow it" in str(failed)

    def test_is_empty_where_there_is_none(self) -> None:
        assert StoreError("it failed").advice == ""
        assert MissingDependency("a mount", "mount", "FUSE").statement == "a mount needs FUSE"


class TestTheTree:
    def test_has_an_example_of_every_class(self) -> None:
        assert {type(error) for error, _, _ in EXAMPLES} == set(CLASSES)

    def test_is_drawn_in_the_docstring(self) -> None:
        drawing = errors.__doc__ or ""
        for error_class in CLASSES:
            assert f" {error_class.__name__} " in f"{drawing} ".replace("\n", " "), error_class


class TestEquality:
    def test_takes_type_and_data(self) -> None:
        assert DecodeError("a", 1) == DecodeError("a", 1)
        assert DecodeError("a", 1) != DecodeError("a", 2)
        assert DecodeError("a", 1) != InvalidPart("a", 1)
        assert DecodeError("a") != "a"
        assert len({InvalidPart("a"), InvalidPart("a"), InvalidPart("b")}) == 2


class TestPartsOfOneKind:
    KINDS: ClassVar[list[MessageBodyError]] = [
        ObjectNotFound(store="s3://b", key="k"),
        AccessDenied(store="s3://b", key="k"),
        UnsafeReference("part 1", "is refused"),
        DigestMismatch("part 1", "a", "b"),
        LocalFileChanged("/a", "is gone"),
        LimitExceeded("over 3 bytes"),
    ]

    @pytest.mark.parametrize("error", KINDS, ids=lambda error: type(error).__name__)
    def test_are_caught_as_that_kind(self, error: MessageBodyError) -> None:
        failed = PartsFailed.from_failures("read in", [("part 1", error), ("part 2", error)])
        assert isinstance(failed, type(error))
        assert isinstance(failed, PartsFailed)
        assert str(failed).startswith("2 parts were not read in. part 1")
        assert isinstance(failed, FileNotFoundError) is isinstance(error, ObjectNotFound)
        for copied in (pickle.loads(pickle.dumps(failed)), copy.copy(failed)):
            assert copied == failed
            assert type(copied) is type(failed)
        for field in set(error._fields) - {"problem", "store", "key"}:
            assert getattr(failed, field) == getattr(error, field)

    def test_a_cause_that_they_share_is_told_once(self) -> None:
        failures: list[tuple[str, Exception]] = [
            (f"part {number}", StoreError(f"there is no such bucket, storing part {number}",
                                          "s3://b/x", f"sha256/{number}"))
            for number in range(3)
        ]  # fmt: skip
        other = ("part 3", StoreError("is slow", "s3://b/x", "sha256/3"))
        assert str(PartsFailed.from_failures("offloaded", [*failures, other])) == (
            "4 parts were not offloaded. "
            "part 0, part 1, part 2: s3://b/x: there is no such bucket; "
            "part 3: s3://b/x/sha256/3: is slow"
        )
        refused = [
            (f"part {n}", UnsafeReference(f"part {n}", "is closed", "Open it")) for n in (1, 2)
        ]
        failed = PartsFailed.from_failures("read in", refused)
        assert str(failed) == "2 parts were not read in. part 1, part 2: is closed. Open it"
        assert failed.statement == "2 parts were not read in. part 1, part 2: is closed"

    def test_of_several_kinds_are_of_none(self) -> None:
        failed = PartsFailed.from_failures(
            "read in", [(type(each).__name__, each) for each in self.KINDS]
        )
        assert type(failed) is PartsFailed
        assert isinstance(failed, StoreError)


class TestManyFindings:
    def test_are_counted_and_the_first_shown(self) -> None:
        text = str(InvalidBody([f"v{number}" for number in range(1050)]))
        assert text.startswith("1,050 violations. v0. v1. ")
        assert text.endswith(". v19. And 1,030 more")

    def test_of_unknown_digests_too(self) -> None:
        error = DigestUnknown([f"part {number}" for number in range(100_000)])
        assert "part 18, part 19 and 99,980 more parts; read them once" in str(error)
        assert len(error.parts) == 100_000


class TestOsErrors:
    def test_carry_errno_and_filename(self) -> None:
        not_found = PartNotFound("/a")
        assert (not_found.errno, not_found.filename) == (errno.ENOENT, "/a")
        taken = DuplicateName("/a")
        assert (taken.errno, taken.filename) == (errno.EEXIST, "/a")
        assert AccessDenied(store="s3://b", key="k").errno == errno.EACCES
        assert ObjectNotFound(store="s3://b", key="k").filename == "s3://b/k"
        assert UnsafeReference("part 1", "is refused").errno == errno.EACCES
        assert LocalFileChanged("/tmp/a", "gone").filename == "/tmp/a"
