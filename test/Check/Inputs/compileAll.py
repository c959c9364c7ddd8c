"""Compiles every kernel of a package.

Usage: compileAll.py PACKAGE TO COMPILER FLAG... Each source of PACKAGE/src becomes
a file with the suffix .ptx in the folder TO.
"""

import pathlib
import subprocess
import sys


def main():
    package, to, command = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    to.mkdir(exist_ok=True)
    for source in sorted((package / "src").iterdir()):
        subprocess.run(command + [f"-I{package}/include", str(source), "-o",
                                  str(to / (source.stem + ".ptx"))], check=True)


if __name__ == "__main__":
    main()
