"""Digests: SHA-256 in the format's spelling, and the keys of objects stored by digest."""

import hashlib
import io
import re
from typing import BinaryIO, Final

DIGEST_PATTERN: Final = "sha256:[0-9a-f]{64}"
"""The form of a digest, as a regular expression without anchors."""

KEY_PREFIX: Final = "sha256/"
"""The beginning of the key of an object."""

NO_DIGEST: Final = "sha256:" + "0" * 64
"""A digest of no known content, which marks the start of a chain or content not yet read."""

_PREFIX: Final = "sha256:"
_BLOCK: Final = 128 * 1024
_DIGEST: Final = re.compile(DIGEST_PATTERN)


class Hasher:
    """A SHA-256 that is computed piece by piece.

    Examples:
        >>> hasher = Hasher()
        >>> hasher.update(b"Hello, ")
        >>> hasher.update(b"world!")
        >>> hasher.digest == sha256_of(b"Hello, world!")
        True
    """

    __slots__ = ("_hash",)

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def update(self, data: bytes | bytearray | memoryview) -> None:
        """Add bytes at the end."""
        self._hash.update(data)

    @property
    def digest(self) -> str:
        """The digest of all bytes so far, in the form that parts state."""
        return _PREFIX + self._hash.hexdigest()


def sha256_of(data: bytes | bytearray | memoryview) -> str:
    """Return the digest of `data`, in the form that parts state.

    Examples:
        >>> sha256_of(b"")[:20]
        'sha256:e3b0c44298fc1'
    """
    return _PREFIX + hashlib.sha256(data).hexdigest()


def digest_of_stream(stream: BinaryIO | io.FileIO) -> str:
    """Read a file object to its end and return the digest of its bytes."""
    # `hashlib.file_digest` clears 256 KiB first, which takes longer than hashing a small file.
    hasher = hashlib.sha256()
    while block := stream.read(_BLOCK):
        hasher.update(block)
    return _PREFIX + hasher.hexdigest()


def is_digest(value: object) -> bool:
    """Return whether a value is a digest as parts state them: `"sha256:"` and 64 lower-case digits.

    Examples:
        >>> is_digest(sha256_of(b"")), is_digest("sha256:E3"), is_digest(None)
        (True, False, False)
    """
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def hex_digits(digest: str) -> str:
    """Return the 64 digits of a digest, which can be a file name."""
    return digest.removeprefix(_PREFIX)


def from_hex_digits(digits: str) -> str:
    """Return the digest that has these 64 digits."""
    return _PREFIX + digits


def raw_digest(digest: str) -> bytes:
    """Return the 32 bytes of a digest."""
    return bytes.fromhex(hex_digits(digest))


def key_of(digest: str) -> str:
    """Return the key of content: its digest, so that equal content is stored once.

    Examples:
        >>> key_of("sha256:" + "0" * 64)[:16]
        'sha256/000000000'
    """
    return KEY_PREFIX + hex_digits(digest)
