# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven through a pipe by the DevTools protocol. Needs no package of Python."""
import base64
import json
import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium():
    """The path of a browser, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One process; each page has a session."""

    def __init__(self, program, profile):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def connect():  # the protocol reads descriptor 3 and writes descriptor 4
            os.dup2(to_browser, 63)
            os.dup2(from_browser, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        self._process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run",
             "--disable-background-networking", "--disable-dev-shm-usage", "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._rest = b""
        self.events = []

    def close(self):
        try:
            self.call("Browser.close")
        except EOFError:
            pass
        self._process.wait(30)
        os.close(self._out)
        os.close(self._in)

    def _read(self):
        while b"\0" not in self._rest:
            more = os.read(self._in, 1 << 20)
            if not more:
                raise EOFError("the browser ended")
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """Gives the result of a command; events that come meanwhile are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event, session):
        while not any(e.get("method") == event and e.get("sessionId") == session
                      for e in self.events):
            self.events.append(self._read())


class Page:
    """A tab that keeps errors and requests of the page that it shows."""

    def __init__(self, browser):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def _call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def open(self, url, width, theme):
        self.browser.events.clear()
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                   deviceScaleFactor=1, mobile=width < 600)
        self._call("Emulation.setEmulatedMedia", media="",
                   features=[{"name": "prefers-color-scheme", "value": theme}])
        self._call("Page.navigate", url=url)
        self.browser.wait_for("Page.loadEventFired", self.session)

    def print_in(self, theme):
        """Shows the page as a printer would get it."""
        self._call("Emulation.setEmulatedMedia", media="print",
                   features=[{"name": "prefers-color-scheme", "value": theme}])

    def evaluate(self, expression):
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def screenshot(self, path):
        height = self.evaluate("Math.ceil(document.documentElement.scrollHeight)")
        width = self.evaluate("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 12000), "scale": 1}
        data = self._call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self, url):
        """What the page asked of the network, and what the console says."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, parameters = event["method"], event["params"]
            if method == "Network.requestWillBeSent" and parameters["request"]["url"] != url:
                found.append("a request for " + parameters["request"]["url"][:80])
            elif method == "Runtime.exceptionThrown":
                found.append("an exception: " + parameters["exceptionDetails"]["text"])
            elif method == "Runtime.consoleAPICalled":
                found.append("the console: " + parameters["type"])
            elif method == "Log.entryAdded":
                found.append("the log: " + parameters["entry"]["text"][:200])
        return found
