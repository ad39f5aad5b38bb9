"""A directory of files becomes a body, and a body's named parts become files."""

from messagebody.interop.directory.packing import pack
from messagebody.interop.directory.refusals import Refusal
from messagebody.interop.directory.unpacking import unpack

__all__ = ["Refusal", "pack", "unpack"]
