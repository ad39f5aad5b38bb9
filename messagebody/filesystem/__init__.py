"""A body as an fsspec filesystem: named parts are files, directories are implied by names."""

import fsspec

from messagebody.filesystem._body_filesystem import MessageBodyFileSystem

__all__ = ["MessageBodyFileSystem"]

# universal-pathlib looks for the class here before it knows how a protocol spells its paths.
fsspec.register_implementation("messagebody", MessageBodyFileSystem, clobber=True)
