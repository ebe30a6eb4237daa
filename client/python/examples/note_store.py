#!/usr/bin/env python3
"""A store of notes in SQLite that has no time to live of its own: all that a store must do, once.

    note_store.py --data notes.db --listen unix:/tmp/notes.sock --sidecar unix:/tmp/ttl.sock

Reads commands from standard input (put KEY TEXT [TTL], get KEY, remove KEY, count) and answers each
in one line. The container "notes" must exist in the sidecar.
"""

import argparse
import itertools
import shlex
import sqlite3
import sys
import threading
import time

from ttl_sidecar import Check, Client, Deletion, Item, PrimaryStore, SidecarError, serve_store

CONTAINER = "notes"
SCHEMA = """
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS store (id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS notes (key BLOB PRIMARY KEY, text TEXT, ts INT, ttl INT, sequence INT);
CREATE TABLE IF NOT EXISTS outbox (sequence INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB, ts INT,
                                   ttl INT, deleted INT);
INSERT INTO store SELECT hex(randomblob(16)) WHERE NOT EXISTS (SELECT * FROM store);
"""


class NoteStore(PrimaryStore):
    def __init__(self, path, client):
        self._client = client
        self._lock = threading.RLock()  # whoever holds it may read, decide and write
        self._reporting = threading.Lock()  # reports go out one after the other, in order
        self._db = sqlite3.connect(path, check_same_thread=False)
        self._db.executescript(SCHEMA)

    # What clients call.

    def put(self, key, text, ttl=None):
        if len(key) > 1023 or not (ttl is None or ttl == -1 or 1 <= ttl <= 2147483647):
            raise ValueError("keys have up to 1023 bytes; ttl is -1 or 1 to 2147483647")
        self._client.get_container(CONTAINER)  # what could not be reported is not even written
        with self._lock, self._db:  # the note and its mark in the outbox: one transaction
            sequence, ts = self._mark(key, ttl, deleted=False)
            self._db.execute("REPLACE INTO notes VALUES (?, ?, ?, ?, ?)",
                             [key, text, ts, ttl, sequence])
        self.report()  # only then is the write acknowledged

    def get(self, key):
        row = self._visible(key)
        return row and row[0]

    def remove(self, key):
        while row := self._visible(key):
            with self._lock, self._db:
                if self._row(key) == row:  # what was judged is still what is there
                    self._mark(key, row[2], deleted=True)
                    self._db.execute("DELETE FROM notes WHERE key = ?", [key])
                    break
        self.report()
        return row is not None

    def report(self):
        """Tells the sidecar of all changes that it has not acknowledged yet."""
        with self._reporting:
            with self._lock:
                marks = self._db.execute("SELECT * FROM outbox ORDER BY sequence").fetchall()
            for deleted, part in itertools.groupby(marks, key=lambda mark: mark[4]):
                part = list(part)
                if deleted:
                    self._client.untrack(CONTAINER, [Deletion(id=key, ts=ts, sequence=sequence)
                                                     for sequence, key, ts, _, _ in part])
                else:
                    self._client.track(CONTAINER, [_item(key, ts, ttl, sequence)
                                                   for sequence, key, ts, ttl, _ in part])
                with self._lock, self._db:
                    self._db.executemany("DELETE FROM outbox WHERE sequence = ?",
                                         [mark[:1] for mark in part])

    def _visible(self, key):
        while row := self._row(key):
            _, ts, ttl, _ = row
            [answer] = self._client.check(CONTAINER, [Check(id=key, ts=ts, ttl=ttl)])
            if answer.expired:
                return None  # as if it were not there, although it still is
            if self._row(key) == row:  # else a newer version may be what was judged
                return row
        return None

    def _mark(self, key, ttl, deleted):
        """The sequence and ts of a change, which is to be reported."""
        old = self._row(key)
        ts = max(int(time.time()), old[1] if old else 0)
        mark = [key, old[1] if deleted else ts, ttl, deleted]
        insert = "INSERT INTO outbox (key, ts, ttl, deleted) VALUES (?, ?, ?, ?)"
        return self._db.execute(insert, mark).lastrowid, ts

    def _row(self, key):
        with self._lock:
            return self._db.execute("SELECT text, ts, ttl, sequence FROM notes WHERE key = ?",
                                    [key]).fetchone()

    # What the sidecar calls, through PrimaryStore, which compares ts, ttl and etag.

    @property
    def store_id(self):
        with self._lock:
            return self._db.execute("SELECT id FROM store").fetchone()[0]

    def exclusive(self, container, keys):
        return self._lock

    def read(self, container, key):
        row = self._row(key.id) if container == CONTAINER and not key.partition_key else None
        return row and _item(key.id, *row[1:])

    def delete(self, container, keys):
        with self._db:
            for table in ("notes", "outbox"):
                self._db.executemany(f"DELETE FROM {table} WHERE key = ?", [[k.id] for k in keys])

    def scan(self, container, after, limit):
        with self._lock:
            rows = self._db.execute(
                "SELECT key, ts, ttl, sequence FROM notes WHERE ? IS NULL OR key > ? "
                "ORDER BY key LIMIT ?", [after and after.id, after and after.id, limit]).fetchall()
        return [_item(*row) for row in rows] if container == CONTAINER else []

    def count(self):
        """Notes as stored, expired or not."""
        with self._lock:
            return self._db.execute("SELECT count(*) FROM notes").fetchone()[0]


def _item(key, ts, ttl, sequence):
    return Item(id=key, ts=ts, ttl=ttl, sequence=sequence, etag=str(sequence).encode())


def report_again_and_again(store):
    """Also what an earlier process could not report: no expiry waits for another write."""
    while True:
        try:
            store.report()
        except SidecarError as error:
            print(f"not reported yet: {error}", file=sys.stderr)
        time.sleep(1)


def answer(store, command, key=None, text=None, ttl=None):
    if command == "count":
        return store.count()
    if command == "put":
        store.put(key.encode(), text, ttl and int(ttl))
        return "ok"
    if command == "get":
        return store.get(key.encode()) or "(none)"
    if command == "remove":
        return "ok" if store.remove(key.encode()) else "(none)"
    raise ValueError(f"{command}: put, get, remove or count are allowed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--data", "--listen", "--sidecar"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    with Client(options.sidecar) as client:
        store = NoteStore(options.data, client)
        server = serve_store(store, options.listen)
        threading.Thread(target=report_again_and_again, args=[store], daemon=True).start()
        for line in sys.stdin:
            try:
                print(answer(store, *shlex.split(line)), flush=True)
            except (SidecarError, ValueError) as error:
                print(f"error: {error}", flush=True)
        server.stop(grace=1).wait()


if __name__ == "__main__":
    main()
