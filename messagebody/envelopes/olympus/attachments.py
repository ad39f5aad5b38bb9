"""Whether an attachment's file is the one the envelope declares."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from messagebody.content import sha256_of

__all__ = ["AttachmentStatus", "verify_attachment"]


class AttachmentStatus(StrEnum):
    """What is known of an attachment; true only when it is ok."""

    OK = "ok"
    """The file has the declared hash."""

    MISMATCH = "mismatch"
    """The file has another hash, or the declared one is malformed."""

    MISSING = "missing"
    """There is no file. Public builders declare 64 zeros for one; that proves nothing."""

    UNVERIFIED = "unverified"
    """No hash is declared."""

    def __bool__(self) -> bool:
        return self is AttachmentStatus.OK


def verify_attachment(attachment: Mapping[str, Any], content: bytes | None) -> AttachmentStatus:
    """Compare a whole file with the SHA-256 its attachment declares.

    Arguments:
        attachment: one of an envelope's context attachments.
        content: the file's bytes, None if there is no file.

    Examples:
        >>> verify_attachment({"type": "plan", "path": "plan.md"}, b"# Plan")
        <AttachmentStatus.UNVERIFIED: 'unverified'>
    """
    if content is None:
        return AttachmentStatus.MISSING
    declared = attachment.get("hash")
    if declared is None:
        return AttachmentStatus.UNVERIFIED
    return AttachmentStatus.OK if declared == sha256_of(content) else AttachmentStatus.MISMATCH
