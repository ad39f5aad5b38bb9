"""References that a service does not open: text inside, other content behind signed URLs."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, offload
from messagebody.adapters import Converted, adapter
from messagebody.errors import StoreError, UnsafeReference
from messagebody.samples import sample
from messagebody.storage import Stat, Store, open_store

TABLE = "day,rides\n" + "1,2\n" * 50
PDF = b"%PDF-1.7\n" + b" " * 300


class Signing(Store):
    """A store in memory that signs URLs of a scheme."""

    def __init__(self, scheme: str = "https") -> None:
        self.url = "s3://acme-messages/a"
        self.scheme = scheme
        self.held: dict[str, bytes] = {}
        self.reads: list[str] = []

    def stat(self, key: str) -> Stat | None:
        data = self.held.get(key)
        return None if data is None else Stat(key, len(data), None)

    def put(self, key: str, blob: Any, *, content_type: str, if_absent: bool = True) -> bool:
        self.held[key] = blob.read()
        return True

    def read_range(self, key: str, start: int, end: int) -> bytes:
        self.reads.append(key)
        return self.held[key][start:end]

    def stream(self, key: str) -> Iterator[bytes]:
        self.reads.append(key)
        yield self.held[key]

    def iter_objects(self) -> Iterator[Stat]:
        return iter(())

    def delete(self, key: str) -> None:
        del self.held[key]

    def sign(self, key: str, **_: Any) -> str:
        return f"{self.scheme}://acme.example.com/{key}?sig=s3cr3t"


def sent(store: Any) -> MessageBody:
    body = MessageBody(["Look.", sample("chart.png")])
    body.add(TABLE, name="/tables/rides.csv")
    body.add(PDF, name="/report.pdf")
    return offload(body, store, threshold=100)


def written(name: str, body: MessageBody, **options: Any) -> Converted[Any]:
    write: Any = adapter(name).from_body
    made: Converted[Any] = write(body, **options)
    return made


@pytest.fixture
def store() -> Signing:
    return Signing()


@pytest.mark.parametrize(
    ("name", "signed"),
    [("openai-chat", 1), ("anthropic", 2), ("openai-responses", 2), ("gemini", 2)],
)
def test_text_goes_inside_and_media_behind_signed_urls(
    store: Signing, name: str, signed: int
) -> None:
    body = sent(store)
    done = written(name, body, urls="auto", resolver=Resolver(allow=store))
    text = json.dumps(done.value)
    assert "1,2\\n1,2" in text or base64.b64encode(TABLE.encode()).decode() in text
    assert text.count("https://acme.example.com/") == signed
    assert "not shown here" not in text
    # No loss says that a picture goes out as something else, and none holds the signature.
    said = "\n".join(map(str, done.losses))
    assert "octet-stream" not in said
    assert "only a text that names it" not in said
    assert "s3cr3t" not in said
    assert len(store.reads) == 3 - signed  # nothing is read that goes out behind a URL


def test_the_other_way_where_one_is_not_possible() -> None:
    store = Signing("http")  # Anthropic opens https only
    done = written("anthropic", sent(store), urls="auto", resolver=Resolver(allow=store))
    kinds = [block["source"]["type"] for block in done.value["content"] if "source" in block]
    assert kinds.count("base64") == 2
    with pytest.raises(StoreError, match="sign"):
        Resolver(allow="memory://reach").sign("memory://reach/x")
    directory = open_store("memory://reach")
    body = sent(directory)
    done = written("openai-chat", body, urls="auto", resolver=Resolver(allow=directory))
    assert "data:image/png;base64," in json.dumps(done.value)


def test_the_reason_is_told_where_neither_goes() -> None:
    store = Signing("http")
    resolver = Resolver(allow=store)
    done = written("anthropic", sent(store), urls="auto", resolver=resolver, max_bytes=250)
    picture, report = (
        str(loss) for loss in done.losses if "only a text that names it" in str(loss)
    )
    assert picture.startswith(
        "omitted part 1: only a text that names it goes out: its store signs "
    )
    assert "http: URLs, and anthropic opens https:" in picture
    assert "it has 3.2 KiB, more than max_bytes (250 B)" in picture
    assert report.startswith("omitted part 3 /report.pdf")
    alone = MessageBody([sent(store)[1]])
    (loss,) = written("anthropic", alone, urls="sign", resolver=resolver).losses
    assert "its store signs http: URLs, and anthropic opens https:" in str(loss)


def test_nothing_is_read_or_signed_that_no_resolver_allows(store: Signing) -> None:
    body = sent(store)
    done = written("anthropic", body, urls="auto", resolver=Resolver())
    assert store.reads == []
    assert "acme.example.com" not in json.dumps(done.value)
    named = [str(loss) for loss in done.losses if "only a text that names it" in str(loss)]
    assert len(named) == 3
    assert all("no resolver allows" in loss for loss in named)
    assert "Resolver(" not in "\n".join(named)  # the advice is for the developer's errors
    without = written("anthropic", body, urls="auto")
    assert "there is no resolver for urls='auto'" in str(without.losses[0])
    for urls in ("sign", "inline"):
        with pytest.raises(UnsafeReference):
            written("anthropic", body, urls=urls, resolver=Resolver())


def test_the_assistant_is_told_why_too(store: Signing) -> None:
    done = written(
        "anthropic",
        MessageBody([sent(store)[3]]),
        role="assistant",
        urls="auto",
        resolver=Resolver(),
    )
    assert any("no resolver allows" in str(loss) for loss in done.losses)


def test_what_the_target_opens_stays(store: Signing, tmp_path: Path) -> None:
    url = "https://example.com/a.png"
    body = MessageBody([Part(url=url, content_type="image/png")])
    done = written("anthropic", body, urls="auto", resolver=Resolver(allow=store))
    assert done.value["content"][0]["source"] == {"type": "url", "url": url}
    assert done.losses == ()


def test_an_unknown_way() -> None:
    with pytest.raises(ValueError, match="'auto'"):
        written("anthropic", MessageBody(["x"]), urls="automatic")


def test_a_failing_store_is_an_error(store: Signing) -> None:
    def fail(key: str) -> Iterator[bytes]:
        raise StoreError("the store is down")

    body = sent(store)
    store.stream = fail  # type: ignore[method-assign]
    store.read_range = lambda *_: next(fail("")) or b""  # type: ignore[method-assign]
    with pytest.raises(StoreError, match="down"):
        written("anthropic", body, urls="auto", resolver=Resolver(allow=store))


def test_a_type_that_the_service_knows_only_as_its_own_file_is_said_so(store: Signing) -> None:
    body = offload(MessageBody([sample("bell.wav")]), store, threshold=100)
    done = written("anthropic", body, urls="auto", resolver=Resolver(allow=store))
    assert "anthropic opens no URL of audio/wav; anthropic takes no content of audio/wav" in str(
        done.losses[0]
    )
