"""What changed between two bodies, as a value: made, sent, applied, composed and inverted."""

from typing import TYPE_CHECKING

from messagebody._base.faces import face
from messagebody.patches._edits import Splice
from messagebody.patches._json_patch import to_json_patch
from messagebody.patches._operations import AddedPart, ChangedPart, KeptParts, Operation
from messagebody.patches._patch import MEDIA_TYPE, Patch, diff

__all__ = [
    "MEDIA_TYPE",
    "AddedPart",
    "ChangedPart",
    "KeptParts",
    "Operation",
    "Patch",
    "Splice",
    "diff",
    "to_json_patch",
]

if not TYPE_CHECKING:  # a type checker would assume that the module has every name
    __getattr__, _ = face(__name__)
