"""Signing and verifying Olympus envelopes, beside rfc8785 and hmac alone."""

import hmac
from collections.abc import Callable
from typing import Any

import rfc8785

from benchmarks.envelope_samples import envelope
from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody.envelopes import olympus

_SECRET = bytes(range(32))
_KEY = bytes(32)


def _contestants(value: dict[str, Any]) -> dict[str, Callable[[], object]]:
    found: dict[str, Callable[[], object]] = {
        "bare": lambda: hmac.digest(_KEY, rfc8785.dumps(value), "sha256").hex()
    }
    for profile in olympus.SigningProfile:
        made = olympus.signed(value, _SECRET, profile=profile)

        def sign(profile: str = profile) -> object:
            return olympus.sign(value, _SECRET, profile=profile)

        def verify(made: dict[str, Any] = made, profile: str = profile) -> object:
            return olympus.verify(made, _SECRET, profile=profile)

        found |= {f"sign {profile}": sign, f"verify {profile}": verify}
    return found


def main() -> None:
    """Print what signing costs, for small and large envelopes."""
    print(machine("rfc8785"))
    rows = []
    for items in (0, 10, 1_000):
        value = envelope(items)
        times = compare(_contestants(value), seconds=1.5, rounds=9)
        bare = times.pop("bare")
        rows += [
            (f"{len(rfc8785.dumps(value)):,} B", name, show_time(took), show_ratio(took / bare))
            for name, took in times.items()
        ]
    columns = ("envelope", "operation", "time", "ratio to rfc8785 + hmac alone")
    print_table("Olympus signatures", columns, rows)


if __name__ == "__main__":
    main()
