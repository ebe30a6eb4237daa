"""Adds what is generated to the package: the stubs of protos/ with their type hints, which become
ttl.v1 and ttl.errors.v1, and the version of the project.

Needs protoc and grpc_python_plugin on the PATH (Debian: protobuf-compiler and
protobuf-compiler-grpc). In the repository the protos are two folders up; a source distribution has
a copy.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import setuptools
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from grpc_hints import write_hints  # noqa: E402

PACKAGES = ["ttl/v1", "ttl/errors/v1"]
IS_REPOSITORY = not (HERE / "PKG-INFO").exists()
PROTOS = HERE.parents[1] / "protos" if IS_REPOSITORY else HERE / "protos"


def project_version():
    """That of the project's CMakeLists.txt, which a source distribution has in PKG-INFO."""
    if IS_REPOSITORY:
        text = (HERE.parents[1] / "CMakeLists.txt").read_text()
        return re.search(r"^project\(ttl-sidecar VERSION (\S+)", text, re.MULTILINE)[1]
    return re.search(r"^Version: (\S+)", (HERE / "PKG-INFO").read_text(), re.MULTILINE)[1]


def proto_files():
    return sorted(str(path) for package in PACKAGES for path in (PROTOS / package).glob("*.proto"))


def generate(folder):
    """Writes messages, service stubs and the type hints of both below `folder`."""
    plugin = shutil.which("grpc_python_plugin")
    if plugin is None or shutil.which("protoc") is None:
        raise RuntimeError("protoc and grpc_python_plugin must be on the PATH")
    folder.mkdir(parents=True, exist_ok=True)
    descriptors = folder / "descriptors"
    subprocess.run(
        ["protoc", f"-I{PROTOS}", f"--python_out={folder}", f"--pyi_out={folder}",
         f"--grpc_out={folder}", f"--plugin=protoc-gen-grpc={plugin}",
         f"--descriptor_set_out={descriptors}", *proto_files()],
        check=True)
    write_hints(descriptors.read_bytes(), folder)
    descriptors.unlink()
    for package in PACKAGES:
        (folder / package / "py.typed").touch()


class BuildWithGenerated(build_py):
    """build_py, and what is generated."""

    def run(self):
        super().run()
        folder = pathlib.Path(self.build_lib)
        generate(folder)
        version = self.distribution.get_version()
        (folder / "ttl_sidecar/_version.py").write_text(f'__version__ = "{version}"\n')


class SourceWithProtos(sdist):
    """sdist, with the protos inside."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for path in map(pathlib.Path, proto_files()):
            target = pathlib.Path(base_dir) / "protos" / path.relative_to(PROTOS)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


setuptools.setup(version=project_version(),
                 cmdclass={"build_py": BuildWithGenerated, "sdist": SourceWithProtos})
