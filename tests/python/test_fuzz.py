"""A few cases of each part of tests/fuzz, the same each time; `./dev test --long` draws others."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = {"products": 120, "dots": 100, "elements": 150, "conversions": 150, "systems": 200}
CASES |= {"tables": 150, "exports": 3}


@pytest.mark.parametrize("part", CASES)
def test_random_cases_agree_with_their_oracles(part):
    command = [sys.executable, "tests/fuzz", part, "--seed", "1", "--cases", str(CASES[part])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if "SKIPPED: " in done.stderr:
        pytest.skip(done.stderr.partition("SKIPPED: ")[2].strip())
    if done.returncode:
        pytest.fail(done.stdout + done.stderr, pytrace=False)
