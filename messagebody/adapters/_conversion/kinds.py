"""Kinds: which kind of block a part goes out in, and its item in a block of that kind."""

from collections.abc import Sequence
from typing import Any

from messagebody._core import Part, unspecified_in
from messagebody.adapters._conversion.collecting import INVENTED
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import Dialect
from messagebody.adapters._vocabulary.items import Media
from messagebody.adapters._vocabulary.part_names import RESERVED


def kinds_at(
    dialect: Dialect, kinds: Sequence[Kind], entry: dict[str, Any], directory: str
) -> list[Kind]:
    """Return the kinds of block that a part may go out in, the one that it came in first.

    Arguments:
        dialect: the format.
        kinds: the kinds that a message of the role may have.
        entry: the rest of the block that the part came in.
        directory: where the part is: "/", or the directory of a result.
    """
    again = dialect.kind(entry.get("kind"))
    here = [kind for kind in kinds if (kind.in_messages if directory == "/" else kind.in_results)]
    return here if again is None else [again, *here]


def kind_for(
    dialect: Dialect, part: Part, name: str | None, entry: dict[str, Any], kinds: Sequence[Kind],
    *, is_carried: bool,
) -> Kind | None:  # fmt: skip
    """Return the kind of block for a part: its original kind, or the first that fits.

    Arguments:
        dialect: the format.
        part: the part, as the target can read it.
        name: its name, None if it is only a number below a directory.
        entry: the rest of the block that it came in.
        kinds: what `kinds_at` returned.
        is_carried: whether a description of its bytes goes out with it.
    """
    again = dialect.kind(entry.get("kind"))
    if again is not None:
        if _fits_again(part, again, entry):
            return again
        kinds = kinds[1:]
    for kind in kinds:
        # A block of a value would lose the bytes, which are carried, or a name.
        is_less = kind.is_value and (is_carried or (name is not None and not kind.name_slot))
        if not is_less and fits(part, kind):
            return kind
    return None


def fits(part: Part, kind: Kind) -> bool:
    """Return whether a block of a kind may hold a part."""
    if kind.is_source and not (part.name or "").startswith("/sources/"):
        return False
    if not _describes(part, kind):
        return False
    if part.url is not None:
        return kind.opens(part.url, part.content_type)
    if kind.max_bytes is not None and (part.size or 0) > kind.max_bytes:
        return False
    return kind.takes(part.content_type)


def _fits_again(part: Part, kind: Kind, entry: dict[str, Any]) -> bool:
    """Return whether a part that came in a block of a kind may be written in such a block again.

    The type of content behind a URL is often a guess, so any type is allowed.
    """
    if not _describes(part, kind):
        return False
    if part.url is not None:
        return kind.opens(part.url)
    return kind.takes(part.content_type) or part.content_type == entry.get("type")


def _describes(part: Part, kind: Kind) -> bool:
    """Return whether the metadata of a part says what a block of a kind needs."""
    member = kind.described_by
    return member is None or isinstance((part.metadata or {}).get(member), dict)


def media_of(
    dialect: Dialect, part: Part, kind: str, form: Any = None, directory: str = "/"
) -> Media:
    """Return the item for a part of content in a block of some kind."""
    said = part.metadata or {}
    title = said.get("title")
    known = dialect.kind(kind)
    media_type = _named_type(part, known)
    item = Media(kind, media_type, form=form, key=part.name, url=part.url, size=part.size)
    item.title = title if isinstance(title, str) else None
    item.name = _spoken_name(part, known, directory)
    if known is not None and known.described_by is not None:
        item.found = said.get(known.described_by)
    if part.url is None:
        item.text = part.text
        item.data = part.read_bytes() if part.text is None else None
    return item


def _named_type(part: Part, kind: Kind | None) -> str | None:
    """Return the type of a part in a block, None if the block itself says all that is known."""
    if kind is None:
        return part.content_type
    top_level = None if part.url is None else unspecified_in(part.content_type)
    is_said = top_level is not None and top_level == kind.top_level
    return None if is_said else kind.name_of_type(part.content_type)


def _spoken_name(part: Part, kind: Kind | None, directory: str) -> str | None:
    """Return the name of a part in a block: the original file name, or as much as it may state."""
    name = own_name(part, directory)
    if name is None or kind is None or not kind.name_slot:
        return None
    filename = (part.metadata or {}).get("filename")
    if isinstance(filename, str):
        return filename
    if kind.name_slot == "file":
        return name.rpartition("/")[2]
    return name if kind.name_slot == "name" else _relative(name)


def _relative(name: str) -> str:
    """Return the name of a part as files are named elsewhere: without the slash at its beginning.

    That of an item stays whole, which tells it from a file, and so does one that would be read as
    another.
    """
    path = name[1:]
    is_whole = RESERVED.fullmatch(name) or path in INVENTED
    return name if is_whole else path


def own_name(part: Part, directory: str) -> str | None:
    """Return the name of a part below a directory, None if it is only a number."""
    name = part.name
    if name is None or directory == "/":
        return name
    name = name.removeprefix(directory)
    # We give numbers to parts of blocks without a name.
    return None if name[1:].isdecimal() else name
