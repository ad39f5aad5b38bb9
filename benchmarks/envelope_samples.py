"""Envelopes that the benchmarks take apart, sign and verify."""

from typing import Any


def envelope(items: int) -> dict[str, Any]:
    """Return a full envelope whose payload has `items` nested members more than a small one."""
    return {
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
            "payload": {
                "task": "Implement it",
                "steps": [{"number": n, "what": "Look, then leap"} for n in range(items)],
            },
        },
        "context_attachments": [{"type": "plan", "path": ".artifacts/plans/42.md"}],
    }


def step(content: Any, sources: int = 1) -> dict[str, Any]:
    """Return a full message of a chain: its output, and the sources it knows of."""
    return {
        "message_id": "msg-objective-001",
        "timestamp": {"executed_at": "2026-01-27T14:30:52+08:00", "timezone": "Asia/Singapore"},
        "agent": {"name": "objective_agent", "type": "governance"},
        "input": {"source": "user", "content": "Which birds are in this video?"},
        "output": {"content": content, "content_type": "objectives"},
        "next_agent": {"name": "goal_agent", "reason": "Objectives become goals"},
        "status": {"code": "success", "message": "2 objectives"},
        "error": {
            "has_error": False,
            "error_code": None,
            "error_message": None,
            "retry_count": 0,
            "recoverable": False,
        },
        "metadata": {
            "session_id": "session-1",
            "request_id": "request-1",
            "sequence_number": 1,
            "parent_message_id": None,
        },
        "resources": {
            "source_refs": [
                {
                    "ref_id": f"src_{number}",
                    "url": f"https://example.com/birds/{number}.mp4",
                    "platform": "web",
                    "media_type": "video",
                    "provided_by": "user",
                    "extracted_at_sequence": 1,
                }
                for number in range(1, sources + 1)
            ],
            "storage_refs": [],
            "derived_refs": [],
        },
        "audit": {
            "compliance_notes": "Within scope.",
            "governance_files_consulted": ["context/governance/audit.md"],
            "reasoning": "The request names one source and asks one question of it.",
        },
    }
