"""After close() nothing is under way any more, and every failure is a SidecarError; and what
becomes of a client in a child process."""

import subprocess
import sys
import textwrap
import threading
import time

from harness import PATIENCE, Code, SidecarTestCase, wait_until
from ttl_sidecar import Check, Client, Deletion, Item, SidecarError


def in_thread(call):
    """Makes a call in a thread; returns a function that waits for it and gives its error."""
    raised = []

    def run():
        try:
            call()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def error():
        thread.join(PATIENCE / 2)
        return raised[0] if raised else None
    return error


class Close(SidecarTestCase):
    def setUp(self):
        super().setUp()
        self.client.create_container("c", 3600)
        self.item = Item(id=b"1", ts=int(time.time()))

    def assert_closed(self, error):
        self.assertIsInstance(error, SidecarError)
        self.assertEqual((error.code, "closed" in error.message), (Code.CANCELLED, True), error)

    def test_close_ends_what_waits_for_an_answer(self):
        watch = self.client.watch_containers(heartbeat=PATIENCE / 5)
        next(watch)
        self.sidecar.suspend()
        self.addCleanup(self.sidecar.resume)
        errors = [in_thread(call) for call in (
            lambda: self.client.check("c", [Check(id=b"1")]),
            lambda: self.client.track("c", [self.item]),
            lambda: self.client.set_default_ttl("c", 5),
            lambda: list(self.client.check_stream("c", [[Check(id=b"1")]])),
            lambda: list(watch))]
        time.sleep(0.2)  # either they wait by then, or they begin after close()
        self.client.close()
        self.client.close()
        for error in errors:
            self.assert_closed(error())

    def test_close_ends_what_waits_for_the_sidecar_to_come_back(self):
        self.sidecar.kill()
        with Client(self.sidecar.address) as client:
            errors = [in_thread(call) for call in (
                lambda: client.check("c", [Check(id=b"1")]),
                lambda: client.track("c", [self.item]),
                lambda: client.set_default_ttl("c", 5))]
            time.sleep(0.2)
        for error in errors:
            self.assert_closed(error())

    def test_every_call_after_close_is_refused_alike(self):
        client, pages = self.client, self.client.list_items("c")
        client.close()
        for call in (lambda: client.check("c", [Check(id=b"1")]),
                     lambda: client.track("c", [self.item]),
                     lambda: client.untrack("c", [Deletion(id=b"1", ts=1, sequence=1)]),
                     lambda: client.get_item("c", b"1"),
                     lambda: client.status(),
                     lambda: client.create_container("d"),
                     lambda: client.report_usage("c", 1),
                     lambda: next(pages),
                     lambda: next(client.list_statuses()),
                     lambda: next(client.check_stream("c", [[Check(id=b"1")]])),
                     lambda: next(client.track_stream("c", [[self.item]])),
                     lambda: next(client.watch_containers())):
            with self.assert_refused(Code.CANCELLED, "closed"):
                call()

    def test_close_leaves_no_thread_behind(self):
        threads = set(threading.enumerate())
        client = Client(self.sidecar.address)
        watch, replies = client.watch_containers(), client.check_stream("c", [[Check(id=b"1")]] * 9)
        next(watch), next(replies)
        client.close()
        # The readers are still there, and ask for nothing more.
        wait_until(lambda: not set(threading.enumerate()) - threads, "its threads have ended")
        self.assert_closed(in_thread(lambda: next(watch))())


class Fork(SidecarTestCase):
    def run_program(self, program):
        """What it printed. It has the client `client` of the container "c"."""
        beginning = f"""
            import multiprocessing, os, sys
            from ttl_sidecar import *
            address = {self.sidecar.address!r}
            def ask(client):
                try:
                    return client.check("c", [Check(id=b"1")])[0].visibility.name
                except SidecarError as error:
                    return f"{{error.code.name}}: {{error.message}}"
            def make():
                try:
                    return ask(Client(address, check_timeout={PATIENCE}))
                except SidecarError as error:
                    return f"{{error.code.name}}: {{error.message}}"
            def in_child(ask):
                out, into = os.pipe()
                if os.fork() == 0:
                    os.write(into, ask().encode())
                    sys.exit()
                os.close(into)
                os.wait()
                return os.read(out, 10000).decode()
            """
        text = textwrap.dedent(beginning) + textwrap.dedent(program)
        process = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                                 timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, process.stderr)
        return process.stdout.splitlines()

    def setUp(self):
        super().setUp()
        self.client.create_container("c")

    def test_a_child_is_refused_and_its_parent_goes_on(self):
        inherited, made, parent = self.run_program("""
            client = Client(address, check_timeout=60)
            ask(client)
            print(in_child(lambda: ask(client)))
            print(in_child(make))
            print(ask(client))
        """)
        self.assertRegex(inherited, "FAILED_PRECONDITION: .*fork")
        self.assertRegex(made, "FAILED_PRECONDITION: .*fork")
        self.assertEqual(parent, "UNTRACKED")

    def test_a_child_of_a_process_without_clients_makes_its_own(self):
        self.assertEqual(self.run_program("""
            print(in_child(make))
            print(in_child(make))
            print(make())
        """), ["UNTRACKED"] * 3)
