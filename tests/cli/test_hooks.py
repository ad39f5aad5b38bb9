"""The hooks for pre-commit, as far as they can be tried without it."""

from pathlib import Path

import pytest
import yaml

from tests.commands import Shell

HOOKS = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
SCHEMA = '[{"contentType": "text/*", "required": true}]'
ARGUMENTS = {
    "messagebody-lint": ["a.schema.json", "b.schema.json"],
    "messagebody-validate": ["--schema", "a.schema.json", "a.json", "b.json"],
    "messagebody-check": ["a.schema.json", "b.schema.json"],
}


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_runs_a_command_that_takes_several_files(hook: dict[str, str], shell: Shell) -> None:
    for name in ("a", "b"):
        Path(f"{name}.schema.json").write_text(SCHEMA)
        Path(f"{name}.json").write_text('[{"content": "Hello"}]')
    program, *command = hook["entry"].split()
    assert program == "messagebody"
    assert shell(*command, *ARGUMENTS[hook["id"]]).code == 0


def test_the_page_names_each_hook() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "ci-gate.md").read_text("utf-8")
    assert all(f"id: {hook['id']}" in page for hook in HOOKS)
