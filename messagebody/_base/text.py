"""Safe forms of untrusted text: escaped, shortened, without secrets of URLs, and for XML."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

_CUT = 200
"""Characters of a stranger's text in a message; more would hide the message."""
_ASSERTED = 240
"""Characters of a `repr` that pytest shows of a failed assertion; it cuts longer ones."""
_LONGEST_URL = 8192
"""The most characters of a URL to show; a longer one would hide the rest of an error."""
# Cc controls, Cf formats (bidirectional marks among them), Cs surrogates, Zl and Zp separators.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# It begins only where no scheme could have begun before, so that a long run is scanned once.
_URL = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]++://[^\s'\"<>]++")


_PLACE = re.compile(r"\b(file|local|memory):/[^\s'\"<>]*[^\s'\"<>:;,.)]", re.IGNORECASE)
"""A URL of a place on this machine."""


def escape(text: str, *, limit: int | None = None, keep: str = "") -> str:
    r"""Return `text` with escapes for all characters that a terminal or log would act on.

    Arguments:
        text: any text, even from an attacker.
        limit: characters to keep; a longer text is cut and ends in "…".
        keep: characters to keep, such as a newline and a tab.

    Examples:
        >>> escape("a\x1b[31mb\u202ec")
        'a\\x1b[31mb\\u202ec'
    """
    if limit is not None and len(text) > limit:
        text = text[:limit] + "…"
    # Nearly all texts have no such characters.
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escape_character(c)
        if c not in keep and unicodedata.category(c) in _HIDDEN_CATEGORIES
        else c
        for c in text
    )


def _escape_character(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def quote(value: object, *, limit: int = _CUT) -> str:
    """Return `value` in single quotes, escaped and cut, for an error message.

    A value that is not a string is shown as its type and value.

    Examples:
        >>> quote("report.pdf"), quote(3)
        ("'report.pdf'", '3 (int)')
    """
    if isinstance(value, str):
        return f"'{escape(value, limit=limit)}'"
    return f"{escape(_spelled(value), limit=limit)} ({type(value).__name__})"


def _spelled(value: object) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):  # an integer too long to print, endless nesting
        return "…"


def answer_repr(kind: str, verdict: str, lines: Sequence[str] = ()) -> str:
    """Return the `repr` of an answer in a few lines, short enough for a failed assertion of pytest.

    Arguments:
        kind: the name of the class.
        verdict: the verdict.
        lines: what else to say, such as the first reason and an example; each is cut if need be.

    Examples:
        >>> print(answer_repr("Answer", "never", ["b requires '/r.md'", "for example '/q.md'"]))
        Answer(never:
          b requires '/r.md'
          for example '/q.md')
    """
    if not lines:
        return f"{kind}({verdict})"
    head, shown = f"{kind}({verdict}:", [escape(line) for line in lines]
    left = _ASSERTED - len(head) - 1
    # What a short line leaves is for the longer ones.
    for rank, place in enumerate(sorted(range(len(shown)), key=lambda at: len(shown[at]))):
        most = max(0, left // (len(shown) - rank) - len("\n  …"))
        if len(shown[place]) > most:
            shown[place] = f"{shown[place][:most]}…"
        left -= len(f"\n  {shown[place]}")
    return "\n  ".join([head, *shown]) + ")"


def redact_url(url: str, *, limit: int = _CUT) -> str:
    """Return a URL with "…" in place of user-info, query and fragment.

    A signed URL is a credential, so no query may reach a log, a repr or an error.

    Examples:
        >>> redact_url("https://user:pw@example.com/a.png?X-Amz-Signature=abc")
        'https://…@example.com/a.png?…'
    """
    if url[:5].lower() == "data:":
        return escape(f"{url.partition(',')[0]},…", limit=limit)
    if len(url) > _LONGEST_URL:
        # Only up to a slash, because the part after the cut could begin with the rest of a password
        # and its @.
        start = url[:_LONGEST_URL]
        url = start[: max(start.rfind("/"), start.rfind("\\")) + 1] + "…"
    shown = re.sub(r"[?#].*", "?…", url, flags=re.DOTALL)
    scheme, colon, rest = shown.partition(":") if ":" in shown else ("", "", shown)
    # Some parsers read a backslash as a slash, and the text after it as the host.
    pieces = re.split(r"([/\\])", rest)
    for at in range(0, len(pieces), 2):
        secret, at_sign, host = pieces[at].rpartition("@")
        # In a chain of filesystems an authority may be anywhere, and so in URLs that parsers
        # misread.
        is_authority = at == 0 or not pieces[at - 2]
        if at_sign and (is_authority or ":" in secret):
            pieces[at] = "…@" + host
    return escape(scheme + colon + "".join(pieces), limit=limit)


def redact_urls(text: str) -> str:
    """Return `text` with every URL in it redacted by `redact_url`."""
    return _URL.sub(lambda match: redact_url(match[0]), text)


def redact_places(text: str) -> str:
    """Return a text with "…" in place of what URLs say of this machine, as a model gets it.

    Examples:
        >>> redact_places("file:///home/me/a.txt: no such object")
        'file:…: no such object'
    """
    return _PLACE.sub(r"\1:…", text)


def plain_text(text: str) -> str:
    """Return a string of the exact type `str`, because writers of JSON refuse subclasses.

    Examples:
        >>> from enum import StrEnum
        >>> plain_text(StrEnum("Color", {"RED": "red"}).RED)
        'red'
    """
    # `str()` would call a method of the subclass, such as that of an enum.
    return text if type(text) is str else str.__str__(text)


def human_size(size: int | None) -> str:
    """Return a number of bytes in a form for people.

    Examples:
        >>> human_size(512), human_size(262_144), human_size(None)
        ('512 B', '256 KiB', 'unknown size')
    """
    if size is None:
        return "unknown size"
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    digits = 0 if amount >= 100 or amount == int(amount) else 1
    return f"{amount:.{digits}f} {unit}"


def common_prefix_length(one: str, other: str) -> int:
    """Return the length of the longest common prefix of two texts."""
    for position, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return position
    return min(len(one), len(other))


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun in the right form.

    Examples:
        >>> count_of(1, "part"), count_of(3, "part")
        ('1 part', '3 parts')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def nearest(text: str, names: Iterable[str], similarity: float = 0.6) -> str:
    """Return the name that is spelt most like a text, or "" if none is.

    Arguments:
        text: what somebody typed; its length and the number of names are those that the caller
            can wait for.
        names: the names.
        similarity: the least similarity, from 0 to 1.

    Examples:
        >>> nearest("summariser", ["summarizer", "critic"]), nearest("cat", ["dog"])
        ('summarizer', '')
    """
    import difflib  # only for errors

    return next(iter(difflib.get_close_matches(text, [*names], 1, similarity)), "")


def did_you_mean(text: str, names: Iterable[str]) -> str:
    """Return the question for the nearest name, to follow a wrong one, or ""; see `nearest`.

    Examples:
        >>> did_you_mean("summariser", ["summarizer", "critic"])
        " (did you mean 'summarizer'?)"
    """
    near = nearest(text, names)
    return f" (did you mean {quote(near)}?)" if near else ""


# Characters that are not allowed in XML 1.0, not even as references.
_NOT_XML: Final = re.compile("[\ufffe\uffff]")


def xml_content(text: str) -> str:
    r"""Return a text as the content of an element.

    Examples:
        >>> xml_content("a < b\x00")
        'a &lt; b\\x00'
    """
    from html import escape as escape_markup  # loads a table of entities

    return escape_markup(_xml_legal(text), quote=False)


def xml_attribute(text: str) -> str:
    r"""Return a text as the value of an attribute, in quotes.

    Examples:
        >>> xml_attribute('say "a < b"')
        '\'say "a &lt; b"\''
    """
    from xml.sax.saxutils import quoteattr

    return quoteattr(_xml_legal(text))


def _xml_legal(text: str) -> str:
    return _NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", escape(text, keep="\n"))
