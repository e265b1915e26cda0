"""A headless Chromium, driven over its DevTools pipe: real clicks, and everything that a page asked for or complained of.

No driver and no package is needed: `--remote-debugging-pipe` reads messages from file descriptor 3 and writes to 4, each
ended by a zero byte. Protocol: https://chromedevtools.github.io/devtools-protocol/.
"""

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",  # containers have a small one
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    "about:blank",
)
# Chromium wants descriptors 3 and 4, which this process uses for something else.
_START = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
_PATIENCE = 60.0


def find_chromium() -> str | None:
    """Return the program, None where there is none: `AOTI_LOGS_CHROMIUM`, or what distributions call it."""
    given = os.environ.get("AOTI_LOGS_CHROMIUM")
    return given or next((path for name in _NAMES if (path := shutil.which(name))), None)


class Chromium:
    """The running program. `profile` is an empty folder for what it writes."""

    def __init__(self, program: str, profile: Path) -> None:
        from_us, to_us = os.pipe(), os.pipe()
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (from_us[0], to_us[1])]
        flags = [*_FLAGS, f"--user-data-dir={profile}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # which it cannot have as root
        self._log = (profile / "stderr.txt").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, *map(str, theirs), program, *flags],
            pass_fds=theirs,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        for fd in (*theirs, from_us[0], to_us[1]):
            os.close(fd)
        self._write, self._read = from_us[1], to_us[0]
        self._buffer = b""
        self._last = 0
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.call("Browser.close")
            self._process.wait(_PATIENCE)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._log.close()

    def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result; events that come in between are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self.receive(_PATIENCE)).get("id") != self._last:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def receive(self, patience: float) -> dict[str, Any]:
        """Return the next message."""
        until = time.monotonic() + patience
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], max(0.0, until - time.monotonic()))[0]:
                raise RuntimeError(f"Chromium said nothing for {patience:.0f} seconds")
            read = os.read(self._read, 1 << 20)
            if not read:
                raise RuntimeError(f"Chromium ended with {self._process.wait()}; see {self._log.name}")
            self._buffer += read
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


class Tab:
    """One tab.

    Args:
        browser: the program.
        width: of the window, in pixels.
        height: of the window, in pixels.
        dark: whether the reader prefers dark pages.
        scripts: whether pages may run scripts; those of a test always may.
    """

    def __init__(
        self,
        browser: Chromium,
        *,
        width: int = 1200,
        height: int = 800,
        dark: bool = False,
        scripts: bool = True,
    ) -> None:
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "DOM", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        narrow = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=narrow,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **params)

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.call("Page.navigate", url=path.as_uri())
        while not self.told("Page.loadEventFired"):
            self._browser.events.append(self._browser.receive(_PATIENCE))

    def ask(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Press the mouse where an element is, after scrolling to it as a reader would."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.scrollIntoViewIfNeeded", nodeId=node)
        x0, y0, _, _, x1, y1, _, _ = self.call("DOM.getContentQuads", nodeId=node)["quads"][0]
        at = {"x": (x0 + x1) / 2, "y": (y0 + y1) / 2, "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", **at)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **at)

    def told(self, method: str) -> list[dict[str, Any]]:
        """Return the events of a name so far."""
        events = self._browser.events
        return [e["params"] for e in events if e.get("sessionId") == self._session and e["method"] == method]

    def complaints(self) -> list[str]:
        """Return what the console shows: messages, errors, refusals of the page's policy."""
        said = [*self.told("Runtime.consoleAPICalled"), *self.told("Runtime.exceptionThrown")]
        return [json.dumps(event) for event in (*said, *self.told("Log.entryAdded"))]

    def requests(self) -> list[str]:
        """Return the addresses that the page asked for, itself first."""
        return [event["request"]["url"] for event in self.told("Network.requestWillBeSent")]
