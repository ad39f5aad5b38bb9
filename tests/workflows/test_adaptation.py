"""Steps that mend: those that lose least come first, and what they lose is named."""

import pickle
import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from messagebody import Agent, MessageBody, MessageBodySchema, Part
from messagebody.errors import DuplicateName
from messagebody.workflows import Workflow, WorkflowStep, adapt, drop, mount, rename

REPORT = ("/r.md", "text/markdown", True)
FINDINGS = ("/findings.json", "application/json", True)


@pytest.mark.parametrize(
    ("sent", "taken", "steps", "lost"),
    [
        (
            [REPORT, ("/s/*", "text/html"), ("/i/*", "image/*")],
            [REPORT, ("/cites/*", "text/html"), ("/pics/*", "image/*")],
            [rename("/s/**", "/cites/**"), rename("/i/**", "/pics/**")],
            [],
        ),
        (
            [FINDINGS, ("/pages/*", "text/html"), ("/log.txt", "text/plain")],
            [("/in/findings.json", "application/json", True), ("/in/pages/*", "text/html")],
            [drop([("/log.txt", "text/plain")]), mount("/in")],
            ["/log.txt"],
        ),
        (
            [("/a.md", "text/markdown", True), ("/pages/**", "text/html")],
            [("/b.md", "text/*", True), ("/pages/**", "text/*")],
            [rename("/a.md", "/b.md")],
            [],
        ),
        (
            [REPORT, ("/pages/**", "text/html"), ("/raw/**", "audio/*")],
            [REPORT, ("/web/**", "text/html")],
            [rename("/pages/**", "/web/**"), drop([("/raw/**", "audio/*")])],
            ["/raw/**"],
        ),
        # What differs only in the kind of text is no reason to drop it.
        (
            [REPORT, ("/notes/*", "text/markdown")],
            [("/r.md", "text/*", True), ("/in/*", "text/html")],
            None,
            [],
        ),
    ],
)
def test_what_the_taker_could_take_arrives(
    sent: list[Any], taken: list[Any], steps: list[WorkflowStep] | None, lost: list[str]
) -> None:
    found = adapt(MessageBodySchema(sent), MessageBodySchema(taken))
    assert found is not None
    if steps is not None:
        assert set(found) == set(steps)
    assert [part.name for part in found.lost] == lost
    assert (f"loses {lost[0] if lost else ''}" in str(found)) is bool(lost)
    copied = pickle.loads(pickle.dumps(found))
    assert (copied, copied.lost) == (found, found.lost)


def test_what_is_lost_in_part_is_named() -> None:
    """Only what is deeper, or of another type, goes: no sample of the names as sent shows it."""
    sent = MessageBodySchema([REPORT, ("/pages/**", "text/html")])
    taken = MessageBodySchema([("/in/r.md", "text/*", True), ("/in/pages/*", "text/html")])
    found = adapt(sent, taken)
    assert found is not None
    assert [part.name for part in found.lost] == ["/pages/**"]
    # `select` keeps the pages of the first level, and `drop` would keep none.
    assert any(step.word == "select" for step in found)


def _fits(sent: MessageBodySchema, taken: MessageBodySchema, *steps: WorkflowStep) -> bool:
    agents = [Agent("a", sent, sent), Agent("b", taken, taken)]
    return bool(Workflow(agents, [("a", "b", steps)]).check())


_DIRECTORIES = ["/a", "/b", "/in"]
_NAMES = ["/r.md", "/s.md", "/in/r.md"]
_WORDS: list[WorkflowStep] = [
    *(rename(old, new) for old, new in product(_NAMES, repeat=2) if old != new),
    *(rename(f"{old}/**", f"{new}/**") for old, new in product(_DIRECTORIES, repeat=2)
      if old != new),
    mount("/in"),
]  # fmt: skip


def _schema(seeded: random.Random) -> MessageBodySchema:
    """Return a report, and some directories of other types."""
    kinds = ["text/html", "image/png", "image/*"]
    rows: list[Any] = [(seeded.choice(_NAMES), "text/markdown", True)]
    rows += [
        (f"{seeded.choice(_DIRECTORIES)}/{seeded.choice(['*', '**'])}", seeded.choice(kinds))
        for _ in range(seeded.randint(1, 2))
    ]
    return MessageBodySchema(rows)


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_lost_that_renames_and_mounts_keep(seed: int) -> None:
    seeded = random.Random(seed)
    sent, taken = _schema(seeded), _schema(seeded)
    found = adapt(sent, taken)
    if found is None or not found.lost:
        assert found is None or _fits(sent, taken, *found)
        return
    assert _fits(sent, taken, *found)
    bodies = [_body(sent, kind) for kind in ("png", "gif")]
    longest = min(len(found) + 1, 3)
    for length in range(1, longest + 1):
        for steps in product(_WORDS, repeat=length):
            if all(_gets_through(body, taken, steps) for body in bodies):
                assert not _fits(sent, taken, *steps), [step.to_dict() for step in steps]


def _body(sent: MessageBodySchema, picture: str) -> MessageBody:
    """Return a body with a part for each schema part."""
    kinds = {"image/*": f"image/{picture}"}
    parts = {
        f"{part.name}".replace("**", f"x{at}").replace("*", f"x{at}"): part.content_type
        for at, part in enumerate(sent)
    }
    return MessageBody(
        Part("x", name=name, content_type=kinds.get(kind, kind)) for name, kind in parts.items()
    )


def _gets_through(
    body: MessageBody, taken: MessageBodySchema, steps: Sequence[WorkflowStep]
) -> bool:
    """Return whether one body gets through, which is quicker to say than of all."""
    try:
        for step in steps:
            body = step(body)
    except DuplicateName:
        return False
    return taken.is_valid(body)
