#!/usr/bin/env python3
"""check_commands.py BIN: checks the commands that READMEs and other pages print.

BIN is the folder of the programs. There are three checks:

- Every command of ours, in a code block or in backticks, names subcommands and options that its
  program has, and every option in backticks is one of a program or a script.
- The commands of README.md, client/ttlctl/README.md, client/examples/README.md,
  client/postgres/README.md, deploy/README.md and deploy/recovery.md run as printed and exit as
  expected; only names in capitals, paths and addresses are replaced. A command in the table of
  client/ttlctl/README.md that PLAYED lacks is an error.
- Every other command in a code block is in ELSEWHERE, which names the test that runs it or says
  that none does. A command that is in neither place is an error.
"""
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench/postgres"))
from server import Server, Session  # noqa: E402

BIN = pathlib.Path(sys.argv[1]).resolve()
DEADLINE = 60
PROGRAMS = ["ttl-sidecar", "ttlctl", "ttl-postgres", "document-store"]
TTLCTL_PAGE = "client/ttlctl/README.md"

# Commands in code blocks that are not played here, by their beginning, and what runs them.
ELSEWHERE = {
    "deploy/quickstart.sh": "tests/bare_debian.sh, by hand",
    "tests/run.sh": "itself",
    "tests/": "tests/run.sh, or by hand where it takes long",
    "cmake --preset": "tests/run.sh",
    "ctest --preset": "tests/run.sh",
    "cmake --build": "tests/run.sh",
    "build/": "by hand",
    "buf ": "tests/interop/python/test_readme.py",
    "mkdir -p build/stubs": "tests/interop/python/test_readme.py",
    "npm install": "tests/interop/run_node.sh, which unpacks what npm pack makes",
    "apt-get install": "deploy/install_packages.sh",
    "python3 -m venv": "none; tests/interop/run_python.sh builds the package without pip",
    "venv/bin/pip install": "none; tests/interop/run_python.sh builds the package without pip",
    "(cd client/python && python3 setup.py": "tests/interop/run_python.sh",
    "docker build": "tests/deploy/prove_dockerfile.py, without an engine",
    "kubectl apply -k": "tests/deploy/schemas.test.mjs renders it and tests/deploy/pod.test.mjs runs the pods",
    "kubectl ": "by hand; it needs a cluster",
    "ttl-postgres migrate": "tests/postgres/migrate_test.cc",
    "ttlctl --server sidecar.example:7070": "tests/integration/tls_process_test.cc",
}

# Options of other programs.
FOREIGN_OPTIONS = {"--unix-socket"}

# What stands for the names in capitals of client/ttlctl/README.md.
NAMES = {"ID": "carts", "C": "carts", "N": "5", "X": "50", "FILE": "{dir}/file", "DIR": "{dir}/new",
         "STORE_ID": "other"}

# The commands of client/ttlctl/README.md, in an order in which they work, and their exit codes.
PLAYED = [
    ("health --service readiness", 0),
    ("containers create ID --default-ttl N --dry-run", 0),
    ("+containers create carts --default-ttl 3600", 0),
    ("containers set ID --default-ttl N --dry-run", 0),
    ("containers set ID --brake-items N", 0),
    ("containers confirm ID", 1),  # the brake is not pulled
    ("apply -f FILE --dry-run", 0),
    ("apply -f FILE", 0),
    ("status", 0),
    ("status ID", 0),
    ("stuck ID", 0),
    ("limits set --max-deletes-per-second N", 0),
    ("store confirm STORE_ID", 1),  # there is nothing to confirm
    ("+pause --all --reason test", 0),
    ("resume --all", 0),
    ("reconcile C --dry-run", 0),
    ("reconcile C", 0),
    ("rebuild", 0),
    ("verify", 0),
    ("import C FILE", 0),
    ("import C -", 0),
    ("+items check carts no-such-item", 6),
    ("data trust", 1),  # the data are not in doubt
    ("backup FILE", 0),
    ("containers delete ID", 2),  # asks, and nobody is there
    ("+containers delete carts --yes", 0),
]

problems = []


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def pages():
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True,
                            text=True)
    return listed.stdout.split()


def block_lines(text):
    """The lines of code blocks, with a prompt `$ ` taken away and continued lines joined."""
    lines, fenced = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = line in ("```sh", "```bash") and not fenced
        elif fenced or line.startswith("    "):
            if lines and lines[-1].endswith("\\"):
                lines[-1] = lines[-1][:-1] + line.strip()
            else:
                lines.append(line.strip().removeprefix("$ "))
    return lines


def in_backticks(text):
    """What stands in backticks outside of code blocks."""
    outside = re.sub(r"^```\w*\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    outside = re.sub(r"^    .*$", "", outside, flags=re.MULTILINE)
    return [span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", outside)]


def words(command):
    try:
        return shlex.split(command, comments=True)
    except ValueError:  # a quote that is only prose
        return command.split()


@functools.lru_cache(maxsize=None)
def help_of(*command):
    """What `command --help` prints."""
    run = subprocess.run([BIN / command[0], *command[1:], "--help"], capture_output=True, text=True,
                         check=True, timeout=DEADLINE)
    return run.stdout


def subcommands(text):
    _, _, listed = text.partition("\nSubcommands:\n")
    return set(re.findall(r"^  ([a-z-]+) ", listed.split("\n\n")[0], re.MULTILINE))


def check_words(page, command):
    """That a command names subcommands and options that there are."""
    program, *rest = words(command)
    path, is_value = [program], False
    for word in rest:
        if word in ("&", "|", ";", "--") or word.startswith((">", "<")):
            return
        texts = [help_of(*path[:depth]) for depth in range(len(path), 0, -1)]
        if word.startswith("--"):
            option = re.escape(word.split("=")[0])
            found = [re.search(rf"(?:^|[\s,]){option}(?= |\s*\n|=)( [A-Z{{]\S*)?", text) for text in texts]
            found = [match for match in found if match]
            if not found:
                problems.append(f"{page}: `{command}`: {' '.join(path)} has no option {word}")
                return
            is_value = found[0][1] is not None and "=" not in word
        elif is_value or word.startswith("-"):
            is_value = False
        elif word in subcommands(texts[0]):
            path.append(word)
        elif subcommands(texts[0]) and not word.isupper() and word != "...":
            problems.append(f"{page}: `{command}`: {' '.join(path)} has no subcommand {word}")
            return


@functools.lru_cache(maxsize=None)
def known_options():
    """All options of our programs, and whatever our scripts and sources mention."""
    sources = subprocess.run(["git", "grep", "-hoE", "-e", r"--[a-z][a-z0-9-]+", "--", ":!*.md"], cwd=ROOT,
                             check=True, capture_output=True, text=True)
    return set(sources.stdout.split())


def check_options(page, span):
    for option in re.findall(r"^--[a-z][a-z0-9-]+", span):
        if option not in known_options() | FOREIGN_OPTIONS:
            problems.append(f"{page}: `{span}`: nothing has an option {option}")


def check_texts():
    for page in pages():
        text = read(page)
        commands = block_lines(text) + in_backticks(text)
        if page == TTLCTL_PAGE:
            commands += ["ttlctl " + command for command in table_commands()]
        for command in commands:
            if words(command) and words(command)[0] in PROGRAMS and " " in command:
                check_words(page, command)
        for span in in_backticks(text):
            check_options(page, span)


def is_command(line):
    return re.match(r"(\(cd |\./|tests/|deploy/|build/|venv/)\S+|(%s|cmake|ctest|buf|docker|kubectl|npm|"
                    r"mkdir|python3|apt-get|pip) " % "|".join(PROGRAMS), line)


def check_that_all_are_run(played):
    for page in pages():
        for line in filter(is_command, block_lines(read(page))):
            script = words(line)[0]
            if script.startswith(("tests/", "deploy/")) and not (ROOT / script).exists():
                problems.append(f"{page}: there is no {script}")
            if (page, line) not in played and not line.startswith(tuple(ELSEWHERE)):
                problems.append(f"{page}: no test runs `{line}`; play it here or name its test in "
                                "ELSEWHERE")


def table_commands():
    """The commands in the first table of client/ttlctl/README.md, and those of `import`."""
    text = read(TTLCTL_PAGE)
    table, names = text.partition("| exit code")[0], subcommands(help_of("ttlctl"))
    cells = [row.split("|")[2] for row in table.splitlines() if row.startswith("| ")]
    spans = [span for cell in cells for span in re.findall(r"`([^`]+)`", cell)]
    spans += [span for span in in_backticks(text) if span.startswith("import C ")]
    return [span for span in dict.fromkeys(spans) if span.split()[0] in names]


def wait_until(what, condition):
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"waited too long until {what}")
        time.sleep(0.1)


class Play:
    """Runs printed commands with the paths of a folder of its own; stop() ends what still runs."""

    def __init__(self, directory):
        self.directory = directory
        self.running = []
        self.environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}",
                                TTL_SIDECAR_ADDRESS=f"unix:{directory}/ttl.sock")
        self.played = set()

    def in_folder(self, command):
        inside = {"/var/lib/ttl-sidecar": f"{self.directory}/lib/data"}
        return re.sub(r"(?<![\w.])(/run/ttl-sidecar|/run/my-store|/var/lib/ttl-sidecar|/tmp)(?=/(?!ttl-com)|\s|$)",
                      lambda path: inside.get(path[0], self.directory), command)

    def start(self, page, command):
        self.played.add((page, command))
        started = [word for word in words(self.in_folder(command)) if word != "&"]
        with open(self.directory + "/log", "ab") as log:
            self.running.append(subprocess.Popen(started, env=self.environment, cwd=self.directory,
                                                 stdout=log, stderr=log))

    def run(self, page, command, code=0):
        self.played.add((page, command))
        run = subprocess.run(words(self.in_folder(command)), env=self.environment, text=True,
                             capture_output=True, stdin=subprocess.DEVNULL, timeout=DEADLINE,
                             cwd=self.directory)
        if run.returncode != code:
            problems.append(f"{page}: `{command}` exits with {run.returncode}, not {code}: "
                            f"{run.stderr.strip() or run.stdout.strip()}")

    def is_ready(self, socket):
        return subprocess.run([BIN / "ttlctl", f"--server=unix:{self.directory}/{socket}", "health"],
                              capture_output=True).returncode == 0

    def has_started(self, command, folder):
        socket = "store.sock" if command.startswith("ttl-postgres") else "sidecar.sock"
        wait_until(f"`{command}` serves {socket}", pathlib.Path(folder, socket).is_socket)

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
        codes = [process.wait(DEADLINE) for process in self.running]
        if any(codes):
            problems.append(f"the programs end with {codes}: {read(self.directory + '/log')}")
        self.running = []


def play_examples(play):
    page = "client/examples/README.md"
    for program in ("ttl-sidecar", "document-store"):
        [command] = [line for line in block_lines(read(page)) if line.startswith(program + " ")]
        play.start(page, command)
    wait_until("the sidecar of " + page + " is ready", lambda: play.is_ready("ttl.sock"))
    spans = [span for span in in_backticks(read(page)) if span.startswith("ttlctl ")]
    for span in spans:
        play.run(page, span)
    if len(spans) < 2:
        problems.append(f"{page} has no commands of ttlctl")


def play_ttlctl(play):
    pathlib.Path(play.directory, "file").write_text(
        "containers: [{id: carts, default_ttl: 3600}]\n", encoding="utf-8")
    for span, code in PLAYED:
        command = "ttlctl " + span.removeprefix("+")
        for name, value in NAMES.items():
            command = re.sub(rf"(?<!\S){re.escape(name)}(?!\S)", value.format(dir=play.directory), command)
        if span.startswith(("import C FILE", "backup FILE")):
            pathlib.Path(play.directory, "file").unlink(missing_ok=True)
        if span.startswith("import C FILE"):
            pathlib.Path(play.directory, "file").write_text('{"id": "a", "ts": 1}\n', encoding="utf-8")
        play.run(TTLCTL_PAGE, command, code)
    played = {span for span, _ in PLAYED}
    for span in table_commands():
        if span not in played:
            problems.append(f"{TTLCTL_PAGE}: `{span}` is not in PLAYED of tests/checks/check_commands.py")


def play_recovery(play):
    """On the data directory and the backup that the examples have left."""
    page, folder = "deploy/recovery.md", play.directory
    spans = [span for span in in_backticks(read(page)) if span.startswith("ttl-sidecar ")]
    for span in spans:
        command = span + f" --data-dir {folder}/ttl" * ("DIR" not in span and "NEW" not in span)
        for name, path in (("FILE", "file"), ("DIR", "restored"), ("OLD", "ttl"), ("NEW", "repaired")):
            command = re.sub(rf"\b{name}\b", f"{folder}/{path}", command)
        play.run(page, command)
    if len(spans) < 3:
        problems.append(f"{page} has no commands of ttl-sidecar")


def play_readme(play, page):
    [command] = [line for line in block_lines(read(page)) if line.startswith("ttl-sidecar ")]
    play.start(page, command)
    wait_until("the sidecar of " + page + " is ready", lambda: play.is_ready("sidecar.sock"))
    play.stop()


ORDERS = """CREATE TABLE orders (order_id bigint PRIMARY KEY, customer bigint, ttl integer,
  updated_at timestamptz NOT NULL);
INSERT INTO orders VALUES (1, 7, NULL, now()), (2, 7, NULL, now() - interval '31 days'), (3, 7, -1,
  now() - interval '31 days')"""


def play_postgres(play):
    """The commands of client/postgres/README.md, with its configuration and a table to fit."""
    page, folder = "client/postgres/README.md", play.directory
    lines = block_lines(read(page))
    start = lines.index("cat ttl-postgres.yaml") + 1
    printed = re.search(r"^    database: .*?(?=^$)", read(page), re.MULTILINE | re.DOTALL)[0]
    server = Server(folder + "/server")
    pathlib.Path(folder, "ttl-postgres.yaml").write_text(
        re.sub("^    database: .*$", f'    database: "{server.conninfo()}"', printed, flags=re.MULTILINE) +
        f"    sidecar: unix:{folder}/sidecar.sock\n    listen: unix:{folder}/store.sock\n",
        encoding="utf-8")
    play.environment.update(TTL_SIDECAR_ADDRESS=f"unix:{folder}/sidecar.sock",
                            TTL_SIDECAR_LISTEN_SOCKET=f"{folder}/sidecar.sock",
                            TTL_SIDECAR_DATA_DIR=f"{folder}/postgres")
    try:
        server.start()
        session = Session(server)
        session.run(ORDERS)
        for line in lines[start:]:
            if not line.startswith(tuple(PROGRAMS)):
                continue
            if " &" in line:
                play.start(page, line)
                play.has_started(line, folder)
            else:
                play.run(page, line)
        [query] = [line for line in lines if line.startswith("shop=> ")]
        query = query.removeprefix("shop=> ").partition(";")[0]
        wait_until(f"{page}: `{query}` hides what is older than 30 days",
                   lambda: [row[0] for row in session.run(query)] == ["1", "3"])
        session.close()
        play.stop()
    finally:
        server.stop()


def main():
    check_texts()
    with tempfile.TemporaryDirectory(prefix="ttl-commands.") as directory:
        os.chmod(directory, 0o755)  # for PostgreSQL, which does not run as root
        play = Play(directory)
        os.makedirs(directory + "/lib")
        try:
            play_examples(play)
            play_ttlctl(play)
            play.stop()
            play_recovery(play)
            for page in ("README.md", "deploy/README.md"):
                play_readme(play, page)
            play_postgres(play)
        finally:
            for process in play.running:
                process.kill()
        check_that_all_are_run(play.played)
    for problem in dict.fromkeys(problems):
        print("error: " + problem, file=sys.stderr)
    print(f"{len(play.played)} commands played, {len(set(problems))} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
