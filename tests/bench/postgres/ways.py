#!/usr/bin/env python3
"""Measures how fast ttl-postgres removes rows that expire all at the same second.

    ways.py --binaries DIR [--rounds N] [--rows N] [--json FILE]

One way after the other: DELETE, archive, mark, and DELETE of groups of 1, 10 and 1,000 rows.
Nothing else uses the server meanwhile. Prints the rows per second from that second until none is
left, and the WAL written per row; each is the median of the rounds.
"""
import argparse
import json
import os
import shutil
import statistics
import tempfile
import time

from contenders import TtlPostgres
from server import Session, Server

# The seconds from filling the table until its rows expire. What comes before takes less.
LEAD = 60
# ... by this much at least, or the rows were found too late.
MARGIN = 5
POLL_SECONDS = 0.5
PATIENCE = 1800

TABLE = """
CREATE TABLE sessions (
  id bigint PRIMARY KEY, thread bigint NOT NULL, expires_at timestamptz NOT NULL,
  removed_at timestamptz, payload text NOT NULL);
CREATE TABLE sessions_archive (LIKE sessions);
CREATE INDEX ON sessions (expires_at);
CREATE INDEX ON sessions (thread, expires_at)
"""


class Delete(TtlPostgres):
    name = "delete"
    default_ttl = -1
    settings = {"id": "id", "expires_column": "expires_at"}
    rows_per_thread = 1
    left = "SELECT count(*) FROM sessions"


class Archive(Delete):
    name = "archive"
    settings = {**Delete.settings, "on_expiry": "archive", "archive_table": "sessions_archive"}


class Mark(Delete):
    name = "mark"
    settings = {**Delete.settings, "on_expiry": "mark", "mark_column": "removed_at",
                "mark_value": "now", "where": "removed_at IS NULL"}
    left = "SELECT count(*) FROM sessions WHERE removed_at IS NULL"


class GroupsOf1(Delete):
    name = "groups of 1"
    settings = {"group_by": "thread", "expires_column": "expires_at"}

    def prepare(self):
        session = Session(self.server)
        session.run("ALTER TABLE sessions REPLICA IDENTITY FULL")
        session.close()
        super().prepare()


class GroupsOf10(GroupsOf1):
    name = "groups of 10"
    rows_per_thread = 10


class GroupsOf1000(GroupsOf1):
    name = "groups of 1,000"
    rows_per_thread = 1000


WAYS = (Delete, Archive, Mark, GroupsOf1, GroupsOf10, GroupsOf1000)


def fill(session, rows, rows_per_thread):
    session.run(
        f"INSERT INTO sessions SELECT id, id / {rows_per_thread}, date_trunc('second', now())"
        f" + {LEAD} * interval '1 second', NULL, repeat('x', 200) FROM generate_series(1, {rows}) AS id")
    session.run("VACUUM ANALYZE sessions")


def await_second(session):
    """Waits until the rows expire; returns the position in the WAL."""
    wait = float(session.one("SELECT extract(epoch FROM min(expires_at) - clock_timestamp()) FROM sessions")[0])
    if wait < MARGIN:
        raise RuntimeError(f"the rows expire in {wait:.0f} s: with fewer rows there is time to begin")
    time.sleep(wait)
    return session.one("SELECT pg_current_wal_lsn()")[0]


def remove_all(way, session):
    lsn = await_second(session)
    began = time.monotonic()
    while session.one(way.left)[0] != "0":
        if time.monotonic() - began > PATIENCE:
            raise RuntimeError(f"rows are left after {PATIENCE} s; see the logs in {way.directory}")
        time.sleep(POLL_SECONDS)
    seconds = time.monotonic() - began
    written = session.one(f"SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '{lsn}')")[0]
    return seconds, int(written)


def measure(way_class, options):
    directory = tempfile.mkdtemp(prefix="ttl-postgres-bench.")
    os.chmod(directory, 0o755)
    server = Server(os.path.join(directory, "server"))
    way = way_class(server, directory, options.binaries)
    done = False
    try:
        server.start()
        session = Session(server)
        session.run(TABLE)
        fill(session, options.rows, way.rows_per_thread)
        way.prepare()
        seconds, written = remove_all(way, session)
        session.close()
        done = True
        return {"way": way.name, "rows_per_second": options.rows / seconds,
                "wal_bytes_per_row": written / options.rows}
    finally:
        way.end()
        server.stop()
        if done:
            shutil.rmtree(directory)


def print_table(results):
    print("| way | rows/s | of delete | WAL per row, bytes |\n| --- | ---: | ---: | ---: |")

    def median(way, figure):
        return statistics.median(each[figure] for each in results if each["way"] == way.name)

    for way in WAYS:
        speed = median(way, "rows_per_second")
        print(f"| {way.name} | {speed:,.0f} | {speed / median(Delete, 'rows_per_second'):.2f}"
              f" | {median(way, 'wal_bytes_per_row'):,.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--json")
    options = parser.parse_args()
    options.binaries = os.path.abspath(options.binaries)
    results = [measure(way, options) for _ in range(options.rounds) for way in WAYS]
    print_table(results)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
