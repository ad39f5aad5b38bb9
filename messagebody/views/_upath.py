"""Bodies as `pathlib` paths: the class that universal-pathlib loads for `messagebody:`."""

from upath import UPath

import messagebody  # noqa: TC001 - annotations may be evaluated at runtime


class MessageBodyPath(UPath):
    """A path to a part or directory of a body.

    Examples:
        >>> from messagebody import MessageBody, Part
        >>> body = MessageBody([Part("meow", name="/sources/1.txt")])
        >>> [path.name for path in body.path("/sources").iterdir()]
        ['1.txt']
        >>> body.path("/sources/1.txt").read_text()
        'meow'
    """

    __slots__ = ()


def path_into(body: "messagebody.MessageBody", name: str) -> UPath:
    """Return a `UPath` at a name in a body."""
    return UPath(name, protocol="messagebody", body=body)
