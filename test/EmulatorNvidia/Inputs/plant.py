"""Prints the text of a kernel several times: as it is, and once with each bug.

Usage: plant.py KERNEL.cu < BUGS. A line of BUGS: name | text in the kernel | what
replaces it. The text must occur; all of its occurrences are replaced. The kernel
`gemm` becomes gemm_<name>; a table of all ends the output.
"""

import re
import sys

source = open(sys.argv[1], encoding="utf-8").read()
names = []


def write(name, text):
    names.append(name)
    print(re.sub(r"\bgemm\b", "gemm_" + name.replace("-", "_"), text))


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
    print(f'    {{"{name}", asBody(modelc::gemm_{name.replace("-", "_")})}},')
print("};")
