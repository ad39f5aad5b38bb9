"""S3: semantics on moto, signatures on rclone, errors on both."""

import functools
import multiprocessing
import os
import pickle
import threading
import time
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import boto3
import pytest
from botocore.exceptions import ClientError

from messagebody._base.digests import sha256_of
from messagebody.errors import AccessDenied, LimitExceeded, StoreError
from messagebody.s3 import S3Store
from messagebody.s3 import _uploads as uploads
from messagebody.s3._client import Clients
from messagebody.storage import Bytes, open_store
from tests import servers
from tests.faults.proxy import Exchange, Proxy

KEY = "sha256/" + "a" * 64
MIB = 1024 * 1024
NOW = datetime.now(UTC)


@pytest.fixture(params=["moto", "rclone"])
def store(request: pytest.FixtureRequest) -> S3Store:
    found: S3Store = request.getfixturevalue(f"{request.param}_store")
    return found


def in_parts(store: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have objects of over 1 MiB sent in parts of 5 MiB, the least the service takes."""
    clients = store.clients
    small = attrs.evolve(clients.settings, multipart_threshold=MIB, part_size=5 * MIB)
    monkeypatch.setattr(clients, "settings", small)


@attrs.frozen
class Numbers:
    """A blob of counted bytes, which can fail in the middle."""

    size: int
    fails_at: int | None = None
    digest: str | None = None

    def read(self) -> bytes:
        return b"".join(self.buffers(MIB))

    def buffers(self, length: int) -> Iterator[bytes]:
        for start in range(0, self.size, length):
            if self.fails_at is not None and start >= self.fails_at:
                raise KeyboardInterrupt
            yield bytes([start // length % 256]) * min(length, self.size - start)


def test_debug_logs_hold_no_secret(
    moto_server: servers.Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    session = boto3.session.Session("key", "s3cr3t-key", "s3cr3t-token", region_name="us-east-1")
    store = S3Store(Clients(session=session, endpoint_url=moto_server.endpoint), "logs")
    store.client.create_bucket(Bucket="logs")
    store.put(KEY, Bytes(b"x"), content_type="a/b")
    link = store.sign(KEY, expires=60, content_type="a/b", disposition="inline")
    assert "s3cr3t-token" in link
    signature = link.rpartition("X-Amz-Signature=")[2].partition("&")[0]
    assert "CanonicalRequest" in caplog.text
    assert "s3cr3t" not in caplog.text
    assert signature not in caplog.text


class TestContract:
    def test_large_objects_go_in_parts(self, store: S3Store, monkeypatch: Any) -> None:
        in_parts(store, monkeypatch)
        blob = Numbers(17 * MIB + 3)
        assert store.put(KEY, blob, content_type="a/b")
        assert store.stat(KEY).size == blob.size  # type: ignore[union-attr]
        assert b"".join(store.stream(KEY)) == b"".join(blob.buffers(5 * MIB))
        assert list(store.iter_uploads()) == []

    def test_the_prefix_keeps_tenants_apart(self, store: S3Store) -> None:
        other = S3Store(store.clients, store.bucket, "tenan")
        store.put(KEY, Bytes(b"x"), content_type="a/b")
        assert list(other.iter_objects()) == []
        assert other.stat(KEY) is None


class TestChecksums:
    """What a request says of its bytes, under a header that the signature covers."""

    @staticmethod
    def headers_of_a_put(store: S3Store, blob: Bytes) -> dict[str, str]:
        seen: list[dict[str, str]] = []

        def look(request: Any, **_: Any) -> None:
            headers = request.headers.items()
            seen.append(
                {n.lower(): v.decode() if isinstance(v, bytes) else str(v) for n, v in headers}
            )

        events = store.client.meta.events
        events.register("before-send.s3.PutObject", look)
        try:
            assert store.put(KEY, blob, content_type="a/b")
        finally:
            events.unregister("before-send.s3.PutObject", look)
        return seen[-1]

    def test_a_known_digest_goes_along(self, store: S3Store) -> None:
        blob = Bytes(b"meow", sha256_of(b"meow"))
        found = self.headers_of_a_put(store, blob)
        assert b64decode(found["x-amz-checksum-sha256"]).hex() == blob.digest[7:]  # type: ignore[index]
        assert "x-amz-checksum-sha256" in found["authorization"]
        assert "x-amz-checksum-crc32" not in found

    def test_other_bytes_get_a_checksum_of_the_clients(self, store: S3Store) -> None:
        found = self.headers_of_a_put(store, Bytes(b"meow"))
        assert "x-amz-checksum-crc32" in found["authorization"]

    def test_a_head_states_it(self, moto_store: S3Store) -> None:
        data = b"hello" * 1000
        moto_store.put(KEY, Bytes(data, sha256_of(data)), content_type="a/b")
        found = moto_store.stat(KEY)
        assert found is not None
        assert found.checksum == sha256_of(data)

    @pytest.mark.parametrize(
        ("tag", "stated"), [('"5d41-2"', "yv66vg=="), ('"5d41"', "yv66vg==-2")]
    )
    def test_that_of_an_upload_in_parts_is_not_taken(
        self, tag: str, stated: str, moto_store: S3Store
    ) -> None:
        """It is one of the checksums of its parts; servers mark it here, there or at both."""
        moto_store.put(KEY, Bytes(b"hello"), content_type="a/b")

        def answer(parsed: dict[str, Any], **_: Any) -> None:
            parsed |= {"ETag": tag, "ChecksumCRC32": stated}

        events = moto_store.client.meta.events
        events.register("after-call.s3.HeadObject", answer)
        try:
            found = moto_store.stat(KEY)
        finally:
            events.unregister("after-call.s3.HeadObject", answer)
        assert found is not None
        assert found.checksum is None

    def test_servers_that_refuse_checksums_get_none(self, moto_server: servers.Server) -> None:
        """The signature then covers the payload itself."""
        clients = Clients(
            session=moto_server.session(),
            endpoint_url=moto_server.endpoint,
            request_checksum_calculation="when_required",
        )
        clients.get().create_bucket(Bucket="without-checksums")
        store = S3Store(clients, "without-checksums", "tenant")
        blob = Bytes(b"meow", sha256_of(b"meow"))
        found = self.headers_of_a_put(store, blob)
        assert not any(name.startswith("x-amz-checksum") for name in found)
        assert found["x-amz-content-sha256"] == blob.digest[7:]  # type: ignore[index]


class TestPutIfAbsent:
    def test_in_parts_it_leaves_no_upload_open(self, moto_store: S3Store, monkeypatch: Any) -> None:
        in_parts(moto_store, monkeypatch)
        assert moto_store.put(KEY, Numbers(11 * MIB), content_type="a/b")
        assert not moto_store.put(KEY, Numbers(12 * MIB), content_type="a/b")
        assert moto_store.stat(KEY).size == 11 * MIB  # type: ignore[union-attr]
        assert list(moto_store.iter_uploads()) == []

    def test_sixteen_writers_have_one_winner(
        self, moto_store: S3Store, moto_server: servers.Server
    ) -> None:
        results: list[bool] = []
        deciding, proxy = threading.Lock(), Proxy(int(moto_server.endpoint.rsplit(":", 1)[1]))

        def one_by_one(exchange: Exchange) -> None:
            with deciding:  # moto looks and writes in two steps, which S3 does in one
                answer = exchange.forward()
            exchange.send(answer)

        proxy.spoil("put", one_by_one)
        clients = Clients(session=moto_server.session(), endpoint_url=proxy.endpoint)
        store = S3Store(clients, moto_store.bucket, "tenant")

        def write(number: int) -> None:
            blob = Bytes(bytes([number]) * 1000)
            results.append(store.put(KEY, blob, content_type="a/b"))

        threads = [threading.Thread(target=write, args=(n,)) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(results) == [False] * 15 + [True]
        assert len(set(moto_store.read_range(KEY, 0, 2000))) == 1
        proxy.close()

    @pytest.mark.parametrize(
        ("status", "code"), [(501, "NotImplemented"), (400, "InvalidArgument"), (400, "400")]
    )
    def test_a_server_without_conditions_is_remembered(
        self, moto_store: S3Store, monkeypatch: Any, status: int, code: str
    ) -> None:
        clients = Clients(
            session=moto_store.clients.session(),
            endpoint_url=moto_store.clients.settings.endpoint_url,
        )
        store = S3Store(clients, moto_store.bucket)
        asked: list[bool] = []
        sending = uploads.put

        def put(client: Any, target: Any, blob: Any, *, if_absent: bool, **sizes: int) -> bool:
            asked.append(if_absent)
            if if_absent:
                raise _error(status, code)
            return sending(client, target, blob, if_absent=False, **sizes)

        monkeypatch.setattr(uploads, "put", put)
        for _ in range(2):
            assert store.put("x", Bytes(b"x"), content_type="a/b")
        assert asked == [True, False, False]

    @pytest.mark.parametrize(
        ("code", "asks"), [("InvalidArgument", [True, False] * 2), ("EntityTooSmall", [True] * 2)]
    )
    def test_what_is_refused_anyway_is_told(
        self, moto_store: S3Store, monkeypatch: Any, code: str, asks: list[bool]
    ) -> None:
        asked: list[bool] = []

        def put(*_: Any, if_absent: bool, **__: Any) -> bool:
            asked.append(if_absent)
            raise _error(400, code)

        monkeypatch.setattr(uploads, "put", put)
        for _ in range(2):
            with pytest.raises(StoreError, match=code):
                moto_store.put("x", Bytes(b"x"), content_type="a/b")
        assert asked == asks

    def test_409_is_repeated(self, moto_store: S3Store, monkeypatch: Any) -> None:
        client = moto_store.client
        putting, calls = client.put_object, list[int]()

        def put_object(**request: Any) -> Any:
            calls.append(1)
            if len(calls) < 3:
                raise _error(409, "ConditionalRequestConflict")
            return putting(**request)

        monkeypatch.setattr(client, "put_object", put_object)
        assert moto_store.put(KEY, Bytes(b"x"), content_type="a/b")
        assert len(calls) == 3
        monkeypatch.setattr(client, "put_object", _raiser(409, "ConditionalRequestConflict"))
        with pytest.raises(StoreError, match="ConditionalRequestConflict"):
            moto_store.put(KEY, Bytes(b"x"), content_type="a/b")


def _error(status: int, code: str, message: str = "no") -> ClientError:
    answer: Any = {"Error": {"Code": code, "Message": message},
                   "ResponseMetadata": {"HTTPStatusCode": status}}  # fmt: skip
    return ClientError(answer, "PutObject")


def _raiser(status: int, code: str, message: str = "no") -> Any:
    def fail(**_: Any) -> None:
        raise _error(status, code, message)

    return fail


class TestAborting:
    @pytest.mark.parametrize("fails_at", [0, 5 * MIB, 10 * MIB])
    def test_an_interrupt_leaves_nothing(
        self, moto_store: S3Store, fails_at: int, monkeypatch: Any
    ) -> None:
        in_parts(moto_store, monkeypatch)
        with pytest.raises(KeyboardInterrupt):
            moto_store.put(KEY, Numbers(15 * MIB, fails_at), content_type="a/b")
        assert moto_store.stat(KEY) is None
        assert list(moto_store.iter_uploads()) == []

    def test_an_abort_that_fails_says_so(self, moto_store: S3Store, monkeypatch: Any) -> None:
        in_parts(moto_store, monkeypatch)
        client = moto_store.client
        monkeypatch.setattr(client, "upload_part", _raiser(500, "InternalError"))
        monkeypatch.setattr(client, "abort_multipart_upload", _raiser(500, "InternalError"))
        with pytest.raises(StoreError) as caught:
            moto_store.put(KEY, Numbers(6 * MIB), content_type="a/b")
        assert "sweep removes it later" in caught.value.__cause__.__notes__[0]  # type: ignore[union-attr]
        monkeypatch.undo()
        (upload,) = moto_store.iter_uploads()
        moto_store.abort_upload(upload)
        moto_store.abort_upload(upload)
        assert list(moto_store.iter_uploads()) == []

    def test_a_lost_acknowledgement_is_found_out(
        self, moto_store: S3Store, monkeypatch: Any
    ) -> None:
        in_parts(moto_store, monkeypatch)
        client = moto_store.client
        completing = client.complete_multipart_upload

        def complete(**request: Any) -> None:
            completing(**request)
            raise _error(500, "InternalError")

        monkeypatch.setattr(client, "complete_multipart_upload", complete)
        for if_absent in (True, False):
            assert moto_store.put(KEY, Numbers(11 * MIB), content_type="a/b", if_absent=if_absent)
        monkeypatch.setattr(client, "complete_multipart_upload", _raiser(500, "InternalError"))
        with pytest.raises(StoreError):  # other bytes of the same size are there
            moto_store.put(KEY, Bytes(bytes(11 * MIB)), content_type="a/b", if_absent=False)
        assert list(moto_store.iter_uploads()) == []


class TestSigning:
    def test_a_link_answers_with_type_and_disposition(self, moto_store: S3Store) -> None:
        moto_store.put(KEY, Bytes(b"hello"), content_type="application/octet-stream")
        url = moto_store.sign(KEY, expires=60, content_type="text/plain", disposition="attachment")
        assert "X-Amz-Algorithm=AWS4-HMAC-SHA256" in url
        with urllib.request.urlopen(url) as answer:
            assert answer.read() == b"hello"
            assert answer.headers["Content-Type"].startswith("text/plain")
            assert answer.headers["Content-Disposition"] == "attachment"

    @pytest.mark.dear
    def test_tampered_and_expired_links_are_refused(self, rclone_store: S3Store) -> None:
        rclone_store.put(KEY, Bytes(b"hello"), content_type="a/b")
        rclone_store.put("other", Bytes(b"secret"), content_type="a/b")
        sign = functools.partial(rclone_store.sign, KEY, content_type="a/b", disposition="inline")
        url = sign(expires=1000)
        with urllib.request.urlopen(url) as answer:
            assert answer.read() == b"hello"
        tampered = [url.replace(KEY, "other"), url.replace("a%2Fb", "text%2Fhtml"),
                    url.replace("Expires=1000", "Expires=9000")]  # fmt: skip
        for bad in tampered:
            self.is_refused(bad)
        url = sign(expires=1)
        time.sleep(2.1)
        self.is_refused(url)

    def is_refused(self, url: str) -> None:
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(url)
        caught.value.close()

    @pytest.mark.parametrize("expires", [0, -1, 7 * 24 * 3600 + 1])
    def test_links_live_up_to_seven_days(self, moto_store: S3Store, expires: int) -> None:
        with pytest.raises(LimitExceeded, match="7 days"):
            moto_store.sign(KEY, expires=expires, content_type="a/b", disposition="inline")


class TestErrors:
    def test_no_credentials(self, moto_server: servers.Server, monkeypatch: Any) -> None:
        for name, value in moto_server.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        store = open_store("s3://bucket/x", endpoint_url=moto_server.endpoint)
        with pytest.raises(AccessDenied, match="no credentials"):
            store.stat(KEY)
        with pytest.raises(AccessDenied, match="no-such-profile"):
            open_store("s3://bucket/x", profile="no-such-profile").stat(KEY)

    @pytest.mark.parametrize(
        ("status", "code", "kind", "words"),
        [
            (403, "AccessDenied", AccessDenied, "access denied"),
            (400, "ExpiredToken", AccessDenied, "credentials have expired"),
            (403, "SignatureDoesNotMatch", AccessDenied, "secret key right"),
            (503, "SlowDown", StoreError, "server is busy"),
            (429, "TooManyRequests", StoreError, "server is busy"),
            (500, "InternalError", StoreError, "InternalError"),
            (501, "NotImplemented", StoreError, "request_checksum_calculation"),
        ],
    )
    def test_answers_are_translated(
        self, status: int, code: str, kind: type, words: str, moto_store: S3Store, monkeypatch: Any
    ) -> None:
        message = "A header you provided implies functionality that is not implemented"
        failing = _raiser(status, code, message if status == 501 else "no")
        monkeypatch.setattr(moto_store.client, "put_object", failing)
        with pytest.raises(StoreError) as caught:
            moto_store.put(KEY, Bytes(b"x"), content_type="a/b", if_absent=False)
        assert type(caught.value) is kind
        assert words in str(caught.value)
        assert ("request_checksum_calculation" in str(caught.value)) is (status == 501)
        assert caught.value.key == f"tenant/{KEY}"

    @pytest.mark.parametrize(("status", "code"), [(501, "NotImplemented"), (405, "405")])
    def test_a_server_that_can_not_list_uploads(
        self, status: int, code: str, moto_store: S3Store, monkeypatch: Any
    ) -> None:
        class Paginator:
            def paginate(self, **_: Any) -> Iterator[Any]:
                _raiser(status, code)()
                yield

        monkeypatch.setattr(moto_store.client, "get_paginator", lambda _: Paginator())
        assert [*moto_store.iter_uploads()] == []


class TestSecrets:
    @pytest.mark.parametrize("option", ["key", "secret", "aws_secret_access_key", "token"])
    def test_are_no_options(self, option: str) -> None:
        with pytest.raises(StoreError, match="profile") as caught:
            open_store("s3://bucket/x", **{option: "s3cr3t"})
        assert "s3cr3t" not in str(caught.value)

    def test_are_no_part_of_an_endpoint(self) -> None:
        with pytest.raises(StoreError) as caught:
            open_store("s3://bucket/x", endpoint_url="https://key:s3cr3t@example.com")
        assert "s3cr3t" not in str(caught.value)

    def test_do_not_travel(self, moto_server: servers.Server, as_client: Any) -> None:
        as_client(moto_server)
        store = open_store("s3://bucket/x", endpoint_url=moto_server.endpoint, region="us-east-1")
        assert isinstance(store, S3Store)
        store.clients.get()
        for text in (repr(store), repr(pickle.dumps(store))):
            assert moto_server.secret_key + "s3cr3t" not in text
            assert "AWS_SECRET" not in text
        again = pickle.loads(pickle.dumps(store))
        assert again.clients.settings == store.clients.settings
        bound = S3Store(Clients(session=moto_server.session()), "bucket")
        with pytest.raises(TypeError, match="profile"):
            pickle.dumps(bound)


def _write_in_child(store: S3Store, results: Any) -> None:
    results.put((os.getpid(), store.put("child", Bytes(b"x"), content_type="a/b")))


class TestProcessesAndThreads:
    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_a_fork_makes_a_client_of_its_own(self, moto_store: S3Store) -> None:
        moto_store.put("parent", Bytes(b"x"), content_type="a/b")
        fork = multiprocessing.get_context("fork")
        results: Any = fork.Queue()
        child = fork.Process(target=_write_in_child, args=(moto_store, results))
        child.start()
        assert results.get(timeout=120) == (child.pid, True)
        child.join()
        assert moto_store.put("after", Bytes(b"x"), content_type="a/b")
        assert {each.key for each in moto_store.iter_objects()} == {"parent", "child", "after"}

    def test_threads_share_one_client(self, moto_store: S3Store) -> None:
        clients = Clients(session=moto_store.clients.session())
        found: list[Any] = []
        threads = [threading.Thread(target=lambda: found.append(clients.get())) for _ in "12345"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(map(id, found))) == 1


class TestObjects:
    @pytest.mark.dear
    def test_bytes_survive_a_restart_of_rclone(self, tmp_path: Path, as_client: Any) -> None:
        (tmp_path / "bucket").mkdir()
        port = servers.free_port()
        for attempt in range(2):
            with servers.rclone(tmp_path, port) as server:
                as_client(server)
                store = open_store("s3://bucket/x", endpoint_url=server.endpoint)
                if attempt == 0:
                    store.put(KEY, Bytes(b"hello"), content_type="a/b")
                assert b"".join(store.stream(KEY)) == b"hello"
