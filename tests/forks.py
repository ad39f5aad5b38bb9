"""What becomes of a process that is forked while other threads are at work."""

import os
import signal
import warnings
from collections.abc import Callable


def ends_in_a_fork(act: Callable[[], object], seconds: int = 10) -> bool:
    """Return whether an act in a forked process ends in time, without an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of other threads
        child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(seconds)
            act()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0
