"""The stream of the Agent2Agent protocol: artifacts in pieces, of 1.0 and of 0.3."""

from typing import Any, Final

from messagebody.adapters._vocabulary.dialect import in_camel_case
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    CommonId,
    OutOfPlace,
    UnknownEvent,
    joined_texts,
    member,
    objects,
)

_WRAPPERS: Final = ("artifactUpdate", "statusUpdate", "task", "message")
_FINAL: Final = {"completed", "failed", "canceled", "rejected"}
_WAITING: Final = {"input_required", "auth_required", "input-required", "auth-required"}
"""States in which an agent waits for the user: the stream is whole, and the task may go on."""


class ArtifactUpdates(Accumulator):
    """The artifacts of a task, which are added, replaced or extended."""

    format = "a2a"
    tag = "kind"
    types = ("artifact-update", "status-update")
    members = ("artifactUpdate", "statusUpdate", "artifact_update", "status_update")

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._task: dict[str, Any] = {}
        self._artifacts: dict[str, dict[str, Any]] = {}
        self._ended: set[str] = set()
        self._message: dict[str, Any] | None = None
        self._id = CommonId()

    def feed(self, event: dict[str, Any]) -> None:
        """Take a response of a stream, its content, or the error that ends it."""
        # A server that speaks JSON-RPC sends each response as a result.
        event = event["result"] if isinstance(event.get("result"), dict) else event
        event = in_camel_case(event)
        # 1.0 wraps each response in a member for its kind; 0.3 sends only the content.
        event = next((event[key] for key in _WRAPPERS if isinstance(event.get(key), dict)), event)
        event = in_camel_case(event)
        if "artifact" in event or "status" in event:
            self._id.require(event.get("taskId", event.get("id")))
        if "artifact" in event:
            self._update(event, member(event, "artifact", dict))
        elif "parts" in event:
            self._message = event
            self.shape += 1
            self.end()
        elif "status" in event:
            self._status(event)
        elif event.get("error") is not None:
            self.fail(event)
        else:
            raise UnknownEvent

    def _update(self, event: dict[str, Any], artifact: dict[str, Any]) -> None:
        artifact = in_camel_case(artifact)
        key = member(artifact, "artifactId")
        parts = objects(artifact, "parts")
        self._task.setdefault("id", event.get("taskId"))
        self._task.setdefault("contextId", event.get("contextId"))
        if event.get("append"):
            if key not in self._artifacts:
                raise OutOfPlace(f"artifact {key} has not begun")
            if key in self._ended:
                raise OutOfPlace(f"artifact {key} had its last chunk")
            held = self._artifacts[key]
            if isinstance(artifact.get("metadata"), dict):
                before = held.get("metadata")
                said = {**(before if isinstance(before, dict) else {}), **artifact["metadata"]}
                held["metadata"] = said
        else:
            held = self._artifacts[key] = {**artifact, "parts": []}
            # Without `append`, an artifact is replaced, even after its last chunk.
            self._ended.discard(key)
        for part in parts:
            self.begin(held["parts"], part)
        if event.get("lastChunk"):
            self._ended.add(key)
        self.is_finished = False

    def _status(self, event: dict[str, Any]) -> None:
        status = member(event, "status", dict)
        # A whole task and a status update both have a status; only the update has a `taskId`.
        if "artifacts" in event or "taskId" not in event:
            self._task |= {key: value for key, value in event.items() if key != "artifacts"}
            for artifact in objects(event, "artifacts"):
                self._update({}, artifact)
        before = self._task.get("status")
        said = before.get("message") if isinstance(before, dict) else None
        if said and said != status.get("message"):
            self.aside["a message about the state of the task"] += 1
        self._task["status"] = status
        # 1.0 writes `TASK_STATE_COMPLETED` where 0.3 writes `completed`.
        state = str(status.get("state", "")).lower().removeprefix("task_state_")
        self.is_finished = state in _WAITING
        if state in _FINAL or event.get("final") is True:
            self.note_end({"state": state})
            self.end()

    def message(self) -> Any:
        """Return the message, or the task with its artifacts so far."""
        if self._message is not None:
            return self._message
        artifacts = [self._joined(each) for each in self._artifacts.values()]
        return {"status": {"state": "TASK_STATE_WORKING"}, **self._task, "artifacts": artifacts}

    def _joined(self, artifact: dict[str, Any]) -> dict[str, Any]:
        if not self.join:
            return artifact
        texts = {"kind", "mediaType", "media_type", "metadata"}
        return {**artifact, "parts": joined_texts(artifact["parts"], "text", texts)}
