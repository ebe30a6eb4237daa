"""The ways to get rid of expired rows that are compared."""
import os
import subprocess
import threading
import time

from server import Session

JOB_BATCH = 10000
JOB_INTERVAL = 60

CONFIG = """\
database: "{conninfo}"
sidecar: unix:{directory}/sidecar.sock
listen: unix:{directory}/store.sock
tables:
  - container: sessions
    table: sessions
    row_level_security: true
"""


def make_expiry_index(server):
    session = Session(server)
    session.run("CREATE INDEX sessions_expiry ON sessions (expires_at)")
    session.close()


class Job:
    """The usual job: once a minute, by an index on the expiry, batches until one is not full."""

    name = "job"
    # SQL that says whether a reader should not see a row.
    is_expired = "expires_at <= date_trunc('second', statement_timestamp())"

    def __init__(self, server, directory, binaries):
        del directory, binaries
        self.server = server
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def prepare(self):
        make_expiry_index(self.server)

    def begin(self):
        self.thread.start()

    def work(self):
        session = Session(self.server)
        # Its first turn comes at a random moment of the minute; half of one is the mean.
        pause = JOB_INTERVAL / 2
        while not self.stopping.wait(pause):
            began = time.monotonic()
            self.delete_all(session)
            pause = max(0, JOB_INTERVAL - (time.monotonic() - began))
        session.close()

    def delete_all(self, session):
        statement = (
            "WITH gone AS (DELETE FROM sessions WHERE id IN (SELECT id FROM sessions"
            f" WHERE expires_at <= now() LIMIT {JOB_BATCH}) RETURNING 1) SELECT count(*) FROM gone")
        while not self.stopping.is_set() and int(session.one(statement)[0]) == JOB_BATCH:
            pass

    def end(self):
        self.stopping.set()
        self.thread.join()


class TtlPostgres:
    """ttl-postgres and the sidecar, with row-level security, so that the application stays as it is."""

    name = "ttl-postgres"
    default_ttl = 3600
    # Beside CONFIG, for the table.
    settings = {"id": "id", "ts_column": "updated_at", "ttl_column": "ttl"}
    is_expired = ("floor(extract(epoch FROM updated_at)) + coalesce(ttl, 3600)"
                  " <= floor(extract(epoch FROM statement_timestamp()))")

    def __init__(self, server, directory, binaries):
        self.server = server
        self.directory = directory
        self.binaries = binaries
        self.processes = []

    def binary(self, name):
        return os.path.join(self.binaries, name)

    def start(self, name, *arguments):
        with open(os.path.join(self.directory, f"{name}.log"), "wb") as log:
            self.processes.append(subprocess.Popen([self.binary(name), *arguments], stdout=log, stderr=log))

    def ttlctl(self, *arguments):
        command = [self.binary("ttlctl"), "--server", f"unix:{self.directory}/sidecar.sock", *arguments]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    def prepare(self):
        config = os.path.join(self.directory, "ttl-postgres.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(conninfo=self.server.conninfo(), directory=self.directory))
            file.writelines(f"    {name}: {value}\n" for name, value in self.settings.items())
        self.start("ttl-sidecar", "--data-dir", f"{self.directory}/data", "--listen-socket",
                   f"{self.directory}/sidecar.sock", "--store", f"unix:{self.directory}/store.sock")
        self.wait_until("the sidecar answers", lambda: self.ttlctl("containers", "list").returncode == 0)
        created = self.ttlctl("containers", "create", "sessions", f"--default-ttl={self.default_ttl}")
        if created.returncode != 0:
            raise RuntimeError(created.stderr)
        subprocess.run([self.binary("ttl-postgres"), "install", "--config", config], check=True,
                       stdout=subprocess.DEVNULL)
        self.start("ttl-postgres", "run", "--config", config)
        session = Session(self.server)
        self.wait_until("the first scan is done", lambda: session.one(
            "SELECT count(*) FROM ttl.progress WHERE scan_done")[0] == "1")
        session.close()

    def wait_until(self, what, condition):
        deadline = time.monotonic() + 300
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"waited too long until {what}; see the logs in {self.directory}")
            time.sleep(0.2)

    def begin(self):
        pass

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()


class TtlPostgresExpires(TtlPostgres):
    """The same for a table that says when a row ends; an index on that column serves the policy."""

    name = "expires_column"
    default_ttl = -1
    settings = {"id": "id", "expires_column": "expires_at"}
    is_expired = Job.is_expired

    def prepare(self):
        make_expiry_index(self.server)
        super().prepare()
