"""What is repeated and what is not, and answers that no sidecar of today gives: against a server
that says what the test tells it."""

import dataclasses
import threading
import time

from harness import Code, TempDirTestCase
from scripted_sidecar import ScriptedSidecar, fails_with, serve_script
from ttl.v1 import item_service_pb2 as pb
from ttl_sidecar import Check, Client, Deletion, Item, TrackResult, Visibility


HINT = "grpc-retry-pushback-ms"

# More than a call of gRPC itself would make.
FAILURES = 5


def fails_first(times, code, *metadata):
    """Fails that way `times` times, then with NOT_FOUND."""
    left = [(code, metadata)] * times

    def answer(request, context):
        refusal, trailers = left.pop() if left else (Code.NOT_FOUND, ())
        context.set_trailing_metadata(trailers)
        context.abort(refusal, "told so")
    return answer


class Calls(TempDirTestCase):
    def setUp(self):
        super().setUp()
        self.script = ScriptedSidecar()
        self.address = serve_script(self, self.script)
        self.client = self.enterContext(Client(self.address))

    def test_only_what_may_be_repeated_is_repeated(self):
        plain, ordered = Item(id=b"a", ts=1), Item(id=b"a", ts=1, sequence=1)
        gone, gone_ordered = Deletion(id=b"a", ts=1), Deletion(id=b"a", ts=1, sequence=1)
        client = self.client
        table = [  # method, call, repeated if UNAVAILABLE, with a hint, attempts if no room
            ("CheckVisibility", lambda: client.check("c", [Check(id=b"a")]), True, True, 1),
            ("GetItem", lambda: client.get_item("c", b"a"), True, True, 1),
            ("ListItems", lambda: list(client.list_items("c")), True, True, 1),
            ("TrackItems", lambda: client.track("c", [plain]), False, True, 4),
            ("TrackItems", lambda: client.track("c", [ordered]), True, True, 4),
            ("TrackItems", lambda: client.track("c", [ordered, plain]), False, True, 4),
            ("UntrackItems", lambda: client.untrack("c", [gone]), False, True, 4),
            ("UntrackItems", lambda: client.untrack("c", [gone_ordered]), True, True, 4),
            ("GetContainer", lambda: client.get_container("c"), True, True, 1),
            ("ListContainers", lambda: list(client.list_containers()), True, True, 1),
            ("CreateContainer", lambda: client.create_container("c"), False, False, 1),
            ("UpdateContainer", lambda: client.set_default_ttl("c", 1), False, False, 1),
            ("DeleteContainer", lambda: client.delete_container("c"), False, False, 1),
            ("GetExpiryStatus", lambda: client.status(), True, True, 1),
            ("ListExpiryStatuses", lambda: list(client.list_statuses()), True, True, 1),
            ("ExplainItem", lambda: client.explain_item("c", b"a"), True, True, 1),
            ("PauseDeletes", lambda: client.pause_deletes("why", "c"), False, False, 1),
            ("ResumeDeletes", lambda: client.resume_deletes("c"), False, False, 1),
            ("ReportUsage", lambda: client.report_usage("c", 1), False, False, 1),
            ("GetForecast", lambda: client.forecast(), True, True, 1),
            ("ListStuckItems", lambda: list(client.list_stuck_items("c")), True, True, 1),
            ("GetReconciliation", lambda: client.get_reconciliation(), True, True, 1),
            ("AcceptClock", lambda: client.accept_clock(), False, False, 1),
            ("ConfirmPolicy", lambda: client.confirm_policy("c"), False, False, 1),
            ("ConfirmStore", lambda: client.confirm_store("s"), False, False, 1),
            ("SetMaxDeletesPerSecond", lambda: client.set_max_deletes_per_second(1), False, False,
             1),
            ("StartReconciliation", lambda: client.start_reconciliation("c"), False, False, 1),
            ("CancelReconciliation", lambda: client.cancel_reconciliation(), False, False, 1),
            ("TrustData", lambda: client.trust_data(), False, False, 1),
        ]
        for method, call, repeated, repeated_with_hint, attempts in table:
            for metadata, is_repeated in (((), repeated), (((HINT, "1"),), repeated_with_hint)):
                with self.subTest(method=method, metadata=metadata):
                    self.script.calls.clear()
                    self.script.answer = fails_first(FAILURES, Code.UNAVAILABLE, *metadata)
                    with self.assert_refused(Code.NOT_FOUND if is_repeated else Code.UNAVAILABLE):
                        call()
                    self.assertEqual(self.script.calls,
                                     {method: FAILURES + 1 if is_repeated else 1})
            with self.subTest(method=method, code="RESOURCE_EXHAUSTED"):
                self.script.calls.clear()
                self.script.answer = fails_with(Code.RESOURCE_EXHAUSTED, (HINT, "1"))
                with self.assert_refused(Code.RESOURCE_EXHAUSTED, "told so"):
                    call()
                self.assertEqual(self.script.calls, {method: attempts})

    def test_a_call_that_a_stopping_sidecar_cancelled_is_one_of_a_sidecar_that_is_away(self):
        client = self.client
        for call, attempts in (
                (lambda: client.check("c", [Check(id=b"a")]), FAILURES + 1),
                (lambda: client.track("c", [Item(id=b"a", ts=1, sequence=1)]), FAILURES + 1),
                (lambda: client.track("c", [Item(id=b"a", ts=1)]), 1),
                (lambda: client.create_container("c"), 1)):
            self.script.calls.clear()
            self.script.answer = fails_first(FAILURES, Code.CANCELLED)
            with self.assert_refused(Code.UNAVAILABLE if attempts == 1 else Code.NOT_FOUND):
                call()
            self.assertEqual(list(self.script.calls.values()), [attempts])

    def test_repeats_end_with_the_time_of_the_call_and_the_reason_is_told(self):
        client = self.enterContext(Client(self.address, check_timeout=0.3))
        self.script.answer = fails_with(Code.UNAVAILABLE)
        with self.assert_refused(Code.UNAVAILABLE, self.address, "told so"):
            client.check("c", [Check(id=b"a")])
        self.script.answer = fails_with(Code.UNAVAILABLE, (HINT, "60000"))
        with self.assert_refused(Code.UNAVAILABLE, "told so") as refused:
            client.check("c", [Check(id=b"a")])
        self.assertEqual(refused.error.retry_after, 60)
        self.script.calls.clear()
        self.script.answer = fails_with(Code.RESOURCE_EXHAUSTED, (HINT, "-1"))
        with self.assert_refused(Code.RESOURCE_EXHAUSTED):
            self.client.track("c", [Item(id=b"a", ts=1)])
        self.assertEqual(self.script.calls, {"TrackItems": 1})

    def test_time_limits_of_any_size_hold(self):
        self.script.answer = lambda request, context: pb.CheckVisibilityResponse(
            visibilities=[1], expire_times=[0])
        for timeout in (float("inf"), 1e300, 1e10, 2**70, 60):
            with self.subTest(timeout), Client(self.address, check_timeout=timeout) as client:
                self.assertEqual(len(client.check("c", [Check(id=b"a")])), 1)
        for timeout, error in ((float("nan"), ValueError), (-1, ValueError), ("5", TypeError),
                               (None, TypeError), (True, TypeError)):
            with self.subTest(timeout=timeout), self.assertRaisesRegex(error, "check_timeout"):
                Client(self.address, check_timeout=timeout)

    def test_time_limits_of_any_size_hold_on_streams(self):
        def answer_all(requests, context):
            for _ in requests:
                yield pb.StreamCheckVisibilityResponse(response=pb.CheckVisibilityResponse(
                    visibilities=[1], expire_times=[0]))

        self.script.answer = answer_all
        threads = set(threading.enumerate())
        for timeout in (float("inf"), 1e300, 2**70):
            with self.subTest(timeout), Client(self.address, check_timeout=timeout) as client:
                replies = client.check_stream("c", [[Check(id=b"a")]] * 2)
                next(replies).results()
                # The thread that watches the time is not lost over it.
                self.assertTrue(any("watch" in thread.name for thread in threading.enumerate()
                                    if thread not in threads))
                self.assertEqual(len(list(replies)), 1)

    def test_other_errors_are_not_repeated_and_keep_code_and_message(self):
        for code in (Code.INTERNAL, Code.DATA_LOSS, Code.ABORTED, Code.FAILED_PRECONDITION,
                     Code.PERMISSION_DENIED, Code.UNKNOWN):
            with self.subTest(code=code):
                self.script.calls.clear()
                self.script.answer = fails_with(code)
                with self.assert_refused(code) as refused:
                    self.client.check("c", [Check(id=b"a")])
                self.assertEqual((refused.error.message, refused.error.retry_after),
                                 ("told so", None))
                self.assertEqual(self.script.calls, {"CheckVisibility": 1})

    def test_a_hint_when_to_retry_is_waited_for_and_given_to_the_caller(self):
        self.script.answer = fails_with(Code.RESOURCE_EXHAUSTED, ("grpc-retry-pushback-ms", "150"))
        begin = time.monotonic()
        with self.assert_refused(Code.RESOURCE_EXHAUSTED) as refused:
            self.client.track("c", [Item(id=b"a", ts=1)])
        self.assertEqual((refused.error.retry_after, self.script.calls), (0.15, {"TrackItems": 4}))
        self.assertGreaterEqual(time.monotonic() - begin, 3 * 0.15)

    def test_an_unknown_visibility_is_visible(self):
        self.script.answer = lambda request, context: pb.CheckVisibilityResponse(
            visibilities=[77, 0, 2], expire_times=[5, 0, 5])
        answers = self.client.check("c", [Check(id=b"a")] * 3)
        self.assertEqual([answer.visibility for answer in answers],
                         [Visibility.VISIBLE, Visibility.VISIBLE, Visibility.EXPIRED])
        self.assertEqual([answer.expired for answer in answers], [False, False, True])

    def test_an_unknown_result_of_a_report_is_unknown(self):
        self.script.answer = lambda request, context: pb.TrackItemsResponse(results=[1, 77])
        self.assertEqual(self.client.track("c", [Item(id=b"a", ts=1)] * 2),
                         [TrackResult.TRACKED, TrackResult.UNKNOWN])

    def test_an_answer_of_the_wrong_length_is_not_used(self):
        for visibilities, expire_times in (([2], [0, 0]), ([1, 1], [0]), ([1, 1, 1], [0, 0, 0])):
            self.script.answer = lambda request, context: pb.CheckVisibilityResponse(
                visibilities=visibilities, expire_times=expire_times)
            with self.assert_refused(Code.INTERNAL, "for 2 entries"):
                self.client.check("c", [Check(id=b"a")] * 2)

    def test_a_message_of_a_stream_has_code_message_and_hint(self):
        def refuse_all(requests, context):
            for _ in requests:
                error = pb.MessageError(code=8, message="full")
                error.retry_after.FromMilliseconds(250)
                yield pb.StreamTrackItemsResponse(error=error)
        self.script.answer = refuse_all
        [reply] = self.client.track_stream("c", [[Item(id=b"a", ts=1)]])
        self.assertEqual((reply.error.code, reply.error.message, reply.error.retry_after),
                         (Code.RESOURCE_EXHAUSTED, "full", 0.25))

    def test_a_stream_that_ends_before_it_has_answered_is_an_error(self):
        def answer_one(requests, context):
            next(requests)
            yield pb.StreamCheckVisibilityResponse(response=pb.CheckVisibilityResponse(
                visibilities=[1], expire_times=[0]))
            next(requests)
        self.script.answer = answer_one
        with self.assert_refused(Code.INTERNAL, "1 messages unanswered"):
            for reply in self.client.check_stream("c", [[Check(id=b"a")]] * 2):
                reply.results()

    def test_a_sidecar_that_is_not_there_is_unavailable(self):
        item = Item(id=b"a", ts=1)
        with Client(f"unix:{self.folder}/nobody.sock", check_timeout=0.3, report_timeout=0.3,
                    admin_timeout=0.3) as client:
            for call in (lambda: client.check("c", [Check(id=b"a")]),
                         lambda: client.track("c", [item]),
                         lambda: client.track("c", [dataclasses.replace(item, sequence=1)]),
                         lambda: client.status(),
                         lambda: client.create_container("c"),
                         lambda: next(client.check_stream("c", [[Check(id=b"a")]]))):
                with self.assert_refused(Code.UNAVAILABLE, "nobody.sock"):
                    call()
