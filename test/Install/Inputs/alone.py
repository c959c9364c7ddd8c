"""Runs commands where the source and the build tree cannot be seen."""

import os
import shutil
import subprocess
import sys

HIDE = 'while [ "$1" != -- ]; do mount -t tmpfs none "$1" || exit 99; shift; done; shift; exec "$@"'


class Alone:
    """Commands by the tools of `prefix` in `folder`, with `hidden` folders empty."""

    def __init__(self, prefix, folder, hidden):
        self.before = ["unshare", "-rm", "sh", "-c", HIDE, "sh", *map(str, hidden), "--"]
        self.folder = folder
        path = f"{prefix}/bin{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path}
        if not shutil.which("unshare") or subprocess.run([*self.before, "true"], check=False).returncode:
            print("no mount namespaces here: sources are not hidden", file=sys.stderr)
            self.before = []

    def run(self, *command, **environment):
        """Its output; a failure ends the test with what it said."""
        run = subprocess.run([*self.before, *map(str, command)], cwd=self.folder, text=True,
                             env={**self.environment, **environment}, capture_output=True, check=False)
        if run.returncode:
            sys.exit(f"exit code {run.returncode}: {' '.join(map(str, command))}\n{run.stdout}{run.stderr}")
        return run.stdout
