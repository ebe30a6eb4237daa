"""A Django site whose visitors have sessions and whose pages are cached, until SIGTERM.

It knows nothing of ttl-postgres. It notes each thing that a user would complain about, and prints
what it did; the exit code is 0 only if there is nothing to complain about and each kind of work was
done.
"""

import collections
import math
import os
import signal
import sys
import threading
import time

import django
from django.core.cache import cache
from django.db import InterfaceError, OperationalError, close_old_connections, connection

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
django.setup()

from django.contrib.sessions.backends.base import UpdateError  # noqa: E402  (needs setup())
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402

LIFE = 2

done = collections.Counter()
complaints = []
stop = threading.Event()


def complain(what):
    complaints.append(what)
    print("complaint:", what, flush=True)


def leave():
    """A session that nobody comes back to, and what becomes of it."""
    session = SessionStore()
    session["user"] = "somebody"
    session.set_expiry(LIFE)
    session.save(must_create=True)
    safe = time.time() - 0.5 + LIFE
    key = session.session_key
    if not SessionStore().exists(key) and time.time() < safe - 0.5:
        complain(f"session {key} is not there")
    end = math.ceil(SessionStore.get_model_class().objects.get(pk=key).expire_date.timestamp())
    time.sleep(max(0, end - time.time()))
    # Django's exists() has no condition on the time.
    if SessionStore().exists(key):
        complain(f"session {key} is there after its end")
    done["sessions that ended"] += 1


def stay(session):
    """A session that is written to in time, and so lives on."""
    session["visits"] = session.get("visits", 0) + 1
    session.set_expiry(3600)
    session.save()
    if SessionStore(session.session_key).get("visits") != session["visits"]:
        complain(f"session {session.session_key} is lost")
    done["sessions that stayed"] += 1


def remember(page):
    """A page is cached for a short time, again and again under the same key.

    Django ends it up to a second early, since it drops the fraction; what a caller may rely on is
    that it is never there late, and that a new one can be stored over an old one at any time.
    """
    before = time.time()
    cache.set(page, before, LIFE)
    found = cache.get(page)
    if found != before and time.time() < before + LIFE - 1:
        complain(f"{page} is not cached: {found}")
    time.sleep(max(0, before + LIFE - time.time()) + 0.05)
    if cache.get(page) is not None:
        complain(f"{page} is cached after its end")
    done["pages that ended"] += 1


def look():
    """Neither table shows what has ended."""
    with connection.cursor() as cursor:
        for table, end in (("django_session", "expire_date"), ("cache", "expires")):
            # A fraction of a second is rounded up.
            cursor.execute(
                f"SELECT {end} FROM {table} WHERE {end} <= date_trunc('second', statement_timestamp())"
            )
            for row in cursor.fetchall():
                complain(f"{table} shows a row that ended at {row[0]}")
    done["looks"] += 1


def repeat(pause, step):
    """Calls the step until the end; the database may be away meanwhile."""
    while not stop.is_set():
        try:
            step()
        except Exception as error:  # pylint: disable=broad-except
            # Django says UpdateError of a session that is gone, and of a database that is.
            cause = error.__context__ if isinstance(error, UpdateError) else error
            if not isinstance(cause, (OperationalError, InterfaceError)):
                complain(repr(error))
            done["steps without database"] += 1
            # As at the end of a request: Django drops what cannot be used any longer.
            close_old_connections()
        done["steps"] += 1
        if done["steps"] % 20 == 0:
            print("progress", flush=True)
        stop.wait(pause)
    connection.close()


def main():
    visitor = SessionStore()
    visitor.save(must_create=True)
    steps = [(0.2, lambda: stay(visitor)), (0.05, look)]
    steps += [(0.1, leave)] * 4
    steps += [(0.0, lambda page=f"page-{i}": remember(page)) for i in range(4)]
    threads = [threading.Thread(target=repeat, args=step) for step in steps]
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for what in ("sessions that ended", "sessions that stayed", "pages that ended", "looks"):
        if not done[what]:
            complain(f"there were no {what}")
    print(dict(done))
    return 1 if complaints else 0


sys.exit(main())
