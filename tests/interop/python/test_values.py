"""What a value may be is checked when it is made, before anything is sent."""

import copy
import pickle

import grpc

from harness import TempDirTestCase
from ttl_sidecar import (
    Answer, Check, Client, Deletion, Item, Key, Reply, SidecarError, StoreBusy, TrackResult,
    Visibility)

TS = 1767225600


class Values(TempDirTestCase):
    def test_a_key_that_is_missing_is_not_the_empty_key(self):
        client = self.enterContext(Client(f"unix:{self.folder}/nobody.sock"))
        for make in (lambda: Item(id=None, ts=TS), lambda: Item(id=b"a", partition_key=None, ts=TS),
                     lambda: Deletion(id=None, ts=TS), lambda: Check(id=None),
                     lambda: client.get_item("c", None), lambda: client.explain_item("c", None)):
            with self.assertRaisesRegex(TypeError, "= None: bytes are required"):
                make()
        self.assertEqual(Item(id=b"", ts=TS).id, b"")

    def test_what_does_not_fit_its_field_is_refused_and_named(self):
        class Number:
            def __index__(self):
                return 60

        for fields, error in (
                ({"ttl": True}, TypeError), ({"ttl": False}, TypeError), ({"ttl": 60.0}, TypeError),
                ({"ttl": "60"}, TypeError), ({"ts": True}, TypeError), ({"ts": None}, TypeError),
                ({"sequence": True}, TypeError), ({"size_bytes": True}, TypeError),
                ({"id": "a"}, TypeError), ({"id": 5}, TypeError), ({"etag": "v"}, TypeError),
                ({"ts": 2**63}, ValueError), ({"ttl": -2**63 - 1}, ValueError),
                ({"sequence": -1}, ValueError), ({"sequence": 2**64}, ValueError)):
            with self.subTest(fields):
                [field] = fields
                with self.assertRaisesRegex(error, f"^{field} = "):
                    Item(**{"id": b"a", "ts": TS, **fields})
        for make in (lambda: Check(id=b"a", ts=True), lambda: Check(id=b"a", ttl=True),
                     lambda: Deletion(id=b"a", ts=True), lambda: Deletion(id=b"a", ts=None)):
            with self.assertRaises(TypeError):
                make()
        self.assertEqual(Item(id=b"a", ts=TS, ttl=Number()).to_proto().ttl, 60)

    def test_a_boolean_is_no_default_ttl(self):
        client = self.enterContext(Client(f"unix:{self.folder}/nobody.sock", admin_timeout=1.0))
        with self.assertRaisesRegex(TypeError, "default_ttl = True"):
            client.create_container("c", True)
        with self.assertRaisesRegex(TypeError, "default_ttl = True"):
            client.set_default_ttl("c", True)

    def test_values_and_errors_can_be_pickled_and_copied(self):
        error = SidecarError(grpc.StatusCode.NOT_FOUND, "no such container", 1.5)
        for copied in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            self.assertIs(type(copied), SidecarError)
            self.assertEqual((copied.code, copied.message, copied.retry_after, str(copied)),
                             (error.code, error.message, error.retry_after, str(error)))
        busy = pickle.loads(pickle.dumps(StoreBusy(1.5)))
        self.assertEqual((busy.retry_after, str(busy)), (1.5, "busy for 1.5 s"))
        reply = pickle.loads(pickle.dumps(Reply(None, error)))
        self.assertEqual(reply.error.message, error.message)
        for value in (Item(id=b"a", ts=TS, ttl=5), Deletion(id=b"a", ts=TS), Check(id=b"a"),
                      Key(b"p", b"a"), Answer(Visibility.EXPIRED, TS, None), Reply([1]),
                      TrackResult.STALE):
            self.assertEqual(pickle.loads(pickle.dumps(value)), value)
