"""What Python does for a piece of work, counted: time is for tests/benchmarks."""

import gc
import sys


def calls(work):
    """Of Python's functions and of C's, by name, in order."""
    names = []

    def note(frame, event, argument):
        if event in ("call", "c_call"):
            names.append(frame.f_code.co_name if event == "call" else argument.__name__)

    work()  # what is made once is made by now
    before = sys.getprofile()
    gc.disable()  # which other packages may be told of, whenever it comes
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return names[1:-1]  # without the work itself, and the last call of setprofile
