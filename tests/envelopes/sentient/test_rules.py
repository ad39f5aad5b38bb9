"""Sentient chains: the rules behind the rows, and forwarding."""

import copy
import json
from typing import Any, ClassVar

import pytest

from messagebody.envelopes import sentient
from messagebody.errors import EnvelopeError
from tests.envelopes.shapes import BASES, vectors

STORE = {
    "ref_id": "store_2", "source_ref_id": "src_1", "storage_uri": None, "storage_backend": "s3",
    "media_type": "video", "created_at_sequence": None, "status": "pending",
}  # fmt: skip
SOURCE = {
    "ref_id": "src_2", "url": "https://example.com/2", "platform": "web", "media_type": "video",
    "provided_by": "user", "extracted_at_sequence": 1,
}  # fmt: skip
DERIVED = {
    "ref_id": "derived_2", "parent_ref_id": "derived_1", "storage_uri": None,
    "asset_type": "transcript", "capability_id": "CAP-1", "created_at_sequence": None,
    "status": "pending",
}  # fmt: skip
GONE = object()


def chain(base: str, *changes: tuple[str, Any]) -> list[dict[str, Any]]:
    """Return a base with members replaced, appended ("-") or taken away (GONE)."""
    made: list[dict[str, Any]] = copy.deepcopy(BASES[base])
    for path, value in changes:
        *way, last = path.strip("/").split("/")
        holder: Any = made
        for step in way:
            holder = holder[int(step) if isinstance(holder, list) else step]
        if last == "-":
            holder.append(value)
        elif value is GONE:
            del holder[last]
        else:
            holder[int(last) if isinstance(holder, list) else last] = value
    return made


def found(messages: Any, **options: Any) -> list[tuple[int | None, str, str]]:
    return [
        (f.index, f.check, f.where.removeprefix(f"/{f.index}"))
        for f in sentient.iter_findings(messages, **options)
    ]


RULES = [
    # members and their types
    ("ex3", [("0/status", [])], [(0, "S002", "/status")]),
    ("ex3", [("0/status", None)], [(0, "S004", "/status")]),
    ("ex3", [("0/error/has_error", 1)], [(0, "S002", "/error/has_error")]),
    ("ex3", [("0/error/retry_count", True)], [(0, "S002", "/error/retry_count")]),
    ("ex3", [("0/error/retry_count", -1)], [(0, "S007", "/error/retry_count")]),
    ("ex3", [("0/error/error_code", "WEIRD")], [(0, "S003", "/error/error_code")]),
    ("ex3", [("0/input/content", 7)], [(0, "S002", "/input/content")]),
    ("ex3", [("0/next_agent/reason", None)], []),
    ("ex3", [("0/resources/source_refs", {})], [(0, "S002", "/resources/source_refs")]),
    ("ex3", [("0/resources/source_refs/-", 7)], [(0, "S002", "/resources/source_refs/0")]),
    ("ex3", [("0/extra", 1)], [(0, "S005", "")]),
    ("ex1", [("0/resources/source_refs/0/note", "x")], [(0, "S005", "/resources/source_refs/0")]),
    ("ex1", [("0/resources/source_refs/0/url", GONE)],
     [(0, "S001", "/resources/source_refs/0/url")]),
    ("ex1", [("0/resources/source_refs/0/ref_id", 7)],
     [(0, "P004", "/output/content/0"), (0, "P004", "/output/content/1"),
      (0, "R002", "/resources/storage_refs/0/source_ref_id"),
      (0, "S002", "/resources/source_refs/0/ref_id")]),
    ("ex1", [("0/resources/source_refs/-", {**SOURCE, "ref_id": "source-2"})],
     [(0, "S008", "/resources/source_refs/1/ref_id")]),
    # times
    ("ex1", [("0/timestamp/executed_at", "yesterday")], [(0, "S006", "/timestamp/executed_at")]),
    ("ex1", [("0/timestamp/executed_at", "2026-01-27")], [(0, "S006", "/timestamp/executed_at")]),
    ("ex1", [("0/timestamp/executed_at", "2026-02-30T00:00:00Z")],
     [(0, "S006", "/timestamp/executed_at")]),
    ("ex1", [("0/timestamp/executed_at", "2026-01-27T14:30:52")], []),
    ("ex1", [("0/timestamp/executed_at", "0001-01-01T00:00:00+08:00")], []),
    ("ex12", [("1/timestamp/executed_at", "2026-01-27T10:00:00")], []),
    # continuity
    ("ex12", [("1/metadata/parent_message_id", "msg-nobody")],
     [(1, "M004", "/metadata/parent_message_id")]),
    ("ex12", [("1/metadata/parent_message_id", 7)], [(1, "S002", "/metadata/parent_message_id")]),
    ("ex12", [("1/metadata/parent_message_id", GONE)],
     [(1, "S001", "/metadata/parent_message_id")]),
    ("ex12", [("0/metadata/sequence_number", "1")], [(0, "S002", "/metadata/sequence_number")]),
    ("ex12", [("1/input/content", {})], [(1, "C006", "/input/content")]),
    ("ex12", [("1/input/content", GONE)], [(1, "S001", "/input/content")]),
    ("ex12", [("0/next_agent", {})],
     [(0, "S001", "/next_agent/name"), (0, "S001", "/next_agent/reason")]),
    ("ex12", [("0/next_agent/name", 7)], [(0, "S002", "/next_agent/name")]),
    # error and status
    ("ex1", [("0/error/error_message", "x")], [(0, "E001", "/error/error_message")]),
    ("ex3", [("0/error/error_message", None)], [(0, "E002", "/error/error_message")]),
    ("ex3", [("0/status/code", "success")], [(0, "E003", "/status/code")]),
    ("ex3", [("0/status/code", "pending")], []),
    # goals counted
    ("ex12", [("1/status/message", "Decomposed 2 objectives into 9 goals")],
     [(1, "O001", "/status/message")]),
    ("ex12", [("1/status/message", "Goals: 10")], []),
    ("ex12", [("1/status/message", "10 very fine sub-goals")], []),
    ("ex12", [("1/status/message", "One goal")], [(1, "O001", "/status/message")]),
    ("ex12", [("1/status/message", "2 objectives → 10 goals (4 goals and 6 goals)")], []),
    ("ex12", [("1/status/message", "A 10-goal plan")], []),
    ("ex12", [("1/status/message", "10 objectives into 9 goals")],
     [(1, "O001", "/status/message")]),
    ("ex12", [("1/output/content/objective_2/goals/-", "One more")],
     [(1, "O001", "/status/message")]),
    ("ex12", [("1/output/content", None), ("1/status/message", "Nothing came of it")], []),
    ("ex12", [("1/output/content", [{"goals": ["Look"]}, {"goals": 7}, 7]),
              ("1/status/message", "1 goal")], []),
    ("ex12", [("1/output/content", {}), ("1/status/message", "0 goals")], []),
    # resources
    ("ex12", [("1/resources/storage_refs", [])],
     [(1, "O002", "/resources/storage_refs"),
      (1, "P004", "/output/content/objective_1/goals/1"),
      (1, "P004", "/output/content/objective_1/goals/2"),
      (1, "P004", "/output/content/objective_1/goals/3"),
      (1, "P004", "/output/content/objective_2/goals/0")]),
    ("ex12", [("1/resources/source_refs/0/url", "https://example.com/else")],
     [(1, "R006", "/resources/source_refs/0/url")]),
    ("ex12", [("1/resources/storage_refs/-", STORE)], [(1, "R004", "/resources/storage_refs")]),
    ("ex12", [("1/resources/source_refs/-", SOURCE)], [(1, "R004", "/resources/source_refs")]),
    ("ex1", [("0/resources/derived_refs/-", {**DERIVED, "parent_ref_id": "store_1"})],
     [(0, "R004", "/resources/derived_refs")]),
    ("ex1", [("0/resources/storage_refs/0/storage_uri", "s3://b/k")],
     [(0, "R003", "/resources/storage_refs/0")]),
    ("full4", [("3/resources/derived_refs/0/storage_uri", "")],
     [(3, "R003", "/resources/derived_refs/0")]),
    ("full4", [("3/resources/derived_refs/0/status", "failed"),
               ("3/resources/derived_refs/0/storage_uri", None)], []),
    ("full4", [("2/resources/derived_refs/-", DERIVED), ("3/resources/derived_refs/-", DERIVED)],
     []),
    ("ex12", [("1/resources/source_refs/-", {**SOURCE, "ref_id": "src_3"}),
              ("1/resources/storage_refs/0/source_ref_id", "src_3")],
     [(1, "P001", "/output/content/objective_1/goals/1"),
      (1, "P003", "/output/content/objective_2/goals/0"),
      (1, "R001", "/resources/storage_refs/0/source_ref_id"),
      (1, "R004", "/resources/source_refs")]),
    ("full4", [("2/resources/derived_refs/0/parent_ref_id", "derived_1"),
               ("3/resources/derived_refs/0/parent_ref_id", "derived_1")],
     [(2, "R002", "/resources/derived_refs/0/parent_ref_id"),
      (3, "R002", "/resources/derived_refs/0/parent_ref_id")]),
    # mentions
    ("ex1", [("0/output/content/1", "Compare store_1 with store_1 (acquired from src_1)")],
     [(0, "P001", "/output/content/1"), (0, "P002", "/output/content/1")]),
    ("ex1", [("0/output/content/1", "From store_1 (acquired from src_7), analyze")],
     [(0, "P003", "/output/content/1"), (0, "P004", "/output/content/1")]),
    ("ex1", [("0/output/content", "From store_1, analyze")], [(0, "P001", "/output/content")]),
    ("ex1", [("0/output/content/1", "Compare store_1 (acquired from src_1) with src_1"),
             ("0/output/content/-", "Look at store_1 again")], []),
    ("ex1", [("0/output/content/1", "From store_1 (from src_1), analyze")],
     [(0, "P001", "/output/content/1")]),
    ("ex1", [("0/output/content/1", "From `store_1` (acquired\nfrom src_1 ), analyze")], []),
    ("ex1", [("0/output/content/-", 7)], []),
    ("ex1", [("0/output/content/-", "Look at store_9")], [(0, "P004", "/output/content/2")]),
    # audit
    ("ex1", [("0/audit/governance_files_consulted/0", "/etc/passwd")],
     [(0, "A001", "/audit/governance_files_consulted/0")]),
    ("ex1", [("0/audit/governance_files_consulted/0", "context/../audit.md")],
     [(0, "A001", "/audit/governance_files_consulted/0")]),
    ("ex1", [("0/audit/governance_files_consulted/0", "context\\audit.md")],
     [(0, "A001", "/audit/governance_files_consulted/0")]),
    ("ex1", [("0/audit/governance_files_consulted/0", "https://example.com/a")],
     [(0, "A001", "/audit/governance_files_consulted/0")]),
    ("ex1", [("0/audit/governance_files_consulted/0", 7)],
     [(0, "S002", "/audit/governance_files_consulted/0")]),
    ("ex1", [("0/audit/governance_files_consulted", [])], []),
    ("ex1", [("0/audit/reasoning", None)], [(0, "S004", "/audit/reasoning")]),
]  # fmt: skip


@pytest.mark.parametrize(("base", "changes", "expected"), RULES)
def test_rule(base: str, changes: Any, expected: Any) -> None:
    assert found(chain(base, *changes)) == expected


class TestChain:
    def test_memory_agent_runs_after_the_end(self) -> None:
        messages = chain("full4")
        after = copy.deepcopy(messages[3])
        after.update(message_id="msg-mem", agent={"name": "memory_agent", "type": "operational"})
        after["metadata"].update(sequence_number=5, parent_message_id=messages[3]["message_id"])
        after["input"] = {"source": "action_agent", "content": messages[3]["output"]["content"]}
        assert found([*messages, after]) == []

    def test_of_two_with_one_id_the_first_is_the_parent(self) -> None:
        root, child = chain("ex12")
        impostor = root | {"agent": {"name": "impostor", "type": "governance"}}
        assert found([root, impostor, child]) == [(1, "C004", "/message_id")]

    @pytest.mark.parametrize(
        "message",
        ["[]", "nonsense", '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": "\\ud800"}', 7, None,
         '{"a":' * 10_000 + "1" + "}" * 10_000, b"\xff", {"a": float("nan")}, {1: 2}],
    )  # fmt: skip
    def test_what_is_no_message_is_a_finding(self, message: Any) -> None:
        assert found([message, *BASES["ex1"]]) == [(0, "S000", "")]

    def test_huge_numbers_are_told_not_printed(self) -> None:
        (finding,) = sentient.iter_findings(chain("ex1", ("0/output/content_type", 10**4_000)))
        assert "a large number" in finding.problem

    def test_validate_raises_once_with_everything(self) -> None:
        with pytest.raises(EnvelopeError, match="2 findings") as caught:
            sentient.validate(chain("ex3", ("0/status/code", "ok"), ("0/message_id", GONE)))
        assert len(caught.value.findings) == 2
        assert "message 0 /status/code: one of success" in str(caught.value)
        sentient.validate(BASES["full4"])
        assert sentient.is_valid(BASES["full4"])
        assert not sentient.is_valid(["[]"])

    def test_every_check_is_described_and_reached(self) -> None:
        """No check is listed that nothing can raise."""
        rows = vectors("sentient_chains.jsonl")
        raised = {f["check"] for row in rows for f in row["findings"]}
        raised |= {check for _, _, expected in RULES for _, check, _ in expected}
        assert raised | {"S000"} == set(sentient.CHECKS)

    @pytest.mark.timeout(60)  # less than quadratic time takes
    def test_long_texts_take_linear_time(self) -> None:
        """Near misses for every pattern, a quarter of a megabyte each."""
        size = 250_000
        for text in ("1" * size, "1 a" * (size // 3), "goals " * (size // 6), "store_1 (" * 27_000,
                     "store_1 (acquired from " * 10_000, " " * size, "src_" * 60_000):  # fmt: skip
            messages = chain("ex12", ("1/status/message", text),
                             ("1/output/content/objective_1/goals/0", text))  # fmt: skip
            [*sentient.iter_findings(messages)]


class TestForward:
    def test_ids_are_overwritten_and_the_evidence_kept(self) -> None:
        parent, message = chain("ex12", ("1/metadata/request_id", "made up"))
        text = json.dumps(message, indent=1).encode()
        forwarded = sentient.forward(text, json.dumps(parent))
        copied, findings = forwarded
        assert copied["metadata"]["request_id"] == "req-20260127-143050"
        assert forwarded.received == text
        assert [(f.index, f.check) for f in findings] == [(1, "M001")]
        assert found([parent, copied]) == []

    def test_the_message_itself_is_untouched(self) -> None:
        parent, message = chain("ex12", ("1/metadata/session_id", "made up"))
        before = copy.deepcopy(message)
        sentient.forward(message, parent)
        assert message == before

    def test_first_message_has_no_parent(self) -> None:
        (message,) = BASES["ex1"]
        copied, findings = sentient.forward(message)
        assert (copied, findings) == (message, ())
        assert sentient.forward(json.dumps(message)).received == json.dumps(message).encode()
        (finding,) = sentient.forward("[]").findings
        assert finding.index == 1

    @pytest.mark.parametrize(
        ("message", "kept"),
        [
            ("nonsense", {}),
            (b"\xff", {}),
            ("[]", {}),
            ('{"a":' * 10_000 + "1" + "}" * 10_000, {}),
            ('{"a": 1, "a": 2}', {"a": 2}),
            ('{"a": "\\ud800"}', {"a": "\ud800"}),
            ({"a": "\ud800", "metadata": None}, {"a": "\ud800"}),
        ],
    )
    def test_no_message_is_dropped(self, message: Any, kept: dict[str, Any]) -> None:
        forwarded = sentient.forward(message, BASES["ex1"][0])
        ids = {"request_id": "req-20260127-143050", "session_id": "session-20260127-1430"}
        assert forwarded.message == {**kept, "metadata": ids}
        assert forwarded.findings
        assert forwarded.received

    @pytest.mark.parametrize("form", [lambda value: value, json.dumps])
    def test_a_parent_that_the_message_does_not_name_gives_nothing(self, form: Any) -> None:
        """Otherwise a message of another session would move into this one."""
        parent, message = chain(
            "ex12", ("1/metadata/parent_message_id", "other"), ("1/metadata/session_id", "theirs")
        )
        forwarded = sentient.forward(form(message), form(parent))
        assert forwarded.message == message
        assert [finding.check for finding in forwarded.findings] == ["M004"]

    @pytest.mark.parametrize("named", [None, 7, ""])
    def test_a_message_that_names_no_parent_gets_the_ids(self, named: Any) -> None:
        parent, message = chain(
            "ex12", ("1/metadata/parent_message_id", named), ("1/metadata/session_id", "made up")
        )
        forwarded = sentient.forward(message, parent)
        assert forwarded.message["metadata"]["session_id"] == parent["metadata"]["session_id"]

    def test_parent_without_ids_gives_none(self) -> None:
        (message,) = BASES["ex1"]
        assert sentient.forward(message, {}).message == message

    def test_values_without_json_are_an_error(self) -> None:
        value: Any = 1
        for _ in range(10_000):
            value = [value]
        for bad in ({"a": value}, {"a": object()}):
            with pytest.raises(EnvelopeError):
                sentient.forward(bad, BASES["ex1"][0])
        with pytest.raises(EnvelopeError, match="parent"):
            sentient.forward({}, "nonsense")


def sibling(message: dict[str, Any], number: int) -> dict[str, Any]:
    """Return another answer to the message's parent."""
    made = copy.deepcopy(message)
    made["message_id"] = f"{message['message_id']}-{number}"
    return made


class TestNoDataIsAltered:
    """Rule 7: a later agent leaves an earlier agent's data alone."""

    MEMBERS: ClassVar = [
        (kind, name)
        for kind, reference in (
            ("source_refs", SOURCE), ("storage_refs", STORE), ("derived_refs", DERIVED)
        )
        for name in reference
        if name != "ref_id"
    ]  # fmt: skip

    def child_of_full4(self) -> list[dict[str, Any]]:
        """Return a chain whose last message answers one that has stored everything."""
        messages = chain("full4")
        last = copy.deepcopy(messages[3])
        last["message_id"] = "msg-last"
        last["metadata"] |= {"sequence_number": 5, "parent_message_id": messages[3]["message_id"]}
        messages[3]["next_agent"]["name"] = last["agent"]["name"] = "memory_agent"
        last["input"] = {"source": messages[3]["agent"]["name"],
                         "content": messages[3]["output"]["content"]}  # fmt: skip
        return [*messages, last]

    @pytest.mark.parametrize(("kind", "name"), MEMBERS)
    def test_each_member_of_what_is_stored(self, kind: str, name: str) -> None:
        messages = self.child_of_full4()
        messages[3]["agent"]["name"] = messages[2]["next_agent"]["name"]
        before = [*sentient.iter_findings(messages)]
        reference = messages[4]["resources"][kind][0]
        reference[name] = {"status": "failed", "parent_ref_id": "src_1"}.get(
            name, 99 if name.endswith("sequence") else "altered"
        )
        new = {*sentient.iter_findings(messages)} - {*before}
        check = "R001" if name in {"source_ref_id", "parent_ref_id"} else "R006"
        assert (check, f"/4/resources/{kind}/0/{name}") in {(f.check, f.where) for f in new}

    def test_what_is_pending_may_be_stored(self) -> None:
        assert found(BASES["full4"]) == []

    @pytest.mark.parametrize(
        ("kind", "name"),
        [(k, n) for k, n in MEMBERS if n not in {"status", "storage_uri", "created_at_sequence"}],
    )
    def test_the_rest_of_what_is_pending_may_not(self, kind: str, name: str) -> None:
        value = 99 if name.endswith("sequence") else "src_1" if name.endswith("ref_id") else "x"
        found_ = found(chain("full4", (f"3/resources/{kind}/0/{name}", value)))
        check = "R001" if name in {"source_ref_id", "parent_ref_id"} else "R006"
        if name != "source_ref_id":  # it is src_1 already
            assert (3, check, f"/resources/{kind}/0/{name}") in found_

    def test_siblings_may_not_reuse_an_id(self) -> None:
        """Two answers to one message that register one id for two things."""
        messages = chain("full4")[:3]
        again = sibling(messages[2], 2)
        assert found([*messages, again]) == []
        again["resources"]["derived_refs"][0]["parent_ref_id"] = "src_1"
        assert found([*messages, again]) == [(3, "R001", "/resources/derived_refs/0/parent_ref_id")]

    def test_a_dropped_source_may_not_come_back_as_another(self) -> None:
        messages = chain(
            "full4",
            ("2/resources/source_refs", []),
            ("3/resources/source_refs/0/url", "https://example.com/other"),
        )
        checks = [(index, check) for index, check, _ in found(messages)]
        assert (2, "O002") in checks
        assert (3, "R006") in checks

    def test_references_without_an_id_are_not_compared(self) -> None:
        messages = chain("ex12")
        for index, message in enumerate(messages):
            nameless = {**SOURCE, "ref_id": "", "url": f"https://example.com/{index}"}
            message["resources"]["source_refs"].append(nameless)
        assert not {check for _, check, _ in found(messages)} & {"R001", "R006", "O002"}

    def test_another_session_has_ids_of_its_own(self) -> None:
        (root,) = chain("ex1")
        other = sibling(root, 2)
        other["metadata"]["session_id"] = "another"
        other["resources"]["source_refs"][0]["url"] = "https://example.com/other"
        assert found([root, other]) == []
        other["metadata"]["session_id"] = root["metadata"]["session_id"]
        assert found([root, other]) == [(1, "R006", "/resources/source_refs/0/url")]


def test_reasoning_names_a_rule_where_names_are_given() -> None:
    messages = chain("ex1", ("0/audit/reasoning", "because"))
    assert found(messages) == []
    names = ["Acquisition-First Pattern", "context/application.md"]
    assert found(messages, rule_names=names) == [(0, "A002", "/audit/reasoning")]
    assert found(chain("ex1"), rule_names=names) == []


class TestChainOfOne:
    """A single message and the text of a chain are chains as well."""

    def test_one_message(self) -> None:
        (message,) = chain("ex1", ("0/status/code", "ok"))
        expected = [(0, "S003", "/status/code")]
        assert found([message]) == expected
        assert found(message) == found(json.dumps(message)) == expected
        assert found(json.dumps(message).encode()) == expected

    def test_text_of_a_chain(self) -> None:
        messages = chain("ex12", ("1/metadata/request_id", "made up"))
        assert (
            found(json.dumps(messages)) == found(messages) == [(1, "M001", "/metadata/request_id")]
        )

    @pytest.mark.parametrize("given", [None, 1, True, float("nan"), "7", b"{", "[7]", [None]])
    def test_what_is_no_message(self, given: Any) -> None:
        assert found(given) == [(0, "S000", "")]
        assert not sentient.is_valid(given)
        with pytest.raises(EnvelopeError, match="1 finding"):
            sentient.validate(given)
