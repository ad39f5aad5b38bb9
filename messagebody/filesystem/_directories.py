"""Directories made by `mkdir`. They may be empty, and a body can't hold empty directories."""

from messagebody.names import ancestors, parent


class MadeDirectories:
    """Paths of made directories, by parent directory.

    In a body, directories are implied by the names of parts. Some programs make a directory and
    then check that it exists, so a filesystem remembers it for its own lifetime.
    """

    def __init__(self) -> None:
        self._inside: dict[str, dict[str, None]] = {}

    def __bool__(self) -> bool:
        return bool(self._inside)

    def __contains__(self, path: str) -> bool:
        return bool(self._inside) and path in self._inside.get(parent(path), ())

    def inside(self, path: str) -> list[str]:
        """Return the made directories directly inside a directory."""
        return [*self._inside.get(path, ())]

    def below(self, path: str) -> list[str]:
        """Return the directory itself, if it was made, and all made directories below it."""
        found = [path] if path in self else []
        waiting = self.inside(path)
        while waiting:
            each = waiting.pop(0)
            found.append(each)
            waiting[:0] = self.inside(each)
        return found

    def add(self, path: str) -> None:
        """Remember a directory and its parents."""
        for each in [*reversed([*ancestors(path)]), path]:
            self._inside.setdefault(parent(each), {})[each] = None

    def remove(self, path: str) -> None:
        """Forget a directory and all directories below it."""
        for each in [*reversed(self.below(path))]:
            above = self._inside[parent(each)]
            del above[each]
            if not above:
                del self._inside[parent(each)]
