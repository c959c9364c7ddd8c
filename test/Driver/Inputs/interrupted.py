"""interrupted.py FOLDER: stops modelc by a signal while it compiles binaries; it must
end by it and leave FOLDER as it was."""

import os
import pathlib
import signal
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
compiler = folder / "nvcc"
compiler.write_text("#!/bin/sh\nkill -$SIGNAL $PPID\nsleep 1\nexit 1\n")
compiler.chmod(0o755)


def listing():
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def compile(output, **environment):
    command = ["modelc", *sys.argv[2:], "--target=b200", "--emit=binary", "-o", output]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          env=os.environ | environment)


before = listing()
for name in ("INT", "TERM", "HUP"):
    for output in ("new", "deep/er/new", "old"):
        run = compile(output, SIGNAL=name, MODELC_NVCC=str(compiler))
        assert run.returncode == -signal.SIGINT, (name, output, run)
        assert "modelc: error: interrupted, nothing was written\n" in run.stderr, run.stderr
        assert listing() == before, (name, output, set(listing()) ^ set(before))
print("nothing was left")
