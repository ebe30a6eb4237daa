"""The source distribution, as a user gets it: installed outside the repository, called, and its
type hints in the eyes of `mypy --strict`."""

import pathlib
import py_compile
import re
import subprocess
import sys
import tarfile
import tempfile

from harness import SidecarTestCase
from test_readme import ROOT, code_blocks

HERE = pathlib.Path(__file__).parent
VERSION = re.search(r"^project\(ttl-sidecar VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(),
                    re.MULTILINE)[1]


def run(*command, **options):
    """What it printed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=300, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} has ended with {done.returncode}:\n"
                             f"{done.stdout}{done.stderr}")
    return done.stdout


class Package(SidecarTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="ttl-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        # As after a run of the example.
        compiled = py_compile.compile(ROOT / "client/python/examples/note_store.py")
        cls.addClassCleanup(pathlib.Path(compiled).unlink)
        run(sys.executable, "-W", "ignore", "setup.py", "-q", "egg_info", "--egg-base", cls.root,
            "sdist", "--dist-dir", cls.root, cwd=ROOT / "client/python")
        [cls.archive] = cls.root.glob("*.tar.gz")
        with tarfile.open(cls.archive) as archive:
            cls.packed = archive.getnames()
            archive.extractall(cls.root)
        cls.source = cls.root / cls.archive.name.removesuffix(".tar.gz")
        run(sys.executable, "-m", "venv", "--system-site-packages", cls.root / "venv")
        cls.python = cls.root / "venv/bin/python"
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(cls.root)}
        run(cls.root / "venv/bin/pip", "install", "-q", "--no-index", "--no-build-isolation",
            "./" + cls.source.name, cwd=cls.root, env=environment)

    def run_installed(self, program):
        return run(self.python, "-I", "-c", program, cwd=self.root)

    def test_the_version_is_that_of_the_project(self):
        self.assertIn(f"-{VERSION}.tar.gz", self.archive.name)
        printed = self.run_installed(
            "import importlib.metadata as m, ttl_sidecar as t\n"
            "print(t.__version__, m.version('ttl-sidecar'), t.__file__)")
        self.assertEqual(printed.split()[:2], [VERSION] * 2)
        self.assertTrue(printed.split()[2].startswith(str(self.root)), printed)

    def test_the_installed_package_calls_the_sidecar(self):
        printed = self.run_installed(
            "from ttl_sidecar import Client\n"
            f"with Client({self.sidecar.address!r}, admin_timeout=60) as client:\n"
            "    print(client.create_container('c', 60).default_ttl)\n")
        self.assertEqual(printed, "60\n")

    def test_the_source_needs_nothing_of_the_repository(self):
        names = {str(path.relative_to(self.source)) for path in self.source.rglob("*.*")}
        self.assertLessEqual(
            {"protos/ttl/v1/item.proto", "protos/ttl/errors/v1/error_details.proto", "README.md",
             "asyncio.md", "examples/note_store.py"}, names)
        self.assertEqual([name for name in self.packed if name.endswith(".pyc")], [])

    def mypy(self, path, hints=None):
        """(line, message) of what --strict finds in a user's file, with a folder of further hints.
        """
        done = subprocess.run(
            ["/usr/bin/mypy", "--strict", "--no-error-summary", "--python-executable",
             str(self.python), "--cache-dir", str(self.root / f"mypy-{bool(hints)}"), path.name],
            cwd=path.parent, capture_output=True, text=True, timeout=300,
            env={"PATH": "/usr/bin:/bin", **({"MYPYPATH": str(hints)} if hints else {})})
        self.assertEqual(done.stderr, "")
        found = [re.match(r"[^:]*:(\d+): error: (.*)", line) for line in done.stdout.splitlines()]
        return [(int(match[1]), match[2]) for match in found if match]

    def copied(self, text, name):
        path = self.root / name
        path.write_text(text)
        return path

    def test_the_example_of_the_readme_and_a_typed_program_pass(self):
        (_, client), _ = code_blocks("client/python/README.md", ["python"])
        self.assertEqual(self.mypy(self.copied(client, "readme.py")), [])
        program = (HERE / "typed_user.py").read_text()
        self.assertEqual(self.mypy(self.copied(program, "typed_user.py")), [])

    def test_every_typo_is_refused_and_nothing_else(self):
        text = (HERE / "typed_typos.py").read_text()
        path = self.copied(text, "typed_typos.py")

        def marked(*marks):
            return [number for number, line in enumerate(text.splitlines(), 1)
                    if line.partition("  # ")[2] in marks]

        found = self.mypy(path)
        self.assertEqual(sorted({number for number, _ in found}), marked("refused"), found)
        found = self.mypy(path, self.protobuf_hints())
        self.assertEqual(sorted({number for number, _ in found}),
                         marked("refused", "refused with types-protobuf"), found)

    def protobuf_hints(self):
        """What counts of types-protobuf, which Debian does not have: a base class of messages."""
        folder = self.root / "hints"
        package = folder / "google/protobuf"
        package.mkdir(parents=True)
        (package / "__init__.pyi").touch()
        (package / "message.pyi").write_text("class Message:\n"
                                             "    def HasField(self, name: str) -> bool: ...\n")
        return folder
