"""Claim checks end to end, through a real queue's interface."""

import re
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver
from messagebody.errors import InvalidArgument, LimitExceeded, UnsafeReference
from messagebody.s3 import S3Store
from messagebody.storage.queues import QUEUE_LIMITS, from_message, to_message
from tests import servers


def large_body() -> MessageBody:
    body = MessageBody()
    body.add("See the attached.", content_type="text/markdown")
    body.add(bytes(range(256)) * 4000, name="/files/data.bin")
    for number in range(30):
        body.add(f"{number}" * 20_000, name=f"/pages/{number}.txt")
    return body


@pytest.mark.dear
def test_a_large_body_passes_a_queue(moto_server: servers.Server, moto_store: S3Store) -> None:
    sqs = moto_server.session().client("sqs", endpoint_url=moto_server.endpoint)
    queue = sqs.create_queue(QueueName="bodies")["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"MaximumMessageSize": str(256 * 1024)})
    body = large_body()
    with pytest.raises(sqs.exceptions.ClientError):
        sqs.send_message(QueueUrl=queue, MessageBody=body.to_json())
    sqs.send_message(QueueUrl=queue, MessageBody=to_message(body, moto_store))
    (received,) = sqs.receive_message(QueueUrl=queue)["Messages"]
    with pytest.raises(UnsafeReference):
        from_message(received["Body"])
    back = from_message(received["Body"], resolver=Resolver(allow=moto_store))
    assert back == body
    assert back.digest == body.digest


@pytest.mark.parametrize("queue", QUEUE_LIMITS)
def test_every_queue_gets_what_it_takes(queue: str) -> None:
    message = to_message(large_body(), "memory://queues", queue=queue)
    assert len(message.encode()) < QUEUE_LIMITS[queue]
    assert from_message(message, resolver=Resolver(allow="memory://queues")) == large_body()


def test_a_limit_of_ones_own() -> None:
    assert len(to_message(large_body(), "memory://queues", limit="16 KiB").encode()) <= 16 * 1024
    with pytest.raises(LimitExceeded):
        to_message(large_body(), "memory://queues", limit="1 KiB")


EDGES = (
    "\0\x01\x08\t\n\v\f\r\x1b\x1f \x7f\x80\u2028"
    "\ud7ff\ue000\ufdd0\ufffd\ufffe\uffff\U00010000\U0010ffff"
)
TAKEN = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")
"""What the interface of SQS documents as the characters of a message."""


def test_a_message_has_no_character_that_a_queue_refuses() -> None:
    body = MessageBody([Part(EDGES, name="/edges.txt", metadata={EDGES: [EDGES]})])
    message = to_message(body, "memory://queues")
    assert TAKEN.fullmatch(message)
    assert "\\uffff" in message
    assert from_message(message) == body


@pytest.mark.parametrize("character", ["\ufffe", "\uffff", "\0", "a"])
def test_escapes_count(character: str) -> None:
    body = MessageBody([Part(character * 3000, name=f"/{number}.txt") for number in range(9)])
    message = to_message(body, "memory://queues", limit="16 KiB")
    assert len(message.encode()) <= 16 * 1024
    assert from_message(message, resolver=Resolver(allow="memory://queues")) == body


@pytest.mark.parametrize("queue", ["SQS", "nope", [], None])
def test_a_queue_that_is_not_known(queue: Any) -> None:
    with pytest.raises(InvalidArgument, match="sqs, sqs-1mib"):
        to_message(MessageBody(["Hi"]), "memory://q", queue=queue)
