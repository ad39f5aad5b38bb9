"""A directory of files becomes a body, and a body's named parts become files."""

from messagebody.interop.directory.pack import Refusal, pack
from messagebody.interop.directory.unpack import unpack

__all__ = ["Refusal", "pack", "unpack"]
