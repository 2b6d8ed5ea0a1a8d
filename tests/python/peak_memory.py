"""Programs that print what they take of memory."""

import subprocess
import sys
import textwrap

# getrusage's figure begins with what the program's parent had, and hides what is less.
PEAK = '''
import re
from pathlib import Path

def peak():
    """The most bytes that this program has had in memory."""
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
'''


def printed_by(program, *arguments):
    """The numbers that a program prints, which may ask for its peak()."""
    command = [sys.executable, "-c", PEAK + textwrap.dedent(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]
