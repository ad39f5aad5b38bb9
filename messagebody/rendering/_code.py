"""Code in colours, and JSON as code. Only this module uses Pygments, and of its lexers only a few.

The time of these lexers for hostile text was measured: it grows with the square of its length at
most.
"""

import json
from functools import cache
from itertools import groupby
from typing import Any, Final

from messagebody._core import EXTENSIONS, TEXT_PLAIN, canonical
from messagebody.errors import MissingDependency
from messagebody.rendering._elements import Html, element, joined

_LINE: Final = 60
"""Characters of JSON that stands in one line."""
_WRITER: Final = json.JSONEncoder(ensure_ascii=False, indent=2)
LOOKS: Final = frozenset("cksmn")
"""The classes of coloured code: comments, keywords, strings, numbers, names."""

_LANGUAGE_OF: Final = {
    "application/sql": "sql",
    "application/toml": "toml",
    "application/xml": "xml",
    "application/yaml": "yaml",
    "text/css": "css",
    "text/javascript": "javascript",
    "text/jsx": "javascript",
    "text/x-c": "c",
    "text/x-c++": "cpp",
    "text/x-diff": "diff",
    "text/x-go": "go",
    "text/x-java": "java",
    "text/x-python": "python",
    "text/x-ruby": "ruby",
    "text/x-rust": "rust",
    "text/x-shellscript": "bash",
    "text/x-typescript": "typescript",
}
# Only in blocks of Markdown: as parts they are shown in other ways.
_IN_MARKDOWN: Final = frozenset({"html", "ini", "json"})
_LANGUAGES: Final = _IN_MARKDOWN.union(_LANGUAGE_OF.values())
_SPELLINGS: Final = {
    "c++": "cpp", "golang": "go", "js": "javascript", "jsx": "javascript", "patch": "diff",
    "py": "python", "python3": "python", "rb": "ruby", "rs": "rust", "sh": "bash",
    "shell": "bash", "svg": "xml", "ts": "typescript", "tsx": "typescript", "yml": "yaml",
    "zsh": "bash",
}  # fmt: skip
_LOOK_OF: Final = {
    "Token.Comment": "c",
    "Token.Generic.Deleted": "m",
    "Token.Generic.Heading": "k",
    "Token.Generic.Inserted": "s",
    "Token.Generic.Subheading": "k",
    "Token.Keyword": "k",
    "Token.Literal.Date": "m",
    "Token.Literal.Number": "m",
    "Token.Literal.String": "s",
    "Token.Name.Attribute": "n",
    "Token.Name.Class": "n",
    "Token.Name.Decorator": "n",
    "Token.Name.Function": "n",
    "Token.Name.Namespace": "n",
    "Token.Name.Tag": "n",
    "Token.Operator.Word": "k",
}


def language_of(content_type: str, name: str | None) -> str | None:
    """Return the language of a text by its type, or by its name if it is of no special type.

    Examples:
        >>> language_of("text/x-python", None), language_of("text/plain", "/a.rs")
        ('python', 'rust')
    """
    kind = canonical(content_type)
    if kind == TEXT_PLAIN and name is not None:
        leaf = name.rpartition("/")[2]
        kind = EXTENSIONS.get(f".{leaf.rpartition('.')[2].lower()}", kind)
    return _LANGUAGE_OF.get(kind)


def language_named(word: str) -> str | None:
    """Return the language that a block of Markdown names.

    Examples:
        >>> language_named("Py"), language_named("brainfuck")
        ('python', None)
    """
    spelt = word.lower()
    spelt = _SPELLINGS.get(spelt, spelt)
    return spelt if spelt in _LANGUAGES else None


def indented(value: Any, most: int) -> str:
    r"""Return a JSON value as text: short in one line, else indented, and cut after `most`.

    Examples:
        >>> indented({"a": [1, 2]}, 100)
        '{"a": [1, 2]}'
        >>> indented(["x" * 99], 12)
        '[\n  "xxxxxx…'
    """
    pieces, length = list[str](), 0
    # Indents may take a hundred times as much room as the value, so it is written piece by piece.
    for piece in _WRITER.iterencode(value):
        pieces.append(piece)
        length += len(piece)
        if length > most:
            return f"{''.join(pieces)[: most - 1]}…"
    written = "".join(pieces)
    if len(written) > 2 * _LINE:
        return written
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _LINE else written


def coloured(text: str, language: str) -> Html:
    """Return code with its words in elements whose classes are `LOOKS`.

    Arguments:
        text: the code.
        language: what `language_of` or `language_named` returned.

    Raises:
        MissingDependency: the extra `view` is not installed.

    Examples:
        >>> coloured("x = 1  # one", "python")
        'x = <span class="m">1</span>  <span class="c"># one</span>'
    """
    try:
        from pygments.lexers import get_lexer_by_name
    except ImportError as error:
        raise MissingDependency("code in colours", "view") from error
    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    runs = groupby(lexer.get_tokens(text), lambda token: _look(token[0]))
    return joined(*(_run(look, "".join(word for _, word in tokens)) for look, tokens in runs))


def _run(look: str, words: str) -> str:
    return element("span", words, class_=look) if look else words


@cache
def _look(kind: Any) -> str:
    """Return the class of a kind of tokens: that of the kinds it belongs to, or none."""
    while kind is not None:
        if look := _LOOK_OF.get(str(kind)):
            return look
        kind = kind.parent
    return ""
