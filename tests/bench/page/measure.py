#!/usr/bin/env python3
"""Measures the status page with 1,000 containers in headless Chromium: to read, sort and filter them.

    measure.py --binaries DIR [--quick] [--json FILE]

Each is compared with what the browser alone takes for the same result: to read with fetching and
parsing answers that the sidecar has kept, to sort and to filter with laying out the same rows from
prepared HTML. Both are measured in turn in each round, every second round in reverse order; a ratio
compares results of the same round. Prints a table as sidecar_bench does, in milliseconds. Ends with
an error if a result is not what it should be.
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "browser"))
import sidecar  # noqa: E402
import webdriver  # noqa: E402

CONTAINERS = 1000
ROWS = 100  # that the page shows at once

# What the scripts below share; `ms` is the time until the document is laid out again.
LIBRARY = """
  window.pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  window.ms = async (act) => {
    const begun = performance.now();
    await act();
    document.body.offsetHeight;
    return performance.now() - begun;
  };
  window.queries = async () => {  // of the four requests for all containers
    const found = ["/status.json"];
    for (;;) {
      const token = (await read(found.at(-1))).next_page_token;
      if (token === "") return found;
      found.push(`/status.json?page_token=${encodeURIComponent(token)}`);
    }
  };
  window.shownNames = () => [...find("rows").children].map((row) => row.firstChild.textContent);
  // Alternates between two sorts, or two filters, without a row in common.
  window.acts = {
    sort: (turn) => sortBy("container", turn % 2 === 0),
    filter: (turn) => { find("filter").value = turn % 2 === 0 ? "-05" : "-07"; choose(); },
  };
"""

READ = """
  const [isOursFirst] = arguments;
  const targets = await queries();
  const ours = async () => {
    await pause(400);  // longer than the sidecar keeps an answer
    return ms(readStatuses);
  };
  const theirs = async () => {
    for (const target of targets) await read(target);  // so that they are kept
    return ms(async () => {
      for (const target of targets) await (await fetch(target, {cache: "no-store"})).json();
    });
  };
  const times = {};
  if (isOursFirst) times.ours = await ours();
  times.theirs = await theirs();
  if (!isOursFirst) times.ours = await ours();
  return {...times, names: data.containers.length, requests: targets.length};
"""

# Prepares the HTML of both turns first; the page then draws rows that are not there.
CHANGE = """
  const [name, isOursFirst] = arguments;
  const prepared = [];
  for (const turn of [0, 1]) { acts[name](turn); prepared.push(find("rows").innerHTML); }
  const ours = () => ms(() => acts[name](0));
  const theirs = () => ms(() => { find("rows").innerHTML = prepared[0]; });
  const away = () => { acts[name](0); acts[name](1); document.body.offsetHeight; };
  const times = {};
  const measure = async (who, act) => { away(); times[who] = await act(); };
  if (isOursFirst) await measure("ours", ours);
  await measure("theirs", theirs);
  if (!isOursFirst) await measure("ours", ours);
  acts[name](1);
  acts[name](0);
  return {...times, names: shownNames()};
"""

WORK = {
    "read": ("read 1,000 containers", "fetch and parse of kept answers", "<= 2"),
    "sort": ("sort them, show 100", "100 rows of prepared HTML", "<= 2"),
    "filter": ("filter them, show 100", "100 rows of prepared HTML", "<= 2"),
}


def names(format_text, numbers):
    return [format_text % number for number in numbers]


EXPECTED = {
    "sort": names("tenant-%04d", range(CONTAINERS - 1, CONTAINERS - 1 - ROWS, -1)),
    "filter": names("tenant-%04d", range(599, 499, -1)),
}


def measure_once(browser, row, is_ours_first):
    if row == "read":
        found = browser.run(READ, is_ours_first)
        if found["names"] != CONTAINERS or found["requests"] != 4:
            raise RuntimeError(f"{found['names']} containers in {found['requests']} requests")
    else:
        found = browser.run(CHANGE, row, is_ours_first)
        if found["names"] != EXPECTED[row]:
            raise RuntimeError(f"{row} shows {found['names'][:3]} to {found['names'][-3:]}")
    return found["ours"], found["theirs"]


def measure(browser, row, rounds):
    measure_once(browser, row, True)  # warms up
    pairs = [measure_once(browser, row, i % 2 == 0) for i in range(rounds)]
    work, against, target = WORK[row]
    ratios = sorted(ours / theirs for ours, theirs in pairs)
    median = statistics.median(ratios)
    return {"name": f"page-{row}", "work": work, "unit": "ms",
            "ours": statistics.median(ours for ours, _ in pairs), "against": against,
            "theirs": statistics.median(theirs for _, theirs in pairs),
            "ratio": {"min": ratios[0], "median": median, "max": ratios[-1]},
            "target": target, "met": median <= float(target.split()[1])}


def table(rows):
    lines = [["row", "work", "unit", "ours", "against", "theirs", "ratio", "target", "met"]]
    for row in rows:
        ratio = row["ratio"]
        lines.append([row["name"], row["work"], row["unit"], f"{row['ours']:.1f}", row["against"],
                      f"{row['theirs']:.1f}",
                      f"{ratio['min']:.2f}-{ratio['median']:.2f}-{ratio['max']:.2f}",
                      row["target"], "yes" if row["met"] else "NO"])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    laid_out = ["".join(f"| {cell:<{width}} " for cell, width in zip(line, widths)) + "|"
                for line in lines]
    laid_out.insert(1, "".join("|" + "-" * (width + 2) for width in widths) + "|")
    return "\n".join(laid_out)


def start_sidecar(binaries, folder):
    containers = pathlib.Path(folder) / "containers.yaml"
    containers.write_text("containers:\n" + "".join(
        f"- id: tenant-{i:04}\n  default_ttl: 3600\n" for i in range(CONTAINERS)))
    return sidecar.Sidecar(binaries, f"--containers={containers}")


def main():
    parser = argparse.ArgumentParser(description="The status page with 1,000 containers")
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 21")
    parser.add_argument("--json", type=pathlib.Path)
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="page", dir="/tmp") as folder:
        served = start_sidecar(flags.binaries, folder)
        browser = webdriver.Browser()
        try:
            browser.look(1280, 900, "light")
            browser.open(served.url)
            browser.wait("data.complete && readAt !== undefined")
            browser.click("#pause")  # no refresh of its own
            browser.wait("!refreshing")
            browser.run(LIBRARY)
            browser.run("sortBy('container', true)")
            rows = [measure(browser, row, 3 if flags.quick else 21) for row in WORK]
        finally:
            browser.close()
            served.close()
    print(table(rows))
    if flags.json:
        flags.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
