"""Restarts of the real sidecar, as seen by clients that go on."""

import contextlib
import signal
import threading
import time

from harness import Code, SidecarTestCase, wait_until
from ttl_sidecar import Check, Client, Deletion, Item, SidecarError

RESTARTS = 12


class Load:
    """Calls made one after the other by a thread each, until stop()."""

    def __init__(self):
        self.done = {}
        self.errors = []
        self.uncertain = 0
        self._stop = threading.Event()
        self._threads = []

    def start(self, name, call):
        self.done[name] = 0
        thread = threading.Thread(target=self._run, args=(name, call))
        self._threads.append(thread)
        thread.start()

    def _run(self, name, call):
        try:
            while not self._stop.wait(0.005):
                call(self.done[name])
                self.done[name] += 1
        except Exception as error:
            self.errors.append((name, error))

    def or_unavailable(self, call):
        """A change, and a report without a sequence, may have been sent when the sidecar stopped:
        then it is not known whether it was carried out. Never is it sent twice."""
        def run(n):
            try:
                call(n)
            except SidecarError as error:
                if error.code is not Code.UNAVAILABLE:
                    raise
                self.uncertain += 1
        return run

    def stream(self, call):
        """What goes over a stream is not repeated: it ends with the sidecar, and the next one
        begins with the next sidecar."""
        def run(n):
            try:
                call(n)
            except SidecarError as error:
                if error.code is not Code.UNAVAILABLE:
                    raise
        return run

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()


class Restarts(SidecarTestCase):
    def test_twelve_graceful_restarts_under_load_fail_no_call_that_may_be_repeated(self):
        client, load, ts = self.client, Load(), int(time.time())
        client.create_container("c", 3600)
        with contextlib.ExitStack() as stack:
            stack.callback(load.stop)
            load.start("check", lambda n: client.check("c", [Check(id=b"%d" % n)]))
            load.start("check again",
                       lambda n: client.check("c", [Check(id=b"%d" % n, ts=ts, ttl=60)]))
            load.start("track", lambda n: client.track(
                "c", [Item(id=b"%d" % (n % 100), ts=ts, sequence=n + 1)]))
            load.start("untrack", lambda n: client.untrack(
                "c", [Deletion(id=b"gone", ts=ts, sequence=n + 1)]))
            load.start("status", lambda n: client.status("c"))
            load.start("track unordered",
                       load.or_unavailable(lambda n: client.track("c", [Item(id=b"u", ts=ts)])))
            load.start("create",
                       load.or_unavailable(lambda n: client.create_container(f"made/{n}")))
            batches = [[Check(id=b"1")]] * 20
            load.start("check stream", load.stream(
                lambda n: [reply.results() for reply in client.check_stream("c", batches)]))
            for n in range(RESTARTS):
                self.sidecar.kill(signal.SIGTERM)
                time.sleep(n / (RESTARTS - 1))  # how long it is away
                self.sidecar.start()
                before = dict(load.done)
                wait_until(lambda: load.errors or all(load.done[name] > before[name] + 3
                                                      for name in before),
                           f"all go on after restart {n}")
        self.assertEqual(load.errors, [])
        self.assertLessEqual(load.uncertain, 2 * RESTARTS)

    def test_a_sidecar_that_was_away_for_long_is_found_again_soon(self):
        self.client.create_container("c")
        client = self.enterContext(Client(self.sidecar.address, check_timeout=0.2))

        def answers():
            with contextlib.suppress(SidecarError):
                return client.check("c", [Check(id=b"1")])

        wait_until(answers, "it answers")
        self.sidecar.kill()
        back = time.monotonic() + 11  # gRPC by itself would then pause for 6 s between attempts
        while time.monotonic() < back:
            self.assertIsNone(answers())
            time.sleep(0.02)
        self.sidecar.start_unseen()
        ready = time.monotonic()
        wait_until(answers, "the client has found it")
        # gRPC's own poller would look after the connection every 5 s.
        self.assertLess(time.monotonic() - ready, 3.0)
