"""Streams as iterators, against the real sidecar."""

import time

from harness import PATIENCE, Code, SidecarTestCase, TempDirTestCase
from scripted_sidecar import ScriptedSidecar, serve_script
from ttl.v1 import item_pb2, item_service_pb2 as pb
from ttl_sidecar import Check, Client, Item, TrackResult, Visibility


class Streams(SidecarTestCase):
    def setUp(self):
        super().setUp()
        self.client.create_container("c", 3600)
        self.now = int(time.time())

    def item(self, n, **fields):
        return Item(id=b"%d" % n, **{"ts": self.now, **fields})

    def test_replies_come_in_the_order_of_the_batches(self):
        sizes = [1, 7, 1000, 3] * 50
        batches = ([self.item(n) for n in range(size)] for size in sizes)
        replies = list(self.client.track_stream("c", batches))
        self.assertEqual([reply.results() for reply in replies],
                         [[TrackResult.TRACKED] * size for size in sizes])

    def test_a_refused_message_has_its_own_error_and_the_stream_goes_on(self):
        batches = [[self.item(1)], [self.item(2), self.item(3, ttl=0)], [self.item(4)]]
        first, refused, last = self.client.track_stream("c", batches)
        self.assertEqual(first.results() + last.results(), [TrackResult.TRACKED] * 2)
        with self.assert_refused(Code.INVALID_ARGUMENT, "items[1]", "ttl"):
            refused.results()
        self.assertEqual([view.item.id for view in self.client.list_items("c")], [b"1", b"4"])

    def test_checks_over_a_stream_are_judged_like_calls(self):
        self.client.track("c", [self.item(1), self.item(2, ts=self.now - 60, ttl=60)])
        batches = [[Check(id=b"1"), Check(id=b"2")], [], [Check(id=b"3")]]
        known, refused, unknown = self.client.check_stream("c", batches)
        self.assertEqual([answer.visibility for answer in known.results() + unknown.results()],
                         [Visibility.VISIBLE, Visibility.EXPIRED, Visibility.UNTRACKED])
        self.assertIs(refused.error.code, Code.INVALID_ARGUMENT)

    def test_a_caller_may_wait_for_each_reply_before_it_sends_the_next(self):
        sent, answered = [], []

        def batches():
            for n in range(20):
                sent.append(n)
                yield [Check(id=b"%d" % n)]

        for reply in self.client.check_stream("c", batches()):
            answered += reply.results()
        self.assertEqual((len(sent), len(answered)), (20, 20))

    def test_a_stream_that_is_left_early_is_closed(self):
        def endless():
            while True:
                yield [Check(id=b"1")]

        stream = self.client.check_stream("c", endless())
        next(stream).results()
        stream.close()
        self.assertEqual(self.client.check("c", [Check(id=b"1")])[0].expired, False)

    def test_what_the_source_of_batches_raises_reaches_the_reader(self):
        def broken():
            yield [Check(id=b"1")]
            raise KeyError("no more")

        with self.assertRaisesRegex(KeyError, "no more"):
            for reply in self.client.check_stream("c", broken()):
                reply.results()

    def test_calls_and_streams_end_at_their_deadline_when_nothing_answers(self):
        self.sidecar.suspend()
        self.addCleanup(self.sidecar.resume)
        client = self.enterContext(Client(self.sidecar.address, check_timeout=0.3,
                                          report_timeout=0.3, admin_timeout=0.3))
        for call in (lambda: client.check("c", [Check(id=b"1")]),
                     lambda: client.track("c", [self.item(1)]),
                     lambda: client.status(),
                     lambda: next(client.check_stream("c", [[Check(id=b"1")]])),
                     lambda: next(client.track_stream("c", [[self.item(1)]])),
                     lambda: next(client.watch_containers(heartbeat=0.1))):
            begin = time.monotonic()
            with self.assert_refused(Code.DEADLINE_EXCEEDED, self.sidecar.address):
                call()
            self.assertLess(time.monotonic() - begin, PATIENCE / 2)  # without, it is PATIENCE

    def test_a_slow_reader_is_not_taken_for_a_silent_sidecar(self):
        # The sidecar has answered long before; a machine may stand still for a part of that.
        client = self.enterContext(Client(self.sidecar.address, check_timeout=4.0))
        stream = client.check_stream("c", [[Check(id=b"1")]] * 3)
        replies = [next(stream)]
        end = time.monotonic() + 4.5  # the reader is busy for longer than the deadline
        while time.monotonic() < end:
            pass
        replies += stream
        self.assertEqual([reply.results()[0].visibility for reply in replies],
                         [Visibility.UNTRACKED] * 3)

    def test_streams_end_with_an_error_when_the_sidecar_dies(self):
        def batches():
            yield [Check(id=b"1")]
            self.sidecar.kill()
            yield [Check(id=b"1")]

        with self.assert_refused(Code.UNAVAILABLE, self.sidecar.address):
            for reply in self.client.check_stream("c", batches()):
                reply.results()


class AnswerWithoutMessage(TempDirTestCase):
    def test_it_is_an_error(self):
        script = ScriptedSidecar()
        script.answer = lambda requests, context: (
            pb.StreamCheckVisibilityResponse(response=pb.CheckVisibilityResponse(
                visibilities=[item_pb2.VISIBILITY_VISIBLE], expire_times=[0])) for _ in range(2))
        client = self.enterContext(Client(serve_script(self, script)))
        stream = client.check_stream("c", [[Check(id=b"1")]])
        next(stream).results()
        with self.assert_refused(Code.INTERNAL, "more answers than messages"):
            next(stream)
