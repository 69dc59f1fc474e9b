# SPDX-License-Identifier: GPL-2.0-or-later
"""Drive a page in headless Chromium as a reader would: open, click, type, read.

Speaks the DevTools protocol through a pipe: JSON messages, each terminated by a NUL.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

from live import Skip, check

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
START_S = 60
LIMIT_S = 120  # only a hang takes this long


def find_browser():
    for name in NAMES:
        if shutil.which(name):
            return name
    raise Skip("Chromium is not installed")


class Browser:
    """One page in one browser; `errors` collects script exceptions
    and blocked requests."""

    def __init__(self, width=1300, height=800, is_dark=False, is_phone=False):
        self.process = None
        self.number = 0
        self.errors = []
        self.session = None
        self.rest = b""
        self.answer_to_prompt = None
        self.folder = tempfile.mkdtemp()
        try:
            self.start()
            self.set_up(width, height, is_dark, is_phone)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()
        command = [find_browser(), "--headless", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                   f"--user-data-dir={self.folder}/profile", "--remote-debugging-pipe", "about:blank"]

        def take_pipes():
            # Chromium reads fd 3 and writes fd 4; the pipes may already
            # occupy these numbers
            read, write = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_read, to_write))
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=take_pipes, close_fds=False, start_new_session=True,
            env={**os.environ, "HOME": self.folder, "TMPDIR": self.folder})
        os.close(to_read)
        os.close(to_write)

    def set_up(self, width, height, is_dark, is_phone):
        try:
            target = self.call("Target.createTarget", limit=START_S, url="about:blank")["targetId"]
        except (BrokenPipeError, EOFError, TimeoutError) as error:
            raise Skip(f"Chromium does not run here: {error!r}") from error
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if is_phone else 1, mobile=is_phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=is_phone)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def close(self):
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
            os.close(self.to)
            os.close(self.back)
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, limit=LIMIT_S, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + limit
        wanted = self.number
        while True:
            answer = self.receive(end)
            if answer.get("id") == wanted:
                check("error" not in answer, f"{method}: {answer.get('error')}")
                return answer["result"]
            self.note(answer)

    def receive(self, end):
        while b"\0" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            more = os.read(self.back, 1 << 20)
            if not more:
                raise EOFError("Chromium has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        kind, params = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"].get("exception", {}).get("description", "?"))
        elif kind == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif kind == "Page.javascriptDialogOpening":
            self.number += 1
            text = self.answer_to_prompt
            message = {"id": self.number, "method": "Page.handleJavaScriptDialog",
                       "sessionId": self.session,
                       "params": {"accept": text is not None, "promptText": text or ""}}
            os.write(self.to, json.dumps(message).encode() + b"\0")

    def open(self, path, fragment=""):
        """Load the page and wait until its script has run."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"file://{path}{fragment}")
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'",
                  f"{path} is loaded")

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        check("exceptionDetails" not in answer, f"{script}: {answer.get('exceptionDetails')}")
        return answer["result"].get("value")

    def wait(self, script, what):
        end = time.monotonic() + LIMIT_S
        while not self.run(script):
            check(time.monotonic() < end, f"timed out waiting until {what}")
            time.sleep(0.02)

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                      button="none" if kind == "mouseMoved" else "left", clickCount=1)

    def point(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def tap(self, x, y):
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def centre(self, selector):
        """Scroll the element into view and return the coordinates of its centre."""
        box = self.run(f"(e => {{ e.scrollIntoView({{block: 'nearest'}});"
                       f" const b = e.getBoundingClientRect();"
                       f" return [b.x + b.width / 2, b.y + b.height / 2]; }})"
                       f"(document.querySelector({json.dumps(selector)}))")
        return box[0], box[1]

    def press(self, selector):
        self.click(*self.centre(selector))

    def type(self, text):
        """Replace the content of the focused element."""
        self.run("document.activeElement.select && document.activeElement.select()")
        self.call("Input.insertText", text=text)

    def key(self, name, code=0):
        text = {"Enter": "\r"}.get(name, name if len(name) == 1 else "")
        kind = "keyDown" if text else "rawKeyDown"
        self.call("Input.dispatchKeyEvent", type=kind, key=name, text=text,
                  windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def choose(self, selector, value):
        """Select an entry of a list; the browser's popup list is not part of the page."""
        self.run(f"(e => {{ e.value = {json.dumps(value)};"
                 f" e.dispatchEvent(new Event('change', {{bubbles: true}})); }})"
                 f"(document.querySelector({json.dumps(selector)}))")

    def screenshot(self, path, is_whole=False):
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=is_whole)
        with open(path, "wb") as f:
            f.write(base64.b64decode(answer["data"]))
