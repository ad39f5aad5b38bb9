"""A hook of mkdocs that marks Python blocks with prompts, so that they are copied without them."""

import re
from typing import Any

_WITH_PROMPTS = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Give blocks with prompts the lexer that tells prompts and output from code."""
    return _WITH_PROMPTS.sub("```pycon\n", markdown)
