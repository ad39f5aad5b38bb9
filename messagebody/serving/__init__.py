"""Bodies over HTTP: an ASGI application that serves messages, and links that open one for a time.

`app` serves a message, a directory or a store. It only reads unless it is made writable, and it
answers only to names that it was given. Large parts are put at an `UploadAddress` of it before
their message.
"""

from typing import TYPE_CHECKING

from messagebody._core import face

if TYPE_CHECKING:
    from messagebody.serving._application import app
    from messagebody.serving._limits import ServingLimits
    from messagebody.serving._links import sign
    from messagebody.serving._server import run
    from messagebody.serving._upload_address import UploadAddress

__all__ = ["ServingLimits", "UploadAddress", "app", "run", "sign"]

if not TYPE_CHECKING:  # a type checker must only see the names above
    __getattr__, __dir__ = face(
        __name__,
        {
            "._application": "app",
            "._limits": "ServingLimits",
            "._links": "sign",
            "._server": "run",
            "._upload_address": "UploadAddress",
        },
        optional="._application ._server",
    )
