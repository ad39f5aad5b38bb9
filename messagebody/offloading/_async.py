"""The async twins: the same work in a thread, cancelled cleanly."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from messagebody.body import MessageBody
from messagebody.offloading._inline import inline
from messagebody.offloading._jobs import Stop
from messagebody.offloading._offload import offload
from messagebody.offloading._present import present

_T = TypeVar("_T")


async def aoffload(body: MessageBody, store: Any, **options: Any) -> MessageBody:
    """Offload without blocking the event loop; see `offload`.

    Cancelled, it stops at the next buffer, undoes what it began, and only then returns.
    """
    stop = Stop()
    return await _in_thread(partial(offload, body, store, stop=stop, **options), stop)


async def ainline(body: MessageBody, **options: Any) -> MessageBody:
    """Inline without blocking the event loop; see `inline`."""
    stop = Stop()
    return await _in_thread(partial(inline, body, stop=stop, **options), stop)


async def apresent(body: MessageBody, **options: Any) -> MessageBody:
    """Present without blocking the event loop; see `present`."""
    return await _in_thread(partial(present, body, **options), Stop())


async def _in_thread(work: Callable[[], _T], stop: Stop) -> _T:
    """Run work on the loop's bounded threads; never leave it running behind a cancellation."""
    begun = threading.Event()

    def run() -> _T:
        begun.set()
        stop.check()
        return work()

    future = asyncio.get_running_loop().run_in_executor(None, run)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stop.set()
        # What still waits for a thread is dropped: should it begin after all, it ends at once.
        if begun.is_set():
            await _settled(future)
        else:
            future.cancel()
        raise


async def _settled(future: "asyncio.Future[Any]") -> None:
    while not future.done():
        # A second cancellation changes nothing: the work ends soon, and has to.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([future])
    future.exception()
