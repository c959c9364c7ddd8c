"""Prints the text of a kernel several times: as it is, and once with each bug.

Usage: plant.py KERNEL.cu [NAME] < BUGS. A line of BUGS: name | text in the kernel | what
replaces it. The text must occur; all of its occurrences are replaced. The kernel
NAME, `gemm` where it is not given, becomes NAME_<name>; a table of all ends the output.
"""

import re
import sys

source = open(sys.argv[1], encoding="utf-8").read()
kernel = sys.argv[2] if len(sys.argv) > 2 else "gemm"
names = []


def write(name, text):
    names.append(name)
    print(re.sub(rf"\b{kernel}\b(?=\()", f"{kernel}_" + name.replace("-", "_"), text))


write("none", source)
for line in sys.stdin:
    if not line.strip():
        continue
    name, find, replacement = (part.strip() for part in line.replace("\\n", "\n").split(" |"))
    if find not in source:
        sys.exit(f"plant.py: '{find}' is not in {sys.argv[1]}")
    write(name, source.replace(find, replacement))
print("const Variant kVariants[] = {")
for name in names:
    print(f'    {{"{name}", asBody(modelc::{kernel}_{name.replace("-", "_")})}},')
print("};")
