"""A campaign of random pairs: `check` against brute force.

`python -m tests.compatibility.campaign --pairs 1000000` decides each pair twice and compares the
verdict; of every fourth pair it compares the counterexample and the example too. Brute force tries
a pool of names. Where it finds no such body, and `check` shows one of other names that brute force
calls what they should be, the verdict counts as right. `--contents 1000000` compares pairs of
content schemas with brute force and with the library. Both print counts, and fail on a single
mistake.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import attrs

from messagebody.compatibility import Compatibility, check
from messagebody.schema import MessageBodySchema
from tests.compatibility import generators, oracle
from tests.compatibility.content_campaign import contents

_BLOCK = 500
"""Pairs that a process takes at a time."""
_SHOWN = 20


@attrs.define
class Report:
    """What came of some pairs."""

    counts: Counter[str] = attrs.field(factory=Counter)
    mistakes: list[str] = attrs.field(factory=list)
    seconds: float = 0.0
    """Processor time."""

    def add(self, other: "Report") -> None:
        """Take in what came of more pairs."""
        self.counts += other.counts
        self.mistakes += other.mistakes
        self.seconds += other.seconds


def compared(number: int) -> tuple[str, str | None]:
    """Return the verdict of a pair, and what is wrong with it by brute force.

    Making the bodies takes longer than deciding, so every fourth pair is asked for them.
    """
    a, b = _pair(number)
    expected = oracle.decide(a, b)
    result = check(MessageBodySchema(a), MessageBodySchema(b))
    verdict = str(result.verdict)
    if verdict != expected.verdict:
        beyond = {
            ("sometimes", "never"): result.example,
            ("sometimes", "always"): result.counterexample,
            ("never", "always"): result.counterexample,
        }.get((verdict, expected.verdict))
        if beyond is not None and _is_shown(result, a, b):
            return f"{verdict} by a name outside of the pool", None
        return verdict, f"expected {expected.verdict}, got {verdict}"
    if number // len(generators.GENERATORS) % 4:
        return verdict, None
    for body, is_there in (
        (result.counterexample, not expected.always),
        (result.example, expected.shared),
    ):
        # One that brute force does not find is of names outside of its pool, and looked at below.
        if is_there and body is None:
            return verdict, "no body is shown"
    if not _is_shown(result, a, b):
        return verdict, "a body shows something else"
    return verdict, None


def _is_shown(result: Compatibility, a: oracle.Schema, b: oracle.Schema) -> bool:
    """Tell whether the bodies of an answer are valid for the schemas that they should be for."""
    for body, is_taken in ((result.counterexample, False), (result.example, True)):
        if body is not None:
            parts = [(part.name, part.content_type) for part in body]
            if not oracle.is_valid(a, parts) or oracle.is_valid(b, parts) is not is_taken:
                return False
    return True


def _pair(number: int) -> tuple[oracle.Schema, oracle.Schema]:
    """Return the pair with this number.

    In every eighth one parts compete for few names, in another eighth texts that are no names match
    too.
    """
    if number % 8 == 6:
        return generators.crowded(random.Random(number))
    if number % 8 == 4:
        return generators.dotted(random.Random(number))
    return generators.pair(number)


def run_block(examine: Callable[[int], tuple[str, str | None]], first: int, count: int) -> Report:
    """Examine pairs by number."""
    report, start = Report(), time.process_time()
    for number in range(first, first + count):
        try:
            verdict, mistake = examine(number)
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            verdict, mistake = "raised", repr(error)
        report.counts[verdict] += 1
        if mistake is not None:
            report.mistakes.append(f"pair {number}: {mistake}")
    report.seconds = time.process_time() - start
    return report


def main(arguments: list[str]) -> int:
    """Run the campaign and print the counts; 1 if there was a mistake."""
    parser = argparse.ArgumentParser(description=__doc__, prog="tests.compatibility.campaign")
    parser.add_argument("--pairs", type=int, default=0, help="pairs to compare with brute force")
    parser.add_argument("--contents", type=int, default=0, help="pairs of content schemas")
    parser.add_argument("--first", type=int, default=0, help="number of the first pair")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so much time")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args(arguments)
    campaigns = [(compared, given.pairs), (contents, given.contents)]
    wrong = 0
    with ProcessPoolExecutor(given.processes) as pool:
        for examine, wanted in campaigns:
            report, first, end = Report(), given.first, time.monotonic() + given.seconds
            while (left := wanted - report.counts.total()) > 0 and time.monotonic() < end:
                sizes = [min(_BLOCK, left)] * given.processes
                starts = [first + _BLOCK * place for place in range(given.processes)]
                for each in pool.map(run_block, [examine] * len(sizes), starts, sizes):
                    report.add(each)
                first += _BLOCK * given.processes
            if wanted:
                sys.stdout.write(
                    f"{examine.__name__}: {report.counts.total():,} pairs, "
                    f"{report.seconds:,.0f} s of processor time, {dict(report.counts)}, "
                    f"{len(report.mistakes)} mistakes\n"
                )
            sys.stdout.writelines(f"{each}\n" for each in report.mistakes[:_SHOWN])
            wrong += len(report.mistakes)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
