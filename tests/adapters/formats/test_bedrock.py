"""What Bedrock alone asks for: names of documents that differ, and citations around their text."""

from typing import Any

from messagebody import MessageBody, Part
from messagebody.adapters import adapter

bedrock: Any = adapter("bedrock")


def test_documents_have_names_of_their_own() -> None:
    pdf = [
        Part(b"%PDF-1", name=f"/{place}/Q3.pdf", content_type="application/pdf") for place in "ab"
    ]
    unnamed = [Part(data, content_type="application/pdf") for data in (b"%PDF-2", b"%PDF-3")]
    done = bedrock.from_body(MessageBody([*pdf, *unnamed]))
    said, *blocks = done.value["content"]
    # Converse takes no document without a text.
    assert said == {"text": "Q3 pdf, Q3 pdf, document, document:"}
    assert "takes no document without a text" in done.losses[-1].why
    names = [block["document"]["name"] for block in blocks]
    assert names == ["Q3 pdf", "Q3 pdf 2", "unnamed", "unnamed 2"]
    back = bedrock.to_body({"role": "user", "content": blocks}).value
    assert [part.name for part in back] == ["/Q3_pdf", "/Q3_pdf_2", None, None]


def test_names_differ_in_results_too() -> None:
    about = {"tool_result": {"id": "c"}}
    pdf = Part(
        b"%PDF-1", name="/tool/results/1/a.pdf", content_type="application/pdf", metadata=about
    )
    first = Part(b"%PDF-1", name="/a.pdf", content_type="application/pdf")
    _, *blocks = bedrock.from_body(MessageBody([first, pdf])).value["content"]
    inner = blocks[1]["toolResult"]["content"][0]["document"]
    assert (blocks[0]["document"]["name"], inner["name"]) == ("a pdf", "a pdf 2")


def test_citations_name_their_source() -> None:
    part = Part("Cats purr.", metadata={"citations": [{"part": "/sources/1", "quote": "purr"}]})
    source = Part(url="https://e.com/c", name="/sources/1", content_type="text/html")
    done = bedrock.from_body(MessageBody([part, source]))
    (block,) = done.value["content"]
    assert block["citationsContent"]["citations"] == [
        {"sourceContent": [{"text": "purr"}], "location": {"web": {"url": "https://e.com/c"}}}
    ]
    assert bedrock.to_body(done.value).value["/sources/1"].url == "https://e.com/c"


def test_boto3_gets_bytes() -> None:
    """Base64 text would be accepted, and encoded once more on its way."""
    said = '{"id": "c", "name": "f", "arguments": {"bytes": "AAAA", "source": {"bytes": "AAAA"}}}'
    call = Part(said, name="/tool/calls/1.json", content_type="application/json")
    body = MessageBody([Part(b"\x89PNG", content_type="image/png"), call])
    there = bedrock.from_body(body, role="assistant", boto3=True).value
    assert bedrock.from_body(MessageBody([body[0]]), boto3=True).value["content"][0]["image"][
        "source"
    ] == {"bytes": b"\x89PNG"}
    arguments = there["content"][-1]["toolUse"]["input"]
    assert arguments == {"bytes": "AAAA", "source": {"bytes": "AAAA"}}
    (message,) = bedrock.from_bodies([MessageBody([body[0]])], boto3=True).value
    assert bedrock.to_body(message).value == MessageBody([body[0]])


DOCUMENT = {"document": {"name": "Cats", "format": "txt", "source": {
    "content": [{"text": "Cats eat."}, {"text": ""}, {"text": "Cats\n\nsleep."}]}}}  # fmt: skip


def test_the_chunks_of_a_document_are_one_file() -> None:
    message = {"role": "user", "content": [DOCUMENT, {"text": "So?"}]}
    read = bedrock.to_body(message)
    assert (read.value[0].text, read.losses) == ("Cats eat.\n\n\n\nCats\n\nsleep.", ())
    assert bedrock.from_body(read.value, rest=read.rest).value == message
    read.value[0] = Part("Dogs.", name="/Cats")
    (document, _) = bedrock.from_body(read.value, rest=read.rest).value["content"]
    assert document["document"]["source"] == {"content": [{"text": "Dogs."}]}
    sources: list[Any] = [{"content": []}, {"content": [{"text": "a"}, {"image": {}}]}]
    for source in sources:
        odd = {"role": "user", "content": [{"document": {"name": "a", "source": source}}]}
        found = bedrock.to_body(odd)
        assert (len(found.value), len(found.losses)) == (0, 1)
        assert bedrock.from_body(found.value, rest=found.rest).value == odd
