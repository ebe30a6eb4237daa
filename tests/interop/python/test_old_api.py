"""Clients and stores with the stubs of commit 209fbae, from before expire_at, against today's
sidecar. tests/data/v1_209fbae.binpb is the API as that commit recorded it."""

import concurrent.futures
import pathlib
import threading
import time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from harness import PATIENCE, SidecarTestCase, wait_until
from ttl_sidecar import Item

_DATA = pathlib.Path(__file__).parents[2] / "data"


class OldApi:
    """The messages and methods of that commit."""

    def __init__(self):
        files = descriptor_pb2.FileDescriptorSet.FromString(
            (_DATA / "v1_209fbae.binpb").read_bytes())
        self._pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            self._pool.Add(file)
        self._factory = message_factory.MessageFactory(self._pool)

    def __getattr__(self, name):
        return self._factory.GetPrototype(self._pool.FindMessageTypeByName(f"ttl.v1.{name}"))

    def call(self, channel, service, method, **fields):
        request = getattr(self, f"{method}Request")(**fields)
        stub = channel.unary_unary(f"/ttl.v1.{service}/{method}",
                                   request_serializer=type(request).SerializeToString,
                                   response_deserializer=getattr(self, f"{method}Response").FromString)
        return stub(request, timeout=PATIENCE)

    def watch(self, channel):
        request = self.WatchContainersRequest()
        stub = channel.unary_stream(
            "/ttl.v1.ContainerService/WatchContainers",
            request_serializer=type(request).SerializeToString,
            response_deserializer=self.WatchContainersResponse.FromString)
        return stub(request, timeout=PATIENCE)


OLD = OldApi()


class OldStore(grpc.GenericRpcHandler):
    """A store with the messages of that commit: it neither compares expire_at nor says it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.items = {}  # (ts, ttl) by key
        self.sent = []

    def service(self, details):
        name = details.method.removeprefix("/ttl.v1.PrimaryStoreService/")
        if name not in ("GetStoreInfo", "DeleteItems"):
            return None
        return grpc.unary_unary_rpc_method_handler(
            getattr(self, name),
            request_deserializer=getattr(OLD, f"{name}Request").FromString,
            response_serializer=getattr(OLD, f"{name}Response").SerializeToString)

    def GetStoreInfo(self, request, context):
        response = OLD.GetStoreInfoResponse(store_id="old")
        response.now.GetCurrentTime()
        return response

    def DeleteItems(self, request, context):
        response = OLD.DeleteItemsResponse()
        with self.lock:
            for item in request.items:
                self.sent.append(item.id)
                stored = self.items.get(item.id)
                ttl = item.ttl if item.HasField("ttl") else None
                result = response.results.add()
                if stored is None:
                    result.outcome = 2  # NOT_FOUND
                elif stored != (item.ts, ttl):
                    result.outcome = 3  # MODIFIED
                    result.current.ts = stored[0]
                else:
                    result.outcome = 1  # DELETED
                    del self.items[item.id]
        response.store_now.GetCurrentTime()
        return response


class OldClients(SidecarTestCase):
    def setUp(self):
        super().setUp()
        self.channel = self.enterContext(grpc.insecure_channel(self.sidecar.address))
        self.now = int(time.time())

    def call(self, service, method, **fields):
        return OLD.call(self.channel, service, method, **fields)

    def check(self, **fields):
        response = self.call("ItemService", "CheckVisibility", container="c",
                             checks=[OLD.VisibilityCheck(**fields)])
        return response.visibilities[0], response.expire_times[0]

    def test_they_work_as_before(self):
        self.call("ContainerService", "CreateContainer",
                  container=OLD.Container(id="c", default_ttl=100))
        self.call("ItemService", "TrackItems", container="c",
                  items=[OLD.Item(id=b"a", ts=self.now), OLD.Item(id=b"b", ts=self.now, ttl=50)])
        self.assertEqual(self.check(id=b"a"), (1, self.now + 100))
        self.assertEqual(self.check(id=b"b", ts=self.now, ttl=20), (1, self.now + 20))
        item = self.call("ItemService", "GetItem", container="c", id=b"b").item
        self.assertEqual((item.item.ttl, item.ttl_source), (50, 2))
        snapshot = next(OLD.watch(self.channel))
        self.assertEqual([container.id for container in snapshot.containers], ["c"])

    def test_beside_new_ones_they_hide_nothing_by_the_old_rules(self):
        self.client.create_container("c", 10)
        end = self.now + 5000
        self.client.track("c", [Item(id=b"a", ts=self.now - 100, expire_at=end)])
        self.assertEqual(self.check(id=b"a"), (1, end))
        self.assertEqual(self.check(id=b"a", ts=self.now - 100), (1, end),
                         "it carries no expire_at, of which it does not know")
        view = self.call("ItemService", "GetItem", container="c", id=b"a").item
        self.assertEqual((view.expire_time, view.HasField("effective_ttl")), (end, False))
        self.assertEqual(len(self.call("ItemService", "ListItems", container="c").items), 1)

    def test_old_evaluators_are_not_told_of_such_containers(self):
        self.client.create_container("c", 10)
        self.client.create_container("d", 10)
        watch = OLD.watch(self.channel)
        self.assertEqual([container.id for container in next(watch).containers], ["c", "d"])
        self.client.track("c", [Item(id=b"a", ts=self.now, expire_at=self.now + 5000)])
        change = next(message for message in watch if message.deleted_containers)
        self.assertEqual(list(change.deleted_containers), ["c"])
        watch.cancel()
        snapshot = next(OLD.watch(self.channel))
        self.assertEqual([container.id for container in snapshot.containers], ["d"])


class OldStores(SidecarTestCase):
    flags = ("--policy-grace-seconds", "1")

    def test_they_are_sent_only_what_they_know(self):
        store = OldStore()
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=4),
                             handlers=[store])
        server.add_insecure_port(self.store_address)
        server.start()
        self.addCleanup(lambda: server.stop(0).wait())
        ts = int(time.time()) - 100
        store.items = {b"inherits": (ts, None), b"own": (ts, 20), b"end": (ts, None)}
        self.client.create_container("c", 10)
        self.client.track("c", [Item(id=b"end", ts=ts, expire_at=ts + 1),
                                Item(id=b"inherits", ts=ts), Item(id=b"own", ts=ts, ttl=20)])
        wait_until(lambda: store.items.keys() == {b"end"}, "the others are deleted")
        wait_until(lambda: self.client.explain_item("c", b"end").last_error, "it is looked at")
        explained = self.client.explain_item("c", b"end")
        self.assertIn("STORE_CAPABILITY_EXPIRE_AT", explained.last_error)
        self.assertEqual(list(explained.holds), [7], "DELETE_HOLD_STORE")
        self.assertTrue(explained.item.expired, "it is hidden all the same")
        self.assertNotIn(b"end", store.sent)
        self.assertIn(7, self.client.status("c").container.holds)
