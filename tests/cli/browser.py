"""A browser for tests: headless Chromium driven through chromedriver's HTTP interface (W3C WebDriver)."""
import base64
import json
import re
import subprocess
import tempfile
import time
import urllib.request


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                self.address = f"http://127.0.0.1:{found.group(1)}/session"
                break
        self.profile = tempfile.TemporaryDirectory()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     "--hide-scrollbars", f"--user-data-dir={self.profile.name}"]
        session = self.call("", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": arguments}}}})
        self.address += "/" + session["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("", method="DELETE")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.profile.cleanup()

    def call(self, path, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, method=method or ("POST" if data else "GET"))
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:2000]) from None

    def go(self, address):
        self.call("/url", {"url": address})

    def js(self, script, *arguments):
        return self.call("/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, what, seconds=30):
        """Until the expression is true in the page."""
        end = time.time() + seconds
        while not self.js(f"return !!({script})"):
            assert time.time() < end, f"waited {seconds} s for: {what}"
            time.sleep(0.1)

    def devtools(self, command, **parameters):
        return self.call("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def prefer(self, scheme):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def pointer(self, *steps):
        """Moves of the mouse: (x, y), "down", "up"; coordinates in the window."""
        actions = [{"type": "pointerDown", "button": 0} if step == "down" else
                   {"type": "pointerUp", "button": 0} if step == "up" else
                   {"type": "pointerMove", "x": int(step[0]), "y": int(step[1]), "duration": 30} for step in steps]
        self.call("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def place(self, selector):
        """Scrolls an element into view; its rectangle."""
        return self.js("""const e = document.querySelector(arguments[0]); e.scrollIntoView({block: "center"});
                          const r = e.getBoundingClientRect(); return {x: r.x, y: r.y, width: r.width, height: r.height};""", selector)

    def click(self, selector):
        box = self.place(selector)
        self.pointer((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2), "down", "up")

    def errors(self):
        """What the page complained of since the last call."""
        return [entry["message"] for entry in self.call("/se/log", {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, path, whole=True):
        picture = self.devtools("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture))
