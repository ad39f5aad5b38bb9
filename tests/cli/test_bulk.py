"""Commands on the messages of many files: their results, exit codes, progress."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from messagebody import MessageBody, Part, Resolver, bulk, offload
from tests.bulk.helpers import SCHEMA, bodies, errors, results, tree, write_log
from tests.cli.test_processes import COMMAND, INTERRUPTIBLE, on_a_terminal
from tests.commands import Shell


@pytest.fixture
def shell(shell: Shell, tmp_path: Path) -> Shell:
    (tmp_path / "schema.json").write_text(SCHEMA.to_json())
    write_log(tmp_path / "logs/a.jsonl", bodies(20))
    return shell


ONE = ["--workers", "1"]


def test_validate(shell: Shell, tmp_path: Path) -> None:
    done = shell("bulk", "validate", "logs", "--schema", "schema.json", "--out", "out", *ONE)
    assert (done.code, done.err) == (1, "")
    assert "20 messages, " in done.out
    assert "3 invalid, 17 valid in 1 shard" in done.out
    assert "a.jsonl, line 10: required schema part 0 text/*: no part matches" in done.out
    assert len(results(tmp_path / "out")) == 3


@pytest.mark.dear
def test_a_shard_that_fails_is_a_failure(shell: Shell, tmp_path: Path) -> None:
    assert shell("bulk", "digest", "logs", "--out", "out", *ONE).code == 0
    [shard] = (tmp_path / "out/shards").iterdir()
    (tmp_path / "again/shards" / shard.name).mkdir(parents=True)
    done = shell("bulk", "digest", "logs", "--out", "again", *ONE)
    assert done.code == 4
    assert "1 shard failed" in done.out


def test_lines_of_json(shell: Shell) -> None:
    done = shell("bulk", "digest", "logs/*.jsonl", "--out", "out", "--json", *ONE)
    progress, report = map(json.loads, done.out.splitlines())
    assert progress["event"] == "progress"
    assert (progress["done"], progress["messages"]) == (1, 20)
    assert (report["event"], report["counts"]["messages"]) == ("report", 20)
    assert done.code == 0
    # Nothing is left to do, so there is no progress.
    again = shell("bulk", "digest", "logs/*.jsonl", "--out", "out", "--json", *ONE)
    assert list(map(json.loads, again.out.splitlines())) == [report]


@pytest.mark.slow
@pytest.mark.parametrize("job", ["infer", "stats", "table", "convert"])
def test_other_jobs(shell: Shell, tmp_path: Path, job: str) -> None:
    assert shell("bulk", job, "logs", "--out", "out", *ONE).code == 0
    assert json.loads((tmp_path / "out/report.json").read_text())["job"] == job


@pytest.mark.slow
def test_offload_verify_and_inline(shell: Shell, tmp_path: Path) -> None:
    offload = ["offload", "logs", "--to", "store", "--threshold", "300 B", "--out", "small"]
    assert shell("bulk", *offload, *ONE).code == 0
    allow = ["--allow", "store", *ONE]
    assert shell("bulk", "verify", "small/shards", "--out", "checked", *allow).code == 0
    assert shell("bulk", "inline", "small/shards", "--out", "whole", *allow).code == 0
    assert len(results(tmp_path / "whole")) == 20
    refused = shell("bulk", "inline", "small/shards", "--out", "refused", *ONE)
    assert refused.code == 1
    assert errors(tmp_path / "refused")


@pytest.mark.slow
def test_map(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_of_bulk.py").write_text("def parts(body):\n    return {'parts': len(body)}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    mapping = ["bulk", "map", "logs", "--call", "mine_of_bulk:parts", "--out", "out", *ONE]
    assert shell(*mapping).code == 0
    assert [row["parts"] for row in results(tmp_path / "out")] == [len(b) for b in bodies(20)]


def test_misuse(shell: Shell, tmp_path: Path) -> None:
    assert shell("bulk", "digest", "--out", "out").code == 2
    assert shell("bulk", "digest", "logs").code == 2
    assert "is not a URL" in shell("bulk", "digest", "logs", "--out", "s3:/x").err
    missing = shell("bulk", "digest", "nowhere/*.jsonl", "--out", "out")
    assert (missing.code, "no file of messages" in missing.err) == (4, True)
    assert "no function" in shell("bulk", "map", "logs", "--call", "no:pe", "--out", "o").err
    shell("bulk", "digest", "logs", "--out", "out", *ONE)
    other = shell("bulk", "stats", "logs", "--out", "out")
    assert (other.code, "results of another job" in other.err) == (2, True)


def test_a_bad_line_can_stop_it(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("[]\n{bad\n")
    done = shell("bulk", "digest", "bad.jsonl", "--out", "out", "--fail-fast", *ONE)
    assert done.code == 2
    assert "bad.jsonl, line 2: not JSON" in done.err


@pytest.mark.slow
def test_progress_on_a_terminal(shell: Shell) -> None:
    code, shown = on_a_terminal("bulk", "digest", "logs", "--out", "out", *ONE)
    assert code == 0
    assert "20 messages" in shown


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(shell: Shell, tmp_path: Path) -> None:
    body = MessageBody([Part(f"wait {tmp_path / 'begun'} {tmp_path / 'go-on'}")])
    write_log(tmp_path / "logs/a.jsonl", [body])
    write_log(tmp_path / "logs/b.jsonl", bodies(60))
    mapping = [
        "bulk",
        "map",
        "logs",
        "--call",
        "tests.bulk.functions:waiting",
        "--out",
        "out",
        *ONE,
    ]
    root = str(Path(__file__).parents[2])
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *mapping], stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    while not (tmp_path / "begun").exists():
        assert child.poll() is None
    os.killpg(child.pid, signal.SIGINT)
    (tmp_path / "go-on").touch()
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "the same command continues the job" in said
    assert not (tmp_path / "out/report.json").exists()
    subprocess.run([*COMMAND, *mapping], check=True, env={**os.environ, "PYTHONPATH": root})
    assert len(results(tmp_path / "out")) == 61
    assert "report.json" in tree(tmp_path / "out")


def test_converted_messages_hold_what_their_references_do(shell: Shell, tmp_path: Path) -> None:
    """In Python, a resolver among the options was an error about JSON."""
    body = MessageBody(["Look.", Part("a,b\n" * 200, name="/a.csv", content_type="text/csv")])
    small = offload(body, tmp_path / "store", threshold=100)
    (tmp_path / "small.jsonl").write_text(f"{small.to_json()}\n")
    call = ["bulk", "convert", "small.jsonl", "--to", "anthropic", "--workers", "0", "--out"]
    assert shell(*call, "text").code == 0
    assert shell(*call, "auto", "--urls", "auto", "--allow", "store").code == 0
    options = {"urls": "auto", "resolver": Resolver(allow=tmp_path / "store")}
    bulk.convert(
        "small.jsonl", out="python", target="anthropic", adapter_options=options, workers=0
    )
    held = [(tmp_path / out / "shards").iterdir() for out in ("text", "auto", "python")]
    texts = [next(each).read_text() for each in held]
    assert ["a,b\\na,b" in each for each in texts] == [False, True, True]
    for given, said in (
        (["--allow", "store"], "needs --urls auto, sign or inline with --to anthropic"),
        (["--to", "zip", "--urls", "auto"], "--urls cannot be used with --to zip"),
    ):
        done = shell(*call, "more", *given)
        assert (done.code, said in done.err) == (2, True)


def test_bad_lines_are_pointed_at(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "logs/a.jsonl").write_text("{broken\n")
    done = shell("bulk", "digest", "logs", "--out", "out", "--workers", "0")
    assert (done.code, "why lines are bad: errors.jsonl in " in done.out) == (1, True)
    assert errors(tmp_path / "out")
