"""outcomes.py MODELS TABLE: compiles every model of a folder for every target. Each
fits, or does with the change that modelc names: nothing else is tried. Where TABLE has
a line for model and target, it says which."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

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
    names = [line.split()[0] for line in targets.stdout.splitlines()[1:]]
    models = sorted(path.stem for path in pathlib.Path(sys.argv[1]).glob("*.toml"))
    pairs = [(model, target) for model in models for target in names]
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count())) as pool:
        outcomes = dict(zip(pairs, pool.map(lambda pair: compile(*pair), pairs)))
    wrong = 0
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            model, target, expected = line.strip().split(maxsplit=2)
            outcome = outcomes.pop((model, target), "no such model and target")
            if outcome != expected:
                print(f"{model} on {target}: expected {expected!r}, got {outcome!r}")
                wrong += 1
    for (model, target), outcome in outcomes.items():
        if not re.match("fits$|--", outcome):
            print(f"{model} on {target}: {outcome}")
            wrong += 1
    print(f"{len(models)} models, {len(names)} targets, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
