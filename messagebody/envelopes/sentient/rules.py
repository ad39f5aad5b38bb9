"""What one message must keep to beyond its shape: time, error, audit."""

import re
from collections.abc import Container, Iterator
from typing import Any

from messagebody.envelopes.received import member, pointer, shown, text_of
from messagebody.envelopes.sentient.moments import moment, zone_problem
from messagebody.envelopes.sentient.shape import Problem

__all__ = ["iter_audit_problems", "iter_error_problems", "iter_time_problems"]

_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/~]")


def iter_time_problems(message: dict[str, Any]) -> Iterator[Problem]:
    """Yield times that are none, and time zones that don't go with them."""
    written, zone = (member(message, "timestamp", name) for name in ("executed_at", "timezone"))
    if not isinstance(written, str):
        return
    when = moment(written)
    if when is None:
        example = "a date and time such as 2026-01-27T14:30:52+08:00"
        yield "S005", "/timestamp/executed_at", f"{example} is expected, got {shown(written)}"
        return
    problem = zone_problem(when, zone) if isinstance(zone, str) else None
    if problem:
        yield "S006", "/timestamp/timezone", f"{shown(zone)}: {problem}"


def iter_error_problems(message: dict[str, Any]) -> Iterator[Problem]:
    """Yield an error and a status that contradict each other."""
    error, status = member(message, "error"), member(message, "status", "code")
    failed = member(error, "has_error")
    if not isinstance(error, dict) or not isinstance(failed, bool):
        return
    for name in ("error_code", "error_message"):
        if name in error and (error[name] is None) is failed:
            check = "E002" if failed else "E001"
            problem = f"has_error is {shown(failed)}, got {shown(error[name])}"
            yield check, pointer("error", name), problem
    if failed and status == "success":
        yield "E003", "/status/code", "has_error is true, got 'success'"
    if not failed and status == "failed":
        yield "E004", "/status/code", "has_error is false, got 'failed'"


def iter_audit_problems(
    message: dict[str, Any], known_files: Container[str] | None
) -> Iterator[Problem]:
    """Yield audit data that doesn't lead anybody to the rules applied."""
    files = member(message, "audit", "governance_files_consulted")
    for index, path in enumerate(files if isinstance(files, list) else ()):
        place = pointer("audit", "governance_files_consulted", index)
        if not isinstance(path, str):
            continue
        if not _is_from_root(path):
            problem = f"a path such as context/governance/audit.md is expected, got {shown(path)}"
            yield "A001", place, problem
        elif known_files is not None and path not in known_files:
            yield "A003", place, f"no known file has the path {shown(path)}"
    reasoning = member(message, "audit", "reasoning")
    if isinstance(reasoning, str) and not text_of(message, "audit", "reasoning").strip():
        yield "A002", "/audit/reasoning", "it is blank; it says which rules were applied and why"


def _is_from_root(path: str) -> bool:
    """Tell whether a path starts at the root: a bare name can't be told from a shortened one."""
    segments = path.split("/")
    return (
        len(segments) > 1
        and _ELSEWHERE.match(path) is None
        and "\\" not in path
        and all(segment.strip() not in {"", ".", ".."} for segment in segments)
    )
