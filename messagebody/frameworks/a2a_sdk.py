"""A gate inside a server of the A2A SDK: around its request handler, whatever the transport is."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from messagebody.agents import Agent
from messagebody.errors import InvalidArgument, MessageBodyError, MissingDependency
from messagebody.frameworks._a2a_guard import (
    AGREEMENT_KEY,
    REFUSED,
    A2AGuard,
    ExtensionMissing,
    Outgoing,
    fields_of,
    unread,
)
from messagebody.frameworks.gate import NotPassed, OnOutput
from messagebody.storage import Resolver

try:
    from a2a.server.request_handlers.request_handler import RequestHandler
    from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
    from a2a.utils.errors import (
        ContentTypeNotSupportedError,
        ExtensionSupportRequiredError,
        InternalError,
        InvalidParamsError,
    )
    from google.protobuf.json_format import MessageToDict, SerializeToJsonError
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.a2a_sdk", "a2a") from error

AGREEMENT: Final = AGREEMENT_KEY
"""The key of the call context's state with the `Agreement` about accepted output modes."""
_MEMBERS: Final = {
    Message: "message", Task: "task",
    TaskArtifactUpdateEvent: "artifactUpdate", TaskStatusUpdateEvent: "statusUpdate",
}  # fmt: skip


def _method(name: str, *, is_checked: bool = False) -> Any:
    """Return a method that hands a request on, and perhaps has the answer checked."""

    async def hand_on(self: "GatedHandler", params: Any, context: Any) -> Any:
        answer = await getattr(self._inner, name)(params, context)
        if is_checked:
            await self._require(Outgoing(self._guard, has_begun=True), answer)
        return answer

    hand_on.__name__ = name
    hand_on.__doc__ = "Return the answer if it may leave." if is_checked else "Hand it on."
    return hand_on


class GatedHandler(RequestHandler):  # type: ignore[misc]
    """A request handler around another one, which passes only what an agent takes and may send.

    It decides as `messagebody.frameworks.a2a.Gate` does, for JSON-RPC, HTTP+JSON and gRPC at once,
    and says it with the errors of the SDK: `ContentTypeNotSupportedError` for a message that the
    agent does not take, before the inner handler is called, and `InternalError` with the id of the
    log's finding for what it may not send. The agent finds the agreement about accepted output
    modes in the state of its call context, under `AGREEMENT`. How much a request may have is a
    matter of the server; so is the status of an error in HTTP+JSON, where the SDK has 400 for a
    type that is not supported and the protocol 415.

    Arguments:
        handler: the handler of the server.
        agent: the agent that it is.
        resolver: reads references whose content decides.
        on_output: "refuse" what breaks the output, or "log" it only.
        required_extension: the URI of an extension that clients have to declare; empty for none.

    Raises:
        InvalidArgument: `handler`, `agent` or `on_output` is something else.
    """

    def __init__(
        self, handler: RequestHandler, agent: Agent, *, resolver: Resolver | None = None,
        on_output: OnOutput = "refuse", required_extension: str = "",
    ) -> None:  # fmt: skip
        if not isinstance(handler, RequestHandler):
            raise InvalidArgument("a RequestHandler", handler)
        self._inner = handler
        self._guard = A2AGuard(agent, resolver, on_output, required_extension)

    async def on_message_send(self, params: Any, context: Any) -> Any:
        """Pass a message that the agent takes, and return its answer if it may leave."""
        outgoing = await self._enter(params, context)
        answer = await self._inner.on_message_send(params, context)
        await self._require(outgoing, answer)
        return answer

    async def on_message_send_stream(self, params: Any, context: Any) -> AsyncGenerator[Any]:
        """Pass a message that the agent takes, and yield events up to the first that may not leave.

        Raises:
            ContentTypeNotSupportedError: the agent does not take it.
            InternalError: an event may not leave.
        """
        outgoing = await self._enter(params, context)
        async with aclosing(self._inner.on_message_send_stream(params, context)) as events:
            async for event in events:
                await self._require(outgoing, event)
                yield event

    async def on_subscribe_to_task(self, params: Any, context: Any) -> AsyncGenerator[Any]:
        """Yield the events of a task up to the first that may not leave.

        Raises:
            InternalError: an event may not leave.
        """
        outgoing = Outgoing(self._guard, has_begun=True)
        async with aclosing(self._inner.on_subscribe_to_task(params, context)) as events:
            async for event in events:
                await self._require(outgoing, event)
                yield event

    on_get_task = _method("on_get_task", is_checked=True)
    on_cancel_task = _method("on_cancel_task", is_checked=True)
    on_list_tasks = _method("on_list_tasks", is_checked=True)
    on_create_task_push_notification_config = _method("on_create_task_push_notification_config")
    on_get_task_push_notification_config = _method("on_get_task_push_notification_config")
    on_list_task_push_notification_configs = _method("on_list_task_push_notification_configs")
    on_delete_task_push_notification_config = _method("on_delete_task_push_notification_config")
    on_get_extended_agent_card = _method("on_get_extended_agent_card")

    async def _enter(self, params: Any, context: Any) -> Outgoing:
        try:
            self._guard.check_declared(context.requested_extensions)
            # What is empty is not written: a message without parts is an empty body.
            message = {"parts": [], **MessageToDict(params.message)}
            modes = [*params.configuration.accepted_output_modes] or None
            outgoing, agreement = await self._guard.enter(message, modes)
        except ExtensionMissing as error:
            raise ExtensionSupportRequiredError(str(error)) from error
        except NotPassed as refused:
            raise ContentTypeNotSupportedError(REFUSED, _details(refused)) from refused
        except (MessageBodyError, SerializeToJsonError) as error:
            # What came by gRPC may hold numbers that JSON has not.
            raise InvalidParamsError(str(error)) from error
        if agreement is not None:
            context.state[AGREEMENT] = agreement
        return outgoing

    async def _require(self, outgoing: Outgoing, answer: Any) -> None:
        def check() -> None:
            try:
                written = {} if answer is None else MessageToDict(answer)
            except SerializeToJsonError as error:
                unread(error)
            member = _MEMBERS.get(type(answer))
            outgoing.check(written if member is None else {member: {"parts": [], **written}})

        found = await self._guard.withholds(check)
        if found is not None:
            raise InternalError(f"internal error, id {found}")


def _details(refused: NotPassed) -> dict[str, str]:
    """Return the violations by their place, as texts: gRPC has no other details."""
    details: dict[str, str] = {}
    for at, problem in fields_of(refused):
        details[at] = f"{details[at]}; {problem}" if at in details else problem
    return details
