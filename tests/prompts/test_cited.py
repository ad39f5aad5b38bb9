"""Sources in prompts: numbered as the text cites them, and none is left out for another."""

import re
from random import Random

from messagebody import MessageBody, Part
from messagebody.prompts import to_prompt
from messagebody.prompts._counting import PICTURE_TOKENS

PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)
KIND = "text/markdown"


def test_sources_are_numbered_as_the_text_cites_them() -> None:
    citations = [{"part": "/notes.txt"}, {"part": "/gone"}]
    text = "[a](source:3) [b](source:1#x) [c](source:9) [d](source:3)"
    body = MessageBody([Part(text, content_type=KIND, metadata={"citations": citations})])
    for name in ("/sources/1", "/sources/2", "/sources/3", "/notes.txt"):
        body.add("words", name=name)
    tags = re.findall(r'name="(\S+)"(?: source="(\d)")? type', to_prompt(body).body.read_text())
    # The parts stay in the order of the message.
    assert tags == [
        ("/sources/1", "2"), ("/sources/2", ""), ("/sources/3", "1"), ("/notes.txt", "3"),
    ]  # fmt: skip


def test_what_is_cited_comes_first_where_room_is_short() -> None:
    body = MessageBody([Part("[a](source:99)", content_type=KIND)])
    for number in range(100):
        body.add(f"source {number} " + "words " * 200, name=f"/sources/{number}")
    prompt = to_prompt(body, 200)
    assert "source 99 words" in prompt.body.read_text()
    assert [each.index for each in prompt.omitted if each.kind == "cut"] == [100]


def test_only_the_beginning_of_a_long_text_is_looked_at() -> None:
    """The work depends on the budget."""
    text = "[a](source:1) " + "words " * 100_000 + "[b](source:2)"
    sources = [Part("x", name=f"/sources/{number}") for number in (1, 2)]
    body = MessageBody([Part(text, content_type=KIND), *sources])
    shown = to_prompt(body, 500).body.read_text()
    assert 'name="/sources/1" source="1"' in shown
    assert 'name="/sources/2" type' in shown


def test_texts_in_other_encodings_cite_as_well() -> None:
    kind = "text/markdown; charset=iso-8859-1"
    body = MessageBody([Part("é [a](source:2)".encode("latin-1"), content_type=kind)])
    for number in (1, 2):
        body.add("x", name=f"/sources/{number}")
    assert 'name="/sources/2" source="1"' in to_prompt(body).body.read_text()


def _shown(body: MessageBody, budget: int) -> list[str]:
    """Return how each part is shown: "whole", "cut", "listed" or "unlisted"."""
    omitted = {each.index: each.kind for each in to_prompt(body, budget).omitted}
    return [omitted.get(index, "whole") for index in range(len(body))]


def test_a_source_that_is_cited_is_never_dropped_before_one_that_is_not() -> None:
    ranks = {"whole": 2, "cut": 2, "listed": 1, "unlisted": 0}
    for seed in range(400):
        random = Random(seed)
        ids = [f"{number}{'x' * random.choice([0, 0, 300])}" for number in range(8)]
        cited = random.sample(ids, random.randint(1, 7))
        text = " ".join(f"[a](source:{each})" for each in cited)
        body = MessageBody([Part(text, content_type=KIND)])
        for each in ids:
            words = "words " * random.choice([1, 20, 500])
            content, kind = random.choice([(words, "text/plain"), (PNG, "image/png")])
            body.add(content, name=f"/sources/{each}", content_type=kind)
        budget = random.choice([60, 150, 400, 1000, PICTURE_TOKENS, 2 * PICTURE_TOKENS + 100])
        how = {each: ranks[kind] for each, kind in zip(ids, _shown(body, budget)[1:], strict=True)}
        kept, others = (
            [how[each] for each in ids if (each in cited) is is_cited] for is_cited in (True, False)
        )
        assert min(kept) >= max(others), (seed, budget, how)
