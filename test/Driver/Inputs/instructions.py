"""instructions.py MODELC SOURCE_ROOT [CASE ...]: instructions that a compilation takes, beside what is agreed.

Each case is the example of 70 billion parameters for a target, up to a stage. Counted by
cachegrind: unlike seconds they are the same on a busy machine. Fails where a count is a
tenth or more above the one agreed below; where one is far below, it is agreed anew.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# Millions, when they were last agreed.
AGREED = {
    "mi355x estimate": 684, "mi355x source": 3929,
    "b200 estimate": 753, "b200 source": 7205,
    "h200 estimate": 540, "h200 source": 3581,
}
ROOM = 1.1


def count(modelc, root, case):
    """Instructions of one run, in millions."""
    target, stage = case.split()
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
             modelc, root / "examples/llama-3.3-70b.toml", f"--target={target}",
             f"--emit={stage}", "-o", pathlib.Path(folder) / "out"],
            capture_output=True, text=True, check=False)
    found = re.search(r"I\s+refs:\s+([\d,]+)", run.stderr)
    if run.returncode not in (0, 3) or not found:  # 3: it does not fit, which the estimate has to find
        sys.exit(f"{case}: no count: {run.stderr}")
    return int(found[1].replace(",", "")) / 1e6


def main():
    modelc, root, cases = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] or AGREED
    above = False
    for case in cases:
        counted = count(modelc, root, case)
        is_above = counted > ROOM * AGREED[case]
        above |= is_above
        print(f"{case}: {counted:.0f} million instructions, {AGREED[case]} agreed"
              + (", more than a tenth above" if is_above else ""))
    sys.exit(1 if above else 0)


if __name__ == "__main__":
    main()
