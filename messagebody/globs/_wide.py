"""The wide dialect of patterns, which shells and git understand, by wcmatch.

It is for patterns of the program and its user, such as files to exclude. It has `?`, `[a-z]` and
`!(…)`, and expands braces one by one, so an untrusted pattern could take any amount of time.
Schemas and messages use the patterns of `globs.name_pattern` instead.
"""

from collections.abc import Callable

from messagebody.errors import InvalidPattern


def wide_pattern(pattern: str, *, match_base: bool = False) -> Callable[[str], bool]:
    """Return a function that matches paths against a pattern in the wide dialect.

    Arguments:
        pattern: the pattern: `*`, `**`, `?`, `[a-z]`, `{a,b}`, `{1..9}`, `@(a|b)`, `!(a)`. Names
            that begin with a dot are matched like others.
        match_base: match a pattern without "/" against the last segment of a path.

    Raises:
        InvalidPattern: the braces of the pattern expand to more than 1,000 patterns.

    Examples:
        >>> matches = wide_pattern("*.{pyc,md~}", match_base=True)
        >>> matches("deep/a.pyc"), matches("a.md")
        (True, False)
    """
    from wcmatch import glob

    if not isinstance(pattern, str):
        raise InvalidPattern(pattern, "a pattern is a string")
    # The same answer on every platform: "/" separates segments, case counts, dot files match.
    flags = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.EXTGLOB | glob.FORCEUNIX | glob.CASE
    if match_base:
        flags |= glob.MATCHBASE
    try:
        compiled = glob.compile(pattern, flags=flags)
    except Exception as error:  # wcmatch's class for it is private
        raise InvalidPattern(pattern, "its braces expand to more than 1,000 patterns") from error
    return lambda path: bool(compiled.match(path))
