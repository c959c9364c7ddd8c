"""Takes lines out of PTX, one by one, and says what modelc-check finds.

Usage: lines.py MODELC_CHECK TARGETS CASE.json PATTERN. A line of the text that
matches is left out; a line of a wait for a predicate becomes one that is true.
Prints what is said for each, and how many were found.
"""

import json
import pathlib
import re
import subprocess
import sys


def main():
    tool, targets, path, pattern = sys.argv[1:5]
    case = json.loads(pathlib.Path(path).read_text())
    lines = pathlib.Path(case["code"]).read_text().splitlines()
    patched = pathlib.Path(path).with_suffix(".patched")
    changed = pathlib.Path(path).with_suffix(".patched.case")
    found = missed = 0
    for number, line in enumerate(lines):
        if not re.search(pattern, line):
            continue
        # A wait in a loop: its predicate is true.
        waits = re.search(r"^(.*)mbarrier\.\S+ (\w+),", line)
        rest = f"{waits[1]}mov.pred {waits[2]}, -1;" if waits else ""
        patched.write_text("\n".join(lines[:number] + [rest] + lines[number + 1:]) + "\n")
        case.update(code=str(patched))
        changed.write_text(json.dumps(case))
        done = subprocess.run([tool, changed, "--targets", targets, "--report", "-"],
                              capture_output=True, text=True)
        found += done.returncode == 1
        missed += done.returncode == 0
        print(f"{line.strip()}: " + (done.stderr.strip() or "not found"))
    print(f"found: {found}, not found: {missed}")


if __name__ == "__main__":
    main()
