"""The obstore transport: the same results, and boto3 where it fails."""

import gc
import multiprocessing
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, inline, offload
from messagebody.errors import AccessDenied, ObjectNotFound, StoreError
from messagebody.stores import Bytes
from messagebody.stores.s3 import S3FileSystem, S3Store
from messagebody.stores.s3.faults import NativeFailure
from tests import servers

KEY = "sha256/" + "a" * 64


@pytest.fixture(params=["moto", "rclone"])
def store(request: pytest.FixtureRequest) -> S3Store:
    """A store of the fixtures, seen through obstore."""
    plain: S3Store = request.getfixturevalue(f"{request.param}_store")
    server: servers.Server = request.getfixturevalue(f"{request.param}_server")
    filesystem = S3FileSystem(
        session=server.session(),
        endpoint_url=server.endpoint,
        addressing_style="path",
        response_checksum_validation="when_required",
        transport="obstore",
        attempts=1,
    )
    return S3Store(filesystem, plain.bucket, plain.prefix.rstrip("/"))


def test_bodies_come_back(store: S3Store) -> None:
    body = MessageBody(Part(bytes([n]) * 300_000 * (n + 1), name=f"/{n}") for n in range(20))
    small = offload(body, store)
    assert all(part.is_reference for part in small)
    assert inline(small, resolver=Resolver(allow=store)) == body


def test_boto3_sees_the_same(store: S3Store) -> None:
    assert store.put(KEY, Bytes(b"hello"), content_type="image/png")
    found = store.filesystem.info(f"{store.bucket}/{store.prefix}{KEY}")
    assert found["ContentType"] == "image/png"
    assert store.read_range(KEY, 1, 3) == b"el"
    assert b"".join(store.stream(KEY)) == b"hello"


def test_a_small_object_comes_in_one_piece(store: S3Store) -> None:
    """A stream of pieces costs more calls, and memory to join them."""
    content = bytes(3 * 1024 * 1024)
    assert store.put(KEY, Bytes(content), content_type="")
    assert list(store.stream(KEY)) == [content]


def test_what_is_there_is_left_alone(moto_store: S3Store, moto_server: servers.Server) -> None:
    filesystem = S3FileSystem(
        session=moto_server.session(), endpoint_url=moto_server.endpoint, transport="obstore"
    )
    store = S3Store(filesystem, moto_store.bucket)
    assert store.put(KEY, Bytes(b"old"), content_type="a/b")
    assert not store.put(KEY, Bytes(b"new"), content_type="a/b")
    assert store.read_range(KEY, 0, 9) == b"old"


def test_errors_are_boto3s(store: S3Store, rclone_server: servers.Server) -> None:
    with pytest.raises(ObjectNotFound):
        list(store.stream(KEY))
    missing = S3Store(store.filesystem, "no-such-bucket-at-all")
    with pytest.raises(ObjectNotFound, match="no such bucket"):
        missing.put(KEY, Bytes(b"x"), content_type="a/b")
    import boto3

    wrong = S3FileSystem(
        session=boto3.session.Session("rclone-key", "wrong", region_name="us-east-1"),
        endpoint_url=rclone_server.endpoint,
        transport="obstore",
    )
    with pytest.raises(AccessDenied):
        S3Store(wrong, "bucket").put(KEY, Bytes(b"x"), content_type="a/b")


def test_a_stream_lost_in_the_middle_is_no_shorter_object(
    store: S3Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: Any) -> Any:
        yield b"half"
        raise NativeFailure("GenericError")

    monkeypatch.setattr(type(store.filesystem._native), "stream", lose)
    with pytest.raises(StoreError, match="lost in the middle"):
        list(store.stream(KEY))


def _put_in_child(store: S3Store, results: Any) -> None:
    results.put(store.put("child", Bytes(b"x"), content_type="a/b"))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_goes_on_with_boto3(store: S3Store) -> None:
    store.put("parent", Bytes(b"x"), content_type="a/b")
    gc.collect()
    fork = multiprocessing.get_context("fork")
    results: Any = fork.Queue()
    child = fork.Process(target=_put_in_child, args=(store, results))
    child.start()
    assert results.get(timeout=120) is True
    child.join()
