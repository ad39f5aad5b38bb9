"""A serializer for LangGraph whose checkpoints hold references in place of large contents.

A checkpointer writes the whole state at each step, so thirty turns of a chat with pictures write
each picture dozens of times. With this serializer, each picture is in a store once, and the
database holds its digest and size. It never holds a URL, so a database can't lead to other places,
and the store may move.

LangGraph's own serializer does the encoding. Afterwards, long texts and bytes in its result are
replaced, wherever they are: in messages, dataclasses, pydantic models and arrays of numpy. A value
without large contents is left unchanged, so a plain serializer can read it.
"""

import copy
import logging
import math
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Final, Literal

import attrs

from messagebody._core import (
    KEY_PREFIX,
    MessageBody,
    Part,
    base64,
    digests_of,
    is_digest,
    key_of,
    parse_size,
    quote,
)
from messagebody.errors import (
    DecodeError,
    DigestMismatch,
    InvalidArgument,
    MessageBodyError,
    MissingDependency,
    ObjectNotFound,
)
from messagebody.payloads import (
    DEFAULT_MAX_BYTES,
    Batch,
    Cipher,
    Objects,
    Stored,
    checked_threshold,
    join_text,
    split_text,
)
from messagebody.storage import Needs, Owner, Resolver, Store, open_store, owned

try:
    import ormsgpack
    from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.langgraph", "langgraph") from error

# Without a "+", because EncryptedSerializer splits there. And not "msgpack": the plain serializer
# turns unknown extensions into None, but refuses unknown types.
_TAG: Final = "messagebody"
_OPTIONS: Final = ormsgpack.OPT_NON_STR_KEYS
_SMALLEST: Final = 1024
"""The smallest threshold: a reference takes up to that many bytes itself."""
# LangGraph's own extensions, each of which contains msgpack.
_THEIRS: Final = range(8)
_CALL_WITH_ONE, _CALL_WITH_KEYWORDS = 0, 2
_OURS: Final = 109
"""The number of our extension type of MessagePack, kept in databases."""
_BODY: Final = [MessageBody.__module__, MessageBody.__name__]
TYPES: Final = tuple((kind.__module__, kind.__name__) for kind in (MessageBody, Part))
"""The types of bodies and parts, for `allowed_msgpack_modules` of LangGraph's own serializer."""

# The module and name of the function that LangGraph calls to build our values.
_OWN_TYPES: Final = [
    *TYPES,
    (__name__, "stored_body"),
]
_PLACEHOLDER: Final = "[messagebody: "
_LANGGRAPH_LOG: Final = logging.getLogger(JsonPlusSerializer.__module__)
_NOT_MSGPACK: Final = "a checkpoint with contents in a store is not msgpack"
_REMEMBERED: Final = 10_000
"""Placeholders that a serializer remembers: a history rarely misses more than a few contents."""
# Only elements of other types in a list have to be checked.
_PLAIN: Final = {int, float, bool, type(None)}
# The first bytes of long bytes and texts in MessagePack, each with the number of bytes that state
# the length.
_HEADS: Final = ((b"\xc5", 2), (b"\xc6", 4), (b"\xda", 2), (b"\xdb", 4))


class OffloadingSerializer(JsonPlusSerializer):  # type: ignore[misc]
    """A serializer for every checkpointer of LangGraph that keeps large contents in a store.

    Bodies come back with references to the store in place of large contents; these are read when
    they are needed. Everything else comes back as from LangGraph's own serializer.

    The store is read and written in the thread that calls the serializer. `AsyncSqliteSaver` calls
    it on the event loop, which then waits for the store; `AsyncPostgresSaver` uses a thread. A
    saver for Postgres keeps channels that are a plain `str` in its own table, without any
    serializer.

    Arguments:
        store: a store, its URL, or a directory's path.
        threshold: texts and bytes of more bytes are stored.
        cache: bytes of fetched contents to hold in memory.
        cipher: encrypts contents in the store. An `EncryptedSerializer` around this one only
            encrypts the database, so pass its cipher here too. Bodies then come back whole.
        missing: what to do with contents that are gone or damaged: "raise", or put a "placeholder"
            in their place, so that the rest of a history can be read. A state that is saved with
            one refers to the content again. Errors of the store are always raised.
        max_bytes: the most bytes of contents that come back for one value: a short checkpoint may
            refer to one content often.
        owner: the name of the owner of the contents, for `sweep`; they lie in its place there.
            Each database needs one of its own.
        storage_options: the options of `storage.open_store`, if `store` is not an open store.
        **options: the options of `JsonPlusSerializer`. Unlike there, only the types that LangGraph
            calls safe are built by default: a checkpoint that somebody else wrote must not call any
            function. Allow yours with `allowed_msgpack_modules=[("my.module", "MyClass")]`.

    Raises:
        InvalidSize: the threshold is under 1 KiB.
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | Store,
        *,
        threshold: int | str = "16 KiB",
        cache: int | str = "64 MiB",
        cipher: Cipher | None = None,
        missing: Literal["raise", "placeholder"] = "raise",
        max_bytes: int | str = DEFAULT_MAX_BYTES,
        owner: str = "langgraph",
        storage_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**{"allowed_msgpack_modules": None, **options})
        _LANGGRAPH_LOG.addFilter(_is_news)  # once, however often it is added
        if missing not in {"raise", "placeholder"}:
            raise ValueError(f"missing is 'raise' or 'placeholder', got {quote(missing)}")
        whole = open_store(store, **(storage_options or {}))
        ask = "messagebody.frameworks.langgraph.owner(checkpointer)"
        opened = owned(whole, owner, kind="langgraph", ask=ask)
        self.owner_name = owner
        self._threshold = checked_threshold(threshold, _SMALLEST)
        self._objects = Objects(
            opened, cache=parse_size(cache), cipher=cipher, max_bytes=parse_size(max_bytes)
        )
        self._missing = missing
        self._placeholders = _Placeholders()
        # The beginning of URLs in the store, which bodies that came back with references have.
        self._place = opened.url_of(KEY_PREFIX).encode()

    @property
    def contents(self) -> Store:
        """The store of the contents."""
        return self._objects.store

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Encode a value; large contents go to the store.

        Raises:
            StoreError: the store failed.
        """
        kind, data = super().dumps_typed(obj)
        if not self._may_change(obj, kind, data):
            return kind, data
        batch = self._objects.batch()
        if kind == "msgpack":
            # A resolver reads the store without a cipher.
            place = self._objects.store if self._objects.cipher is None else None
            writer = _ContentReplacer(
                self._threshold, self._may_refer, batch, place, self._placeholders
            )
            data = writer.packed(data)
            if not writer.is_changed:
                return kind, data
        else:
            data = _pack(_reference("bytes", "", batch.add(bytes(data))))
        batch.write()
        return f"{_TAG}-{kind}", data

    def _may_change(self, obj: Any, kind: str, data: bytes) -> bool:
        """Return False for an encoded value that surely holds nothing to replace."""
        is_short = len(data) <= self._threshold
        if is_short or kind != "msgpack":
            return not is_short or self._may_refer(data)
        # Looking at values is quicker where they are few for their bytes.
        if not self._placeholders and _is_small(obj, self._threshold, most=len(data) // 512):
            return False
        if _may_hold_long(data, self._threshold) and not _is_small(obj, self._threshold):
            return True
        return self._may_refer(data)

    def _may_refer(self, data: bytes) -> bool:
        """Return whether a value may hold references to the store, or placeholders of contents."""
        return self._place in data or (bool(self._placeholders) and _PLACEHOLDER.encode() in data)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Decode a value; contents in the store are fetched and verified.

        Raises:
            ObjectNotFound, DigestMismatch: content is gone or damaged.
            StoreError: the store failed.
            DecodeError: a reference to the store is malformed, or `max_bytes` is passed.
        """
        kind, packed = data
        if kind.startswith(f"{_TAG}-"):
            kind = kind.removeprefix(f"{_TAG}-")
            notes = self._placeholders if self._missing == "placeholder" else None
            restored = _ReferenceReplacer(self._objects, notes).value(packed)
            packed = _packed_again(restored) if kind == "msgpack" else restored
        # A body is allowed under any list of allowed types, because it is only data.
        allowing = self.with_msgpack_allowlist(_OWN_TYPES)
        token = _loading.set(self._objects)
        try:
            return JsonPlusSerializer.loads_typed(allowing, (kind, packed))
        finally:
            _loading.reset(token)


def _may_hold_long(data: bytes, threshold: int) -> bool:
    """Return whether a text or bytes of more bytes than the threshold may be in msgpack.

    Each has a head with its length; so no head, no such text. Other values may hold the same bytes.
    """
    for head, width in _HEADS:
        at = data.find(head)
        while at >= 0:
            start = at + 1 + width
            if threshold < int.from_bytes(data[at + 1 : start], "big") <= len(data) - start:
                return True
            at = data.find(head, at + 1)
    return False


def _is_small(value: Any, threshold: int, *, most: float = math.inf) -> bool:
    """Return whether a value surely consists of plain values and short texts.

    Arguments:
        value: the value.
        threshold: the bytes of a short text, or of short bytes.
        most: values to look at, without numbers.
    """
    pending, seen = [value], 0
    while pending:
        found = pending.pop()
        kind = type(found)
        if kind is str or kind is bytes:
            if len(found) > threshold:
                return False
        elif kind is dict or kind is list:
            values = found.values() if kind is dict else found
            if not _PLAIN.issuperset(map(type, values)):
                seen += len(values)
                if seen > most:
                    return False
                pending.extend(values)
        elif kind not in _PLAIN:
            return False
    return True


_loading: ContextVar[Objects] = ContextVar("_loading")
"""The store of the value that is being decoded; LangGraph calls `stored_body` by name."""


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether a log record of LangGraph is more than a warning about one of our types."""
    # Without a list of allowed types, it warns of each type; the serializer above allows ours.
    own = isinstance(record.args, tuple) and record.args[:2] in _OWN_TYPES
    return not (own and _loading.get(None) is not None)


def stored_body(parts: list[dict[str, Any]]) -> MessageBody:
    """Return the body of a checkpoint; LangGraph calls this while it decodes one.

    Arguments:
        parts: the parts as in JSON; those in the store have a digest, but no URL.

    Raises:
        DecodeError: a part has neither content nor a digest.
    """
    objects = _loading.get()
    for part in parts:
        if not part.keys() & {"content", "contentUrl"}:
            digest = str(part.get("digest"))
            # Else a checkpoint could name any object of the store.
            if not is_digest(digest):
                raise DecodeError("a part has neither content nor the digest of any")
            part["contentUrl"] = objects.store.url_of(key_of(digest))
    return MessageBody.from_dicts(parts).with_resolver(Resolver(allow=objects.store))


class _Placeholders:
    """The texts that stand for contents that are gone, with the references that they stand for.

    A state that was read with a placeholder may be saved again. What is saved then is the
    reference: the content may be back tomorrow.
    """

    def __init__(self) -> None:
        self._references: OrderedDict[str, _Extension] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._references)

    def note(self, form: str, head: str, stored: Stored, why: str) -> str:
        """Return the placeholder of a content."""
        shown = f"{form} {head}{stored.digest} of {stored.size:,} bytes"
        text = f"{_PLACEHOLDER}{shown} is missing: {why}]"
        self._references[text] = _reference(form, head, stored)
        while len(self._references) > _REMEMBERED:
            self._references.popitem(last=False)
        return text

    def reference(self, value: str | bytes) -> "_Extension | None":
        """Return what a text stands for; None if it is not a placeholder that was made here."""
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        return self._references.get(text) if text.startswith(_PLACEHOLDER) else None


class _ContentReplacer:
    """A walk through encoded values that replaces large contents by references.

    Arguments:
        threshold: the bytes of the largest content that stays.
        may_refer: returns whether encoded values may hold references, or placeholders.
        batch: takes the contents.
        store: the store, to which parts of bodies may refer; None if they stay whole.
        placeholders: what texts may stand for.
    """

    def __init__(
        self,
        threshold: int,
        may_refer: Callable[[bytes], bool],
        batch: Batch,
        store: Store | None,
        placeholders: _Placeholders,
    ) -> None:
        self._threshold, self._may_refer, self._batch = threshold, may_refer, batch
        self._store, self._placeholders = store, placeholders
        self.is_changed = False

    def packed(self, data: bytes) -> bytes:
        """Return msgpack with references in it, or the same if nothing in it is large."""
        try:
            value = _unpack(data, _Extension)
            changed = self._walk(value)
        except (RecursionError, ormsgpack.MsgpackDecodeError):
            return data  # too deep for this walk, although LangGraph can encode it
        if changed is value:
            return data  # exactly the same bytes
        self.is_changed = True
        return _pack(changed)

    def _walk(self, value: Any) -> Any:
        """Return a value with references in it, or itself if nothing in it is large."""
        kind = type(value)
        if kind is str or kind is bytes:
            return self._content(value)
        if kind is list:
            if set(map(type, value)) <= _PLAIN:
                return value
            items = [self._walk(each) for each in value]
            return items if any(map(_differ, items, value)) else value
        if kind is dict:
            values = {key: self._walk(each) for key, each in value.items()}
            return values if any(map(_differ, values.values(), value.values())) else value
        if kind is _Extension and value.tag in _THEIRS:
            is_worth_it = len(value.data) > self._threshold or self._may_refer(value.data)
            return self._extension(value) if is_worth_it else value
        return value

    def _content(self, value: str | bytes) -> Any:
        """Return a text or bytes, or the reference in their place."""
        reference = self._placeholders.reference(value) if self._placeholders else None
        if reference is not None or len(value) <= self._threshold:
            return value if reference is None else reference
        if isinstance(value, bytes):
            return _reference("bytes", "", self._batch.add(value))
        pieces = split_text(value)
        stored = self._batch.add(pieces.data, pieces.content_type)
        return _reference(pieces.form, pieces.head, stored)

    def _extension(self, extension: "_Extension") -> "_Extension":
        inner = _unpack(extension.data, _Extension)
        if extension.tag == _CALL_WITH_KEYWORDS and inner[:2] == _BODY and self._store is not None:
            parts = inner[2]["parts"]
            small = [self._part(part) for part in parts]
            is_same = not any(map(_differ, small, parts))
            return extension if is_same else _Extension(_OURS, _pack(["body", small]))
        changed = self._walk(inner)
        if changed is inner:
            return extension
        return _Extension(extension.tag, _pack(changed))

    def _part(self, part: dict[str, Any]) -> dict[str, Any]:
        """Return a part as in JSON, without its content or URL if that is in the store."""
        digest, text = part.get("digest"), part.get("content")
        assert self._store is not None  # noqa: S101 - there is no cipher
        if digest and part.get("contentUrl") == self._store.url_of(key_of(digest)):
            return {key: value for key, value in part.items() if key != "contentUrl"}
        if text is None or len(text) <= self._threshold:
            return part
        is_text = part.get("contentEncoding") is None
        data = text.encode() if is_text else base64.decode(text)
        stored = self._batch.add(data, part["contentType"])
        kept = {k: v for k, v in part.items() if k not in {"content", "contentEncoding"}}
        return {**kept, "size": stored.size, "digest": stored.digest}


class _ReferenceReplacer:
    """A walk through encoded values that replaces references by contents.

    Arguments:
        objects: the contents.
        placeholders: makes texts in place of contents that are gone; None if that is an error.
    """

    def __init__(self, objects: Objects, placeholders: _Placeholders | None = None) -> None:
        self._objects, self._placeholders = objects, placeholders
        self._wanted: list[Stored] = []
        self._found: dict[Stored, bytes | MessageBodyError] = {}
        self._error: MessageBodyError | None = None

    def value(self, data: bytes) -> Any:
        """Return a decoded value without references, ready to be encoded again."""
        try:
            self._found = self._objects.fetch_all(self.wanted(data))
            return _unpack(data, self._restored)
        except DecodeError:
            raise
        except (ValueError, TypeError, RecursionError) as error:
            # If a hook fails, ormsgpack does not report its error.
            raise self._error or DecodeError(_NOT_MSGPACK) from error

    def wanted(self, data: bytes) -> list[Stored]:
        """Return the contents to which a value refers."""
        try:
            _unpack(data, self._noted)
        except (ValueError, TypeError, RecursionError) as error:
            raise self._error or DecodeError(_NOT_MSGPACK) from error
        return self._wanted

    def _noted(self, tag: int, data: bytes) -> None:
        if tag in _THEIRS:
            _unpack(data, self._noted)
        elif tag == _OURS:
            read = self._read(data)
            if not isinstance(read, list):
                self._wanted.append(read[2])

    def _restored(self, tag: int, data: bytes) -> Any:
        if tag in _THEIRS:
            return _Extension(tag, _pack(_unpack(data, self._restored)))
        if tag != _OURS:
            return _Extension(tag, data)
        read = self._read(data)
        if isinstance(read, list):
            return _Extension(_CALL_WITH_ONE, _pack([__name__, stored_body.__name__, read]))
        return self._content(*read)

    def _content(self, form: str, head: str, stored: Stored) -> str | bytes:
        content = self._found[stored]
        if isinstance(content, MessageBodyError):
            # A store that fails may be back in a minute, and its contents with it.
            is_gone = isinstance(content, ObjectNotFound | DigestMismatch)
            if self._placeholders is None or not is_gone:
                raise self._noticed(content)
            text = self._placeholders.note(form, head, stored, content.statement)
            return text.encode() if form == "bytes" else text
        try:
            return content if form == "bytes" else join_text(form, head, content)
        except DecodeError as error:
            raise self._noticed(error) from error.__cause__

    def _read(self, data: bytes) -> tuple[str, str, Stored] | list[dict[str, Any]]:
        """Return form, head and content of a reference, or the parts of a body."""
        match _unpack(data, _Extension):
            case ["body", [*parts]] if all(isinstance(part, dict) for part in parts):
                return parts
            case [str(form), str(head), str(digest), int(size), str(cipher)] if size >= 0:
                if is_digest(digest):
                    return form, head, Stored(digest, size, cipher)
        problem = "a checkpoint holds a malformed reference to content in the store"
        raise self._noticed(DecodeError(problem))

    def _noticed(self, error: MessageBodyError) -> MessageBodyError:
        """Keep an error for `value`, and return it."""
        self._error = self._error or error
        return error


@attrs.frozen
class _Extension:
    """An extension of msgpack that is passed on; ormsgpack's own class can't be read."""

    tag: int
    data: bytes


def _pack(value: Any) -> bytes:
    return ormsgpack.packb(value, default=_encoded, option=_OPTIONS)  # type: ignore[no-any-return]


def _packed_again(value: Any) -> bytes:
    try:
        return _pack(value)
    except TypeError as error:  # an extension that no msgpack has
        raise DecodeError(_NOT_MSGPACK) from error


def _encoded(value: _Extension) -> Any:
    return ormsgpack.Ext(value.tag, value.data)


def _unpack(data: bytes, hook: Callable[[int, bytes], Any]) -> Any:
    return ormsgpack.unpackb(data, ext_hook=hook, option=_OPTIONS)


def _differ(one: object, other: object) -> bool:
    return one is not other


def _reference(form: str, head: str, stored: Stored) -> _Extension:
    # Digests are written as text, so that `owner` finds them without decoding values.
    facts = [form, head, stored.digest, stored.size, stored.cipher]
    return _Extension(_OURS, _pack(facts))


# The contents that a store has to keep


class _Checkpoints:
    """The owner of the contents of a checkpointer, which is asked anew each time.

    Arguments:
        saver: the checkpointer.
        serializer: its serializer.
    """

    def __init__(self, saver: Any, serializer: OffloadingSerializer) -> None:
        self.name = serializer.owner_name
        # Contents that are encrypted are read: nobody else can see what they mention.
        self._objects = serializer._objects
        self.copied = _with_serializer(saver, _Unbuilt(self._note))
        self._noted: set[str] = set()
        self._hidden: dict[str, list[str]] = {}  # by the digest of an encrypted content

    def needed(self) -> Iterator[str]:
        for found in self.copied.list(None):
            yield from self.take(found)

    def take(self, found: object) -> list[str]:
        """Return all digests noted since the last call, and those in what was not encoded."""
        digests = {*self._noted, *digests_of(found)}
        self._noted.clear()
        return sorted(digests)

    def _note(self, kind: str, packed: bytes) -> Any:
        self._noted.update(digests_of(packed))
        if kind.startswith(f"{_TAG}-"):
            for stored in _ReferenceReplacer(self._objects).wanted(packed):
                self._noted.update(self._mentioned(stored))
        # Nothing stands for every value that is not plain.
        is_packed = kind.removeprefix(f"{_TAG}-") == "msgpack"
        return _unpack(packed, lambda *_: None) if is_packed else None

    def _mentioned(self, stored: Stored) -> list[str]:
        """Return the digests in an encrypted content; a sweep reads the others itself."""
        if stored.cipher and stored.digest not in self._hidden:
            content = self._objects.fetch_all([stored])[stored]
            is_gone = isinstance(content, ObjectNotFound | DigestMismatch)
            if isinstance(content, MessageBodyError) and not is_gone:
                raise content
            found = [] if isinstance(content, MessageBodyError) else digests_of(content)
            self._hidden[stored.digest] = found
        return self._hidden.get(stored.digest, [])


def owner(saver: Any) -> Owner:
    """Return the owner of the contents of all checkpoints, for `sweep`.

    It needs all contents that a checkpoint needs, and those that bodies in it refer to. No objects
    of a checkpoint are built, and no contents are fetched, unless they are encrypted.

    Arguments:
        saver: a checkpointer whose serializer is an `OffloadingSerializer`, or one around it.

    Raises:
        InvalidArgument: its serializer is another.
    """
    return _Checkpoints(saver, _offloading(saver))


async def aowner(saver: Any) -> Owner:
    """Return the same as `owner`, for an asynchronous checkpointer, which is asked at once."""
    asked = _Checkpoints(saver, _offloading(saver))
    needed: set[str] = set()
    async for found in asked.copied.alist(None):
        needed.update(asked.take(found))
    return Needs(asked.name, sorted(needed))


class _Unbuilt(JsonPlusSerializer):  # type: ignore[misc]
    """A serializer that builds nothing, so that no type has to be known.

    Arguments:
        read: returns what a value is, by its kind and its bytes.
    """

    def __init__(self, read: Callable[[str, bytes], Any]) -> None:
        super().__init__()
        self._read = read

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return self._read(*data)


def _offloading(saver: Any) -> OffloadingSerializer:
    serde = getattr(saver, "serde", None)
    inner = serde.serde if isinstance(serde, EncryptedSerializer) else serde
    if not isinstance(inner, OffloadingSerializer):
        raise InvalidArgument("a checkpointer with an OffloadingSerializer", saver)
    return inner


def _with_serializer(saver: Any, serializer: JsonPlusSerializer) -> Any:
    """Return a copy of a checkpointer with another serializer in the place of its own."""
    copied = copy.copy(saver)
    serde = saver.serde
    is_around = isinstance(serde, EncryptedSerializer)
    copied.serde = EncryptedSerializer(serde.cipher, serializer) if is_around else serializer
    return copied
