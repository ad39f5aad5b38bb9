"""Every measured row: chains, forwarding, the audit log."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from messagebody.envelopes import sentient
from tests.envelopes.shapes import BASES, vectors

EXAMPLES = vectors("sentient_examples.json")


def patched(base: Any, patch: list[dict[str, Any]]) -> Any:
    """Apply add, replace and remove of RFC 6902."""
    document = copy.deepcopy(base)
    for step in patch:
        *way, last = step["path"].split("/")[1:]
        holder = document
        for key in way:
            holder = holder[int(key) if isinstance(holder, list) else key]
        if isinstance(holder, list):
            position = len(holder) if last == "-" else int(last)
            if step["op"] == "add":
                holder.insert(position, step["value"])
            elif step["op"] == "replace":
                holder[position] = step["value"]
            else:
                del holder[position]
        elif step["op"] == "remove":
            del holder[last]
        else:
            holder[last] = step["value"]
    return document


def chain_rows() -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in vectors("sentient_chains.jsonl")]


@pytest.mark.parametrize("row", chain_rows())
class TestChainRows:
    def test_findings(self, row: dict[str, Any]) -> None:
        messages = patched(BASES[row["base"]], row["patch"])
        found = [
            {
                "index": f.index,
                "check": f.check,
                "path": f.where.removeprefix(f"/{f.index}"),
                "severity": f.severity,
                "severity_source": sentient.CHECKS[f.check].source,
            }
            for f in sentient.iter_findings(messages)
        ]
        assert found == row["findings"]

    def test_text_has_the_findings_of_its_value(self, row: dict[str, Any]) -> None:
        messages = patched(BASES[row["base"]], row["patch"])
        texts = [json.dumps(message) for message in messages]
        assert [*sentient.iter_findings(texts)] == [*sentient.iter_findings(messages)]

    def test_forwarded(self, row: dict[str, Any]) -> None:
        messages = patched(BASES[row["base"]], row["patch"])
        for index, expected in row.get("forwarded", {}).items():
            message, parent = messages[int(index)], messages[int(index) - 1]
            copied, findings = sentient.forward(message, parent)
            for place, value in expected.items():
                group, name = place.split(".")
                assert copied[group][name] == value
            checks = [each["check"] for each in row["findings"] if each["index"] == int(index)]
            assert [f.check for f in findings] == checks


def log_rows() -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in vectors("sentient_audit_log.json")]


@pytest.mark.parametrize("row", log_rows())
class TestLogRows:
    def message(self, row: dict[str, Any]) -> dict[str, Any]:
        if "input" in row:
            return row["input"]  # type: ignore[no-any-return]
        return EXAMPLES[int(row["message_ref"].split("[")[1].rstrip("]"))]  # type: ignore[no-any-return]

    def test_entry(self, row: dict[str, Any]) -> None:
        assert sentient.audit_entry(self.message(row)) == row["seed_lines_only"]

    def test_error_line(self, row: dict[str, Any]) -> None:
        if "with_error_line" in row:
            made = sentient.audit_entry(self.message(row), error_line=True)
            assert made == row["with_error_line"]

    def test_plain_lists(self, row: dict[str, Any]) -> None:
        if "plain_lists" in row:
            made = sentient.audit_entry(self.message(row), plain_lists=True)
            assert made == row["plain_lists"]

    def test_file(self, row: dict[str, Any], tmp_path: Path) -> None:
        log = sentient.AuditLog(tmp_path, within=None)
        path = log.append(self.message(row))
        assert path == tmp_path / Path(row["file"]).name
        assert path.read_text(encoding="utf-8") == row["seed_lines_only"]
