"""A researcher sends a report with chart, table and sources; a writer makes an article of it.

Run it with the URL of a store, such as s3://bucket/prefix or file:///tmp/store. It calls no model.
It needs LangGraph: `pip install '.[langgraph]' langgraph` in a clone of the repository.
"""

import operator
import sys
from pathlib import Path
from typing import Annotated, TypedDict

try:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, StateGraph
except ModuleNotFoundError:
    sys.exit("This program needs LangGraph: pip install '.[langgraph]' langgraph")

from messagebody import MessageBody, MessageBodySchema, Part, Resolver, check, offload
from messagebody.frameworks.langgraph import OffloadingSerializer
from messagebody.prompts import Draft, to_prompt
from messagebody.rendering import page
from messagebody.samples import sample
from messagebody.storage import open_store

if len(sys.argv) != 2:
    sys.exit("Say where large parts go: python researcher.py file:///tmp/store")
store = open_store(sys.argv[1])
resolver = Resolver(allow=store)
extras = ("/{charts,tables,sources}/*", "{image/*,text/csv,text/html}")
output = MessageBodySchema([("/report.md", "text/markdown", True), extras])
accepted = MessageBodySchema([("/**", "{text,image}/*", True)])
print("Can the writer read every report?", check(output, accepted).verdict)

# The researcher: a model calls these tools, with `draft.instructions()` as its prompt.
draft = Draft(output, [Part(sample("chart.png"), content_type="image/png")])
draft.add_part("# Rides\n\nThey grow.", "text/markdown", "/report.md")
draft.add_part("day,rides\n" + "1,2\n" * 9000, "text/csv", "/tables/rides.csv")
draft.attach_part("0", "/charts/rides.png")
print(draft.add_part("<p>Rides grow.</p>", "text/html", "/sources/1"))
print(draft.add_part("No schema part takes this.", "text/plain", "/notes"))

# What is sent is small, and the writer reads nothing but the store. The schema is the gate.
message = offload(draft.body, store, threshold="2 KiB").to_json()
report = MessageBody.from_json(message).with_resolver(resolver)
accepted.validate(report)


class State(TypedDict):
    body: Annotated[MessageBody, operator.add]


def write(state: State) -> State:
    body = state["body"].with_resolver(resolver)
    prompt = to_prompt(body, budget=8000)  # a real model is sent `prompt.body`
    text = f"Made of {len(prompt.body)} parts; {len(prompt.omitted)} was cut."
    return {"body": MessageBody([Part(text, name="/article.md")])}


saver = InMemorySaver(serde=OffloadingSerializer(store, threshold="2 KiB"))
graph = StateGraph(State).add_node(write).add_edge(START, "write").compile(checkpointer=saver)
graph.invoke({"body": report}, thread := {"configurable": {"thread_id": "1"}})
article = graph.get_state(thread).values["body"]
Path("article.html").write_text(page(article, resolver=resolver), encoding="utf-8")
print(len(message), [part.name for part in article], article["/article.md"].read_text())
