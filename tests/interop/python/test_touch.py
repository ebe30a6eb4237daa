"""Touches, against a scripted sidecar and the real one."""

import time

from google.protobuf import duration_pb2

from harness import Code, MemoryStore, SidecarTestCase, TempDirTestCase, wait_until
from scripted_sidecar import ScriptedSidecar, fails_with, serve_script
from ttl.v1 import container_pb2, container_service_pb2, item_service_pb2 as pb
from ttl_sidecar import (
    Check, Client, Item, Key, Touched, TouchResult, Visibility, serve_store)


class Touch(TempDirTestCase):
    def setUp(self):
        super().setUp()
        self.script = ScriptedSidecar()
        self.script.answer = self.touch
        self.seen = []
        self.client = self.enterContext(Client(serve_script(self, self.script)))

    def touch(self, request, context):
        """Touches every item."""
        self.seen.append(request)
        count = len(request.keys)
        return pb.TouchItemsResponse(results=[pb.TOUCH_RESULT_TOUCHED] * count,
                                     expire_times=[160] * count, touch_time=100)

    def answer(self, response):
        """Records requests, and answers each of them so."""
        def answer(request, context):
            self.seen.append(request)
            return response
        self.script.answer = answer

    def test_what_is_touched_arrives_as_given(self):
        keys = [Key(b"p", b"a"), (b"", b"\x00")]
        self.client.touch("c", keys)
        self.client.touch("c", iter(keys), unless_touched_within=300)
        self.assertEqual(self.seen, [
            pb.TouchItemsRequest(
                container="c", unless_touched_within=duration_pb2.Duration(seconds=within),
                keys=[pb.ItemKey(partition_key=b"p", id=b"a"), pb.ItemKey(id=b"\x00")])
            for within in (0, 300)])

    def test_each_key_has_its_result_and_a_new_one_is_unknown(self):
        self.answer(pb.TouchItemsResponse(results=[1, 2, 3, 4, 99], expire_times=[160, 150, 90, 0, 0],
                                          touch_time=100))
        keys = [Key(b"", b"%d" % i) for i in range(5)]
        self.assertEqual(self.client.touch("c", keys), [
            Touched(TouchResult.TOUCHED, 160, 100), Touched(TouchResult.RECENT, 150, 100),
            Touched(TouchResult.EXPIRED, 90, 100), Touched(TouchResult.NOT_TRACKED, None, 100),
            Touched(TouchResult.UNKNOWN, None, 100)])

    def test_an_answer_of_another_length_is_refused(self):
        for response in (pb.TouchItemsResponse(results=[1], expire_times=[160]),
                         pb.TouchItemsResponse(results=[1, 1], expire_times=[160])):
            self.answer(response)
            with self.assert_refused(Code.INTERNAL, "1", "2"):
                self.client.touch("c", [Key(b"", b"a"), Key(b"", b"b")])

    def test_many_keys_are_sent_a_thousand_at_a_time(self):
        touched = self.client.touch("c", [Key(b"", b"%d" % i) for i in range(2500)],
                                    unless_touched_within=60)
        self.assertEqual([len(seen.keys) for seen in self.seen], [1000, 1000, 500])
        self.assertEqual(self.seen[2].keys[0].id, b"2000")
        self.assertEqual({seen.unless_touched_within.seconds for seen in self.seen}, {60})
        self.assertEqual(touched, [Touched(TouchResult.TOUCHED, 160, 100)] * 2500)
        self.assertEqual(self.client.touch("c", []), [])

    def test_values_of_the_wrong_type_send_nothing(self):
        for arguments in ({"keys": [("p", "a")]}, {"keys": [b"a"]}, {"keys": [Key(b"p", None)]},
                          {"keys": [], "unless_touched_within": 1.5},
                          {"keys": [], "unless_touched_within": True}):
            with self.subTest(arguments), self.assertRaises((TypeError, ValueError)):
                self.client.touch("c", **arguments)
        self.assertEqual(self.seen, [])

    def test_a_touch_is_sent_again_until_it_is_answered(self):
        refuse = fails_with(Code.UNAVAILABLE)
        self.script.answer = lambda request, context: (
            refuse if self.script.calls["TouchItems"] < 6 else self.touch)(request, context)
        self.client.touch("c", [Key(b"", b"a")])
        self.assertEqual(self.script.calls, {"TouchItems": 6})

    def test_a_full_queue_is_tried_four_times_and_a_refusal_once(self):
        for code, attempts in ((Code.RESOURCE_EXHAUSTED, 4), (Code.FAILED_PRECONDITION, 1)):
            self.script.calls.clear()
            self.script.answer = fails_with(code)
            with self.assert_refused(code):
                self.client.touch("c", [Key(b"", b"a")])
            self.assertEqual(self.script.calls, {"TouchItems": attempts})

    def test_a_container_allows_it_if_it_is_told_so(self):
        self.answer(container_service_pb2.CreateContainerResponse())
        self.client.create_container("c", 60)
        self.client.create_container("c", 60, allow_touch=True)
        self.assertEqual([seen.container.allow_touch for seen in self.seen], [False, True])

    def test_a_watcher_says_whether_it_knows_touches(self):
        for touch, rules in ((False, []), (True, [container_service_pb2.JUDGING_RULE_TOUCH])):
            def answer(request, context):
                self.seen.append(list(request.rules))
                return iter([container_service_pb2.WatchContainersResponse(revision=7)])
            self.script.answer = answer
            messages = self.client.watch_containers(touch=touch)
            self.assertEqual(next(messages).revision, 7)
            messages.close()
            self.assertEqual(self.seen[-1], rules)


class RealTouch(SidecarTestCase):
    def test_a_touched_item_lives_on_and_is_deleted_at_its_new_second(self):
        store = MemoryStore()
        self.addCleanup(lambda server: server.stop(0).wait(),
                        serve_store(store, self.store_address))
        self.client.create_container("c", -1, allow_touch=True)
        ts = int(time.time())
        items = [Item(id=b"left", ts=ts, ttl=4), Item(id=b"touched", ts=ts, ttl=7)]
        for item in items:
            store.write("c", item)
        self.client.track("c", items)
        wait_until(lambda: self.client.check("c", [Check(id=b"left")])[0].judged_at.timestamp()
                   >= ts + 2, "two seconds have passed")
        [touched, missing] = self.client.touch("c", [items[1].key, Key(b"", b"missing")])
        self.assertEqual(touched.result, TouchResult.TOUCHED)
        self.assertGreaterEqual(touched.touch_time, ts + 2)
        self.assertEqual(touched.expire_time, touched.touch_time + 7)
        self.assertEqual(missing, Touched(TouchResult.NOT_TRACKED, None, touched.touch_time))
        [recent] = self.client.touch("c", [items[1].key], unless_touched_within=3600)
        self.assertEqual((recent.result, recent.expire_time),
                         (TouchResult.RECENT, touched.expire_time))

        wait_until(lambda: items[0] not in store.items("c"), "the other one is deleted")
        wait_until(lambda: self.client.check("c", [Check(id=b"left")])[0].judged_at.timestamp()
                   >= ts + 7, "it would be expired")
        [answer] = self.client.check("c", [Check(id=b"touched", ts=ts, ttl=7)])
        is_over = answer.judged_at.timestamp() >= touched.expire_time
        self.assertTrue(is_over or answer.visibility is Visibility.VISIBLE, answer)
        wait_until(lambda: not store.items("c"), "it is deleted, too")
        self.assertGreaterEqual(time.time(), touched.expire_time)

    def test_an_expired_item_stays_expired(self):
        self.client.create_container("c", -1, allow_touch=True)
        ts = int(time.time()) - 100
        self.client.track("c", [Item(id=b"a", ts=ts, ttl=5)])
        [touched] = self.client.touch("c", [Key(b"", b"a")])
        self.assertEqual((touched.result, touched.expire_time), (TouchResult.EXPIRED, ts + 5))
        self.assertTrue(self.client.check("c", [Check(id=b"a")])[0].expired)

    def test_carried_state_alone_hides_nothing(self):
        self.client.create_container("c", -1, allow_touch=True)
        [answer] = self.client.check("c", [Check(id=b"a", ts=int(time.time()) - 100, ttl=5)])
        self.assertEqual(answer.visibility, Visibility.UNTRACKED)

    def test_a_container_that_does_not_allow_it_refuses(self):
        self.client.create_container("c", 60)
        with self.assert_refused(Code.FAILED_PRECONDITION, "allow_touch"):
            self.client.touch("c", [Key(b"", b"a")])
        self.client.update_container(container_pb2.Container(id="c", allow_touch=True),
                                     ["allow_touch"])
        [touched] = self.client.touch("c", [Key(b"", b"a")])
        self.assertEqual(touched.result, TouchResult.NOT_TRACKED)
