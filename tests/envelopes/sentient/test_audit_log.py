"""The audit log: entries nobody can forge, files that many may write, a record that tells."""

import contextlib
import copy
import inspect
import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from messagebody.envelopes import sentient
from messagebody.errors import EnvelopeError
from tests.envelopes.shapes import vectors

EXAMPLES = vectors("sentient_examples.json")
DAY = "2026-01-27"
NOW = datetime(2026, 5, 25, 23, 59, tzinfo=UTC)
# What ends a line, for one reader or another, or reorders what is read.
HOSTILE = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\u202e\u2066\u061c\u200e\x00\x1b\x7f\x9f\ud800\\"

FIELDS = [
    ("agent", "name"), ("input", "source"), ("input", "content"), ("output", "content_type"),
    ("status", "code"), ("status", "message"), ("error", "error_code"),
    ("error", "error_message"), ("audit", "compliance_notes"), ("message_id",),
    ("metadata", "session_id"), ("timestamp", "executed_at"),
]  # fmt: skip
LISTED = [
    ("source_refs", "ref_id"), ("source_refs", "url"), ("storage_refs", "status"),
    ("derived_refs", "asset_type"),
]  # fmt: skip


def put(message: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    holder = message
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value


def hostile_message(text: Any) -> dict[str, Any]:
    """Return a message that has `text` in every field a log shows."""
    message: dict[str, Any] = copy.deepcopy(EXAMPLES[2])
    for path in FIELDS:
        put(message, path, text)
    message["audit"]["governance_files_consulted"] = [text, {text: text} if text else text]
    for kind, name in LISTED:
        message["resources"][kind] = [{"ref_id": text, name: text}, text]
    return message


class TestEntry:
    @pytest.mark.parametrize("options", [{}, {"error_line": True}, {"plain_lists": True}])
    @given(
        text=st.text(st.sampled_from(HOSTILE + "-[]: TIMESTAMP") | st.characters(), max_size=40)
        | st.just("\n---\n[TIMESTAMP: 00:00:00]\n")
    )
    @example(text=HOSTILE)
    def test_no_field_can_forge_an_entry(self, options: dict[str, bool], text: str) -> None:
        """Whatever stands in every field, the lines are the ones there should be."""
        entry = sentient.audit_entry(hostile_message(text), **options)
        lines = entry.split("\n")
        heads = [line.partition("]")[0].partition(":")[0] for line in lines]
        error = ["[ERROR"] if "error_line" in options else []
        assert heads == [
            "[TIMESTAMP", "[AGENT", "[INPUT SOURCE", "[INPUT", "[OUTPUT TYPE", "[STATUS", *error,
            "[RESOURCES", "[COMPLIANCE NOTES", "[GOVERNANCE FILES", "[MESSAGE_ID", "[SESSION_ID",
            "---", "",
        ]  # fmt: skip
        assert lines.count("---") == 1
        assert len(entry.splitlines()) == len(lines) - 1
        assert not {*entry} & ({*HOSTILE} - {"\n", "\\"})
        entry.encode()

    @given(st.text(st.sampled_from("\\nrtx0\n\r\t\x1b"), max_size=12))
    def test_escapes_can_be_told_from_what_was_there(self, text: str) -> None:
        """Two texts never have the same entry: the escape can be undone."""
        line = sentient.audit_entry({"message_id": text}).split("\n")[-4]
        shown = line.removeprefix("[MESSAGE_ID: ").removesuffix("]")
        assert shown.encode("ascii").decode("unicode_escape") == text

    @pytest.mark.parametrize(
        "message",
        [{}, [], None, 7, "nonsense", b"\xff", "[]", '{"a":' * 10_000 + "1" + "}" * 10_000],
    )
    def test_whatever_comes_is_logged(self, message: Any) -> None:
        entry = sentient.audit_entry(message)
        assert entry.startswith("[TIMESTAMP: unknown]\n[AGENT: (missing)]\n")
        assert "(compliance violation: the message has no audit data)" in entry

    def test_flaws_of_the_json_are_noted(self) -> None:
        entry = sentient.audit_entry('{"message_id": "a", "message_id": "b\\ud800"}')
        assert "[MESSAGE_ID: b\\ud800]" in entry
        assert "[COMPLIANCE NOTES]: (compliance violation: member 'message_id' is repeated" in entry

    def test_odd_values_are_shown_as_json(self) -> None:
        message = copy.deepcopy(EXAMPLES[0])
        message["resources"] = {"source_refs": None, "storage_refs": [7]}
        message["agent"]["name"] = 10**5000
        message["audit"] = []
        entry = sentient.audit_entry(message, plain_lists=True)
        assert "[AGENT: (unprintable)]" in entry
        resources = "source_refs=null, storage_refs=(missing):(missing), derived_refs=(missing)"
        assert f"[RESOURCES]: {resources}\n" in entry
        assert "[GOVERNANCE FILES]: (missing)\n" in entry


@pytest.fixture
def log(tmp_path: Path) -> sentient.AuditLog:
    return sentient.AuditLog(tmp_path / "system" / "logs", clock=lambda: NOW, within=None)


class TestFiles:
    def test_one_file_a_day_named_by_the_date_as_written(self, log: sentient.AuditLog) -> None:
        for executed_at, name in (
            ("2026-01-28T00:30:00+08:00", "20260128.log"),
            ("0001-01-01T00:00:00Z", "00010101.log"),
            ("20260127T143052+0800", "20260127.log"),
        ):
            message = copy.deepcopy(EXAMPLES[0])
            message["timestamp"]["executed_at"] = executed_at
            assert log.append(message).name == name

    @pytest.mark.parametrize(
        "executed_at",
        [
            "../../etc/passwd",
            "2026-13-01T00:00:00Z",
            "99999999",
            "",
            "\x00",
            None,
            7,
            "٢٠٢٦-01-27T0",
        ],
    )
    def test_what_is_no_date_names_no_file(self, log: sentient.AuditLog, executed_at: Any) -> None:
        message = copy.deepcopy(EXAMPLES[0])
        message["timestamp"]["executed_at"] = executed_at
        path = log.append(message)
        assert path.name == "20260525.log"
        assert sorted(each.name for each in path.parent.iterdir()) == [
            "20260525.jsonl", "20260525.log",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "message",
        ["nonsense", b"\xff\xfe", "\ud800", '{"a":' * 10_000, {1: "\ud800"}, {"a": float("nan")}],
    )
    def test_every_message_is_recorded(self, log: sentient.AuditLog, message: Any) -> None:
        log.append(message)
        log.append(EXAMPLES[0] | {"timestamp": None})
        assert log.flaws(NOW.date(), head=log.head(NOW.date())) == []

    def test_values_without_json_are_an_error(self, log: sentient.AuditLog) -> None:
        with pytest.raises(EnvelopeError):
            log.append({"a": object()})

    def test_links_are_not_followed(self, log: sentient.AuditLog, tmp_path: Path) -> None:
        path = log.append(EXAMPLES[0])
        path.unlink()
        (tmp_path / "target").touch()
        path.symlink_to(tmp_path / "target")
        with pytest.raises(OSError, match="symbolic link"):
            log.append(EXAMPLES[0])
        assert (tmp_path / "target").read_bytes() == b""

    @pytest.mark.parametrize("suffix", [".log", ".jsonl"])
    def test_only_files_are_written_and_read(self, log: sentient.AuditLog, suffix: str) -> None:
        """Who can write to the directory can't make a program wait, or read another file."""
        path = log.append(EXAMPLES[0]).with_suffix(suffix)
        path.unlink()
        os.mkfifo(path)
        for use in (log.append, lambda _: log.flaws(DAY)):
            with pytest.raises(OSError, match=r".") as caught:
                use(EXAMPLES[0])
            assert path.name in str(caught.value)
        path.unlink()
        path.symlink_to("/etc/passwd")
        with pytest.raises(OSError, match="symbolic link"):
            log.flaws(DAY)

    def test_what_is_not_written_whole_is_not_written(self, log: sentient.AuditLog) -> None:
        """Wherever the disk is full: no half entry stays, and the next message is logged."""
        path = log.append(EXAMPLES[0])
        before = [path.read_bytes(), path.with_suffix(".jsonl").read_bytes()]
        log.append(EXAMPLES[0])
        sizes = [path.stat().st_size, path.with_suffix(".jsonl").stat().st_size]
        for size in range(max(map(len, before)) + 1, max(sizes), 97):
            path.write_bytes(before[0])
            path.with_suffix(".jsonl").write_bytes(before[1])
            with files_of_at_most(size), pytest.raises(OSError, match="File too large"):
                log.append(EXAMPLES[0])
            assert [path.read_bytes(), path.with_suffix(".jsonl").read_bytes()] == before
        log.append(EXAMPLES[0])
        assert log.flaws(DAY, head=log.head(DAY)) == []

    def test_a_half_entry_of_a_writer_that_died(self, log: sentient.AuditLog) -> None:
        path = log.append(EXAMPLES[0])
        path.write_bytes(path.read_bytes()[:-30])
        log.append(EXAMPLES[0])
        assert path.read_text().endswith("\n" + sentient.audit_entry(EXAMPLES[0]))
        assert log.flaws(DAY) != []

    def test_threads_and_processes_never_mix_lines(self, log: sentient.AuditLog) -> None:
        path = log.append(EXAMPLES[0])
        command = [sys.executable, "-c", WRITER, str(path.parent)]
        processes = [subprocess.Popen([*command, str(number)]) for number in range(2)]
        logs = [sentient.AuditLog(path.parent, within=None) for _ in range(3)]
        threads = [
            threading.Thread(target=write_many, args=(each, number))
            for number, each in enumerate(logs, 2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [process.wait() for process in processes] == [0, 0]
        assert log.flaws(DAY) == []
        assert path.read_text().count("[MESSAGE_ID: ") == 1 + 5 * 20


def write_many(log: sentient.AuditLog, number: int) -> None:
    executed_at = {"executed_at": f"{DAY}T00:00:00Z"}
    for each in range(20):
        message = {"message_id": f"m-{number}-{each}", "padding": "x" * 20_000}
        log.append(message | {"timestamp": executed_at})


WRITER = f"""
import sys
from messagebody.envelopes import sentient
DAY = {DAY!r}
{inspect.getsource(write_many)}
write_many(sentient.AuditLog(sys.argv[1], within=None), int(sys.argv[2]))
"""


@contextlib.contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let the system write files up to a size: what a full disk does, to one file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class TestRecord:
    @pytest.fixture
    def record(self, log: sentient.AuditLog) -> Path:
        for message in EXAMPLES:
            path = log.append(json.dumps(message))
        return path.with_suffix(".jsonl")

    def test_it_holds_what_was_received(self, log: sentient.AuditLog, record: Path) -> None:
        lines = record.read_text().splitlines()
        assert [json.loads(line)["received"] for line in lines] == [*map(json.dumps, EXAMPLES)]
        assert log.flaws(date(2026, 1, 27), head=log.head(DAY)) == []

    @pytest.mark.parametrize("line", [0, 1, 2])
    def test_a_changed_line_is_told(self, log: sentient.AuditLog, record: Path, line: int) -> None:
        head = log.head(DAY)
        lines = record.read_bytes().splitlines(keepends=True)
        lines[line] = lines[line].replace(b"agent", b"Agent")
        record.write_bytes(b"".join(lines))
        told = [str(flaw) for flaw in log.flaws(DAY, head=head)]
        if line < 2:
            assert f"line {line + 2}: it doesn't follow the line before" in told
        else:
            assert any("last line" in each for each in told)

    @pytest.mark.parametrize(("start", "stop"), [(0, 2), (1, 3), (0, 0)])
    def test_removed_lines_are_told(
        self, log: sentient.AuditLog, record: Path, start: int, stop: int
    ) -> None:
        head = log.head(DAY)
        lines = record.read_bytes().splitlines(keepends=True)
        record.write_bytes(b"".join(lines[start:stop]))
        assert log.flaws(DAY, head=head)

    def test_a_rewritten_record_is_told_by_the_digest_kept_elsewhere(
        self, log: sentient.AuditLog, record: Path
    ) -> None:
        head = log.head(DAY)
        record.unlink()
        record.with_suffix(".log").unlink()
        for message in EXAMPLES[:2]:
            log.append(message)
        assert log.flaws(DAY) == []
        assert [flaw.line for flaw in log.flaws(DAY, head=head)] == [None]

    def test_an_edited_log_is_told(self, log: sentient.AuditLog, record: Path) -> None:
        text = record.with_suffix(".log")
        text.write_text(text.read_text().replace("STATUS: failed", "STATUS: success"))
        (flaw,) = log.flaws(DAY)
        assert flaw.problem == "20260127.log differs from 20260127.jsonl"

    def test_a_writer_that_died_leaves_a_line_that_is_told(
        self, log: sentient.AuditLog, record: Path
    ) -> None:
        record.write_bytes(record.read_bytes()[:-100])
        entries = "".join(sentient.audit_entry(message) for message in EXAMPLES[:2])
        record.with_suffix(".log").write_text(entries)
        log.append(EXAMPLES[2])
        flaws = log.flaws(DAY, head=log.head(DAY))
        assert [(flaw.line, flaw.problem) for flaw in flaws] == [(3, "it is not an entry")]
        assert len(record.read_bytes().splitlines()) == 4

    @pytest.mark.parametrize(
        "line", [b"{}", b"[]", b"7", b'{"previous": 7, "received": "x"}', b"\xff",
                 b'{"previous": "x", "receivedBase64": "%"}', b"[" * 100_000]
    )  # fmt: skip
    def test_foreign_lines_are_told(
        self, log: sentient.AuditLog, record: Path, line: bytes
    ) -> None:
        with record.open("ab") as stream:
            stream.write(line + b"\n")
        assert 4 in {flaw.line for flaw in log.flaws(DAY)}

    def test_a_day_without_messages_has_no_flaws(self, log: sentient.AuditLog) -> None:
        assert log.flaws(DAY) == []
        assert log.flaws(DAY, head=log.head(DAY)) == []
        assert log.flaws(DAY, head="sha256:" + "a" * 64)

    def test_heads_of_long_lines(self, log: sentient.AuditLog, record: Path) -> None:
        """The last line is found from the end, however long it is."""
        for size in (65_536, 200_000):
            log.append(EXAMPLES[0] | {"padding": "x" * size})
            assert log.flaws(DAY, head=log.head(DAY)) == []


class TestDates:
    """A sender's date is believed near the clock only."""

    @pytest.fixture
    def log(self, tmp_path: Path) -> sentient.AuditLog:
        return sentient.AuditLog(tmp_path, clock=lambda: NOW)

    def dated(self, executed_at: str) -> dict[str, Any]:
        return {**EXAMPLES[0], "timestamp": {"executed_at": executed_at, "timezone": "UTC"}}

    @pytest.mark.parametrize(
        "executed_at",
        ["2026-01-27T14:30:52+08:00", "2027-05-25T00:00:00Z", "2026-05-22T00:00:00",
         "0001-01-01T00:00:00+08:00", "9999-12-31T23:59:59-08:00"],
    )  # fmt: skip
    def test_far_dates_go_under_the_clocks_day(
        self, log: sentient.AuditLog, executed_at: str
    ) -> None:
        path = log.append(self.dated(executed_at))
        assert path.name == "20260525.log"
        assert (
            "[COMPLIANCE NOTES]: (compliance violation: executed_at is too far from the clock of "
            "the log) " in path.read_text()
        )
        assert log.flaws(NOW.date(), head=log.head(NOW.date())) == []

    def test_a_sealed_day_stays_sealed(self, tmp_path: Path) -> None:
        early = datetime(2026, 1, 27, 12, tzinfo=UTC)
        log = sentient.AuditLog(tmp_path, clock=lambda: early)
        log.append(self.dated("2026-01-27T10:00:00Z"))
        head = log.head(DAY)
        sentient.AuditLog(tmp_path, clock=lambda: NOW).append(self.dated("2026-01-27T11:00:00Z"))
        assert log.flaws(DAY, head=head) == []

    def test_a_clock_without_a_zone_is_local(self, tmp_path: Path) -> None:
        now = datetime(2026, 5, 25, 12)  # noqa: DTZ001 - as datetime.now() gives it
        log = sentient.AuditLog(tmp_path, clock=lambda: now)
        assert log.append(self.dated("2026-05-25T12:00:00Z")).name == "20260525.log"
        assert log.append(self.dated("2026-01-27T12:00:00Z")).name == "20260525.log"

    def test_near_dates_are_believed(self, log: sentient.AuditLog) -> None:
        near = NOW - timedelta(hours=23)
        path = log.append(self.dated(near.isoformat()))
        assert path.name == f"{near:%Y%m%d}.log"
        assert "violation" not in path.read_text()
