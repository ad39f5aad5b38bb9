"""Olympus envelopes: the rules behind the rows, signing, boundaries, replay."""

import copy
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody.envelopes import olympus
from messagebody.envelopes.olympus import SCHEMA
from messagebody.errors import EnvelopeError, InvalidArgument
from tests.effort import examples
from tests.envelopes.olympus_policy import DATA, POLICY

SECRET = bytes(range(32))
HASH = "sha256:" + "a" * 64
WRONG_VARIANT = "msg-00000000-0000-4000-0000-000000000000"


def envelope(**changes: Any) -> dict[str, Any]:
    """Return a full, valid envelope; changes by dotted path with "__" for the dots."""
    made: dict[str, Any] = {
        "envelope": {
            "version": "1.0",
            "message_id": "msg-3f2504e0-4f89-41d3-9a0c-0305e82c3301",
            "timestamp": "2026-05-25T00:00:00Z",
            "source_agent": "tech-lead",
            "target_agent": "coder",
            "correlation_id": "issue-42",
            "session_id": "session-1",
        },
        "authentication": {
            "sender_persona": "tech-lead",
            "sender_task_id": "task-1",
            "parent_message_id": "",
            "session_id": "session-1",
        },
        "persona": "governance/personas/agentic/coder.md",
        "protocol_message": {
            "message_type": "ASSIGN",
            "payload": {"task": "Implement it", "n": 600},
            "constraints": {"timeout_seconds": 600},
        },
        "context_attachments": [
            {"type": "plan", "path": ".artifacts/plans/42.md", "hash": HASH},
            {"type": "config", "path": "project.yaml", "section": "conventions"},
        ],
    }
    for path, value in changes.items():
        *way, last = path.split("__")
        holder = made
        for step in way:
            holder = holder[int(step) if isinstance(holder, list) else step]
        holder[int(last) if isinstance(holder, list) else last] = value
    return made


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


class TestVerdicts:
    @settings(max_examples=examples(300))
    @given(st.data())
    def test_library_verdict_is_that_of_jsonschema(self, data: st.DataObject) -> None:
        """Any member replaced by anything gives the peer's errors, keyword by keyword."""
        value = envelope()
        for path in data.draw(st.lists(st.sampled_from([*places(value)]), max_size=3)):
            put(value, path, copy.deepcopy(data.draw(json_values | near_misses)))
        plain = json.loads(json.dumps(SCHEMA))
        peer = jsonschema.Draft202012Validator(
            plain, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
        )
        expected = sorted(
            ("/".join(("", *map(str, e.absolute_path))), "/".join(("", *map(str, e.schema_path))))
            for e in peer.iter_errors(value)
        )
        found = sorted((f.where, f.rule) for f in olympus.iter_findings(value))
        assert found == expected

    @settings(max_examples=examples(200))
    @given(
        st.from_regex(r"[0-9]{4}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9]")
        | st.text(max_size=12),
        st.sampled_from(["Z", "z", "+08:00", "-24:00", "", "\n", "Z\n", ".5Z", ".Z", "+0800"]),
    )
    def test_date_times_are_those_of_jsonschema(self, date: str, zone: str) -> None:
        text = date + zone
        checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
        found = olympus.is_valid(envelope(envelope__timestamp=text))
        assert found is checker.conforms(text, "date-time")

    @pytest.mark.parametrize(
        ("changes", "check"),
        [
            ({"context_attachments__0__path": "a/../../b"}, "attachment-path"),
            ({"context_attachments__0__path": "s3://bucket/key"}, "attachment-path"),
            ({"context_attachments__0__path": "~/key"}, "attachment-path"),
            ({"context_attachments__0__path": "a\x00b"}, "attachment-path"),
            ({"persona": "/etc/passwd"}, "persona-path"),
            ({"authentication__parent_message_id": "root"}, "parent-message-id"),
            ({"authentication__signature": "AB" * 32}, "signature-form"),
            ({"authentication__session_id": "other"}, "session-id"),
            ({"envelope__message_id": WRONG_VARIANT}, "message-id"),
            ({"context_attachments__1": {"type": "plan", "path": ".artifacts/plans/42.md"}},
             "attachment-repeated"),
        ],
    )  # fmt: skip
    def test_rules_in_words_are_the_strict_verdicts_second_layer(
        self, changes: dict[str, Any], check: str
    ) -> None:
        found = [*olympus.iter_findings(envelope(**changes), strict=True)]
        assert [(f.check, f.rule) for f in found] == [(check, "prose")]
        assert olympus.is_valid(envelope(**changes))

    def test_a_message_is_not_its_own_parent(self) -> None:
        odd = envelope()
        odd["authentication"]["parent_message_id"] = odd["envelope"]["message_id"]
        assert olympus.is_valid(odd)
        [finding] = olympus.iter_findings(odd, strict=True)
        assert finding.check == "parent-message-id"

    def test_same_file_with_two_sections_is_no_repetition(self) -> None:
        section = {"type": "config", "path": "project.yaml", "section": "governance"}
        assert olympus.is_valid(envelope(context_attachments__0=section), strict=True)

    def test_there_is_no_year_zero(self) -> None:
        assert not olympus.is_valid(envelope(envelope__timestamp="0000-01-01T00:00:00Z"))

    @pytest.mark.parametrize("text", ["2026-05-25T00:00:00Z\n", "2026-05-25T00:00:00Z\r"])
    def test_strict_date_time_ends_where_it_ends(self, text: str) -> None:
        assert not olympus.is_valid(envelope(envelope__timestamp=text), strict=True)

    @pytest.mark.parametrize(
        "text",
        [
            '{"envelope": {}, "envelope": {}}',
            '{"persona": NaN}',
            '{"persona": "\\ud800"}',
            '{"a":' * 10_000 + "1" + "}" * 10_000,
            '{"a": ' + "9" * 10_000 + "}",
            '{"a": 1e999}',
            "",
            b"\xff",
        ],
    )
    def test_what_is_no_strict_json_is_one_finding(self, text: Any) -> None:
        (finding,) = olympus.iter_findings(text)
        assert (finding.check, finding.rule) == ("json", "json")
        with pytest.raises(EnvelopeError):
            olympus.sign(text, SECRET)
        with pytest.raises(EnvelopeError):
            olympus.verify(text, SECRET)

    def test_validate_raises_once_with_everything(self) -> None:
        with pytest.raises(EnvelopeError, match="3 findings") as caught:
            olympus.validate(envelope(envelope__version="2", persona=1, extra="x"))
        checks = {f.check for f in caught.value.findings}
        assert checks == {"const", "type", "additionalProperties"}
        olympus.validate(envelope(), strict=True)

    def test_unknown_members_are_listed_up_to_five(self) -> None:
        (finding,) = olympus.iter_findings({**envelope(), **{f"x{i}": 1 for i in range(9)}})
        assert "'x4', …" in finding.problem
        assert "'x5'" not in finding.problem


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every member and item."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def put(value: Any, path: tuple[Any, ...], new: Any) -> None:
    """Replace a member, unless an earlier replacement took away the way to it."""
    for step in path[:-1]:
        if not holds(value, step) or (isinstance(value, dict) and step not in value):
            return
        value = value[step]
    if holds(value, path[-1]):
        value[path[-1]] = new


def holds(value: Any, step: Any) -> bool:
    if isinstance(step, int):
        return isinstance(value, list) and step < len(value)
    return isinstance(value, dict)


near_misses = st.sampled_from(
    ["1.0", "issue-1\n", "pr-٣", "coder", "ASSIGN", "plan", HASH, HASH + "\n", "", {}, [], [{}],
     {"type": "plan"}, "2026-05-25T00:00:00Z\n", "2026-02-29t00:00:00z", 1.0]
)  # fmt: skip


class TestSigning:
    @pytest.mark.parametrize("profile", list(olympus.SigningProfile))
    def test_what_is_signed_verifies(self, profile: str) -> None:
        made = olympus.signed(envelope(), SECRET, profile=profile)
        result = olympus.verify(json.dumps(made, indent=3), SECRET, profile=profile)
        assert (bool(result), result.missing, result.problem) == (True, False, None)
        assert not olympus.verify(made, SECRET + b"x", profile=profile)
        assert not olympus.verify(made, SECRET, profile=other(profile))

    def test_missing_is_told_from_wrong(self) -> None:
        assert olympus.verify(envelope(), SECRET).missing
        assert olympus.verify(envelope(authentication__signature=""), SECRET).missing
        wrong = olympus.verify(envelope(authentication__signature="0" * 64), SECRET)
        assert (wrong.valid, wrong.missing) == (False, False)
        assert wrong.covered == ()
        assert "/envelope/message_id" in wrong.uncovered

    @pytest.mark.parametrize("signature", ["é" * 64, "\ud800", 7, ["0" * 64], True])
    def test_odd_signatures_are_wrong(self, signature: Any) -> None:
        result = olympus.verify(envelope(), SECRET, signature=signature)
        assert (result.valid, result.missing) == (False, False)

    def test_detached_signature_wins_over_the_envelopes_own(self) -> None:
        made = envelope(authentication__signature="0" * 64)
        assert olympus.verify(made, SECRET, signature=olympus.sign(made, SECRET))

    def test_any_changed_byte_fails_the_full_profile(self) -> None:
        """Each byte of a signed envelope's text replaced, dropped or doubled."""
        text = json.dumps(olympus.signed(envelope(), SECRET), separators=(",", ":")).encode()
        original = json.loads(text)
        for place in range(len(text)):
            byte = text[place : place + 1]
            flipped = [bytes([text[place] ^ 1]), bytes([text[place] ^ 32])]
            for middle in (*flipped, b"", byte * 2):
                changed = text[:place] + middle + text[place + 1 :]
                try:
                    same = json.loads(changed) == original
                except ValueError:
                    same = False
                try:
                    assert bool(olympus.verify(changed, SECRET)) is same, changed
                except EnvelopeError:
                    assert not same

    @pytest.mark.parametrize(
        ("place", "changes"),
        [
            ("/envelope/version", {"envelope__version": "1.1"}),
            ("/envelope/message_id", {"envelope__message_id": "msg-other"}),
            ("/envelope/timestamp", {"envelope__timestamp": "2030-01-01T00:00:00Z"}),
            ("/envelope/session_id", {"envelope__session_id": "session-2"}),
            ("/authentication/sender_persona", {"authentication__sender_persona": "coder"}),
            ("/authentication/sender_task_id", {"authentication__sender_task_id": "task-2"}),
            ("/authentication/parent_message_id", {"authentication__parent_message_id": "msg-x"}),
            ("/authentication/session_id", {"authentication__session_id": "session-2"}),
            ("/persona", {"persona": "governance/personas/agentic/tech-lead.md"}),
            ("/protocol_message/constraints", {"protocol_message__constraints": {}}),
            ("/context_attachments", {"context_attachments": []}),
        ],
    )
    def test_five_fields_lists_what_it_leaves_open(
        self, place: str, changes: dict[str, Any]
    ) -> None:
        """Each place on the list can be changed under the five-field profile, and only there."""
        five = olympus.SigningProfile.UPSTREAM_5FIELD
        changed = envelope(**changes)
        result = olympus.verify(
            changed, SECRET, profile=five, signature=olympus.sign(envelope(), SECRET, profile=five)
        )
        assert result.valid
        assert place in result.uncovered
        assert not olympus.verify(changed, SECRET, signature=olympus.sign(envelope(), SECRET))
        untouched = olympus.verify(envelope(), SECRET, signature=olympus.sign(envelope(), SECRET))
        assert place in untouched.covered

    def test_the_list_of_what_is_open_is_complete(self) -> None:
        five = olympus.SigningProfile.UPSTREAM_5FIELD
        made = olympus.signed(envelope(), SECRET, profile=five)
        result = olympus.verify(made, SECRET, profile=five)
        assert len(result.uncovered) == 11
        assert set(result.covered) == {
            "/protocol_message/message_type", "/protocol_message/payload",
            "/envelope/source_agent", "/envelope/target_agent", "/envelope/correlation_id",
        }  # fmt: skip
        full = olympus.verify(olympus.signed(envelope(), SECRET), SECRET)
        assert full.uncovered == ()

    @pytest.mark.parametrize("short", [b"x" * 31, "x" * 31])
    def test_full_profile_refuses_secrets_under_32_bytes(self, short: str | bytes) -> None:
        for ask in (olympus.sign, olympus.signed, olympus.verify):
            with pytest.raises(EnvelopeError, match="at least 32 bytes, got 31"):
                ask(envelope(), short)
        assert olympus.sign(envelope(), short, profile="upstream-5field")
        with pytest.raises(InvalidArgument, match="a secret as text or bytes, got NoneType"):
            olympus.verify(envelope(), None)  # type: ignore[arg-type]

    def test_profile_is_never_guessed(self) -> None:
        with pytest.raises(EnvelopeError, match="jcs-full-hkdf, upstream-5field"):
            olympus.verify(envelope(), SECRET, profile="none")

    @pytest.mark.parametrize("profile", list(olympus.SigningProfile))
    @pytest.mark.parametrize(
        "changes",
        [
            {"protocol_message__payload": {"n": float("nan")}},
            {"protocol_message__payload": {"n": float("inf")}},
            {"protocol_message__payload": {"s": "\ud800"}},
            {"protocol_message__payload": {"\ud800": 1}},
            {"protocol_message__payload": {1: 2}},
            {"protocol_message__payload": {"x": object()}},
        ],
    )
    def test_values_that_are_no_json_are_refused(
        self, changes: dict[str, Any], profile: str
    ) -> None:
        for signature in (None, "0" * 64):
            with pytest.raises(EnvelopeError):
                olympus.verify(envelope(**changes), SECRET, profile=profile, signature=signature)
        with pytest.raises(EnvelopeError):
            olympus.sign(envelope(**changes), SECRET, profile=profile)

    def test_huge_integers_have_no_valid_signature(self) -> None:
        huge = envelope(protocol_message__payload={"n": 10**20})
        result = olympus.verify(huge, SECRET, signature="0" * 64)
        assert not result.valid
        assert "canonical JSON" in str(result.problem)
        with pytest.raises(EnvelopeError):
            olympus.sign(huge, SECRET)
        assert olympus.sign(huge, SECRET, profile="upstream-5field")
        unprintable = envelope(protocol_message__payload={"n": 10**5_000})
        with pytest.raises(EnvelopeError):
            olympus.sign(unprintable, SECRET, profile="upstream-5field")

    @pytest.mark.parametrize("gone", ["envelope", "protocol_message"])
    @pytest.mark.parametrize("profile", list(olympus.SigningProfile))
    def test_what_lacks_signed_members_is_not_valid(self, gone: str, profile: str) -> None:
        value = envelope()
        del value[gone]
        if gone == "protocol_message" and profile == "jcs-full-hkdf":
            assert olympus.sign(value, SECRET)  # the whole is signed, whatever it is
            return
        result = olympus.verify(value, SECRET, profile=profile, signature="0" * 64)
        assert not result
        assert "has no" in str(result.problem)
        with pytest.raises(EnvelopeError, match="has no"):
            olympus.sign(value, SECRET, profile=profile)

    def test_agent_that_is_no_text_has_no_key(self) -> None:
        with pytest.raises(EnvelopeError, match="is text"):
            olympus.sign(envelope(envelope__source_agent=7), SECRET)

    def test_envelope_without_authentication_is_signed_detached(self) -> None:
        value = envelope()
        del value["authentication"]
        with pytest.raises(EnvelopeError, match="detached"):
            olympus.signed(value, SECRET)
        assert olympus.verify(value, SECRET, signature=olympus.sign(value, SECRET))

    def test_signing_changes_nothing(self) -> None:
        value = envelope()
        before = copy.deepcopy(value)
        olympus.signed(value, SECRET)
        assert value == before

    def test_other_mappings_are_taken(self) -> None:
        from types import MappingProxyType

        assert olympus.sign(MappingProxyType(envelope()), SECRET) == olympus.sign(
            envelope(), SECRET
        )

    def test_comparison_takes_constant_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The comparison is the standard library's, given the whole of both."""
        import hmac

        seen: list[tuple[bytes, bytes]] = []

        def compare(a: bytes, b: bytes) -> bool:
            seen.append((a, b))
            return a == b

        monkeypatch.setattr(hmac, "compare_digest", compare)
        olympus.verify(envelope(), SECRET, signature="0" * 64)
        assert seen == [(olympus.sign(envelope(), SECRET).encode(), b"0" * 64)]


def other(profile: str) -> str:
    return next(each for each in olympus.SigningProfile if each != profile)


class TestBoundary:
    def test_a_policy_that_is_misspelt_is_refused(self) -> None:
        assert repr(POLICY) == "<AccessPolicy: 9 senders, 9 receivers>"
        for wrong in ({"withhold": ["a"]}, {"sections": "all"}, 5):
            data = copy.deepcopy(DATA)
            data["boundaries"]["coder"]["attachments"]["config"] = wrong
            with pytest.raises(InvalidArgument, match="a policy"):
                olympus.AccessPolicy.from_dict(data)

    def test_unlisted_receiver_receives_nothing(self) -> None:
        value = envelope(envelope__target_agent="x")
        found = [f.check for f in olympus.iter_boundary_findings(value, POLICY)]
        assert found == ["transition", "target-unlisted", "attachment-type", "attachment-type"]
        stripped = olympus.strip(value, POLICY)
        assert stripped.envelope["context_attachments"] == []

    def test_no_attachments_are_fine(self) -> None:
        value = envelope()
        del value["context_attachments"]
        assert [*olympus.iter_boundary_findings(value, POLICY)] == []
        assert olympus.strip(value, POLICY) == (value, ())

    @pytest.mark.parametrize(
        ("changes", "check"),
        [
            ({"authentication__sender_persona": "coder"}, "auth-persona"),
            ({"authentication__session_id": "session-2"}, "auth-session"),
            ({"authentication__parent_message_id": "msg-x"}, "auth-parent"),
            ({"authentication__parent_message_id": 7}, "auth-parent"),
            ({"authentication": {}}, "auth-missing"),
            ({"authentication": []}, "auth-missing"),
            ({"context_attachments__0__path": "/etc/passwd"}, "attachment-path"),
            ({"context_attachments__0__path": "c:\\plans"}, "attachment-path"),
            ({"context_attachments__0__path": 7}, "attachment-path"),
            ({"context_attachments__0__path": ".artifacts/plans-old/1.md"}, "attachment-scope"),
            ({"context_attachments__0__type": ["plan"]}, "attachment-type"),
            ({"context_attachments__1__section": 7}, "attachment-scope"),
            ({"protocol_message__message_type": ["ASSIGN"]}, "transition"),
            ({"persona": 10**4_000}, "persona-target"),
        ],
    )
    def test_finding(self, changes: dict[str, Any], check: str) -> None:
        assert [f.check for f in olympus.iter_boundary_findings(envelope(**changes), POLICY)] == [
            check
        ]
        assert olympus.strip(envelope(**changes), POLICY) is not None

    def test_known_parent(self) -> None:
        value = envelope(authentication__parent_message_id="msg-x")
        assert [*olympus.iter_boundary_findings(value, POLICY, known_messages={"msg-x"})] == []

    def test_receiver_that_takes_less_than_the_route(self) -> None:
        data = copy.deepcopy(DATA)
        data["boundaries"]["coder"]["messages"] = ["CANCEL"]
        policy = olympus.AccessPolicy.from_dict(data)
        found = [f.check for f in olympus.iter_boundary_findings(envelope(), policy)]
        assert found == ["message-type"]

    @pytest.mark.parametrize(
        ("kind", "path", "is_allowed"),
        [
            ("plan", "./.artifacts//plans/1.md", True),
            ("persona_definition", "governance/personas/agentic/coder.md", True),
            ("persona_definition", "governance/personas/agentic/tech-lead.md", False),
            ("persona_definition", "governance/personas/agentic/./tech-lead.md", False),
            ("persona_definition", "governance/personas//agentic/devops-engineer.md", False),
            ("config", "./project.yaml", True),
            ("config", "other.yaml", False),
        ],
    )
    def test_scopes_are_of_files_however_spelled(
        self, kind: str, path: str, is_allowed: bool
    ) -> None:
        value = envelope(context_attachments=[{"type": kind, "path": path}])
        found = [f.check for f in olympus.iter_boundary_findings(value, POLICY)]
        assert found == ([] if is_allowed else ["attachment-scope"])

    def test_no_sections_allowed_is_not_any_section(self) -> None:
        data = copy.deepcopy(DATA)
        data["boundaries"]["coder"]["attachments"]["config"] = {"sections": []}
        policy = olympus.AccessPolicy.from_dict(data)
        found = [f.check for f in olympus.iter_boundary_findings(envelope(), policy)]
        assert found == ["attachment-scope"]

    def test_strip_voids_the_signature_over_what_went(self) -> None:
        made = olympus.signed(envelope(context_attachments__0__type="checkpoint"), SECRET)
        before = copy.deepcopy(made)
        stripped = olympus.strip(made, POLICY)
        assert made == before
        assert stripped.voided
        assert "signature" not in stripped.envelope["authentication"]
        assert [each["type"] for each in stripped.removed] == ["checkpoint"]
        assert olympus.verify(stripped.envelope, SECRET).missing
        clean = olympus.signed(envelope(), SECRET)
        assert olympus.strip(clean, POLICY) == (clean, ())
        assert not olympus.strip(clean, POLICY).voided
        assert olympus.verify(olympus.strip(clean, POLICY).envelope, SECRET)

    def test_strip_voids_a_detached_signature_too(self) -> None:
        value = envelope(context_attachments__0__type="checkpoint")
        detached = olympus.sign(value, SECRET)
        stripped = olympus.strip(value, POLICY)
        assert stripped.voided
        assert not olympus.verify(stripped.envelope, SECRET, signature=detached)


class TestAttachments:
    @pytest.mark.parametrize("declared", ["SHA256:" + "a" * 64, "", 7, HASH.upper()])
    def test_malformed_hash_is_a_mismatch(self, declared: Any) -> None:
        assert olympus.verify_attachment({"hash": declared}, b"x") == "mismatch"

    def test_missing_wins(self) -> None:
        with pytest.raises(InvalidArgument, match="encode text"):
            olympus.verify_attachment({"hash": "x"}, "text")  # type: ignore[arg-type]
        assert olympus.verify_attachment({}, None) is olympus.AttachmentStatus.MISSING


class Clock:
    now = 1_779_667_200.0  # 2026-05-25T00:00:00Z

    def __call__(self) -> float:
        return self.now


def verification(
    number: int = 1, timestamp: str = "2026-05-25T00:00:00Z"
) -> olympus.SignatureCheck:
    made = envelope(envelope__message_id=f"msg-{number}", envelope__timestamp=timestamp)
    return olympus.verify(olympus.signed(made, SECRET), SECRET)


class TestReplay:
    def test_a_message_passes_once(self) -> None:
        guard = olympus.ReplayGuard(clock=Clock())
        assert guard.admit(verification(1))
        assert guard.admit(verification(1)) == "replayed"
        assert guard.admit(verification(2)) == "fresh"

    @pytest.mark.parametrize(
        ("timestamp", "answer"),
        [
            ("2026-05-24T23:55:00Z", "fresh"),
            ("2026-05-24T23:54:59Z", "stale"),
            ("2026-05-25T00:01:00Z", "fresh"),
            ("2026-05-25T00:01:00.5Z", "early"),
            ("2026-05-25T08:00:00+08:00", "fresh"),
            ("2026-05-25t00:00:00z", "fresh"),
            ("2026-05-25T00:00:00", "unprotected"),
            ("0001-01-01T00:00:00+23:59", "unprotected"),
            ("soon", "unprotected"),
        ],
    )
    def test_window(self, timestamp: str, answer: str) -> None:
        assert olympus.ReplayGuard(clock=Clock()).admit(verification(1, timestamp)) == answer

    def test_five_fields_protect_nobody(self) -> None:
        five = olympus.SigningProfile.UPSTREAM_5FIELD
        made = olympus.signed(envelope(), SECRET, profile=five)
        guard = olympus.ReplayGuard(clock=Clock())
        assert guard.admit(olympus.verify(made, SECRET, profile=five)) == "unprotected"
        assert guard.admit(olympus.verify(envelope(), SECRET)) == "unprotected"
        assert len(guard) == 0

    @pytest.mark.parametrize("name", ["message_id", "session_id", "timestamp"])
    def test_members_that_are_no_text_protect_nobody(self, name: str) -> None:
        made = envelope(**{f"envelope__{name}": 7}) if name != "session_id" else envelope()
        result = olympus.verify(olympus.signed(made, SECRET), SECRET)
        if name == "session_id":
            import attrs

            result = attrs.evolve(result, session_id=None)
        assert olympus.ReplayGuard(clock=Clock()).admit(result) == "unprotected"

    def test_memory_is_bounded_and_never_forgets_early(self) -> None:
        clock = Clock()
        guard = olympus.ReplayGuard(capacity=2, clock=clock)
        assert [str(guard.admit(verification(n))) for n in (1, 2, 3, 1)] == [
            "fresh", "fresh", "full", "replayed",
        ]  # fmt: skip
        clock.now += 301
        assert guard.admit(verification(4, "2026-05-25T00:05:00Z"))
        assert len(guard) == 1

    def test_a_clock_set_back_revives_nothing(self) -> None:
        clock = Clock()
        guard = olympus.ReplayGuard(clock=clock)
        assert guard.admit(verification(1))
        clock.now += 300
        assert guard.admit(verification(1)) == "replayed"
        clock.now += 1
        assert guard.admit(verification(2, "2026-05-25T00:05:00Z"))
        clock.now -= 301
        assert guard.admit(verification(1)) == "stale"

    def test_of_many_threads_one_passes(self) -> None:
        """Also when a thread is interrupted between looking and remembering."""

        class Slow(set[tuple[str, str]]):
            def __contains__(self, key: object) -> bool:
                found = super().__contains__(key)
                time.sleep(0.0005)
                return found

        guard = olympus.ReplayGuard(clock=Clock())
        guard._seen = Slow()
        results = [verification(n) for n in range(20)]
        fresh: list[int] = []
        barrier = threading.Barrier(8)

        def work() -> None:
            barrier.wait()
            fresh.extend(n for n, each in enumerate(results) if guard.admit(each))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(fresh) == [*range(20)]
