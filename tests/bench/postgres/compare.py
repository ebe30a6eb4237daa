#!/usr/bin/env python3
"""Compares ttl-postgres with the usual job that deletes expired rows once a minute.

    compare.py --binaries DIR [--seconds N] [--rate N] [--rounds N] [--rows N] [--json FILE]

ttl-postgres is measured twice: with a lifetime from the last write (ts_column and ttl_column),
and with the instant at which a row ends (expires_column). All meet the same application on the
same server one after the other: pgbench sessions that
read, touch and insert rows, --rate transactions a second or as many as they can, on a table of
--rows rows with a production mix of lifetimes. Prints a table; figures are of the middle round
by 99th percentile. Latencies count from the instant at which a transaction was to begin.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from contenders import Job, TtlPostgres, TtlPostgresExpires
from server import Session, Server

CONTENDERS = (Job, TtlPostgres, TtlPostgresExpires)

# Lifetimes of what one of Twitter's cache clusters held (cluster 4, March 2020;
# github.com/twitter/cache-trace, CC BY 4.0): seconds and share.
TTL_MIX = ((60, 0.39), (300, 0.24), (600, 0.12), (3600, 0.13), (14400, 0.09), (86400, 0.03))

# The seconds from making the table until the load begins; nothing expires before.
LEAD = 60
SAMPLE_SECONDS = 2
# The part of the table that a sample reads: looking at all of it would be most of the load.
SAMPLE_PERCENT = 1
CLIENTS = 4

TABLE = """
CREATE TABLE sessions (
  id bigint PRIMARY KEY, updated_at timestamptz NOT NULL, ttl integer,
  expires_at timestamptz NOT NULL, payload text NOT NULL);
CREATE SEQUENCE session_ids;
CREATE ROLE app LOGIN;
GRANT SELECT, INSERT, UPDATE, DELETE ON sessions TO app;
GRANT USAGE ON SEQUENCE session_ids TO app;
CREATE EXTENSION pgstattuple
"""

READ = """\\set id random(1, {rows})
SELECT payload FROM sessions WHERE id = :id;
"""
TOUCH = """\\set id random(1, {rows})
UPDATE sessions SET updated_at = now(), expires_at = now() + make_interval(secs => coalesce(ttl, 3600))
WHERE id = :id;
"""
INSERT = """\\set draw random(1, 1000)
INSERT INTO sessions SELECT {rows} + nextval('session_ids'), now(), ttl,
  now() + make_interval(secs => ttl), repeat('x', 200) FROM (SELECT {ttl} AS ttl) AS drawn;
"""


def ttl_by(draw):
    """SQL that takes a number of 1 to 1000 for a lifetime of the mix."""
    bounds, cases = 0, []
    for ttl, share in TTL_MIX:
        bounds += round(share * 1000)
        cases.append(f"WHEN {draw} <= {bounds} THEN {ttl}")
    return f"CASE {' '.join(cases)} ELSE {TTL_MIX[-1][0]} END"


def fill(session, rows):
    """Rows in the middle of their lives, the first of which ends when LEAD is over."""
    session.run(
        "INSERT INTO sessions SELECT id, now() - (ttl - left_over) * interval '1 second', ttl,"
        f" now() + left_over * interval '1 second', repeat('x', 200) FROM (SELECT id, ttl, {LEAD}"
        f" + (ttl * random())::integer AS left_over FROM (SELECT id, {LEAD} + {ttl_by('draw')} AS ttl"
        f" FROM (SELECT id, ceil(random() * 1000) AS draw FROM generate_series(1, {rows}) AS id)"
        " AS drawn) AS mixed) AS placed")
    session.run("VACUUM ANALYZE sessions")


def start_load(server, directory, options):
    command = ["pgbench", "-n", "-c", str(CLIENTS), "-j", "1", "-T", str(options.seconds), "-M", "prepared", "-l"]
    if options.rate:
        command += ["-R", str(options.rate)]
    for name, text, weight in (("read", READ, 7), ("touch", TOUCH, 2), ("insert", INSERT, 1)):
        path = os.path.join(directory, f"{name}.sql")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.format(rows=options.rows, ttl=ttl_by(":draw")))
        command += ["-f", f"{path}@{weight}"]
    return subprocess.Popen(command, cwd=directory, env=server.environment("app"),
                            stdout=subprocess.DEVNULL)


class Sampler:
    """What is seen from outside while the load runs."""

    def __init__(self, server, is_expired):
        self.is_expired = is_expired
        self.reader = Session(server, "app")
        self.observer = Session(server)
        self.samples = []

    def sample(self, second):
        shown, late = self.reader.one(
            f"SELECT count(*) * {100 // SAMPLE_PERCENT},"
            " coalesce(max(extract(epoch FROM statement_timestamp() - expires_at)), 0)"
            f" FROM sessions TABLESAMPLE SYSTEM ({SAMPLE_PERCENT})"
            f" WHERE {self.is_expired}")
        deleted, table, indexes = self.observer.one(
            "SELECT n_tup_del, pg_table_size('sessions'), pg_indexes_size('sessions')"
            " FROM pg_stat_user_tables WHERE relname = 'sessions'")
        self.samples.append({
            "second": second, "expired_shown": int(shown), "shown_late_s": float(late),
            "deleted": int(deleted), "table_mib": int(table) / 2**20, "indexes_mib": int(indexes) / 2**20})

    def close(self):
        self.reader.close()
        self.observer.close()


def read_latencies(directory):
    """(second, milliseconds) of every transaction."""
    latencies = []
    for name in os.listdir(directory):
        if not name.startswith("pgbench_log."):
            continue
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            for line in file:
                fields = line.split()
                latencies.append((int(fields[4]), int(fields[2]) / 1000))
    return latencies


def percentile(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * share))]


def latencies_by_second(latencies):
    by_second = {}
    for second, milliseconds in latencies:
        by_second.setdefault(second, []).append(milliseconds)
    first = min(by_second)
    return [{"second": second - first, "p99_ms": percentile(sorted(values), 0.99), "tps": len(values)}
            for second, values in sorted(by_second.items())]


def figures(latencies, samples, session, seconds):
    values = sorted(value for _, value in latencies)
    dead, free, live = session.one(
        "SELECT dead_tuple_percent, free_percent, tuple_percent FROM pgstattuple('sessions')")
    left = session.one("SELECT count(*) FROM sessions WHERE expires_at <= now()")[0]
    deleted = samples[-1]["deleted"] - samples[0]["deleted"]
    return {
        "throughput_tps": len(values) / seconds,
        "p50_ms": percentile(values, 0.5), "p99_ms": percentile(values, 0.99),
        "p999_ms": percentile(values, 0.999), "max_ms": values[-1],
        "expired_shown_mean": statistics.mean(sample["expired_shown"] for sample in samples),
        "shown_late_max_s": max(sample["shown_late_s"] for sample in samples),
        "deleted": deleted, "deleted_per_second": deleted / seconds, "expired_left": int(left),
        "table_mib": samples[-1]["table_mib"], "indexes_mib": samples[-1]["indexes_mib"],
        "dead_percent": float(dead), "free_percent": float(free), "live_percent": float(live)}


def measure(contender_class, options):
    directory = tempfile.mkdtemp(prefix="ttl-postgres-bench.")
    os.chmod(directory, 0o755)
    server = Server(os.path.join(directory, "server"))
    contender = contender_class(server, directory, options.binaries)
    done = False
    try:
        server.start()
        session = Session(server)
        session.run(TABLE)
        filled = time.monotonic()
        fill(session, options.rows)
        contender.prepare()
        time.sleep(max(0, LEAD - (time.monotonic() - filled)))
        result = run_load(contender, server, session, directory, options)
        session.close()
        done = True
        return result
    finally:
        contender.end()
        server.stop()
        if done:
            shutil.rmtree(directory)


def run_load(contender, server, session, directory, options):
    sampler = Sampler(server, contender.is_expired)
    began = time.monotonic()
    load = start_load(server, directory, options)
    contender.begin()
    while load.poll() is None:
        sampler.sample(time.monotonic() - began)
        time.sleep(SAMPLE_SECONDS)
    if load.returncode != 0:
        raise RuntimeError(f"pgbench failed; see {directory}")
    sampler.sample(time.monotonic() - began)
    sampler.close()
    latencies = read_latencies(directory)
    return {
        "contender": contender.name,
        "figures": figures(latencies, sampler.samples, session, options.seconds),
        "samples": sampler.samples, "latencies": latencies_by_second(latencies)}


ROWS = (
    ("throughput, transactions/s", "throughput_tps", "{:,.0f}"),
    ("latency p50, ms", "p50_ms", "{:.2f}"),
    ("latency p99, ms", "p99_ms", "{:.2f}"),
    ("latency p99.9, ms", "p999_ms", "{:.1f}"),
    ("longest transaction, ms", "max_ms", "{:.0f}"),
    ("expired rows that readers see, mean", "expired_shown_mean", "{:,.0f}"),
    ("longest that one is seen, s", "shown_late_max_s", "{:.1f}"),
    ("rows deleted per second, mean", "deleted_per_second", "{:,.0f}"),
    ("expired rows left at the end", "expired_left", "{:,}"),
    ("table at the end, MiB", "table_mib", "{:.0f}"),
    ("indexes at the end, MiB", "indexes_mib", "{:.0f}"),
    ("of the table: dead, %", "dead_percent", "{:.1f}"),
    ("of the table: free, %", "free_percent", "{:.1f}"),
)


def middle(results, name):
    """The round whose 99th percentile is in the middle."""
    rounds = sorted((result for result in results if result["contender"] == name),
                    key=lambda result: result["figures"]["p99_ms"])
    return rounds[len(rounds) // 2]


def print_table(results):
    columns = [middle(results, contender.name)["figures"] for contender in CONTENDERS]
    print("| |", " | ".join(contender.name for contender in CONTENDERS), "|")
    print("| --- |", " | ".join("---:" for _ in CONTENDERS), "|")
    for title, name, form in ROWS:
        print(f"| {title} |", " | ".join(form.format(column[name]) for column in columns), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", required=True)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--rate", type=int)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json")
    options = parser.parse_args()
    options.binaries = os.path.abspath(options.binaries)
    results = []
    for _ in range(options.rounds):
        for contender in CONTENDERS:
            results.append(measure(contender, options))
    print_table(results)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
