"""names.py [FILE]: prints hostile names, a zero byte between them; or whether a file of TOML holds them."""

import itertools
import sys
import tomllib

PIECES = ['"', "\\", "\n", "*/", "/*", "//", "??/", "?", "%s", "'", "\r", "\x01", "\x7f", "é", "\U0001f600", "x", "0", "",
          "); return 1; (", "int", "EOF", "_"]


def names():
    pairs = ("".join(pair) for pair in itertools.product(PIECES, PIECES))
    return list(dict.fromkeys([*pairs, "".join(PIECES), "\\\nreturn 1;", "??/\nreturn 1;", "switch", "assert", "n" * 2000]))


if len(sys.argv) > 1:
    with open(sys.argv[1], "rb") as file:
        print("all names are the same" if tomllib.load(file)["names"] == names() else "names differ")
else:
    sys.stdout.buffer.write("\0".join(names()).encode())
