"""Runs of jobs: the same bytes whatever runs them, the order and the kills; bad lines by place."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from messagebody import Limits, MessageBody, MessageBodySchema, Part, Resolver, bulk
from messagebody.bulk import Options, Progress
from messagebody.bulk import _jobs as jobs
from messagebody.bulk._work import Task as ShardTask
from messagebody.envelopes import agents_api
from messagebody.errors import (
    BadInput,
    InvalidArgument,
    MessageBodyError,
    ObjectNotFound,
    StoreError,
)
from messagebody.s3 import S3Store
from messagebody.storage import Bytes, open_store
from messagebody.storage._stores.directory import FileStore
from tests.bulk import functions
from tests.bulk.helpers import (
    SCHEMA,
    Running,
    bodies,
    cluster,
    errors,
    lines,
    pool,
    results,
    threads,
    tree,
    workers,
    write_log,
)
from tests.effort import one_in

SMALL = 8000
"""Bytes of a shard, so that there are several."""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    write_log(tmp_path / "logs/a.jsonl", bodies(120))
    write_log(tmp_path / "logs/b.jsonl", bodies(7))
    return tmp_path / "logs"


def job_on(name: str, log: Path, out: Path, **how: Any) -> bulk.Report:
    """Do one of the jobs; each has other arguments."""
    how = {"shard_bytes": SMALL, "workers": 0, "out": out, **how}
    match name:
        case "validate":
            return bulk.validate(log, SCHEMA, **how)
        case "offload":
            store = log.parent / "store"
            return bulk.offload(log, store, offload_options={"threshold": 300}, **how)
        case "map":
            return bulk.map(log, functions.first_part, **how)
        case "convert":
            return bulk.convert(log, target="openai-chat", **how)
        case _:
            return getattr(bulk, name)(log, **how)  # type: ignore[no-any-return]


JOBS = ["validate", "digest", "offload", "convert", "infer", "stats", "table", "map"]


@pytest.mark.parametrize("name", one_in(3, JOBS))
def test_shards_make_no_difference_to_what_is_found(name: str, log: Path, tmp_path: Path) -> None:
    whole = job_on(name, log, tmp_path / "whole", shard_bytes="64 MiB")
    cut = job_on(name, log, tmp_path / "cut")
    assert (whole.counts, whole.findings) == (cut.counts, cut.findings)
    assert whole.shards == 2
    assert cut.shards > 5
    assert results(tmp_path / "whole") == results(tmp_path / "cut")
    for path in ("errors.jsonl", "schema.json", "stats.json"):
        if (tmp_path / "whole" / path).exists():
            assert (tmp_path / "whole" / path).read_text() == (tmp_path / "cut" / path).read_text()


@pytest.mark.parametrize(
    "running",
    [workers(2), pytest.param(workers(1), marks=pytest.mark.slow),
     pytest.param(workers(4), marks=pytest.mark.slow), threads, pool,
     pytest.param(cluster, marks=pytest.mark.slow)],
)  # fmt: skip
@pytest.mark.parametrize("name", ["validate", pytest.param("table", marks=pytest.mark.slow)])
@pytest.mark.dear
def test_workers_and_executors_give_the_same_bytes(
    name: str, running: Running, log: Path, tmp_path: Path
) -> None:
    job_on(name, log, tmp_path / "serial")
    with running() as how:
        job_on(name, log, tmp_path / "other", **how)
    assert tree(tmp_path / "other") == tree(tmp_path / "serial")


class TestJobs:
    def test_validate(self, log: Path, tmp_path: Path) -> None:
        report = job_on("validate", log, tmp_path / "out")
        assert report.counts["bytes"] == sum(path.stat().st_size for path in log.iterdir())
        invalid = [n for n in range(120) if not SCHEMA.is_valid(bodies(120)[n])]
        assert report.counts["invalid"] == len(invalid) + 1  # number 0 is in the second file
        found = results(tmp_path / "out")
        assert [row["line"] for row in found] == [*(n + 1 for n in invalid), 1]
        url = (log / "a.jsonl").as_uri()
        ids = [f"m{n}" if n % 3 == 2 else f"{url}:{n + 1}" for n in invalid]
        assert [row["id"] for row in found[:-1]] == ids
        assert found[0]["violations"][0]["code"] == "required-part-missing"
        assert not report
        assert len(report.findings) == min(20, len(found))
        written = json.loads((tmp_path / "out/report.json").read_text())
        assert json.loads(json.dumps(report.to_dict())) == written

    @pytest.mark.dear
    def test_offload_verify_and_inline(self, log: Path, tmp_path: Path) -> None:
        report = job_on("offload", log, tmp_path / "small")
        assert report.counts["offloaded parts"] > 50
        small = tmp_path / "small/shards"
        resolver = Resolver(allow=tmp_path / "store")
        verified = bulk.verify(small, resolver=resolver, out=tmp_path / "checked", workers=0)
        assert verified
        assert verified.counts["references"] == report.counts["offloaded parts"]
        bulk.inline(small, resolver=resolver, out=tmp_path / "whole", workers=0)
        written = [json.loads(line) for line in [*lines(bodies(120)), *lines(bodies(7))]]
        assert results(tmp_path / "whole") == written
        shutil.rmtree(tmp_path / "store")
        lost = bulk.verify(small, resolver=resolver, out=tmp_path / "again", workers=0)
        assert not lost
        assert {row["error"] for row in results(tmp_path / "again")} == {"ObjectNotFound"}

    def test_verify_looks_again(self, log: Path, tmp_path: Path) -> None:
        """At all of it, but what a run that was stopped has done since."""
        job_on("offload", log, tmp_path / "small")
        done: list[int] = []

        def verified(stop_after: int = 99) -> bulk.Report:
            done.clear()

            def note(progress: Progress) -> None:
                done.append(progress.done)
                if len(done) == stop_after:
                    raise SystemExit

            return bulk.verify(
                tmp_path / "small/shards", resolver=Resolver(allow=tmp_path / "store"),
                out=tmp_path / "checked", workers=0, progress=note,
            )  # fmt: skip

        assert verified()
        for path in (tmp_path / "store").rglob("sha256/*"):
            path.unlink()
        with pytest.raises(SystemExit):
            verified(stop_after=1)
        left = verified()
        assert left.counts["invalid"] >= 1
        assert len(done) == left.shards - 1 > 1
        shutil.rmtree(tmp_path / "checked")
        assert verified() == left

    def test_inline_names_the_lines_that_lack_something(self, log: Path, tmp_path: Path) -> None:
        job_on("offload", log, tmp_path / "small")
        report = bulk.inline(
            tmp_path / "small/shards", resolver=Resolver(), out=tmp_path / "x", workers=0
        )
        assert report.counts["bad lines"] > 20
        found = errors(tmp_path / "x")
        assert {row["error"] for row in found} <= {"UnsafeReference", "PartsFailed"}
        # The text says how to go on.
        assert "Resolver(allow=" in found[0]["problem"]

    def test_members_of_an_envelope_stay_behind(self, tmp_path: Path) -> None:
        answer = agents_api.build_text("assistant", "4.", {"user_token": "s3cr3t"})
        (tmp_path / "a.jsonl").write_text(json.dumps(answer) + "\n", encoding="utf-8")
        how: Any = {"source": "agents-api", "workers": 0}
        for target in ("anthropic", "body"):
            out = tmp_path / target
            report = bulk.convert(tmp_path / "a.jsonl", target=target, out=out, **how)
            made = results(out)
            assert "4." in json.dumps(made)
            assert "s3cr3t" not in json.dumps(made)
            assert ["omitted metadata" in each["text"] for each in report.findings] == [True]
        assert results(tmp_path / "anthropic")[0]["role"] == "assistant"

    def test_convert_there_and_back(self, tmp_path: Path) -> None:
        found = [MessageBody([Part(f"Message {n}")]) for n in range(5)]
        write_log(tmp_path / "a.jsonl", found)
        out = tmp_path / "chat"
        assert bulk.convert(tmp_path / "a.jsonl", target="anthropic", out=out, workers=0)
        rows = results(out)
        assert rows[2]["id"] == "m2"
        assert {"role", "content"} <= rows[0].keys()
        back = tmp_path / "back"
        bulk.convert(out / "shards", source="anthropic", out=back, workers=0)
        assert MessageBody.from_dicts(results(back)[0]).read_text() == "Message 0"
        inside = tmp_path / "inside"
        bulk.convert(out / "shards", source="anthropic", member="body", out=inside, workers=0)
        assert MessageBody.from_dicts(results(inside)[0]["body"]).read_text() == "Message 2"

    def test_strict_conversions_refuse_losses(self, tmp_path: Path) -> None:
        write_log(tmp_path / "a.jsonl", [MessageBody([Part(b"\x00", name="/a.bin")])])
        how: dict[str, Any] = {"target": "openai-chat", "workers": 0}
        free = bulk.convert(tmp_path / "a.jsonl", out=tmp_path / "free", **how)
        assert (free.counts["messages with losses"], len(free.findings)) == (1, 1)
        bulk.convert(tmp_path / "a.jsonl", out=tmp_path / "strict", strict=True, **how)
        assert [row["error"] for row in errors(tmp_path / "strict")] == ["LossyConversion"]

    def test_infer(self, log: Path, tmp_path: Path) -> None:
        job_on("infer", log, tmp_path / "out")
        schema = MessageBodySchema.from_json((tmp_path / "out/schema.json").read_text())
        assert schema == MessageBodySchema.infer(*bodies(120), *bodies(7))

    def test_table(self, log: Path, tmp_path: Path) -> None:
        from pyarrow import parquet

        from messagebody.bulk.tables import from_table

        job_on("table", log, tmp_path / "out")
        files = sorted((tmp_path / "out/shards").glob("*.parquet"))
        read = [pair for path in files for pair in from_table(parquet.read_table(path))]
        assert [body for _, body in read] == [*bodies(120), *bodies(7)]
        assert [read[n][0] for n in (1, 2)] == [f"{(log / 'a.jsonl').as_uri()}:2", "m2"]
        # And a table is a source like any other.
        assert job_on("digest", tmp_path / "out/shards", tmp_path / "a")
        job_on("digest", log, tmp_path / "b")
        ours, theirs = results(tmp_path / "a"), results(tmp_path / "b")
        assert ours == theirs

    def test_map(self, log: Path, tmp_path: Path) -> None:
        assert job_on("map", log, tmp_path / "out")
        whole = [body for body in [*bodies(120), *bodies(7)] if body]
        assert len(results(tmp_path / "out")) == len(whole)
        report = bulk.map(log, functions.picky, out=tmp_path / "p", workers=0)
        assert report.counts["messages"] == 127
        found = errors(tmp_path / "p")
        assert {row["error"] for row in found} == {"ValueError", "InvalidArgument"}
        assert {row["problem"] for row in found if row["error"] == "ValueError"} == {"no ä"}

    def test_a_function_that_others_can_not_find_is_refused(
        self, log: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(InvalidArgument, match="a function of a module"):
            bulk.map(log, lambda body: None, out=tmp_path / "out")

    def test_another_member(self, tmp_path: Path) -> None:
        body = MessageBody([Part("Hello!")])
        line = {"id": 7, "body": "not this", "message": {"parts": body.to_dicts()}}
        (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n[]\n{}\n")
        report = bulk.digest(
            tmp_path / "a.jsonl", member="message", out=tmp_path / "out", workers=0
        )
        assert results(tmp_path / "out") == [{"id": "7", "digest": body.digest}]
        assert report.counts["bad lines"] == 2
        assert "member 'message'" in errors(tmp_path / "out")[1]["problem"]


BAD_LINES = {
    b"{bad": "not JSON",
    b"[{]": "not JSON",
    b'"text"': "array of parts",
    b"7": "array of parts",
    b'{"id":"x"}': "no member 'body'",
    b'{"body":7}': "array of parts",
    b'{"body":[],"body":[]}': "twice|repeated|more than once",
    b'{"body":{"parts":[]},"parts":[1]}': "'parts' and 'body': name the one",
    b'[{"content":1}]': "content",
    b'[{"contentUrl":"no url"}]': "URL",
    b'[{"name":"/a","content":""},{"name":"/a","content":""}]': "'/a'",
    b"\xff\xfe": "UTF-8",
    b'{"agent":"\xff","body":[]}': "UTF-8",
    b'{"id":"\xff","body":[]}': "UTF-8",
    b'{"body":[],"a":1,"b":2,"c":3,"a":4}': "repeated",
    b'[{"content":"\\ud800"}]': "surrogate",
    b"[" * 300: "deep|nest",
    b'[{"content":"' + b"x" * 3000 + b'"}]': "larger than the limit",
    b'[{"contentType":"image/png","contentEncoding":"base64","content":"%%%"}]': "base64",
}


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_every_bad_line_is_named(workers: int, tmp_path: Path) -> None:
    good = b'[{"content":"good"}]'
    data, wanted = b"", []
    for number, (line, problem) in enumerate(BAD_LINES.items()):
        data += good + b"\n\n"
        wanted.append((3 * number + 3, len(data), problem))
        data += line + b"\n"
    (tmp_path / "a.jsonl").write_bytes(data + good)
    report = bulk.digest(
        tmp_path / "a.jsonl", out=tmp_path / "out", workers=workers, shard_bytes=500,
        limits=Limits(json_bytes=2000),
    )  # fmt: skip
    found = errors(tmp_path / "out")
    assert [(row["line"], row["offset"]) for row in found] == [each[:2] for each in wanted]
    for row, (_, _, problem) in zip(found, wanted, strict=True):
        assert re.search(problem, row["problem"]), row
        assert row["file"] == (tmp_path / "a.jsonl").as_uri()
    assert report.counts["messages"] == 2 * len(BAD_LINES) + 1
    assert report.counts["bad lines"] == len(BAD_LINES)
    assert len(results(tmp_path / "out")) == len(BAD_LINES) + 1


@pytest.mark.parametrize(("spare", "bad"), [(0, 0), (-1, 1)])
def test_a_file_of_one_message_may_be_as_large_as_the_limit(
    spare: int, bad: int, tmp_path: Path
) -> None:
    message = MessageBody([Part("x" * 5000)]).to_json_bytes()
    (tmp_path / "a.json").write_bytes(message)
    report = bulk.digest(
        tmp_path / "a.json", out=tmp_path / "out", workers=0,
        limits=Limits(json_bytes=len(message) + spare),
    )  # fmt: skip
    assert report.counts.get("bad lines", 0) == bad
    assert len(results(tmp_path / "out")) == 1 - bad


@pytest.mark.parametrize(
    ("most", "problems"), [(2, []), (1, ["the message has more than 1 parts"])]
)
def test_messages_of_other_formats_have_the_same_limits(
    most: int, problems: list[str], tmp_path: Path
) -> None:
    texts = [{"type": "text", "text": text} for text in ("one", "two")]
    (tmp_path / "a.jsonl").write_text(json.dumps({"role": "user", "content": texts}))
    report = bulk.convert(
        tmp_path / "a.jsonl", source="openai-chat", out=tmp_path / "out", workers=0,
        limits=Limits(parts=most),
    )  # fmt: skip
    assert report.counts["bad lines"] == len(problems)
    assert [row["problem"] for row in errors(tmp_path / "out")] == problems


def test_no_secret_is_in_a_report(tmp_path: Path) -> None:
    url = "https://user:hunter2@example.com/a?X-Amz-Signature=hunter2"
    line = [{"contentUrl": url, "name": "/a", "digest": "sha256:" + "0" * 64, "size": 1}]
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n")
    resolver = Resolver(public_https=False)
    bulk.verify(tmp_path / "a.jsonl", resolver=resolver, out=tmp_path / "v", workers=0)
    bulk.inline(tmp_path / "a.jsonl", resolver=resolver, out=tmp_path / "i", workers=0)
    for out in ("v", "i"):
        assert "example.com" in str(tree(tmp_path / out))
        assert "hunter2" not in str(tree(tmp_path / out))


class TestOnce:
    def test_what_is_done_is_not_done_again(
        self, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = job_on("validate", log, tmp_path / "out")
        before = tree(tmp_path / "out")

        def fail(self: Any, write: Any) -> Any:
            raise AssertionError("a shard was done again")

        monkeypatch.setattr(jobs.Validate, "start", fail)
        seen: list[Progress] = []
        again = job_on("validate", log, tmp_path / "out", progress=seen.append)
        assert (again, seen) == (first, [])
        assert (first.kept, again.kept) == (0, first.shards)
        assert f"shards, {first.shards} of them kept from an earlier run" in str(again)
        assert again.to_dict() == first.to_dict()
        assert tree(tmp_path / "out") == before

    @pytest.mark.parametrize("file", ["records/a.jsonl.00001.json", "shards/a.jsonl.00001.jsonl",
                                      "report.json", "errors.jsonl"])  # fmt: skip
    @pytest.mark.parametrize("is_gone", [True, False])
    def test_what_is_lost_is_made_again(
        self, file: str, is_gone: bool, log: Path, tmp_path: Path
    ) -> None:
        job_on("validate", log, tmp_path / "out")
        before = tree(tmp_path / "out")
        (tmp_path / "out" / file).write_bytes(b"x" * len(before[file]))
        if is_gone:
            (tmp_path / "out" / file).unlink()
        job_on("validate", log, tmp_path / "out")
        assert tree(tmp_path / "out") == before

    def test_a_changed_file_is_done_again(self, log: Path, tmp_path: Path) -> None:
        job_on("validate", log, tmp_path / "out")
        text = (log / "a.jsonl").read_text("utf-8")
        (log / "a.jsonl").write_text("{bad\n" + text, "utf-8")
        again = job_on("validate", log, tmp_path / "out")
        assert again.counts["bad lines"] == 1
        (log / "a.jsonl").write_text(text[: len(text) // 2].rpartition("\n")[0] + "\n", "utf-8")
        (log / "b.jsonl").unlink()
        again = job_on("validate", log, tmp_path / "out", prune=True)
        assert again.deleted > 0
        job_on("validate", log, tmp_path / "anew")
        assert tree(tmp_path / "out") == tree(tmp_path / "anew")

    def test_a_file_with_its_old_size_and_time_is_done_again(
        self, log: Path, tmp_path: Path
    ) -> None:
        job_on("validate", log, tmp_path / "out")
        (log / "a.jsonl").rename(log / "kept")
        data, status = (log / "kept").read_bytes(), (log / "kept").stat()
        (log / "a.jsonl").write_bytes(b"{" * len(data))
        os.utime(log / "a.jsonl", ns=(status.st_atime_ns, status.st_mtime_ns))
        assert job_on("validate", log, tmp_path / "out").counts["bad lines"] > 0

    def test_shards_that_a_source_lost_are_deleted_and_counted(self, tmp_path: Path) -> None:
        log = write_log(tmp_path / "a.jsonl", bodies(100))
        first = bulk.digest(log, out=tmp_path / "out", workers=0, shard_bytes=10_000)
        write_log(log, bodies(10))
        again = bulk.digest(log, out=tmp_path / "out", workers=0, shard_bytes=10_000)
        assert first.shards > again.shards == 1
        assert again.deleted == 2 * (first.shards - 1)
        assert f"{again.deleted} files of earlier results deleted" in str(again)
        bulk.digest(log, out=tmp_path / "anew", workers=0, shard_bytes=10_000)
        assert tree(tmp_path / "out") == tree(tmp_path / "anew")

    def test_results_of_other_sources_stay(self, tmp_path: Path) -> None:
        november = write_log(tmp_path / "november.jsonl", bodies(20))
        december = write_log(tmp_path / "december.jsonl", bodies(30))
        out = tmp_path / "out"
        bulk.digest(november, out=out, workers=0)
        before = {name: data for name, data in tree(out).items() if "november" in name}
        report = bulk.digest(december, out=out, workers=0)
        assert (report.shards, report.others, report.deleted) == (1, 1, 0)
        assert "results of 1 shard of other sources stay" in str(report)
        assert {n: data for n, data in tree(out).items() if "november" in n} == before != {}
        pruned = bulk.digest(december, out=out, workers=0, prune=True)
        assert (pruned.others, pruned.deleted) == (0, 2)
        bulk.digest(december, out=tmp_path / "anew", workers=0)
        assert tree(out) == tree(tmp_path / "anew")

    @pytest.mark.parametrize(
        "damage", one_in(4, [b"", b"{", b"[]", b"{}", b"null", b"\xff", b"[" * 10**5])
    )
    @pytest.mark.parametrize("file", ["records/a.jsonl.00001.json", "job.json"])
    def test_damaged_records_are_made_again(
        self, file: str, damage: bytes, log: Path, tmp_path: Path
    ) -> None:
        first = job_on("validate", log, tmp_path / "out")
        before = tree(tmp_path / "out")
        is_cut = before[file].startswith(damage)
        (tmp_path / "out" / file).write_bytes(damage)
        if file == "job.json" and not is_cut:
            with pytest.raises(InvalidArgument, match="results of another job"):
                job_on("validate", log, tmp_path / "out")
            return
        assert job_on("validate", log, tmp_path / "out") == first
        assert tree(tmp_path / "out") == before

    @pytest.mark.parametrize(
        ("job", "member", "wrong"),
        one_in(4, [
            ("validate", "counts", {}), ("validate", "counts", {"messages": "many"}),
            ("validate", "result", []), ("validate", "result", [1]), ("validate", "result", "x"),
            ("validate", "findings", [5]), ("validate", "lines", None), ("validate", "input", 5),
            ("validate", "summary", {}), ("stats", "summary", None), ("stats", "summary", {}),
            ("stats", "summary", {"total": {}, "largest part": "x", "types": {}}),
            ("stats", "summary", {"total": {}, "largest part": 1, "types": {"a": []}}),
            ("infer", "summary", []), ("infer", "summary", {"bodies": 1, "groups": [[]]}),
            ("infer", "summary", {"bodies": 1, "groups": [["name", "/a", "/a", [], 1]]}),
            ("infer", "summary", {"bodies": 1, "groups": [["odd", "/a", "/a", ["a/b"], 1]]}),
        ]),
    )  # fmt: skip
    def test_records_of_a_wrong_shape_are_made_again(
        self, job: str, member: str, wrong: Any, log: Path, tmp_path: Path
    ) -> None:
        """Of another version, or written by somebody else into the bucket."""
        first = job_on(job, log, tmp_path / "out")
        before = tree(tmp_path / "out")
        path = tmp_path / "out/records/a.jsonl.00001.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), member: wrong}))
        assert job_on(job, log, tmp_path / "out") == first
        assert tree(tmp_path / "out") == before

    @pytest.mark.parametrize("narrow", ["d/m1.json", "d/m[1-4].json", "d/*1.json"])
    def test_some_files_do_not_replace_the_results_of_all(
        self, narrow: str, tmp_path: Path
    ) -> None:
        """A shard of many messages has one name, whatever messages are in it."""
        (tmp_path / "d").mkdir()
        for number in range(30):
            (tmp_path / f"d/m{number}.json").write_bytes(
                MessageBody([Part(str(number))]).to_json_bytes()
            )
        first = bulk.digest(tmp_path / "d", out=tmp_path / "out", workers=0)
        before = tree(tmp_path / "out")
        with pytest.raises(InvalidArgument, match=r"m0\.json and \d+ others have the same names"):
            bulk.digest(tmp_path / narrow, out=tmp_path / "out", workers=0)
        assert tree(tmp_path / "out") == before
        assert bulk.digest(tmp_path / "d", out=tmp_path / "out", workers=0) == first
        (tmp_path / "d/new.json").write_bytes(MessageBody([Part("new")]).to_json_bytes())
        more = bulk.digest(tmp_path / "d", out=tmp_path / "out", workers=0)
        assert more.counts["messages"] == 31
        less = bulk.digest(tmp_path / narrow, out=tmp_path / "out", workers=0, prune=True)
        assert less.counts["messages"] < 31

    def test_some_files_of_another_shard_do_not_replace_its_results(self, tmp_path: Path) -> None:
        """Shards of two messages each: the third one is done alone, and the fourth stays."""
        files = [tmp_path / f"d/m{number}.json" for number in range(1, 5)]
        for file in files:
            write_log(file, [MessageBody([Part("same length")])])
        out, size = tmp_path / "out", files[0].stat().st_size
        assert bulk.digest(files, out=out, workers=0, shard_bytes=2 * size).shards == 2
        before = tree(out)
        with pytest.raises(
            InvalidArgument, match=r"m4\.json are together with those of .*m3\.json"
        ):
            bulk.digest(files[:3], out=out, workers=0, shard_bytes=9 * size)
        assert tree(out) == before
        assert bulk.digest(files[:3], out=out, workers=0, shard_bytes=9 * size, prune=True)
        assert bulk.digest(files, out=out, workers=0, shard_bytes=9 * size).shards == 1

    def test_links_in_a_directory_are_left_out_and_named(self, tmp_path: Path) -> None:
        (tmp_path / "d").mkdir()
        for path, texts in (("d/a.jsonl", ["1"]), ("x.jsonl", ["2", "3"])):
            lines = [MessageBody([Part(text)]).to_json() for text in texts]
            (tmp_path / path).write_text("".join(f"{line}\n" for line in lines))
        (tmp_path / "d/b.jsonl").symlink_to("../x.jsonl")
        for number, source in enumerate(["d", "d/*.jsonl", "d/b.jsonl"]):
            report = bulk.digest(tmp_path / source, out=tmp_path / f"out{number}", workers=0)
            left_out = [] if number == 2 else [(tmp_path / "d/b.jsonl").as_uri()]
            assert [*report.links] == left_out
            assert report.counts["messages"] == (2 if number == 2 else 1)
            assert (
                "left out 1 link, which is read if it is a source: file:" in str(report)
            ) is bool(left_out)

    @pytest.mark.parametrize("url", ["{}", "file://{}"])
    def test_a_link_that_is_named_is_read(self, url: str, tmp_path: Path) -> None:
        write_log(tmp_path / "elsewhere/a b.jsonl", bodies(3))
        (tmp_path / "link.jsonl").symlink_to("elsewhere/a b.jsonl")
        (tmp_path / "all").symlink_to("elsewhere")
        (tmp_path / "elsewhere/loop").symlink_to("..")
        for number, name in enumerate(("link.jsonl", "all", "elsewhere/loop/link.jsonl")):
            source = url.format(tmp_path / name)
            report = bulk.digest(source, out=tmp_path / f"out{number}", workers=0)
            assert report.counts["messages"] == 3

    def test_a_file_that_is_named_like_a_pattern(self, tmp_path: Path) -> None:
        for name in ("a[1].jsonl", "a1.jsonl"):
            write_log(tmp_path / name, [MessageBody([Part(name)])])
        bulk.convert(tmp_path / "a[1].jsonl", out=tmp_path / "out", workers=0)
        assert [row[0]["content"] for row in results(tmp_path / "out")] == ["a[1].jsonl"]

    def test_a_name_that_is_not_unicode_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "d").mkdir()
        with open(os.fsencode(tmp_path / "d") + b"/\xff.jsonl", "wb") as file:  # noqa: PTH123
            file.write(b"[]")
        with pytest.raises(InvalidArgument, match=r"a file whose name is UTF-8, got .*udcff"):
            bulk.digest(tmp_path / "d", out=tmp_path / "out", workers=0)
        assert not (tmp_path / "out").exists()

    def test_results_of_another_job_are_left_alone(self, log: Path, tmp_path: Path) -> None:
        job_on("validate", log, tmp_path / "out")
        before = tree(tmp_path / "out")
        with pytest.raises(InvalidArgument, match="results of another job"):
            job_on("digest", log, tmp_path / "out")
        with pytest.raises(InvalidArgument, match="results of another job"):
            job_on("validate", log, tmp_path / "out", member="message")
        assert tree(tmp_path / "out") == before

    def test_a_file_that_changes_while_it_is_read_is_no_result(
        self, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = FileStore.read_range

        def read_range(self: FileStore, key: str, start: int, end: int) -> bytes:
            data = real(self, key, start, end)
            if key == "b.jsonl":
                os.utime(log / key, (time.time() + 9, time.time() + 9))
            return data

        monkeypatch.setattr(FileStore, "read_range", read_range)
        report = job_on("validate", log, tmp_path / "out")
        [failure] = report.failed
        assert failure.shard == "b.jsonl.00000"
        assert "changed while it was read" in failure.problem


class TestFailures:
    def test_a_store_that_fails_now_and_then(
        self, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nothing is lost and nothing is doubled."""
        job_on("table", log, tmp_path / "calm")
        real, calls = FileStore.put, [0]

        def put(self: FileStore, *args: Any, **kwargs: Any) -> bool:
            calls[0] += 1
            written = real(self, *args, **kwargs)
            if calls[0] % 4 == 2:
                raise StoreError("spoilt on purpose", self.url)
            return written

        monkeypatch.setattr(FileStore, "put", put)
        # The shards are tried three times; the report, which is written once, ends a run.
        outcomes: list[bool] = []
        for _ in range(9):
            calls[0] = len(outcomes)
            try:
                outcomes.append(bool(job_on("table", log, tmp_path / "storm").failed))
            except StoreError:
                outcomes.append(True)
        assert True in outcomes
        monkeypatch.undo()
        assert job_on("table", log, tmp_path / "storm")
        assert tree(tmp_path / "storm") == tree(tmp_path / "calm")

    def test_a_store_that_always_fails(
        self, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = FileStore.put

        def put(self: FileStore, key: str, *args: Any, **kwargs: Any) -> bool:
            if key == "shards/a.jsonl.00001.jsonl":
                raise StoreError("No space left on device", self.url, key)
            return real(self, key, *args, **kwargs)

        monkeypatch.setattr(FileStore, "put", put)
        report = job_on("digest", log, tmp_path / "out")
        [failure] = report.failed
        assert not report
        assert failure.shard == "a.jsonl.00001"
        assert failure.problem.startswith("failed 3 times, the last time: file:")
        assert "No space left" in failure.problem
        monkeypatch.undo()
        assert job_on("digest", log, tmp_path / "out")
        job_on("digest", log, tmp_path / "anew")
        assert tree(tmp_path / "out") == tree(tmp_path / "anew")

    @pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
    def test_the_first_bad_line_can_end_it(self, workers: int, log: Path, tmp_path: Path) -> None:
        text = (log / "a.jsonl").read_text("utf-8")
        (log / "a.jsonl").write_text(text + "{bad\n", "utf-8")
        out = tmp_path / "out"
        with pytest.raises(BadInput, match=r"a\.jsonl, line 121: not JSON") as caught:
            job_on("digest", log, out, fail_fast=True, workers=workers)
        assert caught.value.line == 121
        assert not (out / "report.json").exists()
        assert job_on("digest", log, out).counts["bad lines"] == 1

    @pytest.mark.parametrize(
        ("how", "problem"),
        [({"workers": -1}, "a number of workers, or None, got -1"),
         ({"workers": 2.5}, "a number of workers"), ({"workers": True}, "a number of workers"),
         ({"executor": map}, r"concurrent\.futures\.Executor, got .*get_executor\(\)")],
    )  # fmt: skip
    def test_no_workers_and_no_executor(
        self, how: dict[str, Any], problem: str, log: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(InvalidArgument, match=problem):
            job_on("digest", log, tmp_path / "out", **how)


class Unlucky(ThreadPoolExecutor):
    """Threads whose calls may fail without being made, as if a worker was lost.

    Arguments:
        fails: whether a call fails, given the task and how often it was submitted.
    """

    def __init__(self, fails: Callable[[Any, int], bool]) -> None:
        super().__init__(3)
        self.fails = fails
        self.calls: Counter[int] = Counter()
        self.running: list[Future[Any]] = []
        self.neighbours: list[int] = []
        self.neighbours_again: list[int] = []

    def submit(self, function: Any, /, *args: Any, **options: Any) -> Future[Any]:
        self.running = [each for each in self.running if not each.done()]
        task = args[0]
        self.calls[id(task)] += 1
        again = self.calls[id(task)] > 1
        (self.neighbours_again if again else self.neighbours).append(len(self.running))
        lost = self.fails(task, self.calls[id(task)])
        future = super().submit(_lost if lost else function, *args, **options)
        self.running.append(future)
        return future


def _lost(*_: Any) -> None:
    time.sleep(0.02)  # so that it has neighbours
    raise OSError("the worker at https://host/?X-Amz-Signature=secret is lost")


@pytest.mark.parametrize("job", [bulk.verify, bulk.inline])
def test_another_resolver_is_another_job(job: Any, log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    job(log, resolver=Resolver(), out=out, workers=0)
    with pytest.raises(InvalidArgument, match="of another job"):
        job(log, resolver=Resolver(public_https=True), out=out, workers=0)


class TestWorkers:
    @pytest.mark.dear
    def test_there_are_as_many_as_asked(self, log: Path, tmp_path: Path) -> None:
        bulk.map(log, functions.process, out=tmp_path / "out", workers=1, shard_bytes=SMALL)
        [process] = {row["process"] for row in results(tmp_path / "out")}
        assert process != os.getpid()

    @pytest.mark.slow
    def test_a_worker_that_dies_is_replaced(self, tmp_path: Path) -> None:
        found = bodies(60)
        found[30] = MessageBody([Part(f"{functions.MARK} {tmp_path / 'once'}")])
        write_log(tmp_path / "a.jsonl", found)
        calm = bulk.map(tmp_path / "a.jsonl", functions.deadly_once, out=tmp_path / "out",
                        workers=2, shard_bytes=SMALL)  # fmt: skip
        assert (tmp_path / "once").exists()
        assert calm
        assert len(results(tmp_path / "out")) == 60

    @pytest.mark.dear
    def test_a_shard_that_kills_three_workers_is_left_out(self, tmp_path: Path) -> None:
        found = bodies(60)
        found[30] = MessageBody([Part(functions.MARK)])
        write_log(tmp_path / "a.jsonl", found)
        report = bulk.map(tmp_path / "a.jsonl", functions.deadly, out=tmp_path / "out",
                          workers=2, shard_bytes=SMALL)  # fmt: skip
        [failure] = report.failed
        assert "failed 3 times" in failure.problem
        assert "BrokenProcessPool" in failure.problem
        assert not report
        shards = len(list((tmp_path / "out/records").iterdir()))
        assert report.shards == shards > 1
        kept = json.loads((tmp_path / "out/report.json").read_text())
        assert kept["failed"][0]["shard"] == failure.shard

    def test_an_executor_that_breaks_ends_the_job(self, log: Path, tmp_path: Path) -> None:
        """What is done stays done, and the next run goes on."""
        # With one worker: Python's pool hangs if a worker dies while another one starts.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
            victim = executor.submit(os.getpid).result()

            def kill(progress: Progress) -> None:
                if progress.done == 2:
                    os.kill(victim, signal.SIGKILL)

            how: dict[str, Any] = {"executor": executor, "workers": 1}
            with pytest.raises(
                MessageBodyError, match=r"the executor failed: \w+; run the job again"
            ):
                job_on("digest", log, tmp_path / "out", progress=kill, **how)
        with pytest.raises(MessageBodyError, match="the executor failed: BrokenProcessPool"):
            job_on("digest", log, tmp_path / "out", **how)
        kept = len([*(tmp_path / "out/records").rglob("*.json")])
        seen: list[Progress] = []
        assert job_on("digest", log, tmp_path / "out", progress=seen.append)
        assert len(seen) == seen[-1].shards - kept
        assert kept >= 2
        job_on("digest", log, tmp_path / "calm")
        assert tree(tmp_path / "out") == tree(tmp_path / "calm")

    def test_a_call_that_fails_is_made_again_alone(self, log: Path, tmp_path: Path) -> None:
        """A cluster blames the neighbours, too."""
        with Unlucky(fails=lambda _, calls: calls == 1) as executor:
            report = job_on("digest", log, tmp_path / "out", executor=executor, workers=3)
        assert report
        assert max(executor.neighbours) == 2
        assert set(executor.neighbours_again) == {0}
        # The lines of shards are counted by calls, too.
        assert len(executor.neighbours_again) == len(executor.neighbours) > report.shards
        job_on("digest", log, tmp_path / "calm")
        assert tree(tmp_path / "out") == tree(tmp_path / "calm")

    def test_a_call_that_fails_alone_is_left_out(self, log: Path, tmp_path: Path) -> None:
        with Unlucky(fails=lambda task, _: isinstance(task, ShardTask)) as executor:
            report = job_on("digest", log, tmp_path / "out", executor=executor, workers=3)
        assert (report.shards, len(report.failed) > 3) == (0, True)
        problems = {failure.problem for failure in report.failed}
        lost = "OSError: the worker at https://host/?… is lost"
        assert problems == {f"failed 3 times, the last time: {lost}"}

    @pytest.mark.slow
    def test_progress(self, log: Path, tmp_path: Path) -> None:
        seen: list[Progress] = []
        job_on("digest", log, tmp_path / "out", workers=2, progress=seen.append)
        last = seen[-1]
        assert [each.done for each in seen] == list(range(1, last.shards + 1))
        assert (last.read, last.messages, last.bad) == (last.bytes, 127, 0)
        assert last.bytes == sum(path.stat().st_size for path in log.iterdir())

    @pytest.mark.slow
    def test_a_script_without_its_guard_is_told(self, log: Path, tmp_path: Path) -> None:
        script = tmp_path / "script.py"
        script.write_text(
            "from messagebody import bulk\n"
            f"bulk.digest({str(log)!r}, out={str(tmp_path / 'out')!r}, workers=1)\n"
        )
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "below `if __name__ ==" in done.stderr


@pytest.mark.parametrize("server", ["moto", pytest.param("rclone", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "running", [workers(0), *(pytest.param(each, marks=pytest.mark.slow) for each in
                              (workers(2), cluster))]
)  # fmt: skip
@pytest.mark.dear
def test_on_s3(
    server: str, running: Running, log: Path, tmp_path: Path, request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Sources and results on S3 give what those on disk give."""
    store: S3Store = request.getfixturevalue(f"{server}_store")
    found = request.getfixturevalue(f"{server}_server")
    for name, value in found.environment().items():
        monkeypatch.setenv(name, value)
    settings = store.clients.settings
    options = {
        "endpoint_url": settings.endpoint_url,
        "addressing_style": settings.addressing_style,
        "response_checksum_validation": settings.response_checksum_validation,
    }
    for path in log.iterdir():
        key = f"logs/{path.name}"
        store.put(key, Bytes(path.read_bytes()), content_type="application/jsonl")
    how: dict[str, Any] = {"shard_bytes": 40_000, "storage_options": options}
    source, out = f"{store.url}/logs/*.jsonl", f"{store.url}/out"
    with running() as where:
        assert bulk.digest(source, out=out, **where, **how)
    bulk.digest(log, out=tmp_path / "here", workers=0, shard_bytes=40_000)
    there = {each.key for each in store.iter_objects()}
    for key, data in tree(tmp_path / "here").items():
        assert f"out/{key}" in there
        if key.startswith("shards/"):
            written = b"".join(store.stream(f"out/{key}"))
            assert written.replace(f"{store.url}/logs".encode(), log.as_uri().encode()) == data


@pytest.mark.parametrize("place", ["directory", "s3"])
@pytest.mark.parametrize("foreign", ["records/2024.csv", "shards/family.jpg", "report.json"])
@pytest.mark.dear
def test_a_place_with_files_of_somebody_else_is_refused(
    foreign: str, place: str, log: Path, tmp_path: Path, request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    store: Any = FileStore(tmp_path / "out")
    options = {}
    if place == "s3":
        shared: S3Store = request.getfixturevalue("moto_store")
        for name, value in request.getfixturevalue("moto_server").environment().items():
            monkeypatch.setenv(name, value)
        options = {"endpoint_url": shared.clients.settings.endpoint_url}
        store = open_store(f"{shared.url}/place-{len(foreign)}", **options)
    store.put(foreign, Bytes(b"precious"), content_type="text/plain")
    with pytest.raises(InvalidArgument, match=f"no results of this package, but '{foreign}'"):
        bulk.stats(log, out=store.url, workers=0, storage_options=options)
    assert [each.key for each in store.iter_objects()] == [foreign]
    assert b"".join(store.stream(foreign)) == b"precious"


def test_an_empty_job_of_somebody_else_is_no_claim(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in ("job.json", "report.json"):
        (out / name).write_bytes(b"")
    with pytest.raises(InvalidArgument, match=r"but 'report\.json'"):
        job_on("validate", log, out)
    assert tree(out) == {"job.json": b"", "report.json": b""}
    (out / "report.json").unlink()
    assert job_on("validate", log, out).counts["messages"]


@pytest.mark.parametrize("end", ["log.jsonl", "m.json", ""])
def test_results_of_another_source_with_the_same_name_stay(end: str, tmp_path: Path) -> None:
    for day in ("monday", "tuesday"):
        for name in ("log.jsonl", "m.json"):
            write_log(tmp_path / day / name, [MessageBody([Part(day)])])
    out = tmp_path / "out"
    bulk.digest(tmp_path / "monday" / end, out=out, workers=0)
    before = tree(out)
    with pytest.raises(InvalidArgument, match=r"monday.*have the same names as.*tuesday"):
        bulk.digest(tmp_path / "tuesday" / end, out=out, workers=0)
    assert tree(out) == before
    bulk.digest(tmp_path / "monday" / end, out=out, workers=0)
    report = bulk.digest(tmp_path / "tuesday" / end, out=out, workers=0, prune=True)
    assert report.counts["messages"] == (1 if end else 2)
    both = bulk.digest([tmp_path / "monday", tmp_path / "tuesday"], out=tmp_path / "both",
                       workers=0)  # fmt: skip
    assert both.counts["messages"] == 4


def test_messages_that_are_given_by_name(tmp_path: Path) -> None:
    for number in range(5):
        write_log(tmp_path / f"logs/{number}.json", [MessageBody([Part(str(number))])])
    write_log(tmp_path / "logs/deep/5.json", [MessageBody([Part("5")])])
    given = [*sorted((tmp_path / "logs").glob("*.json")), tmp_path / "logs/deep"]
    report = bulk.convert(given, target="openai-chat", out=tmp_path / "out", workers=0)
    found = {row["content"] for row in results(tmp_path / "out")}
    assert (report.counts["messages"], found) == (6, {*"012345"})
    again = bulk.convert(given[::-1], target="openai-chat", out=tmp_path / "out", workers=0)
    assert (again.counts, again.deleted) == (report.counts, 0)


def test_results_of_other_jobs_are_no_sources(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    write_log(logs / "a.jsonl", [MessageBody([Part("x" * 999)])])
    for name in ("small", "deep/records/old"):
        bulk.offload(logs, tmp_path / "store", out=logs / name, workers=0)
    for source in (logs, f"{logs}/**/*.json*"):
        for _ in range(2):  # its own results are none either
            report = bulk.stats(source, out=logs / "stats", workers=0, prune=True)
            assert (report.counts["messages"], report.counts["bad lines"]) == (1, 0)
    with pytest.raises(ObjectNotFound, match="no file of messages"):
        bulk.stats(logs / "stats", out=logs / "stats", workers=0)
    # What is given by name is read, and a file of the user with such a name, too.
    given = bulk.stats(logs / "small/shards", out=tmp_path / "given", workers=0)
    assert given.counts["messages"] == 1
    (tmp_path / "own/records").mkdir(parents=True)
    write_log(tmp_path / "own/job.json", [MessageBody([Part("x")])])
    write_log(tmp_path / "own/records/a.json", [MessageBody([Part("x")])])
    own = bulk.stats(tmp_path / "own", out=tmp_path / "of-own", workers=0)
    assert own.counts["messages"] == 2


def test_files_that_came_into_the_place_later_stay(log: Path, tmp_path: Path) -> None:
    job_on("validate", log, tmp_path / "out")
    foreign = {"records/2024.csv": b"1", "records/x.json": b"{}", "shards/family.jpg": b"2"}
    for name, data in foreign.items():
        (tmp_path / "out" / name).write_bytes(data)
    (log / "b.jsonl").unlink()
    assert job_on("validate", log, tmp_path / "out", prune=True).deleted > 0
    there = tree(tmp_path / "out")
    assert {name: there[name] for name in foreign} == foreign


def test_a_store_that_others_can_not_open_is_refused(log: Path, moto_store: S3Store) -> None:
    with pytest.raises(InvalidArgument, match="other processes can open"):
        bulk.digest(log, out=moto_store)


def test_options_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="Limits"):
        Options(limits=7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="256 KiB"):
        Options(shard_bytes="much")


@pytest.fixture
def waiting(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator["subprocess.Popen[str]"]:
    """A job in a process group of its own, whose first shard waits until a file is there."""
    begun, go_on = tmp_path / "begun", tmp_path / "go-on"
    found = [MessageBody([Part(f"wait {begun} {go_on}")]), *bodies(60)]
    write_log(tmp_path / "a.jsonl", found)
    program = (
        "import signal\n"
        "from messagebody import bulk\n"
        "from tests.bulk import functions\n"
        "if __name__ == '__main__':\n"
        "    # Jobs that a shell runs in the background ignore it.\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"    bulk.map({str(tmp_path / 'a.jsonl')!r}, functions.waiting,\n"
        f"             workers={getattr(request, 'param', 1)},\n"
        f"             out={str(tmp_path / 'out')!r}, shard_bytes={SMALL})\n"
    )
    (tmp_path / "program.py").write_text(program)
    job = subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py")], stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, start_new_session=True,
    )  # fmt: skip
    while not begun.exists():
        assert job.poll() is None
        time.sleep(0.01)
    with job:
        yield job


def wait_for_the_end_of_the_group(job: "subprocess.Popen[str]") -> None:
    """Wait until no process of a job is left, for as long as a test may take."""
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.killpg(job.pid, 0)
            time.sleep(0.01)


@pytest.mark.dear
@pytest.mark.parametrize("waiting", [0, 1], indirect=True)
def test_ctrl_c_finishes_what_is_in_work(waiting: "subprocess.Popen[str]", tmp_path: Path) -> None:
    os.killpg(waiting.pid, signal.SIGINT)
    time.sleep(0.1)
    (tmp_path / "go-on").touch()
    _, said = waiting.communicate(timeout=60)
    assert said.endswith("KeyboardInterrupt\n")
    assert sorted(path.name for path in (tmp_path / "out/records").iterdir()) == [
        "a.jsonl.00000.json"
    ]
    report = bulk.map(tmp_path / "a.jsonl", functions.waiting, out=tmp_path / "out",
                      workers=0, shard_bytes=SMALL)  # fmt: skip
    assert report.counts["messages"] == 61


@pytest.mark.dear
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_a_job_that_is_stopped_at_once(
    number: signal.Signals, waiting: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    while waiting.poll() is None:  # the second Ctrl-C stops it
        waiting.send_signal(number)
        time.sleep(0.1)
    wait_for_the_end_of_the_group(waiting)
    assert [*(tmp_path / "out").glob("records/*.json")] == []
