"""Lists with filters, answers as of an instant and forecasts, against the real sidecar."""

import datetime
import time

from harness import Code, SidecarTestCase
from ttl.v1 import expiry_service_pb2 as expiry_pb
from ttl_sidecar import Check, Item

HOUR = 3600


def ids(views):
    return [view.item.id for view in views]


def instant(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


class Lists(SidecarTestCase):
    def setUp(self):
        super().setUp()
        self.client.create_container("c", HOUR)
        self.now = int(time.time())

    def track(self, id, age=0, **fields):
        self.client.track("c", [Item(id=id, ts=self.now - age, **fields)])

    def test_containers_are_filtered_by_id_and_ttl(self):
        self.client.create_container("sales/carts", -1)
        self.client.create_container("sales/orders")

        def listed(**filters):
            return [container.id for container in self.client.list_containers(**filters)]
        self.assertEqual(listed(), ["c", "sales/carts", "sales/orders"])
        self.assertEqual(listed(id_prefix="sales/"), ["sales/carts", "sales/orders"])
        self.assertEqual(listed(ttl_on_only=True), ["c", "sales/carts"])
        self.assertEqual(listed(id_prefix="s", ttl_on_only=True), ["sales/carts"])

    def test_items_are_filtered_by_partition_of_which_one_is_the_empty_one(self):
        self.track(b"none")
        self.track(b"other", partition_key=b"p\xff")

        def listed(partition_key):
            return ids(self.client.list_items("c", partition_key=partition_key))
        self.assertEqual(listed(None), [b"none", b"other"])
        self.assertEqual(listed(b""), [b"none"])
        self.assertEqual(listed(b"p\xff"), [b"other"])
        with self.assertRaisesRegex(TypeError, "partition_key = 'p': bytes are required"):
            listed("p")

    def test_items_are_filtered_by_expiry(self):
        self.track(b"a", age=5 * HOUR)
        self.track(b"b")
        self.track(b"c", ttl=2 * HOUR)
        self.track(b"never", ttl=-1)

        def listed(**filters):
            return ids(self.client.list_items("c", **filters))
        self.assertEqual(listed(), [b"b", b"c", b"never"])
        self.assertEqual(listed(show_expired=True), [b"a", b"b", b"c", b"never"])
        self.assertEqual(listed(expired_only=True), [b"a"])
        end = self.now + HOUR
        self.assertEqual(listed(expire_time_from=end), [b"b", b"c"])
        self.assertEqual(listed(expire_time_from=end + 1), [b"c"])
        self.assertEqual(listed(expire_time_to=end), [])
        self.assertEqual(listed(expire_time_to=end + 1), [b"b"])
        self.assertEqual(listed(expire_time_to=end + 1, show_expired=True), [b"a", b"b"])
        with self.assert_refused(Code.INVALID_ARGUMENT, "expire_time_to") as refused:
            listed(expire_time_from=end, expire_time_to=end)
        self.assertEqual([violation.field for violation in refused.error.field_violations],
                         ["expire_time_to"])
        with self.assertRaisesRegex(TypeError, "expire_time_from = True"):
            listed(expire_time_from=True)

    def test_all_pages_have_the_filters(self):
        expected = [b"%04d" % n for n in range(250)]
        self.client.track("c", [Item(id=id, ts=self.now, partition_key=b"p") for id in expected])
        self.track(b"later", partition_key=b"pp")
        self.assertEqual(ids(self.client.list_items("c", partition_key=b"p")), expected)

    def test_items_are_judged_as_of_an_instant(self):
        self.track(b"a", age=70, ttl=60)  # 10 seconds ago
        check = [Check(id=b"a")]
        for as_of, expired in ((None, True), (instant(self.now - 9), True),
                               (instant(self.now - 11), False)):
            with self.subTest(as_of):
                [answer] = self.client.check("c", check, as_of=as_of)
                [reply] = self.client.check_stream("c", [check], as_of=as_of)
                self.assertEqual([answer.expired, reply.results()[0].expired], [expired, expired])
                self.assertEqual(ids(self.client.list_items("c", as_of=as_of)),
                                 [] if expired else [b"a"])
                self.assertEqual(as_of or answer.judged_at, answer.judged_at)
        [again] = self.client.check("c", check, as_of=answer.judged_at)
        self.assertEqual(again.judged_at, answer.judged_at)

    def test_an_instant_has_a_time_zone_and_lies_at_most_an_hour_back(self):
        other_zone = datetime.timezone(datetime.timedelta(hours=5))
        [answer] = self.client.check("c", [Check(id=b"a")],
                                     as_of=instant(self.now - 5).astimezone(other_zone))
        self.assertEqual(answer.judged_at, instant(self.now - 5))
        for as_of, error in ((datetime.datetime(2026, 1, 1), ValueError), (self.now, TypeError)):
            for call in (lambda: self.client.check("c", [Check(id=b"a")], as_of=as_of),
                         lambda: list(self.client.list_items("c", as_of=as_of)),
                         lambda: list(self.client.check_stream("c", [[Check(id=b"a")]],
                                                               as_of=as_of)),
                         lambda: self.client.forecast(until=as_of)):
                with self.assertRaisesRegex(error, "^(as_of|until) = .* is required"):
                    call()
        for as_of in (instant(self.now - 2 * HOUR), instant(self.now + HOUR)):
            with self.assert_refused(Code.INVALID_ARGUMENT, "as_of"):
                self.client.check("c", [Check(id=b"a")], as_of=as_of)


class Forecasts(SidecarTestCase):
    def setUp(self):
        super().setUp()
        self.client.create_container("c", HOUR)
        self.client.create_container("d", HOUR)
        for container, count in (("c", 2), ("d", 3)):
            self.client.track(container, [Item(id=b"%d" % n, ts=int(time.time()))
                                          for n in range(count)])

    def items(self, *arguments, **options):
        forecast = self.client.forecast(*arguments, **options)
        return sum(step.items for step in forecast.steps)

    def test_of_one_container_and_of_all(self):
        forecast = self.client.forecast("c")
        self.assertEqual((len(forecast.steps), forecast.backlog_end),
                         (24, expiry_pb.BACKLOG_END_NO_BACKLOG))
        self.assertEqual((self.items("c"), self.items()), (2, 5))
        with self.assert_refused(Code.NOT_FOUND, "no/such"):
            self.client.forecast("no/such")

    def test_until_a_time_in_steps(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        until = (now + datetime.timedelta(minutes=30)).replace(microsecond=0)
        forecast = self.client.forecast("c", until=until, step=60)
        self.assertIn(len(forecast.steps), (30, 29), "as the seconds pass")
        self.assertEqual(forecast.steps[-1].end_time.ToDatetime(tzinfo=datetime.timezone.utc),
                         until)
        self.assertEqual(sum(step.items for step in forecast.steps), 0)

    def test_as_if_the_container_had_another_default_ttl(self):
        self.assertEqual(self.items("c", default_ttl=-1), 0)
        self.assertEqual(self.client.get_container("c").default_ttl, HOUR)
        for options, field in (({"default_ttl": 0}, "default_ttl"), ({"step": 0}, "step"),
                               ({"until": instant(1)}, "until")):
            with self.assert_refused(Code.INVALID_ARGUMENT, field) as refused:
                self.client.forecast("c", **options)
            self.assertEqual(refused.error.field_violations[0].field, field)
        with self.assertRaisesRegex(TypeError, "step = 0.5: a whole number is required"):
            self.client.forecast("c", step=0.5)
