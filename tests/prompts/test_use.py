"""Prompts use their budget, whatever the body holds, and do no more work than it asks for."""

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody import MessageBody, Part, Resolver
from messagebody.prompts import _material as material
from messagebody.prompts import estimate_tokens, to_prompt
from tests.effort import calls
from tests.prompts.test_prompt import PIECES, PNG


@pytest.mark.parametrize("parts", [1, 3, 30, 100, 250, 1000, 5000])
@pytest.mark.parametrize("piece", [PIECES[0], PIECES[1], PIECES[4]])
def test_the_budget_is_used_at_any_number_of_parts(piece: str, parts: int) -> None:
    texts = [Part(f"{number} {piece * 50}", name=f"/docs/{number}.txt") for number in range(parts)]
    for budget in (700, 2000):
        prompt = to_prompt(MessageBody([Part("Summarise."), *texts]), budget)
        assert prompt.used <= budget
        assert prompt.used >= 0.95 * budget or not prompt.omitted
        # The first ones are shown, the next are listed, and the rest is counted.
        order = ["cut", "listed", "unlisted"]
        kinds = [order.index(each.kind) for each in prompt.omitted]
        assert kinds == sorted(kinds)
        assert "Summarise." in prompt.body.read_text()


def test_short_texts_are_shown_whole_before_others_are_begun() -> None:
    texts = [Part("word " * 60, name=f"/docs/{each}.txt") for each in range(1000)]
    prompt = to_prompt(MessageBody(texts), 2000)
    assert [each.index for each in prompt.omitted][:1] == [len(texts) - len(prompt.omitted)]
    assert len(texts) - len(prompt.omitted) >= 12


def test_the_list_takes_what_texts_leave() -> None:
    parts = [Part(b"\xff", name=f"/data/{n}", content_type="a/b") for n in range(300)]
    assert 0.95 * 2000 <= to_prompt(MessageBody([Part("Why?"), *parts]), 2000).used <= 2000


def test_lines_take_what_is_too_little_for_a_text() -> None:
    """Two hundred tokens of emoji are a hundred characters: too few to cut them."""
    binary = [Part(b"\xff", name=f"/data/{n}", content_type="a/b") for n in range(30)]
    assert to_prompt(MessageBody([*[Part("😀🎉" * 51)] * 5, *binary]), 950).used >= 0.95 * 950


@pytest.mark.parametrize("piece", [PIECES[0], "猫白天大部分时间都在睡觉。", "😀🎉"])
def test_a_text_that_nearly_fits(piece: str) -> None:
    """The frame and the note of a cut text may take more characters than they save."""
    body = MessageBody([Part(piece * 100), Part(b"\xff", content_type="a/b")])
    everything = to_prompt(body).used
    for budget in range(everything - 60, everything):
        prompt = to_prompt(body, budget)
        assert prompt.used >= min(0.95 * budget, budget - 60)


def test_named_texts_get_a_third() -> None:
    body = MessageBody([Part(PIECES[0] * 500), Part(PIECES[0] * 500, name="/a.txt")])
    shown = [each.shown for each in to_prompt(body, 3000).omitted]
    assert 0.4 < shown[1] / shown[0] < 0.55
    body = MessageBody([Part(PIECES[0] * 500), Part("Cats.", name="/a.txt")])
    assert "Cats." in to_prompt(body, 500).body.read_text()


def test_pictures_take_what_texts_leave() -> None:
    body = MessageBody([Part("Why?"), *(Part(PNG, name=f"/{n}.png") for n in range(9))])
    prompt = to_prompt(body, 10_000)
    assert [part.content_type for part in prompt.body].count("image/png") == 6
    assert {each.kind for each in prompt.omitted} == {"listed"}


def test_a_name_without_room_hides_no_other_part() -> None:
    parts = [Part("cat", name=f"/{'x' * 1000}"), Part("dog " * 2000, name="/dog.txt")]
    prompt = to_prompt(MessageBody(parts), 160)
    assert "dog dog" in prompt.body.read_text()


def test_a_tokenizer_is_asked_a_few_times() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return estimate_tokens(text)

    texts = [Part(f"{n} {PIECES[0] * 20}", name=f"/docs/{n}.txt") for n in range(2000)]
    assert to_prompt(MessageBody(texts), 4000, count=count).used >= 3800
    assert len(asked) <= 5
    assert max(map(len, asked)) <= 8 * 4000


@pytest.mark.parametrize("count", [lambda text: len(text) // 50, lambda text: 1, lambda text: 0])
def test_a_tokenizer_gets_no_more_than_may_fit(count: Callable[[str], int]) -> None:
    """Even if it finds far fewer tokens than others, or if names are much longer than texts."""
    asked: list[int] = []

    def counted(text: str) -> int:
        asked.append(len(text))
        return count(text)

    for parts in (1, 3, 10, 1000):
        texts = [Part(PIECES[0] * 40, name=f"/{n}" if n % 3 else None) for n in range(parts)]
        named = [Part(b"", name=f"/{'x' * 900}{n}", content_type="a/b") for n in range(parts)]
        for budget in (60, 200, 6000):
            asked.clear()
            to_prompt(MessageBody(texts), budget, count=counted)
            to_prompt(MessageBody(named), budget, count=counted)
            assert max(asked, default=0) <= 16 * budget


def many(number: int, **members: Any) -> MessageBody:
    shared = {"contentType": "text/plain", "content": PIECES[0] * 20, **members}
    return MessageBody.from_dicts([{"name": f"/docs/{n}", **shared} for n in range(number)])


def test_the_work_depends_on_the_budget() -> None:
    few, more = many(1000), many(50_000)
    to_prompt(few, 1000), to_prompt(more, 1000)  # what a body remembers is no work of a prompt
    # What is not shown takes one call and its return, for a look at its name.
    work = calls(lambda: to_prompt(few, 1000)) + 2 * (len(more) - len(few))
    assert calls(lambda: to_prompt(more, 1000)) < work + 100


def test_references_are_read_until_their_texts_fill_the_budget(tmp_path: Path) -> None:
    body = MessageBody()
    for number in range(60):
        (tmp_path / str(number)).write_text("é" * 1_000, "utf-8")
        url = (tmp_path / str(number)).as_uri()
        body.add(url=url, name=f"/{number}", content_type="text/plain", size=2_000)
    prompt = to_prompt(body, 1_000, resolver=Resolver(allow=tmp_path))
    # Of what was read the characters are known, and else only the bytes.
    totals = [each.total for each in prompt.omitted]
    assert 1 <= totals.count(1_000) <= 20
    assert totals.count(2_000) >= 40


def test_what_a_closed_resolver_refuses_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object) -> None:
        raise AssertionError("a thread would start")

    monkeypatch.setattr(material, "ThreadPoolExecutor", started)
    data = Part(url="data:,meow", name="/cat", content_type="text/plain")
    far = Part(url="https://example.com/dog", name="/dog", content_type="text/plain")
    for resolver in (None, Resolver()):
        prompt = to_prompt(MessageBody([data, far]), resolver=resolver)
        assert "meow" in prompt.body.read_text()
        ((index, why),) = [(each.index, each.why) for each in prompt.omitted]
        assert (index, "https://example.com/dog" in why) == (1, True)
    with pytest.raises(AssertionError, match="thread"):
        to_prompt(MessageBody([far]), resolver=Resolver(public_https=True))


def test_a_text_that_no_prompt_can_hold_is_listed() -> None:
    """UTF-7 spells half of a character."""
    body = MessageBody([Part(b"+2AA-", name="/a", content_type="text/plain; charset=utf-7")])
    (omitted,) = to_prompt(body).omitted
    assert (omitted.kind, "lone surrogate" in omitted.why) == ("listed", True)


def test_omissions_are_a_sequence_made_on_demand() -> None:
    body = many(2000)
    body.insert(3, Part("{}", name="/meta/agents-api.json"))
    body.append(Part(PNG, name="/a.png"))
    prompt = to_prompt(body, 4000)
    omitted: Sequence[Any] = prompt.omitted
    assert calls(lambda: (len(omitted), omitted[1500], omitted[-1], repr(prompt))) < 3000
    found = [*omitted]
    assert [omitted[at] for at in range(len(omitted))] == found
    assert (omitted[5:9], omitted[-1].kind) == (tuple(found[5:9]), "withheld")
    shown = {*range(len(body))} - {each.index for each in found}
    assert [each.index for each in found[:-1]] == sorted({*range(len(body))} - shown - {3})
    assert prompt.omitted == found != found[1:]
    assert pickle.loads(pickle.dumps(prompt)) == prompt
    with pytest.raises(IndexError):
        omitted[len(omitted)]
    body.clear()  # the prompt tells of the body that it was made of
    assert omitted[0] == found[0]


@pytest.mark.parametrize("count", [3, 4])
def test_the_first_omissions_are_shown(count: int) -> None:
    body = MessageBody([Part("x" * 9_000, name=f"/{number}") for number in range(count)])
    omitted = to_prompt(body, 100).omitted
    assert len(omitted) == count
    assert repr(omitted).startswith(f"<{count} omissions: ")
    assert [name in repr(omitted) for name in body.names()] == [True, True, True, False][:count]
    assert repr(omitted).endswith(", …>") is (count > 3)


# Small budgets


@pytest.mark.parametrize(
    "body",
    [
        MessageBody(["What is it?", "word " * 3000]),
        MessageBody(["word " * 3000, "What is it?"]),
        MessageBody(["word " * 3000, "word " * 3000, "What is it?"]),
        MessageBody([Part("word " * 3000, name="/a.txt"), Part("What is it?")]),
        MessageBody(["What is it?", *(Part("a,b\n" * n, name=f"/{n}.csv") for n in range(99))]),
    ],
)
def test_a_question_that_fits_is_shown(body: MessageBody) -> None:
    for budget in range(estimate_tokens("What is it?"), 300):
        prompt = to_prompt(body, budget)
        assert "What is it?" in prompt.body.read_text(), budget
        assert prompt.used <= budget


TEXTS = st.builds(
    lambda word, count: word * count,
    st.sampled_from(["word ", "line\n", "abc, def; ", "\u6f22\u5b57", "x", "<a href='1'>"]),
    st.sampled_from([1, 2, 3, 10, 40, 200, 1000]),
)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(TEXTS, st.booleans()), min_size=1, max_size=6),
    st.integers(300, 4000),
)
def test_what_is_left_out_would_not_have_fitted(texts: list[tuple[str, bool]], budget: int) -> None:
    """If anything is left out, 95 % of the budget are used, or nothing of it would have fitted.

    Below some 300 tokens a frame or a note is a large part of the budget.
    """
    body = MessageBody(
        Part(text, name=f"/{number}.txt" if is_named else None)
        for number, (text, is_named) in enumerate(texts)
    )
    prompt = to_prompt(body, budget)
    assert prompt.used <= budget
    if prompt.used >= 0.95 * budget:
        return
    # The line that counts the other parts may become longer, or be there at all.
    left = budget - prompt.used - estimate_tokens("[100 more parts; list_parts lists them]\n\n")
    for each in prompt.omitted:
        part = body[each.index]
        opening = f'<part-0 name="{part.name}" type="text/plain" size="{part.size} KiB"/>'
        line = estimate_tokens(opening)
        whole = estimate_tokens(f"{opening}\n{part.text}\n</part-0>")
        if each.kind == "unlisted":
            assert min(line, whole) > left
        elif each.kind == "listed":
            assert whole - line > left
        else:
            assert left <= 0  # a text that is cut may always show more


def test_a_picture_that_nobody_opens_is_an_omission(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    picture = Part(url=path.as_uri(), content_type="image/png")
    body = MessageBody(
        ["Look!", picture, Part(url="https://e.com/b.png", content_type="image/png")]
    )
    prompt = to_prompt(body, 9000)
    (omission,) = prompt.omitted
    assert (omission.index, omission.kind) == (1, "listed")
    assert omission.why == "the unnamed image/png part points to file:…, which no resolver allows"
    assert [part.url for part in prompt.body if part.is_reference] == ["https://e.com/b.png"]
    assert str(tmp_path) not in prompt.body.read_text()
    opened = to_prompt(body, 9000, resolver=Resolver(allow=tmp_path))
    assert opened.omitted == ()
    assert [part.url for part in opened.body if part.is_reference] == [
        path.as_uri(), "https://e.com/b.png",
    ]  # fmt: skip
