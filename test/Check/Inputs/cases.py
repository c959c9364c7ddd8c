"""Runs modelc-check on recorded cases and compares with the emulator.

Usage: cases.py MODELC_CHECK TARGETS FOLDER [--close KERNEL]...

Prints a line a case. Outputs are equal bit for bit; those of kernels named
behind --close are floats that agree to 2e-6 of the largest.
"""

import pathlib
import struct
import subprocess
import sys


def floats(path):
    data = path.read_bytes()
    return struct.unpack(f"{len(data) // 4}f", data)


def close(expected, got):
    largest = max((abs(x) for x in expected if x == x), default=0)
    return all(abs(x - y) <= 2e-6 * largest or (x != x and y != y)
               for x, y in zip(expected, got))


def difference(case, inexact):
    """What is wrong with the outputs of a case, empty if nothing."""
    for expected in sorted(case.parent.glob(case.stem + ".*.expected")):
        got = expected.with_suffix(".out")
        if expected.read_bytes() == got.read_bytes():
            continue
        if inexact and close(floats(expected), floats(got)):
            continue
        words = zip(struct.iter_unpack("<B", expected.read_bytes()),
                    struct.iter_unpack("<B", got.read_bytes()))
        wrong = [i for i, (x, y) in enumerate(words) if x != y]
        return f"{got.name}: {len(wrong)} bytes differ, the first at {wrong[0]}"
    return ""


def main():
    tool, targets, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    inexact = sys.argv[5::2]
    failures = 0
    for case in sorted(folder.glob("*.json"), key=lambda p: int(p.name.split(".")[0])):
        kernel = case.stem.split(".")[1]
        report = case.with_suffix(".report")
        done = subprocess.run([tool, case, "--targets", targets, "--report", report],
                              capture_output=True, text=True)
        why = done.stderr.strip() if done.returncode else difference(case, kernel in inexact)
        print(f"{kernel}: {why or 'same'}")
        failures += bool(why)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
