"""A headless Chromium, driven by the WebDriver protocol and, for what that lacks, by DevTools'."""

import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # how the protocol names an element
PATIENCE = 30  # seconds

# Notes what the policy of a page forbids.
NOTE_VIOLATIONS = """
  window.violations = [];
  document.addEventListener("securitypolicyviolation",
      (event) => window.violations.push(event.violatedDirective + " " + event.blockedURI));
"""


class Browser:
    """One window of Chromium. Not thread-safe."""

    def __init__(self):
        self._folder = tempfile.mkdtemp(prefix="browser", dir="/tmp")
        self._driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self._port = self._port_of_driver()
        self._session = ""
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update",
                     "--force-device-scale-factor=1", f"--user-data-dir={self._folder}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        created = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self._session = f"/session/{created['sessionId']}"
        self.devtools("Page.addScriptToEvaluateOnNewDocument", source=NOTE_VIOLATIONS)

    def close(self):
        try:
            self._call("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait()
            self._driver.stdout.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _port_of_driver(self):
        for line in self._driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                return int(found.group(1))
        raise RuntimeError("chromedriver does not start")

    def _call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        connection.request(method, self._session + path if path != "/session" else path,
                           None if body is None else json.dumps(body))
        value = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{value['error']}: {value['message']}")
        return value

    def devtools(self, command, **parameters):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """The result of a function's body, or of what it promises."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, condition, *arguments):
        """Waits until the expression is true."""
        end = time.monotonic() + PATIENCE
        while not (value := self.run(f"return {condition}", *arguments)):
            if time.monotonic() > end:
                raise TimeoutError(f"never came: {condition}")
            time.sleep(0.05)
        return value

    def find(self, selector):
        return self._call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self._call("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        element = self.find(selector)
        self._call("POST", f"/element/{element}/clear", {})
        if text:
            self._call("POST", f"/element/{element}/value", {"text": text})

    def role(self, selector):
        """The role of an element for screen readers."""
        return self._call("GET", f"/element/{self.find(selector)}/computedrole")

    def label(self, selector):
        """The name of an element for screen readers."""
        return self._call("GET", f"/element/{self.find(selector)}/computedlabel")

    def press(self, key):
        actions = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._call("POST", "/actions", {"actions": [
            {"type": "key", "id": "keyboard", "actions": actions}]})

    def log(self):
        """What the console has shown since the last call."""
        return self._call("POST", "/se/log", {"type": "browser"})

    def look(self, width, height, scheme):
        """Sets the size of the window and the preferred color scheme."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setScrollbarsHidden", hidden=True)
        self.devtools("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        shot = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))
