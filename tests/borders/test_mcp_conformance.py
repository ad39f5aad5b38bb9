"""The protocol's own conformance scenarios against `messagebody mcp`, where they are installed.

`make test ENV=mcp` installs them from npm, with the Node that they need, and runs them. Most
scenarios call tools, prompts and resources that only a server made for the test has; others are
about what a server that only reads has no use for.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from messagebody import MessageBody, Part
from tests import servers

INSTALLED = Path(sys.prefix) / "mcp-conformance" / "node_modules"
NODE = INSTALLED / "node" / "bin" / "node"
SCENARIOS = INSTALLED / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

# Each with the number of its checks.
PASSED = {
    "dns-rebinding-protection": 2,
    "ping": 1,
    "resources-list": 1,
    "server-initialize": 1,
    "server-sse-multiple-streams": 2,
    "tools-call-error": 1,
    "tools-call-simple-text": 1,
    "tools-list": 1,
}
NOT_OFFERED = {
    "a tool of a server made for the test": {
        "json-schema-2020-12", "tools-call-audio", "tools-call-embedded-resource",
        "tools-call-image", "tools-call-mixed-content", "server-sse-polling",
    },
    "a resource of a server made for the test": {
        "resources-read-binary", "resources-read-text", "resources-templates-read",
    },
    "nothing watches the messages": {
        "resources-subscribe", "resources-unsubscribe",
    },
    "there are no prompts": {
        "completion-complete", "prompts-get-embedded-resource", "prompts-get-simple",
        "prompts-get-with-args", "prompts-get-with-image", "prompts-list",
    },
    "reading asks the client for nothing": {
        "elicitation-sep1034-defaults", "elicitation-sep1330-enums", "tools-call-elicitation",
        "tools-call-sampling",
    },
    "reading has no progress or log": {
        "logging-set-level", "tools-call-with-logging", "tools-call-with-progress",
    },
}  # fmt: skip


@pytest.mark.skipif(not SCENARIOS.exists(), reason="`make test ENV=mcp` installs the scenarios")
def test_the_scenarios_of_the_protocol(tmp_path: Path) -> None:
    MessageBody([Part("Why?"), Part("one", name="/a.txt")]).save(tmp_path / "message.json")
    port = servers.free_port()
    served = [sys.executable, "-m", "messagebody", "mcp", str(tmp_path / "message.json")]
    url = f"http://127.0.0.1:{port}/mcp"
    command = [
        str(NODE), str(SCENARIOS), "server", "--url", url, "--suite", "all",
        "--output-dir", str(tmp_path / "results"),
    ]  # fmt: skip
    with servers.running([*served, "--port", str(port)], port):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    checks = {scenario: _statuses(tmp_path / "results", scenario) for scenario in _run(done.stdout)}
    passed = {name: len(found) for name, found in checks.items() if {*found} == {"SUCCESS"}}
    assert passed == PASSED, done.stdout[-3000:]
    # A scenario that is new here is looked at by somebody.
    assert checks.keys() - passed.keys() == set().union(*NOT_OFFERED.values())


def _run(output: str) -> list[str]:
    heading = "=== Running scenario: "
    lines = [line for line in output.splitlines() if line.startswith(heading)]
    return [line.removeprefix(heading).removesuffix(" ===") for line in lines]


def _statuses(results: Path, scenario: str) -> list[str]:
    """Return how the checks of a scenario ended; none if it made no report."""
    # The time is appended to its name, and another scenario's name may begin alike.
    found = results.glob(f"server-{scenario}-20??-??-??T*/checks.json")
    return [check["status"] for file in found for check in json.loads(file.read_text())]
