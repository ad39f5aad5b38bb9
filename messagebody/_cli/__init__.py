"""The entry point of the command line, `messagebody`, which loads the rest only when it runs."""

import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command line with the arguments of the process, and exit."""
    try:
        # Loading takes a moment, and Ctrl-C must not show a traceback meanwhile.
        from messagebody._cli.application import run, terminate_on_signal

        terminate_on_signal()
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
