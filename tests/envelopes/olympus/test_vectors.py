"""Every measured row: validation, signing, boundaries, attachments."""

import base64
import json
from typing import Any

import pytest

from messagebody.envelopes import olympus
from messagebody.errors import EnvelopeError
from tests.envelopes.olympus_policy import POLICY
from tests.envelopes.shapes import vectors


def rows(name: str) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in vectors(f"olympus_{name}.jsonl")]


@pytest.mark.parametrize("row", rows("schema"))
class TestSchemaRows:
    def test_library_verdict_and_its_errors(self, row: dict[str, Any]) -> None:
        found = [
            {"keyword": f.check, "instance_path": f.where, "schema_path": f.rule}
            for f in olympus.iter_findings(row["input"])
        ]
        assert sorted(found, key=str) == sorted(row["errors"], key=str)
        assert olympus.is_valid(row["input"]) is row["valid"]

    def test_strict_verdict(self, row: dict[str, Any]) -> None:
        expected = row.get("strict_valid", row["valid"])
        assert olympus.is_valid(row["input"], strict=True) is expected

    def test_text_has_the_verdict_of_its_value(self, row: dict[str, Any]) -> None:
        assert olympus.is_valid(json.dumps(row["input"])) is row["valid"]


def signing_rows(kind: str) -> list[Any]:
    return [each for each in rows("signing") if each.values[0]["kind"] == kind]


@pytest.mark.parametrize("profile", list(olympus.SigningProfile))
class TestSigningRows:
    @pytest.fixture(autouse=True)
    def _secrets_of_any_length(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The secret of the rows is shorter than one that is safe."""
        monkeypatch.setattr(f"{olympus.sign.__module__}._SHORTEST_SECRET", 1)

    @pytest.mark.parametrize("row", signing_rows("sign"))
    def test_signature(self, row: dict[str, Any], profile: str) -> None:
        envelope, secret = row["input"], row["session_secret"]
        expected = row["expected"][profile]
        if "error" in expected:
            with pytest.raises(EnvelopeError) as caught:
                olympus.sign(envelope, secret, profile=profile)
            assert type(caught.value.__cause__).__name__ == expected["error"]
            return
        made = olympus.sign(envelope, secret, profile=profile)
        assert made == expected["signature"]

    @pytest.mark.parametrize("row", signing_rows("verify-after-change"))
    def test_change(self, row: dict[str, Any], profile: str) -> None:
        result = olympus.verify(
            row["input"],
            row["session_secret"],
            profile=profile,
            signature=row["signatures"][profile],
        )
        assert bool(result) is row["expected"][profile]
        assert result.missing is False

    @pytest.mark.parametrize("row", signing_rows("verify-signature-form"))
    def test_form(self, row: dict[str, Any], profile: str) -> None:
        result = olympus.verify(
            row["input"],
            row["session_secret"],
            profile=profile,
            signature=row["signatures"][profile],
        )
        assert (result.valid, result.missing) == (False, False)

    @pytest.mark.parametrize("row", signing_rows("config"))
    def test_secret_that_is_none(self, row: dict[str, Any], profile: str) -> None:
        with pytest.raises(EnvelopeError, match="empty"):
            olympus.sign(row["input"], row["session_secret"], profile=profile)
        with pytest.raises(EnvelopeError, match="empty"):
            olympus.verify(row["input"], row["session_secret"], profile=profile)


@pytest.mark.parametrize("row", rows("boundary"))
class TestBoundaryRows:
    def test_recommended_findings(self, row: dict[str, Any]) -> None:
        found = [*olympus.iter_boundary_findings(row["input"], POLICY)]
        expected = row["recommended_findings"]
        assert [f.check for f in found] == [each["check"] for each in expected]
        for finding, each in zip(found, expected, strict=True):
            assert each["severity"].startswith(finding.severity)
            assert each.get("at", finding.where) == finding.where

    def test_stripped(self, row: dict[str, Any]) -> None:
        stripped = olympus.strip(row["input"], POLICY)
        kept = [*olympus.iter_boundary_findings(stripped.envelope, POLICY)]
        assert not [f for f in kept if f.check.startswith("attachment")]
        removed = [f"{each['type']}:{each['path']}" for each in stripped.removed]
        assert set(row["upstream_stripped"]) <= set(removed)


@pytest.mark.parametrize("row", rows("attachment"))
def test_attachment(row: dict[str, Any]) -> None:
    content = row["content_base64"] and base64.b64decode(row["content_base64"])
    declared = {} if row["declared_hash"] is None else {"hash": row["declared_hash"]}
    status = olympus.verify_attachment({"type": "plan", "path": "p.md", **declared}, content)
    assert status == row["expected"]
    assert bool(status) is (row["expected"] == "ok")
