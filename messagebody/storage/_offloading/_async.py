"""Async versions of offload, inline and present, which run in threads and can be cancelled."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from messagebody._base.forks import after_fork
from messagebody._base.guards import require_body
from messagebody._base.threads import PATIENCE, Pool, Stop
from messagebody._model.body import MessageBody
from messagebody.storage._offloading._inline import inline
from messagebody.storage._offloading._offload import offload
from messagebody.storage._offloading._present import present

_T = TypeVar("_T")

# Not the threads of the event loop: they also look up host names, and a store that does not answer
# must not block them.
_POOL: Final = Pool(16, "messagebody-async")
after_fork(_POOL.forget)


async def aoffload(body: MessageBody, store: Any, **options: Any) -> MessageBody:
    """Offload without blocking the event loop; see `offload`.

    The body is copied when the coroutine starts. A cancelled coroutine stops at the next buffer and
    rolls back unfinished writes; it returns within two seconds even if the store does not answer.
    """
    stop = Stop()
    return await _in_thread(
        # Copied now, because the caller may edit the body before the thread starts.
        partial(offload, require_body(body).copy(), store, stop=stop, **options),
        stop,
    )


async def ainline(body: MessageBody, **options: Any) -> MessageBody:
    """Inline without blocking the event loop; see `inline` and `aoffload`."""
    stop = Stop()
    return await _in_thread(partial(inline, require_body(body).copy(), stop=stop, **options), stop)


async def apresent(body: MessageBody, **options: Any) -> MessageBody:
    """Present without blocking the event loop; see `present`."""
    return await _in_thread(partial(present, require_body(body).copy(), **options), Stop())


async def _in_thread(work: Callable[[], _T], stop: Stop) -> _T:
    """Run work in a thread; a cancellation waits, for a limited time, until it is rolled back."""
    future = _POOL.submit(work)
    waiting = asyncio.wrap_future(future)
    try:
        # Shielded, because a cancelled future would hide whether the thread still runs.
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        stop.set()
        if not future.cancel():
            await _settled(waiting)
        _POOL.give_up([future], 0)
        raise


async def _settled(waiting: "asyncio.Future[Any]") -> None:
    deadline = time.monotonic() + PATIENCE
    while not waiting.done() and (left := deadline - time.monotonic()) > 0:
        # Ignore a second cancellation: the work ends soon, or is abandoned.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([waiting], timeout=left)
    if waiting.done() and not waiting.cancelled():
        # Retrieve the error, or asyncio would report it as never retrieved.
        waiting.exception()
