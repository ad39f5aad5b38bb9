"""What a process that was just forked finds: locks that it can take, and no work of other threads.

Only the thread that forks lives on in the child. A lock that another thread held stays taken there
for ever, and what that thread has begun never ends.
"""

import os
import threading
from collections.abc import Callable


def after_fork(forget: Callable[[], object]) -> None:
    """Call a function in each process that is forked from this one."""
    if hasattr(os, "register_at_fork"):  # missing on systems that can't fork
        os.register_at_fork(after_in_child=forget)


def lock_for_forks() -> threading.Lock:
    """Return a lock for a module: a fork waits until it is free, so the child can take it.

    Whoever holds it takes no other lock of this kind.
    """
    lock = threading.Lock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )
    return lock
