"""Proves deploy/image/Dockerfile in a bare Debian root; run by prove_dockerfile.sh.

usage: prove_dockerfile.py BASE_ROOT WORK_FOLDER [--twice]
"""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import dockerfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EPOCH = "1700000000"
USER = "65532"
DEADLINE = 60
PATH = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}

failures = []


def check(holds, what):
    print(("ok      " if holds else "FAILED  ") + what, flush=True)
    if not holds:
        failures.append(what)


def copy_context(target):
    """Copies what a build may see of a clone with the present changes; returns its paths."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    tracked = [name for name in names.split("\0") if name and (ROOT / name).is_file()]
    files = dockerfile.context_files(ROOT, tracked)
    for name in files:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)
    return files


def builder_in(work, base, cache, context, files):
    work.mkdir()
    return dockerfile.Builder(ROOT / "deploy/image/Dockerfile", context, files, base, work,
                              cache, {"SOURCE_DATE_EPOCH": EPOCH},
                              lambda text: print(text, flush=True))


class Pod:
    """Images started as Kubernetes would: roots read-only, volumes shared, not as root."""

    def __init__(self, work):
        self.work = work
        self.processes = {}
        for volume in ("sockets", "metadata", "documents"):
            path = work / "volumes" / volume
            path.mkdir(parents=True)
            os.chown(path, int(USER), int(USER))

    def mount(self, stage, volumes):
        root = self.work / "running" / stage.root.name
        root.mkdir(parents=True)
        subprocess.run(["mount", "--bind", stage.root, root], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", root], check=True)
        subprocess.run(["mount", "--rbind", "/proc", root / "proc"], check=True)
        for volume, path in volumes.items():
            subprocess.run(["mount", "--bind", self.work / "volumes" / volume,
                            root / path.lstrip("/")], check=True)
        return root

    def command(self, stage, root, arguments):
        return ["chroot", "--userspec", stage.user, root, *arguments]

    def start(self, stage, root, *flags):
        log = open(self.work / f"{stage.root.name}.log", "wb")
        self.processes[stage.root.name] = subprocess.Popen(
            self.command(stage, root, [*stage.entrypoint, *flags]), env=PATH, stdout=log,
            stderr=log)
        return self.processes[stage.root.name]

    def run(self, stage, root, *arguments):
        return subprocess.run(self.command(stage, root, arguments), env=PATH,
                              capture_output=True, text=True, timeout=DEADLINE)

    def log(self, name):
        return (self.work / f"{name}.log").read_text(errors="replace")


def eventually(condition):
    """Polls until the condition holds; whether it did in time."""
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def user_of(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return next(line.split()[1:] for line in status.splitlines() if line.startswith("Uid:"))


def stop(process, name):
    process.send_signal(signal.SIGTERM)
    check(process.wait(DEADLINE) == 0, f"{name} stops cleanly on SIGTERM")


def megabytes(root):
    """What is installed in a root, without lists and caches of packages."""
    command = ["du", "-sxB1", *(f"--exclude={root}/var/{name}" for name in ("cache", "lib/apt"))]
    return int(subprocess.run([*command, root], check=True, capture_output=True,
                              text=True).stdout.split()[0]) / 1e6


def prove_image(stage, base):
    """What holds for an image before anything runs in it."""
    name, root = stage.root.name, stage.root
    added = megabytes(root) - megabytes(base)
    check(0 < added < 60, f"{name} adds {added:.0f} MB to its base, less than 60 MB")
    check(stage.user == f"{USER}:{USER}", f"{name} runs as {stage.user}, by number and not root")
    for program in ("g++", "cmake", "git", "protoc"):
        check(not (root / "usr/bin" / program).exists(), f"{name} has no {program}")
    newer = subprocess.run(["find", root, "-xdev", "-newermt", f"@{EPOCH}", "-not", "-type", "d",
                            "-path", f"{root}/usr/lib/*"],
                           check=True, capture_output=True, text=True).stdout.split()
    check(not newer, f"{name} has no library newer than SOURCE_DATE_EPOCH: {newer[:3]}")


def prove_pod(sidecar, store, work):
    """Both images beside each other, with volumes as in the manifests."""
    pod = Pod(work)
    sidecar_root = pod.mount(sidecar, {"sockets": "/run/ttl-sidecar",
                                       "metadata": "/var/lib/ttl-sidecar"})
    store_root = pod.mount(store, {"sockets": "/run/ttl-sidecar",
                                   "documents": "/var/lib/document-store"})
    beside = pod.start(sidecar, sidecar_root, "--store=unix:/run/ttl-sidecar/store.sock",
                       "--data-dir=/var/lib/ttl-sidecar/db")
    ttlctl = lambda *arguments: pod.run(sidecar, sidecar_root, "ttlctl", *arguments)
    check(eventually(lambda: ttlctl("containers", "list").returncode == 0),
          "ttl-sidecar answers ttlctl of its own image")
    main = pod.start(store, store_root, "--listen=unix:/run/ttl-sidecar/store.sock",
                     "--sidecar=unix:/run/ttl-sidecar/sidecar.sock",
                     "--data-dir=/var/lib/document-store/db")
    check(eventually(lambda: 'msg="ready"' in pod.log("document-store")), "document-store is ready")
    check(set(user_of(beside)) == {USER} == set(user_of(main)), "neither is root")
    created = ttlctl("containers", "create", "c", "--default-ttl", "1")
    check(created.returncode == 0, f"a container is created {created.stderr}")
    status = lambda: json.loads(ttlctl("--json", "status", "c").stdout)
    check(eventually(lambda: status()["sidecar"]["store"]["reachable"]),
          "the sidecar reaches the store")
    stop(main, "document-store")
    stop(beside, "ttl-sidecar")
    return pod


def prove_postgres(stage, sidecar, work):
    """ttl-postgres has what it needs in its image, and no other image has it."""
    pod = Pod(work / "postgres")
    root = pod.mount(stage, {"sockets": "/run/ttl-sidecar"})
    config = work / "postgres/volumes/sockets/ttl-postgres.yaml"
    config.write_text("database: host=/nowhere dbname=shop user=ttl_postgres\n"
                      "tables: [{container: shop/sessions, table: sessions, id: [id]}]\n")
    checked = pod.run(stage, root, "ttl-postgres", "check",
                      "--config=/run/ttl-sidecar/ttl-postgres.yaml")
    check(checked.returncode == 4 and "/nowhere" in checked.stderr,
          f"ttl-postgres looks for its database: {checked.stderr.strip()}")
    health = pod.run(stage, root, "ttlctl", "--server=unix:/run/ttl-sidecar/store.sock", "health")
    check(health.returncode == 4, f"ttlctl of its image asks for its health: {health.stderr.strip()}")
    libraries = lambda image: list((image.root / "usr/lib").rglob("libpq.so*"))
    check(libraries(stage) and not libraries(sidecar), "libpq is in the image of ttl-postgres alone")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def prove_reproducible(builder, again):
    for name in ("ttl-sidecar", "ttlctl", "document-store", "ttl-postgres"):
        first, second = (b.build("build").root / "out/bin" / name for b in (builder, again))
        check(digest(first) == digest(second), f"{name} built twice is the same to the byte")


def main():
    base, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    context = work / "context"
    files = copy_context(context)
    # Compiled files are kept from one proof to the next, as an engine would.
    builder = builder_in(work / "first", base, ROOT / "build/dockerfile-cache", context, files)
    sidecar, store = builder.build("ttl-sidecar"), builder.build("document-store")
    postgres = builder.build("ttl-postgres")
    for image in (sidecar, store, postgres):
        prove_image(image, base)
    prove_postgres(postgres, sidecar, work)
    pod = prove_pod(sidecar, store, work)
    if "--twice" in sys.argv:
        # Without what the first has compiled.
        again = builder_in(work / "second", base, work / "cache", context, files)
        prove_reproducible(builder, again)
    if failures:
        for name in pod.processes:
            print(f"==== log of {name}\n{pod.log(name)}")
    print(f"Dockerfile: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
