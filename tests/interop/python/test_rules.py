"""The rules of TTL, as a caller in Python sees them."""

import csv
import pathlib
import time

from harness import PATIENCE, Code, SidecarTestCase, wait_until
from ttl.v1 import container_pb2, expiry_service_pb2, item_pb2
from ttl_sidecar import Check, Deletion, Item, SidecarError, TrackResult, UntrackResult, Visibility

# Effective ttl by (default_ttl of the container, ttl of the item); None: never expires. Long
# enough that a machine which stands still for seconds sees items live, too.
TABLE = {
    (None, None): None, (-1, None): None, (6, None): 6,
    (None, -1): None, (-1, -1): None, (6, -1): None,
    (None, 5): None, (-1, 5): 5, (6, 5): 5,
}


class TtlTable(SidecarTestCase):
    def judge(self, container, id, ts, ttl, effective_ttl):
        """Asks by key and with the state carried; both must be right at their instant."""
        checks = [Check(id=id), Check(id=id, ts=ts, ttl=ttl)]
        expire_time = None if effective_ttl is None else ts + effective_ttl
        for answer in self.client.check(container, checks):
            expired = expire_time is not None and answer.judged_at.timestamp() >= expire_time
            self.assertEqual(answer.expired, expired, (container, id, answer))
            self.assertEqual(answer.expire_time, expire_time)
            self.seen.add((effective_ttl, expired))
        return answer.judged_at.timestamp()

    def test_every_answer_is_right_to_the_second(self):
        ts = int(time.time())
        for default_ttl in (None, -1, 6):
            self.client.create_container(f"c/{default_ttl}", default_ttl)
            self.client.track(f"c/{default_ttl}", [Item(id=str(ttl).encode(), ts=ts, ttl=ttl)
                                                   for ttl in (None, -1, 5)])
        judged_at, rounds, self.seen = 0.0, 0, set()
        while judged_at < ts + 7 or rounds <= 50:
            rounds += 1
            for (default_ttl, ttl), effective_ttl in TABLE.items():
                judged_at = self.judge(f"c/{default_ttl}", str(ttl).encode(), ts, ttl,
                                       effective_ttl)
        self.assertEqual(self.seen, {(None, False), (5, False), (5, True), (6, False), (6, True)})

    def test_a_write_restarts_the_countdown_and_no_ttl_means_the_default(self):
        self.client.create_container("c", 3600)
        ts = int(time.time())
        self.client.track("c", [Item(id=b"a", ts=ts - 100, ttl=10)])
        [before] = self.client.check("c", [Check(id=b"a")])
        self.client.track("c", [Item(id=b"a", ts=ts)])
        [after] = self.client.check("c", [Check(id=b"a")])
        self.assertTrue(before.expired)
        self.assertEqual((after.expired, after.expire_time), (False, ts + 3600))

    def test_switching_ttl_off_shows_all_items_again_and_minus_one_is_not_off(self):
        ts = int(time.time()) - 100
        self.client.create_container("c", 10)
        self.client.track("c", [Item(id=b"own", ts=ts, ttl=20), Item(id=b"inherits", ts=ts)])
        checks = [Check(id=b"own"), Check(id=b"inherits")]
        for default_ttl, expected in ((10, [True, True]), (None, [False, False]),
                                      (-1, [True, False]), (1000, [True, False])):
            self.client.set_default_ttl("c", default_ttl)
            answers = self.client.check("c", checks)
            self.assertEqual([answer.expired for answer in answers], expected, default_ttl)


def expiry_rules():
    """The cases that the tests of all languages share: (default_ttl, ttl, expire_at, expire_time,
    source)."""
    path = pathlib.Path(__file__).parents[2] / "data" / "expiry_rules.csv"
    lines = (line for line in path.read_text().splitlines() if not line.startswith("#"))
    for case in csv.DictReader(lines):
        *times, source = case.values()
        yield *(int(time) if time else None for time in times), f"TTL_SOURCE_{source.upper()}"


class ExpireAt(SidecarTestCase):
    TS = 1_600_000_000

    def test_all_combinations_of_default_ttl_ttl_and_expire_at(self):
        for default_ttl in (None, -1, 60):
            self.client.create_container(f"c/{default_ttl}", default_ttl)
        count = 0
        for default_ttl, ttl, expire_at, expire_time, source in expiry_rules():
            container, id = f"c/{default_ttl}", str(count).encode()
            count += 1
            with self.subTest(container=container, ttl=ttl, expire_at=expire_at):
                check = Check(id=id, ts=self.TS, ttl=ttl, expire_at=expire_at)
                [answer] = self.client.check(container, [check])
                self.assertEqual(answer.expire_time, expire_time)
                item = Item(id=id, ts=self.TS, ttl=ttl, expire_at=expire_at)
                is_legal = expire_time is not None or expire_at is None and ttl in (None, -1)
                if default_ttl is not None and not is_legal:
                    with self.assert_refused(Code.INVALID_ARGUMENT, "items[0]", "must be"):
                        self.client.track(container, [item])
                    continue
                self.client.track(container, [item])
                view = self.client.explain_item(container, id).item
                self.assertEqual(view.item.expire_at if view.item.HasField("expire_at") else None,
                                 expire_at)
                self.assertEqual(item_pb2.TtlSource.Name(view.ttl_source), source)
                self.assertEqual(view.expire_time or None, expire_time)
        self.assertEqual(count, 252)

    def test_a_watcher_is_told_of_containers_with_an_end_only_if_it_knows_the_rule(self):
        self.client.create_container("c", 60)
        self.client.track("c", [Item(id=b"a", ts=self.TS, expire_at=self.TS + 5)])
        self.client.create_container("d", 60)
        for expire_at, expected in ((False, ["d"]), (True, ["c", "d"])):
            snapshot = next(self.client.watch_containers(expire_at=expire_at))
            self.assertEqual([container.id for container in snapshot.containers], expected)


class Reports(SidecarTestCase):
    def setUp(self):
        super().setUp()
        self.client.create_container("c", 3600)
        self.now = int(time.time())

    def test_what_was_never_reported_is_untracked_unless_the_check_carries_state(self):
        by_key, carried, expired = self.client.check("c", [
            Check(id=b"x"), Check(id=b"x", ts=self.now), Check(id=b"x", ts=self.now - 60, ttl=60)])
        self.assertIs(by_key.visibility, Visibility.UNTRACKED)
        self.assertEqual((by_key.expired, by_key.expire_time), (False, None))
        self.assertIs(carried.visibility, Visibility.VISIBLE)
        self.assertIs(expired.visibility, Visibility.EXPIRED)

    def test_an_older_report_is_stale_by_sequence_and_by_ts(self):
        def report(**fields):
            return self.client.track("c", [Item(id=b"a", **fields)])
        self.assertEqual(report(ts=self.now, sequence=7), [TrackResult.TRACKED])
        self.assertEqual(report(ts=self.now, sequence=6), [TrackResult.STALE])
        self.assertEqual(report(ts=self.now - 1), [TrackResult.STALE])
        self.assertEqual(report(ts=self.now, sequence=2**64 - 1), [TrackResult.TRACKED])
        self.assertEqual(self.client.get_item("c", b"a").item.sequence, 2**64 - 1)

    def test_deletes_are_reported_by_version(self):
        self.client.track("c", [Item(id=b"a", ts=self.now, sequence=5)])
        def untrack(id, sequence):
            deletion = Deletion(id=id, ts=self.now, sequence=sequence)
            return self.client.untrack("c", [deletion])
        self.assertEqual(untrack(b"a", 4), [UntrackResult.STALE])
        self.assertEqual(untrack(b"a", 6), [UntrackResult.UNTRACKED])
        self.assertEqual(untrack(b"a", 7), [UntrackResult.NOT_TRACKED])

    def test_keys_and_etags_are_bytes_of_any_kind(self):
        item = Item(partition_key=b"\x00\xff/\xc3\x28", id=b"\xfe\x00\n", ts=self.now,
                    etag=b"\x80\x81", size_bytes=9)
        self.client.track("c", [item])
        [view] = self.client.list_items("c")
        self.assertEqual(view.item, item.to_proto())
        [answer] = self.client.check("c", [Check(partition_key=item.partition_key, id=item.id)])
        self.assertIs(answer.visibility, Visibility.VISIBLE)

    def test_the_limits_of_64_bit_values(self):
        self.client.track("c", [Item(id=b"a", ts=self.now, ttl=2147483647)])
        [answer] = self.client.check("c", [Check(id=b"a")])
        self.assertEqual(answer.expire_time, self.now + 2147483647)
        # A check never refuses what it carries.
        impossible = [Check(id=b"x", ts=ts, ttl=ttl) for ts in (-2**63, 0, 2**63 - 1)
                      for ttl in (None, 0, 2**63 - 1, -2**63)]
        for answer in self.client.check("c", impossible):
            self.assertIs(answer.visibility, Visibility.VISIBLE)
        with self.assertRaises(ValueError):
            self.client.track("c", [Item(id=b"a", ts=2**63)])

    def test_lists_are_longer_than_a_call_and_a_page(self):
        items = [Item(id=b"%05d" % n, ts=self.now) for n in range(2500)]
        self.assertEqual(self.client.track("c", items), [TrackResult.TRACKED] * 2500)
        answers = self.client.check("c", [Check(id=item.id) for item in items] + [Check(id=b"x")])
        self.assertEqual([answer.visibility for answer in answers],
                         [Visibility.VISIBLE] * 2500 + [Visibility.UNTRACKED])
        self.assertEqual([view.item.id for view in self.client.list_items("c")],
                         [item.id for item in items])


class Errors(SidecarTestCase):
    def setUp(self):
        super().setUp()
        self.client.create_container("c", 3600)
        self.now = int(time.time())

    def test_values_out_of_range_are_refused_by_name_and_nothing_is_applied(self):
        good = Item(id=b"good", ts=self.now)
        for field, value in (("ttl", 0), ("ttl", -2), ("ttl", 2147483648), ("ttl", 2**63 - 1),
                             ("ttl", -2**63), ("ts", 0), ("ts", -1), ("ts", self.now * 1000)):
            with self.subTest(field=field, value=value):
                bad = Item(**{"id": b"bad", "ts": self.now, field: value})
                with self.assert_refused(Code.INVALID_ARGUMENT, "items[1]", field, str(value)):
                    self.client.track("c", [good, bad])
        self.assertEqual(list(self.client.list_items("c")), [])

    def test_values_out_of_range_are_refused_for_containers_too(self):
        for default_ttl in (0, -2, 2147483648):
            with self.subTest(default_ttl=default_ttl):
                with self.assert_refused(Code.INVALID_ARGUMENT, "default_ttl", str(default_ttl)):
                    self.client.set_default_ttl("c", default_ttl)
        self.assertEqual(self.client.get_container("c").default_ttl, 3600)

    def first(self, replies):
        return next(replies).results()

    def test_an_unknown_container_is_not_found_by_every_method(self):
        item = Item(id=b"a", ts=self.now)
        for call in (lambda: self.client.track("no/such", [item]),
                     lambda: self.client.untrack("no/such", [Deletion(id=b"a", ts=self.now)]),
                     lambda: self.client.check("no/such", [Check(id=b"a")]),
                     lambda: self.client.get_item("no/such", b"a"),
                     lambda: list(self.client.list_items("no/such")),
                     lambda: self.client.get_container("no/such"),
                     lambda: self.client.set_default_ttl("no/such", 5),
                     lambda: self.client.delete_container("no/such"),
                     lambda: self.client.status("no/such"),
                     lambda: self.client.pause_deletes("test", "no/such"),
                     lambda: self.first(self.client.check_stream("no/such", [[Check(id=b"a")]])),
                     lambda: self.first(self.client.track_stream("no/such", [[item]]))):
            with self.assert_refused(Code.NOT_FOUND, "no/such"):
                call()

    def test_expired_items_cannot_be_looked_up_but_explained(self):
        self.client.track("c", [Item(id=b"a", ts=self.now - 60, ttl=60)])
        with self.assert_refused(Code.NOT_FOUND):
            self.client.get_item("c", b"a")
        self.assertTrue(self.client.explain_item("c", b"a").item.expired)

    def test_a_container_that_exists_is_not_created_again(self):
        with self.assert_refused(Code.ALREADY_EXISTS, "c"):
            self.client.create_container("c")

    def test_the_error_of_one_part_of_many_says_which(self):
        items = [Item(id=b"%d" % n, ts=self.now) for n in range(1500)]
        items[1200] = Item(id=b"bad", ts=self.now, ttl=0)
        with self.assert_refused(Code.INVALID_ARGUMENT, "entries 1000 to 1499", "items[200]"):
            self.client.track("c", items)
        self.assertEqual(len(list(self.client.list_items("c"))), 1000)


class Containers(SidecarTestCase):
    def test_create_change_list_and_delete(self):
        created = self.client.create_container("salesdb/orders", 60)
        self.client.create_container("salesdb/carts")
        self.assertEqual(created.default_ttl, 60)
        changed = self.client.set_default_ttl("salesdb/orders", None)
        self.assertFalse(changed.HasField("default_ttl"))
        self.assertNotEqual(changed.etag, created.etag)
        with self.assert_refused(Code.ABORTED):
            self.client.delete_container("salesdb/orders", created.etag)
        self.client.delete_container("salesdb/orders", changed.etag)
        self.assertEqual([container.id for container in self.client.list_containers()],
                         ["salesdb/carts"])

    def test_pauses_show_in_the_status(self):
        self.client.create_container("c", 60)
        self.client.pause_deletes("one", "c")
        self.client.pause_deletes("all of them", all_containers=True)
        status = self.client.status("c")
        self.assertEqual((status.container.pause.reason, status.sidecar.pause.reason),
                         ("one", "all of them"))
        self.client.resume_deletes("c")
        self.client.resume_deletes(all_containers=True)
        [status] = self.client.list_statuses()
        self.assertFalse(status.HasField("pause"))

    def test_a_pause_of_all_containers_is_not_meant_by_mistake(self):
        self.client.pause_deletes("all of them", all_containers=True)
        for arguments, options in (((None,), {}), ((), {}), (("c",), {"all_containers": True}),
                                   ((), {"all_containers": 1})):
            with self.assertRaisesRegex(TypeError, "all_containers=True"):
                self.client.resume_deletes(*arguments, **options)
            with self.assertRaisesRegex(TypeError, "all_containers=True"):
                self.client.pause_deletes("why", *arguments, **options)
        self.assertEqual(self.client.status().sidecar.pause.reason, "all of them")

    def test_usage_shows_in_the_status(self):
        self.client.create_container("c", 60, delete_policy={"request_units_per_second": 100})
        self.client.report_usage("c", 30, period=2.0, reporter="test")
        wait_until(lambda: self.client.status("c").container.budget.used_by_requests == 15,
                   "15 request units per second are in use")

    def test_windows_hold_deletes_back_until_they_open(self):
        self.client.create_container("c", 60, delete_policy={"windows": {
            "windows": [{"days": ["DAY_OF_WEEK_MONDAY", 7], "start": "22:00", "end": "06:00",
                         "max_deletes_per_second": 0}],
            "time_zone": "Europe/Berlin"}})
        windows = self.client.get_container("c").delete_policy.windows
        self.assertEqual(list(windows.windows[0].days), [1, 7])
        self.assertEqual(windows.time_zone, "Europe/Berlin")
        status = self.client.status("c").container
        self.assertIn(expiry_service_pb2.DELETE_HOLD_WINDOW, status.holds)
        self.assertFalse(status.windows.HasField("next_start"))
        windows.windows[0].ClearField("max_deletes_per_second")
        windows.time_zone = "Europe/Atlantis"
        changed = container_pb2.Container(id="c")
        changed.delete_policy.windows.CopyFrom(windows)
        with self.assertRaisesRegex(SidecarError, "Europe/Atlantis"):
            self.client.update_container(changed, ["delete_policy.windows"])

    def test_watchers_see_a_snapshot_and_then_changes(self):
        self.client.create_container("c", 60)
        watch = self.client.watch_containers(heartbeat=PATIENCE / 5)  # silence for five is an error
        self.assertEqual([container.id for container in next(watch).containers], ["c"])
        self.client.set_default_ttl("c", 70)
        change = next(message for message in watch if message.containers)
        self.assertEqual(change.containers[0].default_ttl, 70)
        watch.close()
