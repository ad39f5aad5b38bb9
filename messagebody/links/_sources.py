"""Sources: which words of a text in Markdown rest on which source, by its `source:` links."""

from typing import Final

from messagebody._core import TextRange
from messagebody.errors import MissingDependency
from messagebody.links._targets import target_of

_SCHEME: Final = "source:"


def source_links(text: str) -> list[tuple[TextRange, str]]:
    """Return where the words of `source:` links stand in a text, each with the name it means.

    Links in raw HTML are not among them: their words may hold tags. A text without `source:` is not
    parsed.

    Arguments:
        text: a text in Markdown.

    Raises:
        MissingDependency: the extra `links` is not installed.

    Examples:
        >>> source_links("Cats are [cute](source:1).")
        [(TextRange(start=10, end=14), '/sources/1')]
    """
    if _SCHEME not in text:
        return []
    try:
        from messagebody.links._markdown import linked_words
    except ImportError as error:
        raise MissingDependency("links in Markdown", "links") from error
    meant = ((words, target_of(url, None)) for words, url in linked_words(text))
    return [(words, each[0]) for words, each in meant if each is not None and each[1] == "source"]
