"""A page that shows an answer while it grows: `uvicorn live:application`, and open it."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from messagebody.adapters.streams import positions, restream, stream_sse

PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>An answer</title>
<style>
  body { margin: 2rem auto; padding: 0 1rem; max-width: 44rem; font: 1rem/1.5 sans-serif }
  h2 { font-size: 1rem }
  pre { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere }
</style>
<main aria-live="polite"></main>
<script>
const parts = [];
const source = new EventSource("/answer/events");
const decoders = [];
source.onmessage = ({data}) => {
  const event = JSON.parse(data);
  if (event.event === "begin") {
    const {name, contentType} = event.part;
    if (name) {
      const heading = document.createElement("h2");
      heading.textContent = `${name} (${contentType})`;
      document.querySelector("main").append(heading);
    }
    if (!/^text\\/|json$/.test(contentType)) return;  // a file is named, and not shown
    parts[event.index] = document.createElement("pre");
    decoders[event.index] = new TextDecoder();
    document.querySelector("main").append(parts[event.index]);
  } else if (event.event === "append" && parts[event.index]) {
    const bytes = event.text !== undefined
      ? new TextEncoder().encode(event.text)
      : Uint8Array.from(atob(event.base64), (letter) => letter.charCodeAt(0));
    const text = decoders[event.index].decode(bytes, {stream: true});
    parts[event.index].append(text);  // as text: no markup of the answer runs
  } else if (event.event === "done") {
    source.close();
  }
};
</script>"""


def model() -> Iterator[dict[str, Any]]:
    """Yield the events of an answer. Put the stream of your model here."""
    for text in ("It is ", "sunny."):
        yield {"choices": [{"index": 0, "delta": {"content": text}}]}


sent: list[Any] = []


def write() -> None:
    """Keep what the model has sent so far, for pages that come late, or again."""
    for each in positions(restream(model(), "openai-chat")):
        sent.append(each)  # noqa: PERF402 - pages see each at once


async def following(start: int) -> AsyncIterator[str]:
    """Yield what was sent after the start, and then what is sent from now on."""
    while not sent or sent[-1].position != "done" or start < len(sent):
        for event in stream_sse(sent[start:]):
            start += 1
            yield event
        await asyncio.sleep(0.05)


def page(request: Request) -> Response:
    return HTMLResponse(PAGE)


def events(request: Request) -> Response:
    last = request.headers.get("last-event-id", "0")
    if last == "done":
        return Response(status_code=204)  # the browser does not come again
    seen = [each.position for each in sent]
    start = seen.index(last) + 1 if last in seen else 0
    return StreamingResponse(following(start), media_type="text/event-stream")


@asynccontextmanager
async def running(application: Starlette) -> AsyncIterator[None]:
    threading.Thread(target=write).start()
    yield


routes = [Route("/", page), Route("/answer/events", events)]
application = Starlette(routes=routes, lifespan=running)
