"""A plugin that puts our serializer in the place of LangGraph's, for LangGraph's own tests."""

import os
from typing import Any

from langgraph.checkpoint.serde import _msgpack as _lg_msgpack
from langgraph.checkpoint.serde import jsonplus

from messagebody.frameworks.langgraph import OffloadingSerializer


class InPlace(OffloadingSerializer):
    """Our serializer with LangGraph's arguments."""

    def __init__(self, **options: Any) -> None:
        # Its tests are about its own default, which builds any type.
        options.setdefault("allowed_msgpack_modules", _lg_msgpack._SENTINEL)
        super().__init__(
            "memory://upstream-langgraph", threshold=os.environ["THRESHOLD"], **options
        )


jsonplus.JsonPlusSerializer = InPlace
