"""A body as an fsspec filesystem: its options, document, transactions, and how it travels."""

import difflib
import errno
import os
import threading
from collections.abc import Iterable
from typing import Any

from fsspec.spec import make_instance

from messagebody._base.text import redact_url
from messagebody._model.access import edit
from messagebody._model.body import MessageBody
from messagebody.filesystem._documents import Document
from messagebody.filesystem._paths import Live, fail, live_options, live_token
from messagebody.filesystem._transactions import WholeTransaction
from messagebody.filesystem._write_through import WriteThrough
from messagebody.filesystem._writing import BodyWriter
from messagebody.storage._references import Resolver
from messagebody.storage._stores import Store

# What fsspec itself gives to any filesystem.
_FSSPEC_OPTIONS = frozenset(
    {
        "asynchronous", "batch_size", "listings_expiry_time", "loop", "max_paths",
        "skip_instance_cache", "use_listings_cache",
    }
)  # fmt: skip
_OPTIONS = (
    "fo", "body", "resolver", "allow", "read_only", "autosave", "protocol", "quoted_names",
    "offload_to", "threshold", "target_protocol", "target_options",
)  # fmt: skip


class _OfThread(threading.local):
    """What one thread has begun: another one's writes must not wait for its commit."""

    is_open = False
    transaction: WholeTransaction | None = None


class MessageBodyFileSystem(BodyWriter):
    """A body as a filesystem: named parts are files, unnamed ones are not shown.

    Directories are implied by names; one that was made is remembered by the filesystem while it is
    empty, and is not part of the body. `ls`, `find` and `walk` keep message order; `glob` sorts, as
    fsspec does. A new part goes last, an overwritten one keeps its place and its content type.
    Removing a reference drops the part, never the object behind its URL. In a transaction all
    changes of the thread that began it wait for the commit, and are made together or not at all.

    Arguments:
        fo: URL of a JSON document with a body, instead of `body`. It is written back when a
            transaction is committed, or by `save()`; a change outside of a transaction is refused
            with `EROFS`, since nothing would keep it.
        body: a live body; changes go both ways.
        resolver: decides how references are read; the body's own, else the closed default.
        allow: URLs of a resolver to make, which keeps the filesystem serialisable.
        read_only: refuse every change with `EROFS`. A filesystem that was unpickled is read-only:
            its body is a copy.
        autosave: write every change to the document at once.
        protocol: what its URLs begin with, for programs that tell several filesystems apart by it.
        quoted_names: take paths with any character, such as `city=Oslo`; a byte that names don't
            take is `_` and two hex digits in the part's name.
        offload_to: a store, or its URL or directory. Written content that is longer than
            `threshold` goes there, and the part becomes a reference with size and digest. This
            filesystem reads back what it wrote itself; for others a resolver must allow the store.
        threshold: bytes, or a text such as "256 KiB".
        target_protocol, target_options: how to open `fo`, as for fsspec's archives.
        live: the URL of a live body that led here, for fsspec: URLs of this filesystem begin so.

    Raises:
        ValueError: neither a body nor `fo`, or both.
        TypeError: there is no such option.

    Examples:
        >>> from messagebody import MessageBody, Part
        >>> body = MessageBody([Part("meow", name="/sources/1.txt")])
        >>> body.fs.ls("/sources", detail=False), body.fs.cat_file("/sources/1.txt")
        (['/sources/1.txt'], b'meow')
        >>> with body.fs.open("/notes.md", "w") as file:
        ...     _ = file.write("# Cats")
        >>> body["/notes.md"]
        Part('/notes.md', text/markdown, '# Cats', 6 B)
    """

    transaction_type = WholeTransaction
    # fsspec makes a token of the text of all options. That of a body takes long and says nothing.
    _strip_tokenize_options = ("body",)

    def __init__(
        self,
        fo: str | None = None,
        *,
        body: MessageBody | None = None,
        resolver: Resolver | None = None,
        allow: Iterable[str] = (),
        read_only: bool = False,
        autosave: bool = False,
        protocol: str | None = None,
        quoted_names: bool = False,
        offload_to: str | os.PathLike[str] | Store | None = None,
        threshold: int | str = "256 KiB",
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        live: Live | None = None,
        **options: Any,
    ) -> None:
        _check_options(options)
        if (fo is None) == (body is None):
            got = "neither" if fo is None else "both"
            raise ValueError(f"a filesystem is over a live body (body=) or over fo=, got {got}")
        if autosave and fo is None:
            raise ValueError("autosave needs a document (fo=); a live body has none to save to")
        self._here = _OfThread()
        self._live = live
        self._token = ""
        document = None if fo is None else Document(fo, target_protocol, target_options)
        shown = body if document is None else document.load()
        assert shown is not None  # noqa: S101 - there is one or the other
        super().__init__(
            shown,
            resolver or (Resolver(allow=list(allow)) if allow else None),
            document=document,
            read_only=read_only,
            autosave=autosave,
            offload=None if offload_to is None else WriteThrough(offload_to, threshold),
            protocol=protocol,
            quoted_names=quoted_names,
            **options,
        )

    @classmethod
    def _get_kwargs_from_urls(cls, path: str) -> dict[str, Any]:
        """Return the options that a URL holds: those of the filesystem whose `url` made it."""
        return live_options(path)

    def url(self, path: str) -> str:
        """Return a URL of a path in this very body, for libraries that only take text.

        It works in this process, for as long as the body (and a filesystem of your own) is used.

        Examples:
            >>> import fsspec
            >>> from messagebody import MessageBody, Part
            >>> body = MessageBody([Part("meow", name="/sources/1.txt")])
            >>> with fsspec.open(body.fs.url("/sources/1.txt")) as file:
            ...     file.read()
            b'meow'
        """
        if self._live is not None:
            token = self._live.token
        else:
            token = self._token = self._token or live_token(self)
        return f"messagebody://{token}{self._strip_protocol(path)}"

    def _url_of(self, path: str) -> str:
        # One that leads here, if such a one was used to get here.
        return super()._url_of(path) if self._live is None else self.url(path)

    def save(self) -> None:
        """Write the body back to the document it came from, whole or not at all.

        Raises:
            OSError: the filesystem is over a live body and has no document, it is read-only, or
                somebody else changed the document since it was read (`ESTALE`).
        """
        if self.document is None:
            fail(errno.EINVAL, "/", "a live body has no document to save to")
        if self.read_only:
            fail(errno.EROFS, redact_url(self.document.url))
        with edit(self.body):  # else a thread might write what another one has changed since
            self.document.save(self.body)

    # What fsspec asks and sets

    @property
    def _intrans(self) -> bool:
        return self._here.is_open

    @_intrans.setter
    def _intrans(self, is_open: bool) -> None:
        self._here.is_open = is_open

    @property
    def _transaction(self) -> WholeTransaction | None:
        return self._here.transaction

    @_transaction.setter
    def _transaction(self, transaction: WholeTransaction | None) -> None:
        self._here.transaction = transaction

    def start_transaction(self) -> WholeTransaction:
        """Begin a transaction, which `end_transaction` commits."""
        transaction: WholeTransaction = self.transaction
        transaction.start()
        return transaction

    def end_transaction(self) -> None:
        """Commit the transaction that `start_transaction` began."""
        self.transaction.complete()

    @property
    def storage_options(self) -> dict[str, Any]:
        """The options that make a filesystem over the same body."""
        return self._options | ({"body": self.body} if self.document is None else {})

    @storage_options.setter
    def storage_options(self, options: dict[str, Any]) -> None:
        self._options = options

    @property
    def _fs_token(self) -> str:
        return f"{id(self.body):x}" if self.document is None else self._fs_token_

    def __reduce__(self) -> tuple[Any, ...]:
        # What another process writes into its copy of the body would be lost.
        options = self.storage_options | {"read_only": True, "autosave": False, "live": None}
        state = {"_made": self._made}
        return make_instance, (type(self), self.storage_args, options), state

    def to_dict(self, *, include_password: bool = True) -> dict[str, Any]:
        """Return the filesystem as a JSON value; only one over `fo=` is one."""
        if self.document is None:
            raise TypeError(
                "a filesystem over a live body is not a JSON value; pickle it, or use fo="
            )
        if self.storage_options.get("resolver") is not None:
            raise TypeError(
                "a filesystem with resolver= is not a JSON value; pickle it, or use allow="
            )
        result: dict[str, Any] = super().to_dict(include_password=include_password)
        return result


def _check_options(options: dict[str, Any]) -> None:
    """Refuse unknown options: an ignored one could mean another body than the caller expects."""
    unknown = sorted(options.keys() - _FSSPEC_OPTIONS)
    if not unknown:
        return
    near = difflib.get_close_matches(unknown[0], _OPTIONS, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    got = ", ".join(map(repr, unknown))
    raise TypeError(f"MessageBodyFileSystem() got unexpected options: {got}{meant}")
