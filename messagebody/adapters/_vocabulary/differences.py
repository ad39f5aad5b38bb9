"""Differences between two JSON values, without a copy of their content.

A message consists of what its parts make, and a rest: `difference(made, message)` returns the rest,
and `apply` changes what the parts make later by it. For text with the same value in another
spelling (base64 in the URL-safe alphabet, JSON with spaces), the spelling is noted and not the
text.
"""

import json
import re
from itertools import islice
from typing import Any, Final

from messagebody._core import DEFAULT_LIMITS, data_urls, strict_json
from messagebody.errors import EnvelopeError

_TOKEN: Final = re.compile(r'[ \t\n\r]+|"(?:[^"\\]|\\.)*+"?|[\[\]{},:]|[^\s\[\]{},:"]+')


_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


def difference(made: Any, wanted: Any) -> dict[str, Any]:
    r"""Return the changes that turn `made` into `wanted`; empty if they are equal.

    Examples:
        >>> difference({"a": 1, "b": 2}, {"a": 1, "c": [3]})
        {'drop': ['/b'], 'set': {'/c': [3]}}
        >>> difference({"a": "-_8="}, {"a": "+/8"})
        {'spell': {'/a': 'standard unpadded'}}
        >>> difference({"a": "aGVsbG8h"}, {"a": "aGVs\nbG8h\n"})
        {'spell': {'/a': 'lf-4-ended'}}
        >>> difference({"a": '{"b":1}'}, {"a": '{"b": 1}'})
        {'spell': {'/a': 'spaced'}}
        >>> difference({"type": "image/jpeg"}, {"type": "image/jpg"})
        {'turn': {'/type': ['image/jpeg', 'image/jpg']}}
        >>> difference({"content": None}, {})  # which may have some later
        {'lack': ['/content']}
    """
    if made == wanted:
        return {}
    found: dict[str, Any] = {}
    _compare(made, wanted, "", found)
    return found


def _compare(made: Any, wanted: Any, pointer: str, found: dict[str, Any]) -> None:
    pending = [(made, wanted, pointer)]
    while pending:
        made, wanted, pointer = pending.pop()  # which differ
        if isinstance(made, dict) and isinstance(wanted, dict):
            pending += _compare_members(made, wanted, pointer, found)
        elif isinstance(made, list) and isinstance(wanted, list) and len(made) == len(wanted):
            for index, (old, new) in enumerate(zip(made, wanted, strict=True)):
                if old != new:
                    pending.append((old, new, f"{pointer}/{index}"))
        else:
            _note(made, wanted, pointer, found)


def _compare_members(
    made: dict[str, Any], wanted: dict[str, Any], pointer: str, found: dict[str, Any]
) -> list[tuple[Any, Any, str]]:
    """Note the members that one of two objects has, and return those of both that differ."""
    differing = []
    for key, old in made.items():
        if key not in wanted:
            kind = "lack" if old in _EMPTY else "drop"
            found.setdefault(kind, []).append(_below(pointer, key))
        elif old != (new := wanted[key]):
            differing.append((old, new, _below(pointer, key)))
    for key, new in wanted.items():
        if key not in made:
            found.setdefault("set", {})[_below(pointer, key)] = new
    return differing


def _note(made: Any, wanted: Any, pointer: str, found: dict[str, Any]) -> None:
    spelling = _spelling(made, wanted)
    if spelling is not None:
        found.setdefault("spell", {})[pointer] = spelling
    else:
        # The other value is only right as long as the parts still make the old one.
        found.setdefault("turn", {})[pointer] = [made, wanted]


def _below(pointer: str, key: str) -> str:
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


def apply(rest: Any, made: Any) -> Any:
    """Return `made` with the changes of `difference`, made in place if possible.

    A change whose place no longer exists is left out.

    Raises:
        EnvelopeError: `rest` is not what `difference` returns.
    """
    if not rest:
        return made
    root = {"": made}
    try:
        for pointer, spelling in rest.get("spell", {}).items():
            _change(root, pointer, lambda old, spelling=spelling: spell(old, spelling))
        for pointer, (old, new) in rest.get("turn", {}).items():
            _change(root, pointer, lambda now, old=old, new=new: new if now == old else now)
        for pointer in rest.get("drop", ()):
            holder, key = _holder(root, pointer)
            if isinstance(holder, dict):
                holder.pop(key, None)
        for pointer in rest.get("lack", ()):
            holder, key = _holder(root, pointer)
            if isinstance(holder, dict) and holder.get(key) in _EMPTY:
                holder.pop(key, None)
        for pointer, value in rest.get("set", {}).items():
            holder, key = _holder(root, pointer)
            if isinstance(holder, dict):
                holder[key] = value
        return root[""]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise EnvelopeError("rest is not what to_body returned: a change can't be read") from error


def value_set(rest: dict[str, Any], pointer: str) -> Any:
    """Return the value that a difference puts at a place, None if it puts none there.

    Examples:
        >>> value_set({"set": {"/a": {"b": 1}}}, "/a/b"), value_set({"turn": {"/c": [1, 2]}}, "/c")
        (1, 2)
    """
    turned = rest.get("turn")
    if isinstance(turned, dict) and isinstance(pair := turned.get(pointer), list) and pair:
        return pair[-1]
    members = rest.get("set")
    for place, value in members.items() if isinstance(members, dict) else ():
        if f"{pointer}/".startswith(f"{place}/"):
            held = value
            for step in pointer[len(place) :].split("/")[1:]:
                held = held.get(step) if isinstance(held, dict) else None
            return held
    return None


def holder_of(value: Any, pointer: str) -> Any:
    """Return what holds the place of a JSON pointer, None if nothing does."""
    return _holder({"": value}, pointer)[0]


def _change(root: dict[str, Any], pointer: str, new: Any) -> None:
    holder, key = _holder(root, pointer)
    if isinstance(holder, dict) and key in holder:
        holder[key] = new(holder[key])
    elif isinstance(holder, list) and key.isdecimal() and int(key) < len(holder):
        holder[int(key)] = new(holder[int(key)])


def _holder(root: dict[str, Any], pointer: str) -> tuple[Any, str]:
    """Return the object or array that holds the target of a pointer, or None, and the key."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")]
    here: Any = root
    for step in steps[:-1]:
        if isinstance(here, dict):
            here = here.get(step)
        elif isinstance(here, list) and step.isdecimal() and int(step) < len(here):
            here = here[int(step)]
        else:
            return None, ""
    return here, steps[-1]


# Spellings


def spell(text: Any, spelling: Any) -> Any:
    """Return content in a spelling that `difference` found, or unchanged if it has no such form."""
    if not isinstance(text, str):
        return text
    if spelling == _SPACED:
        return _spaced(text) or text
    if isinstance(spelling, list):
        return _respelled_json(text, spelling)
    head, comma, content = text.rpartition(",") if data_urls.is_data_url(text) else ("", "", text)
    if isinstance(spelling, dict):
        if spelling.get("of", len(text)) != len(text):
            return text  # the type in the URL was that of other content
        comma = "," if "of" in spelling else comma
        head, spelling = spelling.get("head", head), spelling.get("base64", "")
    if "url-safe" in spelling:
        content = _url_safe(content)
    if "standard" in spelling:
        content = content.replace("-", "+").replace("_", "/")
    if "unpadded" in spelling:
        content = content.rstrip("=")
    content = _with_spaces(content, spelling)
    return head + comma + content


def _spelling(made: Any, wanted: Any) -> Any:
    """Return the spelling of `made` that gives `wanted`; None if their values differ."""
    if not isinstance(made, str) or not isinstance(wanted, str):
        return None
    if data_urls.is_data_url(wanted):
        # A URL may stand where a format has base64: then the length says of which content.
        about = {} if data_urls.is_data_url(made) else {"of": len(made)}
        head, _, content = wanted.partition(",")
        spelling = _base64_spelling(made if about else made.rpartition(",")[2], content)
        return None if spelling is None else {"head": head, "base64": spelling, **about}
    if made[:1] in _JSON_STARTS and wanted.lstrip()[:1] in _JSON_STARTS:
        return _SPACED if _spaced(made) == wanted else _json_spelling(made, wanted)
    return _base64_spelling(made, wanted) or None


_SPACED: Final = "spaced"
"""The spelling of most JSON: a space behind each comma and colon."""


def _spaced(text: str) -> str | None:
    """Return compact JSON with a space behind each comma and colon, None if it is no JSON."""
    try:
        return _ENCODER.encode(strict_json.loads(text, depth=DEFAULT_LIMITS.depth))
    except strict_json.InvalidJson:
        return None


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
_JSON_STARTS: Final = tuple('{["-0123456789tfn')


def _url_safe(encoded: str) -> str:
    return encoded.replace("+", "-").replace("/", "_")


def _base64_spelling(made: str, wanted: str) -> str | None:
    if made == wanted:
        return ""
    if len(wanted) > len(made) - 3 and any(each in wanted for each in " \t\r\n"):
        plain = _base64_spelling(made, "".join(wanted.split()))
        spaces = None if plain is None else _spaces_of(wanted)
        return None if spaces is None else f"{plain} {spaces}".strip()
    # Most different texts have different values: the length shows it, or else one comparison.
    if not 0 <= len(made) - len(wanted) <= 2:
        return None
    if _url_safe(made).rstrip("=") != _url_safe(wanted).rstrip("="):
        return None
    for spelling in ("unpadded", "url-safe", "url-safe unpadded", "standard", "standard unpadded"):
        if spell(made, spelling) == wanted:
            return spelling
    return None


_LINES: Final = re.compile(r"(crlf|lf)-(\d{1,6})(-ended)?\Z")
_GAPS: Final = re.compile(r"gap-(\d{1,12})-(\d{1,3}(?:\.\d{1,3})*)")
_MOST_GAPS: Final = 1000


def _spaces_of(text: str) -> str | None:
    """Return the white space in a text: lines of one length, or each gap; None for many gaps."""
    plain, width = "".join(text.split()), len(text.partition("\n")[0].rstrip("\r"))
    mark = "crlf" if "\r\n" in text else "lf"
    found = f"{mark}-{width}" + ("-ended" if text.endswith("\n") else "")
    if width and _with_spaces(plain, found) == text:
        return found
    gaps = [*islice(re.finditer(r"\s+", text), _MOST_GAPS + 1)]
    if len(gaps) > _MOST_GAPS:
        return None
    return " ".join(f"gap-{gap.start()}-{'.'.join(str(ord(each)) for each in gap[0])}"
                    for gap in gaps)  # fmt: skip


def _with_spaces(text: str, spelling: str) -> str:
    """Return a text in lines, as programs for mail write base64, or with its gaps."""
    for gap in _GAPS.finditer(spelling):
        place, spaces = int(gap[1]), "".join(chr(int(each)) for each in gap[2].split("."))
        text = text[:place] + spaces + text[place:]
    match = _LINES.search(spelling)
    if match is None or not int(match[2]):
        return text
    width, end = int(match[2]), "\r\n" if match[1] == "crlf" else "\n"
    lines = (text[start : start + width] for start in range(0, len(text), width))
    return end.join(lines) + (end if match[3] else "")


def _json_spelling(made: str, wanted: str) -> list[Any] | None:
    """Return the changes that turn one JSON text into another of the same value.

    Each change has the position in `made`, the number of characters to remove, and their
    replacement.
    """
    if not _same_json(made, wanted):
        return None
    mine = [match for match in _TOKEN.finditer(made) if not match[0].isspace()]
    changes, position = [], 0
    for token in (match[0] for match in _TOKEN.finditer(wanted)):
        if token.isspace():
            start = mine[position].start() if position < len(mine) else len(made)
            changes.append([start, 0, token])
            continue
        if position == len(mine):
            return None
        if mine[position][0] != token:
            changes.append([mine[position].start(), len(mine[position][0]), token])
        position += 1
    return changes if _respelled_json(made, changes) == wanted else None


def _respelled_json(text: str, changes: list[Any]) -> str:
    pieces, end = [], 0
    for start, length, new in changes:
        pieces += [text[end:start], new]
        end = start + length
    respelled = "".join([*pieces, text[end:]])
    # The content may have changed, and the spelling is that of the old content.
    return respelled if _same_json(text, respelled) else text


def _same_json(mine: str, other: str) -> bool:
    try:
        first = strict_json.loads(mine, depth=DEFAULT_LIMITS.depth)
        return strict_json.same(first, strict_json.loads(other, depth=DEFAULT_LIMITS.depth))
    except strict_json.InvalidJson:
        return False
