"""What a store can do to a body: each a typed error that names store, key and part, no secret."""

import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from boto3.session import Session

from messagebody import (
    MessageBody,
    MessageBodyError,
    Part,
    Resolver,
    fetch,
    inline,
    migrate,
    offload,
    present,
    sweep,
    verify,
)
from messagebody.errors import AccessDenied, DigestMismatch, ObjectNotFound, StoreError
from messagebody.s3 import S3Store
from messagebody.s3._client import Clients
from messagebody.storage import Bodies, Bytes, Store, open_store
from tests import servers
from tests.faults import proxy as faults
from tests.faults.proxy import Proxy

SECRETS = ("s3cr3t", "X-Amz-Signature=", "rclone-secret")
KEY = re.compile(r"tenant/sha256/[0-9a-f]{64}|sha256/[0-9a-f]{64}")
DATA = bytes(range(256)) * 2000


def a_body() -> MessageBody:
    return MessageBody([Part("hi"), Part(DATA, name="/talk.bin")])


@attrs.frozen
class Servers:
    """What the situations are made of."""

    moto: servers.Server
    rclone: servers.Server
    bucket: S3Store
    proxy: Proxy

    def seen(self, **options: Any) -> S3Store:
        """The bucket with other settings; through the proxy unless they say otherwise."""
        chosen: dict[str, Any] = {
            "session": self.moto.session(),
            "endpoint_url": self.proxy.endpoint,
        } | options
        clients = Clients(attempts=1, read_timeout=120, connect_timeout=120, **chosen)
        return S3Store(clients, self.bucket.bucket, "tenant")


@pytest.fixture
def at(
    moto_server: servers.Server, rclone_server: servers.Server, moto_store: S3Store,
) -> Iterator[Servers]:  # fmt: skip
    proxy = Proxy(int(moto_server.endpoint.rsplit(":", 1)[1]))
    yield Servers(moto_server, rclone_server, moto_store, proxy)
    proxy.close()


def refused(code: int, name: str) -> Callable[[Servers], S3Store]:
    def arrange(at: Servers) -> S3Store:
        for operation in ("put", "get", "head", "list"):
            at.proxy.spoil(operation, faults.status(code, name))
        return at.seen()

    return arrange


def no_bucket(at: Servers) -> S3Store:
    return S3Store(at.bucket.clients, "no-such-bucket", "tenant")


def wrong_secret(at: Servers) -> S3Store:
    session = Session("rclone-key", "s3cr3t-and-wrong", region_name=servers.REGION)
    return at.seen(session=session, endpoint_url=at.rclone.endpoint, addressing_style="path")


def nobody_there(at: Servers) -> S3Store:
    return at.seen(endpoint_url=f"http://127.0.0.1:{servers.free_port()}")


SITUATIONS: dict[str, tuple[Callable[[Servers], S3Store], type[StoreError], str]] = {
    "bucket missing": (no_bucket, ObjectNotFound, "no such bucket"),
    "access denied": (refused(403, "AccessDenied"), AccessDenied, "access denied"),
    "wrong secret": (wrong_secret, AccessDenied, "signature|access key"),
    "expired credentials": (refused(400, "ExpiredToken"), AccessDenied, "credentials have expired"),
    "no network": (nobody_there, StoreError, "can't reach the server"),
    "server busy": (refused(503, "SlowDown"), StoreError, "busy.*Try later"),
}


def shown(error: BaseException) -> str:
    """Everything anybody gets to see of an error: text, repr, and the traceback of its causes."""
    return f"{error!r} {error} " + "".join(traceback.format_exception(error))


def check(error: StoreError, store: S3Store, kind: type, words: str) -> None:
    assert type(error) is kind
    assert error.store == f"s3://{store.bucket}"
    assert KEY.fullmatch(error.key)
    assert re.search(words, str(error))
    assert "part '/talk.bin'" in str(error)
    assert not any(secret in shown(error) for secret in SECRETS)


@pytest.mark.parametrize("situation", SITUATIONS)
class TestStores:
    def test_on_the_way_there(self, situation: str, at: Servers) -> None:
        arrange, kind, words = SITUATIONS[situation]
        store, body = arrange(at), a_body()
        with pytest.raises(StoreError) as caught:
            offload(body, store)
        check(caught.value, store, kind, words)
        assert body == a_body()
        assert [*at.bucket.iter_objects()] == []

    def test_on_the_way_back(self, situation: str, at: Servers, tmp_path: Path) -> None:
        arrange, kind, words = SITUATIONS[situation]
        small = offload(a_body(), at.bucket)
        store = arrange(at)
        url = store.url_of((small[1].url or "").removeprefix(f"{at.bucket.url}/"))
        small[1] = small[1].evolve(url=url, size=small[1].size, digest=small[1].digest)
        resolver = Resolver(allow=store)
        for work in (
            lambda: inline(small, resolver=resolver),
            lambda: fetch(small[1], tmp_path / "talk.bin", resolver=resolver),
            lambda: migrate(small, tmp_path / "archive", resolver=resolver),
            lambda: small[1].read_bytes(resolver),
        ):
            with pytest.raises(StoreError) as caught:
                work()
            check(caught.value, store, kind, words)
        (finding,) = verify(small, resolver=resolver).findings
        assert isinstance(finding.error, StoreError)
        check(finding.error, store, kind, words)
        assert not (tmp_path / "talk.bin").exists()

    def test_while_it_moves(self, situation: str, at: Servers, tmp_path: Path) -> None:
        arrange, kind, words = SITUATIONS[situation]
        small = offload(a_body(), tmp_path / "store")
        store = arrange(at)
        with pytest.raises(StoreError) as caught:
            migrate(small, store, source=tmp_path / "store")
        check(caught.value, store, kind, words)
        assert inline(small, resolver=Resolver(allow=tmp_path / "store")) == a_body()

    def test_while_it_sweeps(self, situation: str, at: Servers) -> None:
        arrange, kind, words = SITUATIONS[situation]
        offload(a_body(), at.bucket)
        store = arrange(at)
        with pytest.raises(StoreError, match=words) as caught:
            sweep(
                store,
                Bodies(MessageBody()),
                grace=-60,
                delete=True,
                unsafe=True,
                everything=["messages"],
            )
        assert type(caught.value) is kind
        assert caught.value.store == f"s3://{store.bucket}"
        assert not any(secret in shown(caught.value) for secret in SECRETS)
        assert len([*at.bucket.iter_objects()]) == 1


@pytest.mark.parametrize(
    "place",
    [
        "s3://AKIAKEY:s3cr3t@bucket/x", "s3://bucket/x?X-Amz-Signature=s3cr3t",
        pytest.param("https://u:s3cr3t@example.com/x", marks=pytest.mark.leaf("serving")),
        "s3://bucket/x#s3cr3t", "gs://u:s3cr3t@bucket/x", "memory://u:s3cr3t@x/y",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "use",
    [
        open_store,
        lambda place: offload(a_body(), place),
        lambda place: migrate(MessageBody(), place),
        lambda place: sweep(place, Bodies(MessageBody())),
        lambda place: Resolver(allow=place),
        lambda place: present(MessageBody([Part(url=place)]), resolver=Resolver()),
        lambda place: inline(MessageBody([Part(url=place, name="/a")]), all=True),
    ],
    ids=["open", "offload", "migrate", "sweep", "allow", "present", "inline"],
)
def test_a_url_with_secrets_in_it(place: str, use: Callable[[str], Any]) -> None:
    try:
        use(place)
    except MessageBodyError as error:
        assert "s3cr3t" not in shown(error)  # noqa: PT017 - one of them is no error
    else:
        assert place.startswith("https:")  # which `present` leaves as it is


class TestObjects:
    """Deleted or replaced behind the back of a message, in every kind of store."""

    def test_deleted(self, store: Store, tmp_path: Path) -> None:
        small = offload(a_body(), store)
        key = (small[1].url or "").removeprefix(f"{store.url}/")
        store.delete(key)
        resolver = Resolver(allow=store)
        for work in (
            lambda: inline(small, resolver=resolver),
            lambda: fetch(small[1], tmp_path / "x", resolver=resolver),
            lambda: migrate(small, tmp_path / "archive", resolver=resolver),
            lambda: small[1].open(resolver).read(1),
        ):
            with pytest.raises(ObjectNotFound) as caught:
                work()
            assert "part '/talk.bin'" in str(caught.value)
            assert caught.value.store
            assert caught.value.key.endswith(key)
        assert isinstance(verify(small, resolver=resolver).findings[0].error, ObjectNotFound)
        found = verify(small, resolver=resolver, digest=False).findings[0].error
        assert isinstance(found, ObjectNotFound)

    @pytest.mark.parametrize("other", [DATA[::-1], DATA[:-1], DATA + b"x", b""])
    def test_replaced(self, store: Store, other: bytes, tmp_path: Path) -> None:
        small = offload(a_body(), store)
        key = (small[1].url or "").removeprefix(f"{store.url}/")
        store.put(key, Bytes(other), content_type="a/b", if_absent=False)
        resolver = Resolver(allow=store)
        for work in (
            lambda: inline(small, resolver=resolver),
            lambda: fetch(small[1], tmp_path / "x", resolver=resolver),
            lambda: migrate(small, tmp_path / "archive", resolver=resolver),
        ):
            with pytest.raises(DigestMismatch, match=r"part '/talk\.bin': expected .*, got"):
                work()
        assert not (tmp_path / "x").exists()
        assert not verify(small, resolver=resolver)


@pytest.mark.parametrize("error", [OSError(28, "No space left"), OSError(30, "Read-only")])
def test_a_file_that_can_not_be_written(
    error: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = offload(a_body(), tmp_path / "store")
    (tmp_path / "talk.bin").write_bytes(b"mine")

    def fail(_: int) -> None:
        raise error

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(StoreError, match=f"part '/talk.bin' can't be written.*{error.strerror}"):
        fetch(small[1], tmp_path / "talk.bin", resolver=Resolver(allow=tmp_path / "store"))
    assert (tmp_path / "talk.bin").read_bytes() == b"mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store", "talk.bin"]
