"""Jobs on many parts: how much memory they hold at once, and what ends them."""

import itertools
import pkgutil
import threading
import time
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, offload
from messagebody._base.threads import Interrupted, Pool, run_all
from messagebody.storage import Stop
from messagebody.storage._offloading._offload import MemoryGate
from messagebody.storage._stores.directory import FileStore

MIB = 1024 * 1024


class Crowd:
    """Counts the threads that are in a place, and the most there ever were."""

    def __init__(self) -> None:
        self.most = self._inside = 0
        self._lock = threading.Lock()

    def visit(self) -> None:
        with self._lock:
            self._inside += 1
            self.most = max(self.most, self._inside)
        time.sleep(0.02)  # long enough for others to come, if they may
        with self._lock:
            self._inside -= 1


class TestGate:
    @pytest.mark.parametrize(
        ("size", "most"), [(4, 2), (5, 2), (6, 1), (10, 1), (11, 1), (10**9, 1)]
    )
    def test_what_is_held_fits(self, size: int, most: int) -> None:
        """Of ten bytes; what never fits goes alone."""
        gate, crowd = MemoryGate(10), Crowd()

        def work() -> None:
            with gate.hold(size):
                crowd.visit()

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert crowd.most <= most

    def test_nothing_waits_for_no_reason(self) -> None:
        gate, both = MemoryGate(10), threading.Barrier(2)

        def work() -> None:
            with gate.hold(5):
                both.wait(60)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not both.broken

    def test_what_fails_gives_back_what_it_held(self) -> None:
        gate = MemoryGate(10)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError), gate.hold(10):
                _ = 1 // 0

    @pytest.mark.parametrize(("size", "most"), [(33 * MIB, 1), (22 * MIB, 2)])
    @pytest.mark.dear
    def test_parts_pass_it(self, size: int, most: int, tmp_path: Path) -> None:
        """Parts of a body are in memory together up to 64 MiB."""
        crowd = Crowd()

        class Watched(FileStore):
            def put(self, *arguments: Any, **options: Any) -> bool:
                crowd.visit()
                return super().put(*arguments, **options)

        body = MessageBody()
        for number in range(3):
            path = tmp_path / str(number)
            with path.open("wb") as file:
                file.truncate(size + number)
            body.add(path, name=f"/{number}")
        small = offload(body, Watched(tmp_path / "store"))
        assert all(part.is_reference for part in small)
        assert 0 < crowd.most <= most


class TestThreads:
    def test_quick_pieces_share_a_few_threads(self) -> None:
        threads = run_all([threading.current_thread] * 2_000, Stop()).values
        assert len({*map(id, threads)}) <= 16


class TestEnd:
    @pytest.mark.parametrize("fail_fast", [True, False])
    def test_a_failure_cancels_what_has_not_begun(self, fail_fast: bool) -> None:
        begun = itertools.count()

        def fail() -> None:
            next(begun)
            time.sleep(0.002)
            raise ValueError("no")

        values, errors = run_all([fail] * 2_000, Stop(), fail_fast=fail_fast)
        assert values == [None] * 2_000
        assert len(errors) == next(begun)
        assert all(isinstance(error, ValueError) for error in errors.values())
        assert (len(errors) < 2_000) == fail_fast

    @pytest.mark.parametrize(
        ("place", "calls"),
        [("_base.threads.threading.Thread", 8), ("_base.threads.wait", 0)],
    )
    def test_an_interrupt_cancels_what_has_not_begun(
        self, place: str, calls: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """While the work is handed out, and while it is waited for."""
        begun, called, stop = itertools.count(), itertools.count(), Stop()
        doing = pkgutil.resolve_name(f"messagebody.{place}")

        def interrupted(*arguments: Any, **options: Any) -> Any:
            if next(called) == calls:
                raise KeyboardInterrupt
            return doing(*arguments, **options)

        def work() -> None:
            next(begun)
            time.sleep(0.01)

        monkeypatch.setattr(f"messagebody.{place}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_all([work] * 2_000, stop)
        assert stop.is_set()
        assert next(begun) < 1_000

    def test_an_interrupt_waits_for_what_is_being_undone(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun, undone, stop = threading.Event(), threading.Event(), Stop()

        class Patient(Pool):
            def give_up(self, *_: object) -> None:
                super().give_up(patience=60)  # a busy machine may take longer than usual

        waiting, waits = wait, itertools.count()

        def interrupted(*arguments: Any, **options: Any) -> Any:
            if next(waits):
                return waiting(*arguments, **options)
            begun.wait()
            raise KeyboardInterrupt

        def work() -> None:
            begun.set()
            stop.wait()
            time.sleep(0.05)
            undone.set()

        monkeypatch.setattr("messagebody._base.threads.Pool", Patient)
        monkeypatch.setattr("messagebody._base.threads.wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_all([work], stop)
        assert undone.is_set()

    @pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit, Interrupted])
    def test_an_interrupt_of_a_worker_comes_out(self, ending: type[BaseException]) -> None:
        def end() -> None:
            raise ending

        with pytest.raises(ending):
            run_all([end, lambda: None, end], Stop())

    def test_work_stopped_before_is_not_begun(self) -> None:
        stop, begun = Stop(), list[Any]()
        stop.set()
        for count in (1, 3):
            with pytest.raises(Interrupted):
                run_all([lambda: begun.append(1)] * count, stop)
        assert begun == []


def test_a_body_that_fits_exactly(tmp_path: Path) -> None:
    """To the byte: as it is, and with some of its parts offloaded."""
    body = MessageBody(Part("x" * 1000 * (n + 1), name=f"/{n}") for n in range(5))
    length = len(body.to_json_bytes())
    for away in range(6):
        small = offload(body, tmp_path, fit=length)
        assert sum(part.is_reference for part in small) == away
        assert len(small.to_json_bytes()) == length
        if away < 5:
            length = len(offload(body, tmp_path, fit=length - 1).to_json_bytes())
