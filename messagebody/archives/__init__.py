"""Bodies as archives and mail: formats of bytes, with bounded reading and stable output.

`zip`, `tar` and `mime` are adapters, as `messagebody.adapters.adapter` finds them by name.
"""

from typing import TYPE_CHECKING

from messagebody._core import face

if not TYPE_CHECKING:  # a type checker must only see the modules
    __getattr__, _ = face(__name__, {})
