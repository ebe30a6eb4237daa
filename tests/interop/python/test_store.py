"""A store in Python: the comparison before a delete, and deletes by the real sidecar."""

import pathlib
import signal
import subprocess
import sys
import time

import grpc
from google.protobuf import duration_pb2

from harness import PATIENCE, Code, MemoryStore, SidecarTestCase, TempDirTestCase, wait_until
from ttl.v1 import primary_store_service_pb2 as pb, primary_store_service_pb2_grpc
from ttl_sidecar import Check, Item, PrimaryStore, StoreBusy, serve_store

TS = 1_000_000  # of the items in the table; they expire at TS + 10
SECOND = 1_000_000_000


class StoreAtFixedTime(MemoryStore):
    now_seconds = TS + 10

    def now_ns(self):
        return self.now_seconds * SECOND


class ConditionalDelete(TempDirTestCase):
    def setUp(self):
        super().setUp()
        self.store = StoreAtFixedTime()
        self.address = f"unix:{self.folder}/store.sock"
        self.serve(self.store, self.address)
        channel = self.enterContext(grpc.insecure_channel(self.address))
        self.stub = primary_store_service_pb2_grpc.PrimaryStoreServiceStub(channel)

    def serve(self, store, address):
        server = serve_store(store, address)
        self.addCleanup(lambda: server.stop(0).wait())

    def judged(self, **fields):
        return pb.ExpiredItem(**{"id": b"a", "ts": TS, "ttl": 10, "etag": b"v1",
                                 "expire_time": TS + 10, **fields})

    def delete(self, *items, not_after=TS + 60):
        request = pb.DeleteItemsRequest(container="c", items=items)
        request.not_after.FromSeconds(not_after)
        response = self.stub.DeleteItems(request, timeout=PATIENCE)
        self.assertEqual(response.store_now.ToNanoseconds(), self.store.now_ns())
        return response

    def outcomes(self, *items, **options):
        return [pb.DeleteOutcome.Name(result.outcome).removeprefix("DELETE_OUTCOME_")
                for result in self.delete(*items, **options).results]

    def test_deletes_that_are_meant_for_another_store_are_refused(self):
        self.store.write("c", Item(id=b"a", ts=TS, ttl=10, etag=b"v1"))
        request = pb.DeleteItemsRequest(container="c", items=[self.judged()], store_id="another")
        request.not_after.FromSeconds(TS + 60)
        with self.assertRaises(grpc.RpcError) as raised:
            self.stub.DeleteItems(request, timeout=PATIENCE)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
        request.store_id = self.store.store_id
        outcome = self.stub.DeleteItems(request, timeout=PATIENCE).results[0].outcome
        self.assertEqual(outcome, pb.DELETE_OUTCOME_DELETED)

    def test_an_item_goes_only_if_it_is_the_one_judged_and_in_time(self):
        stored = {"id": b"a", "ts": TS, "ttl": 10, "etag": b"v1"}
        table = [  # stored, judged, store's clock, not_after, outcome
            (stored, {}, TS + 10, TS + 60, "DELETED"),
            (stored, {"etag": b""}, TS + 10, TS + 60, "DELETED"),
            ({**stored, "etag": b""}, {"etag": b""}, TS + 10, TS + 60, "DELETED"),
            ({**stored, "ttl": None}, {"ttl": None}, TS + 10, TS + 60, "DELETED"),
            (None, {}, TS + 10, TS + 60, "NOT_FOUND"),
            ({**stored, "ts": TS + 1}, {}, TS + 10, TS + 60, "MODIFIED"),
            ({**stored, "ts": TS - 1}, {}, TS + 10, TS + 60, "MODIFIED"),
            ({**stored, "ttl": 11}, {}, TS + 10, TS + 60, "MODIFIED"),
            ({**stored, "ttl": None}, {}, TS + 10, TS + 60, "MODIFIED"),
            (stored, {"ttl": None}, TS + 10, TS + 60, "MODIFIED"),
            ({**stored, "expire_at": TS + 10}, {"expire_at": TS + 10}, TS + 10, TS + 60, "DELETED"),
            ({**stored, "expire_at": TS + 11}, {"expire_at": TS + 10}, TS + 10, TS + 60, "MODIFIED"),
            ({**stored, "expire_at": TS + 10}, {}, TS + 10, TS + 60, "MODIFIED"),
            (stored, {"expire_at": TS + 10}, TS + 10, TS + 60, "MODIFIED"),
            ({**stored, "etag": b"v2"}, {}, TS + 10, TS + 60, "MODIFIED"),
            ({**stored, "etag": b""}, {}, TS + 10, TS + 60, "MODIFIED"),
            ({**stored, "id": b"b"}, {}, TS + 10, TS + 60, "NOT_FOUND"),
            ({**stored, "partition_key": b"p"}, {}, TS + 10, TS + 60, "NOT_FOUND"),
            (stored, {}, TS + 9, TS + 60, "NOT_EXPIRED"),
            (stored, {}, TS + 60, TS + 60, "THROTTLED"),
            (stored, {}, TS + 59, TS + 60, "DELETED"),
            # Touched: it ends later than its ts and ttl say.
            (stored, {"expire_time": TS + 25}, TS + 24, TS + 60, "NOT_EXPIRED"),
            (stored, {"expire_time": TS + 25}, TS + 25, TS + 60, "DELETED"),
        ]
        for item, judged, now, not_after, outcome in table:
            with self.subTest(item=item, judged=judged, now=now - TS, not_after=not_after - TS):
                self.store.containers = {}
                if item is not None:
                    self.store.write("c", Item(**item))
                self.store.now_seconds = now
                self.assertEqual(self.outcomes(self.judged(**judged), not_after=not_after),
                                 [outcome])
                left = 0 if item is None or outcome == "DELETED" else 1
                self.assertEqual(len(self.store.items("c")), left)

    def test_only_a_store_that_says_so_knows_expire_at(self):
        def capabilities():
            return self.stub.GetStoreInfo(pb.GetStoreInfoRequest(), timeout=PATIENCE).capabilities
        self.assertNotIn(pb.STORE_CAPABILITY_EXPIRE_AT, capabilities())
        self.store.knows_expire_at = True
        self.assertIn(pb.STORE_CAPABILITY_EXPIRE_AT, capabilities())

    def test_a_modified_item_comes_with_what_it_is_now(self):
        current = Item(id=b"a", ts=TS + 5, etag=b"v2", sequence=2**64 - 1, size_bytes=3)
        self.store.write("c", current)
        [result] = self.delete(self.judged()).results
        self.assertEqual(result.current, current.to_proto())
        self.assertFalse(result.current.HasField("ttl"))

    def test_items_of_a_batch_are_independent_and_a_key_is_deleted_once(self):
        self.store.write("c", Item(id=b"a", ts=TS, ttl=10, etag=b"v1"))
        self.store.write("c", Item(id=b"\xff", ts=TS, ttl=10, etag=b"v2"))
        self.assertEqual(
            self.outcomes(self.judged(id=b"\xff"), self.judged(), self.judged(id=b"x"),
                          self.judged()),
            ["MODIFIED", "DELETED", "NOT_FOUND", "NOT_FOUND"])
        self.assertEqual([item.id for item in self.store.items("c")], [b"\xff"])

    def test_an_item_that_cannot_be_read_does_not_hold_up_the_others(self):
        read = self.store.read

        def read_or_fail(container, key):
            if key.id == b"broken":
                raise OSError("block 7 is damaged")
            return read(container, key)

        self.store.read = read_or_fail
        self.store.write("c", Item(id=b"a", ts=TS, ttl=10, etag=b"v1"))
        broken, good = self.delete(self.judged(id=b"broken"), self.judged()).results
        self.assertEqual((broken.outcome, broken.reason),
                         (pb.DELETE_OUTCOME_FAILED, "the item cannot be read: OSError"))
        self.assertEqual(good.outcome, pb.DELETE_OUTCOME_DELETED)

    def test_a_delete_that_raises_fails_the_call(self):
        def fail(container, keys):
            raise OSError("disk full")

        self.store.delete = fail
        self.store.write("c", Item(id=b"a", ts=TS, ttl=10, etag=b"v1"))
        with self.assertRaises(grpc.RpcError):
            self.delete(self.judged())

    def test_a_busy_store_throttles_the_whole_batch(self):
        def busy(container, keys):
            raise StoreBusy(retry_after=1.5)

        self.store.exclusive = busy
        response = self.delete(self.judged(), self.judged(id=b"b"))
        self.assertEqual([result.outcome for result in response.results],
                         [pb.DELETE_OUTCOME_THROTTLED] * 2)
        self.assertEqual(response.retry_after, duration_pb2.Duration(seconds=1, nanos=500000000))

    def test_requests_without_items_or_not_after_are_refused(self):
        without_time = pb.DeleteItemsRequest(container="c", items=[self.judged()])
        without_items = pb.DeleteItemsRequest(container="c")
        without_items.not_after.FromSeconds(TS + 60)
        for request in (without_time, without_items):
            with self.assertRaises(grpc.RpcError) as refused:
                self.stub.DeleteItems(request, timeout=PATIENCE)
            self.assertIs(refused.exception.code(), Code.INVALID_ARGUMENT)

    def test_items_beyond_what_the_store_takes_at_once_are_put_off(self):
        self.store.max_batch_items = 2
        for id in (b"a", b"b", b"c"):
            self.store.write("c", Item(id=id, ts=TS, ttl=10, etag=b"v1"))
        batch = [self.judged(id=id) for id in (b"a", b"b", b"c")]
        self.assertEqual(self.outcomes(*batch), ["DELETED", "DELETED", "THROTTLED"])
        self.assertEqual([item.id for item in self.store.items("c")], [b"c"])
        self.store.max_batch_items = 0  # no limit
        self.assertEqual(self.outcomes(*batch), ["NOT_FOUND", "NOT_FOUND", "DELETED"])

    def refused_scan(self, items, **arguments):
        """The error of a scan of a store that gives these items."""
        self.store.scan = lambda container, after, limit: items
        with self.assertRaises(grpc.RpcError) as refused:
            self.scan(**arguments)
        return refused.exception.code(), refused.exception.details()

    def test_a_scan_that_cannot_go_on_says_why(self):
        longest = Item(partition_key=b"p" * 2048, id=b"i" * 2046, ts=TS)
        self.store.scan = lambda container, after, limit: [longest] if after is None else []
        [message] = self.scan(max_items=1)
        self.assertEqual((len(message.next_page_token), self.scan(message.next_page_token)),
                         (4096, [pb.ScanItemsResponse()]))
        for item in (Item(partition_key=b"p" * 2048, id=b"i" * 2047, ts=TS),
                     Item(partition_key=b"p" * 65536, id=b"", ts=TS)):
            code, text = self.refused_scan([item], max_items=1)
            self.assertIs(code, Code.INTERNAL)
            self.assertIn(f"partition key of {len(item.partition_key)} bytes", text)
        code, text = self.refused_scan([longest] * 2, max_items=1)
        self.assertEqual((code, text), (Code.INTERNAL,
                                        "scan() gave 2 items: at most 1 were asked for"))
        code, text = self.refused_scan([longest], page_token=message.next_page_token, max_items=1)
        self.assertEqual((code, text), (Code.INTERNAL,
                                        "scan() gave the item that it was to start behind"))

    def test_the_store_says_who_it_is(self):
        info = self.stub.GetStoreInfo(pb.GetStoreInfoRequest(), timeout=PATIENCE)
        self.assertEqual((info.store_id, info.now.seconds, info.max_batch_items),
                         ("memory", TS + 10, 1000))
        self.assertEqual(list(info.capabilities),
                         [pb.STORE_CAPABILITY_ETAG, pb.STORE_CAPABILITY_SCAN])

    def scan(self, page_token=b"", max_items=10000):
        request = pb.ScanItemsRequest(container="c", page_token=page_token, max_items=max_items)
        return list(self.stub.ScanItems(request, timeout=PATIENCE))

    def test_a_scan_gives_every_item_once_over_messages_and_calls(self):
        items = [Item(partition_key=b"p" * (n % 3), id=b"%05d" % n, ts=TS) for n in range(1501)]
        for item in items:
            self.store.write("c", item)
        found, token, calls = [], b"", 0
        while calls == 0 or token:
            messages = self.scan(token, max_items=700)
            found += [item for message in messages for item in message.items]
            token = messages[-1].next_page_token
            calls += 1
        self.assertEqual(calls, 3)
        self.assertCountEqual([item.SerializeToString() for item in found],
                              [item.to_proto().SerializeToString() for item in items])

    def test_a_scan_of_nothing_is_one_empty_message(self):
        self.assertEqual(self.scan(), [pb.ScanItemsResponse()])

    def test_a_scan_refuses_what_is_no_place_and_no_number(self):
        for arguments in ({"page_token": b"x"}, {"page_token": b"\x00\x05ab"}, {"max_items": 0}):
            with self.subTest(arguments), self.assertRaises(grpc.RpcError) as refused:
                self.scan(**arguments)
            self.assertIs(refused.exception.code(), Code.INVALID_ARGUMENT)

    def test_a_store_that_cannot_scan_says_so(self):
        class Store(StoreAtFixedTime):
            scan = PrimaryStore.scan

        address = f"unix:{self.folder}/other.sock"
        self.serve(Store(), address)
        with grpc.insecure_channel(address) as channel:
            stub = primary_store_service_pb2_grpc.PrimaryStoreServiceStub(channel)
            self.assertEqual(stub.GetStoreInfo(pb.GetStoreInfoRequest()).capabilities,
                             [pb.STORE_CAPABILITY_ETAG])
            with self.assertRaises(grpc.RpcError) as refused:
                list(stub.ScanItems(pb.ScanItemsRequest(container="c", max_items=1)))
        self.assertIs(refused.exception.code(), Code.UNIMPLEMENTED)

    def test_an_address_that_cannot_be_listened_on_is_an_error(self):
        with self.assertRaises(Exception):
            self.serve(self.store, f"unix:{self.folder}/no/such/folder/store.sock")

    def test_what_read_gives_that_is_no_item_is_the_failure_of_one_item(self):
        read = self.store.read
        self.store.read = lambda container, key: (
            {"id": key.id} if key.id == b"broken" else read(container, key))
        self.store.write("c", Item(id=b"a", ts=TS, ttl=10, etag=b"v1"))
        broken, good = self.delete(self.judged(id=b"broken"), self.judged()).results
        self.assertEqual((broken.outcome, broken.reason),
                         (pb.DELETE_OUTCOME_FAILED, "the item cannot be read: read() gave a dict"))
        self.assertEqual(good.outcome, pb.DELETE_OUTCOME_DELETED)


class Socket(TempDirTestCase):
    """Who may serve at the path of a socket."""

    PROGRAM = """
import sys, time
from ttl_sidecar import PrimaryStore, serve_store
class Empty(PrimaryStore):
    store_id = sys.argv[2]
    exclusive = read = delete = None
server = serve_store(Empty(), sys.argv[1])
print("ready", flush=True)
server.wait_for_termination()
"""

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.folder) / "store.sock"
        self.address = f"unix:{self.path}"

    def start(self, address, store_id):
        process = subprocess.Popen([sys.executable, "-c", self.PROGRAM, address, store_id],
                                   stdout=subprocess.PIPE)
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stdout.close()))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def store_id(self):
        with grpc.insecure_channel(self.address) as channel:
            stub = primary_store_service_pb2_grpc.PrimaryStoreServiceStub(channel)
            return stub.GetStoreInfo(pb.GetStoreInfoRequest(), timeout=PATIENCE).store_id

    def test_the_socket_that_a_killed_store_left_is_replaced(self):
        for scheme in ("unix:", "unix://"):
            killed = self.start(f"{scheme}{self.path}", "killed")
            killed.kill()
            killed.wait()
            self.assertTrue(self.path.exists())
            next_one = self.start(f"{scheme}{self.path}", "next")
            self.assertEqual(self.store_id(), "next")
            next_one.kill()
            next_one.wait()

    def test_a_socket_that_a_store_answers_on_is_not_taken(self):
        first = self.start(self.address, "first")
        with self.assertRaisesRegex(OSError, "in use"):
            serve_store(MemoryStore(), self.address)
        first.send_signal(signal.SIGSTOP)  # it answers nothing; its socket is its own all the same
        with self.assertRaisesRegex(OSError, "in use"):
            serve_store(MemoryStore(), self.address)
        first.send_signal(signal.SIGCONT)
        self.assertEqual(self.store_id(), "first")
        # Also of a server that knows nothing of locks.
        (self.path.parent / "store.sock.lock").unlink()
        with self.assertRaisesRegex(OSError, "a server answers on it"):
            serve_store(MemoryStore(), self.address)
        self.assertEqual(self.store_id(), "first")

    def test_what_is_no_socket_is_left_alone(self):
        self.path.write_text("precious")
        with self.assertRaisesRegex(OSError, "not a socket"):
            serve_store(MemoryStore(), self.address)
        self.assertEqual(self.path.read_text(), "precious")

    def test_a_store_can_be_stopped_and_served_again(self):
        for _ in range(3):
            server = serve_store(MemoryStore(), self.address)
            self.assertEqual(self.store_id(), "memory")
            server.stop(0).wait()


class Sweep(SidecarTestCase):
    flags = ("--policy-grace-seconds", "1")

    def setUp(self):
        super().setUp()
        self.store = MemoryStore()
        self.client.create_container("c", -1)

    def serve(self):
        server = serve_store(self.store, self.store_address)
        self.addCleanup(lambda: server.stop(0).wait())

    def write(self, id, report=True, **fields):
        item = Item(id=id, **fields)
        self.store.write("c", item)
        if report:
            self.client.track("c", [item])

    def deletes(self):
        return self.client.status("c").container.deletes

    def test_expired_items_are_deleted_and_modified_ones_live(self):
        past, now = int(time.time()) - 100, int(time.time())
        self.write(b"expired", ts=past, ttl=10, etag=b"\x00\xff", sequence=1)
        self.write(b"\xff\x00not-text", ts=past, ttl=10)
        self.write(b"live", ts=now, ttl=3600)
        self.write(b"for ever", ts=past)
        self.write(b"rewritten", ts=past, ttl=10, etag=b"1", sequence=2)
        # Written again, and the report is lost.
        self.write(b"rewritten", report=False, ts=now, ttl=1800, etag=b"2", sequence=3)
        self.serve()
        wait_until(lambda: self.deletes().deleted == 2 and self.deletes().modified == 1,
                   "two are deleted and one is found modified")
        self.assertEqual(sorted(item.id for item in self.store.items("c")),
                         [b"for ever", b"live", b"rewritten"])
        [answer] = self.client.check("c", [Check(id=b"rewritten")])
        self.assertEqual((answer.expired, answer.expire_time), (False, now + 1800))

    def test_a_default_ttl_reaches_items_that_were_there_before(self):
        past = int(time.time()) - 100
        for n in range(1200):
            self.store.write("c", Item(id=b"%d" % n, ts=past))
        self.client.track("c", self.store.items("c"))
        self.serve()
        self.client.set_default_ttl("c", 50)
        wait_until(lambda: not self.store.items("c"), "all items are deleted")
        wait_until(lambda: self.deletes().deleted == 1200, "1200 deletes are counted")
        self.assertGreater(self.store.batches, 1)

    def test_a_store_that_is_busy_is_asked_again(self):
        exclusive, turned_away = self.store.exclusive, []

        def busy_at_first(container, keys):
            if not turned_away:
                turned_away.append(keys)
                raise StoreBusy(retry_after=0.1)
            return exclusive(container, keys)

        self.store.exclusive = busy_at_first
        self.write(b"a", ts=int(time.time()) - 100, ttl=10)
        self.serve()
        wait_until(lambda: self.deletes().deleted == 1, "the item is deleted")
        self.assertEqual((self.deletes().throttled, self.store.items("c")), (1, []))

    def test_nothing_is_deleted_while_deletes_are_paused(self):
        self.client.pause_deletes("test", "c")
        self.write(b"a", ts=int(time.time()) - 100, ttl=10)
        self.serve()
        wait_until(lambda: self.client.status("c").container.backlog == 1, "the item is due")
        self.assertEqual(len(self.store.items("c")), 1)
        self.client.resume_deletes("c")
        wait_until(lambda: not self.store.items("c"), "the item is deleted")
