"""The conformance kit of A2A against a server of its SDK, without and behind our gates.

`make test ENV=a2a A2A_KIT=…` is given a checkout of the branch 1.0-dev of
https://github.com/a2aproject/a2a-tck, whose folder it leaves as it is.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import servers

KIT = os.environ.get("A2A_KIT", "")
pytestmark = [
    pytest.mark.skipif(not KIT, reason="`make test ENV=a2a A2A_KIT=…` names the kit"),
    pytest.mark.timeout(900),
]
EXTENSION = "urn:a2a:tck:required-extension"
GATES = ["none", "asgi", "handler"]
# The gate of ASGI does not see gRPC. The SDK writes the error of a handler into HTTP+JSON with the
# status 400, where the protocol has 415.
MENDED = {"asgi": {"jsonrpc", "http_json"}, "handler": {"jsonrpc", "grpc"}}

Rows = Mapping[tuple[str, str], str]


def run_kit(tmp_path: Path, gate: str, extension: str = "", *arguments: str) -> Rows:
    """Return how each requirement ended by each transport."""
    port, grpc_port = servers.free_port(), servers.free_port()
    server = [
        sys.executable, "-m", "tests.conformance.a2a_server", str(port), str(grpc_port),
        "--gate", gate, "--extension", extension,
    ]  # fmt: skip
    report = tmp_path / f"{gate}{len(arguments)}"
    kit = [
        sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "a2a_kit_error",
        "tests/compatibility/", f"--sut-host=http://127.0.0.1:{port}",
        "--transport=grpc,jsonrpc,http_json", f"--compatibility-report={report}", *arguments,
    ]  # fmt: skip
    environment = {
        **os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    with servers.running(server, port):
        done = subprocess.run(
            kit, cwd=KIT, env=environment, capture_output=True, text=True, check=False
        )
    # One that fails in some tests ends with 1.
    assert done.returncode in {0, 1}, done.stdout[-3000:] + done.stderr[-3000:]
    told = json.loads(report.with_suffix(".json").read_text())["per_requirement"]
    return {
        (name, transport): status
        for name, row in told.items()
        for transport, status in row["transports"].items()
    }


def test_the_gates_mend_one_row_and_change_no_other(tmp_path: Path) -> None:
    with ThreadPoolExecutor(len(GATES)) as pool:
        bare, *gated = pool.map(lambda gate: run_kit(tmp_path, gate), GATES)
    passed = [row for row, status in bare.items() if status == "PASS"]
    assert len(passed) > 150, bare
    for gate, rows in zip(GATES[1:], gated, strict=True):
        changed = {row: (bare.get(row), rows.get(row)) for row in bare.keys() | rows.keys()}
        changed = {row: both for row, both in changed.items() if both[0] != both[1]}
        mended = {("CORE-SEND-003", transport) for transport in MENDED[gate]}
        assert changed == dict.fromkeys(mended, ("FAIL", "PASS")), gate


@pytest.mark.parametrize("gate", ["asgi", "handler"])
def test_a_required_extension_is_asked_for(tmp_path: Path, gate: str) -> None:
    rows = run_kit(tmp_path, gate, EXTENSION, "-k", "ExtensionRequired")
    told = {row: status for row, status in rows.items() if row[0] == "CORE-CAP-004"}
    assert told == {
        ("CORE-CAP-004", "jsonrpc"): "PASS",
        ("CORE-CAP-004", "http_json"): "PASS",
    }
