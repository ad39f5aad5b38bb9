"""Commands that move content, against a directory and an S3 server."""

import contextlib
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from messagebody import MessageBody, Part, payloads, sweep
from messagebody.s3 import S3Store
from messagebody.storage import Bodies
from tests import servers
from tests.cli.test_processes import on_a_terminal
from tests.commands import Shell
from tests.effort import one_in
from tests.serving.servers import running

OLD = (1000, 1000)


@pytest.fixture
def s3(
    moto_server: servers.Server, moto_store: S3Store, monkeypatch: pytest.MonkeyPatch,
    as_client: Callable[[servers.Server], None],
) -> str:  # fmt: skip
    """A store on a server, which the command line finds as users have it: by the environment."""
    as_client(moto_server)
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto_server.endpoint)
    return moto_store.url


@pytest.fixture(params=one_in(2, ["directory", "s3"]))
def store(request: pytest.FixtureRequest) -> str:
    return "./store" if request.param == "directory" else str(request.getfixturevalue("s3"))


@pytest.fixture
def body(tmp_path: Path) -> MessageBody:
    body = MessageBody()
    body.add("Cats are cute.", content_type="text/markdown")
    body.add(b"\x89PNG\r\n\x1a\n" + bytes(3000), name="/charts/a.png")
    body.add("x" * 5000, content_type="text/plain")
    (tmp_path / "message.json").write_bytes(body.to_json_bytes())
    return body


@pytest.fixture
def small(shell: Shell, body: MessageBody, store: str) -> str:
    done = shell("offload", "message.json", "--to", store, "--threshold", "1 KiB", "-o", "small")
    assert (done.code, done.err) == (0, "")
    return "small"


def read(path: str | Path) -> MessageBody:
    return MessageBody.from_json(Path(path).read_bytes())


class TestOffload:
    @pytest.mark.parametrize("option", ["--threshold", "--fit"])
    def test_a_size_that_is_none_is_wrong_usage(
        self, shell: Shell, body: MessageBody, option: str
    ) -> None:
        done = shell("offload", "message.json", "--to", "store", option, "much")
        assert done.code == 2
        assert "'256 KiB', got 'much'" in done.err

    def test_names_leave_out_what_has_none(self, shell: Shell, body: MessageBody) -> None:
        options = ["--to", "store", "--threshold", "0", "--names", "charts/*"]
        done = shell("offload", "message.json", *options)
        assert [part.is_reference for part in MessageBody.from_json(done.out)] == [
            False, True, False]  # fmt: skip

    def test_fit(self, shell: Shell, body: MessageBody) -> None:
        done = shell("offload", "message.json", "--to", "store", "--fit", "2000")
        assert [part.is_reference for part in MessageBody.from_json(done.out)] == [
            False, True, True]  # fmt: skip
        assert shell("offload", "message.json", "--to", "store", "--fit", "10 B").code == 4

    def test_no_such_bucket(self, shell: Shell, body: MessageBody, s3: str, tmp_path: Path) -> None:
        options = ["--to", "s3://no-such-bucket/x", "--threshold", "1 KiB", "-o", "small.json"]
        done = shell("offload", "message.json", *options)
        assert done.code == 4
        assert "there is no such bucket" in done.err
        assert not (tmp_path / "small.json").exists()

    def test_a_secret_in_a_store_is_not_shown(self, shell: Shell, body: MessageBody) -> None:
        done = shell("offload", "message.json", "--to", "s3://key:s3cr3t@bucket/x")
        assert done.code == 4
        assert "s3cr3t" not in done.err

    @pytest.mark.dear
    def test_progress_is_for_people(self, body: MessageBody, tmp_path: Path) -> None:
        message, small = str(tmp_path / "message.json"), str(tmp_path / "small.json")
        place = str(tmp_path / "store")
        options = [message, "--to", place, "--threshold", "1 KiB", "-o", small]
        code, shown = on_a_terminal("offload", *options)
        assert (code, "100%" in shown, "2 parts moved" in shown) == (0, True, True)
        code, shown = on_a_terminal("inline", small, "--allow", place, "-o", message)
        assert (code, "reading" in shown, "100%" in shown) == (0, True, True)
        other = str(tmp_path / "other")
        code, shown = on_a_terminal("migrate", small, "--from", place, "--to", other, "-o", message)
        assert (code, "100%" in shown, "2 parts copied" in shown) == (0, True, True)
        assert on_a_terminal("-q", "offload", *options)[1] == ""


class TestCatToAFile:
    def test_a_part_of_any_kind(self, shell: Shell, small: str, store: str, tmp_path: Path) -> None:
        for chosen, content in (
            (["charts/a.png"], b"\x89PNG\r\n\x1a\n" + bytes(3000)),
            (["--index", "-1"], b"x" * 5000),
        ):
            done = shell("cat", small, *chosen, "--allow", store, "-o", "x")
            assert (done.code, done.out) == (0, "")
            assert (tmp_path / "x").read_bytes() == content

    def test_it_writes_one(self, shell: Shell, body: MessageBody) -> None:
        for chosen in ([], ["charts/a.png", "--index", "0"]):
            done = shell("cat", "message.json", *chosen, "-o", "x")
            assert (done.code, "-o writes one part" in done.err) == (2, True)

    def test_what_is_refused_or_wrong_leaves_the_file(
        self, shell: Shell, body: MessageBody, tmp_path: Path
    ) -> None:
        shell("offload", "message.json", "--to", "store", "--threshold", "1 KiB", "-o", "small")
        (tmp_path / "x").write_text("mine")
        get = ["cat", "small", "charts/a.png", "-o", "x"]
        refused = shell(*get)
        assert (refused.code, "--allow file://" in refused.err) == (4, True)
        for path in (tmp_path / "store" / "sha256").iterdir():
            path.write_bytes(bytes(path.stat().st_size))
        wrong = shell(*get, "--allow", "store")
        assert (wrong.code, "expected sha256:" in wrong.err) == (4, True)
        assert (tmp_path / "x").read_text() == "mine"


class TestVerify:
    def test_json(self, shell: Shell, small: str, store: str) -> None:
        done = shell("verify", small, "--allow", store, "--json")
        assert (done.code, json.loads(done.out)) == (0, {"checked": 2, "findings": []})
        refused = shell("verify", small, "--json")
        assert refused.code == 1
        findings = json.loads(refused.out)["findings"]
        assert [(each["index"], each["name"], each["error"]) for each in findings] == [
            (1, "/charts/a.png", "UnsafeReference"), (2, None, "UnsafeReference")]  # fmt: skip

    def test_a_deleted_object(self, shell: Shell, small: str, s3: str, moto_store: S3Store) -> None:
        if not read(small)[1].url.startswith("s3:"):  # type: ignore[union-attr]
            return
        moto_store.delete((read(small)[1].url or "").removeprefix(f"{s3}/"))
        for options in ([], ["--size-only"]):
            done = shell("verify", small, "--allow", s3, *options)
            assert done.code == 1
            assert "no such object, asked for part '/charts/a.png'" in done.out


class TestPresent:
    def test_links_are_signed(self, shell: Shell, body: MessageBody, s3: str) -> None:
        shell("offload", "message.json", "--to", s3, "--threshold", "1 KiB", "-o", "small")
        done = shell("present", "small", "--allow", s3, "--expires", "15m")
        shown = MessageBody.from_json(done.out)
        assert done.code == 0
        assert shown.digest == body.digest
        assert "X-Amz-Expires=900" in (shown[1].url or "")
        with urlopen(shown[1].url or "") as answer:
            assert answer.read() == body[1].read_bytes()
        assert shell("present", "small", "--allow", s3, "-o", "page.json").out == ""
        assert read("page.json")[1].url

    def test_nothing_is_signed_that_is_not_allowed(
        self, shell: Shell, body: MessageBody, s3: str
    ) -> None:
        shell("offload", "message.json", "--to", s3, "--threshold", "1 KiB", "-o", "small")
        for options in ([], ["--allow", f"{s3}/other"]):
            done = shell("present", "small", *options)
            assert (done.code, done.out) == (4, "")

    @pytest.mark.dear
    @pytest.mark.parametrize(("expires", "code"), [("8 days", 4), ("soon", 2), ("-5", 2)])
    def test_times(self, shell: Shell, body: MessageBody, s3: str, expires: str, code: int) -> None:
        shell("offload", "message.json", "--to", s3, "--threshold", "1 KiB", "-o", "small")
        assert shell("present", "small", "--allow", s3, "--expires", expires).code == code


class TestMigrate:
    @pytest.mark.dear
    def test_there_and_back(
        self, shell: Shell, body: MessageBody, small: str, store: str, tmp_path: Path
    ) -> None:
        done = shell("migrate", small, "--from", store, "--to", "archive", "-o", "moved")
        assert (done.code, done.err) == (0, "")
        moved = read("moved")
        assert moved.digest == body.digest
        archive = (tmp_path / "archive").as_uri()
        assert [(p.url or "").startswith(archive) for p in moved] == [False, True, True]
        assert shell("migrate", "moved", "--from", "archive", "--to", store, "-i").code == 0
        assert read("moved") == read(small)
        assert shell("inline", "moved", "--allow", store).data == body.to_json_bytes() + b"\n"

    def test_only_what_is_below_the_source_moves(
        self, shell: Shell, small: str, store: str
    ) -> None:
        before = read(small)
        before.add(url="https://example.com/cats", name="/sources/1", digest=before[1].digest)
        Path(small).write_bytes(before.to_json_bytes())
        Path("elsewhere").mkdir()
        done = shell("migrate", small, "--from", "elsewhere", "--to", "new", "-i")
        assert (done.code, "no reference is below 'file://" in done.err) == (0, True)
        assert read(small) == before
        assert shell("migrate", small, "--from", store, "--to", "new", "-i").code == 0
        assert read(small)["/sources/1"] == before["/sources/1"]

    def test_a_failure_leaves_the_message(self, shell: Shell, small: str, store: str) -> None:
        before = Path(small).read_bytes()
        options = ["--from", store, "--to", "s3://key:s3cr3t@new/x", "-i"]
        done = shell("migrate", small, *options)
        assert (done.code, "s3cr3t" in done.err) == (4, False)
        assert Path(small).read_bytes() == before
        assert shell("migrate", small, "--to", "new").code == 2


class TestSweep:
    @pytest.fixture
    def old(self, shell: Shell, body: MessageBody, tmp_path: Path) -> str:
        """A directory with one object in use, one of nobody, and a foreign file, all old."""
        shell("offload", "message.json", "--to", "store", "--names", "/charts/*",
              "--threshold", "1 KiB", "-o", "small")  # fmt: skip
        (tmp_path / "gone").write_bytes(MessageBody([Part("gone" * 999)]).to_json_bytes())
        shell("offload", "gone", "--to", "store", "--threshold", "1 KiB")
        (tmp_path / "store" / "mine.txt").write_text("mine")
        for path in (tmp_path / "store").rglob("*"):
            os.utime(path, OLD)
        return "store"

    def test_a_dry_run_deletes_nothing(self, shell: Shell, old: str, tmp_path: Path) -> None:
        before = sorted(tmp_path.rglob("*"))
        done = shell("sweep", old, "small")
        assert done.code == 1
        assert done.out.endswith("\n1 object (3.9 KiB) and 0 unfinished uploads could be deleted\n")
        assert re.match(r" +3\.9 KiB  sha256/[0-9a-f]{64}\n", done.out)
        assert sorted(tmp_path.rglob("*")) == before

    def test_delete(self, shell: Shell, old: str, body: MessageBody, tmp_path: Path) -> None:
        report = json.loads(shell("sweep", old, "small", "--delete", "--json").out)
        assert (report["deleted"], report["size"], len(report["objects"])) == (True, 3996, 1)
        assert shell("sweep", old, "small").code == 0
        assert len([*(tmp_path / "store" / "sha256").iterdir()]) == 1
        assert (tmp_path / "store" / "mine.txt").read_text() == "mine"
        back = shell("inline", "small", "--allow", "store")
        assert back.data == body.to_json_bytes() + b"\n"

    def test_bodies_come_from_directories_and_standard_input(
        self, shell: Shell, old: str, tmp_path: Path
    ) -> None:
        (tmp_path / "messages" / "deep").mkdir(parents=True)
        (tmp_path / "small").rename(tmp_path / "messages" / "deep" / "small")
        done = shell("sweep", old, "messages", "--json")
        assert len(json.loads(done.out)["objects"]) == 1
        data = (tmp_path / "messages" / "deep" / "small").read_bytes()
        done = shell("sweep", old, "-", "--json", stdin=data)
        assert len(json.loads(done.out)["objects"]) == 1

    @pytest.mark.parametrize("bodies", [[], ["empty"], ["small", "broken"], ["small", "missing"]])
    def test_is_refused_without_every_body(
        self, shell: Shell, old: str, bodies: list[str], tmp_path: Path
    ) -> None:
        (tmp_path / "empty").mkdir()
        (tmp_path / "broken").write_text('[{"name":')
        done = shell("sweep", old, *bodies, "--delete")
        assert (done.code, done.out) == (2, "")
        assert len([*(tmp_path / "store" / "sha256").iterdir()]) == 2

    @pytest.mark.dear
    def test_grace(self, shell: Shell, small: str, store: str) -> None:
        Path("other").write_bytes(b"[]")
        assert shell("sweep", store, "other").code == 0
        assert shell("sweep", store, "other", "--grace", "90 days", "--delete").err == ""
        assert shell("sweep", store, "other", "--grace", "a while").code == 2
        young = ["sweep", store, "other", "--grace", "0s", "--delete", "--json"]
        mistake = shell(*young)
        assert (mistake.code, "messages needs nothing of this store" in mistake.err) == (
            4,
            True,
        )
        short = shell(*young, "--everything", "messages")
        assert "safe only while nothing is offloaded" in short.err
        assert short.code == 0

    @pytest.fixture
    def shared(self, shell: Shell, old: str, tmp_path: Path) -> Any:
        """The store with two other owners, of two old objects each, of which one is needed."""
        values = {}
        for name in ("chat", "jobs"):
            for text in ("needed", "gone"):
                value = {"text": f"{name} {text} " * 200}
                values[name, text] = payloads.offload(value, Path(old), threshold=256, owner=name)
        for path in (tmp_path / old).rglob("*"):
            os.utime(path, OLD)
        (tmp_path / "jobs.jsonl").write_text(f"\n{json.dumps(values['jobs', 'needed'])}\n[1]\n")
        with contextlib.closing(sqlite3.connect("chat.db")) as database:
            database.execute('CREATE TABLE "a ""b" (kind TEXT, number INTEGER, value BLOB)')
            row = ["x", 1, json.dumps(values["chat", "needed"]).encode()]
            database.execute('INSERT INTO "a ""b" VALUES (?, ?, ?)', row)
            database.commit()
        return values

    def test_several_owners(self, shell: Shell, old: str, shared: Any) -> None:
        done = shell("sweep", old, "small", "--owner", "jobs=jobs.jsonl")
        assert done.code == 4
        assert "needs: chat (payloads: payloads.owner(value)); for one" in done.err
        given = ["small", "--owner", "jobs=jobs.jsonl", "--owner", "chat=chat.db"]
        listed = shell("sweep", old, *given)
        assert listed.out.endswith(
            "3 objects (7.8 KiB) and 0 unfinished uploads could be deleted\n"
        )
        report = json.loads(shell("sweep", old, *given, "--delete", "--json").out)
        assert len(report["objects"]) == 3
        for name in ("chat", "jobs"):
            text = payloads.inline(shared[name, "needed"], Path(old), owner=name)["text"]
            assert text.startswith(f"{name} needed")

    def test_owners_that_are_gone_or_forget(self, shell: Shell, old: str, shared: Any) -> None:
        given = ["small", "--forget", "chat", "--recent", "jobs=90000 days", "--json", "--delete"]
        keys = [each["key"] for each in json.loads(shell("sweep", old, *given).out)["objects"]]
        assert sorted(key[:8] for key in keys)[:2] == ["owners/c"] * 2
        assert len(keys) == 3
        assert not Path(old, "owners/chat/owner.json").exists()
        assert Path(old, "owners/jobs/owner.json").exists()

    @pytest.mark.parametrize(
        "given",
        [["--owner", "jobs"], ["--owner", "jobs=-"], ["--owner", "=x"], ["--recent", "jobs=soon"],
         ["--owner", "jobs=missing"], ["--owner", "jobs=small.txt"], ["--owner", "jobs=torn.db"]],
    )  # fmt: skip
    def test_an_owner_that_can_not_be_read(
        self, shell: Shell, old: str, shared: Any, given: list[str]
    ) -> None:
        Path("small.txt").write_text("no JSON")
        Path("torn.db").write_bytes(Path("chat.db").read_bytes()[:5000])
        done = shell("sweep", old, "small", "--owner", "chat=chat.db", *given, "--delete")
        assert (done.code, done.out) == (2, ""), done.err
        assert len([*Path(old).rglob("sha256/*")]) == 6

    def test_unfinished_uploads(
        self, shell: Shell, s3: str, moto_store: S3Store, body: MessageBody
    ) -> None:
        key = f"sha256/{'a' * 64}"
        create = moto_store.client.create_multipart_upload
        foreign = ["tenant/backup.bin", f"tenant/other/{key}", f"tenant2/{key}", key]
        for each in [f"tenant/{key}", *foreign]:
            create(Bucket=moto_store.bucket, Key=each)
        found = shell("sweep", s3, "message.json")  # moto says they were begun in 2010
        assert (found.code, f"    upload  {key}\n" in found.out) == (1, True)
        assert shell("sweep", s3, "message.json", "--delete").code == 0
        # Uploads of other programs and of other stores stay, also of stores below this one.
        left = S3Store(moto_store.clients, moto_store.bucket).iter_uploads()
        assert sorted(each.key for each in left) == sorted(foreign)

    def test_unfinished_uploads_of_a_store_below(self, moto_store: S3Store) -> None:
        client, bucket, key = moto_store.client, moto_store.bucket, f"sha256/{'a' * 64}"
        for each in (f"tenant/mine/{key}", f"tenant/{key}", f"mine/{key}"):
            client.create_multipart_upload(Bucket=bucket, Key=each)
        mine = moto_store.below("mine")
        assert [each.key for each in mine.iter_uploads()] == [key]
        swept = sweep(mine, Bodies(MessageBody()), delete=True)
        assert [each.key for each in swept.uploads] == [key]
        left = S3Store(moto_store.clients, bucket).iter_uploads()
        assert sorted(each.key for each in left) == [f"mine/{key}", f"tenant/{key}"]


class TestAnUploadAddress:
    """Parts go to a server of messages, and the message that refers to them follows."""

    TOKEN = "a secret of writers"

    @pytest.fixture
    def server(self, tmp_path: Path) -> Iterator[str]:
        (tmp_path / "served").mkdir()
        (tmp_path / "token").write_text(self.TOKEN + "\n")
        with running(tmp_path / "served", writable=True, token=self.TOKEN) as found:
            yield found

    @pytest.fixture
    def message(self, body: MessageBody, tmp_path: Path) -> str:
        body.add(bytes(300_000), name="/film.mp4")
        body.save(tmp_path / "message.json")
        return "message.json"

    def test_there_and_back(
        self, shell: Shell, server: str, message: str, body: MessageBody
    ) -> None:
        to = ["--to", f"{server}/uploads/", "--token-file", "token", "--allow", f"{server}/"]
        done = shell("offload", message, *to, "-o", "small.json")
        assert done.code == 0, done.err
        small = MessageBody.load("small.json")
        assert str(small["/film.mp4"].url).startswith(f"{server}/uploads/")
        assert shell("inline", "small.json").code == 4
        back = shell("inline", "small.json", "--allow", f"{server}/")
        assert MessageBody.from_json(back.out) == body
        assert shell("verify", "small.json", "--allow", f"{server}/").code == 0

    def test_what_is_missing_is_said_in_words_of_the_shell(
        self, shell: Shell, server: str, message: str, tmp_path: Path
    ) -> None:
        before = (tmp_path / message).read_bytes()
        to = ["--to", f"{server}/uploads/"]
        closed = shell("offload", message, *to, "--token-file", "token", "-i")
        assert (closed.code, f"--allow {server}/" in closed.err) == (4, True)
        refused = shell("offload", message, *to, "--allow", f"{server}/", "-i")
        assert (refused.code, "--token-file FILE" in refused.err) == (4, True)
        (tmp_path / "token").write_text("another")
        options = ["--token-file", "token", "--allow", f"{server}/"]
        refused = shell("offload", message, *to, *options, "-i")
        assert (refused.code, "another" in refused.err) == (4, False)
        assert (tmp_path / message).read_bytes() == before

    def test_names_that_choose_nothing(self, shell: Shell, message: str) -> None:
        to = ["--to", "store", "-o", "small.json"]
        done = shell("offload", message, *to, "--names", "/none/*")
        assert "none that --names and --type choose is larger" in done.err
        done = shell("offload", message, *to, "--threshold", "1 GiB")
        assert "none is larger than 1 GiB" in done.err

    def test_what_is_in_the_file_of_a_token(
        self, shell: Shell, server: str, message: str, tmp_path: Path
    ) -> None:
        (tmp_path / "token").write_bytes(b"\xef\xbb\xbf" + self.TOKEN.encode() + b"\r\n")
        to = ["--to", f"{server}/uploads/", "--token-file", "token", "--allow", f"{server}/"]
        assert shell("offload", message, *to, "-o", "small.json").code == 0
        (tmp_path / "token").write_text(f"{self.TOKEN}\nhidden")
        for done in (
            shell("offload", message, *to, "-o", "small.json"),
            shell("serve", "served", "--writable", "--token-file", "token"),
        ):
            assert done.code == 2
            assert "'token': expected a token of printable ASCII characters" in done.err
            assert "several lines" in done.err
            assert "hidden" not in done.err

    def test_what_is_no_upload_address(self, shell: Shell, message: str, tmp_path: Path) -> None:
        (tmp_path / "token").write_text(self.TOKEN)
        for arguments in (
            ["offload", message, "--to", "store", "--token-file", "token"],
            ["offload", message, "--to", "https://host.example/uploads", "--token-file", "none"],
            ["add", message, "--file", "token", "--to", "https://host.example/uploads/"],
            ["pack", "served", "--to", "https://host.example/uploads/"],
        ):
            (tmp_path / "served").mkdir(exist_ok=True)
            done = shell(*arguments)
            assert done.code == 2, done.err
            assert self.TOKEN not in done.err
