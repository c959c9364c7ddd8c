"""mutate.py KIND ROOT SCRATCH [COUNT]: breaks an input in COUNT ways (default: all),
always the same ones, and expects of every run of modelc: no crash, exit code 0, 1 or
3, nothing written unless 0, and for 1 exactly one message, at its place, with what
was expected.

KIND: config | short | graph | target | mlir | schedule | package
"""

import concurrent.futures
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys

from mutations import mutants

WORKLOAD = ["--isl=32", "--osl=32", "--batch=2"]
MOST_BYTES, MOST_SECONDS = 4 << 30, 60
# A file that misses something is named without a line.
LOCATED = re.compile(r"^[^\s:][^:]*:(\d+:\d+:)? (error|note): ", re.MULTILINE)
EXPLAINED = re.compile(
    "expect|unknown|unsupported|did you mean|missing|does not|no |must|requires|invalid|"
    "cannot|undeclared|undefined|too|already|stands twice|redefin|conflict|not |"
    "failed to (verify|satisfy)|out of range")
WRONG_NUMBER = re.compile(r"(?<![\w.])-?(nan|inf)(?![\w.])", re.IGNORECASE)


def run(command, folder):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return subprocess.run(command, cwd=folder, capture_output=True, preexec_fn=limit)


def judge(result, folder, kept, label):
    """What is wrong with a run, or None."""
    code = result.returncode
    errors = result.stderr.decode("utf-8", "replace")
    output = result.stdout.decode("utf-8", "replace")
    written = sorted(entry.name for entry in folder.iterdir() if entry.name not in kept)
    if code not in (0, 1, 3):
        return f"exit code {code}"
    if code == 0:
        # Files of a package are found by name, not judged by it.
        is_name = "nan" in label
        return "a number that is none" if WRONG_NUMBER.search(output) and not is_name else None
    if written:
        return f"left {', '.join(written)}"
    messages = re.findall(r"^.*error: .*$", errors, re.MULTILINE)
    # A table without its header, or without what stands for it, has many mistakes;
    # MLIR's own parser says what it was reading.
    is_many = "line" in label or messages[-1:] and "failed to parse" in messages[-1]
    if not messages or len(messages) > 1 and not is_many:
        return f"{len(messages)} messages"
    if code == 3:
        return None if "try " in messages[0] else "no remedy"
    if not LOCATED.match(messages[0]):
        return "no place"
    # The words of MLIR's own parser are not ours.
    if ".mlir:" not in messages[0] and not EXPLAINED.search(messages[0]):
        return "not said what was expected"
    return None


def commands(kind, name):
    """How the mutant `name` in the folder is used."""
    if kind == "target":
        tiny = ["modelc", "../model.toml", f"--target=./{name}"]
        return tiny + WORKLOAD + ["-o", "out"]
    if kind == "schedule":
        return ["modelc-emit", name, "-o", "out", "--targets=../targets"]
    if kind == "package":
        return ["modelc", "explain", ".", "norm"]
    return ["modelc", name, "--target=mi355x"] + WORKLOAD + ["-o", "out"]


def prepare(kind, root, scratch):
    """(name of the file that is mutated, its text)"""
    tiny = root / "examples/tiny-llama.toml"
    shutil.copy(tiny, scratch / "model.toml")
    (scratch / "targets").symlink_to(root / "targets")

    def made(*flags):
        return subprocess.run(["modelc", tiny, *WORKLOAD, *flags], check=True,
                              capture_output=True, text=True).stdout

    if kind == "config":
        return "config.json", (root / "test/Golden/tiny-llama/config.json").read_text()
    if kind == "short":
        return "short.toml", (root / "examples/llama-3.1-8b.toml").read_text()
    if kind == "graph":
        return "graph.toml", tiny.read_text()
    if kind == "target":
        return "toy.toml", (root / "test/targets/toy.toml").read_text()
    if kind == "mlir":
        graph = scratch / "graph.mlir"
        subprocess.run(["modelc-opt", tiny, "-o", graph], check=True)
        return "graph.mlir", graph.read_text()
    if kind == "schedule":
        return "final.mlir", (root / "test/Emit/gemm-cdna4.mlir").read_text()
    made("--target=mi355x", "-o", scratch / "package")
    return "compile.json", (scratch / "package/compile.json").read_text()


def attempt(scratch, kind, name, number, label, data):
    folder = scratch / str(number)
    folder.mkdir()
    if kind == "package":
        shutil.copy(scratch / "package/schedule.mlir", folder)
    (folder / name).write_bytes(data)
    kept = {entry.name for entry in folder.iterdir()}
    command = commands(kind, name)
    result = run(command, folder)
    wrong = judge(result, folder, kept, label)
    if not wrong:
        shutil.rmtree(folder)
        return None
    errors = result.stderr.decode("utf-8", "replace")[:600]
    return f"== {wrong}: {label}\n   {folder}: {' '.join(map(str, command))}\n{errors}"


def main():
    kind, root, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    name, text = prepare(kind, root, scratch)
    all_mutants = list(mutants(text, pathlib.Path(name).suffix))
    if len(sys.argv) > 4:
        count = min(int(sys.argv[4]), len(all_mutants))
        all_mutants = random.Random(1).sample(all_mutants, count)
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count())) as pool:
        wrong = [text for text in pool.map(
            lambda item: attempt(scratch, kind, name, item[0], *item[1]),
            enumerate(all_mutants)) if text]
    print("\n".join(wrong))
    print(f"{len(all_mutants)} mutants, {len(wrong)} not as expected")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
