"""The model: parts and their contents, the index by position, name and directory, and bodies."""

from messagebody._base.faces import face

__getattr__, __dir__ = face(__name__)
