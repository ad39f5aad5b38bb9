"""What a run of a job tells: its progress while it runs, and its report at the end."""

from typing import Any, Final, Self

import attrs

from messagebody._core import count_of, redact_url
from messagebody.bulk._sources import Shard

_BAD: Final = ("bad lines", "invalid")


@attrs.frozen
class Failure:
    """A shard that failed and was skipped.

    Arguments:
        shard: the name of the shard.
        file: its file, or the first of its files.
        problem: the reason.
    """

    shard: str
    file: str
    problem: str


@attrs.frozen
class Report:
    """The report of a job; true only if no shard failed, no line is bad and nothing is invalid.

    Arguments:
        job: the name of the job.
        out: the URL of its results.
        shards: the number of finished shards.
        counts: the numbers of messages, bytes and bad lines, and the counts of the job.
        findings: the first findings, with id, file, line and text.
        failed: shards that failed; the next run tries them again.
        others: the number of shards of other sources whose results are also in `out`.
        deleted: the number of deleted result files: of shards that the sources no longer have,
            and with `prune` of other sources.
        links: the URLs of links in the directories of the sources, which were not followed.
        kept: how many of the finished shards an earlier run had done.
    """

    job: str
    out: str
    shards: int
    counts: dict[str, int]
    findings: tuple[dict[str, Any], ...]
    failed: tuple[Failure, ...]
    others: int = 0
    deleted: int = 0
    links: tuple[str, ...] = ()
    # Not compared: the same results have the same report, in however many runs they were made.
    kept: int = attrs.field(default=0, eq=False)

    def __bool__(self) -> bool:
        return not self.failed and not any(self.counts.get(name) for name in _BAD)

    def __str__(self) -> str:
        numbers = (f"{number:,} {name}" for name, number in self.counts.items() if number)
        kept = f", {self.kept:,} of them kept from an earlier run"
        lost = f"; {count_of(len(self.failed), 'shard')} failed" if self.failed else ""
        others = f"; results of {count_of(self.others, 'shard')} of other sources stay"
        deleted = f"; {count_of(self.deleted, 'file')} of earlier results deleted"
        links = f"; left out {_listed(self.links)}"
        return (
            f"{self.job}: {', '.join(numbers)} in {count_of(self.shards, 'shard')}"
            f"{kept if self.kept else ''}{lost}"
            f"{others if self.others else ''}{deleted if self.deleted else ''}"
            f"{links if self.links else ''}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON value, the same for the same results."""
        members = attrs.asdict(self)
        # The report does not depend on the place of the results or on earlier results there: the
        # same job elsewhere gives the same report.
        for name in ("out", "others", "deleted", "links", "kept"):
            del members[name]
        return members


def _listed(links: tuple[str, ...]) -> str:
    first = redact_url(links[0]) if links else ""
    more = f" and {len(links) - 1:,} more" if len(links) > 1 else ""
    return f"{count_of(len(links), 'link')}, which is read if it is a source: {first}{more}"


@attrs.frozen
class Progress:
    """The progress of a job.

    Arguments:
        done: the number of finished shards.
        shards: the number of all shards.
        read: the bytes of the finished shards.
        bytes: the bytes of all shards.
        messages: the number of messages processed in this run.
        bad: the number of bad lines among them.
    """

    done: int
    shards: int
    read: int
    bytes: int
    messages: int = 0
    bad: int = 0

    def after(self, shard: Shard, counts: dict[str, int]) -> Self:
        """Return the progress after one more shard."""
        return attrs.evolve(
            self,
            done=self.done + 1,
            read=self.read + shard.size,
            messages=self.messages + counts.get("messages", 0),
            bad=self.bad + counts.get("bad lines", 0),
        )
