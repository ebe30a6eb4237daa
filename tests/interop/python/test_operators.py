"""What operators do, against the real sidecar, and against a scripted one where the real one never
answers so."""

import time

from harness import Code, MemoryStore, SidecarTestCase, TempDirTestCase, wait_until
from scripted_sidecar import ScriptedSidecar, fails_with, serve_script
from ttl.v1 import (
    clock_pb2, container_pb2, container_service_pb2, expiry_service_pb2,
    maintenance_service_pb2 as maintenance_pb)
from ttl_sidecar import Client, Item, serve_store


class Operators(SidecarTestCase):
    def serve(self, store):
        server = serve_store(store, self.store_address)
        self.addCleanup(lambda: server.stop(0).wait())
        wait_until(lambda: self.client.status().sidecar.store.reachable, "the store is known")

    def test_health_is_that_of_the_service_that_is_named(self):
        self.assertTrue(self.client.is_serving("liveness"))
        self.assertIsInstance(self.client.is_serving(), bool)
        with self.assert_refused(Code.NOT_FOUND):
            self.client.is_serving("no such service")

    def test_health_does_not_wait_for_a_sidecar_that_is_away(self):
        self.sidecar.kill()
        begin = time.monotonic()
        with Client(self.sidecar.address) as client, self.assert_refused(Code.UNAVAILABLE):
            client.is_serving()
        self.assertLess(time.monotonic() - begin, 10)

    def test_the_limit_of_deletes_is_set_lifted_and_reset(self):
        client = self.client
        self.assertEqual(client.set_max_deletes_per_second(2.5), 2.5)
        self.assertEqual(client.set_max_deletes_per_second(0), 0)
        self.assertIsNone(client.set_max_deletes_per_second(None))
        limit = client.reset_max_deletes_per_second()
        status = client.status().sidecar
        shown = status.max_deletes_per_second if status.HasField("max_deletes_per_second") else None
        self.assertEqual(limit, shown)

    def test_a_preview_changes_nothing(self):
        self.client.create_container("c", 60)
        change = container_pb2.Container(id="c", default_ttl=5)
        preview = self.client.preview_update(change, ["default_ttl"])
        self.assertEqual(preview.container.default_ttl, 5)
        self.assertTrue(preview.HasField("preview"))
        self.assertEqual(self.client.get_container("c").default_ttl, 60)

    def test_a_container_is_previewed_over_the_items_of_the_store(self):
        store, now = MemoryStore(), int(time.time())
        for n in range(3):
            store.write("c", Item(id=b"%d" % n, ts=now - 100 * n))
        self.serve(store)
        messages = list(self.client.preview_container(
            container_pb2.Container(id="c", default_ttl=50)))
        self.assertTrue(messages[-1].finished)
        self.assertEqual((messages[-1].scanned_items, messages[-1].expired_items), (3, 2))

    def test_a_reconciliation_runs_and_is_shown(self):
        self.client.create_container("c", 60)
        self.serve(MemoryStore())
        started = self.client.start_reconciliation("c", dry_run=True)
        self.assertEqual((started.container, started.dry_run), ("c", True))
        wait_until(lambda: self.client.get_reconciliation().state ==
                   maintenance_pb.RECONCILIATION_STATE_DONE, "the reconciliation is done")

    def test_data_are_verified_and_backed_up(self):
        self.client.create_container("c", 60)
        last = list(self.client.verify_data())[-1]
        self.assertEqual((last.finished, last.problems), (True, 0))
        pieces = list(self.client.back_up_data())
        self.assertGreater(sum(len(piece.data) for piece in pieces), 0)

    def test_what_needs_no_confirmation_is_refused_with_its_reason(self):
        self.client.create_container("c", 60)
        for call in (lambda: self.client.confirm_policy("c"),
                     lambda: self.client.confirm_store("other"),
                     self.client.trust_data):
            with self.assert_refused(Code.FAILED_PRECONDITION):
                call()

    def test_nothing_is_stuck_at_first(self):
        self.client.create_container("c", 60)
        self.assertEqual(list(self.client.list_stuck_items("c")), [])
        with self.assert_refused(Code.NOT_FOUND, "no/such"):
            list(self.client.list_stuck_items("no/such"))


class Scripted(TempDirTestCase):
    def setUp(self):
        super().setUp()
        self.script = ScriptedSidecar()
        self.client = self.enterContext(Client(serve_script(self, self.script)))

    def test_requests_carry_what_was_given_and_answers_are_unwrapped(self):
        seen = []

        def answers(response):
            def answer(request, context):
                seen.append(request)
                return response
            return answer

        container = container_pb2.Container(id="c", etag="7")
        self.script.answer = answers(expiry_service_pb2.ConfirmPolicyResponse(container=container))
        self.assertEqual(self.client.confirm_policy("c", "6"), container)
        self.assertEqual((seen[-1].container, seen[-1].etag), ("c", "6"))
        clock = clock_pb2.ClockStatus(state=clock_pb2.CLOCK_STATE_SOUND)
        self.script.answer = answers(expiry_service_pb2.AcceptClockResponse(clock=clock))
        self.assertEqual(self.client.accept_clock(), clock)
        self.script.answer = answers(expiry_service_pb2.ConfirmStoreResponse())
        self.assertIsNone(self.client.confirm_store("s"))
        self.assertEqual(seen[-1].store_id, "s")
        reconciliation = maintenance_pb.Reconciliation(container="c")
        self.script.answer = answers(
            maintenance_pb.CancelReconciliationResponse(reconciliation=reconciliation))
        self.assertEqual(self.client.cancel_reconciliation(), reconciliation)

    def test_all_pages_are_read(self):
        pages = {"": ("a", "next"), "next": ("b", "")}

        def answer(request, context):
            id, token = pages[request.page_token]
            return expiry_service_pb2.ListStuckItemsResponse(
                items=[expiry_service_pb2.StuckItem(id=id.encode())], next_page_token=token)

        self.script.answer = answer
        self.assertEqual([item.id for item in self.client.list_stuck_items("c")], [b"a", b"b"])

    def test_what_ends_before_it_is_finished_is_an_error(self):
        self.script.answer = lambda request, context: iter(
            [maintenance_pb.VerifyDataResponse(records=1)])
        messages = self.client.verify_data()
        self.assertEqual(next(messages).records, 1)
        with self.assert_refused(Code.INTERNAL, "verification", "before it was finished"):
            next(messages)
        self.script.answer = lambda request, context: iter([])
        with self.assert_refused(Code.INTERNAL, "preview"):
            list(self.client.preview_container(container_pb2.Container(id="c")))

    def test_a_stream_that_is_refused_is_an_error_and_is_not_begun_again(self):
        self.script.answer = fails_with(Code.UNAVAILABLE)
        with self.assert_refused(Code.UNAVAILABLE, "told so"):
            list(self.client.back_up_data())
        self.assertEqual(self.script.calls, {"BackUpData": 1})

    def test_an_update_is_validated_only_if_asked(self):
        seen = []

        def answer(request, context):
            seen.append(request.validate_only)
            return container_service_pb2.UpdateContainerResponse()

        self.script.answer = answer
        self.client.preview_update(container_pb2.Container(id="c"), ["default_ttl"])
        self.client.update_container(container_pb2.Container(id="c"), ["default_ttl"])
        self.assertEqual(seen, [True, False])
