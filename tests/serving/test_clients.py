"""Ordinary clients read what is served: they know nothing of messages."""

import io
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import fsspec
import pandas as pd
import pytest

from messagebody import Limits, MessageBody, Part, Resolver, offload
from messagebody.errors import DecodeError, StoreError, UnsafeReference
from tests.commands import run
from tests.serving.servers import TOKEN, running

TABLE = pd.DataFrame({"city": ["Oslo", "Rome", "Lima"] * 2000, "rides": range(6000)})


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("messages")
    body = MessageBody(["The rides of a year."])
    body.add(TABLE, name="/rides.parquet")
    body.add(TABLE.to_csv(index=False), name="/rides.csv")
    body.save(directory / "report.json")
    with running(directory, writable=True, token=TOKEN) as found:
        yield found


def test_pandas_reads_a_part(address: str) -> None:
    found = pd.read_csv(f"{address}/report/rides.csv")
    pd.testing.assert_frame_equal(found, TABLE, check_dtype=False)


def test_duckdb_reads_ranges_of_a_part(address: str) -> None:
    """Its own client of HTTP has to be downloaded, so it reads through that of fsspec."""
    pytest.importorskip("aiohttp", reason="fsspec reads HTTP with it; make test installs it")

    class Web(fsspec.get_filesystem_class("http")):  # type: ignore[misc]
        """What fsspec leaves out and DuckDB asks for."""

        def modified(self, path: str) -> datetime:
            return datetime.fromtimestamp(0, UTC)

    connection = duckdb.connect()
    connection.register_filesystem(Web())
    [(count,)] = connection.execute(
        f"SELECT count(*) FROM read_parquet('{address}/report/rides.parquet') WHERE city = 'Rome'"
    ).fetchall()
    assert count == 2000


def test_fsspec_reads_a_range(address: str) -> None:
    pytest.importorskip("aiohttp", reason="fsspec reads HTTP with it; make test installs it")
    with fsspec.open(f"{address}/report/rides.csv", block_size=64) as file:
        file.seek(-6, io.SEEK_END)
        assert file.read() == b",5999\n"
        assert file.size == len(TABLE.to_csv(index=False))


@pytest.mark.skipif(shutil.which("curl") is None, reason="this machine has no curl")
def test_curl_reads_resumes_and_writes(address: str, tmp_path: Path) -> None:
    def curl(*arguments: str) -> bytes:
        call = ["curl", "--silent", "--show-error", "--fail", *arguments]
        return subprocess.run(call, check=True, capture_output=True).stdout

    text = TABLE.to_csv(index=False).encode()
    half = tmp_path / "rides.csv"
    half.write_bytes(text[:1000])
    curl("--continue-at", "-", "--output", str(half), f"{address}/report/rides.csv")
    assert half.read_bytes() == text
    large = tmp_path / "large.bin"
    large.write_bytes(bytes(range(256)) * 4096)
    # It waits for 100 (Continue) before it sends so much.
    shown = ["--header", f"Authorization: Bearer {TOKEN}", "--header", "Expect: 100-continue"]
    curl("--upload-file", str(large), *shown, f"{address}/report/large.bin")
    assert curl(f"{address}/report/large.bin") == large.read_bytes()


def test_urllib_asks_again_only_for_what_changed(address: str) -> None:
    with urllib.request.urlopen(f"{address}/report") as got:
        tag, body = got.headers["ETag"], MessageBody.from_json(got.read())
    assert body.text == "The rides of a year."
    again = urllib.request.Request(f"{address}/report", headers={"If-None-Match": tag})
    with pytest.raises(urllib.error.HTTPError, match="304") as unchanged:
        urllib.request.urlopen(again)
    unchanged.value.close()


class TestLoad:
    def test_a_message_is_loaded_through_a_resolver(self, address: str) -> None:
        allowed = Resolver(allow=address + "/")
        body = MessageBody.load(f"{address}/report", resolver=allowed)
        assert body.read_text() == "The rides of a year."
        assert body["/rides.csv"].read_text() == TABLE.to_csv(index=False)

    def test_parts_in_the_store_are_read_from_the_server(self, tmp_path: Path) -> None:
        content = bytes(range(256)) * 2048
        body = MessageBody([Part(content, name="/large.bin")])
        offload(body, tmp_path).save(tmp_path / "m.json")
        with running(tmp_path) as place:
            allowed = Resolver(allow=place + "/")
            found = MessageBody.load(f"{place}/m", resolver=allowed)
            assert found["/large.bin"].url == f"{place}/m/large.bin"
            assert found["/large.bin"].read_bytes(allowed) == content

    def test_another_server_is_refused(self, address: str) -> None:
        with pytest.raises(UnsafeReference, match="the document points to"):
            MessageBody.load(f"{address}/report", resolver=Resolver(allow="https://example.com/"))
        with pytest.raises(UnsafeReference):
            MessageBody.load(f"{address}/report", resolver=Resolver())

    def test_what_is_no_message_is_an_error(self, address: str) -> None:
        allowed = Resolver(allow=address + "/")
        with pytest.raises(DecodeError, match=r"in '.*/report/rides\.csv'|not JSON"):
            MessageBody.load(f"{address}/report/rides.csv", resolver=allowed)
        with pytest.raises(StoreError):
            MessageBody.load(f"{address}/nothing", resolver=allowed)

    def test_an_answer_without_content_is_called_empty(self, tmp_path: Path) -> None:
        (tmp_path / "empty.json").touch()
        with pytest.raises(DecodeError, match="not JSON") as caught:
            MessageBody.load(tmp_path / "empty.json")
        assert "octet-stream" not in str(caught.value)

    def test_a_large_one_is_not_read_to_its_end(self, address: str) -> None:
        allowed = Resolver(allow=address + "/")
        with pytest.raises(DecodeError, match="json_bytes is 100 B"):
            MessageBody.load(f"{address}/report", resolver=allowed, limits=Limits(json_bytes=100))


class TestCommands:
    @pytest.mark.parametrize(
        "command",
        [
            ["ls"], ["tree"], ["cat"], ["digest"], ["diff", "{}"], ["lint"], ["infer"], ["detect"],
            ["validate", "--schema", "schema.json"], ["convert", "--to", "openai-chat"],
            ["cat", "rides.csv", "-o", "rides.csv"], ["view", "-o", "page.html"],
        ],
        ids=" ".join,
    )  # fmt: skip
    def test_commands_take_urls_that_are_allowed(
        self, address: str, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("schema.json").write_text('[{"name": "/**"}, {"contentType": "text/*"}]')
        url = f"{address}/report"
        name, *rest = (each.format(url) for each in command)
        assert run([name, url, *rest, "--allow", address + "/"]) in {0, 1}
        assert run([name, url, *rest, "--allow", "https://example.com/"]) == 4
        assert run([name, url, *rest]) == 4

    def test_a_command_says_what_to_do(
        self, address: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run(["ls", f"{address}/report"])
        assert f"--allow {address}/" in capsys.readouterr().err
        run(["ls", f"{address}/report", "--allow", address + "/", "--json"])
        assert '"/rides.parquet"' in capsys.readouterr().out

    def test_what_is_not_there_is_an_error(self, address: str) -> None:
        assert run(["ls", f"{address}/nothing", "--allow", address + "/"]) == 4
        assert run(["ls", f"{address}/report/rides.csv", "--allow", address + "/"]) == 2
