#!/usr/bin/env python3
"""That dockerfile.py reads what it should and refuses what it does not know. No root needed."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import dockerfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ParseTest(unittest.TestCase):
    def test_instructions(self):
        cases = [
            ("FROM a AS b", [(1, "FROM", "a AS b")]),
            ("# comment\n\nrun x", [(3, "RUN", "x")]),
            ("RUN a && \\\n  b\nUSER 1:1", [(1, "RUN", "a &&   b"), (3, "USER", "1:1")]),
            ("RUN a && \\\n  # why\n  b", [(1, "RUN", "a &&   b")]),
        ]
        for text, expected in cases:
            with self.subTest(text):
                self.assertEqual(dockerfile.parse(text), expected)

    def test_an_instruction_without_an_end_is_refused(self):
        with self.assertRaisesRegex(dockerfile.DockerfileError, "line 2: .*within an instruction"):
            dockerfile.parse("FROM a AS b\nRUN x \\\n")

    def test_substitution(self):
        self.assertEqual(dockerfile.substitute("${A}/$B/$C", {"A": "a", "B": "b"}), "a/b/")


class IgnoreTest(unittest.TestCase):
    def test_the_last_rule_that_fits_counts(self):
        ignored = dockerfile.ignore_rule(
            "*\n!service\n!client/cpp\nservice/*.tmp\n**/node_modules\n")
        cases = [
            ("README.md", True), ("service/a.cc", False), ("service/core/a.cc", False),
            ("service/a.tmp", True), ("service/core/a.tmp", False), ("client/cpp/a.h", False),
            ("client/node/a.js", True), ("client/cpp/node_modules/a/b", True),
        ]
        for path, expected in cases:
            with self.subTest(path):
                self.assertEqual(ignored(path), expected)

    def test_the_context_has_what_is_built_and_nothing_else(self):
        paths = ["CMakeLists.txt", "service/core/a.cc", "client/ttlctl/a.cc", "client/python/a.py",
                 "client/postgres/sql/a.cc", "tests/postgres/a.cc", "deploy/image/Dockerfile",
                 "tests/unit/a.cc", "deploy/quickstart/a.cc", "deploy/kubernetes/a.yaml",
                 "build/a", ".git/config"]
        self.assertEqual(dockerfile.context_files(ROOT, paths),
                         ["CMakeLists.txt", "service/core/a.cc", "client/ttlctl/a.cc",
                          "client/postgres/sql/a.cc", "deploy/quickstart/a.cc"])


class BuilderTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def builder(self, text, files=()):
        for name in files:
            (self.path / "context" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / "context" / name).write_text(name)
        (self.path / "Dockerfile").write_text(text)
        return dockerfile.Builder(self.path / "Dockerfile", self.path / "context", list(files),
                                  self.path / "base", self.path, self.path / "cache", {},
                                  lambda text: None)

    def copied(self, rest):
        builder = self.builder("FROM a AS b", ["deploy/x.sh", "deploy/y/z.sh", "service/a.cc"])
        stage = dockerfile.Stage(self.path / "stage")
        builder._do_copy(stage, rest)
        return sorted(str(p.relative_to(stage.root)) for p in stage.root.rglob("*") if p.is_file())

    def test_a_file_is_copied_by_its_name_and_a_folder_by_what_is_in_it(self):
        cases = [
            ("deploy/x.sh /src/", ["src/x.sh"]),
            ("deploy /src/", ["src/x.sh", "src/y/z.sh"]),
            (". /src/", ["src/deploy/x.sh", "src/deploy/y/z.sh", "src/service/a.cc"]),
        ]
        for rest, expected in cases:
            with self.subTest(rest):
                self.setUp()
                self.assertEqual(self.copied(rest), expected)

    def test_of_another_stage_it_is_the_same(self):
        builder = self.builder("FROM a AS b\nFROM b AS c")
        builder.stages["b"] = dockerfile.Stage(self.path / "b")
        for name in ("x", "y/z"):
            (self.path / "b/out" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / "b/out" / name).write_text(name)
        for source, expected in [("/out/x", ["tmp/x"]), ("/out", ["tmp/x", "tmp/y/z"])]:
            with self.subTest(source):
                stage = dockerfile.Stage(self.path / f"stage{len(expected)}")
                builder._do_copy(stage, f"--from=b {source} /tmp/")
                found = [p for p in stage.root.rglob("*") if p.is_file()]
                self.assertEqual(sorted(str(p.relative_to(stage.root)) for p in found), expected)

    def test_what_is_not_known_is_refused(self):
        cases = [
            ("COPY gone /src/", "not in the context"),
            ("COPY --link deploy /src/", "an option is not known"),
            ("COPY deploy/x.sh /src/x.sh", "give a folder"),
            ("RUN --network=none true", "--network=none is not known"),
        ]
        builder = self.builder("FROM a AS b", ["deploy/x.sh"])
        for instruction, expected in cases:
            word, _, rest = instruction.partition(" ")
            with self.subTest(instruction):
                with self.assertRaisesRegex(dockerfile.DockerfileError, expected):
                    getattr(builder, f"_do_{word.lower()}")(dockerfile.Stage(self.path / "s"), rest)

    def test_a_target_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(dockerfile.DockerfileError, "no stage c"):
            self.builder("FROM a AS b").build("c")


class OurDockerfileTest(unittest.TestCase):
    def test_every_instruction_is_one_that_can_be_carried_out(self):
        text = (ROOT / "deploy/image/Dockerfile").read_text()
        for line, word, _ in dockerfile.parse(text):
            with self.subTest(line=line):
                known = hasattr(dockerfile.Builder, f"_do_{word.lower()}")
                self.assertTrue(known or word == "FROM", word)

    def test_scripts_and_folders_that_it_builds_with_are_in_the_context(self):
        text = (ROOT / "deploy/image/Dockerfile").read_text()
        tracked = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                                 cwd=ROOT, check=True, capture_output=True, text=True)
        files = dockerfile.context_files(ROOT, tracked.stdout.split("\n"))
        scripts = set(re.findall(r"\b(?<!tests/)deploy/[\w/]+\.sh", text))
        folders = re.findall(r"add_subdirectory\((\w+)\)",
                             (ROOT / "client/CMakeLists.txt").read_text())
        self.assertIn("deploy/image/install_runtime.sh", scripts)
        self.assertIn("postgres", folders)
        lists = {f"client/{folder}/CMakeLists.txt" for folder in folders}
        included = re.findall(r"include\((deploy/\w+\.cmake)\)", (ROOT / "CMakeLists.txt").read_text())
        self.assertEqual(included, ["deploy/find_packages.cmake", "deploy/install.cmake"])
        self.assertLessEqual(scripts | lists | {*included, "deploy/packages.txt"}, set(files))

    def test_the_client_library_of_postgresql_is_in_one_image_alone(self):
        instructions = dockerfile.parse((ROOT / "deploy/image/Dockerfile").read_text())
        parents, lists, stage = {}, {}, None
        for _, word, rest in instructions:
            if word == "FROM":
                parent, _, stage = rest.split()
                parents[stage] = parent
            elif word == "COPY" and "packages" in rest:
                lists[stage] = rest.split()[-2]
        lists = {image: lists.get(image, lists.get(parent)) for image, parent in parents.items()}
        self.assertEqual(lists["ttl-postgres"], "/out/runtime/postgres-packages")
        self.assertEqual(lists["ttl-sidecar"], "/out/runtime/packages")
        self.assertEqual(lists["document-store"], "/out/runtime/packages")


if __name__ == "__main__":
    unittest.main()
