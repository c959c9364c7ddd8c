"""opens.py FOLDER: `explain` opens every op and every figure of the estimate, gives
a sum that agrees with it, and names facts with their sources."""

import json
import re
import subprocess
import sys

UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

folder = sys.argv[1]
with open(f"{folder}/estimate.json") as file:
    estimate = json.load(file)
opened = 0


def explain(item, *options):
    command = ["modelc", "explain", folder, item, *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_facts(text):
    facts = re.findall(r"^  [\w.]+ = .* \((\w+): (.+)\)$", text, re.M)
    assert facts, text
    for grade, source in facts:
        assert grade in ("datasheet", "measured", "derived", "assumed"), text


def scale(unit):
    """Of a unit as it is printed: 12 ms, 3.4 MiB, 5.6 kJ."""
    if unit.endswith("iB"):
        return 1024 ** ("KMGT".index(unit[0]) + 1)
    prefixes = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9}
    known = unit in ("", "s", "B", "J", "W", "$", "$/h")
    return 1 if known else prefixes[unit[0]]


def check_figures(values, prefix=""):
    """Every number of an object by its key; `prefix` is that of the names."""
    count = 0
    for key, value in values.items():
        if isinstance(value, (dict, bool, str)):
            continue
        text = explain(key)
        number = r"([-\d.e+]+)(?: (\S+))?"
        rows = re.findall(rf"^(\w+): {number} expected", text, re.M)
        named = [row for row in rows if row[0].startswith("static_") == bool(prefix)]
        assert named, (key, text)
        name, amount, unit = named[0]
        amount = float(amount) * scale(unit)
        amount *= 1e3 if key.endswith("_ms") else 1
        assert abs(amount - value) <= 1e-3 * abs(value), (key, value, text)
        assert re.search(rf"^{name}: [-\d.]", text, re.M), text
        count += 1
    return count


for phase in ("prefill", "decode"):
    for row in estimate[phase]["ops"]:
        assert row["expectation_s"] >= 0.9999 * row["bound_s"], row
        text = explain(row["op"], f"--phase={phase}")
        seconds = 0
        for value, unit in re.findall(r" x .* = ([\d.]+) (\w+) of ", text):
            seconds += float(value) * UNITS[unit]
        assert abs(seconds - row["expectation_s"]) <= 2e-3 * seconds, (row, text)
        assert re.search(r"^energy: [\d.]+ \w?J = ", text, re.M), text
        check_facts(text)
        opened += 1
print("opened", opened)

expected = estimate["expectation"]
figures = check_figures(expected) + check_figures(estimate["memory"])
figures += check_figures(estimate["price"]) + check_figures(expected["in_flight"])
figures += check_figures(expected["static"], "static_")
for name in ("tpot", "ttft", "joules_per_token", "wall_joules_per_token",
             "dollars_per_mtoken", "memory"):
    check_facts(explain(name))
print("figures", figures)
