"""The example store in Python (client/python/examples), as a process of its own."""

import pathlib
import subprocess
import sys

from harness import SidecarTestCase, wait_until
from ttl_sidecar import Check, Client, Visibility, serve_store

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "client/python/examples"
sys.path.append(str(EXAMPLES))
from note_store import NoteStore


class Crash(Exception):
    pass


class CrashingClient(Client):
    """Its process ends when a write is to be reported."""

    def track(self, container, items):
        raise Crash


class NoteStoreProcess:
    def __init__(self, test):
        log = test.enterContext(open(f"{test.folder}/notes.log", "a"))
        self._process = subprocess.Popen(
            [sys.executable, "-B", EXAMPLES / "note_store.py", "--data", f"{test.folder}/notes.db",
             "--listen", test.store_address, "--sidecar", test.sidecar.address],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        test.addCleanup(self.kill)

    def ask(self, line):
        """Its answer. It has a client of the usual deadlines: a command that ran into one of them
        because the machine stood still is given again, as its user would."""
        while True:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline().strip()
            if "DEADLINE_EXCEEDED" not in answer:
                return answer

    def kill(self):
        self._process.kill()
        self._process.communicate()


class NoteStoreExample(SidecarTestCase):
    # What is due when it is first reported waits for so long.
    flags = ("--policy-grace-seconds", "1")

    def setUp(self):
        super().setUp()
        self.client.create_container("notes", -1)
        self.notes = NoteStoreProcess(self)

    def tracked(self, key):
        [answer] = self.client.check("notes", [Check(id=key)])
        return answer.visibility is not Visibility.UNTRACKED

    def test_notes_are_kept_until_removed(self):
        self.assertEqual(self.notes.ask("put a 'two words'"), "ok")
        self.assertEqual(self.notes.ask("get a"), "two words")
        self.assertEqual(self.client.get_item("notes", b"a").item.sequence, 1)
        self.assertEqual(self.notes.ask("remove a"), "ok")
        self.assertEqual(self.notes.ask("get a"), "(none)")
        self.assertEqual(self.notes.ask("remove a"), "(none)")
        self.assertFalse(self.tracked(b"a"))

    def test_an_expired_note_is_missing_at_once_and_deleted_later(self):
        self.client.pause_deletes("to see what is stored", "notes")
        self.notes.ask("put a text 1")
        wait_until(lambda: self.notes.ask("get a") == "(none)", "the note is expired")
        self.assertEqual(self.notes.ask("remove a"), "(none)")
        self.assertEqual(self.notes.ask("count"), "1")
        self.client.resume_deletes("notes")
        wait_until(lambda: self.notes.ask("count") == "0", "the note is deleted")

    def test_an_expired_note_can_be_written_again(self):
        self.client.pause_deletes("to keep the old one", "notes")
        self.notes.ask("put a old 1")
        wait_until(lambda: self.notes.ask("get a") == "(none)", "the note is expired")
        self.assertEqual(self.notes.ask("put a new 3600"), "ok")
        self.client.resume_deletes("notes")
        self.notes.ask("put b other 1")
        wait_until(lambda: self.notes.ask("count") == "1", "the other note is deleted")
        self.assertEqual(self.notes.ask("get a"), "new")

    def test_a_write_is_not_acknowledged_while_it_cannot_be_reported(self):
        self.notes.ask("put a text")
        self.sidecar.kill()
        self.assertIn("UNAVAILABLE", self.notes.ask("put b text"))
        self.assertIn("UNAVAILABLE", self.notes.ask("get a"))
        self.assertEqual(self.notes.ask("count"), "1")

    def test_what_a_crash_left_unreported_is_reported_and_expires_without_another_write(self):
        self.notes.kill()
        with CrashingClient(self.sidecar.address) as client:
            store = NoteStore(f"{self.folder}/notes.db", client)
            for key, ttl in ((b"a", None), (b"b", 1)):
                with self.assertRaises(Crash):
                    store.put(key, "text", ttl)
        self.assertFalse(self.tracked(b"a"))
        self.notes = NoteStoreProcess(self)
        wait_until(lambda: self.tracked(b"a"), "the note is reported again")
        wait_until(lambda: self.notes.ask("count") == "1", "the other note is deleted")
        self.assertEqual(self.notes.ask("get a"), "text")

    def test_a_write_that_overtakes_a_read_is_judged_before_it_is_shown(self):
        self.notes.kill()
        with Client(self.sidecar.address) as client:
            store = NoteStore(f"{self.folder}/notes.db", client)
            store.put(b"a", "old")
            check = client.check

            def check_after_another_write(*arguments):
                client.check = check
                store.put(b"a", "new", 3600)
                return check(*arguments)

            client.check = check_after_another_write
            self.assertEqual(store.get(b"a"), "new")

    def test_a_scan_gives_all_notes_in_parts(self):
        self.notes.kill()
        with Client(self.sidecar.address) as client:
            store = NoteStore(f"{self.folder}/notes.db", client)
            for key in (b"", b"a", b"b"):
                store.put(key, "text", 60)
            first = store.scan("notes", None, 2)
            rest = store.scan("notes", first[-1].key, 2)
            self.assertEqual([item.id for item in [*first, *rest]], [b"", b"a", b"b"])
            self.assertEqual(rest[0], store.read("notes", rest[0].key))
            self.assertEqual(store.scan("other", None, 2), [])

    def test_a_note_rewritten_before_its_delete_arrives_lives(self):
        self.client.pause_deletes("until it is rewritten", "notes")
        self.notes.ask("put a old 1")
        wait_until(lambda: self.notes.ask("get a") == "(none)", "the note is expired")
        self.notes.kill()
        with CrashingClient(self.sidecar.address) as client, self.assertRaises(Crash):
            NoteStore(f"{self.folder}/notes.db", client).put(b"a", "new", 3600)
        server = serve_store(NoteStore(f"{self.folder}/notes.db", self.client),
                             self.store_address)
        self.addCleanup(lambda: server.stop(0).wait())
        self.client.resume_deletes("notes")
        deletes = lambda: self.client.status("notes").container.deletes
        wait_until(lambda: deletes().modified == 1, "the delete finds another version")
        [answer] = self.client.check("notes", [Check(id=b"a")])
        self.assertEqual((answer.visibility, deletes().deleted), (Visibility.VISIBLE, 0))

    def test_ttls_out_of_range_are_refused_and_nothing_is_written(self):
        for ttl in (0, -2, 2147483648):
            self.assertIn("ttl is -1 or 1 to 2147483647", self.notes.ask(f"put a text {ttl}"))
        self.assertEqual(self.notes.ask("count"), "0")
        self.assertEqual(self.notes.ask("put a text 2147483647"), "ok")
