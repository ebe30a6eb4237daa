"""What the READMEs of client/ print works as printed; only addresses, folders and deadlines are
replaced."""

import contextlib
import io
import json
import pathlib
import re
import subprocess
import sys

from harness import SidecarTestCase, TempDirTestCase

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOCKET = "/run/ttl-sidecar/sidecar.sock"


def code_blocks(path, language):
    """Pairs of (language, text) of the fenced blocks in a README that have one of the languages."""
    text = (ROOT / path).read_text()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for block in blocks if block[0] in language]


def json_values(text):
    """The JSON values that follow each other in `text`."""
    decoder, values = json.JSONDecoder(), []
    while text := text.strip():
        value, end = decoder.raw_decode(text)
        values.append(value)
        text = text[end:]
    return values


def has(actual, shown):
    """Whether `actual` has at least what is shown, with the same values."""
    if isinstance(shown, dict) and isinstance(actual, dict):
        return all(name in actual and has(actual[name], value) for name, value in shown.items())
    return actual == shown


class BufCurl(SidecarTestCase):
    def test_every_example_answers_what_is_shown(self):
        blocks = code_blocks("client/buf_curl.md", ["sh", "json"])
        commands, answers = blocks[::2], blocks[1::2]
        self.assertEqual([language for language, _ in commands], ["sh"] * len(answers))
        self.assertEqual([language for language, _ in answers], ["json"] * len(commands))
        self.assertGreaterEqual(len(commands), 5)
        for (_, command), (_, shown) in zip(commands, answers):
            with self.subTest(command):
                self.assertIn(SOCKET, command)
                run = subprocess.run(["bash", "-ec", command.replace(SOCKET, self.socket())],
                                     cwd=ROOT, capture_output=True, text=True, timeout=60)
                self.assertEqual(run.returncode, 0, run.stderr)
                actual, shown = json_values(run.stdout), json_values(shown)
                self.assertEqual(len(actual), len(shown), run.stdout)
                for one, other in zip(actual, shown):
                    self.assertTrue(has(one, other), f"{one} lacks some of {other}")

    def socket(self):
        return self.sidecar.address.removeprefix("unix:")


class PythonReadme(SidecarTestCase):
    def test_the_examples_run(self):
        (_, client), (_, store) = code_blocks("client/python/README.md", ["python"])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(client.replace("unix:" + SOCKET, self.sidecar.address), {})
        self.assertIn("visible", printed.getvalue())
        self.assertIn("INVALID_ARGUMENT", printed.getvalue())
        variables = {}
        exec(store.replace("unix:/run/my-store/store.sock", self.store_address), variables)
        variables["server"].stop(0).wait()


class PythonAsyncio(SidecarTestCase):
    def test_the_examples_run(self):
        """Each by an interpreter of its own: gRPC wants one loop for a process."""
        blocks = code_blocks("client/python/asyncio.md", ["python"])
        for number, (_, code) in enumerate(blocks):
            program = code.replace("unix:" + SOCKET, self.sidecar.address).replace(
                "unix:/run/my-store/store.sock", self.store_address)
            with self.subTest(number):
                run = subprocess.run([sys.executable, "-c", program], capture_output=True,
                                     text=True, timeout=60)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(run.stderr, "")


class PythonCalls(SidecarTestCase):
    def test_the_examples_run(self):
        self.client.create_container("salesdb/carts")
        variables = {"current_traceparent": lambda: "00-" + "1" * 32 + "-" + "2" * 16 + "-01"}
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            for _, code in code_blocks("client/python/calls.md", ["python"]):
                exec(code.replace("unix:" + SOCKET, self.sidecar.address), variables)
        self.assertEqual(printed.getvalue().split()[-1], "0")


class Stubs(TempDirTestCase):
    SERVICES = ["ContainerService", "ExpiryService", "FeedService", "ItemService",
                "MaintenanceService", "PrimaryStoreService"]
    # Files of a service by language, as its plugins name them.
    FILES = {
        "go": "go/ttl/v1/{snake}_grpc.pb.go",
        "java": "java/io/ttlsidecar/v1/{name}Grpc.java",
        "cpp": "cpp/ttl/v1/{snake}.grpc.pb.h",
        "python": "python/ttl/v1/{snake}_pb2_grpc.py",
        "ruby": "ruby/ttl/v1/{snake}_services_pb.rb",
        "php": "php/TtlSidecar/V1/{name}Client.php",
    }

    def test_every_command_makes_the_stubs_of_all_services(self):
        text = (ROOT / "client/stubs/README.md").read_text()
        commands = re.findall(r"^    (.*build/stubs.*)$", text, re.MULTILINE)
        made = []
        for number, command in enumerate(commands):
            with self.subTest(command):
                out = pathlib.Path(self.folder) / str(number)
                subprocess.run(["bash", "-ec", command.replace("build/stubs", str(out))],
                               cwd=ROOT, check=True, timeout=60)
                [language] = [path.name for path in out.iterdir()]
                made.append(language)
                for name in self.SERVICES:
                    snake = re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
                    path = out / self.FILES[language].format(name=name, snake=snake)
                    self.assertIn(name, path.read_text())
        self.assertEqual(sorted(made), sorted([*self.FILES, "go", "java"]))
