"""JSON values with long strings in a store, and short strings as references in their place.

A reference has the form `x-messagebody:base64;sha256=…;size=…;head=data:image/png;base64,`. A
string that begins like a reference is escaped, so that every value comes back unchanged.
"""

import os
import re
from collections.abc import Callable
from typing import Any, Final

from messagebody._core import (
    DEFAULT_LIMITS,
    MessageBody,
    Part,
    base64,
    digests_of,
    from_hex_digits,
    hex_digits,
    parse_size,
)
from messagebody.errors import DecodeError, InvalidPart, MessageBodyError
from messagebody.payloads._objects import (
    DEFAULT_MAX_BYTES,
    Batch,
    Objects,
    Stored,
    checked_threshold,
)
from messagebody.payloads._texts import Split, join_text, split_text
from messagebody.storage import Needs, Store, open_store, owned

_PREFIX: Final = "x-messagebody:"
# The escape before a caller's own string that begins like a reference; otherwise it would be
# fetched.
_LITERAL: Final = f"{_PREFIX}literal;"
_REFERENCE: Final = re.compile(
    r"x-messagebody:(text|base64|urlsafe);sha256=([0-9a-f]{64});size=([0-9]{1,15});head=(.*)",
    re.DOTALL,
)
_SMALLEST: Final = 256
"""The smallest threshold in bytes: a reference may itself have up to 400 characters."""


class Payloads:
    """JSON values with one store, for adapters that offload again and again.

    It remembers stored contents, so that a growing history is not sent again at each step.

    Arguments:
        store: a store, its URL, or a directory's path.
        threshold: strings of more bytes are stored.
        cache: bytes of fetched contents to hold in memory.
        owner: the name of the owner of the contents, for `sweep`; they lie in its place there.
        max_bytes: the most bytes that `inline` makes of one value.
        kind: what the owner is, which the store says, too.
        ask: the call that makes the owner for `sweep`.

    Raises:
        InvalidSize: the threshold is under 256 bytes, where references would save nothing.
        InvalidArgument: the owner's name is not a segment of a key.
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | Store,
        *,
        threshold: int | str = "16 KiB",
        cache: int | str = "16 MiB",
        owner: str = "payloads",
        max_bytes: int | str = DEFAULT_MAX_BYTES,
        kind: str = "payloads",
        ask: str = "payloads.owner(value)",
    ) -> None:
        self.threshold = checked_threshold(threshold, _SMALLEST)
        self.owner_name = owner
        self.objects = Objects(
            owned(open_store(store), owner, kind=kind, ask=ask),
            cache=parse_size(cache),
            max_bytes=parse_size(max_bytes),
        )

    def offload(self, value: Any) -> Any:
        """Return the value with a reference for each long string; see `payloads.offload`."""
        batch = self.objects.batch()
        small = self.named(value, batch)
        batch.write()
        return small

    def named(
        self, value: Any, batch: Batch, *, other: Callable[[object], str] | None = None
    ) -> Any:
        """Return the same as `offload`, and leave the writing to the owner of the batch.

        Arguments:
            value: a JSON value. It may hold bytes, too, if `other` is given: they become base64.
            batch: collects the contents to write.
            other: returns the text for a value that is not JSON; None refuses such values.
        """

        def replaced(text: str) -> str:
            # A character has at most four bytes, so most strings need not be encoded to compare
            # their size.
            if len(text) <= self.threshold // 4 or not self._is_long(text):
                return _LITERAL + text if text.startswith(_PREFIX) else text
            return _reference(split_text(text), batch)

        if other is None:
            return _mapped(value, replaced)

        def in_words(leaf: object) -> str:
            # Large bytes are not encoded only to be decoded again.
            if isinstance(leaf, bytes) and len(leaf) > self.threshold:
                return _reference(Split("base64", "", leaf), batch)
            return base64.encode(leaf) if isinstance(leaf, bytes) else replaced(other(leaf))

        return _mapped(value, replaced, in_words)

    def _is_long(self, text: str) -> bool:
        # JSON may hold half of a surrogate pair, which can't be encoded as UTF-8.
        return len(text.encode("utf-8", "surrogatepass")) > self.threshold

    def inline(self, value: Any) -> Any:
        """Return the value with every reference replaced by its string; see `payloads.inline`."""
        # All references are collected first, so that they are fetched together.
        found = self.objects.fetch_all(_stored_in(value))

        def replaced(text: str) -> str:
            if not text.startswith(_PREFIX):
                return text
            if text.startswith(_LITERAL):
                return text[len(_LITERAL) :]
            form, stored, head = _read(text)
            data = found[stored]
            # Raised only here, so that the error is the first in the value, not the first in time.
            if isinstance(data, MessageBodyError):
                raise data
            return join_text(form, head, data)

        return _mapped(value, replaced)

    def owner(self, value: Any) -> Needs:
        """Return the owner of the contents of a value; see `payloads.owner`."""
        return owner(value, name=self.owner_name)


def _stored_in(value: Any) -> list[Stored]:
    """Return the contents that a value refers to, as often as it does."""
    found: list[Stored] = []

    def noted(text: str) -> str:
        if text.startswith(_PREFIX) and not text.startswith(_LITERAL):
            found.append(_read(text)[1])
        return text

    _mapped(value, noted)
    return found


def offload(
    value: Any,
    store: str | os.PathLike[str] | Store,
    *,
    threshold: int | str = "16 KiB",
    owner: str = "payloads",
) -> Any:
    """Put the long strings of a JSON value into a store and return a value of the same shape.

    Arguments:
        value: any JSON value: dicts with string keys, lists, strings, numbers, true, false, null.
        store: a store, its URL, or a directory's path.
        threshold: strings of more bytes are stored, those in base64 decoded.
        owner: the name of the owner of the contents; they lie in its place in the store.

    Raises:
        InvalidSize: the threshold is under 256 bytes, where references would save nothing.
        InvalidPart: the value is not JSON, or is nested too deeply.
        StoreError: the store failed.

    Examples:
        >>> from messagebody import payloads
        >>> message = {"role": "user", "content": "cats " * 10_000}
        >>> small = payloads.offload(message, "memory://payloads")
        >>> len(small["content"]) < 150, payloads.inline(small, "memory://payloads") == message
        (True, True)
    """
    return Payloads(store, threshold=threshold, owner=owner).offload(value)


def inline(
    value: Any,
    store: str | os.PathLike[str] | Store,
    *,
    max_bytes: int | str = DEFAULT_MAX_BYTES,
    owner: str = "payloads",
) -> Any:
    """Return the value that was offloaded, its strings fetched from the store and verified.

    Arguments:
        value: what `offload` returned.
        store: the store, its URL, or a directory's path.
        max_bytes: the most bytes that come back: a short value may refer to one content often.
        owner: the name of the owner of the contents, "telemetry" for what the hook of
            OpenTelemetry wrote.

    Raises:
        DecodeError: a string looks like a reference but is not one, or too many bytes would come
            back.
        ObjectNotFound, DigestMismatch: content is gone or damaged.
        StoreError: the store failed.
    """
    return Payloads(store, max_bytes=max_bytes, owner=owner).inline(value)


def owner(value: Any, *, name: str = "payloads") -> Needs:
    """Return the owner of all that a value has in the store, for `sweep`; nothing is fetched.

    It needs what the value mentions, too: objects to which bodies in it refer, wherever these lie.

    Arguments:
        value: what `offload` returned, or a list of all of it that is still in use. It may hold
            bodies, parts and bytes.
        name: the owner's name, as it was given to `offload`.

    Raises:
        DecodeError: a string looks like a reference but is not one.
        InvalidPart: the value holds something else, or is nested too deeply.

    Examples:
        >>> from messagebody import payloads, sweep
        >>> small = payloads.offload({"content": "cats " * 10_000}, "memory://payloads")
        >>> print(sweep("memory://payloads", payloads.owner([small])))
        0 objects (0 B) and 0 unfinished uploads could be deleted
    """
    _mapped(value, _checked, _known)
    return Needs(name, digests_of(value))


def _checked(text: str) -> str:
    if text.startswith(_PREFIX) and not text.startswith(_LITERAL):
        _read(text)
    return text


def _known(leaf: object) -> str:
    if not isinstance(leaf, MessageBody | Part | bytes):
        raise _not_json(leaf)
    return ""


def _reference(pieces: Split, batch: Batch) -> str:
    stored = batch.add(pieces.data, pieces.content_type)
    facts = f"sha256={hex_digits(stored.digest)};size={stored.size};head={pieces.head}"
    return f"{_PREFIX}{pieces.form};{facts}"


def _read(text: str) -> tuple[str, Stored, str]:
    match = _REFERENCE.fullmatch(text)
    if match is None:
        raise DecodeError("a string begins like a reference of payloads, but is not one")
    return match[1], Stored(from_hex_digits(match[2]), int(match[3])), match[4]


def _mapped(
    value: Any,
    change: Callable[[str], str],
    other: Callable[[object], str] | None = None,
    depth: int = DEFAULT_LIMITS.depth,
) -> Any:
    """Return a JSON value with its strings changed; keys are left alone."""
    if isinstance(value, str):
        return change(value)
    # The caller's value may be nested deeper than Python's stack, which is a RecursionError.
    if isinstance(value, dict | list | tuple) and not depth:
        raise InvalidPart(f"the value is nested more than {DEFAULT_LIMITS.depth} levels deep")
    if isinstance(value, dict):
        return {key: _mapped(each, change, other, depth - 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(each, change, other, depth - 1) for each in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    if other is not None:
        return other(value)
    raise _not_json(value)


def _not_json(value: object) -> InvalidPart:
    return InvalidPart(f"a payload is a JSON value, got a {type(value).__name__} in it")
