"""ttl-sidecar with a status page, a scripted store and ttlctl, as processes."""

import base64
import json
import pathlib
import re
import subprocess
import tempfile
import time

PATIENCE = 30  # seconds


class Store:
    """The program scripted_store."""

    def __init__(self, binaries):
        self._process = subprocess.Popen([binaries / "scripted_store"], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        self.address = self._process.stdout.readline().strip()

    def put(self, container, item, ts):
        self._do("put", container, item.hex(), str(ts))

    def poison(self, container, item, reason):
        self._do("poison", container, item.hex(), reason)

    def _do(self, *fields):
        self._process.stdin.write("\t".join(fields) + "\n")
        self._process.stdin.flush()
        if self._process.stdout.readline() != "done\n":
            raise RuntimeError(f"the store refused {fields}")

    def close(self):
        self._process.communicate()


class Sidecar:
    """A sidecar in a folder of its own."""

    def __init__(self, binaries, *flags, data_of=None):
        self._binaries = binaries
        self._folder = tempfile.TemporaryDirectory(prefix="page", dir="/tmp")
        self.folder = pathlib.Path(self._folder.name)
        self.socket = f"unix:{self.folder}/sidecar.sock"
        self._flags = flags
        if data_of is not None:
            self.restore(data_of)
        self.start("127.0.0.1:0")

    def restore(self, backup):
        subprocess.run([self._binaries / "ttl-sidecar", f"--data-dir={self.folder}/data",
                        f"--restore={backup}"], check=True, capture_output=True)

    def start(self, page):
        log = open(self.folder / "log", "wb")
        self._process = subprocess.Popen(
            [self._binaries / "ttl-sidecar", f"--listen-socket={self.folder}/sidecar.sock",
             f"--data-dir={self.folder}/data", f"--status-page={page}", "--policy-grace-seconds=1",
             *self._flags], stdout=log, stderr=log)
        log.close()
        self.port = self._wait_for_port()
        self.url = f"http://127.0.0.1:{self.port}/"

    def _wait_for_port(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            text = (self.folder / "log").read_text()
            found = re.search(r'msg="status page".* port=(\d+)', text)
            if found and 'msg="listening"' in text:
                return int(found.group(1))
            time.sleep(0.02)
        raise RuntimeError(f"the sidecar does not start: {(self.folder / 'log').read_text()}")

    def kill(self):
        self._process.kill()
        self._process.wait()

    def close(self):
        self.kill()
        self._folder.cleanup()

    def ttlctl(self, *arguments, feed=None):
        done = subprocess.run([self._binaries / "ttlctl", "--server", self.socket, *arguments],
                              input=feed, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"ttlctl {arguments}: {done.stderr}")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.ttlctl("--json", *arguments))

    def track(self, container, ids, ts, ttls=None):
        """Reports items by their ids, which are bytes, with a ttl of their own if `ttls` has it."""
        ttls = ttls or [None] * len(ids)
        lines = [json.dumps({"id_base64": base64.b64encode(one).decode(), "ts": ts, "ttl": ttl})
                 for one, ttl in zip(ids, ttls, strict=True)]
        self.ttlctl("import", container, "-", feed="\n".join(lines) + "\n")
