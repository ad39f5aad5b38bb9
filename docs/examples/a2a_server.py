"""A gated server of the A2A SDK that counts tables: `uvicorn a2a_server:application`."""

from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCard, Message
from google.protobuf.json_format import ParseDict
from starlette.applications import Starlette

from messagebody import Agent, MessageBody, MessageBodySchema
from messagebody.adapters import adapter
from messagebody.frameworks.a2a_sdk import GatedHandler

question = MessageBodySchema([(None, "text/plain", True), ("/**", "text/csv")])
analyst = Agent("analyst", question, MessageBodySchema([(None, "text/markdown", True)]))
card = {
    "name": "analyst", "description": "Counts tables.", "version": "1", "skills": [],
    "defaultInputModes": ["text/plain", "text/csv"], "defaultOutputModes": ["text/markdown"],
    "capabilities": {"extensions": [analyst.extension()]},
}  # fmt: skip


class Analyst(AgentExecutor):
    async def execute(self, context, queue):
        asked = adapter("a2a").to_body(context.message).value
        body = MessageBody()
        body.add(f"{len(asked.names())} tables.", content_type="text/markdown")
        answer = adapter("a2a").from_body(body, role="assistant").value
        await queue.enqueue_event(ParseDict(answer, Message()))

    async def cancel(self, context, queue):
        raise NotImplementedError


stated = ParseDict(card, AgentCard())
handler = DefaultRequestHandler(Analyst(), InMemoryTaskStore(), agent_card=stated)
routes = create_jsonrpc_routes(GatedHandler(handler, analyst), "/")
application = Starlette(routes=[*create_agent_card_routes(stated), *routes])
