"""Work that takes long, for few requests at a time: small ones are answered meanwhile."""

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from starlette.concurrency import run_in_threadpool

_P = ParamSpec("_P")
_T = TypeVar("_T")
_AT_ONCE: Final = 2
_turns: Final = WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]()
"""Whose turn it is in each event loop."""


async def at_length(call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Return what a call returns that may take seconds: in a thread, when it is its turn.

    The threads of the pool are for what is short. If forty clients could fill them with large
    messages, nobody else would get the smallest part.

    Arguments:
        call: what is called.
        *args: its arguments.
        **kwargs: its arguments by name.
    """
    loop = asyncio.get_running_loop()
    async with _turns.setdefault(loop, asyncio.Semaphore(_AT_ONCE)):
        return await run_in_threadpool(call, *args, **kwargs)
