"""A gate inside a server of the A2A SDK: around its request handler, whatever the transport is."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import Any, Final

from messagebody.agents import Agent
from messagebody.errors import InvalidArgument, MessageBodyError, MissingDependency
from messagebody.frameworks._a2a_judgment import (
    AGREEMENT_KEY,
    REFUSED,
    Judgment,
    StreamJudgment,
    fields_of,
)
from messagebody.frameworks.gate import Door, NotPassed, OnOutput
from messagebody.storage import Resolver

try:
    from a2a.server.request_handlers.request_handler import RequestHandler
    from a2a.types import (
        Message,
        Task,
        TaskArtifactUpdateEvent,
        TaskStatusUpdateEvent,
    )
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
_EMPTY: Final[dict[str, dict[str, Any]]] = {"message": {"parts": []}}


def _said(event: Any) -> dict[str, Any] | None:
    """Return a message, a task or an update as a response of the protocol's stream."""
    member = _MEMBERS.get(type(event))
    return None if member is None else {member: {**_EMPTY.get(member, {}), **MessageToDict(event)}}


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
        self._judge = Judgment(Door(agent, resolver, on_output))
        self._required = required_extension

    async def on_message_send(self, params: Any, context: Any) -> Any:
        """Pass a message that the agent takes, and return its answer if it may leave."""
        await self._enter(params, context)
        return await self._checked(await self._inner.on_message_send(params, context))

    async def on_message_send_stream(self, params: Any, context: Any) -> AsyncGenerator[Any]:
        """Pass a message that the agent takes, and yield events up to the first that may not leave.

        Raises:
            ContentTypeNotSupportedError: the agent does not take it.
            InternalError: an event may not leave.
        """
        await self._enter(params, context)
        stream = StreamJudgment(self._judge, has_begun=bool(params.message.task_id))
        async with aclosing(self._inner.on_message_send_stream(params, context)) as events:
            async for event in events:
                await self._require(stream.finding, event)
                yield event

    async def on_subscribe_to_task(self, params: Any, context: Any) -> AsyncGenerator[Any]:
        """Yield the events of a task up to the first that may not leave.

        Raises:
            InternalError: an event may not leave.
        """
        stream = StreamJudgment(self._judge, has_begun=True)
        async with aclosing(self._inner.on_subscribe_to_task(params, context)) as events:
            async for event in events:
                await self._require(stream.finding, event)
                yield event

    async def on_get_task(self, params: Any, context: Any) -> Any:
        """Return a task if it may leave."""
        return await self._checked(await self._inner.on_get_task(params, context))

    async def on_cancel_task(self, params: Any, context: Any) -> Any:
        """Return a canceled task if it may leave."""
        return await self._checked(await self._inner.on_cancel_task(params, context))

    async def on_list_tasks(self, params: Any, context: Any) -> Any:
        """Return tasks if all may leave."""
        listed = await self._inner.on_list_tasks(params, context)
        decide = partial(self._judge.finding, is_about_tasks=True)
        await self._require(decide, listed, MessageToDict)
        return listed

    async def on_create_task_push_notification_config(self, params: Any, context: Any) -> Any:
        """Hand it on."""
        return await self._inner.on_create_task_push_notification_config(params, context)

    async def on_get_task_push_notification_config(self, params: Any, context: Any) -> Any:
        """Hand it on."""
        return await self._inner.on_get_task_push_notification_config(params, context)

    async def on_list_task_push_notification_configs(self, params: Any, context: Any) -> Any:
        """Hand it on."""
        return await self._inner.on_list_task_push_notification_configs(params, context)

    async def on_delete_task_push_notification_config(self, params: Any, context: Any) -> Any:
        """Hand it on."""
        return await self._inner.on_delete_task_push_notification_config(params, context)

    async def on_get_extended_agent_card(self, params: Any, context: Any) -> Any:
        """Hand it on."""
        return await self._inner.on_get_extended_agent_card(params, context)

    async def _enter(self, params: Any, context: Any) -> None:
        if self._required and self._required not in context.requested_extensions:
            raise ExtensionSupportRequiredError(
                f"this agent requires the extension {self._required}"
            )
        try:
            # What is empty is not written: a message without parts is an empty body.
            message = {"parts": [], **MessageToDict(params.message)}
            await self._judge.door.judge(partial(self._judge.enter, message))
        except NotPassed as refused:
            raise ContentTypeNotSupportedError(REFUSED, _details(refused)) from refused
        except (MessageBodyError, SerializeToJsonError) as error:
            # What came by gRPC may hold numbers that JSON has not.
            raise InvalidParamsError(str(error)) from error
        modes = [*params.configuration.accepted_output_modes]
        agreement = self._judge.agree(modes) if modes else None
        if agreement is not None:
            context.state[AGREEMENT] = agreement

    async def _checked(self, answer: Any) -> Any:
        await self._require(self._judge.finding, answer)
        return answer

    async def _require(
        self, decide: Callable[[Any], Awaitable[str | None]], answer: Any,
        write: Callable[[Any], Any] = _said,
    ) -> None:  # fmt: skip
        try:
            written = write(answer)
        except SerializeToJsonError as error:  # it holds numbers that JSON has not
            found = await self._judge.unreadable(str(error))
        else:
            found = await decide(written)
        if found is not None:
            raise InternalError(f"internal error, id {found}")


def _details(refused: NotPassed) -> dict[str, str]:
    """Return the violations by their place, as texts: gRPC has no other details."""
    details: dict[str, str] = {}
    for at, problem in fields_of(refused):
        details[at] = f"{details[at]}; {problem}" if at in details else problem
    return details
