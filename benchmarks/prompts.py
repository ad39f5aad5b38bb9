"""Prompts within a budget, beside a plain join of all texts and LangChain's trimming.

A plain join reads every part and joins the texts: it counts nothing and leaves nothing out.
`trim_messages` of LangChain, if it is installed, keeps the first messages that fit, by its own
approximate counter; each part is a message.
"""

import itertools
import random
import tracemalloc
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody import MessageBody
from messagebody.prompts import Prompt, estimate_tokens, to_prompt

BUDGET = 4000
SIZES = (1, 3, 10, 30, 100, 250, 1_000, 10_000, 100_000, 1_000_000)
BUDGETS = (250, 1_000, 4_000, 16_000, 64_000)
TRIMMED = 10_000
"""The most parts that LangChain gets: it counts all of them."""
WORDS = (
    "the", "cat", "sleeps", "for", "most", "of", "a", "day", "and", "hunts", "at", "night",
    "because", "mice", "are", "awake", "then", "however", "researchers", "in", "Oslo", "measured",
    "14", "hours", "rest", "data_7", "shows", "it",
)  # fmt: skip


def main() -> None:
    """Print the time of a prompt by parts and by budget, what it uses, and its memory."""
    print(machine("messagebody", "langchain-core"))
    by_parts()
    by_budget()
    by_counter()
    memory()


def by_parts() -> None:
    """Measure prompts of 4,000 tokens."""
    rows = []
    for size in SIZES:
        body = _body(size)
        ways: dict[str, Callable[[], object]] = {
            "join": partial(_joined, body),
            "prompt": partial(to_prompt, body, BUDGET),
        }
        is_trimmed = find_spec("langchain_core") is not None and size <= TRIMMED
        if is_trimmed:
            ways["trimmed"] = _trimming(body)
        times = compare(ways, seconds=1, rounds=3 if size > TRIMMED else 5)
        prompt = to_prompt(body, BUDGET)
        rows.append(
            [
                f"{size:,}",
                show_time(times["join"]),
                show_time(times["prompt"]),
                show_ratio(times["prompt"] / times["join"]),
                _used(prompt, BUDGET),
                show_time(times["trimmed"]) if is_trimmed else "–",
            ]
        )
    columns = ["parts", "plain join", "to_prompt", "of the join", "budget used", "trim_messages"]
    print_table("4,000 tokens, by parts of 60 words", columns, rows)


def by_budget() -> None:
    """Measure prompts of 10,000 parts."""
    body = _body(10_000)
    joined = compare({"join": partial(_joined, body)}, seconds=1)["join"]
    rows = []
    for budget in BUDGETS:
        time = compare({"prompt": partial(to_prompt, body, budget)}, seconds=1)["prompt"]
        used = _used(to_prompt(body, budget), budget)
        rows.append([f"{budget:,}", show_time(time), show_ratio(time / joined), used])
    columns = ["tokens", "to_prompt", "of the join", "budget used"]
    print_table("10,000 parts, by the budget", columns, rows)


def by_counter() -> None:
    """Count what is asked of a tokenizer of the caller."""
    rows = []
    for size in (30, 1_000, 100_000):
        asked: list[int] = []

        def count(text: str, asked: list[int] = asked) -> int:
            tokens = estimate_tokens(text)
            asked.append(tokens)
            return tokens

        used = _used(to_prompt(_body(size), BUDGET, count=count), BUDGET)
        rows.append([f"{size:,}", len(asked), f"{sum(asked) / BUDGET:.1f}", used])
    columns = ["parts", "calls", "tokens counted, of the budget", "budget used"]
    print_table("What a tokenizer of the caller is asked, for 4,000 tokens", columns, rows)


def memory() -> None:
    """Measure the memory of a prompt of a million parts."""
    body = _body(SIZES[-1])
    to_prompt(body, BUDGET)  # a body keeps the columns of names and types
    tracemalloc.start()
    prompt = to_prompt(body, BUDGET)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    row = [f"{len(body):,}", f"{len(prompt.omitted):,}", f"{peak / 1024:,.0f} KiB"]
    print_table("Memory", ["parts", "left out", "peak"], [row])


def _body(size: int) -> MessageBody:
    chance = random.Random(size)
    texts = [" ".join(chance.choices(WORDS, k=60)) for _ in range(min(size, 5_000))]
    parts = zip(range(size), itertools.cycle(texts), strict=False)
    # No two texts are the same, or the estimate would be counted once for both.
    return MessageBody.from_dicts(
        [
            {"name": f"/docs/{n}.txt", "contentType": "text/plain", "content": f"{n}: {text}"}
            for n, text in parts
        ]
    )


def _used(prompt: Prompt, budget: int) -> str:
    return f"{prompt.used / budget:.1%}" if prompt.omitted else "all fits"


def _joined(body: MessageBody) -> str:
    return "\n\n".join(part.read_text() for part in body)


def _trimming(body: MessageBody) -> Callable[[], object]:
    from langchain_core.messages import HumanMessage, trim_messages
    from langchain_core.messages.utils import count_tokens_approximately

    messages: list[Any] = [HumanMessage(part.read_text()) for part in body]
    return partial(
        trim_messages,
        messages,
        max_tokens=BUDGET,
        token_counter=count_tokens_approximately,
        strategy="first",
    )


if __name__ == "__main__":
    main()
