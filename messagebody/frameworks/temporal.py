"""A driver for Temporal's external storage: payloads are stored by digest, each once.

It is better to offload a body before you pass it as an argument: then each part is stored once, but
a payload is stored as a whole. The driver handles other large payloads.
"""

import asyncio
import os
from collections.abc import Iterable, Sequence
from typing import Any

from messagebody._base.digests import is_digest
from messagebody.errors import DecodeError, MessageBodyError, MissingDependency
from messagebody.payloads import Objects, Stored
from messagebody.storage._offloading._owners import Needs
from messagebody.storage._stores import Store, open_store
from messagebody.storage._stores.owners import owned

try:
    from temporalio.api.common.v1 import Payload
    from temporalio.converter import StorageDriver, StorageDriverClaim
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.temporal", "temporal") from error


class BodyStorageDriver(StorageDriver):  # type: ignore[misc]
    """A driver for `ExternalStorage(drivers=[…])` that keeps payloads in a store.

    Temporal calls its interface experimental.

    Arguments:
        store: a store, its URL, or a directory's path.
        name: the name by which the driver is found when payloads are read.
        owner: the name of the owner of the payloads, for `sweep`; they lie in its place there.
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | Store,
        *,
        name: str = "messagebody",
        owner: str = "temporal",
    ) -> None:
        self._name = name
        self._owner = owner
        ask = "driver.owner(claims) or storage.Recent(name, seconds)"
        self._objects = Objects(owned(open_store(store), owner, kind="temporal", ask=ask))

    def name(self) -> str:
        """Return the name that claims carry."""
        return self._name

    def type(self) -> str:
        """Return the name of this kind of driver, which is the same in every language."""
        return "messagebody"

    async def store(self, context: Any, payloads: Sequence[Payload]) -> list[StorageDriverClaim]:
        """Store payloads and return a claim for each: digest and size.

        Raises:
            StoreError: the store failed.
        """
        return await asyncio.to_thread(self._store, payloads)

    def _store(self, payloads: Sequence[Payload]) -> list[StorageDriverClaim]:
        batch = self._objects.batch()
        named = [batch.add(each.SerializeToString(deterministic=True)) for each in payloads]
        batch.write()
        return [
            StorageDriverClaim({"digest": each.digest, "size": str(each.size)}) for each in named
        ]

    async def retrieve(self, context: Any, claims: Sequence[StorageDriverClaim]) -> list[Payload]:
        """Return the payloads of claims, verified.

        Raises:
            ObjectNotFound, DigestMismatch: a payload is gone or damaged.
            DecodeError: a claim is not one of this driver's.
        """
        return await asyncio.to_thread(self._retrieve, claims)

    def owner(self, claims: Iterable[StorageDriverClaim]) -> Needs:
        """Return the owner of the payloads of claims, for `sweep`.

        A workflow that has ended needs nothing after its retention time, so
        `storage.Recent("temporal", seconds)` may do without claims.

        Raises:
            DecodeError: a claim is not one of this driver's.
        """
        return Needs(self._owner, [_stored(claim).digest for claim in claims])

    def _retrieve(self, claims: Sequence[StorageDriverClaim]) -> list[Payload]:
        wanted = [_stored(claim) for claim in claims]
        found = self._objects.fetch_all(wanted)
        payloads = []
        for each in wanted:
            data = found[each]
            if isinstance(data, MessageBodyError):
                raise data
            payloads.append(Payload.FromString(data))
        return payloads


def _stored(claim: StorageDriverClaim) -> Stored:
    digest, size = claim.claim_data.get("digest"), claim.claim_data.get("size", "")
    if not is_digest(digest) or not (size.isascii() and size.isdigit() and len(size) < 16):
        raise DecodeError("a claim of external storage has no digest and size")
    return Stored(digest, int(size))
