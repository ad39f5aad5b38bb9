"""A store with old objects of several owners."""

import os
import time
from typing import Any

from messagebody import MessageBody, Part, offload, payloads
from messagebody.storage import Store
from messagebody.storage._stores.directory import FileStore

DAY = 86_400


def age(store: FileStore, days: float = 8) -> None:
    """Have all objects that are there written some days ago."""
    then = time.time() - days * DAY
    for each in store.iter_objects():
        os.utime(store.root / each.key, (then, then))


def message(text: str, store: Store) -> MessageBody:
    """Return a message whose content is in the store."""
    return offload(MessageBody([Part(text)]), store, threshold=0)


def value(text: str, store: Store, **options: Any) -> Any:
    """Return a value whose text is in the store, in the place of an owner."""
    return payloads.offload({"text": text * 1000}, store, threshold=256, **options)
