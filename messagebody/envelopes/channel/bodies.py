"""Agents that take a body and answer with a body, behind a chat callable."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from messagebody.body import MessageBody
from messagebody.envelopes.channel.mapping import from_body, to_body
from messagebody.envelopes.channel.replies import Refusal, result_of
from messagebody.media_types import TEXT_PLAIN
from messagebody.part import Part

__all__ = ["body_chat"]

Agent = Callable[[MessageBody], Any]


def body_chat(agent: Agent) -> Callable[[dict[str, Any]], Any]:
    """Return a chat callable for an agent that takes a body.

    The agent answers with a body, a text, chat output or a `Refusal`; it may be asynchronous, as
    `Channel.ahandle` is. A body's parts that are no text travel in `metadata.attachments`.

    Arguments:
        agent: the agent.

    Examples:
        >>> chat = body_chat(lambda body: f"{len(body.list('/attachments/**'))} files")
        >>> files = [{"url": "https://e.com/a.png"}]
        >>> chat({"agent": "demo", "message": "How many?", "attachments": files})["reply"]
        '1 files'
    """

    def chat(payload: dict[str, Any]) -> Any:
        answer = agent(to_body(payload).or_raise())
        if inspect.isawaitable(answer):
            return _awaited(answer, payload)
        return _output(answer, payload)

    return chat


async def _awaited(answer: Awaitable[Any], payload: dict[str, Any]) -> Any:
    return _output(await answer, payload)


def _output(answer: Any, payload: dict[str, Any]) -> dict[str, Any] | Refusal:
    if isinstance(answer, str):
        answer = MessageBody([Part(answer, content_type=TEXT_PLAIN)])
    if not isinstance(answer, MessageBody):
        return result_of(answer)
    session_id = payload.get("session_id")
    return from_body(answer, kind="output", session_id=session_id).or_raise()
