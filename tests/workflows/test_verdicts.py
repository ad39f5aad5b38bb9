"""Verdicts about one taker: what is sent to it, with which steps, and what follows from that."""

from typing import Any

import pytest

from messagebody import Agent, MessageBodySchema, SchemaPart
from messagebody.workflows import (
    BreachKind,
    Workflow,
    drop,
    mount,
    rename,
    retype,
    select,
    show,
    through,
    unmount,
)
from tests.workflows.test_workflow import breaks


def schema(*parts: Any) -> MessageBodySchema:
    return MessageBodySchema(parts)


def inside(
    kind: str, content: dict[str, Any], *, name: str = "/a", required: bool = True
) -> MessageBodySchema:
    return schema(SchemaPart(name, kind, required=required, content_schema=content))


OBJECT = {"type": "object"}
A_TO_B = retype("text/a+json", "text/b+json")
A_TO_TEXT = retype("text/a+json", "text/plain")
TEXT_TO_A = retype("text/plain", "text/a+json")
AS_HTML = retype("text/plain", "text/html")

ANY = schema(("/**",), (None,))
TEXT = schema((None, "text/plain", True))
SHOWN = schema((None, "*/*", True))
PICTURE = schema((None, "image/*", True))
PNG = (None, "image/png")
A = schema(("/a", "*/*", True))
SILENT = schema(("/x", "text/plain", True), ("/x", "image/png", True))
"""No two parts have one name, so no message meets both demands."""

# What each sender sends, with the steps of its edge; what the taker takes; and the verdict.
CASES: dict[str, tuple[list[tuple[MessageBodySchema, list[Any]]], MessageBodySchema, str]] = {
    # contents, also where a text has another type
    "kept": ([(inside("text/a+json", OBJECT), [A_TO_B])], inside("text/b+json", OBJECT), "always"),
    "broken": ([(inside("text/a+json", OBJECT), [A_TO_B])],
               inside("text/b+json", {"type": "array"}), "never"),
    "one of two": ([(inside("text/{a,b}+json", OBJECT), [A_TO_B])],
                   inside("text/b+json", OBJECT), "always"),
    "from a text": ([(schema(("/a", "text/plain", True)), [TEXT_TO_A])],
                    inside("text/a+json", OBJECT), "sometimes"),
    "there and back": ([(inside("text/a+json", OBJECT), [A_TO_TEXT, TEXT_TO_A])],
                       inside("text/a+json", OBJECT), "always"),
    "to a text": ([(inside("text/a+json", OBJECT), [A_TO_TEXT])],
                  schema(("/a", "text/plain", True)), "always"),
    "maybe to a text": ([(inside("text/a+json", OBJECT, required=False), [A_TO_TEXT])],
                        schema(("/a", "text/plain")), "always"),
    "some of any": ([(inside("*/*", OBJECT, required=False), [A_TO_TEXT])],
                    inside("*/*", OBJECT, required=False), "sometimes"),
    **{f"below a directory, {verdict}": (
        [(inside("application/json", {"type": "object", "required": ["id"]}), [mount("/in")])],
        inside("application/json", taken, name="/in/a"), verdict,
    ) for taken, verdict in (({"required": ["id"]}, "always"), ({"required": ["no"]}, "sometimes"),
                             ({"type": "array"}, "never"))},
    # names that numbers give
    "a number": ([(TEXT, [mount("/in")])], schema(("/in/*.txt", "text/*", True)), "always"),
    "the first number": ([(TEXT, [mount("/in")])], schema(("/in/1.txt", "*/*", True)), "sometimes"),
    "two numbers": ([(TEXT, [mount("/in")])], schema(("/in/{1,2}.txt", "text/*")), "sometimes"),
    "a first digit": ([(TEXT, [mount("/in")])], schema(("/in/1*.txt", "text/*")), "sometimes"),
    "a later number": ([(TEXT, [mount("/in")])],
                       schema(("/in/*", "text/*"), ("/in/2.txt", "text/*", True)), "undecided"),
    "a type without an extension": ([(SHOWN, [mount("/m")])], schema(("/m/*.*",)), "sometimes"),
    "an extension dropped": ([(SHOWN, [mount("/m"), drop("/m/*.png")])],
                             schema(("/m/*", "*/*", True)), "sometimes"),
    "the name of another part": ([(schema((None, "*/*", True), ("/1.png", "*/*", True)),
                                   [mount("/m")])], schema(("/m/**",)), "sometimes"),
    **{f"{count} senders of pictures": ([(PICTURE, [mount("/m")])] * count, schema(("/m/**",)),
                                        "sometimes") for count in (2, 3)},
    "the extension of a type that is made": (
        [(schema((None, "text/x-mine", True)), [retype("text/x-mine", "text/csv"), mount("/m")]),
         (schema((None, "text/*", True)), [mount("/m")])], schema(("/m/**",)), "sometimes"),
    "the extension of a type that is made, dropped": (
        [(schema((None, "text/x-mine", True)), [retype("text/x-mine", "text/csv"), mount("/m")]),
         (schema((None, "text/*", True)), [mount("/m"), drop("/m/*.csv")])],
        schema(("/m/**",)), "always"),
    # what images show of all messages
    "a name of two senders": ([(schema(("/a/*",)), []), (schema(("/*/b", "*/*", True)), [])], ANY,
                              "sometimes"),
    "a number and a pattern": ([(schema(("/**",), PNG), [mount("/m")])], ANY, "sometimes"),
    "a number and a pattern of directories": ([(TEXT, [mount("/m")]), (schema(("/*/1.txt",)), [])],
                                              ANY, "sometimes"),
    "a number and a list of directories": ([(TEXT, [mount("/m")]), (schema(("/{m,n}/*",)), [])],
                                           ANY, "sometimes"),
    "what is required has gone": ([(A, [AS_HTML])], schema(("/a", "text/plain", True)), "never"),
    "what always comes is refused": (
        [(A, [retype("text/plain", "text/css"), retype("text/html", "text/css")])],
        schema(("/a", "text/html")), "never"),
    "a name goes by one type": ([(A, [drop([["/a", "image/*"]])]),
                                 (schema(("/a", "text/plain")), [])], ANY, "sometimes"),
    "a name goes by all types": ([(schema(("/{a,b}/*",)), [drop(["/b/**"])]),
                                  (schema(("/b/x",)), [])], ANY, "always"),
    "what has changed does not go": ([(A, [AS_HTML, drop([["/a", "text/plain"]])])], A, "always"),
    "a list with a star": ([(schema(("/{a/x,b/*}", "*/*", True)), [rename("/a/**", "/c/**")])],
                           schema(("/c/x",), ("/b/*",)), "always"),
    "a directory in braces": ([(schema(("/a{/x,/y}", "*/*", True)), [unmount("/a")])],
                              schema(("/**",)), "always"),
    "two types of one list": (
        [(schema(("/{a,b}", "text/plain", True), ("/{a,b}", "image/png", True)),
          [rename("/a", "/c")])],
        schema(("/b", "text/*", True), ("/c", "*/*", True)), "sometimes"),
    "what is required may go": ([(schema(("/{b,a}", "*/*", True)), [drop("/a")])],
                                schema(("/b", "*/*", True)), "sometimes"),
    "one of two goes": ([(schema(("/{a,b}", "*/*", True)), [drop("/a"), rename("/b", "/c")])],
                        schema(("/c",)), "always"),
    "one type of all changes, and others are wanted": (
        [(SHOWN, [AS_HTML, mount("/a")])], schema(("/a/*", "image/*")), "sometimes"),
    "one type of all changes, and all are wanted": (
        [(SHOWN, [AS_HTML, mount("/a")])], schema(("/a/*", "*/*", True)), "always"),
    **{f"{gone} goes, and another type changes": (
        [(schema(("/a", "*/*")), [drop([["/a", gone], ["/a", "text/html"]]), AS_HTML,
                                  select([["/a", "text/html"], ["/a", "image/*"]])])],
        schema(("/a", "image/*")), "sometimes") for gone in ("image/png", "image/*")},
    "patterns that list names lose all that another one matches": (
        [(schema(("/{a,b,c}", "text/plain", True), ("/{d,d}", "text/plain")),
          [drop(["/d"]), rename("/a", "/x"), drop(["/{b,c}"])])], schema(("/x",)), "always"),
    # nothing is sent, so everything fits
    "nothing through a format": ([(SILENT, [through("openai-chat")])], schema(("/a/1.txt",)),
                                 "always"),
    "nothing with numbers": ([(SILENT, [mount("/c"), show("/c/d"), rename("/c/**", "/a/**")])],
                             schema(("/a/1.txt",)), "always"),
    "nothing below a directory": ([(SILENT, [mount("/a")])], schema(("/a/1.txt",)), "always"),
    "nothing at all": ([(schema(("/{a,b}", "text/plain", True), ("/a", "image/png", True),
                                ("/b", "image/png", True)), [])], A, "always"),
}  # fmt: skip

# A pattern that tells an extension; of types that are not tried, nothing is known.
PATTERNS = dict.fromkeys(
    ["/m/*.png", "/m/*g", "/m/1.{p,x}*", "/m/*.{jp,pn}g", "/m/*.*", "/m/1", "/m/*d*"], "sometimes"
) | dict.fromkeys(["/m/*.docx", "/m/*.pngg", "/m/1.tar.png"], "undecided")
for pattern, told in PATTERNS.items():
    CASES[f"taken by {pattern}"] = (
        [(SHOWN, [mount("/m")])], schema((pattern, "*/*", True)), told,
    )  # fmt: skip
    CASES[f"selected by {pattern}"] = (
        [(SHOWN, [mount("/m"), select([pattern])])], schema(("/m/*", "*/*", True)), told,
    )  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_verdicts(case: str) -> None:
    senders, taken, verdict = CASES[case]
    agents = [Agent(f"a{at}", ANY, sent) for at, (sent, _) in enumerate(senders)]
    edges = [(f"a{at}", "b", steps) for at, (_, steps) in enumerate(senders)]
    workflow = Workflow([*agents, Agent("b", taken, ANY)], edges)
    answer = workflow.check()["b"]
    assert (answer.verdict, bool(answer.reason)) == (verdict, verdict == "undecided")
    assert verdict == "undecided" or (verdict == "always") is not bool(answer.breaches)
    assert all(breaks(workflow, breach) for breach in answer.breaches)
    if "senders of pictures" in case:
        assert {each.kind for each in answer.breaches} == {BreachKind.COLLISION}
