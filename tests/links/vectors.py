"""The vectors of links: cases with what parsers of CommonMark and HTML see in them."""

import json
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[1] / "vectors" / "links"


def rows(*names: str) -> list[dict[str, Any]]:
    """Return the cases of some files."""
    files = ((VECTORS / f"{name}.jsonl").read_text("utf-8") for name in names)
    return [json.loads(line) for text in files for line in text.splitlines()]


def body_parts(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a case: the one with links first, then those that it may link to."""
    holder = {"contentType": row["type"], "content": row["text"]}
    if row["holder"] is not None:
        holder["name"] = row["holder"]
    others = row.get("others") or dict.fromkeys(row["parts"], "x")
    return [
        holder,
        *(
            {"name": name, "contentType": "text/plain", "content": content}
            for name, content in others.items()
            if name != row["holder"]
        ),
    ]
