"""The status page of a real sidecar in a real browser: what it shows is what ttlctl says."""

import datetime
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import sidecar
import webdriver

BINARIES = pathlib.Path(os.environ["TTL_BIN"])
SCREENSHOTS = pathlib.Path(os.environ["TTL_SCREENSHOTS"])
TAB = "\ue004"
DOWN = "\ue015"
PHONE, DESKTOP = (320, 640), (1280, 800)

HOSTILE = ["<script>window.hacked = 1</script>", "\u202egnp.exe\u202c", "it's \"a\" & <b>b</b>",
           "-x", "שלום", "x" * 255]

browser = None


def setUpModule():
    global browser
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    browser = webdriver.Browser()


def tearDownModule():
    browser.close()


# --- What ttlctl prints, in the words of the page ---


def count_text(number):
    return f"{int(number):,}"


def measured_text(number):
    if number >= 99.95:
        return count_text(int(number + 0.5))
    return f"{number:.3g}"


def shown(text):
    """As ttlctl prints texts of others."""
    marks = re.compile("[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
    return marks.sub(lambda mark: "".join(f"\\x{byte:02x}" for byte in mark.group().encode()), text)


def expected_row(status):
    items = status["items"]
    about = "" if items["error_bound_items"] == "0" else "about "
    allowed = status.get("allowed_deletes_per_second")
    return {
        "container": shown(status["container"]),
        "live": about + count_text(items["live_items"]),
        "expired": about + count_text(items["expired_items"]),
        "backlog": ("at least " if status["backlog_is_lower_bound"] else "") +
        count_text(status["backlog"]),
        "allowed": "no limit" if allowed is None else measured_text(allowed) + "/s",
        "stuck": count_text(status["failing_items"]),
    }


def seconds_of(span):
    """The least and the greatest length that is shown as this span."""
    units = {"d": 86400, "h": 3600, "m": 60, "s": 1}
    parts = [(float(number), unit) for number, unit in re.findall(r"([\d.]+)([dhms])", span)]
    least = sum(number * units[unit] for number, unit in parts)
    steps = {"d": 3600, "h": 60, "m": 1, "s": 1}
    return least, least + steps[parts[0][1]]


def without_moving(value):
    """A status without what passes with time alone."""
    moving = {"now", "wall", "steady", "last_step_time", "last_success_time", "clock_skew",
              "oldest_due_age", "calls_under_way", "last_complete_pass_time"}
    if isinstance(value, dict):
        return {name: without_moving(part) for name, part in value.items() if name not in moving}
    return [without_moving(part) for part in value] if isinstance(value, list) else value


# --- What is on the page ---

ROWS = """
  return [...document.querySelectorAll("#rows > tr:not(.detail)")].map((row) => {
    const texts = [...row.querySelectorAll("td")].map((cell) =>
        [cell.dataset.column, cell.querySelector("span > span").textContent]);
    const name = row.querySelector("th button").textContent;
    return Object.fromEntries([["container", name], ...texts]);
  });
"""

FACTS = """
  return [...document.querySelectorAll(arguments[0] + " dt")].map((name) =>
      [name.textContent, name.nextElementSibling.textContent]);
"""

# The figures of each step of the forecast, and its bar: [what may be deleted, all of it, limit].
STEPS = """
  return [...document.querySelectorAll("#forecast-steps tbody tr")].map((row) => {
    const [all, inTime, mark] = row.querySelector("svg").children;
    const lengths = [[inTime, "width"], [all, "width"], [mark, "x1"]].map(([element, name]) =>
        element.hasAttribute("hidden") ? null : Number(element.getAttribute(name)));
    return {texts: [...row.cells].slice(0, -1).map((cell) => cell.textContent), lengths};
  });
"""

# Texts whose contrast with what is behind them is less than AA asks for.
LOW_CONTRAST = """
  const channel = (value) => {
    value /= 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([red, green, blue]) =>
      0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
  const behind = (element) => {
    for (; element !== null; element = element.parentElement) {
      const color = parse(getComputedStyle(element).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() === "" || element.getClientRects().length === 0) continue;
    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push(`${element.tagName} ${ratio.toFixed(2)} ${walker.currentNode.data}`);
  }
  return low;
"""


class PageTest(unittest.TestCase):
    """A test with a sidecar and its page."""

    def start(self, *flags, **options):
        self.sidecar = sidecar.Sidecar(BINARIES, *flags, **options)
        self.addCleanup(self.sidecar.close)

    def with_store(self, *flags):
        self.store = sidecar.Store(BINARIES)
        self.addCleanup(self.store.close)
        self.start(f"--store={self.store.address}", *flags)

    def create(self, container, *options):
        self.sidecar.ttlctl("containers", "create", *options, "--", container)

    def open(self):
        browser.look(*DESKTOP, "light")
        browser.log()
        # Before the sidecar ends, which the page would notice and log.
        self.addCleanup(browser.open, "about:blank")
        browser.open(self.sidecar.url)
        browser.wait("data.complete && readAt !== undefined")

    def refresh(self):
        browser.wait("!refreshing")
        browser.run("return refresh()")

    def statuses(self):
        return self.sidecar.json("status")

    def wait_for(self, condition):
        """Waits until a function of ttlctl's statuses by container is true."""
        end = time.monotonic() + 60
        while True:
            found = {one["container"]: one for one in self.statuses()["containers"]}
            if condition(found):
                return
            self.assertLess(time.monotonic(), end, found)
            time.sleep(0.1)

    def track_as_due(self, container, count, ts):
        """Reports items, of which the first are due since a minute after `ts`. Right after the
        creation of a container they wait for its grace, and those that are imported always do."""
        def is_due(found):
            age = float(found[container].get("oldest_due_age", "0s").rstrip("s"))
            if age > time.time() - ts - 70:
                return True
            self.sidecar.ttlctl("items", "track", container, f"first {time.monotonic_ns()}",
                                "--ts", str(ts))
            return False
        self.wait_for(is_due)
        self.sidecar.track(container, [b"%d" % i for i in range(count)], ts)
        self.wait_for(lambda found: int(found[container]["backlog"]) >= count)

    def read_both(self):
        """The statuses of ttlctl, and again after the page has read them. The sidecar may do something
        meanwhile, so that is repeated until all are equal but for what passes with time; in the end
        they have to be."""
        end = time.monotonic() + 30
        while True:
            before = self.statuses()
            self.refresh()
            page = browser.run("return {sidecar: data.sidecar, containers: data.containers}")
            holds = {row["container"]: row["holds"] for row in browser.run(ROWS)}
            facts = {shown(one["container"]): self.fact(one["container"], "held back by")
                     for one in before["containers"]}
            told = {name: "none" if fact == "nothing" else fact for name, fact in facts.items()}
            after = self.statuses()
            pairs = [(page[part], before[part]) for part in page] + [(holds, told), (before, after)]
            if all(without_moving(one) == without_moving(other) for one, other in pairs):
                return before, after
            if time.monotonic() > end:
                for one, other in pairs:
                    self.assertEqual(without_moving(one), without_moving(other))

    def assert_numbers_are_those_of_ttlctl(self):
        if browser.run("return isPaused") is False:
            browser.click("#pause")
        before, after = self.read_both()
        rows = {row["container"]: row for row in browser.run(ROWS)}
        self.assertEqual(set(rows), {shown(one["container"]) for one in before["containers"]})
        for early, late in zip(before["containers"], after["containers"]):
            row = rows[shown(early["container"])]
            expected = expected_row(early)
            self.assertEqual({name: row[name] for name in expected}, expected)
            self.assert_age_between(row["oldest"], early, late)
        self.assert_health_is(before["sidecar"])

    def assert_age_between(self, text, early, late):
        if "oldest_due_age" not in early:
            self.assertEqual(text, "-")
            return
        first, last = (float(one["oldest_due_age"].rstrip("s")) for one in (early, late))
        least, greatest = seconds_of(text)
        self.assertLessEqual(least, last + 0.1, text)
        self.assertGreaterEqual(greatest, first - 0.1, text)
        self.assertEqual("late" in text, least > 900 or first > 900, text)

    def assert_health_is(self, status):
        state = {"HEALTH_STATE_HEALTHY": "Healthy", "HEALTH_STATE_DEGRADED": "Degraded"}
        self.assertEqual(self.text("health-state"),
                         state[status["health"]["state"]])
        reasons = browser.run("""return [...document.querySelectorAll("#health-reasons li")]
            .map((item) => item.textContent)""")
        self.assertEqual(reasons, [shown(one) for one in status["health"]["reasons"]])

    def fact(self, container, name):
        """A line of ttlctl's text about one container."""
        text = self.sidecar.ttlctl("status", "--", container).split("\n\n", 1)[1]
        return re.search(rf"^{name}  +(.*)$", text, re.MULTILINE).group(1)

    def detail(self, container):
        """Opens a container; returns the facts of its details."""
        browser.run("if (view.open !== arguments[0]) toggle(arguments[0])", container)
        browser.wait("view.open === arguments[0] && (view.stuck !== undefined)", container)
        return dict(browser.run(FACTS, ".detail"))

    def text(self, element_id):
        return browser.run("return find(arguments[0]).textContent", element_id)

    def names(self):
        """The containers in the order of the table."""
        return [row["container"] for row in browser.run(ROWS)]

    def commands(self, selector):
        return browser.run("return [...document.querySelectorAll(arguments[0] + ' .holds code')]"
                           ".map((code) => code.textContent)", selector)

    def assert_sound(self, state):
        """What holds in every state, at each width and in each scheme; takes screenshots."""
        for width, height in (DESKTOP, PHONE):
            for scheme in ("light", "dark"):
                browser.look(width, height, scheme)
                browser.screenshot(SCREENSHOTS / f"{state}-{width}-{scheme}.png")
                needed = browser.run("return document.documentElement.scrollWidth")
                self.assertLessEqual(needed, width)
                self.assertEqual(browser.run(LOW_CONTRAST), [], f"{width} {scheme}")
        self.assertEqual(browser.run("return window.violations"), [])
        self.assertEqual(browser.run("return document.querySelectorAll('[style]').length"), 0)
        self.assertEqual([one for one in browser.log() if one["level"] == "SEVERE"], [])
        browser.look(*DESKTOP, "light")


class Calm(PageTest):
    def test_what_lives_is_counted(self):
        self.with_store()
        now = int(time.time())
        for name, items in [("sessions", 1234), ("salesdb/orders", 3), ("empty", 0)]:
            self.create(name, "--default-ttl", "86400")
            if items:
                self.sidecar.track(name, [b"%d" % i for i in range(items)], now)
        self.create("off")
        self.open()
        self.assert_numbers_are_those_of_ttlctl()
        facts = self.detail("sessions")
        self.assertIn("1,234 tracked", facts["items"])
        self.assertEqual(facts["will expire"], self.fact("sessions", "will expire"))
        self.assertEqual(facts["deletes"], self.fact("sessions", "deletes"))
        self.assert_sound("calm")


class Backlog(PageTest):
    def test_a_backlog_has_an_age_a_rate_and_a_time(self):
        self.with_store()
        now = int(time.time())
        # The store has none of them: what was deleted before the limit counts as not found.
        self.create("late", "--default-ttl", "60", "--max-deletes-per-second", "0.001")
        self.create("young", "--default-ttl", "60", "--max-deletes-per-second", "0.001")
        self.create("budget", "--default-ttl", "60", "--request-units-per-second", "10")
        self.create("calm", "--default-ttl", "60")
        self.track_as_due("late", 3000, now - 7200)
        self.track_as_due("budget", 20, now - 600)
        self.track_as_due("young", 200, now - 300)
        self.open()
        self.assert_numbers_are_those_of_ttlctl()
        self.assertEqual(self.names(), ["late", "budget", "young", "calm"])
        self.assertEqual(browser.run("return document.querySelectorAll('.bar.late').length"), 1)
        self.assertEqual(self.detail("late")["deletes"], self.fact("late", "deletes"))
        self.assertIn("NO REPORT OF USAGE", self.detail("budget")["budget"])
        self.assert_sound("backlog")

    def test_rates_and_times_follow_from_two_samples(self):
        self.start()
        self.open()
        texts = browser.run("""
          const status = (backlog, more) => ({backlog, backlog_is_lower_bound: false,
              items: {expiring_per_hour: ["3600"]}, ...more});
          const rates = ratesBetween({at: 10, sent: 100, cleared: 50},
              {at: 14, sent: 180, cleared: 130});
          return [rates, ratesBetween({at: 1, sent: 5}, {at: 1, sent: 9}) ?? "none",
              ratesBetween({at: 1, sent: 5}, {at: 2, sent: 4}) ?? "none",
              catchUpText(status("0")), catchUpText(status("1140"), rates),
              catchUpText(status("1140", {backlog_is_lower_bound: true}), rates),
              catchUpText(status("5")), catchUpText(status("5"), {sent: 1, cleared: 0}),
              catchUpText(status("5"), {sent: 1, cleared: 0.5})];""")
        self.assertEqual(texts, [
            {"sent": 20, "cleared": 20}, "none", "none", "caught up", "about 1m", "at least 1m",
            "measuring", "no deletes", "backlog grows"])

    def test_a_rate_is_known_however_long_a_refresh_takes(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.open()
        browser.click("#pause")
        browser.wait("!refreshing")
        texts = browser.run("""
          const pass = (seconds, sent) => {
            const now = Date.parse(data.sidecar.clock.now) + 1000 * seconds;
            data.sidecar.clock = {now: new Date(now).toISOString()};
            data.containers[0].deletes.sent = String(sent);
            takeSamples();
            return sentText(data.containers[0]);
          };
          takeSamples();
          return [pass(60, 120), pass(8, 120), pass(8, 200), pass(60, 200)];""")
        self.assertEqual(texts, ["2/s", "0/s", "10/s", "0/s"])

    def test_what_was_deleted_is_shown_by_its_lateness(self):
        self.with_store()
        now = int(time.time())
        self.create("c", "--default-ttl", "60")
        for i in range(7):
            self.store.put("c", b"%d" % i, now - 1200)
        self.sidecar.track("c", [b"%d" % i for i in range(7)], now - 1200)
        self.wait_for(lambda found: found["c"]["deletes"]["deleted"] == "7")
        self.open()
        self.assert_numbers_are_those_of_ttlctl()
        self.assertEqual(self.detail("c")["deletes"], self.fact("c", "deletes"))
        rows = browser.run("""return [...document.querySelectorAll(".detail tbody tr")].map((row) =>
            [row.cells[0].textContent, row.cells[1].textContent, row.className,
             row.querySelector("rect").getAttribute("class")])""")
        counts = [one["count"] for one in self.statuses()["containers"][0]["lateness"]["buckets"]]
        self.assertEqual([row[1] for row in rows], counts)
        self.assertEqual([row[0] for row in rows if row[2] == "line"], ["within 15m"])
        self.assertEqual([row[0] for row in rows if row[3] == "bar late"],
                         ["within 1h", "within 6h", "within 1d", "later"])
        self.assert_sound("deleted")


class Forecast(PageTest):
    RANGES = {"hour": (3600, 300), "day": (86400, 3600), "week": (604800, 21600)}

    def read_forecast(self, container, name):
        """The forecast as ttlctl's JSON and lines, with the page's steps and facts. All are of the
        same second, in which a forecast does not change."""
        seconds, step = self.RANGES[name]
        arguments = ["forecast", "--for", str(seconds), "--step", str(step), "--", container]
        end = time.monotonic() + 60
        while time.monotonic() < end:
            before = self.sidecar.json(*arguments)
            self.refresh()
            steps, facts = browser.run(STEPS), dict(browser.run(FACTS, "#forecast-facts"))
            told = dict(re.findall(r"^(expiring|allowed|backlog|backlog ends)  +(.*)$",
                                   self.sidecar.ttlctl(*arguments), re.MULTILINE))
            after = self.sidecar.json(*arguments)
            if before == after:
                told["allowed"] = told["allowed"].split(";")[0]  # then what its marks mean
                return before, told, steps, facts
        self.fail("no two forecasts are of the same second")

    def expected_texts(self, forecast):
        begun = begin = datetime.datetime.fromisoformat(forecast["judged_at"])
        rate, rows = forecast.get("allowed_deletes_per_second"), []
        for step in forecast["steps"]:
            end = datetime.datetime.fromisoformat(step["end_time"])
            bound = step["error_bound_items"]
            items = count_text(step["items"])
            allowed = [] if rate is None else \
                [count_text(math.floor(rate * (end - begin).total_seconds()))]
            rows.append([end - begun, step["end_time"],
                         items if bound == "0" else f"about {items} ± {count_text(bound)}", *allowed])
            begin = end
        return rows

    def assert_forecast_is_that_of_ttlctl(self, container, name):
        forecast, told, steps, facts = self.read_forecast(container, name)
        for (length, *expected), step in zip(self.expected_texts(forecast), steps, strict=True):
            within, *texts = step["texts"]
            self.assertEqual(texts, expected)
            least, greatest = seconds_of(within)
            self.assertTrue(least <= length.total_seconds() < greatest, within)
        bound = forecast["backlog_error_bound_items"]
        told["backlog"] += "" if bound == "0" else f", off by {count_text(bound)} at most"
        self.assertEqual(facts, told)
        return forecast, steps

    def choose(self, name):
        browser.run("""forecastParts.range.value = arguments[0];
            forecastParts.range.dispatchEvent(new Event("change"));""", name)
        browser.wait("view.forecast.range === arguments[0]", name)

    def track_waves(self, container):
        """Items that expire in the next days, so many seconds of which that they are not counted by
        the second."""
        ttls = [450] * 2 + [1800] * 1200 + [9000] * 30 + list(range(90000, 290000, 97))
        self.sidecar.track(container, [b"wave %d" % i for i in range(len(ttls))],
                           int(time.time()), ttls)

    def test_each_step_is_that_of_ttlctl_beside_what_may_be_deleted_in_it(self):
        self.with_store()
        self.create("waves", "--default-ttl", "60", "--max-deletes-per-second", "0.2")
        self.track_as_due("waves", 500, int(time.time()) - 7200)
        self.track_waves("waves")
        self.open()
        browser.click("#pause")
        self.detail("waves")
        forecast, steps = self.assert_forecast_is_that_of_ttlctl("waves", "day")
        most = max(int(step["items"]) for step in forecast["steps"])
        self.assertGreater(most, 1100)
        for step, given in zip(steps, forecast["steps"], strict=True):
            items = int(given["items"])
            in_time, full, limit = step["lengths"]
            self.assertAlmostEqual(limit, 100 * 720 / most, 1)
            self.assertAlmostEqual(in_time, 100 * min(items, 720) / most, delta=0.51)
            self.assertEqual(full, 100 if items == most else None)
        self.assert_sound("forecast")
        for name in ["hour", "week"]:
            self.choose(name)
            forecast, steps = self.assert_forecast_is_that_of_ttlctl("waves", name)
            self.assert_sound(f"forecast-{name}")
        self.assertTrue(any("±" in step["texts"][2] for step in steps), steps)
        self.assertTrue(self.text("forecast-legend").endswith(". ± is the maximum error."))

    def test_without_a_limit_there_is_no_line(self):
        self.with_store()
        self.create("waves", "--default-ttl", "60")
        self.create("empty", "--default-ttl", "60")
        self.track_waves("waves")
        self.open()
        browser.click("#pause")
        self.detail("waves")
        _, steps = self.assert_forecast_is_that_of_ttlctl("waves", "day")
        self.assertEqual({len(step["texts"]) for step in steps}, {3})
        self.assertEqual({tuple(step["lengths"][1:]) for step in steps}, {(None, None)})
        self.assertEqual(self.text("forecast-legend"), "There is no limit on deletes.")
        self.detail("empty")
        self.assertEqual(self.text("forecast-steps"), "Nothing will expire in this time.")
        self.assertEqual(dict(browser.run(FACTS, "#forecast-facts"))["expiring"], "0 items")
        self.assert_sound("forecast-empty")

    def test_counts_beyond_two_to_the_53rd_are_not_rounded(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.open()
        browser.click("#pause")
        self.detail("c")
        most = 2**63 - 1
        begin = "2026-01-01T00:00:00Z"
        forecast = {
            "steps": [{"end_time": "2026-01-01T01:00:00Z", "items": str(2**53 + 1),
                       "error_bound_items": str(2**53 + 3), "bytes": str(most)},
                      {"end_time": "2026-01-01T02:00:00Z", "items": "2", "bytes": "0",
                       "error_bound_items": "0"}],
            "judged_at": begin, "complete": False, "data_in_doubt": False,
            "backlog_items": str(most), "backlog_error_bound_items": str(most - 1),
            "allowed_deletes_per_second": 1e12, "backlog_end": "BACKLOG_END_AT_TIME",
            "backlog_end_time": "2026-01-01T01:30:00Z"}
        browser.run("showForecast(arguments[0])", forecast)
        self.assertEqual([step["texts"][2:] for step in browser.run(STEPS)],
                         [["about 9,007,199,254,740,993 ± 9,007,199,254,740,995",
                           "3,600,000,000,000,000"], ["2", "3,600,000,000,000,000"]])
        self.assertEqual(dict(browser.run(FACTS, "#forecast-facts")), {
            "expiring": "about 9,007,199,254,740,995 items, 9,223,372,036,854,775,807 bytes; "
                        "items are still being counted after the start",
            "backlog": "about 9,223,372,036,854,775,807 items, "
                       "off by 9,223,372,036,854,775,806 at most",
            "allowed": "1,000,000,000,000/s",
            "backlog ends": "about 2026-01-01T01:30:00Z, in 1h 30m"})
        self.assertEqual(browser.run("return forecastText([arguments[0], '2'])", str(2**53 + 1)),
                         "9,007,199,254,740,993 within the hour, "
                         "9,007,199,254,740,995 within 2 hours")
        self.assert_sound("forecast-greatest")

    def test_it_is_read_only_while_the_details_are_open(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.open()
        reads = """return performance.getEntriesByType("resource")
            .filter(({name}) => name.includes("/forecast.json?container=c&")).length"""
        self.refresh()
        self.assertEqual(browser.run(reads), 0)
        self.detail("c")
        self.refresh()
        read = browser.run(reads)
        self.assertGreaterEqual(read, 2)
        browser.click("#rows button")
        self.refresh()
        read = browser.run(reads)
        self.refresh()
        self.assertEqual(browser.run(reads), read)

    def test_its_length_is_chosen_by_keyboard_and_what_comes_is_announced(self):
        self.start()
        self.create("c", "--default-ttl", "3600")
        self.sidecar.track("c", [b"a", b"b"], int(time.time()))
        self.open()
        self.detail("c")
        self.assertEqual(browser.label("#forecast-range"), "For the next")
        self.assertEqual(browser.role("#forecast-steps table"), "table")
        self.assertEqual(browser.role("#forecast-steps tbody th"), "rowheader")
        self.assertEqual(browser.label("#forecast-steps table"), "Items that will expire, by step")
        browser.run("document.querySelector('#rows button').focus()")
        browser.press(TAB)
        self.assertEqual(browser.run("return document.activeElement.id"), "forecast-range")
        browser.press(DOWN)
        browser.wait("find('announcement').textContent.startsWith('For the next week')")
        self.assertEqual(self.text("announcement"), "For the next week: 2 items")
        self.assertEqual(len(browser.run(STEPS)), 28)
        row = browser.run("return window.row = document.querySelector('#forecast-steps th')")
        self.assertIsNotNone(row)
        read = browser.run("return readAt")
        browser.wait("readAt > arguments[0] && !refreshing", read)
        self.assertTrue(browser.run("return row.isConnected"))
        self.assertEqual(browser.run("return document.activeElement.id"), "forecast-range")


class Held(PageTest):
    def test_each_hold_comes_with_the_command_that_lifts_it(self):
        self.with_store("--max-deletes-per-second=100")
        now = int(time.time())
        self.create("paused one", "--default-ttl", "60")
        self.sidecar.ttlctl("pause", "paused one", "--reason", "an audit <b>until</b> Friday")
        self.create("zero", "--default-ttl", "60", "--max-deletes-per-second", "0")
        self.create("braked", "--default-ttl", "864000", "--brake-items", "5")
        self.sidecar.track("braked", [b"%d" % i for i in range(50)], now - 3600)
        self.sidecar.ttlctl("containers", "set", "--default-ttl", "60", "braked")
        self.sidecar.ttlctl("pause", "--all", "--reason", "moving")
        for name in ["paused one", "zero"]:
            self.sidecar.track(name, [b"a", b"b"], now - 1000)
        self.wait_for(lambda found: all(int(found[name]["backlog"]) == 2
                                        for name in ["paused one", "zero"]))
        self.open()
        self.assert_numbers_are_those_of_ttlctl()
        self.assertEqual(self.commands("#holds-of-all"), ["ttlctl resume --all"])
        self.detail("paused one")
        self.assertEqual(self.commands(".detail"),
                         ["ttlctl resume --all", "ttlctl resume 'paused one'"])
        self.assertIn('"an audit <b>until</b> Friday" since ',
                      browser.run("return parts.holds.textContent"))
        self.detail("zero")
        self.assertIn("ttlctl containers set --max-deletes-per-second 100 zero",
                      self.commands(".detail"))
        self.detail("braked")
        self.assertIn("ttlctl containers confirm braked", self.commands(".detail"))
        self.assertIn("50 items became due", browser.run("return parts.holds.textContent"))
        self.assert_sound("held")

        for command in ["resume --all", "resume paused\tone", "containers confirm braked"]:
            self.sidecar.ttlctl(*(word.replace("\t", " ") for word in command.split(" ")))
        self.wait_for(lambda found: found["paused one"]["backlog"] == "0" and
                      found["braked"]["items"]["tracked_items"] == "0")
        self.assert_numbers_are_those_of_ttlctl()
        self.assertTrue(browser.run("return find('holds-of-all').hidden"))


    def test_a_limit_of_0_over_all_containers_is_not_lifted_by_removing_every_limit(self):
        self.start("--max-deletes-per-second=0")
        self.create("c", "--default-ttl", "60")
        self.open()
        [command] = self.commands("#holds-of-all")
        self.assertEqual(command, "ttlctl limits set --max-deletes-per-second 100")
        self.assertIn("Replace 100 by the rate you want.", self.text("holds-of-all-list"))
        self.detail("c")
        self.assertIn(command, self.commands(".detail"))
        self.sidecar.ttlctl(*command.split()[1:])
        browser.wait("find('holds-of-all').hidden")


class Feeds(PageTest):
    def test_a_feed_says_how_far_it_has_told(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("containers:\n  - {id: f, default_ttl: 60, feed: {}}\n")
            file.flush()
            self.with_store(f"--containers={file.name}")
        self.create("without", "--default-ttl", "60")
        self.sidecar.ttlctl("pause", "f", "--reason", "test")
        self.sidecar.track("f", [b"a", b"b"], int(time.time()) - 1000)
        self.wait_for(lambda found: found["f"]["feed"].get("expired_items") == "2")
        self.open()
        self.assertRegex(self.detail("f")["feed"], r"^announced up to \S+ ago, 2 expired items stored$")
        self.assertNotIn("feed", self.detail("without"))
        self.assert_sound("feed")


class Hostile(PageTest):
    def test_names_of_others_are_text(self):
        self.with_store()
        now = int(time.time())
        for name in HOSTILE:
            self.create(name, "--default-ttl", "60")
        reason = "<img src=x onerror='window.hacked = 2'> \u202ereversed"
        ids = [b"<script>window.hacked = 3</script>", "\u202eabc".encode(), b"\xff\x00\\",
               b"y" * 900]
        for one in ids:
            self.store.put(HOSTILE[0], one, now - 300)
            self.store.poison(HOSTILE[0], one, reason)
        self.sidecar.track(HOSTILE[0], ids, now - 300)
        self.wait_for(lambda found: found[HOSTILE[0]]["failing_items"] == "4")
        self.open()
        self.assert_numbers_are_those_of_ttlctl()
        self.detail(HOSTILE[0])
        stuck = browser.run("""return [...parts.stuck.querySelectorAll(":scope tbody tr")]
            .map((row) => [row.cells[0].textContent, row.cells[3].textContent])""")
        shown_ids = ["<script>window.hacked = 3</script>", "\\xe2\\x80\\xaeabc", "\\xff\\x00\\\\",
                     "y" * 900]
        told = self.sidecar.ttlctl("--json", "stuck", HOSTILE[0]).splitlines()
        [told] = {json.loads(line)["last_error"] for line in told}
        self.assertTrue(told.startswith("<img src=x onerror='window.hacked = 2'>"), told)
        self.assertEqual(sorted(stuck), sorted([one, shown(told)] for one in shown_ids))
        self.assert_sound("hostile")
        self.assertFalse(browser.run("return 'hacked' in window"))
        made = browser.run("return document.querySelectorAll('main :is(script, img, b)').length")
        self.assertEqual(made, 0)

    def test_commands_name_hostile_containers_for_a_shell(self):
        self.start()
        self.open()
        for name in HOSTILE + ["a\\b'c", "$HOME `id`", "*"]:
            word = browser.run("return shellWord(arguments[0])", name)
            echoed = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True,
                                    check=True)
            self.assertEqual(echoed.stdout, name.encode())
        self.create("-x", "--default-ttl", "60")
        self.sidecar.ttlctl("pause", "--reason", "r", "--", "-x")
        browser.wait("data.containers.length === 1 && data.containers[0].pause !== undefined")
        self.detail("-x")
        [command] = self.commands(".detail")[:1]
        ours = f"{BINARIES}/ttlctl --server {self.sidecar.socket}"
        subprocess.run(["bash", "-c", command.replace("ttlctl", ours)], check=True,
                       capture_output=True)
        self.assertEqual(self.statuses()["containers"][0].get("pause"), None)


class InDoubt(PageTest):
    def test_restored_data_are_in_doubt(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.sidecar.track("c", [b"a", b"b"], int(time.time()) - 3600)
        backup = self.sidecar.folder / "backup"
        self.sidecar.ttlctl("backup", str(backup))
        self.start(data_of=backup)
        # The forecast of the page and that of ttlctl are read one after the other, and the items of
        # restored data are counted in the background.
        self.wait_for(lambda found: found["c"]["items"].get("complete"))
        self.open()
        self.assert_numbers_are_those_of_ttlctl()
        self.assertEqual(self.text("health-state"), "Degraded")
        self.assertEqual(self.commands("#holds-of-all"),
                         ["ttlctl resume --all", "ttlctl rebuild", "ttlctl data trust"])
        facts = dict(browser.run(FACTS, "#sidecar-facts"))
        reason = self.statuses()["sidecar"]["data"]["reason"]
        self.assertEqual(facts["data"], f"IN DOUBT: {reason}")
        self.detail("c")
        self.assertEqual(self.text("forecast-doubt"), "The tracked items may be incomplete.")
        self.assertFalse(browser.run("return find('forecast-doubt').hidden"))
        told = self.sidecar.ttlctl("forecast", "c")
        ends = dict(browser.run(FACTS, "#forecast-facts"))["backlog ends"]
        self.assertIn(f"backlog ends  {ends}\n", told)
        self.assert_sound("in-doubt")
        self.sidecar.ttlctl("data", "trust")
        self.assert_numbers_are_those_of_ttlctl()
        self.assertEqual(dict(browser.run(FACTS, "#sidecar-facts"))["data"], "trusted")
        self.assertTrue(browser.run("return find('forecast-doubt').hidden"))

    def test_a_rebuild_shows_how_far_it_is(self):
        folder = tempfile.TemporaryDirectory(prefix="page", dir="/tmp")
        self.addCleanup(folder.cleanup)
        containers = pathlib.Path(folder.name) / "containers.yaml"
        containers.write_text("containers:\n" + "".join(
            f"- id: {name}\n  default_ttl: 3600\n" for name in "cd"))
        self.store = sidecar.Store(BINARIES)
        self.addCleanup(self.store.close)
        for i in range(300):
            self.store.put("c", b"%d" % i, int(time.time()))
        self.start(f"--store={self.store.address}", f"--containers={containers}",
                   "--rebuild-from-store=always", "--scan-items-per-second=5")
        self.open()
        browser.wait("data.reconciliation?.current_items > 2")
        browser.click("#pause")
        browser.wait("!refreshing")
        self.assertEqual(self.text("rebuild-title"), "Rebuild from the store")
        self.assertRegex(self.text("rebuild-state"), r"^running, \d+ %, since 20")
        facts = dict(browser.run(FACTS, "#rebuild-facts"))
        it = browser.run("return data.reconciliation")
        self.assertEqual(facts["containers"], "0 of 2")
        self.assertEqual(facts["items of the store"], it["counts"]["scanned"])
        self.assertRegex(facts["now"], rf"^c, {it['current_items']}( of about 300)? items$")
        self.assertEqual(browser.role("#rebuild-progress"), "progressbar")
        self.assert_sound("rebuilding")


class Explain(PageTest):
    def ask(self, container, partition, item):
        browser.type("#explain-container", container)
        browser.type("#explain-partition", partition)
        browser.type("#explain-id", item)
        browser.run("find('explanation').replaceChildren()")
        browser.click("#explain button")
        browser.wait("find('explanation').children.length > 0")
        return browser.run("return find('explanation').firstChild.textContent")

    def test_an_item_is_explained_as_ttlctl_does(self):
        self.start()
        now = int(time.time())
        self.create("c", "--default-ttl", "60")
        for partition, item in [("p", "a"), ("", "b"), ("\\xff\\x00", "c\\\\d e&f=%41+é")]:
            arguments = [f"--partition-key={partition}"] if partition else []
            self.sidecar.ttlctl("items", "track", "c", item, *arguments, "--ts", str(now - 1000))
        # Else they may become due between the two explanations.
        self.wait_for(lambda found: found["c"]["backlog"] == "3")
        self.open()
        for partition, item in [("p", "a"), ("", "b"), ("\\xff\\x00", "c\\\\d e&f=%41+é")]:
            arguments = [f"--partition-key={partition}"] if partition else []
            expected = self.sidecar.json("items", "explain", "c", item, *arguments)
            self.assertEqual(self.ask("c", partition, item), expected["explanation"])
            facts = dict(browser.run(FACTS, "#explanation"))
            due = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(expected["due_time"])))
            self.assertEqual(facts["may be deleted"], f"from {due}")
            self.assertEqual(facts["state"], "expired")
            self.assertEqual(facts["attempts"], "0")
        self.assert_sound("explain")

    def test_only_the_last_question_is_answered(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        for item in ("a", "b"):
            self.sidecar.ttlctl("items", "track", "c", item, "--ts", str(int(time.time())))
        self.open()
        browser.run("""const reallyRead = window.read;
          window.held = [];
          window.read = async (target) => {
            const answer = await reallyRead(target).catch((error) => ({error}));
            if (!target.startsWith("/explain.json")) return answer;
            await new Promise((resolve) => held.push([target, resolve]));
            if (answer.error) throw answer.error;
            return {...answer, explanation: target};
          };
          window.ask = (item) => {
            find("explain-container").value = "c";
            find("explain-id").value = item;
            return explain();
          };
          window.answer = (item) => held.find(([target]) => target.endsWith(`id=${item}`))[1]();""")
        for first in ("a", "unknown"):
            browser.run("held.length = 0; window.asked = [ask(arguments[0]), ask('b')];", first)
            browser.wait("held.length === 2")
            browser.run("answer('b'); return asked[1]")
            browser.run("answer(arguments[0]); return asked[0]", first)
            self.assertTrue(browser.run("return find('explanation').firstChild.textContent")
                            .endswith("id=b"))

    def test_mistakes_are_told(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.open()
        self.assertIn("begins no escape", self.ask("c", "", "a\\q"))
        self.assertIn('"nowhere"', self.ask("nowhere", "", "a"))
        self.assertIn('"<b>none</b>"', self.ask("c", "", "<b>none</b>"))
        self.assertEqual(browser.run("return window.violations"), [])


class Use(PageTest):
    def test_a_thousand_containers_are_filtered_sorted_and_turned(self):
        folder = tempfile.TemporaryDirectory(prefix="page", dir="/tmp")
        self.addCleanup(folder.cleanup)
        containers = pathlib.Path(folder.name) / "containers.yaml"
        containers.write_text("containers:\n" + "".join(
            f"- id: tenant-{i:04}\n  default_ttl: 3600\n" for i in range(1000)))
        self.start(f"--containers={containers}")
        self.sidecar.track("tenant-0500", [b"a"], int(time.time()))
        self.open()
        self.assertEqual(self.text("shown"), "1 to 100 of 1,000 containers")
        browser.click("[data-column=live] button")
        self.assertEqual(self.names()[0], "tenant-0500")
        sorted_by = browser.run("return document.querySelector('[aria-sort]').dataset.column")
        self.assertEqual(sorted_by, "live")
        browser.click("[data-column=container] button")
        self.assertEqual(self.names()[:2], ["tenant-0000", "tenant-0001"])
        browser.click("[data-column=container] button")
        self.assertEqual(self.names()[0], "tenant-0999")
        browser.click("#next")
        self.assertEqual(self.names()[0], "tenant-0899")
        browser.type("#filter", "TENANT-05")
        self.assertEqual(self.text("shown"), "100 containers of 1,000")
        self.assertEqual(self.text("announcement"), "100 containers of 1,000")
        self.assertEqual(len(self.names()), 100)
        self.assertEqual(browser.run("return document.querySelectorAll('#rows tr').length"), 100)
        browser.type("#filter", "")
        browser.wait("!refreshing")
        took = browser.run("""const times = {};
          const begun = performance.now();
          await readStatuses();
          times.read = Math.round(performance.now() - begun);
          for (const [name, act] of Object.entries({
              refresh: () => showAll(), sort: () => sortBy("live", true),
              "sort by name": () => sortBy("container", false),
              filter: () => { find("filter").value = "5"; choose(); }})) {
            const start = performance.now(); act(); document.body.offsetHeight;
            times[name] = Math.round(performance.now() - start);
          }
          return times;""")
        print(f"milliseconds for 1,000 containers: {took}")

    def test_a_table_that_leaves_containers_out_says_so(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.open()
        browser.click("#pause")
        browser.wait("!refreshing")
        browser.run("""const {sidecar, containers: [status]} = data;
          let asked = 0;
          window.read = async (target) => target.startsWith("/status.json") ?
              {sidecar, containers: [{...status, container: `c${++asked}`}], next_page_token: "t"} :
              {};
          return refresh();""")
        self.assertEqual(self.text("shown"), "1 to 100 of 1,000 containers; others are left out: a "
                         "refresh ends after 1,000 requests, ttlctl status shows all")

    def test_every_control_is_reached_by_keyboard_and_shows_its_focus(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.open()
        reached, unseen = [], []
        for _ in range(30):
            browser.press(TAB)
            name, seen = browser.run("""const at = document.activeElement;
              return [at === document.body ? "" : at.id || at.textContent,
                  getComputedStyle(at).outlineStyle !== "none"];""")
            if name in reached or name == "":
                break
            reached.append(name)
            if not seen:
                unseen.append(name)
        wanted = ["Skip to the containers", "pause", "filter", "show", "Container", "Oldest due",
                  "c", "explain-container", "explain-partition", "explain-id", "Explain"]
        self.assertEqual([one for one in wanted if one not in reached], [], reached)
        self.assertEqual(unseen, [])

    def test_screen_readers_find_landmarks_headers_and_names_on_desktop_and_phone(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.open()
        for size in (DESKTOP, PHONE):
            browser.look(*size, "light")
            self.assertEqual(browser.role("main"), "main")
            self.assertEqual(browser.role("header"), "banner")
            self.assertEqual(browser.label("#containers"), "Containers")
            self.assertEqual(browser.role("#table"), "table")
            self.assertEqual(browser.role("#rows tr"), "row")
            self.assertEqual(browser.role("#rows th"), "rowheader")
            self.assertEqual(browser.role("#rows td"), "cell")
            self.assertEqual(browser.role("#headers th"), "columnheader")
            self.assertEqual(browser.label("#filter"), "Name contains")
            self.assertEqual(browser.label("#explain-id"), "Item id")
        self.assertEqual(browser.run("return find('sort').getClientRects().length"), 1)
        browser.look(*DESKTOP, "light")
        self.assertEqual(browser.run("return find('sort').getClientRects().length"), 0)

    def test_a_refresh_keeps_focus_and_selection_and_announces_nothing(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.sidecar.ttlctl("pause", "--all", "--reason", "r")
        self.open()
        browser.click("#rows button")
        browser.wait("view.stuck !== undefined")
        browser.run("""window.said = [];
          new MutationObserver(() => said.push(find("announcement").textContent))
              .observe(find("announcement"), {childList: true});
          window.code = document.querySelector(".detail code");
          getSelection().selectAllChildren(code);""")
        read = browser.run("return readAt")
        browser.wait("readAt > arguments[0]", read)
        self.assertEqual(browser.run("return document.activeElement.textContent"), "c")
        self.assertTrue(browser.run("return code.isConnected"))
        self.assertEqual(browser.run("return getSelection().toString()"), "ttlctl resume --all")
        self.assertEqual(browser.run("return said"), [])

    def test_a_sidecar_that_does_not_answer_is_told_and_its_return_noticed(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.open()
        self.sidecar.kill()
        browser.wait("!find('trouble').hidden")
        trouble = self.text("trouble")
        self.assertEqual(trouble, "The sidecar does not answer: it cannot be reached. "
                                  "The data shown is out of date.")
        self.assertEqual(self.text("health-state"), "Unknown")
        self.assertEqual(browser.role("#trouble"), "alert")
        self.assertEqual(self.names(), ["c"])
        self.assertEqual(browser.run(LOW_CONTRAST), [])
        browser.screenshot(SCREENSHOTS / "no-answer-1280-light.png")
        self.sidecar.start(f"127.0.0.1:{self.sidecar.port}")
        browser.wait("find('trouble').hidden")

    def test_a_container_that_was_just_deleted_says_so_in_its_details(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.create("d", "--default-ttl", "60")
        self.open()
        browser.click("#pause")
        browser.wait("!refreshing")
        self.sidecar.ttlctl("containers", "delete", "--yes", "c")
        browser.run("toggle('c')")
        browser.wait("parts.stuck.textContent.includes('cannot be read')")
        self.assertIn('"c"', browser.run("return parts.stuck.textContent"))
        self.assertTrue(browser.run("return find('trouble').hidden"))
        self.assertEqual(self.text("health-state"), "Healthy")
        self.assertEqual(browser.run(LOW_CONTRAST), [])
        browser.click("#pause")
        browser.wait("!data.containers.some((status) => status.container === 'c')")
        browser.wait("!refreshing")
        self.assertEqual(self.names(), ["d"])
        self.assertIsNone(browser.run("return view.open"))

    def test_details_whose_stuck_items_cannot_be_read_stay_open_and_say_so(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.open()
        browser.click("#pause")
        browser.wait("!refreshing")
        self.detail("c")
        refresh = """const reallyRead = window.read;
          window.read = (target) => target.startsWith("/stuck.json") && arguments[0] ?
              Promise.reject(new Error("Corruption: a <b>block</b>")) : reallyRead(target);
          return refresh().finally(() => { window.read = reallyRead; });"""
        browser.run(refresh, True)
        self.assertEqual(browser.run("return view.open"), "c")
        self.assertEqual(browser.run("return parts.stuck.textContent"),
                         "They cannot be read: Corruption: a <b>block</b>.")
        self.assertTrue(browser.run("return find('trouble').hidden"))
        browser.run(refresh, False)
        self.assertEqual(browser.run("return parts.stuck.textContent"), "None.")

    def test_an_error_is_not_taken_for_silence(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.open()
        browser.wait("!refreshing")
        browser.run("""window.fetch = async () => new Response("Corruption: a block\\n", {status: 500});
          return refresh();""")
        self.assertEqual(self.text("trouble"), "The sidecar answers with an error: "
                                               "Corruption: a block. The data shown is out of date.")
        self.assertEqual(self.names(), ["c"])

    def test_a_container_whose_index_cannot_be_read_says_so(self):
        self.start()
        self.create("c", "--default-ttl", "60")
        self.open()
        browser.wait("!refreshing")
        browser.run("""const reallyFetch = window.fetch;
          window.fetch = async (target, options) => {
            const answer = await (await reallyFetch(target, options)).json();
            Object.assign(answer.containers?.[0] ?? {}, {backlog: "7", backlog_is_lower_bound: true,
                backlog_problem: "Corruption: a <b>block</b>"});
            return Response.json(answer);
          };
          return refresh();""")
        [row] = browser.run(ROWS)
        self.assertEqual((row["backlog"], row["oldest"]), ("at least 7", "not known"))
        self.assertEqual(self.text("health-state"), "Healthy")
        browser.run("toggle('c')")
        self.assertEqual(dict(browser.run(FACTS, ".detail .columns"))["backlog"],
                         "at least 7; the expiry index cannot be read: Corruption: a <b>block</b>")

    def test_nothing_is_read_while_the_page_is_hidden_or_paused(self):
        self.start()
        self.open()
        hide = """
            Object.defineProperty(document, "hidden", {value: arguments[0], configurable: true});
            document.dispatchEvent(new Event("visibilitychange"));"""
        browser.run(hide, True)
        browser.wait("!refreshing")
        read = browser.run("return readAt")
        browser.wait("performance.now() > arguments[0] + 5000", read)
        self.assertEqual(browser.run("return readAt"), read)
        browser.run(hide, False)
        browser.wait("readAt > arguments[0]", read)
        self.assertEqual(browser.label("#pause"), "Pause updates")
        browser.click("#pause")
        self.assertIn("paused", self.text("freshness"))
        self.assertEqual(browser.label("#pause"), "Resume updates")
        browser.wait("!refreshing")
        read = browser.run("return readAt")
        browser.click("#pause")
        self.assertEqual(browser.label("#pause"), "Pause updates")
        browser.wait("readAt > arguments[0]", read)
        self.assertNotIn("paused", self.text("freshness"))

    def test_the_policy_of_the_page_holds(self):
        """Without this, no violations would mean nothing."""
        self.start()
        self.open()
        browser.run("""document.body.append(make("script", {}, "window.hacked = 4"));
          document.querySelector("h1").setAttribute("style", "color: red");""")
        browser.wait("window.violations.length >= 2")
        self.assertFalse(browser.run("return 'hacked' in window"))


if __name__ == "__main__":
    unittest.main()
