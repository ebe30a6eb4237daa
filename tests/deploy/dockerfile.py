"""Reads a Dockerfile and carries out its steps in folders, without an engine.

A stage is a folder that starts as a copy of the one it is FROM; RUN is a shell in it by
chroot, COPY copies into it. Only what our Dockerfile uses is known, and all else is refused
by line, so that nothing is passed over. Needs root, a mount namespace of its own (mounts
are left to its end) and GNU cp.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess


class DockerfileError(Exception):
    pass


def parse(text):
    """Returns (line, instruction, rest) for each instruction of a Dockerfile."""
    instructions, pending, start = [], "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or (not pending and not line.strip()):
            continue
        start = start if pending else number
        pending += line
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        word, _, rest = pending.strip().partition(" ")
        instructions.append((start, word.upper(), rest.strip()))
        pending = ""
    if pending:
        raise DockerfileError(f"line {start}: the file ends within an instruction")
    return instructions


def substitute(text, variables):
    """${NAME} and $NAME, as outside of RUN."""
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda m: variables.get(m[1] or m[2], ""), text)


def ignore_rule(text):
    """Returns ignored(path) for the text of a .dockerignore; the last rule that fits counts."""
    rules = []
    for line in filter(None, (line.split("#")[0].strip() for line in text.splitlines())):
        pattern = re.escape(line.lstrip("!").strip("/"))
        pattern = pattern.replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
        rules.append((re.compile(pattern + "(?:/.*)?"), not line.startswith("!")))

    def ignored(path):
        verdict = False
        for pattern, ignore in rules:
            if pattern.fullmatch(path):
                verdict = ignore
        return verdict

    return ignored


def context_files(context, tracked):
    """The paths of `tracked` that .dockerignore lets into the build."""
    ignored = ignore_rule((context / ".dockerignore").read_text())
    return [path for path in tracked if not ignored(path)]


class Stage:
    """A root folder and what the instructions so far have set."""

    def __init__(self, root, parent=None):
        self.root = root
        self.workdir = parent.workdir if parent else "/"
        self.user = parent.user if parent else "0:0"
        self.entrypoint = list(parent.entrypoint) if parent else []
        self.arguments = {}


class Builder:
    """Carries out the stages that a target needs."""

    def __init__(self, dockerfile, context, files, base, work, cache, arguments, log=print):
        self.instructions = parse(pathlib.Path(dockerfile).read_text())
        self.context, self.files = context, files
        self.base, self.work, self.cache = base, work, cache
        self.arguments, self.log = arguments, log
        self.stages = {}

    def build(self, target):
        """Returns the stage of this name, built with all that it needs."""
        if target not in self.stages:
            parent, steps = self._steps_of(target)
            for needed in self._needed_by(parent, steps):
                self.build(needed)
            self.stages[target] = self._make(target, parent, steps)
        return self.stages[target]

    def names(self):
        return [rest.split()[2] for _, word, rest in self.instructions if word == "FROM"]

    def _steps_of(self, target):
        steps, parent, inside = [], None, False
        for instruction in self.instructions:
            line, word, rest = instruction
            if word == "FROM":
                parts = rest.split()
                if len(parts) != 3 or parts[1].upper() != "AS":
                    raise DockerfileError(f"line {line}: FROM without a name")
                inside = parts[2] == target
                parent = parts[0] if inside else parent
            elif inside:
                steps.append(instruction)
        if parent is None:
            raise DockerfileError(f"no stage {target}")
        return parent, steps

    def _needed_by(self, parent, steps):
        sources = [m[1] for _, _, rest in steps for m in [re.match(r"--from=(\S+)", rest)] if m]
        return ([parent] if parent in self.names() else []) + sources

    def _make(self, target, parent, steps):
        root = self.work / target
        stage = Stage(root, self.stages.get(parent))
        source = self.stages[parent].root if parent in self.stages else self.base
        self.log(f"-- stage {target}, from {parent}")
        subprocess.run(["cp", "-a", "--reflink=auto", source, root], check=True)
        for folder in ("proc", "dev"):
            subprocess.run(["mount", "--rbind", f"/{folder}", root / folder], check=True)
        for line, word, rest in steps:
            step = getattr(self, f"_do_{word.lower()}", None)
            if step is None:
                raise DockerfileError(f"line {line}: {word} is not known here")
            self.log(f"   {line}: {word} {' '.join(rest.split())[:100]}")
            step(stage, rest)
        for folder in ("proc", "dev"):
            subprocess.run(["umount", "-R", "-l", root / folder], check=True)
        return stage

    def _do_arg(self, stage, rest):
        name, _, default = rest.partition("=")
        stage.arguments[name] = self.arguments.get(name, default)

    def _do_label(self, stage, rest):
        if not all("=" in word for word in shlex.split(rest)):
            raise DockerfileError(f"LABEL {rest}: not of the form name=value")

    def _do_user(self, stage, rest):
        stage.user = rest

    def _do_workdir(self, stage, rest):
        stage.workdir = rest
        (stage.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def _do_entrypoint(self, stage, rest):
        stage.entrypoint = json.loads(rest)

    def _do_run(self, stage, rest):
        while option := re.match(r"--mount=type=cache,target=(\S+)\s+", rest):
            cache = self.cache / option[1].strip("/").replace("/", "-")
            inside = stage.root / option[1].lstrip("/")
            for folder in (cache, inside):
                folder.mkdir(parents=True, exist_ok=True)
            subprocess.run(["mount", "--bind", cache, inside], check=True)
            rest = rest[option.end():]
        if rest.startswith("--"):
            raise DockerfileError(f"RUN {rest.split()[0]} is not known here")
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                       "HOME": "/root", **stage.arguments}
        script = f"cd {shlex.quote(stage.workdir)} && {{ {rest}\n}}"
        subprocess.run(["chroot", "--userspec", stage.user, stage.root, "/bin/sh", "-c", script],
                       env=environment, check=True, stdin=subprocess.DEVNULL)

    def _do_copy(self, stage, rest):
        words = shlex.split(substitute(rest, stage.arguments))
        origin = re.fullmatch(r"--from=(\S+)", words[0])
        if origin:
            words = words[1:]
        if any(word.startswith("--") for word in words):
            raise DockerfileError(f"COPY {rest}: an option is not known here")
        *sources, target = words
        if not target.endswith("/"):
            raise DockerfileError(f"COPY {rest}: give a folder that ends in /")
        into = stage.root / target.lstrip("/")
        into.mkdir(parents=True, exist_ok=True)
        for source in sources:
            if origin:
                path = self.stages[origin[1]].root / source.lstrip("/")
                # Of a folder, what is in it.
                path = f"{path}/." if path.is_dir() else path
                subprocess.run(["cp", "-a", path, into], check=True)
            else:
                self._copy_from_context(source, into)

    def _copy_from_context(self, source, into):
        source = os.path.normpath(source)
        found = [path for path in self.files
                 if source == "." or path == source or path.startswith(source + "/")]
        if not found:
            raise DockerfileError(f"COPY {source}: not in the context")
        for path in found:
            # A file goes by its name, a folder by what is in it.
            name = os.path.basename(path) if path == source else os.path.relpath(path, source)
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.context / path, into / name)
