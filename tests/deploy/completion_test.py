#!/usr/bin/env python3
"""completion_test.py BIN SCRIPTS: types commands into interactive shells and checks what they complete.

BIN has ttl-sidecar and ttlctl. SCRIPTS is where they are installed, as /usr: it has share/. Each shell
runs at a terminal of its own, without settings of the user, and loads the script as it would from
where the script is installed. A sidecar of its own has the containers.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(sys.argv[1]).resolve()
SHARE = pathlib.Path(sys.argv[2]).resolve() / "share"
DEADLINE = 60
ERASE_LINE = b"\x15"

# What is typed before the tab, and the line that it must become.
LINES = [
    ("ttlctl contai", "ttlctl containers "),
    ("ttlctl containers cre", "ttlctl containers create "),
    ("ttlctl containers create c --defa", "ttlctl containers create c --default-ttl "),
    ("ttlctl containers set c --indexing-mode l", "ttlctl containers set c --indexing-mode lazy "),
    ("ttlctl status --output=y", "ttlctl status --output=yaml"),
    ("ttlctl help contai", "ttlctl help containers "),
    ("ttlctl status salesdb/o", "ttlctl status salesdb/orders "),
    ("ttlctl items list sess", "ttlctl items list sessions:eu "),
    ("ttlctl status my\\ na", "ttlctl status my\\ name "),
    ("ttlctl status our\\ names:e", "ttlctl status our\\ names:eu "),
    ("ttlctl apply -f ./only-f", "ttlctl apply -f ./only-file.yaml "),
    ("ttlctl containers create no-such-", "ttlctl containers create no-such-"),
]


class Shell:
    """A shell at a pseudo-terminal. `line` is what it shows of the line that is being edited."""

    def __init__(self, command, folder, environment):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.shown = b""

    def type(self, keys):
        os.write(self.terminal, keys.encode() if isinstance(keys, str) else keys)

    def wait_for(self, pattern, what):
        end = time.monotonic() + DEADLINE
        while not re.search(pattern, self.text()):
            left = end - time.monotonic()
            if left < 0 or not select.select([self.terminal], [], [], left)[0]:
                raise AssertionError(f"{what}: waited for {pattern!r}; shown: {self.text()!r}")
            self.shown += os.read(self.terminal, 65536)

    def text(self):
        """What was shown since the last forget(), without colours and other sequences."""
        text = self.shown.decode(errors="replace")
        return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z~]|[=>]|\][^\x07]*\x07|[()].)", "", text)

    def forget(self):
        self.shown = b""

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


def drawn(text):
    """The line that is seen when `text` is written: a backspace moves back, and what follows overwrites."""
    cells, place = [], 0
    for character in text:
        if character == "\b":
            place -= 1
        elif character not in "\r\n\a":
            cells[place:place + 1] = character
            place += 1
    return "".join(cells)


def bash_and_zsh(name, folder, environment):
    scripts = {"bash": SHARE / "bash-completion/completions/ttlctl", "zsh": next(SHARE.glob("zsh/*/_ttlctl"))}
    commands = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
    set_up = {
        "bash": f"bind 'set bell-style none'; . {scripts['bash']}; PS1='READY'; echo LOADED",
        "zsh": f"fpath=({scripts['zsh'].parent} $fpath); autoload -Uz compinit; compinit -D -u; "
               "unsetopt beep prompt_sp; bindkey -e; PS1='READY'; echo LOADED",
    }
    shell = Shell(commands[name], folder, environment)
    shell.type(set_up[name] + "\n")
    shell.wait_for(r"LOADED\s+READY", f"{name} starts")
    for typed, expected in LINES:
        shell.forget()
        # The marker is typed after the tab, so that it stands where the completion has ended.
        shell.type(typed + "\t")
        shell.type("@@")
        shell.wait_for("@@", f"{name}: {typed}")
        line = drawn(shell.text()).split("@@")[0]
        check(name, typed, line, expected)
        shell.forget()
        shell.type(ERASE_LINE + b"\n")
        shell.wait_for("READY", f"{name} goes on after {typed}")
    shell.type("exit\n")
    shell.close()


def fish(folder, environment):
    script = SHARE / "fish/vendor_completions.d/ttlctl.fish"
    for typed, expected in LINES:
        run = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'"], cwd=folder,
                             env=environment, capture_output=True, text=True, timeout=DEADLINE, check=True)
        words = [line.split("\t")[0] for line in run.stdout.splitlines()]
        last = re.split(r"(?<!\\) ", typed)[-1]
        # fish itself adds the space after the only word.
        word = words[0].replace(" ", "\\ ") if len(words) == 1 else last if not words else str(words)
        line = typed[:len(typed) - len(last)] + word
        check("fish", typed, line, expected.rstrip(" "))


passed, problems = 0, []


def check(shell, typed, line, expected):
    global passed
    # bash puts a space behind --output=yaml, zsh may.
    if line == expected or line.rstrip(" ") == expected:
        passed += 1
    else:
        problems.append(f"{shell}: `{typed}` and a tab became `{line}`, not `{expected}`")


def main():
    folder = tempfile.mkdtemp(prefix="completion-")
    address = f"unix:{folder}/ttl.sock"
    environment = {"PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin", "HOME": folder, "TERM": "xterm", "LC_ALL": "C.UTF-8",
                   "TTL_SIDECAR_ADDRESS": address}
    pathlib.Path(folder, "only-file.yaml").touch()
    with open(f"{folder}/log", "wb") as log:
        sidecar = subprocess.Popen([BIN / "ttl-sidecar", "--listen-socket", address.removeprefix("unix:"), "--data-dir", f"{folder}/data"],
                                   stdout=log, stderr=log)
    try:
        end = time.monotonic() + DEADLINE
        while subprocess.run(["ttlctl", "health"], env=environment, capture_output=True).returncode != 0:
            if time.monotonic() > end:
                raise RuntimeError(pathlib.Path(folder, "log").read_text())
            time.sleep(0.1)
        for container in ("salesdb/orders", "salesdb/carts", "sessions:eu", "our names:eu", "my name"):
            subprocess.run(["ttlctl", "containers", "create", container], env=environment, check=True,
                           capture_output=True)
        for name in ("bash", "zsh"):
            bash_and_zsh(name, folder, environment)
        fish(folder, environment)
    finally:
        sidecar.terminate()
        sidecar.wait(DEADLINE)
        shutil.rmtree(folder)
    for problem in problems:
        print(problem)
    print(f"{passed} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
