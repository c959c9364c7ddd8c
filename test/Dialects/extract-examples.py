"""Prints every fenced mlir block of the .td files below the given folders, as
split-input-file wants them, so that a test can run the documentation."""

import pathlib
import re
import sys

blocks = []
for folder in sys.argv[1:]:
    for path in sorted(pathlib.Path(folder).rglob("*.td")):
        blocks += re.findall(r"```mlir\n(.*?)```", path.read_text(), re.DOTALL)
print("// -----\n".join(blocks), end="")
