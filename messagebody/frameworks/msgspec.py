"""Hooks of msgspec for bodies and parts; Litestar takes them as well.

msgspec calls a hook for every type that it does not know. Pass it these two:

    >>> import msgspec
    >>> from messagebody import MessageBody
    >>> from messagebody.frameworks.msgspec import dec_hook, enc_hook
    >>> class Task(msgspec.Struct):
    ...     body: MessageBody
    >>> task = Task(MessageBody.from_dicts([{"content": "Hello"}]))
    >>> msgspec.json.encode(task, enc_hook=enc_hook)
    b'{"body":[{"contentType":"text/plain","content":"Hello"}]}'
    >>> document = b'{"body":[{"content":"Hello"}]}'
    >>> msgspec.json.decode(document, type=Task, dec_hook=dec_hook) == task
    True
"""

from typing import Any

from messagebody.frameworks import values


def enc_hook(value: Any) -> Any:
    """Return a body or part as JSON values.

    Raises:
        NotImplementedError: the value is something else; msgspec expects this error.
    """
    if not values.is_known(type(value)):
        raise NotImplementedError(f"can't encode {type(value).__name__}")
    return values.to_values(value)


def dec_hook(kind: type, value: Any) -> Any:
    """Return the body or part of JSON values.

    Arguments:
        kind: the declared type.
        value: the value in the document.

    Raises:
        DecodeError: the value is not one; msgspec adds the place.
        NotImplementedError: another type is declared; msgspec expects this error.
    """
    if not values.is_known(kind):
        raise NotImplementedError(f"can't decode {kind.__name__}")
    return values.from_values(kind, value)
