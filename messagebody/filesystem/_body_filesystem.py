"""A body as an fsspec filesystem: options, document, transactions, URLs and pickling."""

import errno
import os
from collections.abc import Iterable
from typing import Any

from fsspec.spec import make_instance

from messagebody._base.text import did_you_mean, redact_url
from messagebody._model.access import edit
from messagebody._model.body import MessageBody
from messagebody.filesystem._documents import Document
from messagebody.filesystem._paths import Live, fail, live_options, live_token
from messagebody.filesystem._transactions import Frame, WholeTransaction, open_frame
from messagebody.filesystem._write_through import WriteThrough
from messagebody.filesystem._writing import BodyWriter
from messagebody.storage._references import Resolver
from messagebody.storage._stores import Store

# Options that fsspec itself accepts for every filesystem, and `anon`, with which pandas asks again
# after any PermissionError: its TypeError would hide which reference was refused.
_FSSPEC_OPTIONS = frozenset(
    {
        "anon", "asynchronous", "batch_size", "listings_expiry_time", "loop", "max_paths",
        "skip_instance_cache", "use_listings_cache",
    }
)  # fmt: skip
_OPTIONS = (
    "fo", "body", "resolver", "allow", "read_only", "autosave", "protocol", "quoted_names",
    "offload_to", "threshold", "target_protocol", "target_options",
)  # fmt: skip


class MessageBodyFileSystem(BodyWriter):
    """A body as a filesystem: named parts are files, unnamed ones are not shown.

    Directories are implied by names. The filesystem remembers an empty directory made by `mkdir`,
    but it is not part of the body. `ls`, `find` and `walk` keep message order; `glob` sorts, as in
    fsspec. A new part is added at the end; an overwritten part keeps its position and its content
    type. Removing a reference removes the part, never the object behind its URL. In a transaction,
    the changes of the thread or task that began it wait for the commit, and are made together or
    not at all.

    Arguments:
        fo: URL of a JSON document with a body, instead of `body`. It is written back when a
            transaction is committed, or by `save()`. A change outside a transaction fails with
            `EROFS`, because it would not be saved.
        body: a live body; changes go both ways.
        resolver: decides how references are read; by default the body's resolver, or a closed one.
        allow: URLs that references may have, instead of `resolver`; keeps the filesystem
            serialisable.
        read_only: refuse every change with `EROFS`. An unpickled filesystem is read-only, because
            its body is a copy.
        autosave: save the document after every change.
        protocol: the protocol of its URLs, for programs that tell filesystems apart by protocol.
        quoted_names: accept paths with any character, such as `city=Oslo`. A byte that names can't
            hold is written as `_` and two hex digits in the part's name.
        offload_to: a store, or its URL or directory. Written content longer than `threshold` goes
            there, and the part becomes a reference with size and digest. This filesystem can read
            its own offloaded content; other readers need a resolver that allows the store.
        threshold: a number of bytes, or text such as "256 KiB".
        target_protocol, target_options: how to open `fo`, as for fsspec's archives.
        live: the live URL that this filesystem was opened by, set by fsspec. Its own URLs then
            begin with the same token.

    Raises:
        ValueError: neither `body` nor `fo` is given, or both are.
        TypeError: an option is unknown.

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
    # fsspec makes a token from the text of all options. The text of a body is slow to make and does
    # not identify the body.
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
            raise ValueError(f"a filesystem takes either body= or fo=, got {got}")
        if autosave and fo is None:
            raise ValueError("autosave needs a document (fo=); a live body has none to save to")
        self._live = live
        self._token = ""
        self._frames: set[Frame] = set()  # all that are open, wherever they were begun
        document = None if fo is None else Document(fo, target_protocol, target_options)
        shown = body if document is None else document.load()
        assert shown is not None  # noqa: S101 - one of the two is given
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
        """Return the options of the filesystem that made a live URL."""
        return live_options(path)

    def url(self, path: str) -> str:
        """Return a URL of a path in this very body, for libraries that only take text.

        It works only in this process, and only while this filesystem is in use. `body.fs` is in use
        as long as its body.

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
        # A filesystem that was opened by a live URL has live URLs.
        return super()._url_of(path) if self._live is None else self.url(path)

    def save(self) -> None:
        """Write the body back to the document it came from, whole or not at all.

        Raises:
            OSError: the filesystem is over a live body and has no document (`EINVAL`), it is
                read-only (`EROFS`), or somebody else changed the document since it was read
                (`ESTALE`).
        """
        if self.document is None:
            fail(errno.EINVAL, "/", "a live body has no document to save to")
        if self.read_only:
            fail(errno.EROFS, redact_url(self.document.url))
        with edit(self.body):  # no other thread changes the body meanwhile
            self.document.save(self.body)

    # Transactions

    @property
    def transaction(self) -> WholeTransaction:
        """The context of a transaction, which belongs to the thread or task that begins it."""
        return self.transaction_type(self)

    @property
    def _intrans(self) -> bool:
        return open_frame(self) is not None

    @_intrans.setter
    def _intrans(self, is_open: bool) -> None:
        """Take what fsspec sets when a filesystem is made."""

    def start_transaction(self) -> WholeTransaction:
        """Begin a transaction, which `end_transaction` commits in the same thread or task."""
        transaction = self.transaction
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
        # Another process gets a copy of the body, so its writes would be lost.
        options = self.storage_options | {"read_only": True, "autosave": False, "live": None}
        state = {"_made": self._made}
        return make_instance, (type(self), self.storage_args, options), state

    def to_dict(self, *, include_password: bool = True) -> dict[str, Any]:
        """Return the filesystem as a JSON value, which needs `fo=`."""
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
    """Raise `TypeError` for unknown options, because ignoring one could hide a mistake."""
    unknown = sorted(options.keys() - _FSSPEC_OPTIONS)
    if not unknown:
        return
    meant = did_you_mean(unknown[0], _OPTIONS)
    got = ", ".join(map(repr, unknown))
    raise TypeError(f"MessageBodyFileSystem() got unexpected options: {got}{meant}")
