"""The options of writing, and how the target gets at what is behind a reference, or why not."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs

from messagebody._core import (
    MIB,
    Part,
    data_urls,
    human_size,
    may_be,
    resolver_of,
    sniffing,
    unspecified_in,
)
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.values import one_of
from messagebody.errors import (
    AccessDenied,
    DigestMismatch,
    LimitExceeded,
    ObjectNotFound,
    StoreError,
    UnsafeReference,
)
from messagebody.storage import Resolver

WAYS: Final = ("auto", "sign", "inline", "text")
# Faults of one reference: those of a store, such as one that is down, are not told as a loss.
_UNREADABLE: Final = (
    UnsafeReference, LimitExceeded, ObjectNotFound, AccessDenied, DigestMismatch,
)  # fmt: skip
# What lies behind them is on this machine or in this process, so nobody else can open it.
_LOCAL: Final = ("file:", "memory:")


@attrs.frozen
class Reach:
    """What is done with references that the target does not open.

    Arguments:
        urls: one of `WAYS`: "auto" sends text inside the message and other content behind a signed
            URL, or the other way where that is not possible.
        max_bytes: the largest reference to inline, in bytes.
        resolver: decides which references are read or signed; by default the part's resolver, or a
            closed one.
    """

    urls: str = "text"
    max_bytes: int = 20 * MIB
    resolver: Resolver | None = None

    def __attrs_post_init__(self) -> None:
        one_of("urls", self.urls, WAYS)

    def readable(self, part: Part, kinds: Sequence[Kind], service: str) -> tuple[Part, str]:
        """Return a part as the target can read it, and why it can't if that is so.

        Arguments:
            part: the part.
            kinds: the kinds of block that the message may hold.
            service: the name of the format, for the reason.

        Raises:
            UnsafeReference: the given resolver does not allow the only way that was asked for.
            DigestMismatch: the content is not the promised one, and no other way was asked for.
            StoreError: the store failed.
        """
        if part.url is None:
            return part, ""
        if data_urls.is_data_url(part.url):
            return _with_content(part, data_urls.decode(part.url)[1]), ""
        if self.urls == "text" or self._is_open(part, kinds):
            return part, ""
        reasons = []
        for way in self._ways(part):
            reached, why = way(part, kinds, service)
            if not why:
                return reached, ""
            reasons.append(why)
        return part, "; ".join(reasons)

    @staticmethod
    def _is_open(part: Part, kinds: Sequence[Kind]) -> bool:
        """Return whether the target opens the URL of a part by itself."""
        url = str(part.url)
        # A format that opens any URL is not run on this machine.
        is_local = url.lower().startswith(_LOCAL)
        named = [kind for kind in kinds if not (is_local and "*" in kind.schemes)]
        return any(kind.opens(url, part.content_type) for kind in named)

    def _resolver_for(self, part: Part) -> Resolver:
        return self.resolver or resolver_of(part) or Resolver()

    def _is_strict(self, part: Part) -> bool:
        """Return whether a reference that can't be read is an error: its resolver was asked for.

        Without a resolver nothing is read, and the loss says why.
        """
        return self.urls != "auto" and (self.resolver or resolver_of(part)) is not None

    def _ways(self, part: Part) -> list["_Way"]:
        if self.urls != "auto":
            return [self._signed if self.urls == "sign" else self._read]
        return [self._read, self._signed] if part.is_text else [self._signed, self._read]

    def _signed(self, part: Part, kinds: Sequence[Kind], service: str) -> tuple[Part, str]:
        opening = {
            each for kind in kinds for each in kind.schemes
            # The ids of a provider's own files are no URLs that a store could sign.
            if kind.opens_type(part.content_type) and not each.endswith("-file")
        }  # fmt: skip
        if not opening:
            return part, f"{service} opens no URL of {part.content_type}"
        try:
            url = self._resolver_for(part).sign(
                str(part.url), content_type=part.content_type, subject=part.label
            )
        except (UnsafeReference, StoreError) as error:
            if self._is_strict(part):
                raise
            return part, error.statement
        scheme = url.partition(":")[0]
        if scheme not in opening and "*" not in opening:
            opened = " and ".join(f"{each}:" for each in sorted(opening))
            return part, f"its store signs {scheme}: URLs, and {service} opens {opened}"
        return part.evolve(url=url, size=part.size, digest=part.digest), ""

    def _read(self, part: Part, kinds: Sequence[Kind], service: str) -> tuple[Part, str]:
        is_taken = part.is_text or any(_may_take(kind, part.content_type) for kind in kinds)
        if not is_taken:
            return part, f"{service} takes no content of {part.content_type}"
        size = part.size or 0
        try:
            data = part.read_bytes(self._resolver_for(part)) if size <= self.max_bytes else b""
        except _UNREADABLE as error:
            if self._is_strict(part):
                raise
            return part, error.statement
        # If no size was stated, it is known only after reading.
        if max(size, len(data)) > self.max_bytes:
            most = human_size(self.max_bytes)
            return part, f"it has {human_size(max(size, len(data)))}, more than max_bytes ({most})"
        return _with_content(part, data), ""


_Way = Callable[[Part, Sequence[Kind], str], tuple[Part, str]]


def _may_take(kind: Kind, content_type: str) -> bool:
    """Return whether a block of a kind takes a type, or what may turn out to be of that type."""
    top_level = unspecified_in(content_type)
    is_likely = top_level is not None and top_level == kind.top_level
    return is_likely or kind.takes(content_type)


def _with_content(part: Part, data: bytes) -> Part:
    """Return a part with its content, whose exact type the content may show."""
    content_type, top_level = part.content_type, unspecified_in(part.content_type)
    if top_level is not None:
        found = sniffing.content_type(data[: sniffing.HEAD])
        content_type = found if may_be(found, top_level) else content_type
    return Part(data, name=part.name, content_type=content_type, metadata=part.metadata)


@attrs.frozen
class WriteOptions:
    """The options for writing a body; see `Format.from_body`."""

    carry: bool = False
    unsupported: str = "text"
    reach: Reach = attrs.Factory(Reach)

    def __attrs_post_init__(self) -> None:
        one_of("unsupported", self.unsupported, ("text", "omit", "error"))

    @classmethod
    def from_options(
        cls, *, carry: bool = False, unsupported: str = "text", **reach: Any
    ) -> "WriteOptions":
        """Return the options of a call; most calls state none, and share theirs."""
        if not carry and unsupported == "text" and reach.items() <= _USUAL_REACH.items():
            return USUAL_WRITING
        return cls(carry, unsupported, Reach(**reach))


_USUAL_REACH: Final = attrs.asdict(Reach(), recurse=False)
USUAL_WRITING: Final = WriteOptions()
"""The options of a call that states none."""
