"""A body as an fsspec filesystem: named parts are files, directories are implied by names."""

import fsspec

from messagebody.filesystem._body_filesystem import MessageBodyFileSystem

__all__ = ["MessageBodyFileSystem"]

# universal-pathlib looks the class up in fsspec's registry to learn how its paths are spelled.
fsspec.register_implementation("messagebody", MessageBodyFileSystem, clobber=True)
