"""The reference implementation of patterns, by wcmatch."""

from wcmatch import glob

_FLAGS = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX | glob.CASE


def wcmatch_matches(pattern: str, text: str) -> bool:
    """Return whether wcmatch matches a pattern, in the dialect of the toolkit.

    `globs.name_pattern(pattern).matches(text)` gives the same answer for every legal name and
    accepted pattern. wcmatch expands braces one by one, so the pattern must not have too many.

    Examples:
        >>> wcmatch_matches("/sources/*.{md,txt}", "/sources/1.txt")
        True
    """
    return bool(glob.globmatch(text, pattern, flags=_FLAGS, limit=0))
