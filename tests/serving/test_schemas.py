"""Schemas on a web server: read through a resolver, and by the commands that --allow opens."""

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from messagebody import MessageBody, MessageBodySchema, Resolver
from messagebody.errors import InvalidArgument, InvalidSchema, UnsafeReference
from tests.commands import run

TEXT = MessageBodySchema([(None, "text/plain", True)])
ANY = MessageBodySchema([(None, "text/*", True)])


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    TEXT.save(tmp_path / "out.json")
    ANY.save(tmp_path / "in.json")
    MessageBody(["Hi"]).save(tmp_path / "m.json")
    handler = functools.partial(_Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_schema_is_loaded_if_the_resolver_allows_it(address: str) -> None:
    opened = Resolver(allow=f"{address}/")
    assert MessageBodySchema.load(f"{address}/out.json", resolver=opened) == TEXT
    with pytest.raises(UnsafeReference):
        MessageBodySchema.load(f"{address}/out.json", resolver=Resolver())
    with pytest.raises(InvalidArgument):
        MessageBodySchema.load(f"{address}/out.json")
    with pytest.raises(InvalidSchema):
        MessageBodySchema.load(f"{address}/m.json", resolver=opened)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("check", "{}/out.json", "{}/in.json"), 0),
        (("check", "{}/in.json", "{}/out.json"), 1),
        (("check", "{}/in.json", "{}/out.json", "--format", "sarif"), 1),
        (("schema", "show", "{}/in.json"), 0),
    ],
)
def test_commands_read_what_is_allowed(
    address: str, words: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = tuple(word.format(address) for word in words)
    assert run([*words, "--allow", f"{address}/"]) == code
    assert run([*words]) == 4
    assert "--allow" in capsys.readouterr().err
    assert run([*words, "--allow", "http://127.0.0.1:1/"]) == 4


def test_a_report_shows_no_signature_of_a_url(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    signed = f"{address}/in.json?signature=SECRETSECRET"
    words = ["check", signed, f"{address}/out.json", "--allow", f"{address}/"]
    for form in ("text", "json", "sarif"):
        assert run([*words, "--format", form]) in {0, 1}
    shown = capsys.readouterr()
    assert "SECRETSECRET" not in shown.out + shown.err


def test_a_report_names_the_url(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", f"{address}/in.json", f"{address}/out.json", "--allow", f"{address}/"]
    assert run([*words, "--format", "sarif"]) == 1
    assert f'"uri": "{address}/out.json"' in capsys.readouterr().out
