"""The MCP server and tool results, read by the official client, in both eras of the protocol."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

from messagebody import MessageBody, Part, Resolver, __version__
from messagebody._cli.commands.models import _messages
from messagebody.errors import InvalidArgument, StoreError
from messagebody.frameworks.mcp import host_check, server, tool_result
from tests import servers

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
                with pytest.raises(MCPError, match="not for models"):
                    await client.read_resource(f"messagebody:///?part={part}")
                assert "not for models" in text_of(
                    await client.call_tool("read_part", {"part": part})
                )

    anyio.run(ask)


async def walk(client: Any) -> None:
    """What every client does, whatever the transport."""
    assert client.server_info.version == __version__
    found = {each.uri: each for each in (await client.list_resources()).resources}
    assert [*found] == [
        "messagebody:///", "messagebody:///?part=0", "messagebody:///logs/a.txt",
        "messagebody:///charts/a-b.png", "messagebody:///raw.bin", "messagebody:///far",
    ]  # fmt: skip
    assert found["messagebody:///raw.bin"].size == 99
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
    many: dict[str, Any] = {f"m{number}": (lambda: message) for number in range(450)}
    many["a/b c"] = message

    async def run() -> None:
        async with Client(server(many)) as client:
            found: list[Any] = []
            cursor, pages = None, 0
            while pages == 0 or cursor:
                page = await client.list_resources(cursor=cursor)
                found, cursor, pages = found + page.resources, page.next_cursor, pages + 1
            assert (len(found), pages) == (451, 3)
            assert found[0].uri == "messagebody://a%2Fb%20c/"
            [text] = (await client.read_resource(found[0].uri + "logs/a.txt")).contents
            assert text.text == "one two three"
            call = client.call_tool
            assert text_of(await call("list_messages", {})).startswith("a/b c\nm0\n")
            arguments = {"message": "m7", "part": "0"}
            assert text_of(await call("read_part", arguments)) == "Why?"
            assert (await call("read_part", {"message": "x", "part": "0"})).is_error
            with pytest.raises(MCPError):
                await client.list_resources(cursor="-1")

    anyio.run(run)


def wire(result: Any) -> int:
    return len(json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True)))


@pytest.mark.parametrize("size", [500, 5_000, 50_000, 1_000_000])
def test_a_tool_result_keeps_its_bound(size: int) -> None:
    body = MessageBody([Part("See the charts.")])
    for number in range(30):
        body.add(bytes(20_000), name=f"/charts/{number}.png", content_type="image/png")
    result = tool_result(body, size)
    assert wire(result) <= size + 100  # what is around the blocks
    blocks = result.content
    assert blocks[0].text == "See the charts."
    kinds = [block.type for block in blocks]
    assert (kinds.count("image") == 30) == (size == 1_000_000)
    shown = kinds.count("image") + kinds.count("resource_link")
    if shown < 30:
        assert blocks[-1].text == f"[{30 - shown} of 31 parts left out]"


def test_bad_arguments(message: MessageBody) -> None:
    with pytest.raises(InvalidArgument, match="at least 500"):
        tool_result(message, 3)
    with pytest.raises(InvalidArgument, match="at least 500"):
        server(message, max_bytes=3)
    for source in ([message], {"": message}, "message.json"):
        with pytest.raises(InvalidArgument, match="a dict of them by name"):
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
    command = [sys.executable, "-m", "messagebody", "mcp", str(tmp_path), "--http", str(port)]
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


@pytest.mark.parametrize(
    ("host", "answered"),
    [
        ("127.0.0.2", True), ("127.0.0.1", True), ("localhost", True), ("box.example", True),
        ("evil.example", False), ("127.0.0.2.evil.example", False), ("", False),
    ],
)  # fmt: skip
def test_http_answers_only_its_own_names(host: str, answered: bool) -> None:
    from starlette.testclient import TestClient

    checked = host_check(["127.0.0.2", "127.0.0.1", "localhost", "::1", "box.example"])
    app = server(MessageBody([Part("x")])).streamable_http_app(
        host="127.0.0.2", transport_security=checked
    )
    headers = {"Accept": "application/json, text/event-stream"}
    with TestClient(app) as client:
        for port in ("", ":8000"):
            named = headers | {"Host": f"{host}{port}" if host else ""}
            answer = client.post("/mcp", json={}, headers=named)
            assert (answer.status_code != 421) == answered
            if answered:
                foreign = named | {"Origin": "http://evil.example"}
                assert client.post("/mcp", json={}, headers=foreign).status_code == 403
                own = named | {"Origin": f"http://{host}{port}"}
                assert client.post("/mcp", json={}, headers=own).status_code != 403


def test_a_directory_shows_regular_files_only(tmp_path: Path) -> None:
    """A FIFO would never end, and a link may lead anywhere."""
    directory = tmp_path / "messages"
    directory.mkdir()
    MessageBody([Part("one")]).save(directory / "a.json")
    MessageBody([Part("secret")]).save(tmp_path / "secret.json")
    os.mkfifo(directory / "fifo.json")
    (directory / "link.json").symlink_to(tmp_path / "secret.json")
    (directory / "up").symlink_to(tmp_path)
    (directory / ".hidden").mkdir()
    for hidden in (".h.json", ".hidden/h.json"):
        MessageBody([Part("draft")]).save(directory / hidden)
    found: Any = _messages(str(directory))
    assert [*found] == ["a"]
    (directory / "a.json").unlink()
    (directory / "a.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(StoreError):
        found["a"]()
    (directory / "a.json").unlink()
    os.mkfifo(directory / "a.json")
    with pytest.raises((StoreError, OSError)):
        found["a"]()
