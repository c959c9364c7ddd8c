"""Checks the hashes of a package's manifest against its sources."""

import hashlib
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
kernels = json.loads((folder / "manifest.json").read_text())["kernels"]
assert kernels
for kernel in kernels:
    digest = hashlib.sha256((folder / kernel["source"]).read_bytes()).hexdigest()
    assert digest == kernel["sha256"], kernel["symbol"]
