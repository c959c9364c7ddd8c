"""mutate.py ROOT SCRATCH KIND:ENUMERATED:DRAWN...: breaks inputs in ways that are always
the same ones, so many of those that are enumerated and so many drawn at random.

mutate.py --minutes=M ROOT SCRATCH [KIND...]: draws inputs of all kinds, or some, for
that long; --seed=N draws others than last time. --prepare=PROGRAM adds the kind
"source", what the host library reads of weights: EndToEnd/Inputs/prepareLines.cpp.

It expects of every run: no crash, no hang, exit code 0, 1, 2 or 3, nothing written
unless 0, no more memory than 1 GiB, and for 1 a message, at its place, with what was
expected; where one thing was broken, exactly one message.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

from fuzz_kinds import all_kinds
from mutations import mutants
from random_mutations import mutant

MOST_BYTES, MOST_RESIDENT, MOST_SECONDS = 4 << 30, 1 << 30, 60
# A file that misses something is named without a line.
LOCATED = re.compile(r"^[^\s:][^:]*:(\d+:\d+:)? (error|note): ", re.MULTILINE)
EXPLAINED = re.compile(
    "[eE]xpect|Invalid|unknown|unsupported|did you mean|missing|does not|no |must|requires|invalid|"
    "cannot|undeclared|undefined|too|already|stands twice|redefin|conflict|not |"
    "failed to (verify|satisfy)|out of range")
WRONG_NUMBER = re.compile(r"(?<![\w.])-?(nan|inf)(?![\w.])", re.IGNORECASE)
# Places of nothing, places as MLIR prints them, and Python's own words.
RAW = re.compile(r"<unknown>:0|\bloc\(\"|loc\(unknown\)|Traceback|terminate called")


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    limit_time()


def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, folder, out, limit):
    """(exit code, bytes that were resident, seconds, standard output, errors)"""
    names = [out / f"{folder.name}.{end}" for end in ("out", "err")]
    with open(names[0], "wb") as stdout, open(names[1], "wb") as stderr:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout,
                                   stderr=stderr, preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    texts = [name.read_bytes()[:4 << 20].decode("utf-8", "replace") for name in names]
    for name in names:
        name.unlink()
    return code, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime, *texts


def of_messages(code, errors, label, is_drawn):
    """What is wrong with the messages of a run that failed, or None."""
    messages = re.findall(r"^.*error: .*$", errors, re.MULTILINE)
    # The line of the file that a message shows may hold anything, as may what it quotes.
    raw = next((found for line in messages or errors.splitlines()
                if (found := RAW.search(re.sub(r"\"[^\"]*\"|'[^']*'", "", line)))), None)
    if raw:
        return f"raw text {raw[0]}"
    # A table without its header, or without what stands for it, has many mistakes;
    # MLIR's own parser says what it was reading.
    is_many = is_drawn or "line" in label or messages[-1:] and "failed to parse" in messages[-1]
    if not messages or len(messages) > 1 and not is_many:
        return f"{len(messages)} messages"
    if code == 3:
        return None if "try " in messages[0] else "no remedy"
    if code == 2 and is_drawn:
        return None
    if not LOCATED.match(messages[0]):
        return "no place"
    # The words of MLIR's own parser are not ours.
    if ".mlir:" not in messages[0] and not EXPLAINED.search(messages[0]):
        return "not said what was expected"
    return None


def judge(result, folder, kept, label, is_drawn):
    """What is wrong with a run, or None."""
    code, resident, seconds, output, errors = result
    written = sorted(entry.name for entry in folder.iterdir() if entry.name not in kept)
    if code not in (0, 1, 3) and not (is_drawn and code == 2):
        return f"exit code {code}"
    if resident > MOST_RESIDENT:
        return f"{resident >> 20} MiB"
    if seconds > MOST_SECONDS / 3:
        return f"{seconds:.1f} s"
    if code == 0:
        # Files of a package are found by name, not judged by it.
        is_name = "nan" in label or is_drawn and re.search("nan|inf", label)
        return "a number that is none" if WRONG_NUMBER.search(output) and not is_name else None
    if written:
        return f"left {', '.join(written)}"
    return of_messages(code, errors, label, is_drawn)


def flags_of(kind, data):
    """Lines of a list of settings are arguments."""
    if kind.name != "sets.txt":
        return []
    return [b"--set=" + line for line in data.replace(b"\0", b"").split(b"\n")[:100] if len(line) < 100000]


class Trial:
    """Runs mutants of some kinds in folders of their own."""

    def __init__(self, root, scratch, program):
        shutil.rmtree(scratch, ignore_errors=True)
        self.scratch = scratch
        self.kinds = all_kinds(root, scratch, program)

    def attempt(self, kind, number, label, data, command, is_drawn):
        folder = self.scratch / str(number)
        folder.mkdir()
        for other in kind.beside:
            shutil.copy(other, folder)
        (folder / kind.name).write_bytes(data)
        kept = {entry.name for entry in folder.iterdir()}
        command = command + flags_of(kind, data)
        # A program under a sanitizer maps far more than it uses.
        limit = limit_time if kind.name == "sources.txt" else limit_memory
        result = run(command, folder, self.scratch, limit)
        wrong = judge(result, folder, kept, label, is_drawn)
        if not wrong:
            shutil.rmtree(folder)
            return None
        shown = " ".join(map(str, command))[:500]
        return f"== {wrong}: {label}\n   {folder}: {shown}\n{result[-1][:600]}"

    def drawn(self, kind, source):
        label, data = mutant(source.choice(kind.seeds), source)
        # Every row of a table is a prediction, every source a weight.
        most = {"measured.csv": 100, "sources.txt": 25}.get(kind.name)
        data = b"\n".join(data.split(b"\n")[:most])
        return kind, label, data, source.choice(kind.commands), True

    def chosen(self, name, enumerated, drawn):
        """So many mutants of each sort, always the same ones."""
        kind = self.kinds[name]
        items = []
        if enumerated:
            items = [(kind, label, data, kind.commands[0], False)
                     for label, data in mutants(kind.seeds[0], pathlib.Path(kind.name).suffix)]
            items = random.Random(1).sample(items, min(enumerated, len(items)))
        source = random.Random(2)
        return items + [self.drawn(kind, source) for _ in range(drawn)]

    def bounded(self, wishes):
        items = []
        for wish in wishes:
            name, *counts = wish.split(":")
            items += self.chosen(name, *map(int, counts))
        with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count())) as pool:
            wrong = [text for text in pool.map(
                lambda item: self.attempt(item[1][0], item[0], *item[1][1:]), enumerate(items)) if text]
        print("\n".join(wrong))
        return len(items), wrong

    def endless(self, names, minutes, seed):
        source, number, wrong = random.Random(seed), 0, []
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end:
            for name in names or self.kinds:
                kind, *item = self.drawn(self.kinds[name], source)
                text = self.attempt(kind, number, *item)
                number += 1
                if text:
                    wrong.append(text)
                    print(text, flush=True)
        return number, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--prepare")
    parser.add_argument("words", nargs="+")
    options = parser.parse_args()
    root, scratch, *words = options.words
    trial = Trial(pathlib.Path(root).resolve(), pathlib.Path(scratch).resolve(), options.prepare)
    if options.minutes:
        count, wrong = trial.endless(words, options.minutes, options.seed)
    else:
        count, wrong = trial.bounded(words)
    print(f"{count} mutants, {len(wrong)} not as expected")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
