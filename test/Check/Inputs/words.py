"""Writes numbers as words of 32 bits to standard output, or prints those of a file.

Usage: words.py NUMBER... | words.py --print FILE
"""

import struct
import sys

if sys.argv[1] == "--print":
    with open(sys.argv[2], "rb") as file:
        data = file.read()
    print(*struct.unpack(f"<{len(data) // 4}I", data))
else:
    sys.stdout.buffer.write(struct.pack(f"<{len(sys.argv) - 1}I", *map(int, sys.argv[1:])))
