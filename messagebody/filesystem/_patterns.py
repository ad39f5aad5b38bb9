"""Glob patterns over the paths of a body's filesystem."""

import re
from collections.abc import Iterable
from glob import has_magic
from typing import Final

from fsspec.utils import glob_translate

from messagebody.filesystem._tree import FileTree

_BREAK: Final = re.compile(r"[*?/]+")
_MAGIC: Final = re.compile(r"[*?\[]")


def matching(tree: FileTree, path: str, maxdepth: int | None, *, withdirs: bool) -> list[str]:
    """Return the files and directories that match a pattern, as in fsspec but in any order.

    fsspec itself is slower: it describes and sorts all files before it looks at the pattern.

    Arguments:
        tree: the files and directories.
        path: the pattern, without a protocol; one that ends with "/" matches directories only.
        maxdepth: levels to go down from the first "**"; all if None.
        withdirs: whether to return directories too.
    """
    pattern, end = path.rstrip("/") or "/", "/" if path.endswith("/") else ""
    if not has_magic(pattern):
        return [pattern] if tree.has(pattern) or tree.is_directory(pattern) else []
    text, matches = _text_in(pattern), re.compile(glob_translate(pattern + end)).match
    root = _MAGIC.split(pattern, maxsplit=1)[0].rpartition("/")[0] or "/"
    below = pattern[len(root.rstrip("/")) + 1 :]
    depth = _depth(below, maxdepth)
    files, directories = _candidates(tree, root, depth)
    # Looking for a text takes a tenth of the time of a match.
    found = [] if end else [each for each in files if text in each and matches(each)]
    if withdirs:
        # As in fsspec, "/a/**" also finds the directory "/a".
        slash = "/" if end or pattern.endswith("/**") else ""
        # A path that is both a file and a directory is listed as the file.
        found += [
            each
            for each in directories
            if text in each and matches(each + slash) and not tree.has(each)
        ]
    if depth is None:
        return found
    start = len(pattern) - len(below)
    return [each for each in found if each[start:].count("/") < depth]


def _text_in(pattern: str) -> str:
    """Return a text that is in all paths that a pattern matches, the longest that it spells."""
    # What stands in brackets is one character of several.
    return "" if "[" in pattern else max(_BREAK.split(pattern), key=len)


def _depth(below: str, maxdepth: int | None) -> int | None:
    """Return how many levels a pattern spans below its literal prefix; None for all."""
    above, is_deep, _ = below.partition("**")
    if not is_deep:
        return above.count("/") + 1
    return None if maxdepth is None else above.count("/") + maxdepth


def _candidates(
    tree: FileTree, root: str, depth: int | None
) -> tuple[Iterable[str], Iterable[str]]:
    """Return the files and the directories that may match; others may be among them."""
    if depth != 1:
        return tree.files_and_directories(root)
    found = tree.find(root, 1, withdirs=True)
    files = [each for each in found if tree.has(each)]
    return files, {*found}.difference(files)
