"""The commands with commands of their own: `registry` and `envelope`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from messagebody.adapters import register
from messagebody.findings import Finding
from tests.cli.test_commands import Shell

VECTORS = Path(__file__).parents[1] / "vectors"
EXAMPLES = json.loads((VECTORS / "sentient_examples.json").read_text(encoding="utf-8"))
SECRET = bytes(range(32))
ENVELOPE = {
    "envelope": {"source_agent": "coder", "session_id": "s-1", "message_id": "m-1"},
    "protocol_message": {"message_type": "RESULT", "payload": {}},
    "authentication": {},
}


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch)


@pytest.fixture
def agents(tmp_path: Path) -> str:
    directory = tmp_path / "agents"
    directory.mkdir()
    text, image, audio = ([{"contentType": f"{kind}/*"}] for kind in ("text", "image", "audio"))
    for name, taken, sent in (("painter", text, image), ("teller", image, audio)):
        agent = {"name": name, "input": taken, "output": sent}
        (directory / f"{name}.json").write_text(json.dumps(agent))
    (tmp_path / "text.json").write_text(json.dumps(text))
    (tmp_path / "audio.json").write_text(json.dumps(audio))
    return "agents"


class TestRegistry:
    def test_what_is_no_registry(self, shell: Shell, agents: str, tmp_path: Path) -> None:
        refused = shell("registry", "pairs", "text.json")
        assert (refused.code, "this is a part of a schema" in refused.err) == (2, True)
        (tmp_path / "notes.db").write_bytes(b"no file of a registry")
        assert shell("registry", "pairs", "notes.db").code == 2

    def test_what_is_left_out(self, shell: Shell, agents: str, tmp_path: Path) -> None:
        """It is named, the others are answered, and the exit code is no yes about all."""
        card = {"name": "reader", "defaultInputModes": ["audio"], "defaultOutputModes": ["text"]}
        (tmp_path / agents / "reader.json").write_text(json.dumps(card))
        odd = shell("registry", "pairs", agents)
        assert (odd.code, odd.out) == (0, "painter → teller\nteller → reader\n")
        assert "reader.json/defaultInputModes/0: the mode 'audio' is no content type" in odd.err
        (tmp_path / agents / "bad.json").write_text(json.dumps({**card, "defaultInputModes": [1]}))
        done = shell("registry", "pairs", agents)
        assert (done.code, "bad.json/defaultInputModes/0" in done.err) == (2, True)

    def test_the_limit_is_that_of_each_agent(self, shell: Shell, agents: str) -> None:
        refused = shell("registry", "pairs", agents, "--limit", "50 B")
        assert (refused.code, "painter.json" in refused.err) == (2, True)
        assert shell("registry", "pairs", agents, "--limit", "1 KiB").code == 0

    def test_pairs(self, shell: Shell, agents: str) -> None:
        assert shell("registry", "pairs", agents).out == "painter → teller\n"

    def test_pairs_as_graphs(self, shell: Shell, agents: str) -> None:
        drawn = shell("registry", "pairs", agents, "--format", "mermaid")
        assert "  n0 --> n1" in drawn.out.splitlines()
        assert '|"sometimes<br/>breaks with audio/mpeg"|' in drawn.out
        assert shell("registry", "pairs", agents, "--format", "mermaid", "-o", "a.mmd").out == ""
        assert Path("a.mmd").read_text("utf-8") == drawn.out
        [first, *_] = Path(agents).glob("*.json")
        refused = shell("registry", "pairs", agents, "--format", "mermaid", "-o", str(first))
        assert (refused.code, "the result would replace it" in refused.err) == (2, True)

    def test_json(self, shell: Shell, agents: str) -> None:
        assert json.loads(shell("registry", "pairs", agents, "--json").out) == {
            "agents": ["painter", "teller"], "pairs": [["painter", "teller"]], "undecided": [],
        }  # fmt: skip

    def test_no_agents(self, shell: Shell, tmp_path: Path) -> None:
        (tmp_path / "nobody").mkdir()
        for form in ("text", "json", "mermaid", "html"):
            assert shell("registry", "pairs", "nobody", "--format", form).code == 0

    def test_undecided_is_neither_yes_nor_no(self, shell: Shell, tmp_path: Path) -> None:
        """The pair is named, and the exit code is 3."""
        size, anything = 12, "{a,b}"
        again = [f"/*{c}{anything * (n - 1)}{c}*" for n in (size, 2 * size) for c in "ab"]
        hard = {
            "input": [{"name": each} for each in again],
            "output": [{"name": "/" + anything * (2 * size + 1)}],
        }
        (tmp_path / "hard").mkdir()
        (tmp_path / "hard" / "knot.json").write_text(json.dumps(hard))
        done = shell("registry", "pairs", "hard")
        assert (done.code, "knot → knot" in done.err) == (3, True)


class TestEnvelope:
    @pytest.fixture
    def secret(self, tmp_path: Path) -> str:
        (tmp_path / "session.key").write_bytes(SECRET)
        return "session.key"

    def test_sign_and_verify(self, shell: Shell, secret: str) -> None:
        data = json.dumps(ENVELOPE).encode()
        signed = shell("envelope", "sign", "-", "--secret-file", secret, stdin=data)
        assert signed.code == 0
        done = shell("envelope", "verify", "-", "--secret-file", secret, stdin=signed.data)
        assert (done.code, done.out) == (0, "valid\n")
        changed = signed.data.replace(b"RESULT", b"ASSIGN")
        assert shell("envelope", "verify", "-", "--secret-file", secret, stdin=changed).code == 1
        assert shell("envelope", "verify", "-", "--secret-file", secret, stdin=data).code == 1

    def test_what_five_fields_leave_open(self, shell: Shell, secret: str) -> None:
        options = ["-", "--secret-file", secret, "--profile", "upstream-5field"]
        header = {"source_agent": "coder", "session_id": "s", "target_agent": "a"}
        header["correlation_id"] = "c"
        full = {**ENVELOPE, "envelope": header}
        signed = shell("envelope", "sign", *options, stdin=json.dumps(full).encode())
        done = shell("envelope", "verify", *options, stdin=signed.data)
        assert done.code == 0
        assert "not covered by the signature: " in done.out

    def test_detached(self, shell: Shell, secret: str) -> None:
        unsigned = {name: value for name, value in ENVELOPE.items() if name != "authentication"}
        options = ["-", "--secret-file", secret]
        data = json.dumps(unsigned).encode()
        refused = shell("envelope", "sign", *options, stdin=data)
        assert (refused.code, "sign it detached" in refused.err) == (2, True)
        signature = shell("envelope", "sign", *options, "--detached", stdin=data).out.strip()
        assert len(signature) == 64
        verify = ["envelope", "verify", *options, "--signature"]
        assert shell(*verify, signature, stdin=data).out == "valid\n"
        assert shell(*verify, signature[::-1], stdin=data).code == 1

    def test_short_secrets_are_told_in_words(self, shell: Shell, tmp_path: Path) -> None:
        (tmp_path / "short.key").write_bytes(b"short")
        data = json.dumps(ENVELOPE).encode()
        done = shell("envelope", "sign", "-", "--secret-file", "short.key", stdin=data)
        assert done.code != 0
        assert "a secret for jcs-full-hkdf has at least 32 bytes, got 5" in done.err
        assert done.out == ""

    def test_check(self, shell: Shell) -> None:
        done = shell("envelope", "check", "-", "--from", "olympus", stdin=b"{}")
        assert done.code == 1
        assert done.out.startswith("invalid olympus: 3 findings\n  the envelope: no member")
        assert shell("envelope", "check", "-", "--from", "sentient", stdin=b"[{}]").code == 1
        assert shell("envelope", "check", "-", "--from", "sentient", stdin=b"{").code == 1

    def test_check_refuses_options_of_other_formats(self, shell: Shell) -> None:
        data = b'{"agent": "a", "message": "b"}'
        done = shell("envelope", "check", "-", "--strict", stdin=data)
        assert done.code == 2
        assert "--strict cannot be used with channel" in done.err

    def test_check_knows_registered_formats(self, shell: Shell, own_registry: None) -> None:
        class Morse:
            def to_body(self, message: object, **_: object) -> NoReturn:
                raise NotImplementedError

            from_body = to_body

            def detect(self, value: object) -> bool:
                return isinstance(value, dict) and "morse" in value

            def iter_findings(self, message: bytes) -> Iterator[Finding]:
                yield Finding("silent", "/morse", f"{len(message)} bytes say nothing")

        register("morse", Morse())
        done = shell("envelope", "check", "-", stdin=b'{"morse": ""}')
        assert done.code == 1
        assert done.out == "invalid morse: 1 finding\n  /morse: 13 bytes say nothing (silent)\n"

    def test_a_chain_is_found(self, shell: Shell) -> None:
        chain = json.dumps(EXAMPLES[:2]).encode()
        assert shell("envelope", "check", "-", stdin=chain).out == "valid sentient\n"
        done = shell("detect", "-", stdin=chain)
        assert (done.code, done.out) == (0, "sentient\n")
        done = shell("convert", "-", "--from", "sentient", stdin=chain)
        assert done.code != 0
        assert "got an array of 2: convert each item by itself" in done.err

    @pytest.mark.parametrize(
        ("message", "said"),
        [
            ({"role": "user", "content": "Hi"}, "valid agents-api\n"),
            (
                {"role": "user", "content": "Hi", "name": "bob", "type": "user"},
                "valid agents-api: 2 findings\n"
                "  /name: an envelope has no such member (warning omitted)\n"
                "  /type: a plain message takes its type from metadata.type (warning omitted)\n",
            ),
            ({"agent": "demo", "message": "Hi"}, "valid channel\n"),
            (
                {"agent": "demo", "message": "Hi", "run_id": 5},
                "invalid channel: 1 finding\n"
                "  /run_id: a string or null is expected, got 5 (type)\n",
            ),
        ],
    )
    def test_check_finds_the_format(self, shell: Shell, message: object, said: str) -> None:
        done = shell("envelope", "check", "-", stdin=json.dumps(message).encode())
        assert (done.code, done.out) == (0 if said.startswith("valid") else 1, said)

    def test_check_of_what_is_nothing_known(self, shell: Shell) -> None:
        for data in (b"[]", b"{}", b"7"):
            done = shell("envelope", "check", "-", stdin=data)
            assert (done.code, "give it with --from a2a, " in done.err) == (2, True)

    def test_log(self, shell: Shell, tmp_path: Path) -> None:
        done = shell("envelope", "log", "-", "--directory", "audit", stdin=b'{"a": 1}')
        assert done.code == 0
        assert (tmp_path / done.out.strip()).is_file()
