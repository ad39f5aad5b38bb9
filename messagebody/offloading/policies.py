"""Which parts are offloaded."""

from collections.abc import Callable

import attrs

from messagebody.body import MessageBody
from messagebody.errors import LimitExceeded
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.part import Part
from messagebody.text import human_size

__all__ = ["Policy", "Selection", "as_reference"]

_NO_DIGEST = "sha256:" + "0" * 64


@attrs.frozen
class Selection:
    """Parts by name, type, and whether they have a name at all."""

    names: str = "/**"
    content_types: str = "*/*"
    unnamed: bool = True

    def chooser(self) -> Callable[[Part], bool]:
        """Return what tells whether a part is selected, with the patterns compiled once."""
        name, kind = name_pattern(self.names), content_type_pattern(self.content_types)

        def selects(part: Part) -> bool:
            named = self.unnamed if part.name is None else name.matches(part.name)
            return named and kind.matches(part.content_type)

        return selects


@attrs.frozen
class Policy:
    """What is to be offloaded.

    Arguments:
        selection: the parts that may be.
        threshold: bytes; larger parts are offloaded.
        fit: bytes; if the whole JSON is larger still, the largest of the rest follow.
    """

    selection: Selection
    threshold: int
    fit: int | None = None

    def positions(self, body: MessageBody, url_of: Callable[[str], str]) -> set[int]:
        """Return the positions of the parts to offload.

        Arguments:
            body: the body.
            url_of: gives the URL under which a digest would be stored: its length counts.

        Raises:
            LimitExceeded: the body can't be made to fit.
        """
        selects = self.selection.chooser()
        eligible = {
            position: part
            for position, part in enumerate(body)
            if not part.is_reference and selects(part)
        }
        chosen = {at for at, part in eligible.items() if (part.size or 0) > self.threshold}
        if self.fit is not None:
            chosen |= self._to_fit(body, eligible, chosen, url_of(_NO_DIGEST))
        return chosen

    def _to_fit(
        self, body: MessageBody, eligible: dict[int, Part], chosen: set[int], url: str
    ) -> set[int]:
        small = {at: as_reference(part, url, _NO_DIGEST) for at, part in eligible.items()}
        length = 2 + max(0, len(body) - 1)
        gains: dict[int, int] = {}
        for position, part in enumerate(body):
            if position in chosen:
                length += _json_length(small[position])
                continue
            mine = _json_length(part)
            length += mine
            if position in small:
                gains[position] = mine - _json_length(small[position])
        more = set()
        for position in sorted(gains, key=gains.__getitem__, reverse=True):
            if length <= (self.fit or 0) or gains[position] <= 0:
                break
            length -= gains[position]
            more.add(position)
        if length > (self.fit or 0):
            raise LimitExceeded(
                f"the body can't be made to fit {human_size(self.fit)}: with every part that may "
                f"be offloaded its JSON still has {human_size(length)}"
            )
        return more


def as_reference(part: Part, url: str, digest: str) -> Part:
    """Return a part whose content is elsewhere, everything else as it was."""
    return part.evolve(url=url, size=part.size, digest=digest)


def _json_length(part: Part) -> int:
    if part.local_file is not None:
        part = part.evolve(content=part.read_bytes())
    return len(MessageBody([part]).to_json_bytes()) - 2
