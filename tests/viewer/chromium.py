"""A headless Chromium, driven through its own protocol (CDP), and a server nobody must ask."""

import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import connect
from websockets.sync.connection import Connection

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
# Nothing of its own reaches a network either, so that every request seen is the page's.
_OPTIONS = [
    "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--autoplay-policy=no-user-gesture-required", "--remote-debugging-port=0",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]  # fmt: skip
_START = 30.0


class Decoy:
    """A server on loopback that counts who connects, and answers nobody."""

    def __init__(self) -> None:
        self.connections = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:  # it was closed
                return
            self.connections += 1
            connection.close()

    def close(self) -> None:
        self._socket.close()


class Tab:
    """One tab: opens pages and notes what they do."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._count = 0
        self._session = ""
        self.requests: list[str] = []
        self.scripts = 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")
        self.call("Browser.setDownloadBehavior", behavior="deny")
        self.call("Runtime.addBinding", name="ran")
        # A dialog would stop the page, and the test with it.
        self.call(
            "Page.addScriptToEvaluateOnNewDocument",
            source="window.alert = window.confirm = window.prompt = window.print = ran",
        )

    def call(self, method: str, **parameters: Any) -> Any:
        """Ask Chromium for something, and note what happens until it answers."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._connection.send(json.dumps(message))
        while True:
            answer = json.loads(self._connection.recv(timeout=60))
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Runtime.bindingCalled":
                self.scripts += 1
            case "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    self.requests.append(url)

    def open(self, path: Path) -> None:
        """Open a page from a file, and wait until it has loaded."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.as_uri())
        self.run(
            "new Promise(done => document.readyState == 'complete' ? done() "
            ": addEventListener('load', () => done()))"
        )

    def run(self, script: str) -> Any:
        """Run a script as a person's hand would, and return its value."""
        result = self.call(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")


@contextmanager
def a_tab(home: Path) -> Iterator[Tab]:
    """Start Chromium, and yield a tab of it.

    Arguments:
        home: an empty directory for its profile.
    """
    assert PROGRAM is not None
    # Its sandbox needs rights that root gives up.
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [PROGRAM, *_OPTIONS, *as_root, f"--user-data-dir={home}", "about:blank"]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        with connect(_address(home / "DevToolsActivePort"), max_size=None) as connection:
            yield Tab(connection)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _address(file: Path) -> str:
    deadline = time.monotonic() + _START
    while time.monotonic() < deadline:
        lines = file.read_text().splitlines() if file.exists() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.05)
    raise AssertionError("Chromium did not start")
