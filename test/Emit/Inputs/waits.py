"""Plants mistakes in a final schedule and says what modelc-emit finds.

Usage: waits.py MODELC_EMIT TARGETS FILE.mlir raised|gone PATTERN

raised: each count of what a wait leaves in flight that stands in a line of the
pattern is one more; gone: each such line is left out. Prints what is said of
each, and how many were found.
"""

import pathlib
import re
import subprocess
import sys

PENDING = re.compile(r"pending = (\d+)")


def changed(line, how):
    if how == "gone":
        return ""
    return PENDING.sub(lambda count: f"pending = {int(count[1]) + 1}", line)


def main():
    tool, targets, path, how, pattern = sys.argv[1:6]
    lines = pathlib.Path(path).read_text().splitlines()
    planted = pathlib.Path(path).with_suffix(".planted")
    found = missed = 0
    for number, line in enumerate(lines):
        new = changed(line, how)
        if not re.search(pattern, line) or new == line:
            continue
        planted.write_text("\n".join(lines[:number] + [new] + lines[number + 1:]))
        done = subprocess.run([tool, f"--targets={targets}", planted, "-o", "/dev/null"],
                              capture_output=True, text=True)
        said = done.stderr.splitlines()[0] if done.stderr else "not found"
        found += done.returncode == 1
        missed += done.returncode == 0
        print(f"{line.strip()}: {said}")
    print(f"found: {found}, not found: {missed}")


if __name__ == "__main__":
    main()
