#!/usr/bin/env python3
"""check_commands.py BIN: checks the commands that READMEs and other pages print.

BIN is the folder of the programs. There are four checks:

- Every command of ours, in a code block or in backticks, names subcommands and options that its
  program has, and every option in backticks is one of a program or a script.
- The commands of README.md, client/ttlctl/README.md, client/examples/README.md,
  client/postgres/README.md, deploy/README.md and deploy/recovery.md run as printed and exit as
  expected; only names in capitals, paths and addresses are replaced. A command in the table of
  client/ttlctl/README.md that PLAYED lacks is an error.
- The walk of client/postgres/README.md, on a fresh PostgreSQL, has at most 12 commands, takes at most
  a minute, and its row vanishes at its second and is deleted.
- Every other command in a code block is in ELSEWHERE, which names the test that runs it or says
  that none does. A command that is in neither place is an error.
"""
import functools
import os
import pathlib
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.argv[1]).resolve()
POSTGRES = "/usr/lib/postgresql/15/bin"
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
    "cmake --install": "tests/deploy/client_library_test.sh",
    "build/": "by hand",
    "buf ": "tests/interop/python/test_readme.py",
    "mkdir -p build/stubs": "tests/interop/python/test_readme.py",
    "npm install": "tests/interop/run_node.sh, which unpacks what npm pack makes",
    "apt-get install": "deploy/install_packages.sh",
    "python3 -m venv": "tests/interop/python/test_package.py",
    "venv/bin/pip install": "tests/interop/python/test_package.py",
    "(cd client/python && python3 setup.py": "tests/interop/run_python.sh and test_package.py there",
    "deploy/make_packages.sh": "tests/deploy/packages_test.sh",
    "docker build": "tests/deploy/prove_dockerfile.py, without an engine",
    "kubectl apply -k": "tests/deploy/schemas.test.mjs renders it and tests/deploy/pod.test.mjs runs the pods",
    "kubectl ": "by hand; it needs a cluster",
    "ttl-postgres migrate": "tests/postgres/migrate_test.cc",
    "ttl-sidecar --config /etc/ttl-sidecar/sidecar.toml --status-page":
        "tests/integration/status_page_process_test.cc, without a file",
    "ttlctl containers set C --windows": "tests/integration/windows_process_test.cc",
    "ssh -L": "by hand; it needs another machine",
    "ttlctl --server sidecar.example:7070": "tests/integration/tls_process_test.cc",
}

# Options of other programs.
FOREIGN_OPTIONS = {"--unix-socket"}

# What stands for the names in capitals of client/ttlctl/README.md.
NAMES = {"ID": "carts", "C": "carts", "N": "5", "X": "50", "FILE": "{dir}/file", "DIR": "{dir}/new",
         "STORE_ID": "other", "ITEM": "no-such-item", "KEY": "p", "HOLD": "case-17", "SUBSCRIPTION": "mail", "TEXT": "test", "T": str(int(time.time()))}

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
    ("export", 0),
    ("export ID", 0),
    ("status", 0),
    ("status ID", 0),
    ("forecast", 0),
    ("forecast ID --for 604800 --default-ttl N", 0),
    ("containers list --id-prefix salesdb/", 0),
    ("containers list --ttl-on-only", 0),
    ("items list ID --partition-key KEY", 0),
    ("items list ID --expired-only", 0),
    ("items list ID --expire-from 0 --expire-to T", 0),
    ("items list ID --as-of T", 0),
    ("items check ID ITEM --as-of T", 6),
    ("stuck ID", 0),
    ("containers set ID --allow-touch true", 0),
    ("items touch C ITEM --unless-within 5m", 6),
    ("limits set --max-deletes-per-second N", 0),
    ("limits show", 0),
    ("store confirm STORE_ID", 1),  # there is nothing to confirm
    ("+pause --all --reason test", 0),
    ("resume --all", 0),
    ("reconcile C --dry-run", 0),
    ("reconcile C", 0),
    ("rebuild", 0),
    ("containers set ID --requires-holds true", 0),
    ("containers set ID --show-held true", 0),
    ('containers set ID --windows "mon-fri 22:00-06:00" --windows-time-zone Europe/Berlin', 0),
    ("+containers set carts --windows none", 0),
    ("holds place C HOLD --reason TEXT --key KEY", 0),
    ("holds list", 0),
    ("holds list C", 0),
    ("holds keys C HOLD", 0),
    ("holds export", 0),
    ("holds apply FILE", 1),  # a file of containers is none of holds
    ("holds release C HOLD", 0),
    ("holds accept C", 0),
    ("containers set ID --feed on", 0),
    ("subscriptions create C SUBSCRIPTION", 0),
    ("subscriptions list", 0),
    ("subscriptions list C", 0),
    ("subscriptions get C SUBSCRIPTION", 0),
    ("subscriptions acknowledge C SUBSCRIPTION N", 1),  # nothing was sent
    ("subscriptions delete C SUBSCRIPTION", 0),
    ("subscriptions create C SUBSCRIPTION --gate", 0),
    ("+subscriptions delete carts mail", 0),
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


class StockServer:
    """What Debian's pg_createcluster makes, but in a folder of its own. As the machine must stay as it
    is, commands meet stand-ins: sudo runs what it is given as the user postgres, or as nobody for a
    user that the page makes; pg_ident.conf lets that one be the role of the name. systemctl restarts
    this server only, and useradd makes the home directory only. Not run by root, all is one user."""

    def __init__(self, folder):
        self.folder, self.data = folder + "/server", folder + "/server/data"
        self.is_root = os.geteuid() == 0
        os.makedirs(self.folder)
        if self.is_root:
            shutil.chown(self.folder, "postgres", "postgres")
        postgres, other = ("postgres", "nobody") if self.is_root else [pwd.getpwuid(os.geteuid()).pw_name] * 2
        self.ident = f"walk {postgres} postgres\nwalk {other} ttl\n"
        self.write_shims(folder + "/shims")

    def write_shims(self, directory):
        become = "setpriv --reuid=$as --regid=$(id -g $as) --clear-groups" if self.is_root else ""
        control = f'{become} {POSTGRES}/pg_ctl -s -w -D {self.data} -l {self.folder}/log'
        shims = {
            "sudo": 'user=root; [ "$1" = -u ] && { user=$2; shift 2; }\n'
                    '[ $user = root ] && exec "$@"\n'
                    'as=nobody; [ $user = postgres ] && as=postgres\n'
                    f'PGUSER=$user exec {become} "$@"\n',
            "systemctl": f'[ "$*" = "restart postgresql" ] || exit 1\nas=postgres; exec {control} restart\n',
            "useradd": 'for last; do :; done; [ "$last" = ttl ] || exit 1\n'
                       + ('exec install -d -o nobody "$4"\n' if self.is_root else 'exec install -d "$4"\n'),
            "control": f'as=postgres; exec {control} "$@"\n',
            "initdb": f'as=postgres; exec {become} {POSTGRES}/initdb -D {self.data} -U postgres '
                      '--auth-local=peer --auth-host=scram-sha-256 --locale=C.UTF-8 >/dev/null\n',
        }
        os.makedirs(directory)
        for name, text in shims.items():
            path = pathlib.Path(directory, name)
            path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
            path.chmod(0o755)
        self.shims = directory

    def control(self, *arguments):
        subprocess.run([f"{self.shims}/control", *arguments], check=True, timeout=DEADLINE)

    def start(self):
        subprocess.run([f"{self.shims}/initdb"], check=True, timeout=DEADLINE)
        hba = pathlib.Path(self.data, "pg_hba.conf")
        hba.write_text(re.sub("peer$", "peer map=walk", read(hba), flags=re.MULTILINE), encoding="utf-8")
        pathlib.Path(self.data, "pg_ident.conf").write_text(self.ident, encoding="utf-8")
        with open(self.data + "/postgresql.conf", "a", encoding="utf-8") as settings:
            settings.write(f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\n")
        self.control("start")

    def stop(self):
        self.control("stop", "-m", "fast")
        shutil.rmtree(self.folder, ignore_errors=True)


def walk_commands(page):
    """The commands of the first code block of a page, with what is typed into them."""
    block = re.search(r"(?:^    .*\n)+", read(page), re.MULTILINE)[0]
    lines = [line[4:] for line in block.splitlines()]
    return [command.rstrip() for command in "\n".join(lines).removeprefix("$ ").split("\n$ ")]


def play_postgres(play):
    """The walk of client/postgres/README.md, word for word, on a fresh server. See StockServer."""
    page, folder = "client/postgres/README.md", play.directory + "/walk"
    os.makedirs(folder)
    server = StockServer(folder)
    places = {"build/quick/bin": BIN, "/usr/local/bin": folder + "/bin", "/etc": folder + "/etc",
              "/var/lib/ttl-sidecar": folder + "/lib", "/var/run/postgresql": server.folder}
    for name in ("bin", "etc"):
        os.makedirs(f"{folder}/{name}")
    environment = dict(os.environ, PATH=f"{server.shims}:{folder}/bin:{os.environ['PATH']}",
                       PGHOST=server.folder)
    commands = walk_commands(page)
    if len(commands) > 12:
        problems.append(f"{page}: the walk has {len(commands)} commands, more than 12")
    started, output = time.monotonic(), ""
    try:
        server.start()
        for command in commands:
            script = command
            for place, stand_in in places.items():
                script = re.sub(rf"(?<![\w/]){place}(?=[/\s]|$)", str(stand_in), script)
            play.played.add((page, command))
            if command.endswith("&"):
                with open(play.directory + "/log", "ab") as log:
                    play.running.append(subprocess.Popen(
                        ["sh", "-c", "exec " + script.rstrip("& ")], env=environment, stdout=log,
                        stderr=log))
                play.has_started(command.removeprefix("sudo -u ttl "), folder + "/lib")
                continue
            run = subprocess.run(["sh", "-c", script], env=environment, text=True, cwd=ROOT,
                                 capture_output=True, timeout=DEADLINE)
            output = run.stdout
            if run.returncode != 0 or "ERROR" in run.stderr:
                problems.append(f"{page}: `{command}` exits with {run.returncode}: {run.stderr or run.stdout}")
                return
        took = time.monotonic() - started
        if took > 60:
            problems.append(f"{page}: the walk took {took:.0f} s, more than 60")
        if [line for line in output.splitlines() if "row" in line] != ["(1 row)", "(1 row)", "(0 rows)"]:
            problems.append(f"{page}: the row does not vanish at its second: {output}")
        count = ["sudo", "-u", "postgres", "psql", "-XAtd", "shop", "-c", "SELECT count(*) FROM sessions"]
        wait_until(f"{page}: the row is deleted", lambda: subprocess.run(
            count, env=environment, capture_output=True, text=True).stdout == "0\n")
    finally:
        play.stop()
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
