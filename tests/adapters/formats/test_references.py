"""References that a service does not open: text inside, other content behind signed URLs."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, offload
from messagebody.adapters import Converted, adapter, adapter_names, format_of
from messagebody.errors import (
    AccessDenied,
    DigestMismatch,
    ObjectNotFound,
    StoreError,
    UnsafeReference,
)
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
    # No resolver is a closed one, and says as much.
    assert written("anthropic", body, urls="auto") == done
    for urls in ("sign", "inline"):
        with pytest.raises(UnsafeReference, match="If the store is yours: Resolver"):
            written("anthropic", body, urls=urls, resolver=Resolver())
        with pytest.raises(UnsafeReference, match="If the store is yours: Resolver"):
            written("anthropic", body.with_resolver(Resolver()), urls=urls)
        # Without a resolver the text goes out, and the loss says the same.
        alone = written("anthropic", body, urls=urls)
        assert "not shown here" in json.dumps(alone.value)
        assert "which no resolver allows" in str(alone.losses[0])


def test_the_resolver_of_a_body_counts(store: Signing) -> None:
    body = sent(store)
    resolver = Resolver(allow=store)
    bound = written("anthropic", body.with_resolver(resolver), urls="auto")
    assert bound == written("anthropic", body, urls="auto", resolver=resolver)
    assert "acme.example.com" in json.dumps(bound.value)


def test_the_assistant_is_told_why_too(store: Signing) -> None:
    done = written(
        "gemini",
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


def _changed(store: Signing, url: str) -> None:
    store.held[next(key for key in store.held if url.endswith(key))] += b"more"


def _missing(store: Signing, url: str) -> None:
    _fail(store, url, ObjectNotFound("nothing is there"))


def _denied(store: Signing, url: str) -> None:
    _fail(store, url, AccessDenied("the store refuses it"))


def _fail(store: Signing, url: str, error: StoreError) -> None:
    key = next(key for key in store.held if url.endswith(key))
    stream, read = store.stream, store.read_range

    def fail(asked: str, *rest: int) -> Any:
        if asked == key:
            raise error
        return read(asked, *rest) if rest else stream(asked)

    store.stream = fail  # type: ignore[assignment,method-assign]
    store.read_range = fail  # type: ignore[assignment,method-assign]


@pytest.mark.parametrize("spoil", [_missing, _changed, _denied])
@pytest.mark.parametrize("position", [1, 2, 3])
def test_one_bad_object_is_listed_and_the_rest_goes(
    spoil: Callable[[Signing, str], None], position: int
) -> None:
    store = Signing("http")  # all of it is read, since Anthropic opens no http:
    body = sent(store)
    spoil(store, str(body[position].url))
    resolver = Resolver(allow=store)
    done = written("anthropic", body, urls="auto", resolver=resolver)
    [bad] = [str(loss) for loss in done.losses if "only a text that names it" in str(loss)]
    assert bad.startswith(f"omitted part {position}")
    assert len(done.value["content"]) == len(written("anthropic", body).value["content"])
    with pytest.raises((ObjectNotFound, AccessDenied, DigestMismatch)):
        written("anthropic", body, urls="inline", resolver=resolver)


OPENS_ANY = [
    "a2a", "a2a-0.3", "acp", "ag-ui", "agent-client", "langchain", "llamaindex", "mcp",
    "pydantic-ai", "vercel-ai",
]  # fmt: skip


@pytest.mark.parametrize("urls", ["auto", "inline"])
@pytest.mark.parametrize("name", OPENS_ANY)
def test_a_file_of_this_machine_is_no_url_for_others(name: str, urls: str, tmp_path: Path) -> None:
    for place in (tmp_path.as_uri(), "memory://reaching"):
        body = sent(open_store(place))
        done = written(name, body, urls=urls, resolver=Resolver(allow=place))
        text = json.dumps(done.value)
        assert place not in text
        for part in (sample("chart.png"), PDF):
            spelt = (base64.b64encode(part), base64.urlsafe_b64encode(part))
            assert any(each.decode() in text for each in spelt)
        assert not [loss for loss in done.losses if "only a text" in str(loss)]
        assert place in json.dumps(written(name, body).value)  # as it is, unless it is asked for


@pytest.mark.parametrize("name", OPENS_ANY)
def test_a_url_that_others_open_stays(name: str, store: Signing) -> None:
    body = sent(store)
    for urls in ("auto", "inline"):
        made = written(name, body, urls=urls, resolver=Resolver(allow=store))
        assert json.dumps(made.value).count("s3://acme-messages/a/") >= 1
    assert store.reads == []


def test_json_that_is_read_is_no_text_that_names_it(tmp_path: Path) -> None:
    data = {"rides": [*range(200)]}
    body = offload(MessageBody([Part(data, name="/a.json")]), tmp_path, threshold=100)
    done = written("a2a", body, urls="auto", resolver=Resolver(allow=tmp_path))
    assert done.value["parts"][0]["data"] == data
    said = [str(loss) for loss in done.losses]
    assert "converted part 0 /a.json: its content goes out in another form" in said
    assert not any("only a text" in each for each in said)


SIGNED = [
    "https://user:s3cr3t@example.com/a.png?X-Amz-Signature=s3cr3t",
    "https://user:s3cr3t@example.com",
    "https://example.com/?token=s3cr3t",
    "https://example.com/d/#s3cr3t",
    "https://user:s3cr3t@example.com/d/?s3cr3t/s3cr3t",
]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts(each)


@pytest.mark.parametrize("url", SIGNED)
@pytest.mark.parametrize(
    "name", [each for each in adapter_names() if format_of(each) or each == "agents-api"]
)
def test_what_a_signed_url_ends_with_is_no_name(name: str, url: str) -> None:
    for content_type in ("image/png", "application/pdf", "text/csv", "audio/wav", "video/mp4"):
        for part_name in (None, "/x/y"):
            part = Part(url=url, content_type=content_type, name=part_name)
            done = written(name, MessageBody(["See.", part]))
            said = [text for text in _texts(done.value) if "s3cr3t" in text]
            assert {*said} <= {url}
            assert not [loss for loss in done.losses if "s3cr3t" in str(loss)]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.com/d/a.png?X-Amz-Signature=s3cr3t", "a.png"),
        ("https://example.com/d/", "d"),
        ("https://u:p@example.com", "example.com"),
        ("s3://bucket/a/b.csv", "b.csv"),
        ("https://example.com/" + "a" * 400, "a" * 100),
    ],
)
def test_a_link_has_the_name_of_its_path(url: str, name: str) -> None:
    done = written("mcp", MessageBody([Part(url=url, content_type="image/png")]))
    assert done.value["content"][0]["name"] == name


def test_a_type_that_the_service_knows_only_as_its_own_file_is_said_so(store: Signing) -> None:
    body = offload(MessageBody([sample("bell.wav")]), store, threshold=100)
    done = written("anthropic", body, urls="auto", resolver=Resolver(allow=store))
    assert "anthropic opens no URL of audio/wav; anthropic takes no content of audio/wav" in str(
        done.losses[0]
    )


@pytest.mark.parametrize("text", [b"Cats are cute.", "süß".encode(), "süß".encode("latin-1")])
@pytest.mark.parametrize("kind", ["text/plain", "text/markdown", "text/csv"])
@pytest.mark.parametrize("name", [each for each in adapter_names() if format_of(each)])
def test_a_text_in_a_data_url_goes_out(name: str, kind: str, text: bytes) -> None:
    charset = "" if text.isascii() or text == "süß".encode() else "; charset=iso-8859-1"
    url = f"data:{kind};base64,{base64.b64encode(text).decode()}"
    part = Part(url=url, content_type=kind + charset)
    for body in (MessageBody([part]), MessageBody([part, part.evolve(name="/a.txt")])):
        losses = "\n".join(map(str, written(name, body).losses))
        assert "only a text that names it" not in losses
        assert "has no place" not in losses


def test_bytes_in_a_data_url_that_are_no_text() -> None:
    url = "data:text/html;base64," + base64.b64encode(b"\x89\xff").decode()
    body = MessageBody([Part(url=url, content_type="text/html; charset=utf-8")])
    assert written("anthropic", body).losses
