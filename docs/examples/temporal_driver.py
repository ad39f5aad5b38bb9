"""A driver of Temporal's external storage that keeps large payloads in a store, each once."""

import asyncio
from collections.abc import Sequence

from temporalio.api.common.v1 import Payload
from temporalio.converter import StorageDriver, StorageDriverClaim

from messagebody.payloads import Objects, Stored
from messagebody.storage import open_store, owned


class BodyStorageDriver(StorageDriver):
    def __init__(self, store: object) -> None:
        self._objects = Objects(owned(open_store(store), "temporal"))

    def name(self) -> str:
        return "messagebody"

    async def store(self, context: object, payloads: Sequence[Payload]) -> list[StorageDriverClaim]:
        return await asyncio.to_thread(self._store, payloads)

    async def retrieve(
        self, context: object, claims: Sequence[StorageDriverClaim]
    ) -> list[Payload]:
        return await asyncio.to_thread(self._retrieve, claims)

    def _store(self, payloads: Sequence[Payload]) -> list[StorageDriverClaim]:
        batch = self._objects.batch()
        named = [batch.add(each.SerializeToString(deterministic=True)) for each in payloads]
        batch.write()
        return [StorageDriverClaim({"digest": n.digest, "size": str(n.size)}) for n in named]

    def _retrieve(self, claims: Sequence[StorageDriverClaim]) -> list[Payload]:
        wanted = [Stored(c.claim_data["digest"], int(c.claim_data["size"])) for c in claims]
        found = self._objects.fetch_all(wanted)
        for content in found.values():
            if isinstance(content, Exception):
                raise content
        return [Payload.FromString(found[each]) for each in wanted]
