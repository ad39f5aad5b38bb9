"""The reference for patterns: the one door to wcmatch."""

from wcmatch import glob

_FLAGS = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX | glob.CASE


def wcmatch_matches(pattern: str, text: str) -> bool:
    """Return whether wcmatch matches a pattern, in the dialect of the toolkit.

    On every legal name and accepted pattern `globs.name_pattern(pattern).matches(text)` is the
    same. wcmatch expands braces one by one: mind how many there are.

    Examples:
        >>> wcmatch_matches("/sources/*.{md,txt}", "/sources/1.txt")
        True
    """
    return bool(glob.globmatch(text, pattern, flags=_FLAGS, limit=0))
