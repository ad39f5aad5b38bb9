"""Bodies in task queues, clusters and workflows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from messagebody import MessageBody, Part
from tests.borders.conftest import Trip, recipe


def with_note(body: MessageBody) -> MessageBody:
    return body + MessageBody([Part("done", name="/note.txt")])


@pytest.fixture
def celery() -> Iterator[Any]:
    from celery import Celery

    application = Celery(broker="memory://", backend="cache+memory://")
    application.conf.update(task_serializer="json", result_serializer="json")
    yield application
    application.close()


@pytest.mark.border("Celery, JSON", "celery", write="register_types()")
def test_celery(trip: Trip, celery: Any) -> None:
    from celery.contrib.testing.worker import start_worker

    register_types = recipe("register_types")
    register_types()

    @celery.task
    def echo(body: MessageBody) -> dict[str, Any]:
        assert isinstance(body, MessageBody)
        return {"body": body, "first": body[0]}

    with start_worker(celery, perform_ping_check=False, shutdown_timeout=30):
        answer = echo.delay(trip.body).get(timeout=30)
    trip.came_back(answer["body"])
    assert answer["first"] == trip.body[0]


@pytest.mark.border("Dask", "distributed")
def test_dask(trip: Trip) -> None:
    import dask
    import dask.bag
    from dask.base import tokenize

    assert dask.delayed(with_note)(trip.body).compute() == with_note(trip.body)
    assert dask.bag.from_sequence([trip.body], npartitions=1).map(len).compute() == [8]
    assert tokenize(trip.body) == tokenize(trip.body.copy())
    from distributed.protocol import deserialize, serialize

    trip.came_back(deserialize(*serialize(trip.body)))


@pytest.mark.border("Ray", "ray")
def test_ray(trip: Trip, monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise it writes a token into the home directory.
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    import ray

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        remote = ray.remote(with_note)
        assert ray.get(remote.remote(trip.body)) == with_note(trip.body)
        trip.came_back(ray.get(ray.put(trip.body)))
    finally:
        ray.shutdown()


WORKFLOW = """
from temporalio import workflow
from messagebody import MessageBody, Part

@workflow.defn
class Report:
    @workflow.run
    async def run(self, body: MessageBody) -> MessageBody:
        assert "/data/raw.bin" in body.names() and len(body.list("/data/*")) == 2
        body["/env"] = "replaced"
        return body + [Part("done", name="/note.txt")]
"""


@pytest.fixture
def workflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A workflow in a module of its own, which the sandbox loads again for each run."""
    import importlib

    name = f"workflow_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(WORKFLOW)
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module(name).Report


async def history_of(argument: MessageBody, result: MessageBody) -> Any:
    """Return the history of a run that took one body and returned another."""
    from temporalio.api.common.v1 import Payloads, WorkflowType
    from temporalio.api.enums.v1 import EventType
    from temporalio.api.history.v1 import (
        HistoryEvent,
        WorkflowExecutionCompletedEventAttributes,
        WorkflowExecutionStartedEventAttributes,
        WorkflowTaskCompletedEventAttributes,
        WorkflowTaskScheduledEventAttributes,
        WorkflowTaskStartedEventAttributes,
    )
    from temporalio.api.taskqueue.v1 import TaskQueue
    from temporalio.client import WorkflowHistory
    from temporalio.contrib.pydantic import pydantic_data_converter

    async def payloads(body: MessageBody) -> Payloads:
        return Payloads(payloads=await pydantic_data_converter.encode([body]))

    queue = TaskQueue(name="reports")
    attributes = {
        "workflow_execution_started": WorkflowExecutionStartedEventAttributes(
            workflow_type=WorkflowType(name="Report"), task_queue=queue, attempt=1,
            input=await payloads(argument), original_execution_run_id="run",
            first_execution_run_id="run",
        ),
        "workflow_task_scheduled": WorkflowTaskScheduledEventAttributes(
            task_queue=queue, attempt=1
        ),
        "workflow_task_started": WorkflowTaskStartedEventAttributes(scheduled_event_id=2),
        "workflow_task_completed": WorkflowTaskCompletedEventAttributes(
            scheduled_event_id=2, started_event_id=3
        ),
        "workflow_execution_completed": WorkflowExecutionCompletedEventAttributes(
            workflow_task_completed_event_id=4, result=await payloads(result)
        ),
    }  # fmt: skip
    events: list[Any] = []
    for name, value in attributes.items():
        kind = getattr(EventType, f"EVENT_TYPE_{name.upper()}")
        members: dict[str, Any] = {f"{name}_event_attributes": value}
        event = HistoryEvent(event_id=len(events) + 1, event_type=kind, **members)
        event.event_time.GetCurrentTime()
        events.append(event)
    return WorkflowHistory(workflow_id="report", events=events)


async def replay(workflow: Any, body: MessageBody, **options: Any) -> Exception | None:
    """Return why a workflow does not run again as it ran, None if it does."""
    from temporalio.contrib.pydantic import pydantic_data_converter
    from temporalio.worker import Replayer

    result = body.copy()
    result["/env"] = "replaced"
    history = await history_of(body, with_note(result))
    replayer = Replayer(workflows=[workflow], data_converter=pydantic_data_converter, **options)
    outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    failure: Exception | None = outcome.replay_failure
    return failure


@pytest.mark.border("Temporal, payloads", "temporalio", write="pydantic_data_converter")
def test_temporal_payloads(trip: Trip) -> None:
    from temporalio.contrib.pydantic import pydantic_data_converter

    async def there_and_back() -> Any:
        payloads = await pydantic_data_converter.encode([trip.body])
        return await pydantic_data_converter.decode(payloads, [MessageBody])

    [arrived] = anyio.run(there_and_back)
    trip.came_back(arrived)


@pytest.mark.border(
    "Temporal, argument of a workflow", "temporalio",
    write='with_passthrough_modules("messagebody")',
)  # fmt: skip
def test_temporal_sandbox(trip: Trip, workflow: Any) -> None:
    from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

    passed = SandboxRestrictions.default.with_passthrough_modules("messagebody")

    async def run() -> Exception | None:
        runner = SandboxedWorkflowRunner(restrictions=passed)
        return await replay(workflow, trip.body, workflow_runner=runner)

    assert anyio.run(run) is None
    trip.arrived_as("equal")


# Temporal warns of what the sandbox loads while the workflow runs, and goes on.
@pytest.mark.filterwarnings("ignore:Module .* was imported after initial workflow load")
class TestTemporalDefaultSandbox:
    def test_runs_again_as_it_ran(self, body: MessageBody, workflow: Any) -> None:
        assert anyio.run(replay, workflow, body) is None

    def test_notices_another_body(self, body: MessageBody, workflow: Any) -> None:
        """The replay is a test only if it fails where it should."""
        del body["/data/raw.bin"]
        assert anyio.run(replay, workflow, body) is not None
