"""The store over obstore that the documentation shows, tested like the others."""

import runpy
from pathlib import Path
from typing import Any

import pytest
from obstore.store import MemoryStore, S3Store

import messagebody.s3
from messagebody import MessageBody, Part, Resolver, inline, offload
from messagebody.errors import MessageBodyError, StoreError
from messagebody.storage import Store
from messagebody.testing import StoreContract
from tests import servers

pytestmark = pytest.mark.dear

EXAMPLE = Path(__file__).parents[2] / "docs/examples/obstore_store.py"
ObstoreStore: Any = runpy.run_path(str(EXAMPLE))["ObstoreStore"]


def over_s3(server: servers.Server, bucket: str, prefix: str) -> Any:
    return S3Store(
        bucket,
        prefix=prefix,
        endpoint=server.endpoint,
        region=servers.REGION,
        access_key_id=server.access_key,
        secret_access_key=server.secret_key,
        client_options={"allow_http": True, "timeout": "20s"},
        retry_config={"max_retries": 0},
    )


class TestObstore(StoreContract):
    writes_once = False  # moto looks first, and writes then

    @pytest.fixture
    def store(self, moto_store: messagebody.s3.S3Store, moto_server: servers.Server) -> Store:
        prefix = moto_store.prefix.rstrip("/")
        found: Store = ObstoreStore(over_s3(moto_server, moto_store.bucket, prefix), moto_store.url)
        return found

    @pytest.fixture
    def failing_store(self) -> Store:
        nowhere = servers.Server(f"http://127.0.0.1:{servers.free_port()}", "key", "secret")
        found: Store = ObstoreStore(over_s3(nowhere, "bucket", ""), "s3://bucket")
        return found

    def test_references_are_those_of_boto3(
        self, store: Store, moto_store: messagebody.s3.S3Store
    ) -> None:
        """So a program with either store reads what the other one wrote."""
        body = MessageBody([Part(bytes(9_000_000)), Part("cats " * 500)])
        for writer, reader in ((store, moto_store), (moto_store, store)):
            small = offload(body, writer, threshold=0)
            assert inline(small, all=True, resolver=Resolver(allow=reader)) == body


class TestInMemory(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        found: Store = ObstoreStore(MemoryStore(), "obstore://memory")
        return found


def test_errors_show_no_secrets() -> None:
    nowhere = servers.Server(f"http://127.0.0.1:{servers.free_port()}", "key", "my-secret")
    store = ObstoreStore(over_s3(nowhere, "bucket", ""), "s3://bucket")
    for call in (store.stat, store.delete, lambda key: [*store.stream(key)]):
        with pytest.raises(StoreError) as caught:
            call("sha256/a")
        assert isinstance(caught.value, MessageBodyError)
        assert "Signature" not in str(caught.value)
