"""Runs variants of a kernel, each with a planted mistake, on one recorded case.

Usage: variants.py MODELC_CHECK TARGETS CASE.json CODE. Each kernel of the code
(see plant.py of test/EmulatorNvidia) takes the place of the case's own. Prints
for each what modelc-check says, or whether its results are those of the emulator.
"""

import json
import pathlib
import re
import subprocess
import sys


def main():
    tool, targets, path, code = sys.argv[1:5]
    case = json.loads(pathlib.Path(path).read_text())
    kernels = re.findall(r"\.visible \.entry (\w+)", pathlib.Path(code).read_text())
    for kernel in kernels:
        case.update(code=code, kernel=kernel)
        changed = pathlib.Path(path).with_suffix(".variant")
        changed.write_text(json.dumps(case))
        done = subprocess.run([tool, changed, "--targets", targets, "--report", "-",
                               "--max-instructions", "20000000"], capture_output=True, text=True)
        said = done.stderr.strip()
        if done.returncode == 0:
            same = all(pathlib.Path(output["file"]).read_bytes() ==
                       pathlib.Path(output["file"]).with_suffix(".expected").read_bytes()
                       for output in case["outputs"])
            said = "same" if same else "wrong result"
        print(f"{kernel}: {said}")


if __name__ == "__main__":
    main()
