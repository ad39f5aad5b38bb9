"""Run every benchmark, or those named: `python -m benchmarks codec globs`."""

import importlib
import pkgutil
import sys

import benchmarks

# What the others share, what needs a second checkout, and what needs an environment of its own.
_NOT_MEASUREMENTS = {"__main__", "harness", "envelope_samples", "recorded", "versions"}
_PEERS = {"bulk_peers", "checkpoints", "pages", "serializers", "telemetry"}


def main() -> None:
    """Run the benchmarks named on the command line, all of them if none is."""
    found = {module.name for module in pkgutil.iter_modules(benchmarks.__path__)}
    for name in sys.argv[1:] or sorted(found - _NOT_MEASUREMENTS - _PEERS):
        print(f"\n## {name}\n", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()


main()
