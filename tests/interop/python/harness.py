"""What the tests share: a sidecar process per test, a store in memory, waiting."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import grpc

from ttl_sidecar import Client, PrimaryStore, SidecarError

BINARIES = pathlib.Path(os.environ["TTL_BIN"])

# Seconds that anything here may take: a machine that stands still for some fails no test.
PATIENCE = 60.0
# Also of clients that say nothing of it, as in the README; those that are to be impatient say so.
Client.__init__.__kwdefaults__.update(
    check_timeout=PATIENCE, report_timeout=PATIENCE, admin_timeout=PATIENCE)


def wait_until(condition, what, deadline=PATIENCE):
    """Returns the first true value of `condition`; fails after `deadline` seconds."""
    end = time.monotonic() + deadline
    while True:
        is_last = time.monotonic() >= end
        if value := condition():
            return value
        if is_last:
            break
        time.sleep(0.01)
    raise AssertionError(f"not within {deadline:g} s: {what}")


class Sidecar:
    """The real ttl-sidecar on a Unix socket in `folder`."""

    def __init__(self, folder, *flags):
        self.address = f"unix:{folder}/sidecar.sock"
        self._command = [BINARIES / "ttl-sidecar", "--listen-socket", f"{folder}/sidecar.sock",
                         "--data-dir", f"{folder}/sidecar.data", *flags]
        self._log_path = pathlib.Path(folder) / "sidecar.log"
        self._process = None

    def start(self):
        self._spawn()
        with Client(self.address, admin_timeout=1.0) as client:
            wait_until(lambda: self._answers(client), "the sidecar answers")

    def start_unseen(self):
        """As start(), but goes by the log: a client of this process would share its connection,
        and how it looks after it, with all others."""
        starts = self._log_path.read_text().count('msg="ready"')
        self._spawn()
        wait_until(lambda: self._log_path.read_text().count('msg="ready"') > starts,
                   "the sidecar is ready")

    def _spawn(self):
        with open(self._log_path, "ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)

    def _answers(self, client):
        if self._process.poll() is not None:
            raise AssertionError(f"the sidecar has ended:\n{self._log_path.read_text()}")
        with contextlib.suppress(SidecarError):
            return client.status()

    def suspend(self):
        """When it returns, the sidecar takes connections and answers nothing until resume(). The
        signal alone would let it answer for a while yet."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self):
        self._process.send_signal(signal.SIGCONT)

    def kill(self, how=signal.SIGKILL):
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()


class MemoryStore(PrimaryStore):
    """Items in a dictionary: {container: {key: Item}}."""

    store_id = "memory"

    def __init__(self):
        self.lock = threading.RLock()
        self.containers = {}
        self.batches = 0  # deleted so far

    def write(self, container, item):
        with self.lock:
            self.containers.setdefault(container, {})[item.key] = item

    def items(self, container):
        with self.lock:
            return list(self.containers.get(container, {}).values())

    def exclusive(self, container, keys):
        return self.lock

    def read(self, container, key):
        return self.containers.get(container, {}).get(key)

    def delete(self, container, keys):
        self.batches += 1
        for key in keys:
            del self.containers[container][key]

    def scan(self, container, after, limit):
        items = sorted(self.items(container), key=lambda item: item.key)
        return [item for item in items if after is None or item.key > after][:limit]


class TempDirTestCase(unittest.TestCase):
    """A folder for each test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ttl-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def assert_refused(self, code, *words):
        """A context in which a SidecarError of that code must be raised that has all the words."""
        return _Refused(self, code, words)


class SidecarTestCase(TempDirTestCase):
    """A sidecar of its own for each test, and a client of it."""

    flags = ()

    def setUp(self):
        super().setUp()
        self.store_address = f"unix:{self.folder}/store.sock"
        self.sidecar = Sidecar(self.folder, "--store", self.store_address, *self.flags)
        self.addCleanup(self.sidecar.kill)
        self.sidecar.start()
        self.client = self.enterContext(Client(self.sidecar.address))


class _Refused(contextlib.AbstractContextManager):
    def __init__(self, test, code, words):
        self._test, self._code, self._words = test, code, words
        self.error = None

    def __exit__(self, exception_type, error, traceback):
        if exception_type is None:
            self._test.fail(f"not refused; {self._code} was expected")
        if not isinstance(error, SidecarError):
            return False
        self.error = error
        self._test.assertEqual(error.code, self._code, error.message)
        for word in self._words:
            self._test.assertIn(word, error.message)
        return True


Code = grpc.StatusCode
