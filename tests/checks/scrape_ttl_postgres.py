#!/usr/bin/env python3
"""scrape_ttl_postgres.py BIN FILE: writes what a real ttl-postgres of the folder BIN tells Prometheus.

It works for a moment first, beside a sidecar and a PostgreSQL of their own: one row is deleted.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench/postgres"))
from server import Server, Session  # noqa: E402

DEADLINE = 60
CONFIG = """\
database: "{conninfo}"
sidecar: unix:{directory}/sidecar.sock
listen: unix:{directory}/store.sock
metrics_listen: 127.0.0.1:0
tables: [{{container: c, table: t, id: [id], ts_column: ts, ttl_column: ttl}}]
"""
CONTAINERS = "containers: [{id: c, default_ttl: 3600}]\n"


def wait_until(what, condition):
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"waited too long until {what}")
        time.sleep(0.1)


def listening_port(pid):
    """The TCP port that a process listens on, or None."""
    sockets = set()
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        target = os.readlink(descriptor)
        if target.startswith("socket:["):
            sockets.add(target[len("socket:["):-1])
    for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in sockets:
            return int(fields[1].split(":")[1], 16)
    return None


class Processes:
    """The sidecar and ttl-postgres, with their files in `directory`; ended by close()."""

    def __init__(self, binaries, directory, conninfo):
        self.binaries, self.directory = pathlib.Path(binaries), pathlib.Path(directory)
        self.started = {}
        self.config = self.directory / "ttl-postgres.yaml"
        self.config.write_text(CONFIG.format(conninfo=conninfo, directory=directory))
        (self.directory / "containers.yaml").write_text(CONTAINERS)

    def run(self, program, *arguments):
        return subprocess.run([self.binaries / program, *arguments], check=False,
                              capture_output=True, text=True)

    def start(self, program, *arguments):
        with open(self.directory / f"{program}.log", "wb") as log:
            self.started[program] = subprocess.Popen([self.binaries / program, *arguments],
                                                     stdout=log, stderr=log)

    def is_ready(self, socket):
        health = self.run("ttlctl", f"--server=unix:{self.directory}/{socket}", "health",
                          "--service=readiness")
        return health.returncode == 0

    def logs(self):
        return "\n".join(f"{program}:\n{(self.directory / f'{program}.log').read_text()}"
                         for program in self.started)

    def close(self):
        for process in reversed(self.started.values()):
            process.terminate()
            process.wait()


def start_all(processes):
    directory = processes.directory
    processes.start("ttl-sidecar", f"--data-dir={directory}/data", "--policy-grace-seconds=1",
                    f"--listen-socket={directory}/sidecar.sock",
                    f"--store=unix:{directory}/store.sock",
                    f"--containers={directory}/containers.yaml")
    wait_until("the sidecar is ready", lambda: processes.is_ready("sidecar.sock"))
    installed = processes.run("ttl-postgres", "install", f"--config={processes.config}",
                              "--accept-unlimited-wal")
    if installed.returncode != 0:
        raise RuntimeError(f"ttl-postgres install: {installed.stderr}")
    processes.start("ttl-postgres", "run", f"--config={processes.config}")
    wait_until("ttl-postgres is ready", lambda: processes.is_ready("store.sock"))


def scrape(processes, session):
    session.run("INSERT INTO t VALUES (1, now() - interval '1 minute', 1)")
    wait_until("its row is deleted", lambda: session.one("SELECT count(*) FROM t")[0] == "0")
    port = listening_port(processes.started["ttl-postgres"].pid)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=DEADLINE) as answer:
        return answer.read().decode()


def main():
    binaries, file = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="ttl-postgres-scrape.") as directory:
        os.chmod(directory, 0o755)
        server = Server(os.path.join(directory, "server"))
        processes = Processes(binaries, directory, server.conninfo())
        try:
            server.start()
            session = Session(server)
            session.run("CREATE TABLE t (id bigint PRIMARY KEY, ts timestamptz NOT NULL, ttl integer)")
            start_all(processes)
            pathlib.Path(file).write_text(scrape(processes, session), encoding="utf-8")
            session.close()
        except Exception:
            print(processes.logs(), file=sys.stderr)
            raise
        finally:
            processes.close()
            server.stop()


main()
