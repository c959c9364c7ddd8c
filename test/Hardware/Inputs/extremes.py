"""Sets each number of a target to what no machine has. It is refused, in one message at
the flag, or the estimate is finite: an absent rate divides nothing.

    extremes.py TARGET.toml MODEL
"""

import json
import re
import subprocess
import sys

VALUES = ["0", "-1", "1e300", "1e-300", "nan", "-inf", "9007199254740993", "2"]


def run(*words):
    return subprocess.run(words, capture_output=True, text=True)


def no_number(word):
    raise ValueError(word)


def fault(model, target, override):
    done = run("modelc", model, "--target=" + target, "--isl=32", "--osl=32", "--batch=2",
               "--json", "--set=" + override)
    if done.returncode == 0:
        try:
            json.loads(done.stdout, parse_constant=no_number)
        except ValueError as wrong:
            return f"{wrong} in the estimate"
        return None
    messages = [line for line in done.stderr.splitlines() if "error:" in line]
    if done.returncode not in (1, 3) or len(messages) != 1:
        return f"exit code {done.returncode}, {len(messages)} messages"
    if "<unknown>" in done.stderr or "loc(" in done.stderr:
        return messages[0]
    return None


def main(target, model):
    folder = target.rsplit("/", 1)[0]
    facts = run("modelc-hardware-test", "facts", target, folder).stdout
    refused, faults = 0, []
    keys = re.findall(r"^([\w. ]+) = -?[\d.]+ ?([^( ]*) \(", facts, re.M)
    for key, unit in keys:
        for value in VALUES:
            override = f"{key}={value} {unit}".strip()
            done = run("modelc-hardware-test", "facts", target, folder, override)
            if done.returncode == 0:
                if wrong := fault(model, target, override):
                    faults.append(f"{override}: {wrong}")
                continue
            messages = [line for line in done.stderr.splitlines() if "error:" in line]
            if len(messages) != 1 or not messages[0].startswith("--set:1:"):
                faults.append(f"{override}: {messages}")
            refused += 1
    print("\n".join(faults), end="\n" if faults else "")
    print(f"{len(keys)} numbers, {refused} of {len(keys) * len(VALUES)} values refused")
    return 1 if faults else 0


sys.exit(main(*sys.argv[1:]))
