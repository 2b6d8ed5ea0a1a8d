"""The DPI-C bench of an exported binary16 multiplier: checks a second, and what the model costs.

The bench runs with the golden model's calls and without, the unit and all else being the same.
"""

import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import widthwise as ww

CHECKS = 4_000_000


def seconds(folder: Path, *options: str) -> float:
    """The bench's own processor time, the best of three."""
    command = ["build/verilated/Vmul_dpi_bench", f"+checks={CHECKS}", *options]
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run(
            command, cwd=folder, env={"LD_LIBRARY_PATH": "."}, check=True, capture_output=True
        )
        assert b" vectors, 0 errors" in done.stdout
        times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return min(times)


def main() -> None:
    if not shutil.which("verilator"):
        print("SKIPPED: Verilator is not installed, which the bench is built with")
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "mul"
        ww.export("multiply(binary16)", folder, name="mul", rtl=True, model=True)
        subprocess.run(["make", "dpi", "OPT=-O1"], cwd=folder, check=True)
        checked, alone = seconds(folder), seconds(folder, "+no_model")
    rate, rest = CHECKS / checked / 1e6, CHECKS / alone / 1e6
    print(f"{rate:.2f} million checks/s, {rest:.2f} without the model")
    print(f"time with the model / without: {checked / alone:.2f}")


if __name__ == "__main__":
    main()
