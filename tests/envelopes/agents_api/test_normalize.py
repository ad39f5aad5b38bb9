"""The rules of the reference beside its rows, checked by rules written another way."""

import json
import math
import re
from collections import OrderedDict
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody.envelopes import agents_api
from messagebody.errors import EnvelopeError, MessageBodyError
from tests.effort import examples
from tests.envelopes.shapes import CONTENTS, JSON, MAPS, SCALARS, TEXTS

ROWS = st.fixed_dictionaries(
    {},
    optional={
        "schema": SCALARS,
        "version": st.sampled_from([1, "1", "1.9", 0, 1.0, True, None, "v1"]),
        "type": st.sampled_from([*agents_api.TYPES, "Text", None, 5]),
        "role": TEXTS | st.none() | st.just(5),
        "content": CONTENTS | SCALARS,
        "payload": JSON | MAPS,
        "data": JSON | MAPS,
        "metadata": JSON
        | MAPS
        | st.fixed_dictionaries({"type": st.sampled_from(agents_api.TYPES)}),
        "id": SCALARS,
        "created_at": SCALARS,
        "name": SCALARS,
    },
)


def envelope(**members: Any) -> dict[str, Any]:
    given = {"type": "text", "role": "user", "content": "Hello!", "payload": {}, "metadata": {}}
    return {"schema": agents_api.SCHEMA, "version": 1, **given, **members}


class TestNormalize:
    """`normalize` of any row."""

    @settings(max_examples=examples(400), deadline=None)
    @given(ROWS)
    def test_is_a_fixed_point_or_an_error(self, row: dict[str, Any]) -> None:
        """Both forms are idempotent, say the same, and have nothing left to drop."""
        refused = [each for each in agents_api.iter_findings(row) if each.check == "refused"]
        if refused:
            with pytest.raises(EnvelopeError) as caught:
                agents_api.normalize(row, php_compatible=True)
            assert refused[0].problem.startswith(str(caught.value))
            return
        canonical = agents_api.normalize(row)
        php = agents_api.normalize(row, php_compatible=True)
        assert agents_api.normalize(canonical) == canonical
        assert agents_api.normalize(php, php_compatible=True) == php
        assert agents_api.to_wire(canonical) == agents_api.to_wire(php)
        assert agents_api.is_valid(canonical)

    @settings(max_examples=examples(300), deadline=None)
    @given(ROWS)
    def test_nothing_goes_unsaid(self, row: dict[str, Any]) -> None:
        """A member whose value is nowhere in the envelope has a finding."""
        findings = {
            finding.where[1:].replace("~1", "/").replace("~0", "~")
            for finding in agents_api.iter_findings(row)
        }
        if "" in findings:
            return
        canonical = agents_api.normalize(row)
        for key, value in row.items():
            target = "payload" if key == "data" else key
            kept = target in canonical and canonical[target] == value
            is_empty_array = target in ("payload", "metadata") and value in ({}, [])
            assert kept or is_empty_array or value is None or key in findings

    @pytest.mark.parametrize(
        ("version", "passes"),
        [(1, True), ("1", True), (" 1", True), ("\t\n\r\v\f1", True), ("+1", True), ("01", True),
         ("1.", True), ("1.9999", True), (".1e1", True), ("10e-1", True), ("1e0", True),
         ("1e", True), ("1 ", True), ("1abc", True), ("1e1", False), ("\0001", False),
         ("\u00a01", False), ("\u0661", False), ("-1", False), ("0x1", False), ("", False),
         ("1e400", False), ("0.99999999999999999999", True), ("9" * 400, False), (2, False),
         (b"1", True), (b"\xff", False), ("2", False),
         (2**64, False), (2**64 + 1, False), (1.5, False), (False, False), ([1], False)],
    )  # fmt: skip
    def test_version(self, version: Any, passes: bool) -> None:
        """It is an int or text that PHP casts to 1."""
        row = envelope(version=version)
        for php_compatible in (False, True):
            if passes:
                assert agents_api.normalize(row, php_compatible=php_compatible)["version"] == 1
            else:
                with pytest.raises(EnvelopeError, match="unsupported version"):
                    agents_api.normalize(row, php_compatible=php_compatible)

    @pytest.mark.parametrize(
        ("row", "problem"),
        [
            ({"version": 2, "type": "x", "role": "", "content": 5}, "unsupported version"),
            ({"version": 1, "type": "x", "role": "", "content": 5}, "unsupported type"),
            ({"version": 1, "type": "text", "role": "", "content": 5}, "role must be"),
            ({"version": 1, "type": "text", "content": 5, "metadata": {"k": math.inf}}, "content"),
            ({"version": 1, "type": "text", "metadata": {"k": math.inf}}, "JSON serializable"),
        ],
    )
    def test_order_of_checks(self, row: dict[str, Any], problem: str) -> None:
        """Version, type, role, content, JSON."""
        with pytest.raises(EnvelopeError, match=problem):
            agents_api.normalize({**row, "payload": {}})

    @pytest.mark.parametrize(
        ("value", "name"),
        [(None, "null"), ("x", "string"), (b"x", "string"), (5, "int"), (1.5, "float"),
         (True, "true"), (False, "false"), (agents_api.PhpObject(), "stdClass")],
    )  # fmt: skip
    def test_rows_that_are_no_arrays(self, value: Any, name: str) -> None:
        """PHP's type error, to the letter."""
        for function, method, argument in (
            (agents_api.normalize, "WP_Agent_Message::normalize", "message"),
            (agents_api.normalize_many, "WP_Agent_Message::normalize_many", "messages"),
            (agents_api.normalize_conversation_result, "WP_Agent_Conversation_Result::normalize",
             "result"),
        ):  # fmt: skip
            with pytest.raises(EnvelopeError) as caught:
                function(value)
            assert str(caught.value) == (
                f"AgentsAPI\\AI\\{method}(): Argument #1 (${argument}) "
                f"must be of type array, {name} given"
            )

    def test_other_mappings_and_lists(self) -> None:
        """Any mapping is a row; a list is a row without text keys."""
        for row in (MappingProxyType({"content": "a"}), OrderedDict(content="a")):
            assert agents_api.normalize(row)["content"] == "a"
            assert agents_api.is_valid(row)
        assert agents_api.normalize([]) == agents_api.normalize({})
        assert agents_api.normalize(["x"], php_compatible=True)["content"] == ""

    def test_php_arrays(self) -> None:
        """Every level is written as PHP writes it."""
        metadata: dict[str, Any] = {
            "0": {"1": "a", "0": "b"},
            "1": {"0": {}, "1": ({"00": 1},)},
            "2": agents_api.PhpObject({"o": {}}),
        }
        assert agents_api.normalize({"metadata": metadata}, php_compatible=True)["metadata"] == [
            {"1": "a", "0": "b"},
            [[], [{"00": 1}]],
            {"o": []},
        ]
        assert agents_api.normalize({"metadata": metadata})["metadata"] == metadata

    def test_input_is_left_alone(self) -> None:
        """Nobody's row changes."""
        row = {"metadata": {"a": {}}, "payload": {"b": {}}, "data": 1}
        for php_compatible in (False, True):
            agents_api.normalize(row, php_compatible=php_compatible)
        assert row == {"metadata": {"a": {}}, "payload": {"b": {}}, "data": 1}

    def test_many_names_the_row(self) -> None:
        """The canonical form says which; PHP's does not."""
        rows = [{"content": "a"}, {"role": ""}]
        with pytest.raises(EnvelopeError, match=r"^messages\[1\]: invalid_ai_message_envelope: ro"):
            agents_api.normalize_many(rows)
        with pytest.raises(EnvelopeError, match=r"^invalid_ai_message_envelope: role"):
            agents_api.normalize_many(rows, php_compatible=True)
        assert agents_api.normalize_many({"a": {}, "b": {}}) == agents_api.normalize_many([{}, {}])


class TestFindings:
    """What is said of a row."""

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ({"content": 5}, ["refused"]),
            ({"role": "user", "content": "x", "id": None, "payload": None}, []),
            ({"data": {"a": 1}}, ["omitted data"]),
            ({"schema": "x", "version": 1}, ["omitted schema", "omitted version"]),
            ({"id": 5, "created_at": "", "updated_at": "x"}, ["omitted id", "omitted created_at"]),
            (envelope(version="1abc", schema=3), ["converted schema", "converted version"]),
            (envelope(payload="x", data={"a": 1}), ["omitted payload"]),
            (envelope(payload={"a": 1}, data={"b": 1}), ["omitted data"]),
            (envelope(data={"b": 1}), []),
            (envelope(data=5, metadata="x"), ["omitted metadata", "omitted data"]),
            (envelope(attachments=[]), ["omitted attachments"]),
            (envelope(version=True), ["refused"]),
        ],
    )
    def test_what_is_said(self, row: dict[str, Any], said: list[str]) -> None:
        """Kind and place, in the order of the row."""
        found = [f"{each.check} {each.where[1:]}".strip() for each in agents_api.iter_findings(row)]
        assert sorted(found) == sorted(said)
        assert agents_api.is_valid(row) == (said != ["refused"])
        if agents_api.is_valid(row):
            agents_api.validate(row)
            return
        with pytest.raises(EnvelopeError) as caught:
            agents_api.validate(row)
        assert len(caught.value.findings) == len(said)
        assert str(caught.value.findings[0]) in str(caught.value)


class TestProvider:
    """The projection and merging."""

    @given(MAPS, MAPS)
    def test_metadata_beats_payload(self, payload: Any, metadata: Any) -> None:
        """Every member of both is there, the type on top."""
        row = envelope(type="delta", payload=payload, metadata=metadata)
        projected = agents_api.to_provider_message(row)["metadata"]
        assert projected == {**payload, **metadata, "type": "delta"}

    @settings(max_examples=examples(150), deadline=None)
    @given(st.lists(st.tuples(st.sampled_from("ab"), CONTENTS), max_size=6))
    def test_coalescing(self, turns: list[tuple[str, Any]]) -> None:
        """No two neighbours share a role, every original is there, twice is once."""
        rows = [{"role": role, "content": content} for role, content in turns]
        for php_compatible in (False, True):
            merged = agents_api.coalesce_consecutive_same_role(rows, php_compatible=php_compatible)
            roles = [each["role"] for each in merged]
            assert all(a != b for a, b in pairwise(roles))
            parts = [
                part
                for each in merged
                for part in (each["payload"]["parts"] if each["payload"] else [each])
            ]
            assert parts == agents_api.normalize_many(rows, php_compatible=php_compatible)
            again = agents_api.coalesce_consecutive_same_role(merged, php_compatible=php_compatible)
            assert again == merged

    @pytest.mark.parametrize(
        ("parts", "expected"),
        [([], 0), ({"x": {"type": "text", "content": "q"}, "y": 5}, 1), ([["a"], {}], 2),
         ("x", None)],
    )  # fmt: skip
    def test_odd_parts(self, parts: Any, expected: int | None) -> None:
        """Whatever stands in payload.parts: arrays are parts, keys that are text stay."""
        odd = envelope(type="multimodal_part", payload={"parts": parts})
        for php_compatible in (False, True):
            (merged,) = agents_api.coalesce_consecutive_same_role(
                [odd, envelope(content="b")], php_compatible=php_compatible
            )
            count = 1 if expected is None else expected
            assert len(merged["payload"]["parts"]) == count + 1

    def test_long_runs_are_linear(self) -> None:
        """A run of thousands is merged at once."""
        rows = [{"content": "a"}] * 20_000
        (merged,) = agents_api.coalesce_consecutive_same_role(rows)
        assert len(merged["payload"]["parts"]) == 20_000


class TestBuilders:
    """Typed envelopes."""

    def test_are_canonical(self) -> None:
        """What is built needs no normalising."""
        for built in (
            agents_api.build_text("user", "a", {"type": "delta"}),
            agents_api.build_text("user", []),
            agents_api.build_tool_call("a", "t", {}, 1),
            agents_api.build_tool_result("a", "t", {"tool_name": "u"}),
            agents_api.build_approval_required("a", {}, {"k": 1}),
        ):
            assert agents_api.normalize(built) == built

    def test_refuse_what_an_envelope_does_not_take(self) -> None:
        """As normalising does."""
        with pytest.raises(EnvelopeError, match="content must be"):
            agents_api.build_text("user", 5)  # type: ignore[arg-type]
        with pytest.raises(EnvelopeError, match="JSON serializable"):
            agents_api.build_tool_call("a", "t", {"x": math.nan}, 1)


class TestConversationResult:
    """Results of a loop."""

    RESULT: dict[str, Any] = {"tool_name": "t", "result": {}, "parameters": {}, "turn_count": 1}  # noqa: RUF012
    AUDIT: dict[str, Any] = {  # noqa: RUF012
        "type": "a", "tool_name": "t", "tool_call_id": "c", "parameters_sha256": "0",
        "result_sha256": "1", "schema_version": 1, "turn_count": 1, "success": True,
    }  # fmt: skip
    EVENT: dict[str, Any] = {  # noqa: RUF012
        "type": "tool_call", "tool_name": "t", "tool_call_id": "c", "turn_count": 1,
    }  # fmt: skip

    @staticmethod
    def refusal(**members: Any) -> str:
        with pytest.raises(EnvelopeError) as caught:
            agents_api.normalize_conversation_result({"messages": [], **members})
        prefix = "invalid_agent_conversation_result: "
        assert str(caught.value).startswith(prefix)
        return str(caught.value).removeprefix(prefix)

    @pytest.mark.parametrize(
        ("members", "problem"),
        [
            ({"messages": None}, "messages must be an array"),
            ({"version": True}, "version must be 1"),
            ({"version": 2}, "version must be 1"),
            ({"schema": None}, "schema must be agents-api.conversation-result"),
            ({"messages": {"a": 5}}, "messages[a] must be an array"),
            ({"tool_execution_results": "x"}, "tool_execution_results must be an array"),
            ({"tool_audit_events": None}, "tool_audit_events must be an array"),
            ({"tool_events": 5}, "tool_events must be an array"),
            ({"status": 5}, "status must be a string when present"),
            ({"budget": None}, "budget must be a string when present"),
            ({"turn_count": 1.0}, "turn_count must be an integer when present"),
            ({"turn_count": True}, "turn_count must be an integer when present"),
            ({"usage": "x"}, "usage must be an array when present"),
            ({"metadata": 5}, "metadata must be an array when present"),
            ({"request_metadata": 5}, "request_metadata must be an array when present"),
            ({"provider_diagnostics": 5}, "provider_diagnostics must be an array when present"),
            ({"completed": 1}, "completed must be a boolean when present"),
            ({"failure": "x"}, "failure must be an array when present"),
            ({"failure": {"type": "x"}}, "failure.message must be a non-empty string"),
            ({"failure": {"type": "", "message": "x"}}, "failure.type must be a non-empty string"),
            (
                {"failure": {"type": "x", "message": "x", "turn_count": "1"}},
                "failure.turn_count must be an integer when present",
            ),
            ({"runtime_tool_pending": True}, "runtime_tool_pending must be an array when present"),
        ],
    )
    def test_members(self, members: dict[str, Any], problem: str) -> None:
        """Each with its path."""
        assert self.refusal(**members) == problem

    @pytest.mark.parametrize(
        ("list_", "element", "rules"),
        [
            (
                "tool_execution_results",
                RESULT,
                {"tool_name": "non-empty string", "result": "array", "parameters": "array",
                 "is_handler_tool": "boolean when", "runtime": "array when", "turn_count": "int"},
            ),
            (
                "tool_audit_events",
                AUDIT,
                {"type": "non-empty", "tool_name": "non-empty", "tool_call_id": "non-empty",
                 "parameters_sha256": "non-empty", "result_sha256": "non-empty",
                 "schema_version": "integer", "turn_count": "integer", "success": "boolean",
                 "error_type": "string when"},
            ),
            (
                "tool_events",
                EVENT,
                {"type": "non-empty", "tool_name": "non-empty", "tool_call_id": "non-empty",
                 "turn_count": "integer", "status": "string when", "metadata": "array when"},
            ),
        ],
    )  # fmt: skip
    def test_elements(self, list_: str, element: dict[str, Any], rules: dict[str, str]) -> None:
        """Every rule of every list is checked, also in a map."""
        agents_api.normalize_conversation_result({"messages": [], list_: {"x": element}})
        assert self.refusal(**{list_: [element, 5]}) == f"{list_}[1] must be an array"
        for name, rule in rules.items():
            broken = {**element, name: None}
            problem = self.refusal(**{list_: {"x": broken}})
            assert problem.startswith(f"{list_}[x].{name} must be ")
            assert rule in problem
            if "when" not in rule:
                missing = {key: value for key, value in element.items() if key != name}
                assert self.refusal(**{list_: {"x": missing}}) == problem

    @pytest.mark.parametrize(
        ("members", "outcome"),
        [
            ({}, ("completed", True, "natural", False)),
            ({"completed": False}, ("incomplete", False, "incomplete", False)),
            ({"status": "running", "completed": False}, ("incomplete", False, "running", False)),
            ({"status": "failed"}, ("failed", False, "provider_error", True)),
            ({"status": " FAILED "}, ("failed", False, "provider_error", True)),
            (
                {"status": "budget_exceeded", "budget": "turns"},
                ("budget_exceeded", False, "max_turns", True),
            ),
            (
                {"status": "budget_exceeded", "budget": "tokens"},
                ("budget_exceeded", False, "budget_exceeded", True),
            ),
            (
                {"status": "runtime_tool_pending"},
                ("runtime_tool_pending", False, "runtime_tool_pending", False),
            ),
            ({"status": "stalled"}, ("stalled", False, "stalled", False)),
            (
                {"status": "cancelled", "run_outcome": {"retryable": "0"}},
                ("cancelled", False, "cancelled", False),
            ),
            (
                {"run_outcome": {"status": "Failed", "retryable": 1, "stop_reason": 5}},
                ("failed", False, "5", True),
            ),
            ({"run_outcome": {"status": "odd", "completed": "0"}},
             ("incomplete", False, "incomplete", False)),
            (
                {"status": "budget_exceeded", "run_outcome": {"status": "cancelled"}},
                ("cancelled", False, "budget_exceeded", False),
            ),
            ({"run_outcome": "x", "completed": True}, ("completed", True, "natural", False)),
            (
                {"run_outcome": {"status": "completed", "completed": 0}},
                ("completed", False, "completed", False),
            ),
        ],
    )  # fmt: skip
    def test_outcome(self, members: dict[str, Any], outcome: tuple[str, bool, str, bool]) -> None:
        """Status, completion, reason and whether to try again."""
        done = agents_api.normalize_conversation_result({"messages": [], **members})
        found = done["run_outcome"]
        keys = ("status", "completed", "stop_reason", "retryable")
        assert tuple(found[key] for key in keys) == outcome
        again = agents_api.normalize_conversation_result(done)
        assert again["run_outcome"]["status"] == found["status"]

    def test_outcome_explains_a_failure(self) -> None:
        """The failure is the provider's where that ended the run; lists have no text keys."""
        failure = {"type": "x", "message": "y", "0": "dropped"}
        done = agents_api.normalize_conversation_result({"messages": [], "failure": failure})
        explained = {"type": "x", "message": "y"}
        assert done["run_outcome"]["failure"] == explained
        assert done["run_outcome"]["provider_error"] == explained
        stated = {
            "stop_reason": "done",
            "failure": ["a"],
            "assertions": {"a": 1},
            "provider_error": 5,
            "metadata": {"m": 1},
        }
        done = agents_api.normalize_conversation_result(
            {"messages": [], "failure": failure, "run_outcome": stated}
        )
        assert done["run_outcome"]["failure"] == {}
        assert done["run_outcome"]["assertions"] == {"a": 1}
        assert done["run_outcome"]["metadata"] == {"m": 1}
        assert "provider_error" not in done["run_outcome"]

    def test_observability(self) -> None:
        """What tools did is told without what was said."""
        call = {**self.EVENT, "metadata": {"parameters": {"secret": 1, "0": 2}}}
        answer = {**self.EVENT, "type": "tool_result", "metadata": {"success": True}}
        rejected = {**answer, "metadata": {"rejected": True, "success": True}}
        events = [call, {**call, "type": "pending"}, answer, call, rejected, call, answer, call,
                  {**answer, "metadata": {"success": 1}}, call,
                  {**answer, "tool_call_id": "other"}, {**self.EVENT, "type": "odd"}]  # fmt: skip
        results = [
            {**self.RESULT, "tool_call_id": "c", "result": {"result": "\u00e9", "tool_name": "u"}},
            {**self.RESULT, "tool_call_id": "c"},
            {**self.RESULT, "tool_call_id": "c", "result": {"result": None, "tool_name": ""}},
            self.RESULT,
        ]
        done = agents_api.normalize_conversation_result(
            {"messages": [], "tool_events": events, "tool_execution_results": results}
        )
        calls = done["tool_observability"]["calls"]
        assert [each["status"] for each in calls] == [
            "succeeded", "rejected", "succeeded", "failed", "pending",
        ]  # fmt: skip
        assert calls[0] == {
            "sequence": 1,
            "turn": 1,
            "tool_call_id": "c",
            "tool_name": "u",
            "status": "succeeded",
            "arguments": {"keys": ["secret", "0"], "count": 2, "redacted": True},
            "result": {"type": "string", "size": 2},
        }
        assert "result" in calls[1] or calls[1]["tool_name"] == "t"
        assert calls[2]["result"] == {"type": "null"}
        assert "error" not in calls[1] or calls[1]["error"]["code"].endswith("rejected")
        assert calls[3]["error"]["code"] == "agents_api_tool_execution_failed"

    @pytest.mark.parametrize(
        ("value", "shape"),
        [
            ([], {"type": "array", "count": 0}),
            ({"0": 1}, {"type": "array", "count": 1}),
            ({"a": 1}, {"type": "object", "count": 1}),
            (True, {"type": "boolean"}),
            (5, {"type": "integer"}),
            (1.5, {"type": "double"}),
            (agents_api.PhpObject(), {"type": "object"}),
        ],
    )
    def test_shapes_of_results(self, value: Any, shape: dict[str, Any]) -> None:
        """A result is described by kind and size."""
        answer = {**self.EVENT, "type": "tool_result", "metadata": {"success": True}}
        result = {**self.RESULT, "tool_call_id": "c", "result": {"result": value}}
        done = agents_api.normalize_conversation_result(
            {
                "messages": [],
                "tool_events": [self.EVENT, answer],
                "tool_execution_results": [result],
            },
            php_compatible=True,
        )
        assert done["tool_observability"]["calls"][0]["result"] == shape

    def test_messages_of_a_map_keep_their_keys(self) -> None:
        """The canonical form too; PHP's map with the keys 0 to n is a list."""
        result = {"messages": {"0": {"content": "a"}, "1": {"content": "b"}}}
        assert [*agents_api.normalize_conversation_result(result)["messages"]] == ["0", "1"]
        php = agents_api.normalize_conversation_result(result, php_compatible=True)
        assert [message["content"] for message in php["messages"]] == ["a", "b"]


class TestWire:
    """JSON as PHP writes it."""

    @given(JSON)
    def test_says_the_same(self, value: Any) -> None:
        """Python reads it back as PHP's arrays, ints and floats of one value alike."""
        text = agents_api.to_wire(value)
        assert text.isascii()
        assert re.search(r"(?<!\\)/", text) is None
        row = agents_api.normalize({"metadata": [value]}, php_compatible=True)
        expected = json.dumps(row["metadata"][0])
        assert json.loads(text, parse_int=float) == json.loads(expected, parse_int=float)

    @pytest.mark.parametrize(
        ("number", "text"),
        [(0.0, "0"), (-0.0, "-0"), (1e5, "100000"), (1e17, "1.0e+17"), (12e15, "12000000000000000"),
         (1.5e300, "1.5e+300"), (0.0001, "0.0001"), (0.00001, "1.0e-5"), (123.456, "123.456"),
         (5e-324, "5.0e-324"), (-1.25e-7, "-1.25e-7")],
    )  # fmt: skip
    def test_floats(self, number: float, text: str) -> None:
        """Exponents begin past seventeen digits and four zeros."""
        assert agents_api.to_wire(number) == text

    def test_delete_is_raw(self) -> None:
        """PHP does not escape it; a text that looks like its escape is left alone."""
        assert agents_api.to_wire("\x7f\\u007f") == '"\x7f\\\\u007f"'

    def test_what_is_no_json(self) -> None:
        """It is refused."""
        for value in (math.nan, object(), ["\ud800"], {"k": b"x"}):
            with pytest.raises(MessageBodyError, match="PHP can't write this"):
                agents_api.to_wire(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"role": "user", "content": ""}, True),
        ({"schema": agents_api.SCHEMA}, True),
        ({"version": 1, "type": "text", "data": None}, True),
        ({"content": "x"}, False),
        ({"contentType": "text/plain", "content": "x"}, False),
        ([], False),
        ("x", False),
    ],
)
def test_detect(value: Any, expected: bool) -> None:
    """A message is told by its members."""
    assert agents_api.detect(value) is expected
