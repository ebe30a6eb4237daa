"""Holds, against a scripted sidecar."""

import datetime

from harness import Code, TempDirTestCase
from scripted_sidecar import ScriptedSidecar, fails_with, serve_script
from ttl.v1 import (
    container_pb2, container_service_pb2, hold_pb2, hold_service_pb2 as pb)
from ttl_sidecar import Client, Key, PlaceHoldResult

UNTIL = datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)


class Holds(TempDirTestCase):
    def setUp(self):
        super().setUp()
        self.script = ScriptedSidecar()
        self.script.answer = self.place
        self.seen = []
        self.client = self.enterContext(Client(serve_script(self, self.script)))

    def place(self, request, context):
        """Holds every key."""
        self.seen.append(request)
        hold = hold_pb2.Hold(container=request.container, hold_id=request.hold_id,
                             key_count=sum(len(seen.keys.keys) for seen in self.seen))
        return pb.PlaceHoldResponse(
            hold=hold, results=[pb.PLACE_HOLD_RESULT_HELD] * len(request.keys.keys))

    def answer(self, response):
        """Records requests, and answers each of them so."""
        def answer(request, context):
            self.seen.append(request)
            return response
        self.script.answer = answer

    def test_each_scope_arrives_as_given(self):
        hold = {"container": "c", "hold_id": "h", "reason": "why"}
        keys = [Key(b"p", b"a"), (b"", b"\x00")]
        self.client.place_hold("c", "h", "why", keys=keys, until=UNTIL)
        self.client.place_hold("c", "h", "why", partition_key=b"")
        self.client.place_hold("c", "h", "why", all_items=True)
        held = [hold_pb2.HeldKey(partition_key=b"p", id=b"a"), hold_pb2.HeldKey(id=b"\x00")]
        with_keys = pb.PlaceHoldRequest(**hold, keys=hold_pb2.HeldKeys(keys=held))
        with_keys.until.FromDatetime(UNTIL)
        self.assertEqual(self.seen, [with_keys, pb.PlaceHoldRequest(**hold, partition_key=b""),
                                     pb.PlaceHoldRequest(**hold, all_items=True)])

    def test_a_hold_has_one_scope(self):
        for scope in ({}, {"keys": [Key(b"", b"a")], "all_items": True},
                      {"partition_key": b"p", "all_items": True}, {"all_items": False}):
            with self.subTest(scope), self.assertRaisesRegex(TypeError, "one of keys"):
                self.client.place_hold("c", "h", "why", **scope)
        for scope in ({"keys": []}, {"all_items": True, "until": datetime.datetime(2030, 1, 1)}):
            with self.subTest(scope), self.assertRaises(ValueError):
                self.client.place_hold("c", "h", "why", **scope)
        for scope in ({"keys": [("p", "a")]}, {"partition_key": "p"}):
            with self.subTest(scope), self.assertRaisesRegex(TypeError, "bytes are required"):
                self.client.place_hold("c", "h", "why", **scope)
        self.assertEqual(self.seen, [])

    def test_many_keys_are_sent_a_thousand_at_a_time(self):
        placed = self.client.place_hold("c", "h", "why",
                                        keys=[Key(b"", b"%d" % i) for i in range(2500)])
        self.assertEqual([len(request.keys.keys) for request in self.seen], [1000, 1000, 500])
        self.assertEqual(self.seen[2].keys.keys[0].id, b"2000")
        self.assertEqual(placed.results, [PlaceHoldResult.HELD] * 2500)
        self.assertEqual(placed.hold.key_count, 2500)

    def test_each_key_has_its_result_and_a_new_one_is_unknown(self):
        response = pb.PlaceHoldResponse(results=[1, 2, 3, 99])
        self.answer(response)
        keys = [Key(b"", b"%d" % i) for i in range(4)]
        self.assertEqual(
            self.client.place_hold("c", "h", "why", keys=keys).results,
            [PlaceHoldResult.HELD, PlaceHoldResult.NOT_TRACKED, PlaceHoldResult.ALREADY_DELETED,
             PlaceHoldResult.UNKNOWN])
        with self.assert_refused(Code.INTERNAL, "4"):
            self.client.place_hold("c", "h", "why", keys=keys[:3])

    def test_a_hold_is_sent_again_until_it_is_answered(self):
        refuse = fails_with(Code.UNAVAILABLE)
        self.script.answer = lambda request, context: (
            refuse if self.script.calls["PlaceHold"] < 6 else self.place)(request, context)
        self.client.place_hold("c", "h", "why", all_items=True)
        self.assertEqual(self.script.calls, {"PlaceHold": 6})

    def test_what_is_refused_or_ends_a_hold_is_sent_once(self):
        self.script.answer = fails_with(Code.RESOURCE_EXHAUSTED)
        with self.assert_refused(Code.RESOURCE_EXHAUSTED):
            self.client.place_hold("c", "h", "why", all_items=True)
        self.script.answer = fails_with(Code.UNAVAILABLE)
        with self.assert_refused(Code.UNAVAILABLE):
            self.client.release_hold("c", "h")
        with self.assert_refused(Code.UNAVAILABLE):
            self.client.accept_holds("c")
        self.assertEqual(self.script.calls, {"PlaceHold": 1, "ReleaseHold": 1, "AcceptHolds": 1})

    def test_holds_end_and_are_accepted_by_name(self):
        self.answer(pb.ReleaseHoldResponse())
        self.assertIsNone(self.client.release_hold("c", "h"))
        self.answer(pb.AcceptHoldsResponse())
        self.assertIsNone(self.client.accept_holds("c"))
        self.assertEqual(self.seen, [pb.ReleaseHoldRequest(container="c", hold_id="h"),
                                     pb.AcceptHoldsRequest(container="c")])

    def test_holds_and_their_keys_are_listed_page_by_page(self):
        pages = {"": ("a", "next"), "next": ("b", "")}

        def answer(request, context):
            self.seen.append(request)
            id, token = pages[request.page_token]
            if isinstance(request, pb.ListHoldsRequest):
                return pb.ListHoldsResponse(holds=[hold_pb2.Hold(hold_id=id)],
                                            next_page_token=token)
            return pb.ListHeldKeysResponse(keys=[hold_pb2.HeldKey(id=id.encode())],
                                           next_page_token=token)

        self.script.answer = answer
        self.assertEqual([hold.hold_id for hold in self.client.list_holds("c")], ["a", "b"])
        self.assertEqual(list(self.client.list_held_keys("c", "h")),
                         [Key(b"", b"a"), Key(b"", b"b")])
        self.assertEqual([request.container for request in self.seen], ["c"] * 4)
        self.assertEqual(self.seen[-1].hold_id, "h")
        list(self.client.list_holds())
        self.assertEqual(self.seen[-1].container, "")

    def test_containers_have_settings_for_holds_and_only_force_overrides_them(self):
        self.answer(container_service_pb2.CreateContainerResponse())
        self.client.create_container("c", 60)
        self.client.create_container("c", 60, show_held=True, requires_holds=True)
        self.assertEqual([(seen.container.show_held, seen.container.requires_holds)
                          for seen in self.seen], [(False, False), (True, True)])
        self.answer(container_service_pb2.UpdateContainerResponse())
        container = container_pb2.Container(id="c")
        self.client.update_container(container, ["indexing_mode"])
        self.client.update_container(container, ["indexing_mode"], force=True)
        self.client.preview_update(container, ["indexing_mode"])
        self.client.preview_update(container, ["indexing_mode"], force=True)
        self.answer(container_service_pb2.DeleteContainerResponse())
        self.client.delete_container("c", "etag")
        self.client.delete_container("c", force=True)
        self.assertEqual([seen.force for seen in self.seen[2:]], [False, True] * 3)

    def test_a_watcher_names_the_rules_that_it_knows(self):
        for expire_at, show_held, rules in ((False, False, []), (True, False, [1]),
                                            (False, True, [2]), (True, True, [1, 2])):
            def answer(request, context):
                self.seen.append(list(request.rules))
                return iter([container_service_pb2.WatchContainersResponse(revision=7)])
            self.script.answer = answer
            messages = self.client.watch_containers(expire_at=expire_at, show_held=show_held)
            self.assertEqual(next(messages).revision, 7)
            messages.close()
            self.assertEqual(self.seen[-1], rules)
