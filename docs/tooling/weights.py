"""Prints what each dependency weighs: `python docs/tooling/weights.py` in an environment with them.

A row is a distribution of the base install, or an extra: the files that it brings beyond the base
install, compiled files left out, and how long its modules take to import in a new process.
"""

import re
import statistics
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

ROOT = "messagebody"
# What a distribution is imported as, where its name does not say it.
MODULES = {"python-magic": "magic", "wcmatch": "wcmatch.glob"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(found: Distribution, extras: frozenset[str]) -> list[Requirement]:
    """Return what a distribution asks for here, with these extras."""
    stated = [Requirement(text) for text in found.requires or ()]
    return [
        each
        for each in stated
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in (extras or {""}))
    ]


def closure(requirements: list[Requirement]) -> dict[str, Distribution]:
    """Return all distributions that requirements bring, by name.

    Raises:
        PackageNotFoundError: one is not installed.
    """
    found: dict[str, Distribution] = {}
    todo = [*requirements]
    while todo:
        wanted = todo.pop()
        name = canonical(wanted.name)
        if name in found:
            continue
        found[name] = distribution(wanted.name)
        todo += required(found[name], frozenset(wanted.extras))
    return found


def licence(found: Distribution) -> str:
    stated = found.metadata.get("License-Expression") or found.metadata.get("License")
    kinds = found.metadata.get_all("Classifier") or []
    named = [each.rpartition(" :: ")[2] for each in kinds if each.startswith("License ::")]
    return stated or ", ".join(named)


def size(found: Distribution) -> int:
    paths = [each.locate() for each in found.files or () if not each.name.endswith(".pyc")]
    return sum(path.stat().st_size for path in paths if path.is_file())  # type: ignore[attr-defined]


def import_time(module: str) -> float:
    """Return the milliseconds of CPU that an import takes in a new process."""
    clock = "__import__('time').process_time()"
    program = f"start = {clock}; import {module}; print({clock} - start)"
    runs = [
        float(subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True,
                             capture_output=True, text=True).stdout.splitlines()[-1])
        for _ in range(5)
    ]  # fmt: skip
    return 1000 * statistics.median(runs)


def row(*cells: str) -> None:
    print("|", " | ".join(cells), "|")


def main() -> None:
    package = distribution(ROOT)
    base = required(package, frozenset())
    brought = closure(base)
    row("dependency", "licence", "MB", "with what it needs", "import, ms")
    row("---", "---", "---:", "---:", "---:")
    for each in base:
        own, needed = brought[canonical(each.name)], closure([each])
        module = MODULES.get(each.name, each.name.replace("-", "_"))
        whole = sum(map(size, needed.values()))
        milliseconds = import_time(module)
        megabytes = f"{size(own) / 1e6:.1f}", f"{whole / 1e6:.1f}"
        row(f"`{each.name}`", licence(own), *megabytes, f"{milliseconds:.0f}")
    row("together", "", "", f"{sum(map(size, brought.values())) / 1e6:.1f}", "")
    print()
    row("extra", "packages beyond the base install", "MB")
    row("---", "---:", "---:")
    for extra in sorted(package.metadata.get_all("Provides-Extra") or ()):
        try:
            more = closure(required(package, frozenset({extra})))
        except PackageNotFoundError:
            row(f"`{extra}`", "not installed here", "")
            continue
        new = {name: each for name, each in more.items() if name not in brought}
        row(f"`{extra}`", f"{len(new)}", f"{sum(map(size, new.values())) / 1e6:.1f}")


if __name__ == "__main__":
    main()
