"""Digests: the text form, the keys made of it, and the one module that spells them."""

import ast
import hashlib
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody._base import digests

PACKAGE = Path(digests.__file__).parents[1]


@given(st.lists(st.binary(max_size=50), max_size=5))
def test_every_way_to_hash_agrees(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    expected = "sha256:" + hashlib.sha256(whole).hexdigest()
    hasher = digests.Hasher()
    for piece in pieces:
        hasher.update(piece)
    assert hasher.digest == digests.sha256_of(whole) == expected
    assert digests.digest_of_stream(io.BytesIO(whole)) == expected
    assert digests.raw_digest(expected) == hashlib.sha256(whole).digest()
    assert digests.is_digest(expected)
    assert digests.key_of(expected) == "sha256/" + expected.removeprefix("sha256:")


@pytest.mark.parametrize(
    "value", ["", "sha256:", "sha256:" + "0" * 63, "sha256:" + "A" * 64, "md5:" + "0" * 64, None, 7]
)
def test_is_digest_takes_nothing_else(value: object) -> None:
    assert not digests.is_digest(value)


def test_no_other_module_spells_a_digest() -> None:
    spellers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "sha256" in (source := path.read_text(encoding="utf-8"))
        for text in _code_strings(ast.parse(source))
        if text.startswith(("sha256:", "sha256/"))
    }
    # The conformance kit uses keys of contents that nobody stored.
    assert spellers == {"_base/digests.py", "testing/_stores.py"}


def _code_strings(tree: ast.Module) -> list[str]:
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]
