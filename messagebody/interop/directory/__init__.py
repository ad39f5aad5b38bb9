"""Directories of files as bodies, and named parts of bodies as files."""

from messagebody.interop.directory.pack import Refusal, pack
from messagebody.interop.directory.unpack import unpack

__all__ = ["Refusal", "pack", "unpack"]
