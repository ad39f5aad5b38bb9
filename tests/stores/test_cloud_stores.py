"""Google Cloud Storage, against an emulator, where both are installed.

    pip install gcsfs gcp-storage-emulator

Azure's emulator comes from no Python registry; that store takes fsspec's contract only.
"""

import importlib
from collections.abc import Iterator

import pytest

from messagebody import MessageBody, Part, Resolver, inline, offload, sweep
from messagebody.stores import Store, open_store
from tests.servers import free_port
from tests.stores.test_file_store import Breaking

pytest.importorskip("gcsfs")
pytest.importorskip("gcp_storage_emulator")


@pytest.fixture
def store() -> Iterator[Store]:
    port = free_port()
    emulator = importlib.import_module("gcp_storage_emulator.server")
    server = emulator.create_server("127.0.0.1", port, in_memory=True, default_bucket="bucket")
    server.start()
    filesystem = importlib.import_module("gcsfs.core").GCSFileSystem(
        endpoint_url=f"http://127.0.0.1:{port}", token="anon", project="p"
    )
    yield open_store("gs://bucket/tenant", filesystem=filesystem)
    server.stop()


@pytest.mark.filterwarnings("ignore")
def test_bodies_come_back(store: Store) -> None:
    body = MessageBody(Part(bytes([n]) * size, name=f"/{n}") for n, size in enumerate((1, 9 << 20)))
    small = offload(body, store, threshold=0)
    assert small[0].url == store.url_of("sha256/" + (small[0].digest or "")[7:])
    assert offload(body, store, threshold=0) == small
    assert inline(small, resolver=Resolver(allow=store)) == body
    assert len(sweep(store, [MessageBody()], grace=-60, delete=True).objects) == 2
    assert list(store.iter_objects()) == []


@pytest.mark.filterwarnings("ignore")
def test_an_interrupt_publishes_nothing(store: Store) -> None:
    with pytest.raises(KeyboardInterrupt):
        store.put("key", Breaking(KeyboardInterrupt()), content_type="a/b")
    assert store.stat("key") is None
