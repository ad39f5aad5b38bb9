"""Tools of a reader or a draft as a toolset of pydantic-ai, and conversations in a store.

The store of a conversation keeps each message once. An `OffloadingConversationStore` around it
keeps large contents of messages in another store, where a repeated picture is one object.
"""

import asyncio
import copy
import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import Any, Final

from messagebody._core import base64, digests_of
from messagebody.errors import InvalidArgument, MissingDependency
from messagebody.payloads import Payloads
from messagebody.prompts import Toolbox, description_of, parameters_of, require_toolbox
from messagebody.storage import Needs, Store

try:
    from pydantic_ai import FunctionToolset, Tool
    from pydantic_ai.conversation_store import (
        ConversationEntry,
        ConversationRecord,
        ConversationStore,
    )
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.pydantic_ai", "pydantic-ai") from error

_STORED_BYTES: Final = b"x-messagebody:base64;"


def toolset(toolbox: Toolbox) -> "FunctionToolset[Any]":
    """Return the tools of a `Reader` or a `Draft`, for `Agent(toolsets=[…])`.

    Arguments:
        toolbox: the reader or draft.

    Raises:
        InvalidArgument: it is something else.
    """
    return FunctionToolset(
        [
            Tool.from_schema(
                function,
                name=function.__name__,
                description=description_of(function),
                json_schema=parameters_of(function),
            )
            for function in require_toolbox(toolbox).functions
        ]
    )


class OffloadingConversationStore(ConversationStore):  # type: ignore[misc]
    """A store of conversations around another one, which keeps references in place of contents.

    Pictures, files and long texts of messages are in the store once, even if several conversations
    have them. Messages come back as they were saved.

    Arguments:
        conversations: the store that keeps records and messages.
        store: the store of contents: a store, its URL, or a directory's path.
        threshold: texts and bytes of more bytes are stored.
        owner: the name of the owner of the contents, for `sweep`; they lie in its place there.

    Raises:
        InvalidSize: the threshold is under 256 bytes.
        InvalidArgument: `conversations` is not a store of conversations.
    """

    def __init__(
        self,
        conversations: ConversationStore,
        store: str | os.PathLike[str] | Store,
        *,
        threshold: int | str = "16 KiB",
        owner: str = "conversations",
    ) -> None:
        if not isinstance(conversations, ConversationStore):
            raise InvalidArgument("a ConversationStore", conversations)
        self._conversations = conversations
        kind, ask = "conversations", "await conversations.owner()"
        self._payloads = Payloads(store, threshold=threshold, owner=owner, kind=kind, ask=ask)

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """Return the record of a conversation, None if there is none."""
        return await self._conversations.read_record(conversation_id)

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        """Return the records, newest first."""
        records: Sequence[ConversationRecord]
        records = await self._conversations.read_records(scope=scope, limit=limit)
        return records

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Store a record and its new messages; nothing is stored if the store of contents fails.

        Raises:
            StoreError: the store failed.
        """
        # Contents are stored first, because a record with missing contents could never be read
        # again.
        small = await asyncio.to_thread(self._offload, new_entries)
        await self._conversations.write_record(
            record, new_entries=small, expected_revision=expected_revision
        )

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Delete a conversation; its contents stay in the store."""
        await self._conversations.delete_record(
            conversation_id, expected_revision=expected_revision
        )

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """Return one message.

        Raises:
            ObjectNotFound, DigestMismatch: content is gone or damaged.
        """
        entry = await self._conversations.read_entry(entry_id)
        [whole] = await asyncio.to_thread(self._inline, [entry])
        return whole

    async def read_history(
        self, head_id: str | None, *, limit: int | None = None
    ) -> list[ConversationEntry]:
        """Return the messages up to one, in order; their contents are fetched in parallel.

        Raises:
            ObjectNotFound, DigestMismatch: content is gone or damaged.
        """
        entries = await self._conversations.read_history(head_id, limit=limit)
        return await asyncio.to_thread(self._inline, entries)

    async def owner(self) -> Needs:
        """Return the owner of the contents of all conversations, for `sweep`.

        What no conversation's history reaches any more is not needed.
        """
        needed: set[str] = set()
        for record in await self._conversations.read_records():
            history = await self._conversations.read_history(record.head_id)
            needed.update(digests_of([record, history]))
        return Needs(self._payloads.owner_name, sorted(needed))

    def _offload(self, entries: Sequence[ConversationEntry]) -> list[ConversationEntry]:
        def as_text(leaf: str | bytes) -> str:
            if isinstance(leaf, str):
                return leaf
            # Payloads are texts, so large bytes are passed as base64, which is stored decoded.
            is_large = len(leaf) > self._payloads.threshold
            # Latin-1 has a character for every byte, so small bytes come back unchanged.
            return base64.encode(leaf) if is_large else leaf.decode("latin-1")

        def changed(leaf: str | bytes, text: str) -> str | bytes:
            return text if isinstance(leaf, str) else text.encode("latin-1")

        small: list[ConversationEntry]
        small = _with_leaves([*entries], as_text, self._payloads.offload, changed)
        return small

    def _inline(self, entries: Sequence[ConversationEntry]) -> list[ConversationEntry]:
        def as_text(leaf: str | bytes) -> str:
            return leaf if isinstance(leaf, str) else leaf.decode("latin-1")

        def changed(leaf: str | bytes, text: str) -> str | bytes:
            if isinstance(leaf, str):
                return text
            is_stored = leaf.startswith(_STORED_BYTES)
            return base64.decode(text) if is_stored else text.encode("latin-1")

        whole: list[ConversationEntry]
        whole = _with_leaves([*entries], as_text, self._payloads.inline, changed)
        return whole


def _with_leaves(
    value: Any,
    as_text: Callable[[str | bytes], str],
    change: Callable[[list[str]], list[str]],
    changed: Callable[[str | bytes, str], str | bytes],
) -> Any:
    """Return a value with all of its texts and bytes changed together, so that I/O is parallel."""
    found: list[str] = []

    def note(leaf: str | bytes) -> str | bytes:
        found.append(as_text(leaf))
        return leaf

    # Two passes over the value: the first collects its leaves, the second replaces them in order.
    _mapped(value, note)
    texts = iter(change(found))
    return _mapped(value, lambda leaf: changed(leaf, next(texts)))


def _mapped(value: Any, change: Callable[[str | bytes], str | bytes]) -> Any:
    """Return a copy of messages with their texts and bytes changed, in the same types."""
    kind = type(value)
    # Not `isinstance`, because an enum that is a string would come back as a plain string.
    if kind is str or kind is bytes:
        return change(value)
    if kind is list or kind is tuple:
        return kind(_mapped(each, change) for each in value)
    if kind is dict:
        return {key: _mapped(each, change) for key, each in value.items()}
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    mapped = copy.copy(value)
    for field in dataclasses.fields(value):
        # Entries are frozen, and the constructors of messages would check and change their
        # arguments.
        object.__setattr__(mapped, field.name, _mapped(getattr(value, field.name), change))
    return mapped
