"""A hook for OpenTelemetry that keeps the messages of models in a store, each content once.

Spans and log records get references, in the attributes for uploaded content of the semantic
conventions for generative AI.
"""

import atexit
import dataclasses
import json
import logging
import os
import threading
from concurrent.futures import Future, wait
from functools import partial
from pathlib import Path
from typing import Any, Final

from messagebody._core import JSON, Pool
from messagebody.errors import InvalidArgument, MissingDependency
from messagebody.payloads import Batch, Payloads
from messagebody.storage import Store

try:
    from opentelemetry.util.genai.completion_hook import CompletionHook
    from opentelemetry.util.genai.environment_variables import (
        OTEL_INSTRUMENTATION_GENAI_UPLOAD_BASE_PATH,
        OTEL_INSTRUMENTATION_GENAI_UPLOAD_MAX_QUEUE_SIZE,
    )
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.opentelemetry", "opentelemetry") from error

_logger: Final = logging.getLogger(__name__)


class OffloadingCompletionHook(CompletionHook):  # type: ignore[misc]
    """A hook for `TelemetryHandler(completion_hook=…)` that keeps messages in a store.

    Each call of a model repeats the whole conversation, so its contents are named by their digests
    and stored once. Naming them takes no I/O. Threads write them, so that no call of a model waits
    for the store. Calls that a store can't take fast enough are dropped and counted.

    Arguments:
        store: a store, its URL, or a directory's path.
        threshold: texts and bytes of more bytes become separate objects.
        waiting: the most calls whose contents may wait for the store.
        owner: the name of the owner of the contents, for `sweep`; they lie in its place there.

    Raises:
        InvalidSize: the threshold is under 256 bytes.
        InvalidArgument: `waiting` is not a positive integer.
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | Store,
        *,
        threshold: int | str = "4 KiB",
        waiting: int = 100,
        owner: str = "telemetry",
    ) -> None:
        if type(waiting) is not int or waiting < 1:
            raise InvalidArgument("a positive number of waiting calls", waiting)
        # Spans are elsewhere, and nobody knows which of them are still looked at.
        kind, ask = "telemetry", "storage.Recent(name, seconds)"
        self._payloads = Payloads(store, threshold=threshold, owner=owner, kind=kind, ask=ask)
        self._pool = Pool(4, "messagebody-completions")
        self._places = threading.BoundedSemaphore(waiting)
        self._lock = threading.Lock()
        self._writing: set[Future[None]] = set()
        self.dropped = 0
        """The number of calls that are not in the store, because it failed or was too slow."""
        atexit.register(self.shutdown)

    def on_completion(
        self,
        *,
        inputs: list[Any],
        outputs: list[Any],
        system_instruction: list[Any],
        tool_definitions: list[Any] | None = None,
        span: Any = None,
        log_record: Any = None,
    ) -> None:
        """Name the messages of one call, let threads write them, and add references to them."""
        messages = {
            "gen_ai.input.messages_ref": inputs,
            "gen_ai.output.messages_ref": outputs,
            "gen_ai.system_instructions_ref": system_instruction,
            "gen_ai.tool.definitions_ref": tool_definitions,
        }
        # Checked first, so that nothing refers to contents that will never be written.
        if not self._places.acquire(blocking=False):
            self._drop("the store is too slow")
            return
        try:
            batch = self._payloads.objects.batch()
            references = {
                name: self._store_messages(each, batch) for name, each in messages.items() if each
            }
            future = self._pool.submit(partial(self._write, batch))
        except BaseException:
            self._places.release()
            raise
        with self._lock:
            self._writing.add(future)
        # After `add`, because a finished future calls back at once, and would stay in the set.
        future.add_done_callback(self._writing.discard)
        if span is not None:
            span.set_attributes(references)
        if log_record is not None:
            log_record.attributes = {**(log_record.attributes or {}), **references}

    def _store_messages(self, messages: list[Any], batch: Batch) -> str:
        # Large contents are separate objects, because each call of a conversation repeats them.
        # Arguments and results of tools may be any objects, which are written as text.
        plain = [dataclasses.asdict(each) for each in messages]
        small = self._payloads.named(plain, batch, other=str)
        stored = batch.add(json.dumps(small).encode(), JSON)
        return self._payloads.objects.reference(stored).url

    def _write(self, batch: Batch) -> None:
        try:
            batch.write()
        except Exception as error:  # noqa: BLE001 - telemetry must not end the program it watches
            self._drop(str(error))
        finally:
            self._places.release()

    def _drop(self, reason: str) -> None:
        with self._lock:
            self.dropped += 1
        _logger.warning("messages of a model are not stored: %s", reason)

    def shutdown(self, timeout: float = 10.0) -> None:
        """Wait for running writes, and give up the others; the end of a process also does so.

        Arguments:
            timeout: seconds to wait.
        """
        with self._lock:
            writing = [*self._writing]
        wait(writing, timeout=timeout)
        self._pool.give_up(patience=0)
        # Work that was given up never ran, so its place is freed and counted here.
        for _ in [each for each in writing if each.cancelled()]:
            self._places.release()
            self._drop("the hook was shut down")
        # Otherwise the hook and its contents would stay in memory until the process ends.
        atexit.unregister(self.shutdown)


def completion_hook() -> OffloadingCompletionHook:
    """Return the hook that OpenTelemetry's environment variables configure.

    `OTEL_INSTRUMENTATION_GENAI_COMPLETION_HOOK=messagebody` makes OpenTelemetry call this. It takes
    the settings of OpenTelemetry's own hook: `OTEL_INSTRUMENTATION_GENAI_UPLOAD_BASE_PATH` is the
    URL of the store or the path of a directory, `OTEL_INSTRUMENTATION_GENAI_UPLOAD_MAX_QUEUE_SIZE`
    the number of calls that may wait.

    Raises:
        InvalidArgument: there is no store, or the number is not a positive integer.
        StoreError: the store can't be opened.
    """
    place = os.environ.get(OTEL_INSTRUMENTATION_GENAI_UPLOAD_BASE_PATH)
    if not place:
        expected = f"a store in {OTEL_INSTRUMENTATION_GENAI_UPLOAD_BASE_PATH}"
        raise InvalidArgument(expected, place)
    store = place if "://" in place else Path(place)
    waiting = os.environ.get(OTEL_INSTRUMENTATION_GENAI_UPLOAD_MAX_QUEUE_SIZE)
    if not waiting:
        return OffloadingCompletionHook(store)
    if not (waiting.isascii() and waiting.isdigit()):
        expected = f"a number in {OTEL_INSTRUMENTATION_GENAI_UPLOAD_MAX_QUEUE_SIZE}"
        raise InvalidArgument(expected, waiting)
    return OffloadingCompletionHook(store, waiting=int(waiting))
