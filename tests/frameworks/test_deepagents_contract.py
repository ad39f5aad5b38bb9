"""The tests that LangChain publishes for deepagents' sandboxes, with a body as the files.

deepagents publishes no tests: its source archive has none, and there is no suite for a backend
without a shell. So the suite for sandboxes of `langchain-tests` runs here, over a backend whose
shell works on a copy of the parts. `make test ENV=deepagents` installs it.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("deepagents")
sandboxes: Any = pytest.importorskip("langchain_tests.integration_tests.sandboxes")

from deepagents.backends.protocol import ExecuteResponse, SandboxBackendProtocol  # noqa: E402

from messagebody.frameworks.deepagents import BodyBackend  # noqa: E402

# The suite is older than the contract in `deepagents.backends.protocol`, which says otherwise.
_ABSOLUTE = "paths that glob finds are absolute, so that rules can deny them"
_LAST_LINE = "deepagents' own slices of a file end with the end of their last line"
_LARGE = "a file is read up to the limit that the user sets, 10 MiB if they set none"
DEVIATIONS = {
    "test_glob": _ABSOLUTE,
    "test_glob_basic_pattern": _ABSOLUTE,
    "test_glob_hidden_files_explicitly": _ABSOLUTE,
    "test_glob_with_character_class": _ABSOLUTE,
    "test_glob_with_question_mark": _ABSOLUTE,
    "test_glob_with_directories": "glob finds files only",
    "test_write_existing_file_fails": "writing replaces what is there",
    "test_edit_multiple_occurrences_without_replace_all": "deepagents' own text for it has changed",
    "test_aread_large_text_payload_paginated_roundtrip": _LAST_LINE,
    "test_awrite_aread_adownload_large_text_with_escaped_content": _LAST_LINE,
    "test_write_read_download_large_text_with_escaped_content": _LAST_LINE,
    "test_read_binary_file_1_mib_returns_error": _LARGE,
    "test_aread_binary_file_1_mib_returns_error": _LARGE,
    "test_ls_lists_nested_directories": "directories end in a slash, and a body has no empty ones",
}


class Sandbox(BodyBackend, SandboxBackendProtocol):  # type: ignore[misc]
    """A body with a shell, whose commands see the parts as files."""

    def __init__(self, directory: Path) -> None:
        super().__init__(max_read="64 MiB")  # large files are downloaded, too
        self._directory = directory

    @property
    def id(self) -> str:
        return "body"

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        before = {info["path"] for info in self.glob("**").matches}
        for answer in self.download_files([*before]):
            Path(answer.path).parent.mkdir(parents=True, exist_ok=True)
            Path(answer.path).write_bytes(answer.content)
        done = subprocess.run(
            command, shell=True, check=False, timeout=timeout, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        after = {str(file): file.read_bytes() for file in _files(self._directory)}
        self.upload_files([*after.items()])
        for gone in before - after.keys():
            self.delete(gone)
        return ExecuteResponse(done.stdout.decode(), done.returncode)


def _files(directory: Path) -> Iterator[Path]:
    return (each for each in directory.rglob("*") if each.is_file())


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore:Class-scoped fixtures")  # the suite's own
class TestSandbox(sandboxes.SandboxIntegrationTests):  # type: ignore[misc]
    sandbox_root_dir = ""

    @pytest.fixture(scope="class")
    @classmethod
    def anyio_backend(cls) -> str:
        return "asyncio"

    @pytest.fixture(scope="class")
    @classmethod
    def sandbox(cls, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
        directory = tmp_path_factory.mktemp("sandbox")
        cls.sandbox_root_dir = str(directory)
        return Sandbox(directory)

    @pytest.fixture(autouse=True)
    def deviations(self, request: pytest.FixtureRequest) -> None:
        reason = DEVIATIONS.get(request.node.name)
        if reason is not None:
            request.applymarker(pytest.mark.xfail(reason=reason))


def test_each_deviation_is_from_a_test_of_the_suite() -> None:
    assert DEVIATIONS.keys() <= {*dir(sandboxes.SandboxIntegrationTests)}
