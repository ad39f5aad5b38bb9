"""Blocks of one format in messages of another: the format that they are from reads and writes them.

Gateways pass on what they get, so messages of one service have blocks of others. The form of such
an item is a list: the name of that format, and the form that the item has there.
"""

import copy
from typing import Any, Final, cast

from messagebody._core import DOCUMENT_TOP_LEVEL
from messagebody.adapters._registry import adapter
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import Dialect
from messagebody.adapters._vocabulary.items import Item, Media

_RESPONSES: Final = "openai-responses"
_CONTENTS: Final = ("input_text", "output_text", "input_image", "input_file", "refusal")
"""Blocks of Responses that stand in a message; its format reads them as messages."""


def dialect_of(name: Any) -> Dialect:
    """Return the format of a name, as what reads and writes single blocks."""
    return cast("Dialect", adapter(name))


def read_foreign(name: str, block: Any) -> Item | None:
    """Return the item of a block that another format knows, None if it is unknown there, too."""
    is_content = name == _RESPONSES and block.get("type") in _CONTENTS
    piece = {"type": "message", "content": [block]} if is_content else block
    item = dialect_of(name).read_block(piece)
    if item is None:
        return None
    item.form = [name, item.form]
    if isinstance(item, Media):
        item.kind = f"{name}:{item.kind}"
    return item


def foreign_block(item: Item, blocks: list[Any]) -> Any:
    """Return the other format's block for an item that was read from one."""
    name, form = item.form[:2]
    theirs = copy.copy(item)
    theirs.form = form
    if isinstance(theirs, Media):
        theirs.kind = theirs.kind.partition(":")[2]
    block: Any = dialect_of(name).write_block(theirs, blocks)
    is_piece = name == _RESPONSES and isinstance(block, dict) and block.get("type") == "message"
    return block["content"][0] if is_piece else block


def foreign_kinds(*names: str) -> tuple[Kind, ...]:
    """Return kinds of file of other formats, such as "anthropic:image", by what they hold."""
    return tuple(
        Kind(name, ("*/*",), ("*",), in_messages=False, name_slot="file", top_level=_TOP[sort])
        for name in names
        for sort in [name.rpartition(":")[2]]
    )


_TOP: Final = {
    "image": "image", "document image": "image", "generated": "image", "audio": "audio",
    "spoken": "audio", "video": "video", "document": DOCUMENT_TOP_LEVEL,
    "file": DOCUMENT_TOP_LEVEL, "web_search_result": None, "json": None,
}  # fmt: skip
