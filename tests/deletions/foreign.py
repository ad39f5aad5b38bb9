"""Files of somebody else, at every place that tempts: nothing of this package may touch them."""

import os
import time
from pathlib import Path
from typing import Any

import attrs

DIGITS = "0123456789abcdef" * 4
LONG_AGO = time.time() - 10 * 366 * 86_400

# Among them are names that look like those of results, stored objects, caches and temporaries.
NAMES = [
    "family.jpg", "notes.txt", ".hidden", "m.json.bak", ".messagebody-mine", ".messagebody-0g",
    "records/2024.csv", "records/x.json", "shards/family.jpg", "shards/000000.jsonl.old",
    "errors.txt", "sha256/readme.txt", f"sha256/{DIGITS[:-1]}", f"sha256/{DIGITS}.bak",
    f"sha256/01/{DIGITS}", f"{DIGITS}.jpg", "links/family.jpg", ".wh.notes.txt", "a.db-journal",
    "x.lock",
]  # fmt: skip


@attrs.frozen
class Foreign:
    """What was there before, by path."""

    root: Path
    found: dict[Path, Any]

    @classmethod
    def below(cls, root: Path) -> "Foreign":
        """Write foreign files into a directory and into all that are below it, and note them."""
        outside = root / "outside"
        outside.mkdir(exist_ok=True)
        known: dict[Path, Any] = {}
        for directory in [root, *(path for path in sorted(root.rglob("*")) if _is_directory(path))]:
            for name in NAMES:
                path = directory / name
                if not os.path.lexists(path) and not _stands_in_the_way(path):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(f"precious {path}".encode())
                    os.utime(path, (LONG_AGO, LONG_AGO))
                    known[path] = _looked_at(path)
            door = directory / "door"
            door.symlink_to(outside)
            known[door] = _looked_at(door)
        return cls(root, known)

    def gone(self) -> list[str]:
        """Return what is no longer there, or not as it was."""
        return [
            str(path.relative_to(self.root))
            for path, before in self.found.items()
            if _looked_at(path) != before
        ]


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _stands_in_the_way(path: Path) -> bool:
    return any(os.path.lexists(parent) and not parent.is_dir() for parent in path.parents)


def _looked_at(path: Path) -> Any:
    if path.is_symlink():
        return path.readlink()
    if not path.is_file():
        return None
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_mode, path.read_bytes()
