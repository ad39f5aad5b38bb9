"""Directories of files as bodies, and named parts of bodies as files."""

from messagebody.adapters.directory._pack import RefusedFile, pack
from messagebody.adapters.directory._unpack import unpack

__all__ = ["RefusedFile", "pack", "unpack"]
