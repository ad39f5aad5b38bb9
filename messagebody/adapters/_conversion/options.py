"""The options for writing a body."""

from typing import Any

import attrs

from messagebody.adapters._conversion.reaching import Reach
from messagebody.adapters._vocabulary.values import one_of


@attrs.frozen
class WriteOptions:
    """The options for writing a body; see `Format.from_body`."""

    carry: bool = False
    unsupported: str = "text"
    reach: Reach = attrs.Factory(Reach)

    def __attrs_post_init__(self) -> None:
        one_of("unsupported", self.unsupported, ("text", "omit", "error"))

    @classmethod
    def of(cls, *, carry: bool = False, unsupported: str = "text", **reach: Any) -> "WriteOptions":
        """Return the options of a call."""
        return cls(carry, unsupported, Reach(**reach))
