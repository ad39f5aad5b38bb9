"""A session of the OpenAI Agents SDK whose long contents are in a store."""

import asyncio
import os
from typing import Any, Final

from messagebody.errors import MissingDependency
from messagebody.payloads import Payloads
from messagebody.storage import Needs, Store

try:
    from agents.memory.session import SessionABC
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.openai_agents", "openai-agents") from error


_ALL: Final = 2**31 - 1


class OffloadingSession(SessionABC):  # type: ignore[misc]
    """A session around another one, which keeps references in place of long strings.

    Pictures and tool results are in the store once, decoded. Items come back exactly as they were
    added. Compaction reads items, so put it outside:
    `OpenAIResponsesCompactionSession(…, underlying_session=OffloadingSession(…))`.

    Arguments:
        session: the session that keeps the items, such as a `SQLiteSession`.
        store: a store, its URL, or a directory's path.
        threshold: strings of more bytes are stored.
        owner: the name of the owner of the contents, for `sweep`; they lie in its place there.

    Raises:
        InvalidSize: the threshold is under 256 bytes.
    """

    def __init__(
        self,
        session: SessionABC,
        store: str | os.PathLike[str] | Store,
        *,
        threshold: int | str = "16 KiB",
        owner: str = "sessions",
    ) -> None:
        self.session_id = session.session_id
        self.session_settings = session.session_settings
        self._session = session
        ask = "await session.owner() of each session"
        self._payloads = Payloads(store, threshold=threshold, owner=owner, kind="sessions", ask=ask)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the last items, or all, with their contents.

        Raises:
            ObjectNotFound, DigestMismatch: content is gone or damaged.
        """
        items = await self._session.get_items(limit)
        # Stores block, and the event loop of the agent must not be blocked.
        return await asyncio.to_thread(self._payloads.inline, items)

    async def add_items(self, items: list[Any]) -> None:
        """Add items; nothing is added if the store fails.

        Raises:
            StoreError: the store failed.
        """
        # Contents are stored first, because items must never refer to missing contents.
        await self._session.add_items(await asyncio.to_thread(self._payloads.offload, items))

    async def pop_item(self) -> Any:
        """Remove and return the last item, None if there is none."""
        item = await self._session.pop_item()
        return None if item is None else await asyncio.to_thread(self._payloads.inline, item)

    async def owner(self) -> Needs:
        """Return the owner of the contents of all items, for `sweep`.

        Give `sweep` those of every session that has the same owner.
        """
        # All items: without a limit, the session's own one may leave older items out.
        return self._payloads.owner(await self._session.get_items(limit=_ALL))

    async def clear_session(self) -> None:
        """Remove all items; their contents stay in the store until `sweep` removes them."""
        await self._session.clear_session()
