"""Google Cloud Storage and Azure against their emulators, where those are installed.

`make test ENV=cloud` installs and runs them; Azure's needs node. Without an emulator they skip.
"""

import base64
import importlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, fetch, inline, migrate, offload, sweep, verify
from messagebody.errors import ObjectNotFound, StoreError
from messagebody.storage import Bodies, Bytes, Store, open_store
from messagebody.testing import StoreContract
from tests.servers import free_port, running
from tests.storage.test_directory import Breaking

pytestmark = pytest.mark.filterwarnings("ignore")  # the clients' own

KEY = "sha256/" + "a" * 64
BUCKET = "bucket"
ACCOUNT, ACCOUNT_KEY = "tester", base64.b64encode(b"no secret at all").decode()


def _azurite() -> str | None:
    beside = Path(sys.prefix) / "azurite" / "node_modules" / ".bin" / "azurite-blob"
    return os.environ.get("AZURITE") or shutil.which("azurite-blob") or (
        str(beside) if beside.exists() else None)  # fmt: skip


@pytest.fixture(scope="session")
def google() -> Iterator[Any]:
    pytest.importorskip("gcsfs")
    emulator: Any = pytest.importorskip("gcp_storage_emulator.server")
    port = free_port()
    server = emulator.create_server("127.0.0.1", port, in_memory=True, default_bucket=BUCKET)
    server.start()
    yield importlib.import_module("gcsfs.core").GCSFileSystem(
        endpoint_url=f"http://127.0.0.1:{port}", token="anon", project="p"
    )
    server.stop()


@pytest.fixture(scope="session")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    adlfs: Any = pytest.importorskip("adlfs")
    emulator = _azurite()
    if emulator is None:
        pytest.skip("azurite is not installed")
    port = free_port()
    command = [
        emulator, "--blobPort", str(port), "--silent", "--disableTelemetry",
        "--skipApiVersionCheck", "--location", str(tmp_path_factory.mktemp("azure")),
    ]  # fmt: skip
    accounts = os.environ | {"AZURITE_ACCOUNTS": f"{ACCOUNT}:{ACCOUNT_KEY}"}
    with running(command, port, env=accounts):
        endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
        filesystem = adlfs.AzureBlobFileSystem(
            connection_string=f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};"
            f"AccountKey={ACCOUNT_KEY};BlobEndpoint={endpoint};"
        )
        filesystem.mkdir(BUCKET)
        yield filesystem


@pytest.fixture(params=["google", "azure"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    filesystem = request.getfixturevalue(request.param)
    scheme = {"google": "gs", "azure": "abfs"}[request.param]
    store = open_store(f"{scheme}://{BUCKET}/tenant", filesystem=filesystem)
    yield store
    for found in list(store.iter_objects()):
        store.delete(found.key)


class TestContract(StoreContract):
    """fsspec has no exclusive creation."""

    writes_once = False

    @pytest.fixture
    def store(self, store: Store) -> Store:
        return store


def large_body() -> MessageBody:
    return MessageBody(Part(bytes([n]) * size, name=f"/{n}") for n, size in enumerate((1, 9 << 20)))


def test_bodies_come_back(store: Store, tmp_path: Path) -> None:
    body, resolver = large_body(), Resolver(allow=store)
    small = offload(body, store, threshold=0)
    assert small[0].url == store.url_of("sha256/" + (small[0].digest or "")[7:])
    assert offload(body, store, threshold=0) == small
    assert verify(small, resolver=resolver)
    assert inline(small, resolver=resolver) == body
    assert fetch(small[1], tmp_path / "file", resolver=resolver).stat().st_size == 9 << 20
    moved = migrate(small, tmp_path / "store", source=store)
    assert migrate(moved, store, source=tmp_path / "store") == small


def test_sweep(store: Store) -> None:
    offload(large_body(), store, threshold=0)
    assert not sweep(store, Bodies(MessageBody()), delete=True).objects  # all of it is young
    swept = sweep(
        store, Bodies(MessageBody()), grace=-60, delete=True, unsafe=True, everything=["messages"]
    )
    assert len(swept.objects) == 2
    assert list(store.iter_objects()) == []


@pytest.mark.parametrize(
    ("error", "size"), [(KeyboardInterrupt(), 20 << 20), (OSError(5, "Input/output error"), 1)]
)
def test_a_failure_publishes_nothing(store: Store, error: BaseException, size: int) -> None:
    with pytest.raises((KeyboardInterrupt, StoreError)):
        store.put(KEY, Breaking(error, size), content_type="a/b")
    assert store.stat(KEY) is None


def test_content_types_are_kept(store: Store) -> None:
    store.put(KEY, Bytes(b"x"), content_type="image/png")
    info = store.filesystem.info(f"{BUCKET}/tenant/{KEY}")  # type: ignore[attr-defined]
    settings = info.get("content_settings") or {}
    assert (info.get("contentType") or settings.get("content_type")) == "image/png"


def test_no_such_bucket(store: Store) -> None:
    filesystem = store.filesystem  # type: ignore[attr-defined]
    nowhere = open_store(store.url.replace(BUCKET, "nowhere"), filesystem=filesystem)
    with pytest.raises(StoreError):
        offload(large_body(), nowhere)
    with pytest.raises(ObjectNotFound):
        list(nowhere.stream(KEY))
