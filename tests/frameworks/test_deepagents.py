"""A body as the files of an agent of deepagents, and an agent with a scripted model."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver

deepagents = pytest.importorskip("deepagents")

from messagebody.frameworks.deepagents import BodyBackend  # noqa: E402

PNG = b"\x89PNG\r\n\x1a\n" + bytes(60) + b"\xff"


@pytest.fixture
def backend() -> BodyBackend:
    body = MessageBody([Part("Why?"), Part("one\ntwo\nthree\n", name="/logs/a.txt")])
    body.add(PNG, name="/charts/a.png", content_type="image/png")
    return BodyBackend(body)


def paths(result: Any) -> list[str]:
    return [each["path"] for each in result.entries if True]


def test_files_are_listed_and_read(backend: BodyBackend) -> None:
    assert paths(backend.ls("/")) == ["/charts/", "/logs/"]
    assert paths(backend.ls("/logs")) == ["/logs/a.txt"]
    assert paths(backend.ls("/nothing")) == []
    read = backend.read("/logs/a.txt", 1, 1)
    assert (read.file_data["content"], read.next_offset, read.total_lines) == ("two\n", 2, 3)
    assert backend.read("/charts/a.png").file_data["encoding"] == "base64"
    assert "not found" in backend.read("/b").error
    assert backend.read("/logs/a.txt", 99).error


def test_members_of_a_message_are_no_files(backend: BodyBackend) -> None:
    kept = '{"user_token": "s3cr3t"}'
    for path in ("/meta/agents-api.json", "/logs/olympus/envelope.json"):
        backend.body.add(kept, name=path)
        assert "not found" in backend.read(path).error
        assert "not for models" in backend.write(path, "{}").error
        assert "not found" in backend.edit(path, "s3cr3t", "").error
        assert backend.body[path].text == kept
    assert paths(backend.ls("/")) == ["/charts/", "/logs/"]
    assert paths(backend.ls("/logs")) == ["/logs/a.txt"]
    assert backend.grep("s3cr3t").matches == []
    assert [each["path"] for each in backend.glob("*.json").matches] == []
    assert "not for models" in backend.write("/meta/mcp.json", "{}").error


def test_what_an_agent_writes_is_a_message(backend: BodyBackend) -> None:
    assert backend.write("/notes/b.md", "# B").path == "/notes/b.md"
    assert backend.edit("/notes/b.md", "B", "Cats").occurrences == 1
    assert backend.write("/logs/a.txt", "new").error is None
    assert "not found" in backend.edit("/x", "a", "b").error
    assert "not found in file" in backend.edit("/logs/a.txt", "old", "b").error
    assert "binary" in backend.edit("/charts/a.png", "a", "b").error
    part = backend.body["/notes/b.md"]
    assert (part.text, part.content_type) == ("# Cats", "text/markdown")
    assert backend.body.names() == ["/logs/a.txt", "/charts/a.png", "/notes/b.md"]
    assert MessageBody.from_json(backend.body.to_json()) == backend.body


def test_every_path_gets_a_part_and_keeps_it(backend: BodyBackend) -> None:
    odd = ["/notes/Q3 report (ü).md", "/large_tool_results/functions_big:0", "/a b.md", "/ä/b.txt"]
    for number, path in enumerate(odd):
        assert backend.write(path, f"text {number}").error is None
    assert backend.write("/a_b.md", "another").error is None
    assert backend.write("/a b.md", "again").error is None
    assert backend.read("/a b.md").file_data["content"] == "again"
    assert backend.read("/a_b.md").file_data["content"] == "another"
    for path in odd:
        assert [each["path"] for each in backend.glob(path[1:]).matches] == [path]
    assert MessageBody.from_json(backend.body.to_json()) == backend.body
    assert backend.body["/notes/Q3_report_u.md"].metadata == {"path": odd[0]}


@pytest.mark.parametrize("path", ["a.txt", "/", "/a/../b", "//a", "/a/", "", "/" + "x" * 2000])
def test_paths_that_are_refused(backend: BodyBackend, path: str) -> None:
    before = backend.body.copy()
    assert backend.write(path, "x").error
    [answer] = backend.upload_files([(path, b"x")])
    assert answer.error
    assert backend.body == before


def test_a_path_in_metadata_hides_no_other_file() -> None:
    body = MessageBody(
        [Part("evil", name="/x", metadata={"path": "/a.txt"}), Part("a", name="/a.txt")]
    )
    backend = BodyBackend(body)
    assert backend.read("/a.txt").file_data["content"] == "a"
    assert paths(backend.ls("/")) == ["/a.txt", "/x"]


def test_grep_and_glob(backend: BodyBackend) -> None:
    found = backend.grep("two").matches
    assert found == [{"path": "/logs/a.txt", "line": 2, "text": "two"}]
    assert backend.grep("two", "/charts").matches == []
    assert backend.grep("o", max_count=1).truncated
    assert [each["path"] for each in backend.glob("*.png").matches] == ["/charts/a.png"]
    assert [each["path"] for each in backend.glob("/*.txt", "/logs").matches] == ["/logs/a.txt"]
    backend.body.add(url="s3://acme/x", name="/far.txt")
    assert backend.grep("two").truncated  # not all could be read


def test_bytes_go_in_and_out(backend: BodyBackend) -> None:
    assert backend.upload_files([("/b.bin", bytes(range(256)))])[0].error is None
    answers = backend.download_files(
        ["/b.bin", "/nothing", "/charts", "/charts/", "b.bin", "/a/.."]
    )
    assert answers[0].content == bytes(range(256))
    assert [each.error for each in answers[1:]] == [
        "file_not_found", "is_directory", "is_directory", "invalid_path", "invalid_path",
    ]  # fmt: skip


def test_deleting_takes_what_is_below(backend: BodyBackend) -> None:
    backend.write("/logs/deep/b.txt", "x")
    assert backend.delete("/logs").path == "/logs"
    assert backend.body.names() == ["/charts/a.png"]
    assert "not found" in backend.delete("/logs").error


def test_large_files_go_to_the_store(tmp_path: Path) -> None:
    backend = BodyBackend(store=tmp_path / "store", threshold="1 KiB")
    backend.write("/big.txt", "cats\n" * 1000)
    assert backend.body["/big.txt"].is_reference
    assert backend.read("/big.txt", 0, 1).file_data["content"] == "cats\n"
    assert backend.edit("/big.txt", "cats", "dogs", replace_all=True).occurrences == 1000
    assert backend.body["/big.txt"].read_text(Resolver(allow=tmp_path / "store"))[:4] == "dogs"
    assert (
        "at most 10 B are read"
        in BodyBackend(MessageBody([Part("x" * 20, name="/a")]), max_read=10).read("/a").error
    )


def test_read_only_and_refused(backend: BodyBackend) -> None:
    body = backend.body.copy()
    body.add(url="s3://acme/x", name="/far.txt")
    closed = BodyBackend(body, read_only=True)
    assert closed.write("/b", "x").error == "the message is read-only"
    assert closed.edit("/logs/a.txt", "two", "x").error == "Error: the message is read-only"
    assert closed.delete("/logs").error == "the message is read-only"
    assert closed.upload_files([("/b", b"")])[0].error == "permission_denied"
    assert closed.read("/far.txt").error.endswith("which no resolver allows")


def test_edits_of_several_threads_are_all_kept(backend: BodyBackend) -> None:
    backend.write("/n.txt", "".join(f"<{number}>" for number in range(40)))
    threads = [
        threading.Thread(target=backend.edit, args=("/n.txt", f"<{number}>", "x"))
        for number in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert backend.body["/n.txt"].text == "x" * 40


def test_an_agent_works_on_a_message(backend: BodyBackend) -> None:
    from deepagents import create_deep_agent
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    calls: list[tuple[str, dict[str, Any]]] = [
        ("ls", {"path": "/"}),
        ("write_file", {"file_path": "/report.md", "content": "# Cats"}),
        ("edit_file", {"file_path": "/report.md", "old_string": "Cats", "new_string": "Dogs"}),
        ("grep", {"pattern": "two"}),
        ("read_file", {"file_path": "/nothing.txt"}),
        ("read_file", {"file_path": "/logs/a.txt"}),
    ]

    class Model(GenericFakeChatModel):  # type: ignore[misc]
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    def script() -> Iterator[AIMessage]:
        for number, (name, arguments) in enumerate(calls):
            call: Any = {"name": name, "args": arguments, "id": str(number), "type": "tool_call"}
            yield AIMessage("", tool_calls=[call])
        yield AIMessage("done")

    agent = create_deep_agent(model=Model(messages=script()), backend=backend)
    state = agent.invoke({"messages": [{"role": "user", "content": "Write a report."}]})
    answers = [str(each.content) for each in state["messages"] if each.type == "tool"]
    assert len(answers) == len(calls)
    assert "/logs/" in answers[0]
    assert "/logs/a.txt" in answers[3]
    assert "not found" in answers[4]
    assert "two" in answers[5]
    assert backend.body["/report.md"].text == "# Dogs"
