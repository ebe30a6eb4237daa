"""The feed, against a scripted sidecar and the real one."""

import collections
import time

from google.protobuf import duration_pb2

from harness import Code, MemoryStore, SidecarTestCase, TempDirTestCase, wait_until
from scripted_sidecar import ScriptedSidecar, fails_with, serve_script
from test_readme import code_blocks
from ttl.v1 import container_pb2, container_service_pb2, feed_pb2, feed_service_pb2 as pb
from ttl_sidecar import Client, Item, SidecarError, serve_store


def response(token, *sequences):
    return pb.WatchEventsResponse(token=token, epoch=7, events=[
        feed_pb2.Event(kind=feed_pb2.EVENT_KIND_EXPIRED, sequence=sequence)
        for sequence in sequences])


class Feed(TempDirTestCase):
    def setUp(self):
        super().setUp()
        self.script = ScriptedSidecar()
        self.script.answer = self.watch
        self.seen = []
        # For each stream what it sends, and the code with which it ends; None: it stays open.
        self.streams = collections.deque()
        self.closed = []
        self.client = self.enterContext(Client(serve_script(self, self.script)))

    def watch(self, request, context):
        self.seen.append(request)
        responses, code = self.streams.popleft()
        if code is None:
            # gRPC does not ask for more of a stream that is cancelled while it sends.
            context.add_callback(lambda: self.closed.append(request))
        yield from responses
        if code is not None:
            context.abort(code, "told so")
        wait_until(lambda: not context.is_active(), "the client cancels")

    def answer(self, response):
        """Records requests, and answers each of them so."""
        def answer(request, context):
            self.seen.append(request)
            return response
        self.script.answer = answer

    def test_what_is_watched_arrives_as_given(self):
        self.streams += [([response(b"t")], None)] * 3
        for watch in (self.client.watch_events(["c", "d"], b"start",
                                               kinds=[1, "EVENT_KIND_PURGED"], heartbeat=2.5),
                      self.client.watch_subscription("c", "archive"),
                      self.client.watch_events(iter(["c"]))):
            self.assertEqual(next(watch).token, b"t")
            watch.close()
        first, second, third = self.seen
        self.assertEqual(first, pb.WatchEventsRequest(
            containers=pb.WatchedContainers(ids=["c", "d"], token=b"start", kinds=[1, 2]),
            heartbeat_interval=duration_pb2.Duration(seconds=2, nanos=500_000_000)))
        self.assertEqual(second, pb.WatchEventsRequest(
            subscription=pb.WatchedSubscription(container="c", name="archive"),
            heartbeat_interval=duration_pb2.Duration(seconds=1)))
        self.assertEqual(third.containers, pb.WatchedContainers(ids=["c"]))

    def test_a_watch_that_is_left_early_ends_its_stream(self):
        self.streams.append(([response(b"t", 1)], None))
        watch = self.client.watch_events(["c"])
        next(watch)
        watch.close()
        wait_until(lambda: self.closed, "the stream is cancelled")

    def test_values_of_the_wrong_type_send_nothing(self):
        for call in (lambda: self.client.watch_events("c"),
                     lambda: self.client.watch_events(["c"], "token"),
                     lambda: self.client.watch_events(["c"], kinds="EVENT_KIND_EXPIRED"),
                     lambda: self.client.watch_events(["c"], heartbeat="1"),
                     lambda: self.client.acknowledge("c", "a", 7, 1.5),
                     lambda: self.client.create_subscription("c", "a", kinds="EVENT_KIND_GONE")):
            with self.assertRaises(TypeError):
                call()
        with self.assertRaises(ValueError):
            self.client.acknowledge("c", "a", -1, 1)
        self.assertEqual(self.seen, [])

    def test_a_stream_that_breaks_is_resumed_behind_what_was_dealt_with(self):
        self.streams += [([response(b"t1", 3), response(b"t2")], Code.UNAVAILABLE),
                         ([], Code.UNAVAILABLE), ([response(b"t3", 4)], None)]
        watch = self.client.watch_events(["c"], b"t0")
        got = [[event.sequence for event in next(watch).events] for _ in range(3)]
        watch.close()
        self.assertEqual(got, [[3], [], [4]])
        self.assertEqual([seen.containers.token for seen in self.seen], [b"t0", b"t2", b"t2"])
        self.assertEqual(self.seen[2].containers.ids, ["c"])

    def test_a_stream_that_the_sidecar_ends_or_that_falls_silent_is_resumed_too(self):
        self.streams += [([response(b"t1")], None), ([response(b"t2")], None)]
        watch = self.client.watch_events(["c"], heartbeat=0.1)
        self.assertEqual([next(watch).token, next(watch).token], [b"t1", b"t2"])
        watch.close()
        self.script.answer = lambda request, context: iter([response(b"t")])
        watch = self.client.watch_events(["c"])
        self.assertEqual([next(watch).token for _ in range(3)], [b"t"] * 3)
        watch.close()

    def test_a_subscription_is_resumed_by_its_name(self):
        self.streams += [([response(b"t1", 3)], Code.UNAVAILABLE), ([response(b"t1", 3)], None)]
        watch = self.client.watch_subscription("c", "archive")
        self.assertEqual([next(watch).events[0].sequence for _ in range(2)], [3, 3])
        watch.close()
        self.assertEqual(self.seen[0], self.seen[1])

    def test_what_may_pass_is_tried_again(self):
        codes = [Code.RESOURCE_EXHAUSTED, Code.INTERNAL, Code.UNKNOWN, Code.CANCELLED]
        self.streams += [([response(b"t")], code) for code in codes] + [([response(b"end")], None)]
        watch = self.client.watch_events(["c"])
        self.assertEqual([next(watch).token for _ in range(5)], [b"t"] * 4 + [b"end"])
        watch.close()

    def test_what_does_not_pass_is_raised(self):
        for code in (Code.OUT_OF_RANGE, Code.INVALID_ARGUMENT, Code.NOT_FOUND,
                     Code.FAILED_PRECONDITION, Code.PERMISSION_DENIED, Code.UNAUTHENTICATED,
                     Code.UNIMPLEMENTED):
            with self.subTest(code):
                self.seen.clear()
                self.streams.append(([response(b"t")], code))
                watch = self.client.watch_events(["c"])
                next(watch)
                with self.assert_refused(code, "told so"):
                    next(watch)
                self.assertEqual(len(self.seen), 1)

    def test_an_error_before_the_first_response_is_raised(self):
        for code in (Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED):
            self.streams.append(([], code))
            with self.assert_refused(code):
                next(self.client.watch_events(["c"]))
        with Client(f"unix:{self.folder}/nobody.sock") as client, \
                self.assertRaises(SidecarError) as raised:
            next(client.watch_events(["c"], heartbeat=0.05))
        self.assertIn(raised.exception.code, (Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED))

    def test_close_ends_a_watch(self):
        self.streams.append(([response(b"t")], None))
        watch = self.client.watch_events(["c"])
        next(watch)
        self.client.close()
        with self.assert_refused(Code.CANCELLED, "closed"):
            next(watch)

    def test_an_acknowledgement_is_sent_again_until_it_is_answered(self):
        refuse = fails_with(Code.UNAVAILABLE)

        def answer(request, context):
            self.seen.append(request)
            if len(self.seen) < 6:
                refuse(request, context)
            return pb.AcknowledgeResponse(acknowledged_sequence=43)

        self.script.answer = answer
        self.assertEqual(self.client.acknowledge("c", "archive", 2**64 - 1, 42), 43)
        self.assertEqual(self.seen, [pb.AcknowledgeRequest(
            container="c", name="archive", epoch=2**64 - 1, sequence=42)] * 6)

    def test_subscriptions_are_created_and_deleted_once(self):
        self.answer(pb.CreateSubscriptionResponse(subscription=feed_pb2.Subscription(name="a")))
        self.assertEqual(self.client.create_subscription(
            "c", "a", kinds=[feed_pb2.EVENT_KIND_EXPIRED], consumer="cn:shipping").name, "a")
        self.answer(pb.DeleteSubscriptionResponse())
        self.assertIsNone(self.client.delete_subscription("c", "a"))
        self.assertEqual(self.seen, [
            pb.CreateSubscriptionRequest(subscription=feed_pb2.Subscription(
                container="c", name="a", kinds=[1], consumer="cn:shipping")),
            pb.DeleteSubscriptionRequest(container="c", name="a")])
        self.script.answer = fails_with(Code.UNAVAILABLE)
        with self.assert_refused(Code.UNAVAILABLE):
            self.client.create_subscription("c", "a")
        with self.assert_refused(Code.UNAVAILABLE):
            self.client.delete_subscription("c", "a")
        self.assertEqual(self.script.calls, {"CreateSubscription": 2, "DeleteSubscription": 2})

    def test_subscriptions_are_read_and_listed_page_by_page(self):
        pages = {"": ("a", "next"), "next": ("b", "")}

        def answer(request, context):
            self.seen.append(request)
            if isinstance(request, pb.GetSubscriptionRequest):
                return pb.GetSubscriptionResponse(
                    subscription=feed_pb2.Subscription(name=request.name))
            name, token = pages[request.page_token]
            return pb.ListSubscriptionsResponse(
                subscriptions=[feed_pb2.Subscription(name=name)], next_page_token=token)

        self.script.answer = answer
        self.assertEqual(self.client.get_subscription("c", "a").name, "a")
        names = [subscription.name for subscription in self.client.list_subscriptions("c")]
        self.assertEqual(names, ["a", "b"])
        self.assertEqual([seen.container for seen in self.seen], ["c"] * 3)
        list(self.client.list_subscriptions())
        self.assertEqual(self.seen[-1].container, "")

    def test_the_example_of_the_page_acknowledges_what_it_has_dealt_with(self):
        self.streams.append(([response(b"t"), response(b"t", 3, 4)], Code.OUT_OF_RANGE))
        acknowledged, reminded = [], []

        def answer(request, context):
            if isinstance(request, pb.WatchEventsRequest):
                return self.watch(request, context)
            acknowledged.append((request.container, request.name, request.epoch, request.sequence))
            return pb.AcknowledgeResponse()

        self.script.answer = answer
        [(_, code)] = code_blocks("client/feed.md", ["python"])
        with self.assert_refused(Code.OUT_OF_RANGE):
            exec(code.replace("unix:/run/ttl-sidecar/sidecar.sock", self.client.address),
                 {"remind_owner": lambda id, time: reminded.append(id)})
        self.assertEqual(len(reminded), 2)
        self.assertEqual(acknowledged, [("salesdb/carts", "mail", 7, 4)])
        self.assertEqual(self.seen[0].subscription.name, "mail")

    def test_a_container_has_a_feed_if_it_is_given_one(self):
        self.answer(container_service_pb2.CreateContainerResponse())
        settings = feed_pb2.FeedSettings(max_bytes=1 << 20,
                                         notice=duration_pb2.Duration(seconds=600))
        for feed in (None, feed_pb2.FeedSettings(), settings):
            self.client.create_container("c", 60, feed=feed)
        self.assertEqual([seen.container.HasField("feed") for seen in self.seen],
                         [False, True, True])
        self.assertEqual(self.seen[2].container.feed, settings)


class RealFeed(SidecarTestCase):
    def setUp(self):
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(lambda server: server.stop(0).wait(),
                        serve_store(self.store, self.store_address))
        self.client.create_container("c", -1, feed=feed_pb2.FeedSettings())
        self.client.create_subscription("c", "s")

    def write(self, id):
        """An item that lives for a second."""
        item = Item(id=id, ts=int(time.time()), ttl=1)
        self.store.write("c", item)
        self.client.track("c", [item])
        return item

    def events(self, watch, kind, id):
        """Those up to the event of that kind and item, and the response that brought it."""
        events = []
        for response in watch:
            for event in response.events:
                events.append(event)
                if (event.kind, event.id) == (kind, id):
                    return events, response
        raise AssertionError("the watch has ended")

    def test_an_item_is_told_at_its_second_and_when_it_is_deleted(self):
        item = self.write(b"a")
        watch = self.client.watch_subscription("c", "s")
        (expired, purged), response = self.events(watch, feed_pb2.EVENT_KIND_PURGED, b"a")
        watch.close()
        self.assertEqual((expired.kind, expired.ts, expired.expire_time),
                         (feed_pb2.EVENT_KIND_EXPIRED, item.ts, item.ts + 1))
        self.assertEqual(purged.expired_sequence, expired.sequence)
        self.assertEqual(self.store.items("c"), [])
        self.assertEqual(self.client.acknowledge("c", "s", response.epoch, purged.sequence),
                         purged.sequence)
        [subscription] = self.client.list_subscriptions("c")
        self.assertEqual(subscription.acknowledged_sequence, purged.sequence)
        self.assertFalse(subscription.HasField("oldest_unacknowledged_time"))

    def test_watches_go_on_where_they_were_over_a_restart(self):
        tokens = self.client.watch_events(["c"], kinds=[feed_pb2.EVENT_KIND_EXPIRED])
        subscription = self.client.watch_subscription("c", "s")
        next(tokens)
        next(subscription)
        self.write(b"a")
        self.events(tokens, feed_pb2.EVENT_KIND_EXPIRED, b"a")
        [old], response = self.events(subscription, feed_pb2.EVENT_KIND_EXPIRED, b"a")
        self.sidecar.kill()
        self.sidecar.start()
        with self.assert_refused(Code.OUT_OF_RANGE) as refused:
            self.client.acknowledge("c", "s", response.epoch, old.sequence)
        self.assertEqual(refused.error.reason, "SEQUENCE_NOT_SENT")
        self.write(b"b")
        events, _ = self.events(tokens, feed_pb2.EVENT_KIND_EXPIRED, b"b")
        self.assertEqual([event.id for event in events], [b"b"])
        events, response = self.events(subscription, feed_pb2.EVENT_KIND_EXPIRED, b"b")
        self.assertEqual(events[0], old)
        self.client.acknowledge("c", "s", response.epoch, events[-1].sequence)
        tokens.close()
        subscription.close()

    def test_a_token_of_a_log_that_is_gone_says_what_to_do(self):
        watch = self.client.watch_events(["c"])
        token = next(watch).token
        watch.close()
        self.client.delete_subscription("c", "s")
        container = self.client.get_container("c")
        feed = container_pb2.Container(id="c", feed=container.feed)
        self.client.update_container(container_pb2.Container(id="c"), ["feed"])
        with self.assert_refused(Code.FAILED_PRECONDITION):
            next(self.client.watch_events(["c"]))
        self.client.update_container(feed, ["feed"])
        with self.assert_refused(Code.OUT_OF_RANGE, "compare with the store") as refused:
            next(self.client.watch_events(["c"], token))
        self.assertEqual(refused.error.reason, "LOG_REPLACED")
