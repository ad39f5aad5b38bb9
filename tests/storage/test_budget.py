"""One budget for one body, whoever reads it."""

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, offload
from messagebody.errors import LimitExceeded, MessageBodyError, UnsafeReference
from messagebody.storage import FetchBudget, FetchLimits
from tests.storage.network import Network

HOSTS = FetchLimits(hosts=5)


def of_hosts(count: int) -> MessageBody:
    return MessageBody(
        Part(url=f"https://h{number}.example/", name=f"/s/{number}", content_type="text/plain")
        for number in range(count)
    )


def a_loop(body: MessageBody, resolver: Resolver) -> None:
    for part in body:
        for read in (part.read_bytes, part.read_text, part.open):
            try:
                found: Any = read(resolver)
                found.read()
            except MessageBodyError:
                pass


def _sizes(body: MessageBody, resolver: Resolver) -> None:
    fs = body.filesystem(resolver=resolver)
    for name in body.names():
        with pytest.raises(MessageBodyError):
            fs.size(name)


def a_prompt(body: MessageBody, resolver: Resolver) -> None:
    from messagebody.prompts import to_prompt

    to_prompt(body, 10_000, resolver=resolver)


def searches(body: MessageBody, resolver: Resolver) -> None:
    from messagebody.prompts import Reader

    for _ in range(3):
        Reader(body, resolver).search_parts("x")


def a_page(body: MessageBody, resolver: Resolver) -> None:
    from messagebody.rendering import page

    page(body, resolver=resolver)


READERS: dict[str, Callable[[MessageBody, Resolver], Any]] = {
    "a loop": a_loop,
    "a filesystem": lambda body, resolver: body.filesystem(resolver=resolver).cat(
        "/", recursive=True, on_error="return"
    ),
    "sizes": _sizes,
}
LEAVES: dict[str, Callable[[MessageBody, Resolver], Any]] = {
    "a prompt": a_prompt, "searches": searches, "a page": a_page,
}  # fmt: skip


@pytest.mark.parametrize(
    "reader", [*READERS, *(pytest.param(name, marks=pytest.mark.leaf(name)) for name in LEAVES)]
)
def test_a_reader_asks_no_more_hosts_than_the_limit(reader: str, network: Network) -> None:
    network.names = {}
    (READERS | LEAVES)[reader](of_hosts(40), Resolver(public_https=True, limits=HOSTS))
    assert 1 <= len({*network.lookups}) <= HOSTS.hosts


@pytest.mark.leaf("prompts", "rendering")
def test_all_readers_share_the_budget(network: Network) -> None:
    network.names = {}
    body, resolver = of_hosts(40), Resolver(public_https=True, limits=HOSTS)
    for reader in (READERS | LEAVES).values():
        reader(body, resolver)
        reader(body.copy(), resolver)
    assert len({*network.lookups}) == HOSTS.hosts


def test_another_body_and_another_resolver_have_budgets_of_their_own(network: Network) -> None:
    network.names = {}
    body, resolver = of_hosts(5), Resolver(public_https=True, limits=FetchLimits(hosts=1))
    a_loop(body, resolver)
    a_loop(MessageBody([*of_hosts(3)][1:]), resolver)
    a_loop(body, Resolver(public_https=True, limits=FetchLimits(hosts=2)))
    assert {*network.lookups} == {"h0.example", "h1.example"}


def test_bytes_are_counted_over_all_reads(tmp_path: Path) -> None:
    body = offload(MessageBody([Part("x" * 600, name="/a")]), tmp_path, threshold=0)
    resolver = Resolver(allow=tmp_path, limits=FetchLimits(body_bytes=1000))
    assert len(body[0].read_bytes(resolver)) == 600
    with pytest.raises(LimitExceeded, match="limit body_bytes"):
        body.filesystem(resolver=resolver).cat("/a")
    # Another resolver is another decision about what a body may cost.
    assert len(body[0].read_bytes(Resolver(allow=tmp_path))) == 600


def test_what_is_in_the_message_costs_nothing() -> None:
    body = MessageBody([Part(url="data:," + "x" * 600)])
    resolver = Resolver(limits=FetchLimits(body_bytes=1000))
    for _ in range(5):
        assert len(body[0].read_bytes(resolver)) == 600


def test_time_counts_while_somebody_reads() -> None:
    budget = FetchBudget(FetchLimits(body_seconds=0.2))
    with budget.part() as deadline:
        budget.check_time(deadline)
    time.sleep(0.3)
    with budget.part() as deadline:
        budget.check_time(deadline)
        time.sleep(0.3)
        with pytest.raises(LimitExceeded, match="limit body_seconds"):
            budget.check_time(deadline)
    with budget.part() as deadline, pytest.raises(LimitExceeded):
        budget.check_time(deadline)


def test_refused_hosts_take_no_memory() -> None:
    budget = FetchBudget(HOSTS)
    for number in range(1000):
        with contextlib.suppress(LimitExceeded):
            budget.take_fetch(f"h{number}.example")
    assert len(budget._slots) == HOSTS.hosts


def test_a_body_keeps_no_budget_of_a_resolver_that_is_gone(tmp_path: Path) -> None:
    body = offload(MessageBody([Part("x", name="/a")]), tmp_path, threshold=0)
    for _ in range(10):
        body[0].read_bytes(Resolver(allow=tmp_path))
    assert len(body._reading._budgets or ()) <= 1


@pytest.mark.leaf("prompts")
class TestPrompts:
    def test_read_only_while_there_is_room(self, tmp_path: Path) -> None:
        texts = [Part("cats " * 200, name=f"/{number}") for number in range(100)]
        body = offload(MessageBody(texts), tmp_path, threshold=0)
        read: list[Any] = []
        resolver = Resolver(allow=tmp_path)
        fetch = resolver.fetch

        def noted(reference: Any, **how: Any) -> Any:
            read.append(reference)
            return fetch(reference, **how)

        resolver.fetch = noted  # type: ignore[method-assign]
        from messagebody.prompts import to_prompt

        prompt = to_prompt(body, 300, resolver=resolver)
        assert prompt.used <= 300
        # As many as are read at a time, and not all hundred.
        assert 1 <= len(read) <= 16
        assert len(prompt.omitted) >= 90

    def test_a_full_prompt_reads_nothing(self, tmp_path: Path, network: Network) -> None:
        body = MessageBody([Part("cats " * 5000), *of_hosts(20)])
        from messagebody.prompts import to_prompt

        to_prompt(body, 100, resolver=Resolver(public_https=True))
        assert network.lookups == []

    def test_several_are_read_at_a_time(self, network: Network) -> None:
        body, resolver = of_hosts(16), Resolver(public_https=True)
        # Four that wait for each other: one at a time, the first would wait in vain.
        together = threading.Barrier(4, timeout=30)

        def slow(reference: Any, **how: Any) -> Any:
            together.wait()
            raise UnsafeReference("it", "is slow")

        resolver.fetch = slow  # type: ignore[method-assign]
        from messagebody.prompts import Reader, to_prompt

        to_prompt(body, 8000, resolver=resolver)
        Reader(body, resolver).search_parts("x")
        assert not together.broken
