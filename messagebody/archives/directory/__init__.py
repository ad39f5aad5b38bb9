"""Directories of files as bodies, and named parts of bodies as files."""

from messagebody.archives.directory._pack import RefusedFile, pack
from messagebody.archives.directory._unpack import unpack

__all__ = ["RefusedFile", "pack", "unpack"]
