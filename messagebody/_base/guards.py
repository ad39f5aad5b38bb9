"""Guards of the public functions: they refuse arguments of a wrong type.

All errors have the same form: what was expected, what came, and what the caller probably meant.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from messagebody._base.leaves import leaf
from messagebody._base.limits import Limits
from messagebody._base.text import quote, redact_url
from messagebody.errors import InvalidArgument

_T = TypeVar("_T")
# Python would take it for a path: of a directory "s3:" that is not there, or that it makes.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_TOKEN = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_JSON_TEXT = (str, bytes, bytearray, memoryview)


def require_body(value: _T) -> _T:
    """Return a body.

    Raises:
        InvalidArgument: it is something else; says how a body is made of it.
    """
    if isinstance(value, leaf("MessageBody")):
        return value
    raise InvalidArgument("a MessageBody", value, _body_hint(value))


def require_parts(values: Any) -> Any:
    """Return a body, or another iterable of parts.

    Raises:
        InvalidArgument: it is something else; says how a body is made of it.
    """
    if isinstance(values, leaf("MessageBody")):
        return values
    no_parts = (*_JSON_TEXT, Mapping, os.PathLike, leaf("MessageBodySchema"))
    if isinstance(values, no_parts) or not isinstance(values, Iterable):
        raise InvalidArgument("a MessageBody", values, _body_hint(values))
    # Checked before anything is done with them, so that the error comes from the call.
    if isinstance(values, Collection):
        for value in values:
            _check_element(value)
        return values
    return _checked(values)


def _checked(values: Iterable[Any]) -> Iterator[Any]:
    # An iterator can be read only once, so it is checked while it is read.
    for value in values:
        _check_element(value)
        yield value


def require_iterable(
    values: _T, expected: str = "parts in a list", *, hint: str | None = None
) -> _T:
    """Return an iterable, without checking its items.

    Arguments:
        values: the iterable.
        expected: the items that are expected.
        hint: what to write instead; by default, how to make a body of the value.

    Raises:
        InvalidArgument: it is not iterable, or its items are characters or keys.
    """
    if isinstance(values, list | tuple):  # nearly always; the checks below take ten times longer
        return values
    # These are iterable, but their items are characters and keys, and so not what the caller means.
    if isinstance(values, (*_JSON_TEXT, Mapping)) or not isinstance(values, Iterable):
        raise InvalidArgument(expected, values, _body_hint(values) if hint is None else hint)
    return values


def require_executor(executor: object) -> None:
    """Require an executor of the standard library's kind, or None.

    Raises:
        InvalidArgument: it is something else.
    """
    if executor is None:
        return
    from concurrent.futures import Executor  # few calls need it, and each import pays for it

    if not isinstance(executor, Executor):
        hint = "client.get_executor() of a Dask client is one"
        raise InvalidArgument("a concurrent.futures.Executor", executor, hint)


def require_bytes(value: _T) -> _T:
    """Return bytes, or an object with a buffer of bytes.

    Raises:
        InvalidArgument: it is something else.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return value
    raise InvalidArgument("bytes", value, "encode text first" if isinstance(value, str) else "")


def require_path(value: _T) -> _T:
    """Return a path of a file.

    Raises:
        InvalidArgument: it is something else, such as a URL.
    """
    if isinstance(value, str) and is_url(value):
        hint = "load(…) and save(…) take the URL of a store, such as s3://bucket/m.json"
        if not is_store_url(value):
            hint += "; MessageBody.load(url, resolver=Resolver(allow=[…])) reads from a web server"
        raise InvalidArgument("a path of a file", got=quote(redact_url(value)), hint=hint)
    if isinstance(value, str | os.PathLike):
        return value
    raise InvalidArgument("a path of a file", value)


def is_store_url(value: Any) -> bool:
    """Return whether a value is a URL that a store may have: any but those of web servers."""
    return isinstance(value, str) and is_url(value) and not is_web_url(value)


def is_web_url(value: Any) -> bool:
    """Return whether a value is a URL of a web server."""
    return isinstance(value, str) and is_url(value) and value.lower().startswith("http")


def is_url(text: str) -> bool:
    """Return whether a text that stands where a path does is a URL."""
    return _URL.match(text) is not None


def schema_of_parts(value: _T) -> _T:
    """Return the schema that `MessageBodySchema(…)` makes of a list or tuple; else the value."""
    return leaf("MessageBodySchema")(value) if isinstance(value, list | tuple) else value


def require_schema(value: _T) -> _T:
    """Return a schema.

    Raises:
        InvalidArgument: it is something else; says how a schema is made of it.
    """
    if isinstance(value, leaf("MessageBodySchema")):
        return value
    raise InvalidArgument("a MessageBodySchema", value, _schema_hint(value))


def require_token(value: _T) -> _T:
    """Return a token that an Authorization header can hold.

    Raises:
        InvalidArgument: it is something else; says what is wrong with it, and not the token.
    """
    expected = "a token of printable ASCII characters"
    if not isinstance(value, str):
        raise InvalidArgument(expected, value)
    if _TOKEN.fullmatch(value) is not None:
        return value
    if not value.strip():
        raise InvalidArgument(expected, got="none")
    if value != value.strip():
        got = "text with spaces or line ends around it"
        raise InvalidArgument(expected, got=got, hint="a token from a file needs strip()")
    raise InvalidArgument(expected, got="several lines, or other characters")


def require_resolver(value: _T, *, optional: bool = True) -> _T:
    """Return a resolver, or None for the closed default.

    Arguments:
        value: the resolver.
        optional: whether None is allowed; some functions have nothing to do without a resolver.

    Raises:
        InvalidArgument: it is something else; says how a resolver is made of it.
    """
    if (optional and value is None) or isinstance(value, leaf("Resolver")):
        return value
    raise InvalidArgument("a Resolver", value, "Resolver(allow=[…]) takes URLs, paths and stores")


def require_limits(value: Limits) -> Limits:
    """Return the limits of a reader.

    Raises:
        InvalidArgument: it is something else; says how limits are made.
    """
    if isinstance(value, Limits):
        return value
    raise InvalidArgument("Limits", value, "Limits(json_bytes=…) changes one, Limits() none")


def _body_hint(value: object) -> str:
    if isinstance(value, _JSON_TEXT):
        takes = "MessageBody([text]) holds a text"
        return f"{takes}, MessageBody.from_json(…) reads JSON, MessageBody.load(…) a file"
    if isinstance(value, os.PathLike):
        return "MessageBody.load(…) reads a file, MessageBody([Path(…)]) holds one"
    if isinstance(value, leaf("MessageBodySchema")):
        return "this is a schema"
    if isinstance(value, Mapping) and value and all(str(each)[:1] == "/" for each in value):
        return "MessageBody([Part(content, name=name) for name, content in ….items()]) takes names"
    if isinstance(value, Mapping | list | tuple):
        return "MessageBody.from_dicts(…) reads parsed JSON, MessageBody([…]) takes parts"
    return "MessageBody([…]) takes parts" if hasattr(value, "content_type") else ""


def _check_element(value: Any) -> None:
    # Streams and views pass their own values, which look like parts.
    if hasattr(value, "content_type"):
        return
    hint = "MessageBody.from_dicts(…) reads dicts" if isinstance(value, Mapping) else ""
    if isinstance(value, leaf("MessageBody")):
        hint = "pass each body by itself, not in a list"
    raise InvalidArgument("a MessageBody", got=f"{type(value).__name__} in a list", hint=hint)


def model_hint(value: object) -> str:
    """Return how a schema is made of a model of contents; empty if it is none."""
    if not isinstance(value, type) and not hasattr(value, "core_schema"):
        return ""
    name = getattr(value, "__name__", "model")
    part = f"SchemaPart(required=True, content_schema={name})"
    return f"MessageBodySchema([{part}]) asks for a part of JSON as this model describes it"


def _schema_hint(value: object) -> str:
    if isinstance(value, _JSON_TEXT):
        return "MessageBodySchema.from_json(…) reads JSON, MessageBodySchema.load(…) a file"
    if isinstance(value, os.PathLike):
        return "MessageBodySchema.load(…) reads a file"
    if isinstance(value, leaf("MessageBody")):
        asks = "this is a body, and schema.is_valid(body) asks about it"
        return f"{asks}; MessageBodySchema.infer(body) makes a schema of examples"
    if isinstance(value, Mapping | list | tuple):
        return "MessageBodySchema(…) takes schema parts, dicts and tuples"
    return model_hint(value)
