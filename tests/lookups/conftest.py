"""A body of foreign links, on a network on which every look-up and connection is noted."""

from pathlib import Path

import pytest

from messagebody import MessageBody, Part
from tests.lookups.network import DIGEST, LINKS, TYPES, Network


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    found = Network()
    found.watch(monkeypatch)
    return found


@pytest.fixture
def foreign() -> MessageBody:
    """Return a body of links, each with a name and without, for a text, a picture and JSON."""
    body = MessageBody([Part("See what I found.")])
    for number, url in enumerate(LINKS):
        for kind in TYPES:
            name = f"/links/{number}.{kind.partition('/')[2]}"
            body.append(Part(url=url, content_type=kind))
            body.append(Part(url=url, content_type=kind, name=name, size=100, digest=DIGEST))
    return body


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path
