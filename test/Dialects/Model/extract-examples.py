"""Prints every fenced mlir block of the given .td files, as split-input-file
wants them, so that a test can run the examples of the documentation."""

import re
import sys

blocks = []
for path in sys.argv[1:]:
    with open(path) as file:
        blocks += re.findall(r"```mlir\n(.*?)```", file.read(), re.DOTALL)
print("// -----\n".join(blocks), end="")
