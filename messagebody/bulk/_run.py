"""Runs of jobs: find the shards, skip finished ones, run the others, and combine the results."""

import contextlib
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from itertools import pairwise
from types import FrameType
from typing import Any, Final

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    Limits,
    SpoolBlob,
    count_of,
    parse_size,
    redact_url,
    require_executor,
    require_iterable,
    require_limits,
    strict_json,
)
from messagebody.bulk._executors import InTurn, Outcomes, Processes, Task, run_tasks
from messagebody.bulk._jobs import Job, store_of
from messagebody.bulk._records import (
    FIRST,
    Record,
    claim,
    errors_key,
    is_temporary,
    put,
    record_key,
    recorded_name,
    result_key,
    to_json,
)
from messagebody.bulk._report import Failure, Progress, Report
from messagebody.bulk._sources import (
    RECORDS,
    REPORT,
    RESULTS,
    SHARD_BYTES,
    Shard,
    SourceKind,
    find_shards,
)
from messagebody.bulk._work import Count, TaskOutcome
from messagebody.bulk._work import Task as ShardTask
from messagebody.errors import InvalidArgument, MessageBodyError, StoreError
from messagebody.storage import Spool, Store

# A shard that kills three workers would kill any worker, so it is skipped and reported.
_ATTEMPTS: Final = 3


@attrs.frozen(kw_only=True)
class Options:
    """The options of all jobs.

    Arguments:
        workers: worker processes, by default one for each core; 0 runs the job in this process.
            With an executor: the number of tasks that it is given at a time.
        executor: runs the tasks in place of worker processes, for example a `ProcessPoolExecutor`,
            or the `get_executor()` of a Dask client.
        member: the member of a line's object that holds the message. By default, it is `body` or
            `parts`, or the whole line; a message of another format is the whole line.
        limits: the limits of a message.
        shard_bytes: the size of a shard of a large plain file, as a number or text such as
            "64 MiB".
        fail_fast: stop at the first bad line.
        prune: delete the results of sources that are no longer given.
        storage_options: the options of `storage.open_store`, for sources and results.
        progress: a function that is called with a `Progress` after each shard.
    """

    workers: int | None = attrs.field(default=None)
    executor: Executor | None = attrs.field(default=None)
    member: str | None = None
    limits: Limits = attrs.field(default=DEFAULT_LIMITS, converter=require_limits)
    shard_bytes: int = attrs.field(default=SHARD_BYTES, converter=parse_size)
    fail_fast: bool = False
    prune: bool = False
    storage_options: dict[str, Any] | None = None
    progress: Callable[[Progress], None] = lambda _: None

    @workers.validator
    def _check_workers(self, _: object, workers: int | None) -> None:
        if workers is not None and (type(workers) is not int or workers < 0):
            raise InvalidArgument("a number of workers, or None", workers)

    @executor.validator
    def _check_executor(self, _: object, executor: Executor | None) -> None:
        require_executor(executor)

    @contextlib.contextmanager
    def running(self, queue: deque[Task]) -> Iterator[Outcomes]:
        """Give the outcomes of tasks, which are run meanwhile."""
        with contextlib.ExitStack() as stack:
            executor, at_once = self.executor, self.workers or _cores()
            if executor is not None:
                # One in work for each core, and one that waits.
                at_once = self.workers or 2 * _cores()
            elif self.workers == 0:
                executor, at_once = stack.enter_context(InTurn()), 1
            else:
                executor = stack.enter_context(Processes())
            yield stack.enter_context(contextlib.closing(run_tasks(queue, executor, at_once)))


def _cores() -> int:
    # In a container, a process may often use only some cores of the machine.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    job: Job, sources: str | os.PathLike[str] | Iterable[Any], out: Any, options: Options
) -> Report:
    """Run a job on all messages of some sources, or continue an earlier run.

    Arguments:
        job: the job.
        sources: URLs, paths or globs of messages.
        out: the directory or URL of the results.
        options: how to run it.

    Raises:
        BadInput: the first bad line, with `fail_fast`.
        InvalidArgument: `out` has results of another job, or other files; or its results of other
            sources have the same names as the results of these sources.
        KeyboardInterrupt: Ctrl-C; running shards were finished, and the next run continues.
        StoreError: a source or the results can't be reached.
    """
    listed = [sources] if isinstance(sources, str | os.PathLike) else sources
    store = store_of(out, options.storage_options)
    links: list[str] = []
    shards = find_shards(
        require_iterable(listed, "URLs, paths or globs of messages", hint=""),
        shard_bytes=max(1, options.shard_bytes),
        storage_options=options.storage_options,
        results=store,
        left_out=links.append,
    )
    job = attrs.evolve(job, member=options.member)
    claim(store, job)
    return attrs.evolve(_Run(job, store, shards, options).all(), links=tuple(links))


class _Run:
    """One run of a job."""

    def __init__(self, job: Job, store: Store, shards: list[Shard], options: Options) -> None:
        self.job, self.store, self.options = job, store, options
        self.shards = shards
        # One listing, because thousands of shards would need a request each.
        self.there = {stat.key: stat.size for stat in store.iter_objects()}
        self.records: dict[str, Record] = {}  # of earlier runs, by shard name
        self.others = 0  # number of shards of other sources
        self.stale: list[str] = []  # names of shards that the sources no longer have
        self.deleted = 0
        self.kept = 0  # number of shards that are done already
        self.lines: dict[str, int] = {}  # number of lines by shard name
        self.failed: dict[str, str] = {}  # problem by shard name
        self.stop: BaseException | None = None

    def all(self) -> Report:
        """Run the unfinished shards, and combine the results."""
        self._read_records()
        # Without a report, the last run was interrupted, and this one continues it.
        if not self.job.is_lasting and REPORT in self.there:
            self._forget_records()
        done = {shard.name for shard in self.shards if self._is_done(shard)}
        self.kept = len(done)
        left = [shard for shard in self.shards if shard.name not in done]
        size = sum(shard.size for shard in self.shards)
        read = size - sum(shard.size for shard in left)
        self.progress = Progress(len(done), len(self.shards), read, size)
        self._count_lines(left)
        self._do([shard for shard in self._numbered() if shard.name not in done])
        if self.stop is not None:
            raise self.stop
        return self._report()

    def _read_records(self) -> None:
        """Read the records of this job, and find what its sources do not have any more.

        Raises:
            InvalidArgument: results of other sources, such as an old log, would be lost.
        """
        shards = {shard.name: shard for shard in self.shards}
        urls = {each.url for shard in self.shards for each in shard.inputs}
        for name in filter(None, map(recorded_name, self.there)):
            record = Record.read(self.store, name)
            if record is None or record.job != self.job.digest:
                continue
            mine = [url for url in record.urls if url in urls]
            others = [url for url in record.urls if url not in urls]
            if name in shards:
                # A shard of many small messages has the same name whatever messages are in it.
                if others and not self.options.prune:
                    raise self._mixed(others, "have the same names as", shards[name].inputs[0].url)
                self.records[name] = record
            elif self.options.prune or (mine and not others):
                self.stale.append(name)
            elif mine:
                raise self._mixed(others, "are together with", mine[0])
            else:
                self.others += 1

    def _forget_records(self) -> None:
        """Delete the records of the last run, so that no later run takes them for those of this."""
        for name in self.records:
            self.store.delete(record_key(name))
        self.records.clear()
        # Last: if this run is killed before, the next one begins anew, too.
        self.store.delete(REPORT)

    def _mixed(self, others: list[str], relation: str, mine: str) -> InvalidArgument:
        more = f" and {count_of(len(others) - 1, 'other')}" if len(others) > 1 else ""
        return InvalidArgument(
            "another place for these results, or prune=True (--prune) to replace others",
            got=f"{redact_url(self.store.url)}, where the results of {redact_url(others[0])}{more} "
            f"{relation} those of {redact_url(mine)}",
        )

    def _is_done(self, shard: Shard) -> bool:
        record = self.records.get(shard.name)
        if record is None or not record.is_of(self.job, shard):
            return False
        try:
            strict_json.check_typed(record.summary, self.job.summary)
        except strict_json.InvalidJson:
            return False  # of another version, or damaged
        self.lines[shard.name] = record.lines
        return record.result is None or self._has(result_key(shard.name, self.job), record.result)

    def _has(self, key: str, stated: tuple[int, str]) -> bool:
        """Return whether a result still exists as it was written."""
        return self.there.get(key) == stated[0] and self.store.measure(key) == stated

    # Numbers of lines

    def _count_lines(self, left: list[Shard]) -> None:
        """Count the lines of shards that precede an unfinished one, unless a record has them."""
        # The line numbers of a shard depend on the shards before it. Most have a record.
        later = {shard.inputs[0].url for shard in left if shard.start > 0}
        counted = [
            shard
            for shard, after in pairwise(self.shards)
            if shard.kind is SourceKind.LINES
            and after.start > 0  # in the same file
            and shard.inputs[0].url in later
            and shard.name not in self.lines
        ]
        for task, outcome in self._outcomes([Count(shard) for shard in counted]):
            assert isinstance(task, Count)  # noqa: S101 - the tasks that were passed
            if outcome.counts is None:
                raise MessageBodyError(f"{task.shard.inputs[0].url}: {outcome.problem}")
            self.lines[task.shard.name] = outcome.counts["lines"]

    def _numbered(self) -> Iterator[Shard]:
        """Yield the shards with their first line numbers."""
        number, url = 1, ""
        for shard in self.shards:
            if shard.inputs[0].url != url:
                number, url = 1, shard.inputs[0].url
            yield attrs.evolve(shard, first_line=number) if number > 1 else shard
            number += self.lines.get(shard.name, 0)

    # The work

    def _do(self, left: list[Shard]) -> None:
        if self.stop is not None:
            return
        options = self.options
        tasks = [
            ShardTask(shard, self.job, self.store, options.limits, options.fail_fast)
            for shard in left
        ]
        for task, outcome in self._outcomes(tasks):
            assert isinstance(task, ShardTask)  # noqa: S101 - the tasks that were passed
            if outcome.counts is None:
                self.failed[task.shard.name] = outcome.problem
            else:
                self.progress = self.progress.after(task.shard, outcome.counts)
                options.progress(self.progress)

    def _outcomes(self, tasks: list[Any]) -> Outcomes:
        """Run tasks, each up to three times if it fails, and yield each with its last outcome."""
        queue: deque[Task] = deque(tasks)
        attempts: Counter[int] = Counter()
        # Closed even if a second Ctrl-C interrupts this, so that no worker goes on.
        with self._stoppable(queue), self.options.running(queue) as outcomes:
            for task, outcome in outcomes:
                attempts[id(task)] += 1
                if outcome.stopped_by is not None:
                    self.stop = self.stop or outcome.stopped_by
                    queue.clear()
                elif outcome.counts is None and not outcome.is_final:
                    if attempts[id(task)] < _ATTEMPTS:
                        if self.stop is None:
                            queue.append(task)
                        continue
                    outcome = _tried(outcome)  # noqa: PLW2901 - adds the number of attempts
                yield task, outcome

    @contextlib.contextmanager
    def _stoppable(self, queue: deque[Task]) -> Iterator[None]:
        """Let Ctrl-C stop the run after the running tasks, and a second Ctrl-C stop it at once."""
        is_main = threading.current_thread() is threading.main_thread()
        # Only the main thread may set handlers, and a handler of the program is kept.
        if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return

        def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - of a handler
            self.stop = KeyboardInterrupt()
            queue.clear()
            signal.signal(signal.SIGINT, signal.default_int_handler)

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    # The results

    def _report(self) -> Report:
        """Combine the records in the order of the shards."""
        done = [shard.name for shard in self.shards if shard.name not in self.failed]
        counts: Counter[str] = Counter({"messages": 0, "bad lines": 0, "bytes": 0})
        findings: list[Any] = []
        errors = Spool()
        with contextlib.closing(errors):
            for name in done:
                record = self._record(name)
                counts.update(record.counts)
                findings += record.findings[: FIRST - len(findings)]
                if record.counts["bad lines"]:
                    for chunk in self.store.stream(errors_key(name)):
                        errors.write(chunk)
                else:
                    self._delete(errors_key(name))  # left by an earlier version of the source
            blob = SpoolBlob(errors)
            self.store.put("errors.jsonl", blob, content_type="application/jsonl", if_absent=False)
        summaries = (self._record(name).summary for name in done)
        for name, data in self.job.results(summaries):
            put(self.store, name, data, "application/json")
        # Second to last: the results deleted here are of shards that are in no report.
        self._remove_stale()
        report = Report(
            self.job.name, self.store.url, len(done), dict(counts), tuple(findings),
            tuple(self._failures()), self.others, self.deleted, kept=self.kept,
        )  # fmt: skip
        put(self.store, REPORT, to_json(report.to_dict()), "application/json")
        return report

    def _record(self, name: str) -> Record:
        record = Record.read(self.store, name)
        if record is None:
            raise StoreError(
                "the record was damaged during the run", self.store.url, record_key(name)
            )
        return record

    def _failures(self) -> Iterator[Failure]:
        for shard in self.shards:
            if shard.name in self.failed:
                yield Failure(shard.name, shard.inputs[0].url, self.failed[shard.name])

    def _remove_stale(self) -> None:
        """Delete the results of shards that their sources no longer have.

        Only files that a record of this job names, and temporary files of killed writers, are
        deleted. Other files belong to the user.
        """
        for key in self.there:
            if key.startswith((f"{RESULTS}/", f"{RECORDS}/")) and is_temporary(key):
                self._delete(key)
        for name in self.stale:
            # The record comes last: if this run is killed, it still names the other files.
            for key in (result_key(name, self.job), errors_key(name), record_key(name)):
                self._delete(key)

    def _delete(self, key: str) -> None:
        if key in self.there:
            self.store.delete(key)
            self.deleted += 1


def _tried(outcome: TaskOutcome) -> TaskOutcome:
    return attrs.evolve(
        outcome, problem=f"failed {_ATTEMPTS} times, the last time: {outcome.problem}"
    )
