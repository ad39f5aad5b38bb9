"""Receive a report: check it, show it to four models, and keep a page of it.

STORE=s3://bucket/prefix uvicorn receiver:application (or STORE=file:///tmp/store)
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, FastAPI, HTTPException

from messagebody import MessageBody, MessageBodySchema, Resolver, inline
from messagebody.adapters import write
from messagebody.errors import DigestMismatch, StoreError, UnsafeReference
from messagebody.prompts import to_prompt
from messagebody.rendering import page

if "STORE" not in os.environ:
    sys.exit("Say where parts may be: STORE=file:///tmp/store uvicorn receiver:application")
MODELS = ["openai-chat", "openai-responses", "anthropic", "gemini"]
application = FastAPI()
resolver = Resolver(allow=os.environ["STORE"])
takes = MessageBodySchema([
    (None, "text/*", True),
    ("/{charts,sounds,tables,sources}/*", "{image,audio,text}/*"),
    ("/sources/*.pdf", "application/pdf"),
])  # fmt: skip


@application.post("/report")
def report(body: Annotated[MessageBody, Body(), takes]) -> dict[str, Any]:
    """Answer with what each model gets, and what it can't get."""
    try:
        whole = inline(body, resolver=resolver)
    except (UnsafeReference, DigestMismatch, StoreError) as error:
        # The advice of the error is for this program, not for the sender.
        raise HTTPException(422, error.statement) from error
    Path("report.html").write_text(page(body, resolver=resolver), "utf-8")
    sent = {name: write(name, body, urls="auto", resolver=resolver) for name in MODELS}
    return {
        "text": body.text,
        "same": whole.digest == body.digest,
        "tokens": to_prompt(body, 1000, resolver=resolver).used,
        "losses": {name: [str(each) for each in done.losses] for name, done in sent.items()},
    }
