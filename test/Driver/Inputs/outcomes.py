"""outcomes.py MODELS TABLE: compiles every model for every target and prints what
became of it, one line each, to be compared with TABLE: "fits", or the change that
modelc named when it did not fit, with which it then fits."""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

MODELS = ["llama-2-70b", "llama-3.1-8b", "llama-3.1-405b", "llama-3.3-70b"]
MOST_CHANGES = 2


def compile(model, target):
    changes = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(MOST_CHANGES + 1):
            command = ["modelc", f"{sys.argv[1]}/{model}.toml", f"--target={target}", *changes]
            run = subprocess.run(command + ["-o", f"{folder}/out"], capture_output=True, text=True)
            if run.returncode == 0:
                return " ".join(changes) or "fits"
            remedy = re.search(r"^modelc: error: does not fit: .*; try (--.*)$", run.stderr, re.M)
            if run.returncode != 3 or not remedy or os.listdir(folder):
                return f"exit code {run.returncode}: {run.stderr}"
            # A later value replaces an earlier one.
            names = [flag.split("=")[0] for flag in remedy[1].split()]
            changes = [flag for flag in changes if flag.split("=")[0] not in names]
            changes += remedy[1].split()
    return f"does not fit with {' '.join(changes)}"


def main():
    targets = subprocess.run(["modelc", "targets"], capture_output=True, text=True, check=True)
    names = [line.split()[0] for line in targets.stdout.splitlines()]
    pairs = [(model, target) for model in MODELS for target in names]
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count())) as pool:
        outcomes = pool.map(lambda pair: compile(*pair), pairs)
    lines = [f"{model:15} {target:12} {outcome}\n"
             for (model, target), outcome in zip(pairs, outcomes)]
    with open(sys.argv[2], encoding="utf-8") as file:
        expected = [line for line in file if not line.startswith("#")]
    for line in sorted(set(lines) ^ set(expected)):
        print("-+"[line in lines], line, end="")
    print(f"{len(lines)} outcomes, {len(names)} targets")
    sys.exit(lines != expected)


if __name__ == "__main__":
    main()
