"""A PostgreSQL server of its own for one measurement, and psql that stays connected."""
import os
import pwd
import shutil
import subprocess
import time

BIN = "/usr/lib/postgresql/15/bin"
# As a database server of two cores would be set up; everything else as it comes.
SETTINGS = {
    "listen_addresses": "",
    "wal_level": "logical",
    "track_commit_timestamp": "on",
    "shared_buffers": "256MB",
    "max_wal_size": "4GB",
    "autovacuum_naptime": "5s",
    "max_slot_wal_keep_size": "4GB",
}


class Server:
    """In `directory`, reached by a Unix socket there. The server refuses to run as root."""

    def __init__(self, directory):
        self.directory = directory
        self.process = None
        os.makedirs(directory)
        self.prefix = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(directory, user.pw_uid, user.pw_gid)
            self.prefix = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]

    def start(self):
        data = os.path.join(self.directory, "data")
        subprocess.run(
            [*self.prefix, f"{BIN}/initdb", "-D", data, "-U", "postgres", "-A", "trust", "--locale=C.UTF-8"],
            check=True, stdout=subprocess.DEVNULL)
        settings = {**SETTINGS, "unix_socket_directories": self.directory}
        options = [f"-c{name}={value}" for name, value in settings.items()]
        with open(os.path.join(self.directory, "log"), "wb") as log:
            self.process = subprocess.Popen(
                [*self.prefix, f"{BIN}/postgres", "-D", data, *options], stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while subprocess.run([f"{BIN}/pg_isready", "-q", "-h", self.directory], check=False).returncode != 0:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError(f"PostgreSQL did not start; see {self.directory}/log")
            time.sleep(0.1)

    def stop(self):
        if self.process is not None:
            self.process.send_signal(2)  # SIGINT: fast shutdown
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def environment(self, user="postgres"):
        return {**os.environ, "PGHOST": self.directory, "PGUSER": user, "PGDATABASE": "postgres"}

    def conninfo(self):
        return f"host={self.directory} user=postgres dbname=postgres"


class Session:
    """One connection, for one thread."""

    END = "--end--"

    def __init__(self, server, user="postgres"):
        self.process = subprocess.Popen(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"], env=server.environment(user),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def run(self, sql):
        """The rows, each a list of texts."""
        self.process.stdin.write(f"{sql};\n\\echo {self.END}\n")
        self.process.stdin.flush()
        rows = []
        for line in self.process.stdout:
            if line.rstrip("\n") == self.END:
                return rows
            rows.append(line.rstrip("\n").split("|"))
        raise RuntimeError(f"psql failed at: {sql}")

    def one(self, sql):
        return self.run(sql)[0]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
