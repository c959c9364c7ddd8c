"""load_package.py HOST FOLDER: prepares every weight of a package, as a server does
that reads its manifest.json; a manifest that does not fit is one message."""

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from prepack import Package  # noqa: E402


def main():
    read = {}

    def tensor(name):
        # No checkpoint is known to the test: rows as short as any weight's.
        return read.setdefault(name, np.ones((256, 256), np.float32))

    package = Package(sys.argv[2])
    for weight in package.weights("decode"):
        try:
            weight.prepare(tensor)
        except ValueError as mistake:
            if "expected" not in str(mistake):
                raise


if __name__ == "__main__":
    try:
        main()
    except ValueError as mistake:
        print(f"manifest.json: error: {mistake}", file=sys.stderr)
        sys.exit(1)
