"""The model: parts and their contents, the index by position, name and directory, and bodies."""
