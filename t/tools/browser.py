# SPDX-License-Identifier: LGPL-3.0-only
"""Chromium without a window, driven over its DevTools protocol by a pair of pipes: no driver program, no package but the
browser. Waits are the browser's own: an expression is tried again whenever the document changes."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

PATIENCE_MS = 60000
# A promise that an expression holds: tried at every change of the document, and at each frame, for canvases and scrolling.
UNTIL = """new Promise((done, fail) => {
  const late = setTimeout(() => fail(new Error("never: " + %(text)s)), %(patience)d);
  let over = false;
  const tried = () => { try { return (%(expression)s); } catch (error) { return false; } };
  const look = () => {
    if (over) return;
    const value = tried();
    if (value) { over = true; clearTimeout(late); watch.disconnect(); done(value); }
  };
  const watch = new MutationObserver(look);
  watch.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
  const frame = () => { look(); if (!over) requestAnimationFrame(frame); };
  frame();
})"""


class Browser:
    """One process. `with Browser() as browser: page = browser.page("http://…")`"""

    def __init__(self, program=None):
        self.profile = tempfile.mkdtemp(prefix="weir-browser-")
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()
        flags = ["--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + self.profile, "--disable-gpu", "--no-first-run",
                 "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--no-default-browser-check", "--mute-audio", "--force-device-scale-factor=1", "--hide-scrollbars"]
        flags += ["--no-sandbox"] if os.getuid() == 0 else []  # as root it has none
        with open(os.path.join(self.profile, "log"), "wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", f'exec "$0" "$@" 3<&{theirs_read} 4>&{theirs_write}', program or shutil.which("chromium"), *flags, "about:blank"],
                pass_fds=(theirs_read, theirs_write), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        os.close(theirs_read)
        os.close(theirs_write)
        self.reader, self.writer = os.fdopen(ours_read, "rb"), os.fdopen(ours_write, "wb")
        self.count, self.buffer = 0, b""
        self.takers = []

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        try:
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.reader.fileno(), 1 << 20)
            if not piece:
                raise EOFError("the browser has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.count += 1
        number = self.count
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        self.writer.write(json.dumps(message).encode() + b"\0")
        self.writer.flush()
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise OSError(f"{method}: {answer['error']}")
                return answer["result"]
            for take in self.takers:
                take(answer)

    def page(self, url, width=1100, height=900, scheme="light"):
        return Page(self, url, width, height, scheme)


class Page:
    """A tab of its own. `console` has what scripts and the browser complained of."""

    def __init__(self, browser, url, width, height, scheme):
        self.browser, self.console = browser, []
        context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.takers.append(self.take)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.hosts = set()
        self.look(width, height, scheme)
        self.call("Page.navigate", url=url)

    def take(self, message):
        if message.get("sessionId") != self.session:
            return
        method, data = message["method"], message["params"]
        if method == "Runtime.exceptionThrown":
            self.console.append(json.dumps(data["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and data["type"] in ("error", "warning", "assert"):
            self.console.append(json.dumps(data["args"])[:500])
        elif method == "Log.entryAdded" and data["entry"]["level"] in ("error", "warning"):
            self.console.append(data["entry"]["text"] + " " + data["entry"].get("url", ""))
        elif method == "Network.requestWillBeSent":
            self.hosts.add(data["request"]["url"].split("/")[2] if "://" in data["request"]["url"] else "")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def look(self, width, height, scheme="light"):
        """The size of the window, and light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def run(self, expression):
        """The value of an expression of JavaScript."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise AssertionError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def until(self, expression):
        """Its first value that is not false, also on a page that comes in this one's place meanwhile."""
        while True:
            try:
                return self.run(UNTIL % {"expression": expression, "text": json.dumps(expression), "patience": PATIENCE_MS})
            except OSError as failure:
                if "navigated" not in str(failure) and "context" not in str(failure):
                    raise

    def click(self, selector):
        x, y = self.until(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;
            e.scrollIntoView({{ block: "center" }}); const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2]; }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, selector, dx):
        """From the middle of an element, by pixels to the right."""
        x, y = self.until(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;
            e.scrollIntoView({{ block: "center" }}); const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2]; }})()""")
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for part in (0.5, 1):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + dx * part, y=y, button="left")
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + dx, y=y, button="left", clickCount=1)

    def type(self, selector, text):
        self.until(f"document.querySelector({json.dumps(selector)})")
        self.run(f"document.querySelector({json.dumps(selector)}).focus(), document.querySelector({json.dumps(selector)}).select?.()")
        self.call("Input.insertText", text=text)

    def press(self, key):
        codes = {"Enter": 13, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
                 "PageDown": 34, "PageUp": 33, "Tab": 9}
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key],
                      **({"text": text} if text and kind == "keyDown" else {}))

    def screenshot(self, path, scale=1):
        """Of the whole page."""
        size = self.run("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": scale}
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
