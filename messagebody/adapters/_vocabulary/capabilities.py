"""Capabilities of a format: which media types, URLs, names and ids its blocks take."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from functools import wraps
from typing import Any, Final, TypeVar
from zlib import crc32

import attrs

from messagebody._core import (
    MEDIA_TOP_LEVELS,
    by_usual_name,
    canonical,
    essence,
    unspecified_in,
)

_T = TypeVar("_T")
IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The pictures that every model with vision takes."""


def _set_of(field: str) -> Any:
    """Return a field with the items of another field as a set: every part is looked up in it."""
    made = attrs.Factory(lambda self: frozenset(getattr(self, field) or ()), takes_self=True)
    return attrs.field(default=made, init=False, repr=False, eq=False)


def _stated_by(kind: "Kind") -> str | None:
    """Return the top-level type of all types that a block takes, if that says what it holds."""
    found = {each.partition("/")[0] for each in (*kind.types, *(kind.url_types or ()))}
    return next(iter(found)) if len(found) == 1 and found <= {*MEDIA_TOP_LEVELS} else None


def _remembered(answer: Callable[["Kind", str], _T]) -> Callable[["Kind", str], _T]:
    """Remember what a kind says of the first content types: each part asks, and most are alike."""

    @wraps(answer)
    def said(kind: "Kind", content_type: str) -> _T:
        known, key = kind._answers, (answer, content_type)
        if key in known:
            return known[key]  # type: ignore[no-any-return]
        found = answer(kind, content_type)
        # Messages are untrusted: with many types, a sender could fill the memory.
        if len(known) < _MOST_ANSWERS and len(content_type) <= _LONGEST_TYPE:
            known[key] = found
        return found

    return said


_MOST_ANSWERS: Final = 256
_LONGEST_TYPE: Final = 100


@attrs.frozen
class Kind:
    """Describe one kind of block.

    Arguments:
        name: what `Media.kind` calls it.
        types: media types of content in the block; `image/*` and `*/*` stand for many.
        schemes: schemes of URLs that the target opens; "*" for any.
        url_types: media types of content behind a URL; the same if not given.
        top_level: the top-level type that the block itself states, such as "image", so that content
            behind a URL needs no other; by default that of all its types.
        is_exact: whether it only takes content of a known subtype.
        rough_types: how it states the type of content of no known subtype, by top-level types.
        file_ids: the scheme of ids of files that the target stores, of any media type.
        max_bytes: bytes of content the target takes; None if no limit is documented.
        advised_bytes: bytes of content that the target is certain to take. It may refuse larger
            content, which a loss reports.
        advised_types: media types that the target is certain to take, by default all that the block
            takes. It may refuse others, which a loss reports.
        name_slot: "path" if the block may state a path of a file, which begins with no slash,
            "name" for a whole part name, "file" for its last segment only, "" for no name.
        in_results: whether the result of a tool may hold it.
        in_messages: whether a message may hold it. A kind that neither messages nor results may
            hold is written only for parts that were read from such a block.
        roles: whose messages may hold it.
        is_generated: whether a model made its content: such pictures have a place in the body.
        is_value: whether it holds a JSON value and not its text; many systems respell a value.
        is_source: whether it only holds the sources of a text: references below `/sources/`.
        described_by: a member that the metadata of a part must have to go into the block.

    Examples:
        >>> picture = Kind("image", IMAGES, schemes=("https",))
        >>> picture.takes("image/png"), picture.opens("https://e.com/a", "image/gif")
        (True, True)
        >>> picture.opens("s3://bucket/a", "image/gif")
        False
        >>> unknown = "image/x-unknown"
        >>> picture.top_level, picture.opens_type(unknown), picture.takes(unknown)
        ('image', True, False)
    """

    name: str
    types: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()
    url_types: tuple[str, ...] | None = None
    top_level: str | None = attrs.field(
        default=attrs.Factory(_stated_by, takes_self=True), kw_only=True
    )
    is_exact: bool = attrs.field(default=False, kw_only=True)
    rough_types: Mapping[str, str] = attrs.field(factory=dict, kw_only=True)
    file_ids: str | None = attrs.field(default=None, kw_only=True)
    max_bytes: int | None = None
    advised_bytes: int | None = None
    advised_types: frozenset[str] = attrs.field(default=frozenset(), kw_only=True)
    name_slot: str = ""
    in_results: bool = False
    in_messages: bool = True
    roles: frozenset[str] = frozenset({"user", "assistant", "system", "tool"})
    is_generated: bool = False
    is_value: bool = False
    is_source: bool = False
    described_by: str | None = None
    _types: frozenset[str] = _set_of("types")
    _url_types: frozenset[str] = _set_of("url_types")
    _answers: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False, eq=False)

    @_remembered
    def takes(self, content_type: str) -> bool:
        """Return whether content of a type may be in the block."""
        return _is_among(content_type, self._types)

    @_remembered
    def name_of_type(self, content_type: str) -> str:
        """Return the name by which the block takes a type: its usual one, of all that it has.

        Examples:
            >>> picture = Kind("image", IMAGES)
            >>> picture.takes("image/jpg"), picture.name_of_type("image/jpg")
            (True, 'image/jpeg')
        """
        rough = self.rough_types.get(unspecified_in(content_type) or "")
        if rough is not None:
            return rough
        usual = by_usual_name(content_type)
        is_own = _is_named(essence(usual), self._types)
        return usual if is_own or not self.takes(usual) else canonical(usual)

    def advises(self, content_type: str) -> bool:
        """Return whether the target is certain to take content of a type.

        Examples:
            >>> file = Kind("file", ("*/*",), advised_types=frozenset({"image/png"}))
            >>> file.advises("image/png"), file.advises("image/tiff"), file.takes("image/tiff")
            (True, False, True)
        """
        return not self.advised_types or essence(self.name_of_type(content_type)) in (
            self.advised_types
        )

    @_remembered
    def opens_type(self, content_type: str) -> bool:
        """Return whether the target opens URLs of content of a type."""
        if not self.schemes:
            return False
        top_level = None if self.is_exact else unspecified_in(content_type)
        if top_level is not None and top_level == self.top_level:
            return True
        types = self._types if self.url_types is None else self._url_types
        return _is_among(content_type, types)

    def opens(self, url: str, content_type: str | None = None) -> bool:
        """Return whether the target opens a URL, of content of a type or of any content."""
        scheme = url.partition(":")[0].lower()
        if scheme == self.file_ids:
            return True
        if "*" not in self.schemes and scheme not in self.schemes:
            return False
        return content_type is None or self.opens_type(content_type)


@attrs.frozen
class Spelling:
    """Describe what a service takes as the id of a call, or as the name of a tool.

    Arguments:
        letters: the letters that it may hold, as in the brackets of a regular expression.
        longest: the most letters.

    Examples:
        >>> names = Spelling("a-zA-Z0-9_-", 64)
        >>> names.takes("get_weather"), names.takes("functions.get_weather:0")
        (True, False)
        >>> names.of("functions.get_weather:0"), names.of("naïve tool"), names.of("Wetter 天気")
        ('functions_get_weather_0', 'naive_tool', 'Wetter___')
        >>> len(names.of("a" * 100))
        64
    """

    letters: str
    longest: int
    _legal: re.Pattern[str] = attrs.field(init=False, repr=False, eq=False)

    @_legal.default
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(f"[{self.letters}]+", re.ASCII)

    def takes(self, text: str) -> bool:
        """Return whether a text is legal."""
        return len(text) <= self.longest and self._legal.fullmatch(text) is not None

    def of(self, text: str) -> str:
        """Return a legal text that looks like another one, always the same for the same text."""
        decomposed = unicodedata.normalize("NFKD", text)
        plain = "".join(each for each in decomposed if not unicodedata.combining(each))
        made = re.sub(f"[^{self.letters}]", "_", plain, flags=re.ASCII) or "_"
        if len(made) <= self.longest:
            return made
        mark = f"_{crc32(text.encode()):08x}"
        return made[: self.longest - len(mark)] + mark


def _is_among(content_type: str, types: AbstractSet[str]) -> bool:
    if "*/*" in types or _is_named(kind := essence(content_type), types):
        return True
    usual = canonical(kind)
    return usual != kind and _is_named(usual, types)


def _is_named(kind: str, types: AbstractSet[str]) -> bool:
    return kind in types or kind.partition("/")[0] + "/*" in types or "*/*" in types
