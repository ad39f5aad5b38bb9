"""The MCP server and tool results, read by the official client, in both eras of the protocol."""

import base64
import json
import os
import re
import socket
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

from messagebody import MessageBody, Part, Resolver, __version__
from messagebody.archives.directory import pack
from messagebody.errors import InvalidArgument, StoreError
from messagebody.frameworks.mcp import _server, host_check, server, tool_result
from messagebody.storage import offload, open_store
from messagebody.storage._stores.messages import StoredMessages
from tests import servers
from tests.effort import calls

PNG = b"\x89PNG\r\n\x1a\n" + bytes(90)
ERAS = ["auto", "legacy"]


@pytest.fixture
def message() -> MessageBody:
    body = MessageBody([Part("Why?"), Part("one two three", name="/logs/a.txt")])
    body.add(PNG, name="/charts/a b.png".replace(" ", "-"), content_type="image/png")
    body.add(bytes(99), name="/raw.bin", content_type="application/zip")
    body.add(url="s3://acme/x", name="/far", content_type="text/plain")
    return body


def text_of(result: Any) -> str:
    return str(result.content[0].text)


def test_members_of_a_message_are_not_for_models() -> None:
    """Neither the resources nor the tools of a server show the rest of a message."""
    body = MessageBody([Part("Why?")])
    body.add('{"user_token": "s3cr3t"}', name="/meta/agents-api.json")
    body.add('{"user_token": "s3cr3t"}', name="/olympus/envelope.json", content_type="image/png")
    assert "s3cr3t" not in tool_result(body).model_dump_json()
    assert "/meta" not in tool_result(body, 500).model_dump_json()

    async def ask() -> None:
        async with Client(server(body)) as client:
            found = [each.uri for each in (await client.list_resources()).resources]
            assert found == ["messagebody:///", "messagebody:///?part=0"]
            [manifest] = (await client.read_resource("messagebody:///")).contents
            assert len(json.loads(manifest.text)) == 1
            for part in ("/meta/agents-api.json", "1", "/olympus/envelope.json", "2"):
                said = f"no part '{part}'"
                with pytest.raises(MCPError, match=said):
                    await client.read_resource(f"messagebody:///?part={part}")
                answer = await client.call_tool("read_part", {"part": part})
                assert answer.is_error
                assert text_of(answer) == f"Error: {said}; the body has 0 named parts"

    anyio.run(ask)


async def walk(client: Any) -> None:
    """What every client does, whatever the transport."""
    assert client.server_info.version == __version__
    found = {each.uri: each for each in (await client.list_resources()).resources}
    assert [*found] == [
        "messagebody:///", "messagebody:///?part=0", "messagebody:///logs/a.txt",
        "messagebody:///charts/a-b.png", "messagebody:///raw.bin", "messagebody:///far",
    ]  # fmt: skip
    raw = found["messagebody:///raw.bin"]
    assert (raw.size, raw.title) == (99, "raw.bin")
    assert raw.description == "3  /raw.bin  application/zip  99 B"
    assert all(each.title and each.description for each in found.values())
    [manifest] = (await client.read_resource("messagebody:///")).contents
    assert len(json.loads(manifest.text)) == 5
    [picture] = (await client.read_resource("messagebody:///charts/a-b.png")).contents
    assert base64.b64decode(picture.blob) == PNG
    [text] = (await client.read_resource("messagebody:///?part=0")).contents
    assert (text.text, text.mime_type) == ("Why?", "text/plain")
    tools = (await client.list_tools()).tools
    assert [each.name for each in tools] == ["list_parts", "read_part", "search_parts"]
    assert all(each.annotations.read_only_hint for each in tools)
    assert not any(each.annotations.open_world_hint for each in tools)
    assert tools[1].input_schema["required"] == ["part"]
    call = client.call_tool
    assert len(text_of(await call("list_parts", {})).splitlines()) == 5
    assert text_of(await call("read_part", {"part": "/logs/a.txt", "offset": 4})) == "two three"
    [block] = (await call("read_part", {"part": "/charts/a-b.png"})).content
    assert (block.type, base64.b64decode(block.data)) == ("image", PNG)
    [block] = (await call("read_part", {"part": "/raw.bin"})).content
    assert (block.type, block.uri) == ("resource_link", "messagebody:///raw.bin")
    assert "offset 4" in text_of(await call("search_parts", {"text": "TWO"}))
    for name, arguments, answer in [
        ("read_part", {"part": 5}, "part is string, got 5 (int)"),
        ("read_part", {}, "missing a required argument"),
        ("read_part", {"part": "/logs/b.txt"}, "did you mean '/logs/a.txt'?"),
        ("read_part", {"part": "/far"}, "which no resolver allows"),
        ("drop", {}, "no tool 'drop'"),
    ]:
        wrong = await call(name, arguments)
        assert wrong.is_error, name
        assert answer in text_of(wrong)
        assert "Resolver" not in text_of(wrong)
    for uri in ("messagebody:///nothing", "file:///etc/passwd", "messagebody://other/", "s3://["):
        with pytest.raises(MCPError):
            await client.read_resource(uri)


@pytest.mark.parametrize("era", ERAS)
def test_in_the_same_process(message: MessageBody, era: Any) -> None:
    async def run() -> None:
        async with Client(server(message), mode=era) as client:
            await walk(client)

    anyio.run(run)


@pytest.mark.parametrize("era", ERAS)
def test_over_stdio(message: MessageBody, era: Any, tmp_path: Path) -> None:
    message.save(tmp_path / "message.json")
    arguments = ["-m", "messagebody", "mcp", str(tmp_path / "message.json")]
    here = {"PYTHONPATH": str(Path(__file__).parents[2])}

    async def run() -> None:
        command = StdioServerParameters(command=sys.executable, args=arguments, env=here)
        async with Client(command, mode=era) as client:
            await walk(client)

    anyio.run(run)


def test_a_prefix_of_a_bucket(message: MessageBody, moto_server: servers.Server) -> None:
    client = moto_server.session().client("s3", endpoint_url=moto_server.endpoint)
    client.create_bucket(Bucket="messages")
    for key, data in [
        ("agents/one.json", message.to_json_bytes()),
        ("agents/two.json", b'[{"content": "Second"}]'),
        ("other/three.json", b'[{"content": "Not served"}]'),
    ]:
        client.put_object(Bucket="messages", Key=key, Body=data)
    arguments = ["-m", "messagebody", "mcp", "s3://messages/agents/"]
    here = moto_server.environment() | {
        "AWS_ENDPOINT_URL": moto_server.endpoint,
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }

    async def run() -> None:
        command = StdioServerParameters(command=sys.executable, args=arguments, env=here)
        async with Client(command) as session:
            names = text_of(await session.call_tool("list_messages", {})).splitlines()
            assert [name.removesuffix(".json") for name in names] == ["one", "two"]
            asked = {"message": names[1], "part": "0"}
            assert text_of(await session.call_tool("read_part", asked)) == "Second"
            asked = {"message": names[0], "part": "/logs/a.txt"}
            assert text_of(await session.call_tool("read_part", asked)) == "one two three"

    anyio.run(run)


@pytest.mark.parametrize("is_open", [False, True])
def test_tools_that_open_the_web_say_so(message: MessageBody, is_open: bool) -> None:
    async def run() -> None:
        made = server({"m": message}, resolver=Resolver(public_https=is_open))
        async with Client(made) as client:
            tools = (await client.list_tools()).tools
            hints = {each.name: each.annotations.open_world_hint for each in tools}
        assert hints.pop("list_messages") is False
        assert set(hints.values()) == {is_open}

    anyio.run(run)


def test_many_messages(message: MessageBody) -> None:
    many: dict[str, Any] = {f"m{number}": (lambda: message) for number in range(2_450)}
    many["a/b c"] = message
    many["a\nb"] = message

    async def run() -> None:
        async with Client(server(many)) as client:
            found: list[Any] = []
            cursor, pages = None, 0
            while pages == 0 or cursor:
                page = await client.list_resources(cursor=cursor)
                found, cursor, pages = found + page.resources, page.next_cursor, pages + 1
            assert (len(found), pages) == (2_452, 3)
            assert found[0].uri == "messagebody://a%2Fb%20c/"
            [text] = (await client.read_resource(found[0].uri + "logs/a.txt")).contents
            assert text.text == "one two three"
            call = client.call_tool
            listed: list[str] = []
            while not listed or listed[-1].startswith("["):
                after = {"after": listed[-2]} if listed else {}
                listed[-1:] = text_of(await call("list_messages", after)).splitlines()
            assert listed == sorted(name.replace("\n", "\\n") for name in many)
            arguments = {"message": "a\\nb", "part": "0"}
            assert text_of(await call("read_part", arguments)) == "Why?"
            arguments = {"message": "m7", "part": "0"}
            assert text_of(await call("read_part", arguments)) == "Why?"
            assert (await call("read_part", {"message": "x", "part": "0"})).is_error
            with pytest.raises(MCPError):
                await client.list_resources(cursor="-1")

    anyio.run(run)


def wire(result: Any) -> int:
    return len(json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True)))


@pytest.mark.parametrize("size", [500, 1_000, 50_000, 1_000_000])
def test_a_tool_result_keeps_its_bound(size: int) -> None:
    """It links to the open web alone, and says what it leaves out."""
    body = MessageBody([Part("See the charts.")])
    body.add(url="https://example.com/a.png", name="/open.png")
    body.add(url="https://example.com/a.png?X-Amz-Signature=SECRET", name="/signed.png")
    body.add(url="s3://acme/x.png", name="/stored.png")
    for number in range(30):
        body.add(bytes(20_000), name=f"/charts/{number}.png", content_type="image/png")
    result = tool_result(body, size)
    assert wire(result) <= size + 100
    assert result.content[0].text == "See the charts."
    kinds = [block.type for block in result.content]
    assert (kinds.count("image") == 30) == (size == 1_000_000)
    links = [block.uri for block in result.content if block.type == "resource_link"]
    assert links == ["https://example.com/a.png"]
    # What is left out is said, and as much of it as has room is listed.
    head, *lines = result.content[-1].text.splitlines()
    left = 33 - len(links) - kinds.count("image")
    assert head == f"[{left} of 34 parts left out]"
    first = "2  /signed.png  image/png  unknown size  https://example.com/a.png?…"
    assert lines[:1] == [first][: len(lines)]
    assert (len(lines) == left) == (size > 2_000)


def test_bad_arguments(message: MessageBody) -> None:
    with pytest.raises(InvalidArgument, match="at least 500"):
        tool_result(message, 3)
    with pytest.raises(InvalidArgument, match="at least 500"):
        server(message, max_bytes=3)
    for source in ([message], {"": message}, "message.json"):
        with pytest.raises(InvalidArgument, match="a dict of bodies by name"):
            server(source)  # type: ignore[arg-type]


def test_the_limit_of_the_command(message: MessageBody, tmp_path: Path) -> None:
    message.save(tmp_path / "one.json")
    (tmp_path / "broken.json").write_text("[")
    command = [sys.executable, "-m", "messagebody", "mcp"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    for file, limit, said in [
        ("one.json", "100 B", "'one.json' is larger than 100 B; --limit SIZE allows more"),
        ("broken.json", "100 B", "'broken.json' is not a valid body: not JSON"),
        ("none.json", "100 B", "can't read 'none.json': No such file or directory"),
        ("-", "100 B", "the client speaks over standard input; name a file, or use --port"),
    ]:
        refused = subprocess.run(
            [*command, file, "--limit", limit], cwd=tmp_path, env=env, capture_output=True,
            text=True, check=False, timeout=60,
        )  # fmt: skip
        assert (refused.returncode, refused.stdout) == (2, "")
        assert said in refused.stderr

    async def listed(limit: str) -> Any:
        arguments = [*command[1:], str(tmp_path), "--limit", limit]
        started = StdioServerParameters(command=command[0], args=arguments, env=env)
        async with Client(started) as client:
            return await client.call_tool("list_parts", {"message": "one"})

    size = (tmp_path / "one.json").stat().st_size
    assert not anyio.run(listed, str(size)).is_error
    too_large = anyio.run(listed, str(size - 1))
    assert too_large.is_error
    assert f"the limit json_bytes is {size - 1} B" in text_of(too_large)


def test_over_http(message: MessageBody, tmp_path: Path) -> None:
    import httpx2

    from tests import servers

    (tmp_path / "deep").mkdir()
    message.save(tmp_path / "deep" / "one.json")
    (tmp_path / "broken.json").write_text("[")
    port = servers.free_port()
    command = [sys.executable, "-m", "messagebody", "mcp", str(tmp_path), "--port", str(port)]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}

    async def run() -> None:
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            assert text_of(await client.call_tool("list_messages", {})) == "broken\ndeep/one"
            arguments = {"message": "deep/one", "part": "0"}
            assert text_of(await client.call_tool("read_part", arguments)) == "Why?"
            broken = await client.call_tool("list_parts", {"message": "broken"})
            assert broken.is_error

    with servers.running(command, port, env):
        anyio.run(run)
        # A page of another site that was bound to this address is refused.
        foreign = {"Host": "evil.example", "Accept": "application/json, text/event-stream"}
        answer = httpx2.post(f"http://127.0.0.1:{port}/mcp", json={}, headers=foreign)
        assert answer.status_code == 421


def test_a_directory_is_served_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "0.json"
    server_of_store = server(open_store(tmp_path))

    async def run() -> None:
        async with Client(server_of_store) as client:
            call = client.call_tool
            assert text_of(await call("list_messages", {})) == "[no messages]"
            assert (await client.list_resources()).resources == []
            file.parent.mkdir()
            MessageBody([Part("one")]).save(file)
            assert text_of(await call("list_messages", {})) == "deep/0"
            [found] = (await client.list_resources()).resources
            assert (found.uri, found.name, found.title) == (
                "messagebody://deep%2F0/",
                "deep/0",
                "0",
            )
            assert found.size == file.stat().st_size
            written = datetime.fromisoformat(found.annotations.last_modified).timestamp()
            assert written == int(file.stat().st_mtime)
            assert found.description
            for name in ("deep/0", "deep/0.json"):
                answer = await call("read_part", {"message": name, "part": "0"})
                assert text_of(answer) == "one"
            for wrong in ("0", "0.json", "deep/o"):
                answer = await call("read_part", {"message": wrong, "part": "0"})
                assert answer.is_error
                assert "(did you mean 'deep/0'?); list_messages lists them" in text_of(answer)
            # An editor writes the same length, within the same tick of the clock.
            MessageBody([Part("two")]).save(file)
            answer = await call("read_part", {"message": "deep/0", "part": "0"})
            assert text_of(answer) == "two"
            [part] = (await client.read_resource(found.uri + "?part=0")).contents
            assert part.text == "two"
            file.unlink()
            assert text_of(await call("list_messages", {})) == "[no messages]"
            assert (await call("read_part", {"message": "deep/0", "part": "0"})).is_error
            with pytest.raises(MCPError, match="no message 'deep/0'"):
                await client.read_resource(found.uri)

    anyio.run(run)


def test_a_file_is_served_as_it_is(tmp_path: Path) -> None:
    """A name may have spaces, and a link that the user names is followed."""
    file = tmp_path / "the report (ä).txt"
    MessageBody([Part("one")]).save(file)
    (tmp_path / "link").symlink_to(file)

    async def read(client: Any) -> tuple[bool, str]:
        answer = await client.call_tool("read_part", {"part": "0"})
        return answer.is_error, text_of(answer)

    async def run() -> None:
        arguments = ["-m", "messagebody", "mcp", str(tmp_path / "link")]
        here = {"PYTHONPATH": str(Path(__file__).parents[2])}
        command = StdioServerParameters(command=sys.executable, args=arguments, env=here)
        async with Client(command) as client:
            assert await read(client) == (False, "one")
            MessageBody([Part("two")]).save(file)
            assert await read(client) == (False, "two")
            file.write_text("[")
            assert (await read(client))[0]
            file.unlink()
            assert await read(client) == (True, "Error: the message can't be read now")
            with pytest.raises(MCPError, match="can't be read now"):
                await client.list_resources()

    anyio.run(run)


def test_a_message_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    MessageBody([Part("one")]).save(tmp_path / "a.json")
    os.utime(tmp_path / "a.json", (1, 1))
    store, read = open_store(tmp_path), Mock()
    read.side_effect = store.read_range
    monkeypatch.setattr(store, "read_range", read)

    async def run() -> None:
        async with Client(server(store)) as client:
            for _ in range(3):
                await client.call_tool("read_part", {"message": "a", "part": "0"})
                await client.call_tool("list_messages", {})

    anyio.run(run)
    assert read.call_count == 1


def test_few_messages_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        MessageBody([Part("x" * 1_000)]).save(tmp_path / f"{number}.json")
    served = _server.Served(StoredMessages(open_store(tmp_path)), None, 50_000, is_single=False)
    for number in range(20):
        served._open(str(number))
    assert [*served._kept] == [str(number) for number in range(4, 20)]
    monkeypatch.setattr(_server, "_OPEN_BYTES", 3_500)
    served._open("0")
    assert [*served._kept] == ["18", "19", "0"]
    monkeypatch.setattr(_server, "_OPEN_BYTES", 10)
    served._open("1")
    assert [*served._kept] == ["1"]


def test_a_page_of_a_huge_body_costs_a_page() -> None:
    """100,000 parts are listed in less than a second on a quiet machine."""
    body = MessageBody(Part("x", name=f"/logs/{number}.txt") for number in range(20_000))
    served = _server.Served({"": body}, None, 50_000, is_single=True)
    first = served._list_parts(None)
    assert (len(first.resources), first.next_cursor) == (1_001, "1000")
    assert calls(lambda: served._list_parts("1000"), 150 * 1_000) > 1_000


def test_a_body_is_served_as_it_is(message: MessageBody) -> None:
    async def run() -> None:
        async with Client(server(message)) as client:
            answer = await client.call_tool("read_part", {"part": "/new.txt"})
            assert answer.is_error
            message.add("new", name="/new.txt")
            answer = await client.call_tool("read_part", {"part": "/new.txt"})
            assert text_of(answer) == "new"
            [part] = (await client.read_resource("messagebody:///new.txt")).contents
            assert part.text == "new"

    anyio.run(run)


def test_a_text_that_begins_like_an_error_is_none(message: MessageBody) -> None:
    message.add("Error: out of memory", name="/logs/error.txt")
    names: Any = {"Error: a": message}

    async def run() -> None:
        async with Client(server(names)) as client:
            asked = {"message": "Error: a", "part": "/logs/error.txt"}
            for name, arguments in [("list_messages", {}), ("read_part", asked)]:
                answer = await client.call_tool(name, arguments)
                assert text_of(answer).startswith("Error: ")
                assert not answer.is_error

    anyio.run(run)


def test_what_a_link_leads_to_can_be_read(message: MessageBody, tmp_path: Path) -> None:
    """A picture in an allowed store is shown, and what nobody may read is an error."""
    store = open_store(tmp_path)
    message.add(bytes(99_999), name="/large.bin")
    offloaded = offload(message, store, threshold=0)
    offloaded.add(url="s3://acme/x.zip", name="/closed.zip", content_type="application/zip", size=9)

    async def run() -> None:
        async with Client(server(offloaded, resolver=Resolver(allow=[store]))) as client:
            call = client.call_tool
            [picture] = (await call("read_part", {"part": "/charts/a-b.png"})).content
            assert base64.b64decode(picture.data) == PNG
            for name, size in [("/raw.bin", 99), ("/large.bin", 99_999)]:
                [link] = (await call("read_part", {"part": name})).content
                [content] = (await client.read_resource(link.uri)).contents
                assert len(base64.b64decode(content.blob)) == size
            closed = await call("read_part", {"part": "/closed.zip"})
            assert closed.is_error
            assert "which no resolver allows" in text_of(closed)

    anyio.run(run)


def test_the_schemas_of_the_tools(message: MessageBody) -> None:
    """Some SDKs refuse a list of types."""

    async def run() -> None:
        async with Client(server({"a": message})) as client:
            tools = (await client.list_tools()).tools
        assert tools[0].name == "list_messages"
        for tool in tools:
            for about in tool.input_schema["properties"].values():
                kinds = about.get("anyOf", [about])
                assert all(isinstance(kind["type"], str) for kind in kinds)
                assert about["description"]

    anyio.run(run)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_a_free_port(host: str, message: MessageBody, tmp_path: Path) -> None:
    message.save(tmp_path / "one.json")
    command = [sys.executable, "-m", "messagebody", "mcp", str(tmp_path), "--host", host]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}

    async def run(url: str) -> None:
        async with Client(url) as client:
            assert text_of(await client.call_tool("list_messages", {})) == "one"

    with subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, env=env, text=True
    ) as served:
        assert served.stdout is not None
        try:
            said = served.stdout.readline()
            found = re.fullmatch(r"Serving at (http://(.+):([0-9]+)/mcp)\n", said)
            assert found is not None, said
            assert found[2] == (f"[{host}]" if ":" in host else host)
            anyio.run(run, found[1])
            again = subprocess.run(
                [*command, "--port", found[3]], env=env, capture_output=True, text=True, check=False
            )
            assert again.returncode == 2
            assert f"can't listen at '{host}', port {found[3]}: Address already" in again.stderr
            # A second Host, which no browser sends, is no way around the check.
            with socket.create_connection((host, int(found[3]))) as raw:
                raw.sendall(b"POST /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
                assert raw.recv(99).startswith(b"HTTP/1.1 400 ")
        finally:
            served.terminate()


def test_messages_that_can_not_be_read_are_answers(tmp_path: Path, caplog: Any) -> None:
    """A message that went away, a store that is down: a model learns no more than that."""

    def gone() -> MessageBody:
        return MessageBody.from_json((tmp_path / "gone.json").read_bytes())

    def down() -> MessageBody:
        raise StoreError("503 slow down", f"file://{tmp_path}")

    def broken() -> MessageBody:
        return MessageBody.from_json(b"{")

    async def ask() -> None:
        async with Client(server({"gone": gone, "down": down, "broken": broken})) as client:
            for name in ("gone", "down", "broken"):
                answer = text_of(await client.call_tool("list_parts", {"message": name}))
                assert answer.startswith("Error: ")
                assert str(tmp_path) not in answer
                with pytest.raises(MCPError) as caught:
                    await client.read_resource(f"messagebody://{name}/")
                assert str(tmp_path) not in str(caught.value)
            wrong = text_of(await client.call_tool("list_parts", {"message": "x" * 9_999}))
            assert len(wrong) < 300
            wrong = text_of(await client.call_tool("list_parts", {"message": "x", "a": 1}))
            assert wrong.startswith("Error: no message 'x'")
            wrong = text_of(await client.call_tool("list_messages", {"before": "x"}))
            assert wrong == "Error: list_messages: got an unexpected keyword argument 'before'"
            assert "can't be read now" in text_of(
                await client.call_tool("list_parts", {"message": "gone"})
            )

    anyio.run(ask)
    assert "Traceback" not in caplog.text


def test_no_answer_has_a_signed_url() -> None:
    url = "https://cdn.example.com/a.png?X-Amz-Signature=SECRET"
    body = MessageBody(
        [Part(url=url, name="/a.png", content_type="image/png", size=10), Part(url=url, size=3)]
    )
    for most in (500, 50_000):
        assert "SECRET" not in tool_result(body, most).model_dump_json()

    async def ask() -> None:
        async with Client(server(body)) as client:
            for part in ("/a.png", "1"):
                answer = await client.call_tool("read_part", {"part": part})
                assert "SECRET" not in answer.model_dump_json()
            assert "SECRET" not in (await client.list_resources()).model_dump_json()
            assert "SECRET" not in (await client.read_resource("messagebody:///")).model_dump_json()
            assert "SECRET" not in text_of(await client.call_tool("list_parts", {}))

    anyio.run(ask)


def test_a_directory_that_is_gone_is_no_empty_one(tmp_path: Path) -> None:
    directory = tmp_path / "messages"
    directory.mkdir()
    MessageBody([Part("one")]).save(directory / "a.json")
    server_of_store = server(open_store(directory))

    async def run() -> None:
        async with Client(server_of_store) as client:
            assert text_of(await client.call_tool("list_messages", {})) == "a"
            directory.rename(tmp_path / "elsewhere")
            answer = await client.call_tool("list_messages", {})
            assert answer.is_error
            assert text_of(answer) == "Error: the messages can't be listed now"
            with pytest.raises(MCPError, match="the messages can't be listed now"):
                await client.list_resources()
            gone = await client.call_tool("read_part", {"message": "a", "part": "0"})
            assert gone.is_error
            assert str(tmp_path) not in text_of(gone)
            (tmp_path / "elsewhere").rename(directory)
            assert text_of(await client.call_tool("list_messages", {})) == "a"

    anyio.run(run)


def test_no_answer_says_where_something_is(tmp_path: Path) -> None:
    """Neither a path of this machine, nor a signature of a URL."""
    path = tmp_path / "a.txt"
    path.write_text("hello", encoding="utf-8")
    body = MessageBody([Part("hi")])
    body.add(path, name="/a.txt")
    for name, kind in (("/b.txt", "text/plain"), ("/c.png", "image/png")):
        body.append(Part(url=f"{tmp_path.as_uri()}/gone", name=name, content_type=kind))
    path.write_text("changed", encoding="utf-8")

    async def run(resolver: Resolver | None) -> None:
        async with Client(server(body, resolver=resolver)) as client:
            said = [(await client.list_resources()).model_dump_json()]
            for name in ("/a.txt", "/b.txt", "/c.png"):
                answer = await client.call_tool("read_part", {"part": name})
                said.append(answer.model_dump_json())
                with pytest.raises(MCPError) as caught:
                    await client.read_resource(f"messagebody:///{name[1:]}")
                said.append(f"{caught.value} {caught.value.error}")
            said.append((await client.call_tool("list_parts", {})).model_dump_json())
            said.append((await client.call_tool("search_parts", {"text": "h"})).model_dump_json())
            assert [each for each in said if str(tmp_path) in each] == []

    anyio.run(run, None)
    anyio.run(run, Resolver(allow=tmp_path))


OWN = ["127.0.0.2", "127.0.0.1", "localhost", "::1"]
ASKED = [
    *[(f"{host}:8000", True) for host in ("127.0.0.2", "127.0.0.1", "localhost", "[::1]")],
    *[(host, True) for host in ("box.example", "box.example:8000", "proxy.example:8443")],
    ("[2001:db8::1]:8443", True),
    *[(host, True) for host in ("LOCALHOST:8000", "LocalHost:8000", "BOX.example:8000")],
    *[(host, True) for host in ("Proxy.Example:8443", "[2001:DB8::1]:8443")],
    *[(host, False) for host in ("EVIL.example", "LOCALHOST:8001", "PROXY.example")],
    *[(host, False) for host in ("127.0.0.1", "127.0.0.1:80", "127.0.0.1:80001", "localhost:*")],
    *[(host, False) for host in ("box.example:8443", "proxy.example", "proxy.example:8000")],
    *[(host, False) for host in ("evil.example", "127.0.0.2.evil.example", "evil.example:8000")],
    *[(host, False) for host in ("127.0.0.1:8000@evil.example", "127.0.0.1:8000.evil.example")],
    *[(host, False) for host in ("", "127.0.0.1:", "[::1]:8000:8000", "[::1", "::1:8000")],
]


@pytest.mark.parametrize(("host", "answered"), ASKED)
def test_http_answers_only_its_own_names(host: str, answered: bool) -> None:
    from starlette.testclient import TestClient

    names = ["Box.example", "proxy.example:8443", "[2001:DB8:0::1]:8443"]
    app = server(MessageBody([Part("x")])).streamable_http_app(
        host="127.0.0.2", transport_security=host_check(OWN, 8000, names)
    )
    headers = {"Accept": "application/json, text/event-stream"}
    with TestClient(app) as client:
        named = headers | {"Host": host}
        assert (client.post("/mcp", json={}, headers=named).status_code != 421) == answered
        # A page of another site is refused, whatever name it is sent to.
        own = headers | {"Host": "localhost:8000", "Origin": f"http://{host}"}
        assert (client.post("/mcp", json={}, headers=own).status_code != 403) == answered


def test_the_port_that_requests_leave_out() -> None:
    hosts = host_check(["::1", "fe80::1%eth0"], 80).allowed_hosts
    assert hosts == ["[::1]:80", "[fe80::1]:80", "[::1]", "[fe80::1]"]


@pytest.mark.parametrize("name", ["", "*", "a:*", "http://a", "a/b", "a b", "[]", "a:123456", "ä"])
def test_what_is_no_name_of_a_host(name: str) -> None:
    with pytest.raises(InvalidArgument, match="a host name or an address"):
        host_check(OWN, 8000, [name])


def test_files_that_are_no_messages(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_text("# A\nfind me\n", "utf-8")
    (tmp_path / "b.csv").write_text("x,y\n1,2\n", "utf-8")
    made = server(pack(tmp_path))

    async def look() -> None:
        async with Client(made) as client:
            uris = {str(each.uri) for each in (await client.list_resources()).resources}
            assert uris == {"messagebody:///", "messagebody:///b.csv", "messagebody:///notes/a.md"}
            found = await client.call_tool("search_parts", {"text": "find"})
            assert text_of(found) == "/notes/a.md, offset 4: # A find me"
            [content] = (await client.read_resource("messagebody:///b.csv")).contents
            assert content.text == "x,y\n1,2\n"

    anyio.run(look)
