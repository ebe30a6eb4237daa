"""Adds the generated stubs to the package: protos/ttl/v1 becomes the package ttl.v1, and the details
of errors ttl.errors.v1.

Needs protoc and grpc_python_plugin on the PATH (Debian: protobuf-compiler and
protobuf-compiler-grpc), and the repository's protos/ two folders up.
"""

import pathlib
import shutil
import subprocess

import setuptools
from setuptools.command.build_py import build_py

PROTOS = pathlib.Path(__file__).resolve().parents[2] / "protos"
PACKAGES = ["ttl/v1", "ttl/errors/v1"]


def generate(folder):
    """Writes messages, their type hints and service stubs below `folder`."""
    plugin = shutil.which("grpc_python_plugin")
    if plugin is None or shutil.which("protoc") is None:
        raise RuntimeError("protoc and grpc_python_plugin must be on the PATH")
    files = sorted(str(path) for package in PACKAGES
                   for path in (PROTOS / package).glob("*.proto"))
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["protoc", f"-I{PROTOS}", f"--python_out={folder}", f"--pyi_out={folder}",
         f"--grpc_out={folder}", f"--plugin=protoc-gen-grpc={plugin}", *files],
        check=True)


class BuildWithStubs(build_py):
    """build_py, and the stubs beside the package."""

    def run(self):
        super().run()
        generate(pathlib.Path(self.build_lib))


setuptools.setup(cmdclass={"build_py": BuildWithStubs})
