"""Stores whose objects everybody reads under an https URL."""

import os

import pytest

from messagebody import MessageBody, Part, Resolver, inline, migrate, offload, present, sweep
from messagebody.errors import StoreError
from messagebody.storage import Bodies, open_store

CDN = "https://cdn.example.com/files"


def test_references_carry_it_and_the_store_reads_them() -> None:
    store = open_store("memory://public-1", public_base=CDN + "/")
    body = MessageBody([Part(os.urandom(1000), name="/a")])
    small = offload(body, store, threshold=0)
    url = small[0].url or ""
    assert url.startswith(CDN + "/sha256/")
    resolver = Resolver(allow=store, public_https=False)
    assert inline(small, resolver=resolver) == body
    assert resolver.store_of(url)[0] is store
    assert Resolver(public_https=True).allows(
        url
    )  # everybody's https is open; nothing of the store is needed
    assert not resolver.allows("https://cdn.example.com/other")


def test_what_lives_long_knows_it() -> None:
    store = open_store("memory://public-2", public_base=CDN)
    small = offload(MessageBody([Part(os.urandom(1000), name="/a")]), store, threshold=0)
    assert present(small) == small
    assert migrate(small, store) == small
    assert not sweep(store, Bodies(small), grace=-60).objects
    assert len(sweep(store, Bodies(MessageBody()), grace=-60).objects) == 1


@pytest.mark.parametrize(
    "base", ["cdn.example.com", "s3://bucket", "https://", "https://u:p@x.org/", "https://x.org/?a",
             "https://x.org/a b", "https://x.org//a"]
)  # fmt: skip
def test_what_is_no_base(base: str) -> None:
    with pytest.raises(StoreError):
        open_store("memory://public-3", public_base=base)
