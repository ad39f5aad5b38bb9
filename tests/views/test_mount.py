"""A body as a directory of the operating system: read by the system's own calls."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, MessageBodyError, Part, Resolver, offload
from messagebody.errors import MissingDependency
from messagebody.filesystem import MessageBodyFileSystem
from messagebody.samples import sample

try:
    from messagebody.views import mount
except MissingDependency as missing:
    mount = None  # type: ignore[assignment]
    assert missing.system, "mfusepy is installed with the tests"  # noqa: PT017

needs_fuse = pytest.mark.skipif(
    mount is None or not os.access("/dev/fuse", os.R_OK | os.W_OK) or not shutil.which("umount"),
    reason="no FUSE on this system",
)


def wait_for(path: Path) -> None:
    for _ in range(6000):
        if path.is_mount():
            return
        time.sleep(0.02)
    raise AssertionError("not mounted within two minutes")


@contextlib.contextmanager
def mounted(body: MessageBody, at: Path, resolver: Resolver | None = None) -> Iterator[Path]:
    at.mkdir()
    thread = threading.Thread(target=mount, args=(body.filesystem(resolver=resolver), at))
    thread.start()
    try:
        wait_for(at)
        yield at
    finally:
        subprocess.run(["umount", at], check=True)
        thread.join(timeout=120)
        assert not thread.is_alive()


@needs_fuse
class TestMounted:
    def test_parts_are_files(self, tmp_path: Path) -> None:
        body = MessageBody()
        body.add("shown, not a file")
        body.add(sample("chart.png"), name="/charts/rides.png")
        body.add(sample("weather.md"), name="/sources/deep/weather.md")
        with mounted(body, tmp_path / "m") as root:
            found = sorted(
                path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()
            )
            assert found == ["charts/rides.png", "sources/deep/weather.md"]
            assert (root / "charts" / "rides.png").read_bytes() == sample("chart.png")
            assert (root / "charts" / "rides.png").stat().st_size == len(sample("chart.png"))
            with (root / "charts" / "rides.png").open("rb") as file:
                file.seek(1000)
                assert file.read(10) == sample("chart.png")[1000:1010]

    def test_what_is_closed_is_closed_below(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened, real = [], MessageBodyFileSystem.open

        def spy(*arguments: Any, **options: Any) -> Any:
            opened.append(real(*arguments, **options))
            return opened[-1]

        monkeypatch.setattr(MessageBodyFileSystem, "open", spy)
        with mounted(MessageBody([Part("meow", name="/a.txt")]), tmp_path / "m") as root:
            (root / "a.txt").open("rb").close()  # without reading
            assert opened == []
            assert (root / "a.txt").read_text() == "meow"
        assert [stream.closed for stream in opened] == [True]

    def test_nothing_can_be_written(self, tmp_path: Path) -> None:
        body = MessageBody([Part("meow", name="/a.txt")])
        with mounted(body, tmp_path / "m") as root:
            for write in (
                lambda: (root / "b.txt").write_text("x"),
                lambda: (root / "a.txt").write_text("x"),
                (root / "a.txt").unlink,
                (root / "d").mkdir,
            ):
                with pytest.raises(OSError, match=f"Errno {errno.EROFS}"):
                    write()
            with pytest.raises(FileNotFoundError):
                (root / "missing").read_text()
        assert body.names() == ["/a.txt"]

    def test_references_are_read_when_their_files_are(self, tmp_path: Path) -> None:
        """Listing them asks nobody: what states no size shows as empty, and is read whole."""
        store = tmp_path / "store"
        store.mkdir()
        (store / "a.bin").write_bytes(bytes(range(256)) * 2000)
        body = MessageBody()
        body.add(url=(store / "a.bin").as_uri(), name="/a.bin")
        body.add(url="s3://private/key", name="/refused.bin", size=3)
        body.add(url=(store / "gone.bin").as_uri(), name="/gone.bin")
        with mounted(body, tmp_path / "m", Resolver(allow=[store])) as root:
            assert [path.name for path in root.iterdir()] == ["a.bin", "refused.bin", "gone.bin"]
            assert [path.stat().st_size for path in root.iterdir()] == [0, 3, 0]
            assert (root / "a.bin").read_bytes() == bytes(range(256)) * 2000
            with pytest.raises(PermissionError):
                (root / "refused.bin").read_bytes()
            with pytest.raises(FileNotFoundError):
                (root / "gone.bin").read_bytes()

    def test_what_is_read_is_verified_in_one_request(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str] = []
        for name in ("fetch", "read_range", "size"):
            real = getattr(Resolver, name)

            def spy(*args: Any, real: Any = real, name: str = name, **options: Any) -> Any:
                asked.append(name)
                return real(*args, **options)

            monkeypatch.setattr(Resolver, name, spy)
        content = bytes(range(256)) * 4000
        body = MessageBody([Part(content, name="/good"), Part(content[1:], name="/bad")])
        body = offload(body, tmp_path / "store", threshold=0)
        spoilt = Path(str(body["/bad"].url).removeprefix("file://"))
        spoilt.chmod(0o644)
        spoilt.write_bytes(bytes(len(content) - 1))
        with mounted(body, tmp_path / "m", Resolver(allow=[tmp_path / "store"])) as root:
            assert (root / "good").stat().st_size == len(content)
            assert asked == []
            assert (root / "good").read_bytes() == content
            assert asked == ["fetch"]
            with pytest.raises(OSError, match=f"Errno {errno.EIO}"):
                (root / "bad").read_bytes()

    def test_a_slow_reference_holds_nobody_else_up(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        done, real = threading.Event(), Resolver.fetch

        def fetch(self: Resolver, reference: Any, **options: Any) -> Any:
            assert done.wait(timeout=20)
            return real(self, reference, **options)

        monkeypatch.setattr(Resolver, "fetch", fetch)
        body = MessageBody([Part("quick", name="/quick"), Part(url="data:,slow", name="/slow")])
        with mounted(body, tmp_path / "m") as root:
            found: list[bytes] = []
            reader = threading.Thread(target=lambda: found.append((root / "slow").read_bytes()))
            reader.start()
            assert (root / "quick").read_bytes() == b"quick"
            done.set()
            reader.join(timeout=20)
        assert found == [b"slow"]

    def test_the_command_unmounts_when_interrupted(self, tmp_path: Path) -> None:
        message, root = tmp_path / "message.json", tmp_path / "m"
        message.write_bytes(MessageBody([Part("meow", name="/a.txt")]).to_json_bytes())
        root.mkdir()
        words = [sys.executable, "-m", "messagebody", "mount", str(message), str(root)]
        with subprocess.Popen(words) as running:
            wait_for(root)
            assert (root / "a.txt").read_text() == "meow"
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=120) == 0
        assert not root.is_mount()

    def test_the_process_survives_a_closed_pipe_afterwards(self, tmp_path: Path) -> None:
        """Libfuse leaves SIGPIPE deadly."""
        program = f"""
import os
from pathlib import Path
from messagebody import MessageBody, Part
from tests.views.test_mount import mounted
with mounted(MessageBody([Part("meow", name="/a.txt")]), Path({str(tmp_path)!r}) / "m"):
    pass
reading, writing = os.pipe()
os.close(reading)
try:
    os.write(writing, b"x")
except BrokenPipeError:
    print("alive")
"""
        done = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE)
        assert done.stdout == b"alive\n"

    def test_a_directory_that_is_not_empty_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "kept").write_text("x")
        with pytest.raises(MessageBodyError, match=r"not empty \(1 entry\)"):
            mount(MessageBody().fs, tmp_path)

    def test_a_directory_that_is_missing_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(MessageBodyError, match="No such file"):
            mount(MessageBody().fs, tmp_path / "missing")

    def test_a_name_can_not_be_file_and_directory(self, tmp_path: Path) -> None:
        body = MessageBody([Part("x", name="/a"), Part("y", name="/a/b")])
        with pytest.raises(MessageBodyError, match="'/a' would be both a file and a directory"):
            mount(body.fs, tmp_path)


BROKEN = {
    "sys.modules['mfusepy'] = None": "pip install 'messagebody[mount]'",
    "import ctypes.util; ctypes.util.find_library = lambda name: None": "apt install fuse3",
    # FUSE itself says no more than 1.
    "import os, types; fuse = sys.modules['mfusepy'] = types.ModuleType('mfusepy'); "
    "fuse.Operations, fuse.FuseOSError = object, OSError; os.environ['PATH'] = ''; "
    "fuse.FUSE = lambda *given, **options: exec('raise RuntimeError(1)')": (
        "the program fusermount, by which all but root mount, and which is not on the PATH"
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.dear
def test_what_is_missing_is_said(broken: str, tmp_path: Path) -> None:
    (tmp_path / "message.json").write_text("[]")
    (tmp_path / "m").mkdir()
    program = f"import sys; {broken}; sys.argv[1:] = ['mount', 'message.json', 'm']\n"
    program += "from messagebody._cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert done.returncode == 4
    assert len(done.stderr.splitlines()) == 1
    assert BROKEN[broken] in done.stderr
