"""Gated subscriptions, against a scripted sidecar and the real one."""

import time

from google.protobuf import duration_pb2

from harness import MemoryStore, SidecarTestCase, TempDirTestCase, wait_until
from scripted_sidecar import ScriptedSidecar, serve_script
from ttl.v1 import expiry_service_pb2, feed_pb2, feed_service_pb2 as pb
from ttl_sidecar import Client, Item, serve_store


class Gates(TempDirTestCase):
    def setUp(self):
        super().setUp()
        self.script = ScriptedSidecar()
        self.script.answer = self.create
        self.seen = []
        self.client = self.enterContext(Client(serve_script(self, self.script)))

    def create(self, request, context):
        self.seen.append(request.subscription)
        return pb.CreateSubscriptionResponse(subscription=request.subscription)

    def test_a_gate_arrives_as_given(self):
        subscription = {"container": "c", "name": "archive"}
        self.client.create_subscription("c", "archive")
        self.client.create_subscription("c", "archive", gate=True)
        made = self.client.create_subscription("c", "archive", gate=True, give_up_after=604800,
                                               kinds=[feed_pb2.EVENT_KIND_EXPIRED])
        gate = feed_pb2.Subscription(**subscription, gate=True, kinds=[1],
                                     give_up_after=duration_pb2.Duration(seconds=604800))
        self.assertEqual(self.seen, [feed_pb2.Subscription(**subscription),
                                     feed_pb2.Subscription(**subscription, gate=True), gate])
        self.assertEqual(made, gate)

    def test_values_of_the_wrong_type_send_nothing(self):
        for arguments in ({"gate": "yes"}, {"give_up_after": 1.5}, {"give_up_after": True},
                          {"give_up_after": duration_pb2.Duration(seconds=1)}):
            with self.subTest(arguments), self.assertRaises(TypeError):
                self.client.create_subscription("c", "a", **arguments)
        self.assertEqual(self.seen, [])

    def test_a_purge_names_who_was_given_up(self):
        def answer(request, context):
            yield pb.WatchEventsResponse(token=b"t", events=[feed_pb2.Event(
                kind=feed_pb2.EVENT_KIND_PURGED, given_up_subscriptions=["archive", "mail"])])
            wait_until(lambda: not context.is_active(), "the client cancels")
        self.script.answer = answer
        watch = self.client.watch_events(["c"])
        [event] = next(watch).events
        watch.close()
        self.assertEqual(list(event.given_up_subscriptions), ["archive", "mail"])


class RealGates(SidecarTestCase):
    def setUp(self):
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(lambda server: server.stop(0).wait(),
                        serve_store(self.store, self.store_address))
        self.client.create_container("c", -1, feed=feed_pb2.FeedSettings())

    def write(self, id):
        """An item that lives for a second."""
        item = Item(id=id, ts=int(time.time()), ttl=1)
        self.store.write("c", item)
        self.client.track("c", [item])
        return item

    def event(self, watch, kind, id):
        """The event of that kind and item, and the epoch of its log."""
        for response in watch:
            for event in response.events:
                if (event.kind, event.id) == (kind, id):
                    return event, response.epoch
        raise AssertionError("the watch has ended")

    def test_an_item_is_deleted_only_after_its_acknowledgement(self):
        gate = self.client.create_subscription("c", "archive", gate=True)
        self.assertTrue(gate.gate)
        self.assertFalse(gate.HasField("give_up_after"))
        item = self.write(b"a")
        watch = self.client.watch_subscription("c", "archive")
        expired, epoch = self.event(watch, feed_pb2.EVENT_KIND_EXPIRED, b"a")
        wait_until(lambda: self.client.status("c").container.feed.gated_items == 1, "it waits")
        status = self.client.status("c").container
        self.assertEqual(list(status.feed.waiting_for), ["archive"])
        self.assertIn(expiry_service_pb2.DELETE_HOLD_GATE, status.holds)
        self.assertEqual(list(self.client.explain_item("c", b"a").waiting_for), ["archive"])
        self.assertEqual(self.store.items("c"), [item])
        self.client.acknowledge("c", "archive", epoch, expired.sequence)
        purged, _ = self.event(watch, feed_pb2.EVENT_KIND_PURGED, b"a")
        watch.close()
        self.assertEqual(purged.expired_sequence, expired.sequence)
        self.assertEqual(list(purged.given_up_subscriptions), [])
        self.assertEqual(self.store.items("c"), [])

    def test_a_gate_that_gives_up_is_named_in_the_purge(self):
        self.client.create_subscription("c", "archive", gate=True, give_up_after=1)
        watch = self.client.watch_events(["c"])
        next(watch)
        self.write(b"a")
        purged, _ = self.event(watch, feed_pb2.EVENT_KIND_PURGED, b"a")
        watch.close()
        self.assertEqual(list(purged.given_up_subscriptions), ["archive"])
        wait_until(lambda: not self.store.items("c"), "it is deleted")
        [subscription] = self.client.list_subscriptions("c")
        self.assertGreaterEqual(subscription.given_up_sequence, purged.expired_sequence)

    def test_nothing_waits_for_a_gate_that_is_deleted(self):
        self.client.create_subscription("c", "archive", gate=True)
        self.write(b"a")
        wait_until(lambda: self.client.status("c").container.feed.gated_items == 1, "it waits")
        self.client.delete_subscription("c", "archive")
        wait_until(lambda: not self.store.items("c"), "it is deleted")
